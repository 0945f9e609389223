"""Adversaries learn once for all candidates; who sees more can coarsen, so no finer candidate seems safer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import SHARED, found_knowing_more
from leastwise.confidence import Interval
from leastwise.evaluation import evaluate
from leastwise.evaluation.utility import Judges
from leastwise.partition import suppress
from leastwise.predictors import JointBuckets
from leastwise.progress import Silent
from leastwise.runs import attacking
from leastwise.runs.attacking import (
    NOTE,
    alike,
    attacked_together,
    find_last_of_all,
    know_others_of_all,
    learn_for_all,
    share_network,
)
from leastwise.runs.workers import Workers
from tests.adversaries.test_amortised import ORDER, SEVERAL
from tests.adversaries.test_amortised import SPLIT as TOWN
from tests.runs.small import SCHEMA, records

SPLIT = records().split(0)
NOTHING = Generalization.suppressed(SPLIT.train.schema)
EVERYTHING = Generalization.untouched(SPLIT.train.schema)
OTHERS = [j for j, attribute in enumerate(SPLIT.train.schema.attributes) if not attribute.personal]


def candidates() -> dict[str, Generalization]:
    """Nothing asked, each non-personal question alone, and everything."""
    alone = {f"only {j}": NOTHING.replacing(EVERYTHING.partitions[j]) for j in OTHERS}
    return {"nothing": NOTHING, **alone, "everything": EVERYTHING}


def test_candidates_that_collect_the_personal_attributes_alike_are_attacked_together() -> None:
    groups = alike(candidates())
    assert [name for group in groups for name in group] == [*candidates()]
    assert groups[-1] == ["everything"]
    assert max(map(len, groups)) == min(4, len(OTHERS) + 1)


def test_what_is_shared_is_what_each_would_find() -> None:
    judges, chosen = Judges(quick=True), ["A1", "A3", "A4", "A5", "A7"]
    several = [*candidates().values()]
    last = find_last_of_all(several, SPLIT, judges, Workers(), Silent())
    known = know_others_of_all(several, SPLIT, judges, Workers())
    memory: dict[object, object] = {}
    for generalization, own, others in zip(several, last, known, strict=True):
        memory |= others
        alone = evaluate(generalization, SPLIT, chosen, quick=True, held_out=True)
        together = evaluate(generalization, SPLIT, chosen, quick=True, held_out=True, last=own, memory=memory)
        memory = found_knowing_more(memory)
        plain = [[replace(each, seconds=0.0) for each in found.attacks] for found in (alone, together)]
        assert plain[0] == plain[1]
    assert memory
    assert all(len(others) == 1 for others in known)


def test_who_is_told_better_by_a_network_of_its_own_is_not_left_to_the_shared_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, middle, last = ORDER
    breach = Breach.of(SEVERAL[1], TOWN)
    for lead, mistrusted in ((2.0, set()), (-2.0, {middle})):  # never, and always: but the ends of the order
        monkeypatch.setattr(attacking, "_LEAD", lead)
        network = learn_for_all([(each, ORDER) for each in SEVERAL], TOWN, 0, Workers(), Silent())
        assert network.mistrusted == mistrusted
        asked = {(): True, (0, 2): True, (0, 2, first): not mistrusted}
        assert {known: network.seen_by(breach, known, [middle]) is not None for known in asked} == asked
        assert network.seen_by(breach, (0, 2, first, middle), [last]) is not None


def test_a_network_is_shared_by_a_frontier_and_not_in_a_quick_run(monkeypatch: pytest.MonkeyPatch) -> None:
    order = [*SPLIT.train.personal]
    several = [(each, order) for each in candidates().values()]
    asked = SPLIT, Judges(), Workers(), Silent()
    assert share_network(several, *asked) == {}, "of few people each candidate learns for itself"
    monkeypatch.setattr(attacking, "FEWEST_PEOPLE", 1)
    first, again = (share_network(several, *asked)[SHARED] for _ in range(2))
    for mine, theirs in zip(first.members[0].adds, again.members[0].adds, strict=True):
        assert np.array_equal(mine, theirs), "a run that is resumed learns the same"
    assert share_network(several, SPLIT, Judges(quick=True), Workers(), Silent()) == {}
    assert share_network(several[:2], *asked) == {}, "two candidates are better off with their own"
    assert share_network(several, SPLIT, Judges(predictor=JointBuckets), Workers(), Silent()) == {}


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
