"""A8: tables computed by hand, the sentences, and counting against a slow truth."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.singling_out import SinglingOut
from tests.adversaries.populations import grouping, maps_of, population, populations, table_of

AGE = Attribute("age", "continuous", lower=0, integer=True, missing=True)
EDUCATION = Attribute("education", values=("School", "Bachelors", "Doctorate"), personal=True)
PEOPLE = pd.DataFrame(
    {
        "age": [20, 30, 63, 64, 70, 19],
        "education": ["School", "School", "Doctorate", "Bachelors", "Bachelors", "School"],
    }
)


def test_six_people_by_hand() -> None:
    table = Table.from_frame(PEOPLE, Schema((AGE, EDUCATION)))
    partitions = (Intervals(AGE, (19, 63)), Groups(EDUCATION, (0, 1, 2)))
    result = SinglingOut().attack(Breach.of(Generalization(partitions), population(table)))
    # (20 to 63, School) x 2, (20 to 63, Doctorate) x 1, (64 or more, Bachelors) x 2, (0 to 19, School) x 1
    assert (result.rarest, result.rarest_records, result.unique_people, result.distinct) == (1, 2, 2, 4)
    assert result.multiplicities == ((1, 2), (2, 2))
    assert result.adversary_error == pytest.approx(4 / 6)
    assert [(crowd.k, crowd.people_below) for crowd in result.crowds[:2]] == [(2, 2), (3, 6)]
    assert sorted(map(str, result.predicates)) == ["age 0 to 19: 1 person", "education Doctorate: 1 person"]
    assert "There are 4 different generalized records; the rarest is held by 1 person." in result.told().finding


def test_a_crowd_of_all_is_told_as_one() -> None:
    table = Table.from_frame(PEOPLE, Schema((AGE, EDUCATION)))
    result = SinglingOut().attack(Breach.of(Generalization.suppressed(table.schema), population(table)))
    assert "Nobody is alone with a generalized record, among 6 people. All 6 people have the same " in (
        result.told().finding
    )


def test_a_sentence_names_all_that_it_needs() -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 0), (0, 1), (1, 1), (1, 1)]
    table = table_of(rows, [2, 2], {0})
    result = SinglingOut().attack(Breach.of(Generalization.untouched(table.schema), population(table)))
    assert [str(predicate) for predicate in result.predicates] == ["a a0 and b b0: 1 person"]


def test_an_untouched_number_is_said_by_itself() -> None:
    frame = pd.DataFrame({"age": [20, 20, None, 31], "education": ["School"] * 4})
    table = Table.from_frame(frame, Schema((AGE, EDUCATION)))
    result = SinglingOut().attack(Breach.of(Generalization.untouched(table.schema), population(table)))
    assert [str(predicate) for predicate in result.predicates] == ["age missing: 1 person", "age 31: 1 person"]


def test_nothing_asked_singles_out_nobody() -> None:
    table = Table.from_frame(PEOPLE, Schema((AGE, EDUCATION)))
    result = SinglingOut().attack(Breach.of(Generalization.suppressed(table.schema), population(table)))
    assert (result.rarest, result.adversary_error, result.distinct) == (6, 1.0, 1)
    assert [str(predicate) for predicate in result.predicates] == ["any record: 6 people"]


def test_sentences_are_limited() -> None:
    table = table_of([(i,) for i in range(200)], [200], {0})
    breach = Breach.of(Generalization.untouched(table.schema), population(table))
    assert len(SinglingOut().attack(breach).predicates) == 10
    assert SinglingOut(predicates=0).attack(breach).predicates == ()
    assert SinglingOut(predicates=0).attack(breach).unique_people == 200


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_counts_as_the_slow_truth_does_and_sentences_are_true(data: st.DataObject) -> None:
    table = data.draw(populations())
    breach = Breach.of(grouping(table, maps_of(data.draw, table)), population(table))
    result = SinglingOut(predicates=100).attack(breach)
    slow: Counter[Any] = Counter()
    for record, weight in zip(map(tuple, breach.records.tolist()), table.counts, strict=True):
        slow[record] += int(weight)
    assert result.rarest == min(slow.values())
    assert result.distinct == len(slow)
    assert result.unique_people == sum(count == 1 for count in slow.values())
    assert dict(result.multiplicities) == Counter(slow.values())
    assert sum(m * records for m, records in result.multiplicities) == table.people
    for predicate in result.predicates:
        assert _bearers(predicate.text, breach) == predicate.people == result.rarest


def _bearers(text: str, breach: Breach) -> float:
    true = np.ones(len(breach.truth), dtype=bool)
    for condition in [] if text == "any record" else text.split(" and "):
        name, label = condition.split(" ", 1)
        j = breach.truth.schema.position(name)
        true &= np.array(breach.joined.partitions[j].labels)[breach.records[:, j]] == label
    return float(breach.truth.counts[true].sum())
