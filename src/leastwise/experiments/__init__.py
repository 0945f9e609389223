"""Each figure and table of the paper as a declaration: measured again, drawn, and put beside the paper's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from leastwise.errors import DataError
from leastwise.experiments import attacks, attributes, tradeoffs
from leastwise.experiments.declaration import Experiment, Paper, Picture
from leastwise.experiments.judging import Laboratory, sampled
from leastwise.experiments.page import Outcome
from leastwise.progress import Progress, Silent
from leastwise.records.table import Table
from leastwise.validation import check_choice

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (*tradeoffs.EXPERIMENTS, *attacks.EXPERIMENTS, *attributes.EXPERIMENTS)
}

__all__ = ["EXPERIMENTS", "Experiment", "Laboratory", "Outcome", "Paper", "Picture", "run_experiment"]


def run_experiment(
    name: str,
    records: Table,
    *,
    data: str = "",
    later: Sequence[tuple[str, Table]] = (),
    seed: int = 0,
    quick: bool = False,
    most: int | None = None,
    only: str = "",
    progress: Progress | None = None,
) -> Outcome:
    """Measure one experiment.

    Parameters
    ----------
    name
        One of ``EXPERIMENTS``.
    records, data
        The records, and what to call them.
    later
        (name, records) of later years with the same schema, for drift.
    seed, quick
        The same seed gives the same rows; ``quick`` trains less and tries fewer settings.
    most
        Use a random sample of at most so many records.
    only
        The attribute of interest, where an experiment is about one.
    progress
        Is told what is done.
    """
    experiment = EXPERIMENTS[check_choice("experiment", name, tuple(EXPERIMENTS))]
    if not records.personal:
        raise DataError("the experiments need personal attributes; mark some in the schema")
    used = sampled(records, most, seed) if most else records
    laboratory = Laboratory(used, tuple(later), seed, quick, only, progress or Silent())
    return Outcome(experiment, experiment.measure(laboratory), _facts(laboratory, data, len(records)))


def _facts(laboratory: Laboratory, data: str, available: int) -> dict[str, str]:
    from leastwise import __version__

    table = laboratory.records
    schema = table.schema
    assert schema.label is not None
    return {
        "data": f"{data or 'records'}: {len(table):,} of {available:,} records",
        "label": schema.label.name,
        "personal attributes": ", ".join(schema.personal),
        "strength": "quick: fewer settings, shorter training" if laboratory.quick else "full",
        "seed": str(laboratory.seed),
        "fingerprint of the records": hashlib.sha256(np.ascontiguousarray(table.codes).tobytes()).hexdigest(),
        "leastwise": __version__,
    }
