"""Where records are few, the training part has a say in what is worth judging."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.evaluation.pareto import Point
from leastwise.minimizers import pat_grid
from leastwise.partition import suppress
from leastwise.runs import few_records
from leastwise.runs.few_records import WORTH, steadied
from leastwise.runs.judging import screen_by_counting
from tests.runs.small import SCHEMA, records

SPLIT = records().split(0)
ASKED = Generalization.untouched(SCHEMA).replacing(suppress(SCHEMA["town"]))


def test_both_parts_have_their_share() -> None:
    """What validation shows counts for its people, what training shows for a share of its own."""
    low, high = (steadied([(Point(risk, 0.0), ASKED)], SPLIT)[0].utility_risk for risk in (0.0, 1.0))
    share = SPLIT.validation.people / (SPLIT.validation.people + WORTH * SPLIT.train.people)
    assert high - low == pytest.approx(share)
    assert 0 < low < 0.25 * (1 - share)  # the training part errs about one in ten, leaving each person out


def test_of_many_records_validation_tells_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_records, "FEW", len(SPLIT.train) - 1)
    shown = Point(0.3, 0.4)
    assert steadied([(shown, ASKED)], SPLIT) == [shown]


def test_luck_counts_for_less() -> None:
    """Over many splits, what is shown comes closer to what many fresh people tell than validation alone does."""
    fresh, alone, steady = records(20_000, seed=100), [], []
    for seed in range(100, 108):
        split = records(400, seed=seed).split(seed)
        for g in (g for row in pat_grid(split.train, (0.3, 0.8), (2, 4, 8), min_leaf=20) for g in row):
            shown = screen_by_counting(g, split, 1).figures.point
            truth = screen_by_counting(g, split._replace(validation=fresh), 1).figures.point
            (mixed,) = steadied([(shown, g)], split)
            alone.append(shown.utility_risk - truth.utility_risk)
            steady.append(mixed.utility_risk - truth.utility_risk)
    assert np.mean(np.square(steady)) < 0.8 * np.mean(np.square(alone))
