"""The label is stolen too: the training phase stores (z, y), the deployment phase z."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.adversaries import HighCertainty, LeaveOneOut, MultiBreach, NonPersonalKnowledge, Reconstruction
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.evaluation import certify, evaluate
from tests.adversaries.populations import Bayes, grouping, maps_of, population, populations, table_of

LABEL = Attribute("y", values=("no", "yes"))


def labelled(table: Table, labels: Any) -> Table:
    """The same people with a label of two classes."""
    schema = Schema(table.schema.attributes, LABEL)
    return replace(table, schema=schema, labels=np.asarray(labels, dtype=np.intp))


def told_by_the_label(people: int = 4000, seed: int = 0) -> Table:
    """The town tells nothing; the label tells the secret nine times in ten."""
    rng = np.random.default_rng(seed)
    town, secret = rng.integers(0, 2, people), rng.integers(0, 2, people)
    labels = np.where(rng.random(people) < 0.9, secret, 1 - secret)
    return labelled(table_of(np.column_stack([town, secret]), [2, 2], {1}), labels)


def test_what_the_label_tells_is_attacked_certified_and_shown() -> None:
    split = told_by_the_label().split(0)
    found = evaluate(grouping(split.train, [[0, 1], [0, 0]]), split, ["A1", "A2", "A3", "A8"], quick=True)
    for name in ("A1", "A2", "A3"):
        assert found[name].adversary_error < 0.14, name
    for name in ("A1", "A2"):
        assert found[name].without_label > 0.42, "the town tells nothing"
    assert "in deployment, where none are stored" in found["A1"].told().finding
    assert found.certificate is not None
    assert found.deployment is not None
    assert found.certificate["b"].bound > 0.88, "a bound that an attack beats is none"
    assert found.deployment["b"].bound < 0.6
    assert "who sees only these generalized records and their labels can" in found.certificate.sentences()[0]
    assert "who sees only these generalized records can" in found.deployment.sentences()[0]


def test_the_paper_leaves_the_label_out() -> None:
    split = told_by_the_label().split(0)
    found = evaluate(grouping(split.train, [[0, 1], [0, 0]]), split, ["A1"], quick=True, label=False)
    assert found["A1"].adversary_error > 0.42
    assert found["A1"].without_label is None
    assert found.deployment is None
    assert found.certificate is not None
    assert not found.certificate.label


@given(st.data())
def test_a_predicted_label_tells_nothing_more(data: st.DataObject) -> None:
    """f(z) is a function of z."""
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    answers = [data.draw(st.integers(0, 1)) for _ in range(7)]
    predicted = labelled(table, [answers[int(row.sum()) % 7] for row in table.generalize(g).astype(int)])
    g = replace(g, label=LABEL)
    breach = Breach.of(g, population(predicted))
    for attack in (Reconstruction, HighCertainty, NonPersonalKnowledge, LeaveOneOut):
        both = [attack(Bayes).attack(each).adversary_error for each in (breach, breach.deployed())]
        assert both[0] == pytest.approx(both[1])
    several = [SinglingOut(0).attack(each).multiplicities for each in (breach, breach.deployed())]
    assert several[0] == several[1]
    bounds = [certify(g, predicted, held_out=True, label=label).bounds for label in (True, False)]
    assert bounds[0] == bounds[1]


@given(st.data())
def test_with_the_label_never_less_is_told(data: st.DataObject) -> None:
    table = data.draw(populations())
    labels = data.draw(st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table)))
    g = replace(grouping(table, maps_of(data.draw, table)), label=LABEL)
    stolen = labelled(table, labels)
    breach = Breach.of(g, population(stolen))
    found = Reconstruction(Bayes).attack(breach)
    for result in found.attributes:
        assert result.without_label is None or result.adversary_error <= result.without_label + 1e-12
    bounds = [certify(g, stolen, held_out=True, label=label).mean.bound for label in (True, False)]
    assert bounds[0] >= bounds[1] - 1e-12
    again = breach.together_with([g])
    assert MultiBreach(Bayes).attack(again).adversary_error == pytest.approx(found.adversary_error)


def test_where_nothing_is_asked_nothing_is_stored() -> None:
    table = told_by_the_label(400)
    nothing = Generalization.suppressed(table.schema)
    breach = Breach.of(nothing, population(table))
    assert not breach.labelled
    assert not certify(nothing, table, held_out=True).label


def test_who_is_alone_with_record_and_label_is_alone() -> None:
    table = labelled(table_of([(0,), (0,), (0,), (1,), (1,)], [2], {0}), [0, 0, 1, 1, 1])
    g = replace(grouping(table, [[0, 1]]), label=LABEL)
    found = SinglingOut().attack(Breach.of(g, population(table)))
    assert (found.unique_people, found.unique_without_label) == (1, 0)
    assert [str(predicate) for predicate in found.predicates] == ["a a0 and y yes: 1 person"]
