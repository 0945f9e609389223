"""``leastwise necessity``: why each question is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import Artefact, AsJson, Force, HeldOut, app
from leastwise.cli.output import check_output, print_lines, print_table
from leastwise.cli.task import Data, Label, Missing, Person, Personal, SurveyWeights
from leastwise.progress import Lines, watching

if TYPE_CHECKING:
    from leastwise.evaluation import Groups, Necessity
    from leastwise.runs import Run


@app.command()
def necessity(
    generalization: Artefact,
    data: Data,
    label: Label = None,
    personal: Personal = None,
    missing: Missing = None,
    person: Person = None,
    survey_weights: SurveyWeights = None,
    held_out: HeldOut = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Of the split. Default: the one it was made with, or 0."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the document here.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say why each question is asked: what leaving it out would cost, and what asking another would buy.

    The model is learned anew without each question and judged on records that the generalization was not made of;
    what an attacker loses is told beside. Of a run, the answer is kept in its folder, and its report tells it;
    so is who pays, where the run has declared groups.

    Example: `leastwise necessity run/ adult.csv`
    """
    from leastwise.cli.domains import declared_for, known_schema, person_of
    from leastwise.cli.evaluate import prepared
    from leastwise.cli.report import table_of
    from leastwise.evaluation import groups_of, necessity_of
    from leastwise.records.files import read_frame
    from leastwise.records.table import Table
    from leastwise.runs import Run
    from leastwise.runs.task import SHARES

    check_output(output, force)
    frame = read_frame(data, tuple(missing or ()))
    chosen = prepared(generalization, label, personal, frame)
    run = Run.load(generalization) if generalization.is_dir() else None
    if run is None:
        at = int(chosen.origin.get("split_seed", 0)) if seed is None else seed
        schema = known_schema([chosen], frame, declared_for(generalization))
        person = person_of(generalization, person, frame.columns)
        split = Table.from_frame(frame, schema, person, survey_weights).split(at)
    else:
        at = run.task.seed if seed is None else seed
        split = table_of(run, frame, data, person, survey_weights).split(at, SHARES)
    with watching(Lines("judging: ")) as watcher:
        document = necessity_of(chosen, split, at, held_out=held_out, progress=watcher)
        if run is not None:
            served = partial(groups_of, chosen, split, seed=at, progress=watcher, held_out=held_out)
            _keep(run, document, served)
    if output is not None:
        document.save(output)
        typer.echo(f"wrote {output}", err=True)
    if as_json:
        typer.echo(document.to_json(), nl=False)
    else:
        show_necessity(document)


def _keep(run: Run, document: Necessity, served: Callable[..., Groups]) -> None:
    """Write what was found to the folder of the run, with how its groups are served, and its report anew."""
    from leastwise.report import write_report
    from leastwise.runs.folder import GROUPS, NECESSITY, write_figures

    kept = {NECESSITY: document.to_json()}
    if run.task.groups:
        kept[GROUPS] = served(run.task.groups, quick=run.task.quick).to_json()
    for name, text in kept.items():
        write_figures(run.folder, name, text)
        typer.echo(f"wrote {run.folder / name}", err=True)
    write_report(run)


def show_necessity(document: Necessity) -> None:
    """Print what each question is worth; boundaries, of which there are many, in a sentence."""
    *questions, _ = document.tables()
    for listing in questions:
        if listing.rows:
            print_table(listing.title, listing.columns, listing.rows, listing.columns[2:4])
            typer.echo("")
    print_lines("\n".join([*document.boundary_sentences(), document.method()]))
