"""A6: masks intersected, two ways to predict, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization, ParameterError
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import SingleModel
from leastwise.adversaries.multi_breach import AveragedModel, MultiBreach
from leastwise.adversaries.reconstruction import Reconstruction
from tests.adversaries.populations import Bayes, Stubborn, grouping, population, table_of


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_masks_of_several_breaches_are_intersected() -> None:
    # {0,1}{2,3} and {0,2}{1,3}: each leaves two values, both together one.
    table = table_of([(0,), (1,), (2,), (3,)], [4], {0})
    several = [grouping(table, [[0, 0, 1, 1]]), grouping(table, [[0, 1, 0, 1]])]
    result = MultiBreach(Stubborn).attack(Breach.of(several, population(table)))
    assert result.adversary_error == 0
    assert result.single_errors == (0.5, 0.5)


def test_an_average_excludes_what_any_breach_rules_out() -> None:
    # {0,1,2}{3,4} and {0}{1,2,3}{4}: of 1 and 2 both leave {1, 2}, and the average must too.
    table = table_of([(v,) for v in range(5)], [5], {0})
    several = [grouping(table, [[0, 0, 0, 1, 1]]), grouping(table, [[0, 1, 1, 1, 2]])]
    breach = Breach.of(several, population(table))
    seen = (breach.joined, *breach.generalizations)
    joined, *single = (SingleModel(breach, each, [0], (), Bayes) for each in seen)
    model = AveragedModel(joined, single)
    possible = model.probabilities(2, np.arange(5))[0] > 0
    assert possible.astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_two_breaches_tell_what_neither_does(rng: np.random.Generator) -> None:
    one, two = rng.integers(0, 2, (2, 3000))
    split = table_of(np.column_stack([one ^ two, one, two]), [2, 2, 2], {0}).split(0)
    several = [
        split.train.generalization(buckets) for buckets in ([(0, 0), (0, 1), (0, 0)], [(0, 0), (0, 0), (0, 1)])
    ]
    result = MultiBreach().attack(Breach.of(several, split))
    assert min(result.single_errors) > 0.4
    assert result.adversary_error == 0


def test_one_breach_is_not_several() -> None:
    table = table_of([(0,), (1,)], [2], {0})
    g = Generalization.suppressed(table.schema)
    with pytest.raises(ParameterError, match="two generalizations or more"):
        MultiBreach(Bayes).attack(Breach.of(g, population(table)))
    with pytest.raises(ParameterError, match="A6 takes several"):
        Reconstruction(Bayes).attack(Breach.of([g, g], population(table)))
