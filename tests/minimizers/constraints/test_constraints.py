"""The program and the paths under constraints: against every partition that meets them, and to the last merge."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, Schema, Table, Untouched
from leastwise.errors import ParameterError
from leastwise.minimizers import Constraints, coarsening_path, recommended_paths, restarted_paths
from leastwise.minimizers.constraints import broken
from leastwise.minimizers.optimal import make_program
from tests.minimizers.optimal.test_minimizer import cost_of, effects_for, run_partitions
from tests.samples import age_tells, coded
from tests.strategies import tables

AGE = Attribute("age", "continuous", integer=True, lower=0, upper=120)
JOB = Attribute("job", values=("a", "b", "c", "d"), personal=True)
LABEL = Attribute("y", values=("no", "yes"))


def table_of(rows: int = 200, seed: int = 0) -> Table:
    random = np.random.default_rng(seed)
    age, job = random.integers(0, 7, rows), random.integers(0, 4, rows)
    labels = age + job + random.integers(0, 4, rows) > 5
    numbers = {"age": [10, 17, 18, 30, 64, 65, 80]}
    return coded(Schema((AGE, JOB), LABEL), age, job, labels=labels, numbers=numbers)


def solved(table: Table, lam: float, effects=None, **constraints):
    program = make_program(table, effects or effects_for(table, 1), None, Constraints(**constraints))
    return program.generalization(program.solve(lam))


def test_edges_stay_however_high_the_price():
    assert solved(table_of(), 1e15, edges={"age": [17, 64]})["age"].edges == (17.0, 64.0)


def test_an_edge_beyond_all_records_stays_too():
    assert solved(table_of(), 1e15, edges={"age": [5, 64]})["age"].edges == (5.0, 64.0)


def test_suppressed_and_untouched_attributes_are_as_told():
    found = solved(table_of(), 0.01, suppressed=["age"], untouched=["job"])
    assert found["age"].suppressed
    assert found["job"].untouched


def test_values_stay_together_or_apart():
    table = table_of()
    together = solved(table, 0.0, together={"job": [["a", "d"], ["d", "b"]]})["job"]
    assert together.bucket("a") == together.bucket("d") == together.bucket("b") != together.bucket("c")
    apart = solved(table, 1e9, apart={"job": [["a", "d"]], "age": [[18, 65]]})
    assert apart["job"].bucket("a") != apart["job"].bucket("d")
    assert apart["age"].bucket(18) != apart["age"].bucket(65)


@pytest.mark.parametrize("people", [30, 60, 200])
def test_no_bucket_has_fewer_people(people):
    table = table_of()
    found = solved(table, 0.0, min_people=people)
    for j, column in enumerate(table.generalize(found).T):
        assert np.bincount(column).min() >= people, table.schema.names[j]


def met(table: Table, j: int, groups: list[list[int]], people: float, most: int) -> bool:
    return len(groups) <= most and all(table.use(j)[group].sum() >= people for group in groups)


@settings(deadline=None, max_examples=40)
@given(
    tables(max_attributes=2, weights=True),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.3]),
    st.integers(0, 6),
    st.integers(1, 4),
)
def test_limits_and_floors_are_met_at_the_least_cost(table, seed, lam, people, most):
    effects = effects_for(table, seed)
    rules = Constraints(max_buckets=dict.fromkeys(table.schema.names, most), min_people=people)
    options = []
    for j, attribute in enumerate(table.schema.attributes):
        order = list(np.flatnonzero(table.use(j) > 0)) if attribute.continuous else list(range(table.sizes[j]))
        if not attribute.continuous:
            order.sort(key=lambda code: effects[j][code, 0])
        fitting = [g for g in run_partitions(order) if met(table, j, g, people, most)]
        options.append(min((cost_of(table, j, g, effects[j], lam) for g in fitting), default=None))
    if None in options:
        with pytest.raises(ParameterError, match="meets the constraints"):
            make_program(table, effects, None, rules).solve(lam)
        return
    found = make_program(table, effects, None, rules).solve(lam)
    assert [found[j].cost for j in range(len(options))] == pytest.approx(options, abs=1e-7)


@settings(deadline=None, max_examples=40)
@given(tables(max_attributes=3), st.integers(0, 99), st.sampled_from([0.0, 0.3]), st.integers(0, 5))
def test_a_limit_in_all_is_shared_out_at_the_least_cost(table, seed, lam, spare):
    effects = effects_for(table, seed)
    room = len(table.schema) + spare
    choices = []
    for j, attribute in enumerate(table.schema.attributes):
        order = list(np.flatnonzero(table.use(j) > 0)) if attribute.continuous else list(range(table.sizes[j]))
        if not attribute.continuous:
            order.sort(key=lambda code: effects[j][code, 0])
        choices.append([(cost_of(table, j, g, effects[j], lam), len(g)) for g in run_partitions(order)])
    least = min(sum(c for c, _ in way) for way in itertools.product(*choices) if sum(k for _, k in way) <= room)
    found = make_program(table, effects, None, Constraints(max_buckets_in_all=room)).solve(lam)
    assert sum(b.size for b in found.values()) <= room
    assert sum(b.cost for b in found.values()) == pytest.approx(least, abs=1e-7)


def test_what_cannot_be_met_is_said():
    with pytest.raises(ParameterError, match=r"no partition of age meets .* \(0 to 10: \d+ training records\)"):
        solved(table_of(), 1.0, edges={"age": [10]}, min_people=100)


def test_all_problems_are_listed_at_once():
    wrong = Constraints(
        max_buckets={"age": 0}, suppressed=["agee"], max_buckets_in_all=1, min_people=-1, edges={"job": [1]}
    )
    with pytest.raises(ParameterError) as caught:
        wrong.check(table_of().schema)
    for words in ("'agee'", "max_buckets of age", "max_buckets_in_all", "min_people"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ({"edges": {"job": [1.0]}}, "continuous"),
        ({"edges": {"age": [500]}}, "outside"),
        ({"apart": {"job": [["a", "z"]]}}, "'z' is no value of job"),
        ({"together": {"age": [[None, 10]]}}, "missing is no value of age"),
        ({"suppressed": ["age"], "untouched": ["age"]}, "suppressed and untouched"),
        ({"suppressed": ["age"], "edges": {"age": [17]}}, "suppressed and parted"),
        ({"untouched": ["age"], "max_buckets": {"age": 9}}, "age cannot be untouched and have at most 9"),
        ({"untouched": ["job"], "max_buckets": {"job": 3}}, "job cannot be untouched and have at most 3"),
        ({"untouched": ["job"], "together": {"job": [["a", "b"]]}}, "untouched with values together"),
        ({"edges": {"age": [17, 64]}, "max_buckets": {"age": 2}}, "at most 2 buckets with 2 edges"),
        ({"together": {"job": [["a", "b", "c"]]}, "apart": {"job": [["c", "a"]]}}, "'a', 'c' of job cannot be"),
        ({"edges": {"age": [30]}, "together": {"age": [[20, 60]]}}, "the edge 30 of age parts"),
    ],
)
def test_contradictions_and_strange_values_are_named(constraints, words):
    with pytest.raises(ParameterError, match=words):
        Constraints(**constraints).check(table_of().schema)


@pytest.mark.parametrize(
    "constraints",
    [
        {"untouched": ["job"], "max_buckets": {"job": 4}},
        {"edges": {"age": [17, 64]}, "max_buckets": {"age": 3}},
        {"edges": {"age": [30]}, "together": {"age": [[31, 60]]}},
        {"together": {"job": [["a", "b"]]}, "apart": {"job": [["b", "c"]]}},
    ],
)
def test_what_only_looks_like_a_contradiction_is_solved(constraints):
    Constraints(**constraints).check(table_of().schema)
    assert solved(table_of(), 1.0, **constraints).partitions


@st.composite
def parting(draw: st.DrawFn, table: Table) -> Constraints:
    """Constraints that merges can break: edges, values apart, attributes untouched."""
    edges, apart, untouched = {}, {}, []
    for attribute, levels in zip(table.schema.attributes, table.levels, strict=True):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            untouched.append(attribute.name)
        elif kind == 1 and attribute.continuous:
            inside = [float(x) for x in levels if attribute.upper is None or x < attribute.upper]
            edges[attribute.name] = (
                draw(st.lists(st.sampled_from(inside), max_size=2, unique=True)) if inside else []
            )
        elif kind == 2 and len(levels) > 1:
            values = [*levels.tolist(), *([None] if attribute.missing else [])]
            apart[attribute.name] = [draw(st.lists(st.sampled_from(values), max_size=3, unique=True))]
    return Constraints(edges=edges, apart=apart, untouched=untouched)


def merges(generalization: Generalization) -> Iterator[Generalization]:
    """Every generalization in which two buckets of one attribute are one, runs of ordered ones staying runs."""
    for partition in generalization.partitions:
        if isinstance(partition, Untouched):
            continue
        for a, b in itertools.combinations(range(partition.size), 2):
            marks = [a if bucket == b else bucket for bucket in range(partition.size)]
            try:
                yield generalization.replacing(partition.coarsen(marks))
            except ValueError:
                continue


@settings(deadline=None, max_examples=40)
@given(tables(max_rows=25), st.data())
def test_a_path_holds_to_its_constraints_and_goes_as_far_as_they_allow(table, data):
    constraints = data.draw(parting(table))
    path = coarsening_path(table, Generalization.untouched(table.schema), steps=None, constraints=constraints)
    for step in path:
        assert broken(constraints, step, table) == []
    for finer, coarser in itertools.pairwise(path):
        assert coarser.is_coarser_than(finer)
    assert all(broken(constraints, further, table) for further in merges(path[-1]))


EVERYTHING = Constraints(
    edges={"age": [17, 64]},
    together={"state": [["a", "b"]]},
    apart={"state": [["a", "c"]]},
    max_buckets={"age": 10},
    max_buckets_in_all=14,
    min_people=60,
    suppressed=["sex"],
)


def test_all_recommended_candidates_hold_to_all_kinds_of_constraints():
    table = age_tells()
    found = recommended_paths(table, constraints=EVERYTHING, steps=12)
    for candidate in found:
        assert broken(EVERYTHING, candidate, table) == []
    assert min(candidate.total_buckets for candidate in found) == 3 + 2 + 1
    assert max(candidate.total_buckets for candidate in found) > 6


def test_an_untouched_number_stays_untouched_to_the_end():
    table = age_tells()
    (path,) = restarted_paths(table, starts=(0.3,), constraints=Constraints(untouched=["age"]))[:1]
    assert all(isinstance(step["age"], Untouched) for step in path)
    assert path[-1].not_collected == ("state", "sex")


def test_an_untouched_number_is_parted_at_the_edges_that_must_stay():
    table = age_tells()
    path = coarsening_path(
        table, Generalization.untouched(table.schema), constraints=Constraints(edges={"age": [17.0, 98]})
    )
    assert all({17.0, 98.0} <= {*step["age"].edges} for step in path)
    assert path[-1]["age"] == Intervals(table.schema["age"], (17.0, 98.0))


def test_what_is_broken_is_said():
    table = age_tells()
    fine = Generalization.untouched(table.schema).replacing(Intervals(table.schema["age"], (17, 30, 78)))
    assert broken(EVERYTHING, fine, table) == [
        "age: the edge 64 is gone",
        "age: a bucket of fewer than 60 people",
        "state: ['a', 'b'] are not together",
        "sex: is not suppressed",
    ]
    assert broken(Constraints(max_buckets_in_all=11, max_buckets={"age": 3}), fine, table) == [
        "12 buckets in all, not 11",
        "age: 4 buckets, not 3",
    ]
    none = Generalization.suppressed(table.schema)
    assert broken(Constraints(untouched=["age"], apart={"state": [["a", "c"]]}), none, table) == [
        "age: is not untouched",
        "state: ['a', 'c'] are not apart",
    ]


def test_a_start_that_breaks_them_is_refused():
    table = age_tells()
    with pytest.raises(ParameterError, match=r"start of a path must hold.*sex: is not suppressed.*optimal_path"):
        coarsening_path(table, Generalization.untouched(table.schema), constraints=Constraints(suppressed=["sex"]))
