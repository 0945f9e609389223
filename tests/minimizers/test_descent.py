"""Descent on joint counts: each attribute at its best beside the others, and what coarsening cannot find."""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization, Schema
from leastwise.errors import ParameterError
from leastwise.kernels.joint_partition import Guessed
from leastwise.minimizers import Constraints, joint_path
from leastwise.minimizers.constraints import broken
from leastwise.minimizers.descent import Descent, _row, base_of, calibrated, calibrated_label
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.recommended import estimate
from leastwise.partition import keep
from tests.minimizers.constraints.test_constraints import parting
from tests.samples import LABEL, a_secret_and_its_twin, age_tells, coded, exclusive_or, named
from tests.strategies import generalizations, tables


def test_what_leaks_stays_out_and_what_is_useful_comes_in():
    table = a_secret_and_its_twin()
    descent = Descent(base_of(table, Generalization.untouched(table.schema), Constraints()), np.ones(1))
    descent.descend(2.0)
    found = descent.base.fine.generalization(descent.now)
    assert found.collected == ("useful",)
    assert found["useful"].groups == (("v0", "v1", "v2"), ("v3", "v4", "v5"))
    risk, error = estimate(descent.base.records, found, descent.weights)
    assert risk == pytest.approx(0.1, abs=0.02)
    assert error == pytest.approx(2 / 3, abs=0.03)


def test_an_attribute_that_was_given_up_comes_back_when_it_is_worth_it():
    table = a_secret_and_its_twin()
    descent = Descent(base_of(table, Generalization.untouched(table.schema), Constraints()), np.ones(1))
    descent.descend(0.0)
    assert descent.base.fine.generalization(descent.now).collected == ()
    descent.descend(50.0)
    assert "useful" in descent.base.fine.generalization(descent.now).collected


@settings(deadline=None, max_examples=25)
@given(tables(max_rows=20), st.data())
def test_solutions_are_coarser_than_the_fine_one_and_hold_to_constraints(table, data):
    constraints = data.draw(parting(table))
    fine = Generalization.untouched(table.schema)
    for found in joint_path(table, fine, (0.5, 5.0), constraints=constraints):
        assert broken(constraints, found, table) == []
        assert found.is_coarser_than(fine)


@settings(deadline=None, max_examples=25)
@given(tables(max_rows=20), st.data())
def test_a_path_is_made_of_the_buckets_of_the_fine_one(table, data):
    fine = data.draw(generalizations(table.schema))
    found = joint_path(table, fine, (0.3, 3.0))
    assert found
    assert all(each.is_coarser_than(fine) for each in found)
    assert len({each.fingerprint for each in found}) == len(found)


def test_what_only_shows_together_is_kept_on_the_way_down():
    """From suppression no single attribute gains; the fine side keeps both at once."""
    table = exclusive_or()
    descent = Descent(
        base_of(table, Generalization.untouched(table.schema), Constraints()), target_weights(table, None)
    )
    descent.now = [np.arange(2), np.arange(2), np.arange(2)]
    descent._renew()
    descent.descend(1.0)
    assert descent.base.fine.generalization(descent.now).collected == ("a", "b")


def descent_on(a: np.ndarray, b: np.ndarray, labels: np.ndarray) -> Descent:
    """A descent from suppression over a, b and a personal attribute that tells nothing, in this order."""
    schema = Schema((named("a", 3), named("b", 2), named("p", 2, personal=True)), LABEL)
    table = coded(schema, a, b, np.random.default_rng(1).integers(0, 2, len(a)), labels=labels)
    return Descent(base_of(table, Generalization.untouched(schema), Constraints()), target_weights(table, None))


def test_a_second_round_parts_what_only_the_first_one_made_worth_parting():
    """b tells 0 from 1 of a; only beside b, which comes after a, are they worth parting."""
    random = np.random.default_rng(0)
    a, b = random.choice(3, 4000, p=[0.2, 0.6, 0.2]), (random.random(4000) < 0.4).astype(int)
    descent = descent_on(a, b, (a == 2) | ((a == 1) & (b == 1)))
    descent.descend(5.0)
    found = descent.base.fine.generalization(descent.now)
    assert (found.collected, found["a"].size) == (("a", "b"), 3)


def test_what_is_suppressed_is_left_out_of_later_rounds_and_tried_again_by_the_next_descent():
    """Whatever a is, most have the label 0; where b is 1, a turns it."""
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2, 4000), random.integers(0, 2, 4000)
    descent = descent_on(a, b, random.random(4000) < np.array([[0.05, 0.9], [0.05, 0.35]])[a, b])
    for collected in (("b",), ("a", "b")):
        descent.descend(5.0)
        assert descent.base.fine.generalization(descent.now).collected == collected
    table = descent.base.records.table
    path = joint_path(table, Generalization.untouched(table.schema), (5.0,))
    assert [found.collected for found in path] == [("b",), ("a", "b")], "each is tried on the way up and down"


@pytest.mark.parametrize(
    "constraints",
    [Constraints(max_buckets={"useful": 2}), Constraints(untouched=["twin"]), Constraints(min_people=400)],
    ids=["most", "untouched", "fewest"],
)
def test_what_constraints_allow_is_found_under_them(constraints):
    """Nothing is left out that could have been made to hold to them."""
    table = a_secret_and_its_twin()
    found = joint_path(table, Generalization.untouched(table.schema), (2.0, 50.0), constraints=constraints)
    assert found
    assert all("useful" in each.collected for each in found)
    assert not any(broken(constraints, each, table) for each in found)


def test_what_is_known_of_the_joint_buckets_is_known_of_those_there_are():
    table = a_secret_and_its_twin()
    descent = Descent(base_of(table, Generalization.untouched(table.schema), Constraints()), np.ones(1))
    before = descent.pseudo_counts.copy()
    descent.descend(2.0)
    after, weights = descent.pseudo_counts.copy(), descent.model.weights
    assert after.tolist() != before.tolist()
    descent._renew()
    assert after.tolist() == descent.pseudo_counts.tolist()
    for found, renewed in zip(weights, descent.model.weights, strict=True):
        np.testing.assert_allclose(found, renewed)


def test_an_attribute_that_was_parted_anew_is_so_for_the_next_one():
    random = np.random.default_rng(0)
    a, b = random.choice(3, 3000, p=[0.5, 0.1, 0.4]), random.integers(0, 2, 3000)
    descent = descent_on(a, b, (a == 2) ^ (random.random(3000) < np.array([0.02, 0.3, 0.05])[a]))
    found, effects, people = descent._best(0, 5.0)
    assert found is not None
    assert found.max() == 1, "the first two belong together"
    assert descent._improve(0, 5.0)
    assert descent.columns[0].tolist() == [descent.now[0][bucket] for bucket in descent.base.fine.columns[0]]
    assert len({*descent._keys().tolist()}) == 2
    for group in range(2):
        places = [i for i, bucket in enumerate(descent.base.rows[0]) if found[bucket] == group]
        mean = sum(people[i] * effects[i] for i in places) / sum(people[i] for i in places)
        assert descent.model.weights[0][group] == pytest.approx(mean)


def test_under_a_limit_of_buckets_the_best_that_keeps_it_is_found():
    """The middle of three ranks tells the label: that takes three buckets, and two tell most of it."""
    random = np.random.default_rng(0)
    a = random.choice(3, 2000, p=[0.5, 0.4, 0.1])
    schema = Schema((named("a", 3, kind="ordinal"), named("p", 2, personal=True)), LABEL)
    table = coded(schema, a, random.integers(0, 2, 2000), labels=a == 1)
    fine = Generalization.untouched(schema)
    assert [found["a"].size for found in joint_path(table, fine, (10.0,))] == [3]
    (found,) = joint_path(table, fine, (10.0,), constraints=Constraints(max_buckets={"a": 2}))
    assert found["a"].groups == (("v0",), ("v1", "v2"))


@pytest.mark.parametrize(("like", "row"), [(-2.0, [3, 0, 1, 2]), (2.5, [0, 1, 2, 3])])
def test_missing_stands_at_the_end_that_it_is_like(like, row):
    partition = keep(named("size", 3, kind="ordinal", missing=True))
    assert _row(partition, np.array([-1.5, 0.0, 1.5, like])) == row


def test_discrete_buckets_stand_in_the_order_of_their_effects():
    assert _row(keep(named("job", 3)), np.array([0.5, -1.0, 2.0])) == [1, 0, 2]


def slow_cost(descent: Descent, j: int, now: np.ndarray, mu: float, effects: np.ndarray) -> float:
    """What a partition of one attribute costs by the module's words, counted record by record in dictionaries.

    Parameters
    ----------
    effects
        What each fine bucket of the attribute adds to the log-odds of the label model.
    """
    records, columns, row = descent.base.records, descent.columns, descent.base.rows[j]
    people, labels, fine = records.people.tolist(), records.table.y.tolist(), descent.base.fine.columns[j]
    group, rest = (
        now[fine].tolist(),
        [tuple(c[i] for k, c in enumerate(columns) if k != j) for i in range(len(fine))],
    )
    joint = collections.defaultdict(list)
    for i in range(len(fine)):
        joint[rest[i], group[i]].append(i)
    cost = len(set(now[row].tolist())) * (1 + mu)
    for (_, run), members in joint.items():
        n = sum(people[i] for i in members)
        held = np.zeros(records.table.classes)
        for i in members:
            held[labels[i]] += people[i]
        in_run = {bucket: sum(p for p, f in zip(people, fine, strict=True) if f == bucket) for bucket in row}
        shares = [(in_run[bucket], effects[place]) for place, bucket in enumerate(row) if now[bucket] == run]
        score = descent.model.intercept + sum(w * e for w, e in shares) / sum(w for w, _ in shares)
        for k, (column, effect) in enumerate(zip(columns, descent.model.weights, strict=True)):
            score = score + (effect[column[members[0]]] if k != j and len(effect) > 1 else 0)
        odds = np.exp([*[0.0] * (len(held) - len(score)), *score])
        label_count = descent.pseudo_counts[-1]
        cost -= mu * n * max(held + label_count * odds / odds.sum()) / (n + label_count)
        for t in range(len(records.own)):
            context = [k for k in np.flatnonzero(descent.state.contexts.strides[t]) if k != j]
            like = [i for i in range(len(fine)) if all(columns[k][i] == columns[k][members[0]] for k in context)]
            # Of the attribute's own values only those in the run are left.
            like = [i for i in like if records.own[t] != j or group[i] == run]
            prior, value = collections.Counter(), collections.Counter()
            for i in like:
                prior[records.targets[i, t]] += people[i]
            for i in members:
                value[records.targets[i, t]] += people[i]
            known = value if records.own[t] == j else prior
            count = descent.pseudo_counts[t]
            best = max(value[v] + count * prior[v] / sum(prior.values()) for v in known)
            cost += descent.weights[t] * n * best / (n + count)
    return float(cost)


@settings(deadline=None, max_examples=20)
@given(tables(max_rows=15), st.sampled_from([0.3, 1.0, 4.0]))
def test_each_attribute_gets_the_best_of_all_partitions_into_runs(table, mu):
    fine = Generalization.untouched(table.schema)
    descent = Descent(base_of(table, fine, Constraints()), target_weights(table, None))
    for j in descent.base.open:
        size = len(descent.base.rows[j])
        if size > 6:
            continue
        found, effects, _ = descent._best(j, mu)
        assert found is not None
        costs = []
        for cuts in itertools.product([0, 1], repeat=size - 1):
            now = np.zeros(descent.base.fine.partitions[j].size, dtype=np.int64)
            now[descent.base.rows[j]] = np.concatenate([[0], np.cumsum(cuts)])
            costs.append(slow_cost(descent, j, now, mu, effects))
        assert slow_cost(descent, j, found, mu, effects) == pytest.approx(min(costs), abs=1e-9)


@pytest.mark.parametrize("pseudo_count", [0.5, 4.0, 64.0])
def test_coarser_knowledge_counts_for_what_leave_one_out_counting_found(pseudo_count):
    random = np.random.default_rng(0)
    held = random.integers(0, 9, (30, 3)).astype(float)
    prior = random.random((30, 3))
    prior /= prior.sum(axis=1, keepdims=True)
    people = held.sum(axis=1)
    right = float((people * (held + pseudo_count * prior).max(axis=1) / (people + pseudo_count)).sum())
    assert calibrated_label(np.log(prior), held, right, np.zeros((0, 0))) == pseudo_count
    guessed = Guessed(
        pair=np.arange(90),
        starts=np.arange(0, 91, 3),
        prior=100 * prior.ravel(),
        bucket=np.full(90, -1),
        total=np.full((30, 1), 100.0),
        most=100 * prior.max(axis=1),
        pseudo_count=0.0,
    )
    assert calibrated(guessed, held.ravel(), people, right) == pseudo_count


def test_all_kinds_of_constraints_hold():
    table = age_tells()
    constraints = Constraints(
        edges={"age": [17]}, apart={"state": [["a", "c"]]}, max_buckets={"age": 4}, min_people=80
    )
    found = joint_path(table, Generalization.untouched(table.schema), (0.2, 1.0, 20.0), constraints=constraints)
    assert found
    for each in found:
        assert broken(constraints, each, table) == []


def test_the_same_records_give_the_same_bytes():
    table = a_secret_and_its_twin(400)
    fine = Generalization.untouched(table.schema)
    one, two = ([g.to_json() for g in joint_path(table, fine, (0.5, 5.0))] for _ in range(2))
    assert one == two


def test_multipliers_that_are_none_are_refused():
    with pytest.raises(ParameterError, match="multipliers"):
        joint_path(
            a_secret_and_its_twin(50),
            Generalization.untouched(a_secret_and_its_twin(50).schema),
            (1.0, float("nan")),
        )
