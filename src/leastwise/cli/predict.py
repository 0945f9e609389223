"""``leastwise predict``: the answers of a trained model for generalized records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.options import AsJson, Force, Trust
from leastwise.cli.output import check_output, write_frame
from leastwise.cli.printing import print_json
from leastwise.cli.progress import working
from leastwise.cli.train import Full, Records, read_generalized

ModelFile = Annotated[Path, typer.Argument(help="A model of `leastwise train`.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write: .csv, .parquet or .ndjson.")]


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
    check_output(output, force, (".csv", ".parquet", ".ndjson"))
    asked = load(generalization)
    from leastwise.models import load_model

    trained = load_model(model, trust or ())
    trained.check_fits(asked)
    frame = read_generalized(asked, records)
    with working(f"predicting {frame.height:,} records"):
        predictions = trained.predict(asked.transform(frame) if full else frame)
    write_frame(predictions, output)
    if as_json:
        print_json({"records": predictions.height, "output": str(output)})
    else:
        typer.echo(f"wrote {predictions.height:,} predictions to {output}", err=True)
