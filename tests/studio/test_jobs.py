"""Work in a process of its own: what comes out is taken in, what fails is said, and it ends when it is told to."""

from __future__ import annotations

import time
from typing import Any

import pytest

from leastwise.errors import DataError, ParameterError
from leastwise.progress import Progress
from leastwise.studio.jobs import CANCELLED, DONE, FAILED, RUNNING, Job, Jobs


def added(first: int, second: int, progress: Progress) -> int:
    progress.begin("adding", 2)
    progress.advance()
    return first + second


def failing(how: str, progress: Progress) -> None:
    raise DataError("the files must be there") if how == "told" else ValueError("Ada Lovelace, 36")


def endless(progress: Progress) -> None:
    progress.begin("waiting")
    time.sleep(600)


def ended(job: Job) -> Job:
    for _ in range(600):
        if job.state != RUNNING:
            break
        time.sleep(0.1)
    return job


@pytest.mark.slow
def test_work_is_done_beside() -> None:
    jobs, taken = Jobs(), list[Any]()
    job = ended(jobs.start("adding", "draft", added, (1, 2), lambda found: taken.append(found) or found))
    assert (job.state, job.result, taken) == (DONE, 3, [3])
    assert (job.words, job.done, job.total) == ("adding", 1, 2)
    facts = jobs.facts()
    assert facts is not None
    assert "process" not in facts
    told = ended(jobs.start("failing", "draft", failing, ("told",), str))
    assert (told.state, told.error) == (FAILED, "the files must be there")
    silent = ended(jobs.start("failing", "draft", failing, ("silent",), str))
    assert silent.error == "it ended with ValueError"  # nobody's name
    going = jobs.start("waiting", "draft", endless, (), str)
    with pytest.raises(ParameterError, match="busy"):
        jobs.start("adding", "draft", added, (1, 2), str)
    while going.words != "waiting":
        time.sleep(0.05)
    jobs.cancel()
    assert going.state == CANCELLED
    going.process.join(10)
    assert not going.process.is_alive()
