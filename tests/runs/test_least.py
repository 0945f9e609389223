"""Which candidates are made the least that they can be."""

from __future__ import annotations

from dataclasses import replace

from leastwise import Generalization
from leastwise.runs.candidates import Candidate
from leastwise.runs.choice import MOST_ANSWERS
from leastwise.runs.judging import screen_by_counting
from leastwise.runs.least import MOST_LONG, worth_the_time
from leastwise.runs.proposals import candidate_that_asks_nothing
from tests.runs.small import SCHEMA, records

SPLIT = records().split(0)
FIGURES = screen_by_counting(Generalization.suppressed(SCHEMA), SPLIT, 1).figures


def candidate(safety: float, answers: int) -> Candidate:
    figures = replace(FIGURES, adversary_error=safety)
    return replace(candidate_that_asks_nothing(SPLIT.train), screened=figures, answers=answers)


def test_of_what_is_long_the_safest_are_made_the_least():
    short = [candidate(0.01 * i, MOST_ANSWERS - i) for i in range(5)]
    long = [candidate(0.1 * i, MOST_ANSWERS + 1 + i) for i in range(4)]
    assert worth_the_time([*long, *short]) == [*long[-MOST_LONG:], *short]
