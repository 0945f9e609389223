"""``leastwise train``: a classifier of generalized records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.options import AsJson, Force, Seed
from leastwise.cli.output import check_output
from leastwise.cli.printing import print_json, visible
from leastwise.cli.progress import working
from leastwise.cli.task import Label, Missing

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
Estimator = Annotated[
    str,
    typer.Option("--estimator", help="The import path of a scikit-learn classifier; importing it runs its code."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write the model; its card goes beside it.")]
Full = Annotated[
    bool, typer.Option("--full", help="The records are full-granularity ones; generalize them first.")
]
Share = Annotated[float, typer.Option("--test-share", min=0.05, max=0.9, help="The share to measure on.")]


@app.command()
def train(
    generalization: Artefact,
    records: Records,
    label: Label = None,
    estimator: Estimator = "sklearn.ensemble.HistGradientBoostingClassifier",
    output: Output = Path("model.skops"),
    full: Full = False,
    missing: Missing = None,
    test_share: Share = 0.3,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Train a classifier on generalized records, measure it, and save it with its card.

    Full-granularity records are refused, unless --full says that they shall be generalized in memory.

    Examples:

    `leastwise train g.json sqlite:///records.db --label income`

    `leastwise train g.json coarse.parquet --estimator sklearn.linear_model.LogisticRegression -o small.skops`
    """
    asked = load(generalization)
    for path in (output, output.with_suffix(".md"), output.with_suffix(".json")):
        check_output(path, force)
    frame = read_generalized(asked, records, missing or ())
    from leastwise.models import train as fit
    from leastwise.models.saving import check_extra

    check_extra()
    with working(f"training on {frame.height:,} records"):
        model = fit(asked, frame, label, estimator=estimator, full=full, test_share=test_share, seed=seed)
    written = model.save(output, overwrite=force)
    if as_json:
        from leastwise.models.cards import facts_to_document

        print_json({**facts_to_document(model.facts), "files": [str(path) for path in written]})
    else:
        typer.echo(_sentence(model.facts))
        typer.echo(f"wrote {', '.join(map(str, written))}", err=True)


def _sentence(facts: ModelFacts) -> str:
    low, high = facts.interval
    return (
        f"{visible(facts.label, 40)}: wrong on {facts.error:.1%} of {facts.tested:,} held-out records "
        f"({low:.1%} to {high:.1%}); always answering the most frequent class: {facts.baseline:.1%}. "
        f"Fitted on {facts.trained:,} records."
    )


def read_generalized(asked: Generalization, source: str, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Return the records of a file, or those that a collector stored under this generalization."""
    if "://" in source:
        from leastwise.collector.store import read_records

        return read_records(source, asked.fingerprint)
    from leastwise.records.files import read_frame

    return read_frame(source, missing)
