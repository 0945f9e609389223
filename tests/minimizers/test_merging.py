"""The least of a generalization: what the records cannot tell apart is not asked apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise import Generalization, Table
from leastwise.minimizers import Constraints
from leastwise.minimizers.merging import costs_nothing, fewest_people, last_that, least, uninformative
from leastwise.predictors.held_out import Difference
from tests.samples import a_secret_and_its_twin, among_noise, exclusive_or

PARTS = (0.6, 0.3, 0.1)
NOISE = {*(f"noise {j}" for j in range(7)), *(f"number {j}" for j in range(3))}


def made_least(table: Table, constraints: Constraints | None = None, seed: int = 0) -> Generalization:
    split = table.split(seed, PARTS)
    return least(split.train, split.validation, Generalization.untouched(table.schema), constraints=constraints)


def test_noise_is_dropped_and_a_copy_is_asked_once():
    found = made_least(among_noise())
    assert len(found.collected) == 1
    assert found.collected[0] in ("useful", "copy")
    assert found[found.collected[0]].size == 2  # below three or not is all that counts


def test_what_matters_for_one_person_in_a_hundred_is_kept():
    found = made_least(among_noise(8000, rare=True))
    assert "flag" in found.collected
    assert not NOISE & {*found.collected}


def test_it_is_coarser_and_the_same_again():
    table = a_secret_and_its_twin()
    split = table.split(0, PARTS)
    given = Generalization.untouched(table.schema)
    once, twice = (least(split.train, split.validation, given) for _ in range(2))
    assert once == twice
    assert once.is_coarser_than(given)
    assert once.collected == ("useful",)


def test_no_bucket_has_too_few_people():
    table = among_noise(2000)
    split = table.split(3, PARTS)
    found = least(split.train, split.validation, Generalization.untouched(table.schema))
    for j, bucket_of in enumerate(split.train.bucket_maps(found)):
        assert np.bincount(bucket_of, weights=split.train.use(j)).min() >= fewest_people(split.train)


def test_constraints_are_kept():
    held = Constraints(untouched=["twin"], apart={"useful": [["v0", "v1"]]})
    found = made_least(a_secret_and_its_twin(), held)
    assert found["twin"].untouched
    first, second = (found["useful"].bucket(value) for value in ("v0", "v1"))
    assert first != second


def test_an_interaction_is_kept():
    found = made_least(exclusive_or())
    assert len(found.collected) >= 2


@pytest.mark.parametrize("seed", range(3))
def test_only_what_tells_nothing_is_uninformative(seed: int):
    table = among_noise(1500, seed)
    found = {*uninformative(table)}
    assert not {"useful", "copy"} & found  # a copy of a telling attribute is telling too
    assert len(found & NOISE) >= 9


def test_attributes_that_tell_only_together_are_informative():
    table = exclusive_or()
    both = [name for name in table.schema.names if name not in uninformative(table)]
    assert len(both) >= 2


def test_a_label_that_hangs_on_nothing_leaves_nothing_to_ask():
    table = among_noise(1500)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(table.y)
        assert uninformative(replace(table, labels=shuffled)) == table.schema.names


def test_small_losses_are_small_in_errors_people_and_surprise():
    quiet = Difference(0.0, 0.001)
    assert costs_nothing(Difference(0.0, 0.01), quiet)
    assert not costs_nothing(Difference(0.004, 0.01), Difference(0.001, 0.001))  # too many people
    assert not costs_nothing(Difference(0.001, 0.0005), Difference(0.001, 0.001))  # told
    assert not costs_nothing(Difference(0.0, 0.01), Difference(0.02, 0.001))  # an effect that errors hardly show
    assert costs_nothing(Difference(0.004, 0.01), Difference(-0.001, 0.001))  # chance: the log loss falls


def test_the_last_that_holds_takes_few_questions():
    asked: list[int] = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number <= 37

    assert last_that(holds, 100) == 37
    assert len(asked) <= 9
    assert last_that(holds, 0) == 0
