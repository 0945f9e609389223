"""``leastwise run``: from records to a frontier, a recommended generalization and a report."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.budget import Limits, MoreLimits, budget_of
from leastwise.cli.options import Fresh, PolicyFile, Quick, SeedOrPolicy, grouped
from leastwise.cli.printing import print_lines
from leastwise.cli.settings import set_option, settings, settings_of
from leastwise.cli.task import (
    DataOrPolicy,
    Inference,
    Records,
    SchemaFile,
    Task,
    TaskOptions,
    constraints_of,
    policy_of,
    seed_of,
)
from leastwise.progress import Lines, watching

if TYPE_CHECKING:
    from leastwise.runs import Options, Run, Workers

NOTHING_FITS = 1
Output = Annotated[Path, typer.Option("--output", "-o", help="The folder of the run; resumed if it holds one.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="How many tasks at once; -1: one per core.")]
GridFile = Annotated[
    Path | None, typer.Option("--grid", "-g", help="Who proposes (YAML). Default: trees, exact partitions, ...")
]


@dataclass(frozen=True, kw_only=True)
class Work:
    """How much is attacked, and who works."""

    most: Annotated[
        int, typer.Option("--most", min=1, help="How many candidates of the frontier are attacked in full.")
    ] = 12
    backend: Annotated[
        str, typer.Option("--backend", help="Who works: loky (processes), threading, dask or ray (clusters).")
    ] = "loky"
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="A running Dask or Ray cluster. Default: a local one.")
    ] = None


RARE = (MoreLimits, Inference, Work)
RARE_NAMES = ", ".join(each.name for group in RARE for each in fields(group))


@app.command()
@grouped
def run(
    task: TaskOptions,
    limits: Limits,
    data: DataOrPolicy = None,
    schema: SchemaFile = None,
    policy: PolicyFile = None,
    grid: GridFile = None,
    more: Annotated[list[str] | None, set_option(f"What few need: {RARE_NAMES}.")] = None,
    jobs: Jobs = -1,
    seed: SeedOrPolicy = None,
    quick: Quick = False,
    fresh: Fresh = False,
    output: Output = Path("run"),
) -> None:
    """Do the whole job: propose candidates, judge them, find the frontier, recommend one, write the report.

    Without a budget, the safest candidate is recommended whose model errs at most one point more than with
    everything asked. A run that was stopped is resumed by the same command. Exit code 1: no candidate fits.

    Example: `leastwise run adult.csv --label income --personal sex,race --max-error-increase 0.01 -o run/`
    """
    from leastwise.runs import Options, Workers, load_grid

    given = settings(more, {name: each for group in RARE for name, each in settings_of(group).items()}, "run")
    taken = {
        group: {each.name: given[each.name] for each in fields(group) if each.name in given} for group in RARE
    }
    work = Work(**taken[Work])
    workers = Workers(jobs, work.backend, work.cluster)
    stated = budget_of(limits, taken[MoreLimits])
    known = policy_of(policy)
    grid_file = grid or (known.grid if known else None)
    options = Options(
        grid=None if grid_file is None else load_grid(grid_file),
        budget=stated or (known.budget if known else None),
        constraints=constraints_of(known),
        seed=seed_of(seed, known),
        quick=quick or bool(known and known.quick),
        most=work.most,
    )
    described = Task.of(data, task, schema, taken[Inference], known)
    finished = make(described.records(), output, options, workers, Path(described.data).name, fresh)
    raise typer.Exit(0 if finished.choice.candidate is not None else NOTHING_FITS)


def make(
    records: Records, folder: Path, options: Options, workers: Workers, name: str, fresh: bool = False
) -> Run:
    """Do the run, write its report, and say what came out."""
    finished = execute(records, folder, options, workers, name, fresh)
    _warn(records, finished)
    print_lines(str(finished))
    return finished


def execute(
    records: Records, folder: Path, options: Options, workers: Workers, name: str, fresh: bool = False
) -> Run:
    """Do the run and write its report; when it is stopped, say how it goes on."""
    from leastwise.report import write_report
    from leastwise.runs import run as whole_job

    try:
        with watching(Lines()) as watcher:
            found = whole_job(
                records.table, folder, options, name=name, workers=workers, progress=watcher, fresh=fresh
            )
    except KeyboardInterrupt:
        typer.echo(f"\nwhat is finished is kept in {folder}; the same command resumes the run", err=True)
        raise
    write_report(found, table=records.table.split(options.seed).test)
    return found


def _warn(records: Records, finished: Run) -> None:
    """Tell what in the recommended artefact can be traced to one person, and what was left out or failed."""
    from leastwise.generalization.leaks import warn_of_leaks

    records.tell_left_out()
    for failure in finished.failures:
        typer.echo(f"failed: {failure.words}: {failure.reason}", err=True)
    if finished.choice.candidate is not None:
        train = records.table.split(finished.task.seed).train
        warn_of_leaks(finished.generalization(finished.choice.candidate), train, records.inferred)
