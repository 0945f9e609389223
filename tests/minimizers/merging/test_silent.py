"""Questions that tell nothing: noise, copies, what tells only together, numbers, persons who come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from leastwise import Attribute, Schema, Table
from leastwise.minimizers import uninformative
from leastwise.schema.inference import infer_schema
from tests.samples import LABEL, NOISE, among_noise, coded, exclusive_or, named


def test_a_person_who_comes_back_tells_nothing_about_others():
    """Five records of each person: what only recognizes people is no information."""
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(120), 5)
    hair, label = random.integers(0, 60, 120)[person], random.integers(0, 2, 120)[person]
    table = coded(Schema((named("hair", 60), named("other", 2)), LABEL), hair, person % 2, labels=label)
    assert "hair" not in uninformative(table)
    assert "hair" in uninformative(replace(table, persons=person))


def test_of_a_number_with_a_long_tail_what_brings_the_guess_nearer_tells():
    random = np.random.default_rng(100)
    age, noise = random.integers(18, 90, 400), random.integers(0, 4, 400)
    paid = np.exp(6 + 0.03 * (age - 45) + random.normal(0, 0.5, 400)).round(2)
    frame = pl.DataFrame({"age": age, "noise": [f"n{i}" for i in noise], "paid": paid})
    table = Table.from_frame(frame, infer_schema(frame, "paid").schema)
    assert "age" not in uninformative(table)
    shuffled = frame.with_columns(paid=random.permutation(paid))
    assert uninformative(Table.from_frame(shuffled, table.schema)) == table.schema.names


def test_what_all_answer_alike_is_uninformative():
    schema = Schema((named("useful", 6), Attribute("same", "continuous", missing=True)), LABEL)
    useful = np.random.default_rng(0).integers(0, 6, 600)
    table = coded(schema, useful, np.zeros(600), labels=useful >= 3, numbers={"same": [3.5]})
    assert uninformative(table) == ("same",)


def test_of_what_has_one_value_nothing_is_asked():
    schema = Schema((named("useful", 6), named("one", 1), named("noise", 4)), LABEL)
    random = np.random.default_rng(0)
    useful, noise = random.integers(0, 6, 600), random.integers(0, 4, 600)
    table = coded(schema, useful, np.zeros(600), noise, labels=useful >= 3)
    assert "one" in uninformative(table)
    assert "useful" not in uninformative(table)


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
