"""``leastwise minimum-sample``: how many full records are enough to minimize."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.options import AsJson, Seed, grouped
from leastwise.cli.printing import print_json, print_table
from leastwise.cli.settings import built, minimizer_settings, set_option, settings, settings_of
from leastwise.cli.task import SETTINGS, Data, Inference, SchemaFile, Task, TaskOptions, names
from leastwise.errors import ParameterError, SchemaError, shorten

COLUMNS = ("records", "frontier lost", "worst", "similarity")


@app.command("minimum-sample")
@grouped
def minimum_sample(
    data: Data,
    task: TaskOptions,
    schema: SchemaFile = None,
    minimizer: Annotated[
        str | None,
        typer.Option(
            "--minimizer",
            "-m",
            metavar="NAME",
            help="See: leastwise minimizers. Default: trees (pat) at 16 settings.",
        ),
    ] = None,
    more: Annotated[
        list[str] | None, set_option(f"A parameter of the minimizer, or one of {', '.join(SETTINGS)}.")
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("--sizes", metavar="N,N,...", help="Sample sizes. Default: 100, 200, 500 ..."),
    ] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", min=1, help="How many nested samples to draw.")] = 5,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, max=1, help="Share of the frontier that may be lost.")
    ] = 0.05,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find how few full records are enough to find a generalization.

    Samples of growing size are minimized, and each result is judged beside that of all training records: how much
    of the frontier of utility and adversary error is lost, and how alike the partitions are.

    Example: `leastwise minimum-sample adult.csv --label income --sizes 500,1000,2000,5000`
    """
    from leastwise.evaluation.minimum_sample import minimum_sample as find

    inferring = settings_of(Inference)
    known = inferring if minimizer is None else minimizer_settings(minimizer) | inferring
    given = settings(more, known, minimizer or "minimum-sample without --minimizer")
    inference = {name: given.pop(name) for name in SETTINGS if name in given}
    propose = _propose(minimizer, given, seed)
    table = Task.of(data, task, schema, inference).records().table
    if not len(table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    found = find(
        propose,
        table,
        sizes=_whole_numbers(sizes),
        repetitions=repetitions,
        tolerance=tolerance,
        seed=seed,
        progress=lambda words: typer.echo(words, err=True),
    )
    if as_json:
        print_json({**asdict(found), "sentence": found.sentence()})
        return
    rows = [(f"{s.size:,}", f"{s.loss:.1%}", f"{max(s.losses):.1%}", f"{s.similarity:.2f}") for s in found.sizes]
    title = f"Samples of the {found.records:,} training records (medians of {repetitions} drawings)"
    print_table(title, COLUMNS, rows, COLUMNS)
    typer.echo(found.sentence())


def _propose(name: str | None, given: dict[str, Any], seed: int) -> Any:
    if name is None:
        from leastwise.evaluation.minimum_sample import pat_candidates

        return pat_candidates
    chosen = built(name, given, seed)
    return lambda table: [chosen.minimize(table)]


def _whole_numbers(texts: list[str] | None) -> list[int] | None:
    if texts is None:
        return None
    parts = names(texts, ())
    for part in parts:
        if not part.isdecimal():
            raise ParameterError(f"--sizes must be whole numbers, as in 500,1000; got {shorten(part)}")
    return [int(part) for part in parts]
