"""Before and after, attribute by attribute."""

from __future__ import annotations

from leastwise import Attribute, Generalization, Schema
from leastwise.partition import Groups, Intervals, keep, suppress
from leastwise.report.buckets import BucketTexts, attribute_facts
from tests.report.hand_made import AGE, JOB, SEX

CITY = Attribute("city", values=tuple(f"city {i}" for i in range(522)), labels=(), personal=True, missing=True)


def test_what_is_not_asked_or_asked_exactly_has_no_buckets() -> None:
    g = Generalization((keep(AGE), suppress(SEX)))
    exact, unasked = attribute_facts(g, {})
    assert exact["exact"]
    assert exact["asked"]
    assert not unasked["asked"]
    assert unasked["buckets"] == []


def test_before_and_after_count_the_answers() -> None:
    (found,) = attribute_facts(Generalization((Groups.of(JOB, [["clerk", "cook"], list(JOB.values[2:])]),)), {})
    assert (found["answers_before"], found["answers_after"]) == (7, 2)
    assert found["before"].startswith("7 values: clerk · cook")
    assert found["buckets"][0]["label"] == "clerk or cook"


def test_a_label_that_leaves_values_out_can_be_unfolded() -> None:
    groups = Groups(CITY, tuple(int(i > 1) for i in range(523)))
    few, many = attribute_facts(Generalization((groups,)), {})[0]["buckets"]
    assert few["members"] == []
    assert len(many["members"]) == 520


def test_buckets_that_candidates_share_are_told_once() -> None:
    texts = BucketTexts()
    first = texts.places(Generalization.suppressed(Schema((AGE, SEX))))
    second = texts.places(Generalization((Intervals(AGE, (30,)), suppress(SEX))))
    assert first == [0, 0]
    assert second == [1, 0]
    assert texts.texts == [["not asked"], ["0 to 30", "31 to 99"]]


def test_a_long_list_is_shortened_where_many_candidates_are_told() -> None:
    texts = BucketTexts()
    texts.places(Generalization.untouched(Schema((CITY,))))
    assert len(texts.texts[0]) == 12
    assert texts.texts[0][-1] == "… 512 more"
