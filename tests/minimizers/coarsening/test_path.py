"""Backward coarsening: nested paths, ends, and what they keep."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.errors import DataError, ParameterError
from leastwise.minimizers import coarsening_path, recommended_paths, restarted_paths
from leastwise.minimizers.coarsening.path import coarsening_steps, thinned
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.optimal.items import personal_codes
from leastwise.minimizers.optimal.surrogate import Effects, additive_boosting
from leastwise.minimizers.recommended import estimate
from leastwise.partition import Intervals
from tests.samples import LABEL, a_secret_and_its_twin, coded, named
from tests.strategies import generalizations, tables


@settings(deadline=None, max_examples=30)
@given(tables(max_rows=40), st.sampled_from([None, 0.0, 1.0, 5.0]), st.data())
def test_every_generalization_is_coarser_than_the_one_before(table, mu, data):
    start = data.draw(generalizations(table.schema))
    path = coarsening_path(table, start, mu, steps=None)
    assert path[0].is_coarser_than(start)
    assert path[-1] == Generalization.suppressed(table.schema)
    for finer, coarser in itertools.pairwise(path):
        assert coarser.is_coarser_than(finer)
        assert coarser != finer


@settings(deadline=None, max_examples=10)
@given(tables(max_rows=40))
def test_whoever_holds_the_whole_path_knows_what_the_finest_told(table):
    path = coarsening_path(table, Generalization.untouched(table.schema), steps=None)
    assert reduce(Generalization.refine, path) == path[0]


@pytest.mark.parametrize("mu", [None, 1.0])
def test_what_leaks_goes_first_and_what_is_useful_stays(mu):
    table = a_secret_and_its_twin()
    steps = coarsening_steps(table, Generalization.untouched(table.schema), mu)
    best = max(steps, key=lambda step: step.adversary_error - 2 * step.utility_risk)
    assert best.generalization.collected == ("useful",)
    assert best.generalization["useful"].groups == (("v0", "v1", "v2"), ("v3", "v4", "v5"))
    assert best.utility_risk == pytest.approx(0.1, abs=0.02)
    assert best.adversary_error == pytest.approx(2 / 3, abs=0.03)


def test_an_estimate_on_singletons_does_not_call_them_known():
    """Everybody alone in a joint bucket: guesses come from coarser knowledge, and are as bad as they are."""
    rows = 400
    random = np.random.default_rng(1)
    schema = Schema(
        (Attribute("id", "continuous", integer=True), Attribute("p", values=("f", "m"), personal=True)), LABEL
    )
    everybody, p, labels = np.arange(rows), random.integers(0, 2, rows), random.integers(0, 2, rows)
    table = coded(schema, everybody, p, labels=labels, numbers={"id": everybody})
    start = Generalization.untouched(schema).replacing(Generalization.suppressed(schema)["p"])
    first = coarsening_steps(table, start)[0]
    assert first.adversary_error > 0.4
    assert first.utility_risk > 0.35


def test_restarts_begin_anew_from_what_is_left():
    table = a_secret_and_its_twin()
    paths = restarted_paths(table, steps=8, starts=(0.3,))
    assert len(paths) >= 2
    for path in paths:
        assert all(b.is_coarser_than(a) for a, b in itertools.pairwise(path))
        assert path[-1] == Generalization.suppressed(table.schema)
    assert len(paths[-1][0].collected) < len(paths[0][0].collected)


def test_the_surrogate_of_a_restart_sees_what_is_left_and_is_asked_once():
    table, asked = a_secret_and_its_twin(), list[tuple[str, ...]]()

    def surrogate(table: Table, seed: int) -> Effects:
        asked.append(table.schema.names)
        return additive_boosting(table, seed)

    paths = restarted_paths(table, surrogate=surrogate)
    assert asked[0] == table.schema.names
    assert len(asked) == len({*asked}) > 1
    starts = {path[0].collected for path in paths}
    assert {each for start in starts for each in start} <= {*asked[0]}
    later = [path[0] for path in paths if path[0].origin["restart"] > 0]
    assert later
    for start in later:  # nothing that was given up comes back
        assert any({*start.collected} <= {*seen} for seen in asked[1:])


def test_buckets_that_are_no_neighbours_may_be_merged():
    """By effect v1 lies between v0 and v2, which hide most people in each other."""
    counts = {"v0": (100, 0), "v1": (10, 1), "v2": (100, 2)}
    codes = np.concatenate([np.tile([i, secret], (n, 1)) for i, (n, secret) in enumerate(counts.values())])
    shares = np.concatenate(
        [np.arange(n) < n * share for (n, _), share in zip(counts.values(), (0.1, 0.2, 0.3), strict=True)]
    )
    schema = Schema(
        (Attribute("a", values=(*counts,)), Attribute("p", values=("f", "g", "m"), personal=True)), LABEL
    )
    table = coded(schema, *codes.T, labels=shares)
    start = Generalization.untouched(schema).replacing(Generalization.suppressed(schema)["p"])
    assert coarsening_path(table, start, steps=None)[1]["a"].groups == (("v0", "v2"), ("v1",))


def test_a_value_that_nobody_has_is_no_obstacle():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, (300, 2))
    schema = Schema((named("a", 3), named("p", 3, personal=True)), LABEL)
    weights = np.where(codes[:, 1] == 2, 0.0, 1.0)
    table = coded(schema, *codes.T, labels=codes[:, 0] > 0, weights=weights)
    path = coarsening_path(table, Generalization.untouched(schema))
    assert path[-1] == Generalization.suppressed(schema)
    assert recommended_paths(table, steps=4)[-1].schema == schema
    with pytest.raises(DataError, match="weight 0"):
        recommended_paths(replace(table, weights=np.zeros(300)), steps=4)


def test_the_same_records_give_the_same_bytes():
    table = a_secret_and_its_twin(500)
    start = Generalization.untouched(table.schema)
    one, two = ([g.to_json() for g in coarsening_path(table, start)] for _ in range(2))
    assert one == two


def test_records_that_agree_in_everything_count_as_one_with_their_number():
    table = a_secret_and_its_twin(2000)
    columns = [table.codes[:, j].astype(np.int64) for j in range(3)]
    every = Records.of(table)
    few = every.collapsed(columns)
    assert len(few.people) < 120
    assert few.people.sum() == 2000
    states = [
        make_state(r, [r.table.codes[:, j].astype(np.int64) for j in range(3)], table.sizes, PseudoCounts())[0]
        for r in (every, few)
    ]
    assert states[0].hits.sum(axis=0).tolist() == states[1].hits.sum(axis=0).tolist()


def test_thinning_keeps_both_ends():
    steps = coarsening_steps(
        a_secret_and_its_twin(500), Generalization.untouched(a_secret_and_its_twin(500).schema)
    )
    kept = thinned(steps, 4)
    assert kept[0] is steps[0]
    assert kept[-1] is steps[-1]
    assert len(kept) <= 4


@pytest.mark.parametrize("mu", [-1.0, float("nan")])
def test_a_price_that_is_none_is_refused(mu):
    with pytest.raises(ParameterError, match="mu"):
        coarsening_path(a_secret_and_its_twin(50), Generalization.untouched(a_secret_and_its_twin(50).schema), mu)


def test_a_tie_does_not_hide_anybody():
    # Whoever is left out, the other value is in front; yet half of the people would be guessed right.
    rows = 2000
    schema = Schema((named("sex", 2, personal=True), named("a", 2)), LABEL)
    sex = np.arange(rows) % 2
    table = coded(schema, sex, np.arange(rows) // 2 % 2, labels=sex)
    told = [step.adversary_error for step in coarsening_steps(table, Generalization.untouched(schema))]
    assert told[0] == 0
    assert told[-1] == pytest.approx(0.5, abs=0.02)


@given(
    st.lists(st.floats(-100, 100).map(lambda x: round(x, 2)), min_size=1, max_size=40, unique=True),
    st.sampled_from([None, (-100.0, 100.0)]),
)
def test_numbers_that_one_guess_tells_are_one_value(numbers, declared):
    low, high = declared or (None, None)
    schema = Schema((Attribute("a", "continuous", lower=low, upper=high, personal=True),), LABEL)
    level = np.sort(np.asarray(numbers))
    table = coded(schema, np.arange(len(level)), labels=np.zeros(len(level)), numbers={"a": level})
    runs, width = personal_codes(table, 0), 2 * table.default_tolerance(0)
    for run in np.unique(runs):
        told = level[runs == run]
        assert told[-1] - told[0] <= width + 1e-6
        if run:
            assert told[0] - level[runs == run - 1][0] > width - 1e-6, "a run ends only where it must"


def numbers(order: np.ndarray, weights: np.ndarray | None = None) -> Table:
    schema = Schema(
        (
            Attribute("age", "continuous", integer=True, lower=0, upper=100, personal=True),
            Attribute("job", values=("a", "b")),
        ),
        LABEL,
    )
    age = np.random.default_rng(3).integers(20, 41, 800)[order]
    return coded(
        schema, age - 20, age % 3 == 0, labels=age % 2, numbers={"age": np.arange(20, 41)}, weights=weights
    )


def test_the_order_of_records_does_not_matter_where_runs_of_numbers_cross_buckets():
    start = Generalization.untouched(numbers(np.arange(800)).schema)
    middle = start.replacing(Intervals(start["age"].attribute, (28, 32)))
    told = [
        estimate(Records.of(table), middle, np.ones(1))
        for table in (numbers(np.arange(800)), numbers(np.arange(800)[::-1]))
    ]
    assert told[0].adversary_error == pytest.approx(told[1].adversary_error)


def test_records_that_stand_for_nobody_count_for_nothing():
    some = np.arange(800) % 2 == 0
    table, half = numbers(np.arange(800), some.astype(float)), numbers(np.flatnonzero(some))
    start = Generalization.untouched(table.schema)
    told = [estimate(Records.of(each), start, np.ones(1)) for each in (table, half)]
    assert told[0].adversary_error == pytest.approx(told[1].adversary_error)
