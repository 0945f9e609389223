"""Law: a suppressed attribute publishes nothing of its domain, and nothing that reads the artefact misses it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, SchemaError, Table, evaluate
from leastwise.evaluation import necessity_of
from leastwise.generalization import gcp
from leastwise.partition import keep, suppress
from tests import strategies

AGE = Attribute("age", "continuous", lower=0, upper=120, integer=True, missing=True)
TOWN = Attribute("town", values=("Bern", "Genf", "Zug"), labels=("B", "G", "Z"), missing=True, personal=True)
SIZE = Attribute("size", "ordinal", values=("small", "large"), personal=True)
LABEL = Attribute("y", values=("0", "1"))
SCHEMA = Schema((AGE, TOWN, SIZE), LABEL)
ASKS_SIZE = Generalization((suppress(AGE), suppress(TOWN), keep(SIZE)), LABEL)


def read_again(generalization: Generalization) -> Generalization:
    return Generalization.from_json(generalization.to_json())


def people(count: int = 400) -> Table:
    rng = np.random.default_rng(0)
    size = rng.integers(0, 2, count)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 90, count),
            "town": np.asarray(TOWN.values)[rng.integers(0, 3, count)],
            "size": np.asarray(SIZE.values)[size],
            "y": size ^ (rng.random(count) < 0.1),
        }
    )
    return Table.from_frame(frame, SCHEMA)


def test_nothing_of_the_domain_is_written() -> None:
    age, town, size = json.loads(ASKS_SIZE.to_json())["attributes"]
    assert age == {"name": "age", "kind": "continuous", "buckets": "suppressed"}
    assert town == {
        "name": "town", "kind": "discrete", "other": True, "personal": True, "buckets": "suppressed"
    }  # fmt: skip
    assert size["values"] == ["small", "large"]
    assert not any(word in ASKS_SIZE.to_json() for word in ("Bern", "Genf", "120", "missing"))


@given(st.data())
def test_the_fingerprint_does_not_depend_on_what_is_not_published(data: st.DataObject) -> None:
    generalization = data.draw(strategies.generalizations())
    again = read_again(generalization)
    assert again == generalization
    assert again.fingerprint == generalization.fingerprint
    assert again.to_json() == generalization.to_json()
    assert again.collected == generalization.collected
    assert again.within(generalization.schema).partitions == generalization.partitions
    assert again.compare(generalization).overall == generalization.compare(again).overall == "same"
    untouched = Generalization.untouched(generalization.schema)
    assert again.is_coarser_than(untouched)
    assert again.refine(untouched) == untouched.refine(again) == untouched
    assert [*map(repr, again.compare(untouched).changes)] == [
        *map(repr, generalization.compare(untouched).changes)
    ]


def test_an_older_artefact_with_values_still_loads() -> None:
    document = json.loads(ASKS_SIZE.to_json())
    document["attributes"][1] |= {"values": ["Bern", "Genf", "Zug"], "missing": True}
    del document["attributes"][1]["other"]
    older = Generalization.from_json(json.dumps(document))
    assert older["town"].attribute.values == TOWN.values
    assert older == ASKS_SIZE
    assert "Bern" not in older.to_json()


def test_only_what_is_suppressed_takes_another_domain() -> None:
    other = replace(SIZE, values=("small", "medium", "large"))
    with pytest.raises(SchemaError, match="'size' differ"):
        ASKS_SIZE.within(Schema((AGE, TOWN, other), LABEL))
    for town in (replace(TOWN, kind="ordinal"), replace(TOWN, personal=False), replace(TOWN, name="city")):
        with pytest.raises(SchemaError, match="differ"):
            read_again(ASKS_SIZE).within(Schema((AGE, town, SIZE), LABEL))


def test_records_are_judged_as_if_the_domain_were_known() -> None:
    table, again = people(), read_again(ASKS_SIZE)
    assert not again["town"].untouched
    assert (table.generalize(again) == table.generalize(ASKS_SIZE)).all()
    assert gcp(again, table) == gcp(ASKS_SIZE, table) > 0
    known, read = (evaluate(g, table, ["A1", "A8"], quick=True, held_out=True) for g in (ASKS_SIZE, again))
    assert read.attacks == known.attacks
    worth = necessity_of(again, table, held_out=True)
    assert worth.fingerprint == known.fingerprint
    assert {each.attribute for each in worth.not_asked} == {"age", "town"}


def test_it_is_applied_as_before() -> None:
    again = read_again(ASKS_SIZE)
    record = {"age": 3, "town": "Chur", "size": "large"}
    assert again.transform(record) == {"size": "large"}
    assert again.transform(record, "codes", suppressed=True) == {"age": 0, "town": 0, "size": 1}
    assert again.transform(record, "representative")["town"] is None
    frame = pl.DataFrame([record])
    assert again.transform(frame).to_dicts() == [{"size": "large"}]


def test_what_both_ask_together() -> None:
    by_age = read_again(Generalization((Intervals(AGE, (40,)), suppress(TOWN), suppress(SIZE)), LABEL))
    by_town = read_again(Generalization((suppress(AGE), Groups(TOWN, (0, 1, 1, 1)), suppress(SIZE)), LABEL))
    both = by_age.refine(by_town)
    assert both.collected == ("age", "town")
    assert both["town"].attribute == TOWN
    assert people().generalize(both).max(axis=0).tolist() == [1, 1, 0]
