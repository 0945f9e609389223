"""Who knows everybody else: what is counted is what a recount without each person gives."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.adversaries import Reconstruction, counting
from leastwise.adversaries.breach import Breach
from leastwise.evaluation.certificate import certify
from leastwise.partition import suppress
from leastwise.predictors import JointBuckets
from leastwise.records.table import Split
from tests import strategies
from tests.samples import LABEL, coded

TOWN = Attribute("town", values=("a", "b", "c", "d"), personal=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
SCHEMA = Schema((TOWN, SEX), LABEL)
G = Generalization((Groups.of(TOWN, [["a", "b"], ["c", "d"]]), suppress(SEX)), SCHEMA.label)


def table(n: int, seed: int) -> Table:
    random = np.random.default_rng(seed)
    towns, sexes = random.integers(0, 4, n), random.integers(0, 2, n)
    return coded(SCHEMA, towns, sexes, labels=random.integers(0, 2, n))


def breach_of(people: Table, g: Generalization, **rest: Any) -> Breach:
    return Breach.of(g, Split(people, people, people), counting=True, **rest)


def recounted(keys: list[Any], values: list[int], size: int, order: list[int], pseudo: float) -> list[bool]:
    """Guess each person after a recount without it: by all columns, then fewer, down to everybody."""
    wrong = []
    for i, key in enumerate(keys):
        others = [j for j in range(len(keys)) if j != i]
        shares = np.full(size, 1 / size)
        before = -1
        for depth in range(1, len(order) + 1):
            alike = [j for j in others if all(keys[j][c] == key[c] for c in order[:depth])]
            if len(alike) != before:  # the same people are not counted twice
                found = Counter(values[j] for j in alike)
                counts = np.array([found[v] for v in range(size)])
                shares = (counts + pseudo * shares) / (len(alike) + pseudo)
            before = len(alike)
        wrong.append(int(np.flatnonzero(shares > shares.max() - 1e-12)[0]) != values[i])
    return wrong


@pytest.mark.parametrize("seed", range(6))
def test_each_person_is_guessed_as_by_a_recount_without_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    people = table(30, seed)
    order = [0, 1, 3]
    monkeypatch.setattr(counting, "_order", lambda *_: (np.array(order), len(order)))
    monkeypatch.setattr(counting, "PSEUDO_COUNTS", (2.0,))
    found = counting.find_counted(breach_of(people, G))
    z = people.generalize(G)
    keys = [(0, *z[i].tolist(), int(people.y[i])) for i in range(len(people))]
    for p, finding in enumerate(found):
        expected = recounted(keys, people.codes[:, p].tolist(), len(people.levels[p]), order, 2.0)
        assert finding.wrong.tolist() == expected
        assert ((finding.confidence > 0) & (finding.confidence <= 1 + 1e-9)).all()


@settings(max_examples=25, deadline=None)
@given(strategies.tables(max_rows=60), st.data())
def test_nobody_is_told_more_than_in_hindsight(people: Table, data: st.DataObject) -> None:
    g = data.draw(strategies.generalizations(people.schema))
    tolerances = {a.name: 10.0 for a in people.schema.attributes if a.continuous and a.personal}
    breach = breach_of(people, g, tolerances=tolerances)
    bounds = certify(
        g, people, held_out=True, tolerances={**dict.fromkeys(people.schema.names, 10.0), **tolerances}
    )
    for finding in counting.find_counted(breach):
        assert finding.error() >= 1 - bounds[finding.target.attribute.name].hindsight - 1e-9


def test_it_is_used_where_it_is_stronger() -> None:
    age = Attribute("age", "continuous", lower=0, upper=9, integer=True, personal=True)
    town = Attribute("town", values=tuple(map(str, range(100))))
    schema = Schema((age, town))
    g = Generalization((suppress(age), Groups.of(town, [[value] for value in town.values])))
    random = np.random.default_rng(0)
    towns = random.integers(0, 100, 4000)
    ages = np.random.default_rng(1).integers(0, 10, 100)[towns]  # everybody in a town is of one age
    everybody = coded(schema, ages, towns, numbers={"age": np.arange(10)})
    few = everybody.take(np.arange(60))
    results = [
        Reconstruction(JointBuckets).attack(
            Breach.of(g, Split(few, few, everybody), tolerances={"age": 0.0}, counting=counts)
        )
        for counts in (False, True)
    ]
    assert results[1].adversary_error < 0.01 < 0.3 < results[0].adversary_error
    assert results[1].attributes[0].predictor == counting.EVERYBODY


def test_numbers_are_told_within_the_tolerance() -> None:
    pay = Attribute("pay", "continuous", lower=0, upper=1000, personal=True)
    half = Generalization((Intervals(pay, (500,)),))
    numbers = np.arange(0, 1000, 2.0)
    many = np.where((numbers >= 100) & (numbers < 200), 9, 1)  # 450 people within 100, 450 elsewhere
    people = coded(Schema((pay,)), np.repeat(np.arange(500), many), numbers={"pay": numbers})
    (found,) = counting.find_counted(breach_of(people, half, tolerances={"pay": 50.0}))
    told = 450 + 50  # a window of each half
    assert found.error() == pytest.approx(1 - told / 900, abs=0.06), "runs of numbers are told as wholes"
    (close,) = counting.find_counted(breach_of(people, half, tolerances={"pay": 0.5}))
    assert close.error() > 0.95
