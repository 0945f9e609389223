"""A3, A4 and A5: hand-computed tables; the laws are in test_laws."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization, ParameterError, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from leastwise.evaluation import evaluate
from leastwise.predictors import strongest
from tests.adversaries.populations import Bayes, grouping, population, table_of

# a is not personal; b equals a for four of six people; c is a xor b.
SIX = table_of([(0, 0, 0), (0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 1, 0), (1, 0, 1)], [2, 2, 2], {1, 2})
NOTHING = Breach.of(Generalization.suppressed(SIX.schema), population(SIX))


def test_knowing_the_non_personal_attribute() -> None:
    result = NonPersonalKnowledge(Bayes).attack(NOTHING)
    assert result["b"].adversary_error == pytest.approx(2 / 6)
    assert result["c"].adversary_error == pytest.approx(2 / 6)
    assert result["b"].baseline == pytest.approx(3 / 6)
    assert result.minimum == pytest.approx(2 / 6)


def test_knowing_all_but_one() -> None:
    assert LeaveOneOut(Bayes).attack(NOTHING).adversary_error == 0  # a and c tell b, a and b tell c


def test_learning_one_after_the_other() -> None:
    result = PartialKnowledge(Bayes).attack(NOTHING)
    # Of b (half and half) and c (two to one), A1 tells c more easily; then a and c tell b.
    assert result.order == ("c", "b")
    assert [each.adversary_error for each in result.attributes] == pytest.approx([2 / 6, 0])


def test_random_orders_are_averaged_and_seeded() -> None:
    attack = PartialKnowledge(Bayes, random_orders=6)
    results = [attack.attack(Breach.of(NOTHING.generalization, population(SIX), seed=seed)) for seed in (1, 1)]
    assert results[0] == results[1]
    # Whichever comes first costs 2/6, the other nothing: the mean is the same in every order.
    assert results[0].adversary_error == pytest.approx(1 / 6)
    assert results[0].random_orders == 6
    with pytest.raises(ParameterError, match="random_orders"):
        PartialKnowledge(Bayes, random_orders=-1).attack(NOTHING)


def test_masks_hold_beside_side_information() -> None:
    """What is collected of an attribute rules out values of it, however much else is known."""
    table = table_of([(0, 0), (0, 1), (0, 2), (1, 3)], [2, 4], {1})
    g = table.generalization([(0, 0), (0, 0, 1, 1)])
    result = LeaveOneOut(Bayes).attack(Breach.of(g, population(table)))
    assert result["b"].adversary_error == pytest.approx(1 / 4)  # only 0 and 1 are still confused


def test_who_knows_much_of_few_people_boosts() -> None:
    """A rule of thresholds, hidden among much that tells nothing: counting and a network miss half of it."""
    rng = np.random.default_rng(0)
    known = rng.integers(0, 8, (4000, 7))
    secret = (known[:, 0] > 3) ^ (known[:, 1] > 3) ^ (rng.random(4000) < 0.05)
    table = table_of(np.column_stack([known, secret]), [8] * 7 + [2], {7})
    split = table.split(0)
    breach = Breach.of(grouping(table, [[0] * 8] * 7 + [[0, 0]]), split)
    plain = NonPersonalKnowledge(lambda: strongest()).attack(breach).adversary_error
    found = NonPersonalKnowledge().attack(Breach.of(breach.generalization, split))
    assert "boosting" in found["h"].predictor
    assert found.adversary_error < plain - 0.01


def noise(people: int, seed: int) -> Table:
    """Five attributes, most of them noise: whoever looks at more of them can only be misled."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (people, 6))
    rows[:, 5] = np.where(rng.random(people) < 0.6, rows[:, 0], rows[:, 5])
    return table_of(rows, [3] * 6, {1, 2, 3, 4, 5})


@pytest.mark.parametrize("seed", range(3))
def test_in_every_report_who_knows_more_errs_less(seed: int) -> None:
    split = noise(400, seed).split(seed)
    g = grouping(split.train, [[0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 2], [0, 0, 0], [0, 1, 1]])
    found = evaluate(g, split, ["A1", "A3", "A4", "A5"], seed=seed, quick=True)
    assert [each.adversary for each in found.attacks] == ["A1", "A3", "A4", "A5"]
    for attribute in ("b", "c", "d", "e", "f"):
        errors = [found[name][attribute].adversary_error for name in ("A4", "A5", "A3", "A1")]
        assert errors == sorted(errors), attribute
    assert found["A5"]["d"].predictor == "read off"
