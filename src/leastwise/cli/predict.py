"""``leastwise predict``: the answers of a trained model for generalized records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.collect import Trust
from leastwise.cli.describe import Artefact, AsJson, load
from leastwise.cli.printing import print_json
from leastwise.cli.train import Full, Records, check_free, read_generalized, working

if TYPE_CHECKING:
    import polars as pl

    from leastwise.records.files import Format

ModelFile = Annotated[Path, typer.Argument(help="A model of `leastwise train`.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write: .csv, .parquet or .ndjson.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output if it exists.")]


@app.command()
def predict(
    generalization: Artefact,
    model: ModelFile,
    records: Records,
    output: Output = Path("predictions.parquet"),
    full: Full = False,
    trust: Trust = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the label of generalized records.

    Writes each record's prediction and the probability of each class (`p:class`), in the order of the records.

    Example: `leastwise predict g.json model.skops coarse.parquet -o predictions.parquet`
    """
    from leastwise.records.files import file_format

    kind = file_format(output)
    check_free([output], force)
    asked = load(generalization)
    from leastwise.models import load_model

    trained = load_model(model, trust or ())
    trained.check_fits(asked)
    frame = read_generalized(asked, records)
    with working(f"predicting {frame.height:,} records"):
        predictions = trained.predict(asked.transform(frame) if full else frame)
    _write(predictions, kind, output)
    if as_json:
        print_json({"records": predictions.height, "output": str(output)})
    else:
        typer.echo(f"wrote {predictions.height:,} predictions to {output}", err=True)


def _write(frame: pl.DataFrame, kind: Format, path: Path) -> None:
    """Write a file that appears under its name only when it is complete."""
    writers: dict[Format, Any] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "ndjson": frame.write_ndjson,
    }
    part = path.with_name(f"{path.name}.part")
    try:
        writers[kind](part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
