"""Which candidates are made the least that they can be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leastwise import Generalization
from leastwise.minimizers.merging import LOSS
from leastwise.predictors.held_out import Difference
from leastwise.runs.candidates import Candidate
from leastwise.runs.choice import MOST_ANSWERS
from leastwise.runs.judging import Polished, screen_by_counting
from leastwise.runs.least import not_beaten_by
from leastwise.runs.proposals import candidate_that_asks_nothing
from tests.runs.small import SCHEMA, records

SPLIT = records().split(0)
FIGURES = screen_by_counting(Generalization.suppressed(SCHEMA), SPLIT, 1).figures


def candidate(error: float, safety: float, answers: int) -> Candidate:
    figures = replace(FIGURES, utility_risk=error, adversary_error=safety)
    return replace(candidate_that_asks_nothing(SPLIT.train), screened=figures, answers=answers)


def polished(each: Candidate) -> tuple[Polished, ...]:
    return (Polished(each, Difference(0.0, 0.01)),)


@pytest.mark.parametrize(
    ("error", "safety", "answers", "beaten"),
    [
        (0.2, 0.3, 30, True),
        (0.2 + 1.9 * LOSS, 0.1, 30, True),  # merging would give as much away
        (0.2 + 2.1 * LOSS, 0.3, 30, False),
        (0.2, 0.09, 30, False),  # it tells more
        (0.2, 0.3, MOST_ANSWERS + 1, False),  # it is as long
    ],
)
def test_what_is_long_is_made_the_least_where_nothing_short_beats_it(error, safety, answers, beaten):
    long, short = candidate(0.2, 0.1, 400), candidate(error, safety, answers)
    assert not_beaten_by([polished(short)], [long]) == ([] if beaten else [long])
