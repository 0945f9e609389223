"""Which candidates are made the least that they can be."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from leastwise import Generalization
from leastwise.minimizers.merging import everything_asked
from leastwise.progress import Silent
from leastwise.runs import Options, Workers
from leastwise.runs.candidates import MOST_ANSWERS, Candidate
from leastwise.runs.grid import default_grid
from leastwise.runs.job import Job
from leastwise.runs.least import LONGEST, MOST_LONG, asking_everything, worth_the_time
from leastwise.runs.proposals import candidate_that_asks_nothing, screen_by_counting
from leastwise.runs.task import SHARES, task_of
from tests.runs.small import SCHEMA, records


@cache
def asking_nothing() -> Candidate:
    split = records().split(0)
    figures = screen_by_counting(Generalization.suppressed(SCHEMA), split, 1).figures
    return replace(candidate_that_asks_nothing(split.train), screened=figures)


def candidate(safety: float, answers: int) -> Candidate:
    nothing = asking_nothing()
    return replace(nothing, screened=replace(nothing.screened, adversary_error=safety), answers=answers)


def test_of_what_is_long_the_safest_are_made_the_least():
    short = [candidate(0.01 * i, MOST_ANSWERS - i) for i in range(5)]
    long = [candidate(0.1 * i, MOST_ANSWERS + 1 + i) for i in range(4)]
    assert worth_the_time([*long, *short]) == [*long[-MOST_LONG:], *short]


def test_nobody_of_hundreds_of_answers_is():
    assert worth_the_time([candidate(0.9, LONGEST + 1), candidate(0.1, LONGEST)]) == [candidate(0.1, LONGEST)]


def test_where_nothing_tells_anything_everything_in_full_is_no_alternative_to_nothing(tmp_path: Path):
    options, split = Options(), records().split(0, SHARES)
    grid = default_grid(quick=True)
    job = Job(tmp_path, split, task_of(records(), split, grid, options, "few"), grid, options, Workers(), Silent())
    everything = everything_asked(split.train, split.validation)
    assert asking_everything(job, SCHEMA.names, everything, 0.01) == []
    (some,) = asking_everything(job, SCHEMA.names[:1], everything, 1.0)
    assert some.asked == len(SCHEMA.names) - 1
