"""Classifiers of generalized records: ``leastwise train`` and ``leastwise predict``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Artefact, AsJson, Force, Seed, Trust, app, grouped, load, put_to_use
from leastwise.cli.domains import tell_unweighted
from leastwise.cli.output import check_output, print_json, visible, write_frame
from leastwise.cli.progress import working
from leastwise.cli.sources import SourceOptions, counted_answers, stays
from leastwise.cli.task import Label, Missing, SurveyWeights
from leastwise.documents.wording import counted, percent, percent_range
from leastwise.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from leastwise.generalization import Generalization
    from leastwise.models import ModelFacts


Records = Annotated[
    str,
    typer.Argument(
        help="Generalized records: CSV, Parquet or NDJSON, or a collector's database (sqlite:///..., postgresql://...)."
    ),
]
Full = Annotated[
    bool, typer.Option("--full", help="The records are full-granularity ones; generalize them first.")
]


@app.command()
@grouped
def train(
    generalization: Artefact,
    records: Records,
    at: SourceOptions,
    label: Label = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="The import path of a scikit-learn classifier (regressor for a number); importing it runs its "
            "code. Default: gradient boosting.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the model; its card goes beside it.")
    ] = Path("model.skops"),
    full: Full = False,
    missing: Missing = None,
    survey_weights: SurveyWeights = None,
    test_share: Annotated[
        float, typer.Option("--test-share", min=0.05, max=0.9, help="The share to measure on.")
    ] = 0.3,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Train a classifier on generalized records, measure it, and save it with its card.

    Full-granularity records are refused, unless --full says that they shall be generalized first. Records that
    stay in an engine are counted there: each distinct generalized record is fetched once, with how many have it.
    Of several labels each has a model of its own (model-income.skops), or those that --label names.

    Examples:

    `leastwise train g.json sqlite:///records.db --label income`

    `leastwise train g.json coarse.parquet --estimator sklearn.linear_model.LogisticRegression -o small.skops`

    `leastwise train g.json duckdb:people.db --table people --full`
    """
    asked = load(generalization)
    tell_unweighted(generalization, survey_weights)
    named = label or [each.name for each in asked.schema.labels]
    places = _places(output, named)
    for path in (made.with_suffix(suffix) for made in places for suffix in (made.suffix, ".md", ".json")):
        check_output(path, force)
    frame, counts = read_answers(asked, records, at, missing or (), full, named)
    from leastwise.models import train as fit
    from leastwise.models.saving import check_extra

    check_extra()
    full = full and counts is None  # what was counted is generalized
    same: Any = {"estimator": estimator, "full": full, "test_share": test_share, "seed": seed, "counts": counts}
    same |= {"survey_weights": survey_weights}
    made = []
    wanted: Sequence[str | None] = named or [None]
    for each, path in zip(wanted, places, strict=True):
        with working(f"training on {frame.height if counts is None else counts.sum():,} records"):
            model = fit(asked, frame, each, **same)
        written = model.save(path, overwrite=force)
        made.append({**json.loads(model.facts.to_json()), "files": [str(file) for file in written]})
        if not as_json:
            typer.echo(_sentence(model.facts))
            typer.echo(f"wrote {', '.join(map(str, written))}", err=True)
    if as_json:
        print_json(made[0] if len(made) == 1 else made)
    put_to_use(generalization)


def _places(output: Path, labels: Sequence[str]) -> list[Path]:
    """Return where the model of each label goes: of several, with its name, and its number where those clash."""
    if len(labels) < 2:
        return [output]
    # A label may hold anything; the name of a file must not.
    plain = [re.sub(r"[^\w.-]+", "_", name) for name in labels]
    clash = len({*plain}) < len(plain)
    return [
        output.with_name(f"{output.stem}-{f'{i}-' * clash}{name}{output.suffix}")
        for i, name in enumerate(plain, 1)
    ]


def _sentence(facts: ModelFacts) -> str:
    low, high = facts.interval
    if facts.number:
        unit = f" {visible(facts.unit, 20)}" if facts.unit else ""
        return (
            f"{visible(facts.label, 40)}: off by {facts.error:.4g}{unit} on average over {facts.tested:,} "
            f"held-out records ({low:.4g} to {high:.4g}; R2 {facts.r2:z.2f}); always answering the median: "
            f"{facts.baseline:.4g}. Fitted on {facts.trained:,} records."
        )
    return (
        f"{visible(facts.label, 40)}: wrong on {percent(facts.error, 1)} of {facts.tested:,} held-out records "
        f"({percent_range((low, high))}); always answering the most frequent class: {percent(facts.baseline, 1)}. "
        f"Fitted on {facts.trained:,} records."
    )


def read_answers(
    asked: Generalization,
    records: str,
    at: SourceOptions,
    missing: Sequence[str] = (),
    full: bool = False,
    labels: Sequence[str] = (),
) -> tuple[pl.DataFrame, pl.Series | None]:
    """Return generalized records; with how many people have each, where they are counted instead of read.

    The address of a database without --table is a collector's.
    """
    records = records if at.table else _url(records)
    if "://" in records and at.table is None:
        if at.given:
            raise ParameterError("name the table of the database: --table; without any option it is a collector's")
        return read_generalized(asked, records, missing), None
    if not stays(records, at):
        return read_generalized(asked, records, missing), None
    distinct = counted_answers(asked, records, at, missing, full, labels)
    return distinct.records, distinct.counts


def _url(records: str) -> str:
    """Return the address of a collector's SQLite file as the collector was given it: a URL; others as they are.

    >>> _url("sqlite:records.db"), _url("sqlite:///records.db"), _url("duckdb:people.db")
    ('sqlite:///records.db', 'sqlite:///records.db', 'duckdb:people.db')
    """
    scheme, _, path = records.partition(":")
    return f"sqlite:///{path}" if scheme == "sqlite" and "://" not in records else records


def read_generalized(asked: Generalization, source: str, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Return the records of a file, or those that a collector stored under this generalization."""
    source = _url(source)
    if "://" in source:
        from leastwise.collector import read_records

        return read_records(source, asked.fingerprint)
    from leastwise.records.files import read_frame

    return read_frame(source, missing)


@app.command()
def predict(
    generalization: Artefact,
    model: Annotated[Path, typer.Argument(help="A model of `leastwise train`.")],
    records: Records,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write: .csv, .parquet or .ndjson.")
    ] = Path("predictions.parquet"),
    full: Full = False,
    missing: Missing = None,
    trust: Trust = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the label of generalized records.

    Writes each record's prediction and the probability of each class (`p:class`), in the order of the records.

    Example: `leastwise predict g.json model.skops coarse.parquet -o predictions.parquet`
    """
    check_output(output, force, (".csv", ".parquet", ".ndjson"))
    asked = load(generalization)
    from leastwise.models import load_model

    trained = load_model(model, trust or ())
    trained.check_fits(asked)
    frame = read_generalized(asked, records, missing or ())
    with working(f"predicting {counted(frame.height, 'record')}"):
        predictions = trained.predict(asked.transform(frame) if full else frame)
    write_frame(predictions, output)
    if as_json:
        print_json({"records": predictions.height, "output": str(output)})
    else:
        typer.echo(f"wrote {predictions.height:,} predictions to {output}", err=True)
