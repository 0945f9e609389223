"""Laws that hold exactly when a population is judged by counting: the adversary knows it, and is Bayes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.multi_breach import MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from tests.adversaries.populations import Bayes, grouping, maps_of, population, populations

EPS = 1e-12
laws = settings(max_examples=60, deadline=None)


def error(attack: type[Any], table: Table, *generalizations: Generalization, **rest: Any) -> float:
    breach = Breach.of(generalizations, population(table))
    return float(attack(Bayes, **rest).attack(breach).adversary_error)


def bayes_error(table: Table, generalization: Generalization, knows: Any = lambda p: ()) -> float:
    """The slow truth: one minus the mean over attributes of sum_z max_v P(z, x_p = v); what is known is in z."""
    accuracies = []
    for p in table.personal:
        known = table.generalize(generalization)
        known[:, list(knows(p))] = table.codes[:, list(knows(p))]
        z = known.tolist()
        counts: dict[Any, dict[int, float]] = {}
        for record, value, weight in zip(map(tuple, z), table.codes[:, p].tolist(), table.counts, strict=True):
            bucket = counts.setdefault(record, {})
            bucket[value] = bucket.get(value, 0) + weight
        accuracies.append(sum(max(bucket.values()) for bucket in counts.values()) / table.people)
    return float(1 - np.mean(accuracies))


@laws
@given(st.data())
def test_a1_is_the_slow_truth(data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    assert error(Reconstruction, table, g) == pytest.approx(bayes_error(table, g))


@laws
@given(st.data())
def test_side_information_is_used(data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    every = set(range(len(table.schema)))
    others = every - set(table.personal)
    assert error(NonPersonalKnowledge, table, g) == pytest.approx(bayes_error(table, g, lambda p: others))
    assert error(LeaveOneOut, table, g) == pytest.approx(bayes_error(table, g, lambda p: every - {p}))


@laws
@given(st.data())
def test_partial_knowledge_goes_from_the_easiest_on(data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    breach = Breach.of(g, population(table))
    order = PartialKnowledge(Bayes).attack(breach).order
    alone = [Reconstruction(Bayes).attack(breach)[name].adversary_error for name in order]
    assert alone == sorted(alone)
    places = [table.schema.position(name) for name in order]
    others = set(range(len(table.schema))) - set(places)
    before = {p: others | set(places[:k]) for k, p in enumerate(places)}
    assert error(PartialKnowledge, table, g) == pytest.approx(bayes_error(table, g, before.__getitem__))


@laws
@given(st.data(), st.integers(0, 2))
def test_who_knows_more_errs_less(data: st.DataObject, random_orders: int) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    a1, a3, a4 = (error(attack, table, g) for attack in (Reconstruction, NonPersonalKnowledge, LeaveOneOut))
    a5 = error(PartialKnowledge, table, g, random_orders=random_orders)
    assert a4 <= a5 + EPS <= a3 + 2 * EPS <= a1 + 3 * EPS


@laws
@given(st.data())
@pytest.mark.parametrize("attack", [NonPersonalKnowledge, LeaveOneOut, PartialKnowledge])
def test_the_breach_never_hurts_the_adversary(attack: type[Any], data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    result = attack(Bayes, without_breach=True).attack(Breach.of(g, population(table)))
    nothing = Generalization.suppressed(table.schema)
    assert result.adversary_error <= result.without_breach + EPS
    if attack is not PartialKnowledge:  # its order depends on the breach
        assert result.without_breach == pytest.approx(error(attack, table, nothing))
    told = {each.attribute for each in result.attributes if each.adversary_error < each.without_breach - EPS}
    if attack is LeaveOneOut:
        assert told.isdisjoint(g.not_collected)


@laws
@given(st.data())
@pytest.mark.parametrize("attack", [Reconstruction, NonPersonalKnowledge, LeaveOneOut])
def test_coarser_never_helps(attack: type[Any], data: st.DataObject) -> None:
    table = data.draw(populations())
    fine = grouping(table, maps_of(data.draw, table))
    partitions = [p.merge(0, data.draw(st.integers(0, p.size - 1))) for p in fine.partitions]
    coarse = Generalization(tuple(partitions))
    assert coarse.is_coarser_than(fine)
    assert error(attack, table, fine) <= error(attack, table, coarse) + EPS


@laws
@given(st.data())
def test_two_breaches_tell_at_least_as_much_as_each(data: st.DataObject) -> None:
    table = data.draw(populations())
    several = [grouping(table, maps_of(data.draw, table)) for _ in range(data.draw(st.integers(2, 3)))]
    result = MultiBreach(Bayes).attack(Breach.of(several, population(table)))
    assert result.single_errors == pytest.approx([bayes_error(table, g) for g in several])
    assert result.adversary_error <= min(result.single_errors) + EPS


@laws
@given(st.data())
def test_nested_generalizations_add_nothing(data: st.DataObject) -> None:
    table = data.draw(populations())
    fine = grouping(table, maps_of(data.draw, table))
    coarse = Generalization(tuple(p.merge(0, p.size - 1) for p in fine.partitions))
    assert error(MultiBreach, table, fine, coarse) == pytest.approx(error(Reconstruction, table, fine))


@laws
@given(populations())
def test_the_limit_points(table: Table) -> None:
    everything, nothing = Generalization.untouched(table.schema), Generalization.suppressed(table.schema)
    for attack in (Reconstruction, NonPersonalKnowledge, LeaveOneOut, PartialKnowledge):
        assert error(attack, table, everything) == 0
    result = Reconstruction(Bayes).attack(Breach.of(nothing, population(table)))
    assert result.adversary_error == pytest.approx(result.baseline)
    majority = [table.use(p).max() / table.people for p in table.personal]
    assert result.baseline == pytest.approx(1 - np.mean(majority))


@laws
@given(st.data())
def test_the_surest_are_told_best(data: st.DataObject) -> None:
    table = data.draw(populations())
    breach = Breach.of(grouping(table, maps_of(data.draw, table)), population(table))
    result = HighCertainty(Bayes).attack(breach)
    errors = [point.mean for point in result.points]
    assert errors == pytest.approx(sorted(errors))
    assert errors[-1] == pytest.approx(Reconstruction(Bayes).attack(breach).adversary_error)


@laws
@given(st.data())
def test_multiplicities_are_people(data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    rows = np.repeat(np.arange(len(table)), table.counts.astype(int))
    people = replace(table.take(rows), weights=None)
    for attack in (Reconstruction, LeaveOneOut):
        heavy, plain = (attack(Bayes).attack(Breach.of(g, population(t))) for t in (table, people))
        assert heavy.adversary_error == pytest.approx(plain.adversary_error)
        assert heavy.interval == pytest.approx(plain.interval)
        assert heavy.people == plain.people
