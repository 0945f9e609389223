"""Noise does not alarm: people drawn again and again from one distribution, judged at the stated level."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leastwise.checks import DriftLimits, Promise, check, monitor
from leastwise.checks.promise import _rounded
from leastwise.checks.use import bucket_use, label_use
from leastwise.runs.budget import Budget
from tests.checks.people import G, frame, promise, table

DRAWS = 200
LEVEL = 0.05
# No difference is too small to matter: only the tests stand between noise and an alarm.
BARE = DriftLimits(level=LEVEL, share=0.0, error=0.0, adversary_error=0.0)


@pytest.fixture(scope="module")
def promised() -> Promise:
    return promise(3000)


def counted(promised: Promise, people: int, seed: int) -> Promise:
    """Another draw of the sample: what is counted, without training anything."""
    drawn = table(people, seed)
    use = tuple(replace(each, counts=_rounded(each.counts)) for each in bucket_use(G, drawn))
    return replace(promised, people=people, use=use, label=_rounded(label_use(drawn) or ()))


@pytest.mark.parametrize(("sample", "collected"), [(80, 60), (80, 2000), (1000, 1000)])
def test_collected_records(promised: Promise, sample: int, collected: int) -> None:
    """The sample that promised is a draw as well, of few people sometimes, and rounded."""
    alarms = 0
    for seed in range(DRAWS):
        records = G.transform(frame(collected, 1000 + seed))
        alarms += monitor(G, records, counted(promised, sample, 5000 + seed), limits=BARE).broken
    assert alarms <= LEVEL * DRAWS


def test_a_planted_drift_alarms_nearly_always(promised: Promise) -> None:
    drifted = [G.transform(frame(1500, 1000 + seed, older=5)) for seed in range(50)]
    assert sum(monitor(G, records, promised).broken for records in drifted) >= 48


def budget_at_the_truth() -> Budget:
    """Limits that the town just keeps: what one very large draw shows."""
    found = check(G, table(60_000, 1), quick=True).evaluation
    assert found is not None
    assert found.utility is not None
    errors = {each.attribute: each.adversary_error for each in found["A1"].attributes}
    least = {**errors, "mean": found["A1"].adversary_error}
    return Budget(max_error=found.utility.error, min_adversary_error=least)


@pytest.mark.slow
def test_whole_checks() -> None:
    """Classifier and adversary trained anew on each draw, against a promise that is a draw as well."""
    budget = budget_at_the_truth()
    promises = [promise(2000, 300 + seed) for seed in range(5)]
    alarms = 0
    for seed in range(DRAWS):
        found = check(
            G, table(2000, 1000 + seed), budget=budget, promise=promises[seed % 5], limits=BARE, quick=True
        )
        alarms += found.broken
    assert alarms <= LEVEL * DRAWS


@pytest.mark.slow
def test_whole_checks_find_planted_drift() -> None:
    promised = promise(3000)
    for drift in ({"older": 6.0}, {"noise": 0.25}, {"tied": 0.8}):
        found = [check(G, table(3000, 1000 + seed, **drift), promise=promised, quick=True) for seed in range(10)]
        assert all(each.broken for each in found), drift
