"""``leastwise report``: the report of a run, for people or for machines."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Force, app
from leastwise.cli.output import check_output
from leastwise.cli.task import Missing, Person, SurveyWeights
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, PrivacyLeakWarning, shorten
from leastwise.validation import check_choice

if TYPE_CHECKING:
    from leastwise.records.table import Table
    from leastwise.runs import Run


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder that leastwise run has written.")],
    data: Annotated[
        str | None, typer.Argument(help="The records of the run, to tell how many people give each answer.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to. Default: report.html (.md, .json) in the run.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="html, markdown or json. Default: by the name of the output, or html."
        ),
    ] = None,
    missing: Missing = None,
    person: Person = None,
    survey_weights: SurveyWeights = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="What a check on newer data found: its report as .json.")
    ] = None,
    predicates: Annotated[
        bool, typer.Option("--predicates", help="Tell the sentences that describe single real people (A8).")
    ] = False,
    force: Force = False,
) -> None:
    """Write the report of a run: one HTML page that needs no network, or Markdown, or the facts as JSON.

    Example: `leastwise report run/ adult.csv -o report.html`
    """
    from leastwise.documents import write_whole
    from leastwise.records.files import read_frame
    from leastwise.report import FORMATS, keep_shares, read_check, summarize
    from leastwise.runs import Run as StoredRun

    kind = _format(form, output)
    to = run / f"report.{kind}" if output is None else output
    check_output(output, force)
    drift = None if check is None else read_check(check)
    stored = StoredRun.load(run)
    if data is not None:
        table = table_of(stored, read_frame(data, tuple(missing or ())), data, person, survey_weights)
        keep_shares(stored, table.split(stored.task.seed).test)
    typer.echo(f"telling {counted(len(stored.candidates), 'candidate')}", err=True)
    facts = summarize(stored, drift=drift, predicates=predicates)
    if predicates:
        people = "people who are alone with their generalized record; keep it as safe as records"
        warnings.warn(f"the report describes {people}", PrivacyLeakWarning, stacklevel=2)
    # In the folder of the run all three say the same: a decision is held against them.
    every = output is None and form is None and not predicates
    for name in FORMATS if every else (kind,):
        write_whole(to.with_suffix(f".{name}") if every else to, FORMATS[name](facts))
    typer.echo(f"wrote {to}", err=True)


_ENDINGS = {"html": "html", "markdown": "md", "json": "json"}


def _format(given: str | None, output: Path | None) -> str:
    """Return how the name of the output ends."""
    if given is not None:
        return _ENDINGS[check_choice("--to", given, _ENDINGS)]
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    ending = {"": "html", "htm": "html", **_ENDINGS}.get(suffix, suffix)
    if ending not in _ENDINGS.values():
        ends = ", ".join(_ENDINGS.values())
        raise ParameterError(f"the name of the output must end in one of {ends}; got {shorten(ending)}")
    return ending


def table_of(run: Run, frame: Any, data: str, person: str | None, survey_weights: str | None = None) -> Table:
    """Return the records of a run; others are refused. Whose they are, and their weights, the run knows."""
    from leastwise.records.table import Table
    from leastwise.runs.task import fingerprint

    person, survey_weights = person or run.task.person, survey_weights or run.task.survey_weights
    table = Table.from_frame(frame, run.schema, person, survey_weights)
    if fingerprint(table) != run.task.fingerprint:
        raise DataError(
            f"{data} must hold the records of the run ({shorten(run.task.data)}); its fingerprint differs: give "
            "the same file, with the same --missing, --person and --survey-weights"
        )
    return table
