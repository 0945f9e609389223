"""What every run of buckets costs beside all other attributes, against the definition followed group by group."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from leastwise import Generalization
from leastwise.kernels.joint_partition import number_pairs, run_hits, run_label_hits
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.descent import Descent, Rest, base_of, guessed_of, rests_of
from leastwise.minimizers.optimal.items import target_weights
from tests.strategies import tables

PSEUDO_COUNT = 1.7


def started(table, data) -> Descent:
    """A descent in the middle: every attribute has some partition."""
    fine = Generalization.untouched(table.schema)
    descent = Descent(base_of(table, fine, Constraints()), target_weights(table, None))
    for j in descent.base.open:
        cut = data.draw(st.integers(0, len(descent.base.rows[j]) - 1))
        descent.now[j][descent.base.rows[j][cut:]] = 1
    descent._renew()
    return descent


def expected_right(values, people, possible, row_values, row_people) -> float:
    """n * max_v (count(v) + pseudo_count * share of v in the row) / (n + pseudo_count)."""
    shares = {v: row_people[row_values == v].sum() / max(row_people.sum(), 1.0) for v in possible}
    scores = [people[values == v].sum() + PSEUDO_COUNT * share for v, share in shares.items()]
    return people.sum() * max(scores) / (people.sum() + PSEUDO_COUNT)


@settings(deadline=None, max_examples=25)
@given(tables(max_rows=14, weights=False), st.data())
def test_personal_values_in_runs_follow_the_definition(table, data):
    descent = started(table, data)
    for j in descent.base.open:
        item, rest = descent.base.item(j), Rest.by(descent._keys(without=j))
        records, columns = descent.base.records, descent.columns
        rests = rests_of(records, columns, rest, item, descent.model, PSEUDO_COUNT)
        for t, own in enumerate(records.own):
            context = [k for k in np.flatnonzero(descent.state.contexts.strides[t]) if k != j]
            found = run_hits(rests, guessed_of(records, columns, rest, item, t, context, PSEUDO_COUNT))
            rows = np.stack([columns[k] for k in context] or [np.zeros(len(records.people), dtype=int)], axis=1)
            for first in range(item.places):
                for last in range(first, item.places):
                    inside, total = (item.place >= first) & (item.place <= last), 0.0
                    for number in np.unique(rest.of[inside]):
                        here = inside & (rest.of == number)
                        row = (rows == rows[rest.first[number]]).all(axis=1) & (inside | (own != j))
                        values = records.targets[:, t]
                        # Of its own attribute the values that the rest has here; of another those of the row.
                        possible = np.unique(values[here if own == j else row])
                        total += expected_right(
                            values[here], records.people[here], possible, values[row], records.people[row]
                        )
                    assert_allclose(found[first, last], total, err_msg=f"{j} {t} {first} {last}")


@settings(deadline=None, max_examples=25)
@given(tables(max_rows=14, weights=False), st.data())
def test_labels_in_runs_follow_the_definition(table, data):
    descent = started(table, data)
    for j in descent.base.open:
        item, rest = descent.base.item(j), Rest.by(descent._keys(without=j))
        records = descent.base.records
        rests = rests_of(records, descent.columns, rest, item, descent.model, PSEUDO_COUNT)
        found = run_label_hits(rests)
        for first in range(item.places):
            for last in range(first, item.places):
                inside, total = (item.place >= first) & (item.place <= last), 0.0
                weights = rests.bucket_people[first : last + 1]
                effect = weights @ rests.effects[first : last + 1] / max(weights.sum(), 1e-9)
                for number in np.unique(rest.of[inside]):
                    here = inside & (rest.of == number)
                    labels, people = records.table.y[here], records.people[here]
                    held = np.bincount(labels, weights=people, minlength=table.classes)
                    odds = np.exp(rests.scores[number] + effect)
                    total += (
                        held.sum() * (held + PSEUDO_COUNT * odds / odds.sum()).max() / (held.sum() + PSEUDO_COUNT)
                    )
                assert_allclose(found[first, last], total)


def test_pairs_of_a_rest_lie_next_to_each_other():
    pair, rest, value = number_pairs(np.array([1, 0, 1, 0, 1]), np.array([2, 0, 0, 0, 2]), 2, 3)
    assert rest.tolist() == [0, 1, 1]
    assert value.tolist() == [0, 0, 2]
    assert pair.tolist() == [2, 0, 1, 0, 2]
