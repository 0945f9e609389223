"""Who knows everything but one attribute: one model for every generalization says what one for each does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, Schema, Table
from leastwise.adversaries import LeaveOneOut, leave_one_out
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import SingleModel, StrongestOf, find, findings
from tests.adversaries.populations import Bayes, Stubborn, grouping, maps_of, population, populations, table_of
from tests.adversaries.test_label import labelled
from tests.samples import coded

EPS = 1e-12


def others(table: Table, position: int) -> list[int]:
    return [j for j in range(len(table.schema)) if j != position]


def native(breach: Breach, position: int, predictor: Any) -> Any:
    """What a model of this one generalization finds."""
    model = SingleModel(breach, breach.joined, [position], others(breach.truth, position), predictor)
    return findings(breach, model, [position])[0]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_one_model_for_all_is_one_for_each(data: st.DataObject) -> None:
    """On a population that is known in full, person by person, with and without the label."""
    table = data.draw(populations())
    table = labelled(table, data.draw(st.lists(st.integers(0, 1), min_size=len(table), max_size=len(table))))
    several = [grouping(table, maps_of(data.draw, table)) for _ in range(3)]
    label = data.draw(st.booleans())
    made: list[Bayes] = []

    def counting() -> Bayes:
        made.append(Bayes())
        return made[-1]

    for p in table.personal:
        memory: dict[Any, Any] = {}
        hidden = [g for g in several if not g.partitions[p].untouched]
        made.clear()
        for g in hidden:
            breach = Breach.of(g, population(table), label=label, memory=memory)
            (found,) = find(breach, (p,), others(table, p), counting)
            own = native(breach, p, Bayes)
            assert found.error() == pytest.approx(own.error(), abs=EPS)
            assert found.doubt == pytest.approx(own.doubt, abs=EPS)
        labelled_ = {Breach.of(g, population(table), label=label).labelled for g in hidden}
        assert len(made) == len(labelled_), "a further generalization needs no further model"


def pay(people: int = 3000) -> Table:
    """A long column of numbers, which the town tells in part."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 3, people)
    number = (rng.gamma(3, 300, people) + 400 * town).round()
    levels, codes = np.unique(number, return_inverse=True)
    schema = Schema([Attribute("pay", "continuous", personal=True), Attribute("town", values=("a", "b", "c"))])
    assert len(levels) > 128
    return coded(schema, codes, town, numbers={"pay": levels})


@pytest.mark.parametrize("edges", [(), (700.5,), (301.5, 333.5, 1500.5)])
def test_runs_of_a_long_column_end_at_the_edges(edges: tuple[float, ...]) -> None:
    """The model was never told the edges; what they rule out is ruled out all the same."""
    table = pay()
    split, nothing = table.split(0), Generalization.suppressed(table.schema)
    breach = Breach.of(nothing.replacing(Intervals(table.schema["pay"], edges)), split)
    (found,), own = find(breach, (0,), (1,), StrongestOf(True)), native(breach, 0, StrongestOf(True))
    assert found.error() == pytest.approx(own.error(), abs=0.012)
    assert found.mean_absolute_error == pytest.approx(own.mean_absolute_error, rel=0.03)


def test_what_does_not_fit_into_memory_is_predicted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (500, 3))
    rows[:, 2] = (rows[:, 0] + rows[:, 1] * (rng.random(500) < 0.7)) % 3
    table = table_of(rows, [3, 3, 3], {1, 2})
    split, g = table.split(0), grouping(table, [[0, 1, 1], [0, 0, 1], [0, 1, 0]])
    kept = LeaveOneOut(StrongestOf(True)).attack(Breach.of(g, split))
    monkeypatch.setattr(leave_one_out, "_MOST_KEPT", 0)
    again = LeaveOneOut(StrongestOf(True)).attack(Breach.of(g, split))
    assert [each.adversary_error for each in again.attributes] == [
        each.adversary_error for each in kept.attributes
    ]


def test_it_is_never_weaker_than_the_majority_of_the_bucket() -> None:
    """A model that misleads is not used: b0 and b1 share a bucket, b2 and b3 another, b0 and b2 lead."""
    table = table_of([(0, 0)] * 3 + [(0, 1)] + [(1, 2)] * 2 + [(1, 3)], [2, 4], {1})
    breach = Breach.of(grouping(table, [[0, 0], [0, 0, 1, 1]]), population(table))
    assert LeaveOneOut(Stubborn).attack(breach)["b"].adversary_error == pytest.approx(2 / 7)


def test_the_label_is_one_more_thing_that_is_known() -> None:
    table = labelled(table_of([(0, 0), (0, 1)] * 4, [2, 2], {1}), [0, 1] * 4)
    g = grouping(table, [[0, 1], [0, 0]])
    errors = [
        LeaveOneOut(Bayes).attack(Breach.of(g, population(table), label=label)).adversary_error
        for label in (True, False)
    ]
    assert errors == pytest.approx([0, 0.5])
