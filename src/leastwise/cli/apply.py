"""``leastwise apply``: generalize a file of records, whatever its size."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, cast, get_args

import typer

from leastwise.cli.app import Artefact, AsJson, Force, Spreadsheet, app, load, put_to_use
from leastwise.cli.output import check_output, print_json, visible
from leastwise.cli.progress import counting
from leastwise.cli.task import Missing, names
from leastwise.documents.wording import counted, percent
from leastwise.errors import DataError
from leastwise.validation import check_choice

KINDS = ("csv", "tsv", "parquet", "ndjson")

Source = Annotated[str, typer.Argument(help="The records: .csv, .tsv, .parquet, .ndjson; - for standard input.")]
Target = Annotated[
    str, typer.Option("--output", "-o", help="Where to write: the same formats; - for standard output.")
]
Answers = Annotated[
    str,
    typer.Option(
        "--answers",
        metavar="labels|codes|representative",
        help="In words for people, as the buckets' numbers, or a value of each bucket for a model.",
    ),
]
UnknownValues = Annotated[
    str,
    typer.Option(
        "--unknown",
        metavar="other|error",
        help="A value outside the domain: 'other' where declared, else refused; error always refuses it.",
    ),
]
KeepSuppressed = Annotated[
    bool, typer.Option("--keep-suppressed", help="Write what is not collected too, as a constant.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="A,B",
        help="Columns beside the attributes and the label that may leave as they are: a,b.",
    ),
]
From = Annotated[
    str | None, typer.Option("--from", metavar="KIND", help="csv, tsv, parquet, ndjson; default: by the name.")
]
To = Annotated[str | None, typer.Option("--to", metavar="KIND", help="The same for the output.")]


@app.command()
def apply(
    generalization: Artefact,
    source: Source,
    output: Target = "-",
    answers: Answers = "labels",
    unknown: UnknownValues = "other",
    missing: Missing = None,
    keep: Keep = None,
    keep_suppressed: KeepSuppressed = False,
    source_kind: From = None,
    target_kind: To = None,
    force: Force = False,
    spreadsheet: Spreadsheet = False,
    as_json: AsJson = False,
) -> None:
    """Generalize a file of records: only what the generalization asks is written.

    The file is streamed in bounded memory, and appears under its name only when it is complete.

    Examples:

    `leastwise apply run/ people.csv -o coarse.parquet`

    `leastwise apply g.json people.parquet -o numbers.csv --answers codes`

    `cat people.csv | leastwise apply g.json - --to ndjson --missing '?'`
    """
    from leastwise.apply import Output, apply_file
    from leastwise.schema import Unknown

    for option, kind in (("--from", source_kind), ("--to", target_kind)):
        if kind is not None:
            check_choice(option, kind, KINDS)
    check_choice("--answers", answers, get_args(Output))
    check_choice("--unknown", unknown, get_args(Unknown))
    if as_json and output == "-":
        raise DataError(
            "the summary and the records cannot both go to standard output; name an --output, or drop --json"
        )
    check_output(output, force)
    asked = load(generalization)
    start, others = time.perf_counter(), Counter[str]()
    with counting() as progress:
        rows = apply_file(
            asked,
            source,
            output,
            output=cast(Output, answers),
            unknown=cast(Unknown, unknown),
            suppressed=keep_suppressed or None,
            keep=names(keep, ()),
            missing=missing or (),
            source_kind=source_kind,
            target_kind=target_kind,
            overwrite=force,
            spreadsheet=spreadsheet,
            progress=progress,
            others=others,
        )
    _report(rows, time.perf_counter() - start, asked, output, +others, as_json)
    put_to_use(generalization)


def _report(rows: int, seconds: float, asked: Any, target: str, others: Mapping[str, int], as_json: bool) -> None:
    summary = {
        "records": rows,
        "collected": list(asked.collected),
        "not_collected": list(asked.not_collected),
        "others": dict(others),
        "output": target,
        "seconds": round(seconds, 3),
    }
    if as_json:
        print_json(summary)
    elif target != "-":
        of_all = f"{len(asked.collected)} of {counted(len(asked), 'attribute')}"
        typer.echo(f"wrote {counted(rows, 'record')} with {of_all} to {target} in {seconds:.1f} s", err=True)
        if others:
            counts = ", ".join(f"{name} {count:,} ({percent(count / rows, 1)})" for name, count in others.items())
            typer.echo(f"not declared, and so 'other': {visible(counts)}", err=True)
