"""Where the time of a run goes."""

import math
import time

import pytest

from leastwise.progress import Silent
from leastwise.runs import Stage, Stages, Workers, stage_table


def burn(seconds: float) -> float:
    end = time.process_time() + seconds
    while time.process_time() < end:
        math.sqrt(2)
    return seconds


def test_each_stage_is_told_once_and_in_order() -> None:
    stages = Stages(Silent(), Workers())
    for words in ("screening", "judging", "screening"):
        stages.begin(words, 1)
        burn(0.01)
        stages.advance()
    found = stages.ended()
    assert [each.words for each in found] == ["beginning", "screening", "judging"]
    assert found[1].processor > found[2].processor >= 0.01


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_workers_use_is_counted_wherever_they_work(jobs: int) -> None:
    workers = Workers(jobs)
    with workers.ready():
        stages = Stages(Silent(), workers)
        stages.begin("working", 4)
        assert [*workers.map(burn, [(0.1,)] * 4)] == [0.1] * 4
        (_, work) = stages.ended()
    assert work.processor >= 0.4
    assert (workers.processor_seconds >= 0.4) == (jobs == 2)


def test_the_table_ends_with_the_sum() -> None:
    rows = stage_table([Stage("a", 3.0, 2.0), Stage("b", 1.0, 2.0)], 2)
    assert [row["stage"] for row in rows] == ["a", "b", "all"]
    assert rows[-1] == {"stage": "all", "CPU s": "4.0", "share": "100 %", "seconds": "4.0", "utilisation": "50 %"}
