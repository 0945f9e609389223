"""A re-release that stays nested tells nothing new, whoever proposes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema
from leastwise.errors import ParameterError
from leastwise.minimizers import Constraints, nested, recommended_paths
from leastwise.minimizers.constraints import broken, brought_to
from leastwise.minimizers.constraints.nesting import inside
from leastwise.partition import Groups, Intervals, Partition, keep, suppress
from leastwise.records.table import Table
from tests.samples import LABEL, coded

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
JOB = Attribute("job", values=tuple("abcdef"), personal=True)
SCHEMA = Schema((AGE, JOB), LABEL)


def people(rows: int = 600, step: int = 3) -> Table:
    random = np.random.default_rng(100)
    age, job = random.integers(0, 33, rows), random.integers(0, 6, rows)
    return coded(SCHEMA, age, job, labels=(age > 15) ^ (job > 3), numbers={"age": np.arange(0.0, 99.0, step)})


TABLE = people()
edges = st.lists(st.integers(0, 98), max_size=5, unique=True).map(sorted)
ages = st.one_of(
    st.builds(
        lambda e, extra: Intervals(AGE, tuple(map(float, e)), (extra % (len(e) + 2),)), edges, st.integers(0, 9)
    ),
    st.just(suppress(AGE)),
    st.just(keep(AGE)),
)
jobs = st.one_of(
    st.lists(st.integers(0, 3), min_size=6, max_size=6).map(lambda m: Groups(JOB, tuple(_dense(m)))),
    st.just(suppress(JOB)),
)
ways = st.tuples(ages, jobs).map(lambda pair: Generalization(pair, LABEL))


def _dense(marks: list[int]) -> list[int]:
    seen: dict[int, int] = {}
    return [seen.setdefault(mark, len(seen)) for mark in marks]


@given(ways, ways)
def test_what_is_inside_tells_nothing_new(before: Generalization, now: Generalization) -> None:
    found = inside(before, now, TABLE)
    assert found.is_coarser_than(before)
    # On the people of the table it tells no more than the new one did, either.
    for mine, its, levels in zip(found.partitions, now.partitions, TABLE.levels, strict=True):
        assert _coarser_on(levels, mine, its)


def _coarser_on(levels: np.ndarray, coarse: Partition, fine: Partition) -> bool:
    pairs = {*zip(fine.bucket_map(levels).tolist(), coarse.bucket_map(levels).tolist(), strict=True)}
    return len(pairs) == len({bucket for bucket, _ in pairs})


@given(ways)
def test_what_is_nested_already_stays(before: Generalization) -> None:
    assert inside(before, before, TABLE) == before


def test_an_edge_that_parts_the_same_people_is_moved_to_the_earlier_one() -> None:
    before = Generalization((Intervals(AGE, (29.0,), (2,)), suppress(JOB)), LABEL)
    now = Generalization((Intervals(AGE, (28.0, 50.0), (3,)), keep(JOB)), LABEL)  # ages are multiples of 3
    found = inside(before, now, TABLE)
    assert found["age"] == Intervals(AGE, (29.0,), (2,))
    assert found["job"].suppressed


def test_recommended_stays_nested() -> None:
    before = Generalization((Intervals(AGE, (20.0, 45.0, 70.0), (4,)), Groups(JOB, (0, 0, 1, 1, 2, 2))), LABEL)
    held = nested(None, [before], TABLE)
    told = [brought_to(held, each, TABLE) for each in recommended_paths(TABLE, steps=8, constraints=held)]
    assert any(each.collected for each in told)
    for each in told:
        assert each.is_coarser_than(before)
        assert not broken(held, each, TABLE)


def test_what_both_told_may_be_asked() -> None:
    one = Generalization((Intervals(AGE, (20.0,), (2,)), suppress(JOB)), LABEL)
    two = Generalization((suppress(AGE), Groups(JOB, (0, 0, 0, 1, 1, 1))), LABEL)
    held = nested(Constraints(max_buckets={"age": 4}), [one, two], TABLE)
    assert held.max_buckets == {"age": 4}
    assert held.suppressed == ()
    assert not broken(held, one.refine(two), TABLE)
    finer = Generalization((Intervals(AGE, (20.0, 40.0), (3,)), suppress(JOB)), LABEL)
    assert any("not told before" in text for text in broken(held, finer, TABLE))


def test_without_an_earlier_one_there_is_nothing_to_stay_nested_in() -> None:
    with pytest.raises(ParameterError, match="an earlier generalization"):
        nested(None, [], TABLE)
