"""One network for several generalizations and all that may be known: as strong as one for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.adversaries import NonPersonalKnowledge, PartialKnowledge, Reconstruction, amortised
from leastwise.adversaries.amortised import SharedNetwork, _name, _Seen, _SharedTraining
from leastwise.adversaries.breach import Breach, coarsened
from leastwise.adversaries.guessing import SHARED, SingleModel, StrongestOf, findings, views
from leastwise.predictors.network import Network, softmax
from leastwise.random import generator
from tests.samples import coded


def town(people: int = 12_000) -> Table:
    """A long column of pay and a trade are personal; age and district tell something of both, and each other."""
    rng = np.random.default_rng(0)
    age, district = rng.integers(0, 4, people), rng.integers(0, 3, people)
    trade = (age + district + (rng.random(people) < 0.3) * rng.integers(0, 5, people)) % 5
    sex = (rng.random(people) < 0.2 + 0.15 * trade).astype(int)
    pay, codes = np.unique((rng.gamma(3, 200, people) + 400 * trade).round(), return_inverse=True)
    schema = Schema(
        [
            Attribute("age", "ordinal", values=tuple("abcd")),
            Attribute("trade", values=tuple("vwxyz"), personal=True),
            Attribute("district", values=tuple("abc")),
            Attribute("sex", values=tuple("fm"), personal=True),
            Attribute("pay", "continuous", personal=True),
        ],
        label=Attribute("owner", values=("no", "yes")),
    )
    assert len(pay) > 128
    label = (rng.random(people) < 0.1 + 0.2 * trade).astype(int)
    return coded(schema, age, trade, district, sex, codes, numbers={"pay": pay}, labels=label)


TOWN = town()
SPLIT, SCHEMA = TOWN.split(0), TOWN.schema
NOTHING = Generalization.suppressed(SCHEMA)
SEVERAL = [
    NOTHING,
    NOTHING.replacing(Groups(SCHEMA["trade"], (0, 0, 1, 1, 1))),
    NOTHING.replacing(Groups(SCHEMA["trade"], (0, 1, 1, 2, 2))).replacing(
        Intervals(SCHEMA["pay"], (801.5, 1400.5))
    ),
]
OTHERS, ORDER = [0, 2], [3, 4, 1]


@pytest.fixture(scope="module")
def shared() -> SharedNetwork:
    return SharedNetwork(SPLIT.train, [(each, ORDER) for each in SEVERAL])


def error_of(breach: Breach, position: int, known: list[int], network: Any) -> float:
    make = lambda: network or Network(members=1)  # noqa: E731
    model = SingleModel(breach, breach.joined, [position], known, make)
    return findings(breach, model, [position])[0].error()


@pytest.mark.parametrize("candidate", range(3))
@pytest.mark.parametrize(("position", "known"), [(3, []), (4, [3]), (4, []), (1, [3, 4]), (1, [])])
def test_it_is_as_strong_as_a_network_of_its_own(
    shared: SharedNetwork, candidate: int, position: int, known: list[int]
) -> None:
    breach = Breach.of(SEVERAL[candidate], SPLIT)
    view = shared.seen_by(breach, [*OTHERS, *known], [position])
    assert view is not None
    own = error_of(breach, position, [*OTHERS, *known], None)
    assert error_of(breach, position, [*OTHERS, *known], view) <= own + 0.01


def test_in_training_attributes_become_known_in_the_order_of_who_attacks(
    shared: SharedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amortised, "_AT_RANDOM", 10**9)
    monkeypatch.setattr(amortised, "_ALONE", 10**9)
    (coarse,) = coarsened(NOTHING, [SPLIT.train])
    training = _SharedTraining(shared, SPLIT.train, coarse, generator(0, "a"))
    seen = training._draw_inputs([_Seen((*map(_name, NOTHING.partitions), None), ORDER)])
    known = {p: seen[:, p] < shared.columns[p].size for p in ORDER}  # a value, not the one bucket behind them
    assert [round(float(known[p].mean()), 1) for p in ORDER] == [0.7, 0.3, 0.0]
    assert known[3][known[4]].all()


def test_in_training_a1_sees_buckets_alone_and_half_of_them_without_the_label(
    shared: SharedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amortised, "_ALONE", 1)
    (coarse,) = coarsened(NOTHING, [SPLIT.train])
    training = _SharedTraining(shared, SPLIT.train, coarse, generator(0, "a"))
    seen = training._draw_inputs([_Seen((*map(_name, SEVERAL[1].partitions), None), ORDER)])
    assert [bool((seen[:, j] >= shared.columns[j].size).all()) for j in range(5)] == [True] * 5
    assert (seen[:, -1] == 2).mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("candidate", range(3))
def test_a1_is_as_strong_with_it_and_without_the_label_too(shared: SharedNetwork, candidate: int) -> None:
    own, with_it = (
        Reconstruction(StrongestOf()).attack(Breach.of(SEVERAL[candidate], SPLIT, memory=memory)).attributes
        for memory in ({}, {SHARED: shared})
    )
    for of in (lambda each: each.adversary_error, lambda each: each.without_label or 0.0):
        assert np.mean([*map(of, with_it)]) <= np.mean([*map(of, own)]) + 0.01


def test_what_a_bucket_rules_out_is_impossible(shared: SharedNetwork) -> None:
    breach = Breach.of(SEVERAL[2], SPLIT)
    samples = views(breach, breach.joined, [4, 1], OTHERS)[2]
    view = shared.seen_by(breach, OTHERS, [4, 1])
    assert view is not None
    for t, found in enumerate(view.fit(samples, samples).predict(samples.inputs)):
        assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
        assert (found[~samples.allowed(t)] == 0).all()


def test_a_generalization_that_it_never_saw_has_a_network_of_its_own(shared: SharedNetwork) -> None:
    other = NOTHING.replacing(Groups(SCHEMA["trade"], (0, 1, 0, 1, 0)))
    assert shared.seen_by(Breach.of(other, SPLIT), OTHERS, [1]) is None
    alone, offered = (
        NonPersonalKnowledge(StrongestOf()).attack(Breach.of(other, SPLIT, memory=memory))
        for memory in ({}, {SHARED: shared})
    )
    assert [each.adversary_error for each in alone.attributes] == [
        each.adversary_error for each in offered.attributes
    ]


def test_a1_a3_and_a5_use_it(shared: SharedNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    plain = Network.fit
    monkeypatch.setattr(Network, "fit", lambda self, *parts: (fitted.append(1), plain(self, *parts))[1])
    predictor = StrongestOf()
    for attack in (Reconstruction(predictor), NonPersonalKnowledge(predictor), PartialKnowledge(predictor)):
        counts = []
        for memory in ({}, {SHARED: shared}):
            fitted.clear()
            attack.attack(Breach.of(SEVERAL[2], SPLIT, memory=memory))
            counts.append(len(fitted))
        assert counts[1] < counts[0]


def test_gradients_are_those_of_the_cross_entropy_of_what_is_seen(shared: SharedNetwork) -> None:
    """Of the values' own weights, to which buckets hand on theirs, and of what each bucket has beside."""
    (coarse,) = coarsened(NOTHING, [SPLIT.train])
    training = _SharedTraining(shared, SPLIT.train, coarse, generator(0, "a"))
    rows, rng = np.arange(40), np.random.default_rng(1)
    training.inputs = np.column_stack([rng.integers(0, column.seen, 40) for column in shared.columns])
    # Of a personal attribute, something is seen that can be true.
    for k, (_, column, _) in enumerate(training.masks):
        truth = training.places[:40, k] - training.ends[k]
        able = np.concatenate([np.eye(shared.columns[column].size, dtype=bool), *shared.columns[column].allowed])
        training.inputs[:, column] = [rng.choice(np.flatnonzero(able[:, each])) for each in truth]
    first, place, rank, rank_row = training.form

    def loss(weights: list[Any]) -> float:
        layer = np.concatenate([weights[0], weights[4] + training.looks.astype(float) @ weights[0]])
        hidden = np.tile(weights[1], (40, 1))
        for j in range(len(shared.columns)):
            seen = first[j] + training.inputs[:, j]
            hidden += layer[place[seen]]
            if rank_row[j] >= 0:
                hidden += rank[seen][:, None] * layer[rank_row[j]]
        logits, total = np.maximum(hidden, 0) @ weights[2] + weights[3], 0.0
        for k, (head, column, start) in enumerate(training.masks):
            a, b = training.ends[head], training.ends[head + 1]
            size = b - a
            table = training.allowed[start : start + shared.columns[column].seen * size].reshape(-1, size) > 0
            found = softmax(logits[:, a:b], table[training.inputs[:, column]])
            total -= np.log(found[rows, training.places[:40, k] - a]).mean()
        return total

    for k, gradient in enumerate(training._gradients(rows)):
        for where in np.argsort(-np.abs(gradient), axis=None)[:3]:
            moved = [[w.astype(np.float64) for w in training.weights] for _ in range(2)]
            moved[0][k].flat[where] += 1e-5
            moved[1][k].flat[where] -= 1e-5
            assert gradient.flat[where] == pytest.approx(
                (loss(moved[0]) - loss(moved[1])) / 2e-5, abs=3e-4, rel=0.02
            )


def test_what_is_bearable_is_counted_without_being_built(
    shared: SharedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = sum(shared.columns[p].size * shared.columns[p].seen for p in SPLIT.train.personal)
    monkeypatch.setattr(amortised, "_MOST_MASKED", cells)
    assert SharedNetwork.bearable(SPLIT.train, SEVERAL)
    monkeypatch.setattr(amortised, "_MOST_MASKED", cells - 1)
    assert not SharedNetwork.bearable(SPLIT.train, SEVERAL)
