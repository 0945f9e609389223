"""Each figure and table of the paper as a declaration: measured again, drawn, and put beside the paper's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from leastwise.adversaries import Adversary
from leastwise.errors import DataError, ParameterError
from leastwise.evaluation.protocol import several
from leastwise.experiments import attacks, attributes, tradeoffs
from leastwise.experiments.declaration import Experiment, Paper, Picture
from leastwise.experiments.judging import Laboratory, sampled
from leastwise.experiments.page import Outcome
from leastwise.minimizers import Minimizer
from leastwise.progress import Progress, Silent
from leastwise.records.table import Table
from leastwise.validation import check_choice

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (*tradeoffs.EXPERIMENTS, *attacks.EXPERIMENTS, *attributes.EXPERIMENTS)
}

__all__ = ["EXPERIMENTS", "Experiment", "Laboratory", "Outcome", "Paper", "Picture", "run_experiment"]


def run_experiment(
    name: str | Experiment,
    records: Table,
    *,
    data: str = "",
    later: Sequence[tuple[str, Table]] = (),
    seed: int = 0,
    quick: bool = False,
    most: int | None = None,
    only: str = "",
    minimizers: Sequence[str | Minimizer] = (),
    adversaries: Sequence[str | Adversary] = (),
    estimator: Any = None,
    predictor: Any = None,
    progress: Progress | None = None,
) -> Outcome:
    """Measure one experiment.

    Parameters
    ----------
    name
        One of ``EXPERIMENTS``, or an ``Experiment`` of your own.
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
    minimizers
        Of your own, as for ``Grid.of``: beside all others where minimizers are compared, and in the place of PAT
        where a frontier is followed.
    adversaries
        Of your own, as for ``evaluate``: beside the others where adversaries are compared.
    estimator, predictor
        As for ``evaluate``: a classifier beside ours, and what adversaries predict with.
    progress
        Is told what is done.
    """
    experiment = EXPERIMENTS[check_choice("experiment", name, EXPERIMENTS)] if isinstance(name, str) else name
    if not records.personal:
        raise DataError("the experiments need personal attributes; mark some in the schema")
    brought = {
        "minimizers": tuple(minimizers),
        "adversaries": several(adversaries),
        "estimator": estimator,
        "predictor": predictor,
    }
    _check_taken(experiment, [what for what, each in brought.items() if each not in ((), None)])
    used = sampled(records, most, seed) if most else records
    laboratory = Laboratory(used, tuple(later), seed, quick, only, progress or Silent(), **brought)
    return Outcome(experiment, experiment.measure(laboratory), _facts(laboratory, data, len(records)))


def _check_taken(experiment: Experiment, brought: Sequence[str]) -> None:
    for what in brought:
        if what not in experiment.takes:
            able = ", ".join(each.name for each in EXPERIMENTS.values() if what in each.takes)
            raise ParameterError(f"{experiment.name} has no use for {what} of your own; these have: {able}")


def _facts(laboratory: Laboratory, data: str, available: int) -> dict[str, str]:
    from leastwise import __version__

    table = laboratory.records
    schema = table.schema
    assert schema.label is not None
    return {
        "data": f"{data or 'records'}: {len(table):,} of {available:,} records",
        "label": schema.label.name,
        "personal attributes": ", ".join(schema.personal),
        **laboratory.brought(),
        "strength": "quick: fewer settings, shorter training" if laboratory.quick else "full",
        "seed": str(laboratory.seed),
        "fingerprint of the records": hashlib.sha256(np.ascontiguousarray(table.codes).tobytes()).hexdigest(),
        "leastwise": __version__,
    }
