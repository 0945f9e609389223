"""Merges scored on joint buckets, against the definition followed record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm

from leastwise import Schema, Table
from leastwise.kernels.joint_coarsening import State, apply_merge, score_merge, score_target
from leastwise.kernels.right_guesses import CHANCE
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from tests.samples import coded, named
from tests.strategies import tables

CONTEXT, OWN, LABEL = 1.7, 0.9, 2.3
PSEUDO_COUNTS = PseudoCounts(context=(CONTEXT,), label=(LABEL,), own=OWN)


def right_guesses(table: Table, columns, contexts, scores) -> np.ndarray:
    """Follow the definition: leave each record out, guess it, count the people guessed right."""
    people, z = table.counts, np.stack(columns, axis=1)
    right = np.zeros(len(contexts) + 1)
    same = (z[:, None, :] == z[None, :, :]).all(axis=2)
    for t, context in enumerate(contexts):
        p = table.personal[t]
        values = table.codes[:, p].astype(int)
        row = (z[:, None, context] == z[None, :, context]).all(axis=2)
        own = z[:, None, p] == z[None, :, p]
        for i in range(len(table)):
            counts, wide, widest = (
                np.bincount(values, weights=people * flags[i], minlength=table.sizes[p])
                for flags in (same, row, own)
            )
            wide[values[i]] -= 1
            prior = (wide + OWN * widest / widest.sum()) / (max(wide.sum(), 0) + OWN)
            left, share = np.where(widest > 0, counts + CONTEXT * prior, -9), CONTEXT / (max(wide.sum(), 0) + OWN)
            right[t] += people[i] * _front(left, counts, values[i], share)
    for i in range(len(table)):
        counts = np.bincount(table.y, weights=people * same[i], minlength=table.classes)
        odds = np.exp(scores[i] - scores[i].max())
        right[-1] += people[i] * _front(counts + LABEL * odds / odds.sum(), counts, table.y[i], 0.0)
    return right


def _front(scores: np.ndarray, counts: np.ndarray, value: int, share: float) -> float:
    """Return the probability that the value of somebody who leaves stays in front; the scores do without the share
    of a row that has left with the person, but hold the person."""
    whole = scores.copy()
    whole[value] += share
    others = np.delete(np.arange(len(scores)), value)
    if not len(others):
        return 1.0
    above, alike = (whole > whole[value] + 1e-9).sum(), (abs(whole - whole[value]) <= 1e-9).sum()
    among_two = np.clip((2 - above) / alike, 0, 1)  # equal ones share the first two places
    rival = others[scores[others].argmax()]
    lead, reach = scores[value] - 1 - scores[rival], CHANCE * np.sqrt(max(counts[value] + counts[rival] - 1, 0))
    return float(among_two * (norm.cdf(lead / reach) if reach else lead > 1e-9))


def scores_of(state: State, columns, intercept) -> np.ndarray:
    scores = np.zeros((len(columns[0]), state.label.effects.shape[2]))
    scores[:, scores.shape[1] - len(intercept) :] += intercept
    for j, column in enumerate(columns):
        scores += state.label.effects[j, column]
    return scores


def prepared(table: Table):
    columns = [table.codes[:, j].astype(np.int64) for j in range(len(table.sizes))]
    state, model = make_state(Records.of(table), columns, table.sizes, PSEUDO_COUNTS)
    contexts = [np.flatnonzero(state.contexts.strides[t]).tolist() for t in range(len(table.personal))]
    return columns, state, model, contexts


@settings(deadline=None, max_examples=60)
@given(tables(max_rows=20, weights=False), st.data())
def test_scores_and_merges_follow_the_definition(table, data):
    columns, state, model, contexts = prepared(table)
    before = right_guesses(table, columns, contexts, scores_of(state, columns, model.intercept))
    assert_allclose(state.hits.sum(axis=0), before)
    for _ in range(3):
        j = data.draw(st.integers(0, len(columns) - 1))
        present = np.unique(columns[j]).tolist()
        if len(present) < 2:
            continue
        into = np.full(state.joint.zobrist.shape[1], -1)
        for bucket in data.draw(st.lists(st.sampled_from(present), min_size=2, unique=True)):
            group = [b for b in present if into[b] >= 0 and into[b] == b and data.draw(st.booleans())]
            into[bucket] = group[0] if group else bucket
        change = score_merge(state, j, into)
        apply_merge(state, j, into)
        columns[j] = np.where(into[columns[j]] >= 0, into[columns[j]], columns[j])
        after = right_guesses(table, columns, contexts, scores_of(state, columns, model.intercept))
        assert_allclose(change, after - before, atol=1e-9)
        assert_allclose(state.hits[state.joint.alive].sum(axis=0), after)
        before = after


def told_by_others(seed: int, weights: bool = False) -> tuple[Table, list[np.ndarray]]:
    """A personal attribute that two others tell together, seen in two buckets: its context takes both."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(180, 220))
    a, b = random.integers(0, 3, rows), random.integers(0, 3, rows)
    secret = np.where(random.random(rows) < 0.9, (a + b) % 4, random.integers(0, 4, rows))
    people = random.integers(1, 4, rows).astype(float) if weights else None
    schema = Schema((named("a", 3), named("b", 3), named("c", 4, personal=True)), named("y", 2))
    table = coded(schema, a, b, secret, labels=random.integers(0, 2, rows), weights=people)
    return table, [a, b, secret // 2]


@pytest.mark.parametrize("seed", range(8))
def test_contexts_of_several_attributes_follow_the_definition_through_merges(seed):
    table, columns = told_by_others(seed)
    state, model = make_state(Records.of(table), columns, (3, 3, 2), PSEUDO_COUNTS)
    contexts = [np.flatnonzero(state.contexts.strides[0]).tolist()]
    assert len(contexts[0]) > 1
    before = right_guesses(table, columns, contexts, scores_of(state, columns, model.intercept))
    assert_allclose(state.hits.sum(axis=0), before)
    for j, merged in ((0, (0, 2)), (1, (1, 2)), (2, (0, 1)), (0, (0, 1))):
        into = np.full(state.joint.zobrist.shape[1], -1)
        into[[*merged]] = merged[0]
        change = score_merge(state, j, into)
        apply_merge(state, j, into)
        np.testing.assert_array_equal(
            state.contexts.row_of[state.joint.alive],
            (state.joint.buckets @ state.contexts.strides.T)[state.joint.alive],
        )
        columns[j] = np.where(np.isin(columns[j], merged), merged[0], columns[j])
        after = right_guesses(table, columns, contexts, scores_of(state, columns, model.intercept))
        assert_allclose(change, after - before, atol=1e-9)
        before = after


@pytest.mark.parametrize("weights", [False, True])
def test_the_pulls_chosen_have_scored_all_joint_buckets_and_none_does_better(weights):
    table, columns = told_by_others(1, weights)
    records = Records.of(table)
    state, _ = make_state(
        records, columns, (3, 3, 2), PseudoCounts(context=(0.5, 4.0, 400.0), label=(0.5, 4.0, 400.0))
    )
    hits = state.hits.copy()
    for target, pseudo_count in enumerate(state.pseudo_counts[: hits.shape[1]]):
        (again,) = score_target(state, target, np.array([pseudo_count]))
        np.testing.assert_array_equal(again, hits[:, target])
    for pseudo_count in (0.5, 4.0, 400.0):
        fixed, _ = make_state(
            records, columns, (3, 3, 2), PseudoCounts(context=(pseudo_count,), label=(pseudo_count,))
        )
        assert (fixed.hits.sum(axis=0) <= hits.sum(axis=0) + 1e-9).all()


@settings(deadline=None, max_examples=20)
@given(tables(max_rows=15, weights=True))
def test_every_record_stays_in_exactly_one_joint_bucket(table):
    _, state, _, _ = prepared(table)
    for j, size in enumerate(table.sizes):
        into = np.full(state.joint.zobrist.shape[1], -1)
        into[:size] = 0
        apply_merge(state, j, into)
    seen = []
    for z in np.flatnonzero(state.joint.alive):
        record = state.joint.head[z]
        while record >= 0:
            seen.append(record)
            record = state.records.following[record]
    assert sorted(seen) == [*range(len(table))]
    assert state.joint.alive.sum() == 1
    assert state.label.people[state.joint.alive].sum() == pytest.approx(table.people)
