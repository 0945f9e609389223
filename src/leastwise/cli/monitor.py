"""``leastwise monitor``: is what was collected what the sample promised?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.checked import SUFFIXES, Report, hand_over
from leastwise.cli.options import AsJson, Force, PolicyFile, Trust
from leastwise.cli.output import check_output
from leastwise.cli.task import policy_of
from leastwise.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from leastwise.generalization import Generalization


@app.command()
def monitor(
    generalization: Artefact,
    records: Annotated[
        str | None,
        typer.Argument(help="Generalized records: CSV, Parquet, NDJSON, or the collector's database."),
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", help="The collector's database: sqlite:///records.db, postgresql://...")
    ] = None,
    promise: Annotated[
        Path, typer.Option("--promise", help="What the sample promised (leastwise check --write-promise).")
    ] = Path("promise.json"),
    model: Annotated[
        Path | None, typer.Option("--model", help="The model in use (.skops): its error where labels arrived.")
    ] = None,
    trust: Trust = None,
    policy: PolicyFile = None,
    codes: Annotated[
        bool, typer.Option("--codes", help="The file holds the numbers of the buckets, not their labels.")
    ] = False,
    output: Report = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare what was collected with what the sample promised; exit with 1 when it drifted.

    Bucket use, label rate, the model's error where labels arrived, people who are alone with their record (A8).
    Exit code 0: fine, 1: broken, 2: a mistake in the command or its files.

    Examples:

    `leastwise monitor g.json --db sqlite:///records.db --promise promise.json -o monitor.html`

    `leastwise monitor g.json coarse.parquet --promise promise.json --model model.skops`
    """
    from leastwise.checks import Promise
    from leastwise.checks import monitor as compare
    from leastwise.policy import Policy

    check_output(output, force, SUFFIXES)
    if not promise.is_file():
        raise ParameterError(f"{promise}: there is no such file; leastwise check --write-promise makes one")
    chosen, promised, agreed = load(generalization), Promise.load(promise), policy_of(policy) or Policy()
    promised.check_fits(chosen)
    found = compare(
        chosen,
        _collected(chosen, records, db),
        promised,
        budget=agreed.budget,
        limits=agreed.drift,
        model=_model(model, trust or [], chosen),
        codes=codes,
    )
    hand_over(found, f"Monitor of {generalization}", output, as_json)


def _collected(chosen: Generalization, records: str | None, db: str | None) -> pl.DataFrame:
    if records is not None and "://" in records and db is None:
        records, db = None, records
    if (records is None) == (db is None):
        raise ParameterError("name the records once: a file of generalized records, or --db and the collector's")
    if db is not None:
        from leastwise.collector.store import read_records

        return read_records(db, chosen.fingerprint)
    from leastwise.records.files import read_frame

    assert records is not None
    return read_frame(records)


def _model(path: Path | None, trust: list[str], chosen: Generalization) -> Any:
    if path is None:
        return None
    from leastwise.models import load_model

    found = load_model(path, trust)
    found.check_fits(chosen)
    return found
