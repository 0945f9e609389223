"""Who sees more can coarsen: no finer candidate seems safer than a coarser one of the same run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leastwise.confidence import Interval
from leastwise.evaluation.protocol import evaluate
from leastwise.generalization import Generalization
from leastwise.partition import suppress
from leastwise.runs.nesting import NOTE, attacked_together
from tests.runs.small import SCHEMA, records

FINE = Generalization.untouched(SCHEMA).replacing(suppress(SCHEMA["job"]))
COARSE = FINE.replacing(suppress(SCHEMA["town"]))
OTHER = Generalization.untouched(SCHEMA).replacing(suppress(SCHEMA["age"]))
ALL = {"fine": FINE, "coarse": COARSE, "other": OTHER}


def judged(job_error: float) -> Any:
    """Return what is found of three, where the attacker of the finer one errs so often about jobs."""
    split = records(600).split(0)
    found = {name: evaluate(each, split, ["A1", "A2"], quick=True) for name, each in ALL.items()}
    worse = []
    for attack in found["fine"].attacks:
        own: Any = attack
        job = replace(own["job"], adversary_error=job_error)
        attributes = tuple(job if each.attribute == "job" else each for each in own.attributes)
        mean = sum(each.adversary_error for each in attributes) / len(attributes)
        worse.append(
            replace(own, attributes=attributes, adversary_error=mean, interval=Interval(mean - 0.05, mean + 0.05))
        )
    return {**found, "fine": replace(found["fine"], attacks=tuple(worse))}


def test_what_is_told_of_the_coarser_one_is_told_of_the_finer_one():
    before = judged(0.99)
    after = attacked_together(ALL, before)
    for name in ("A1", "A2"):
        fine, coarse = after["fine"][name], after["coarse"][name]
        assert fine["job"].adversary_error == coarse["job"].adversary_error < 0.99
        assert fine["job"].predictor.endswith(NOTE)
        errors = [each.adversary_error for each in fine.attributes]
        assert abs(fine.adversary_error - sum(errors) / len(errors)) < 1e-12
        assert fine.interval.low <= fine.adversary_error <= fine.interval.high
    assert after["coarse"] == before["coarse"]
    assert after["other"] == before["other"]  # neither is coarser than the other
    assert attacked_together(ALL, after) == after


def test_who_tells_more_of_the_finer_one_goes_on_doing_so():
    before = judged(0.1)
    assert attacked_together(ALL, before) == before
