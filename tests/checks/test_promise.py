"""A promise reads back to the byte, hides single people, and is not taken from strangers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leastwise.checks import Promise
from leastwise.checks.comparisons import statuses
from leastwise.checks.drifting import DriftLimits, use_comparisons
from leastwise.checks.use import bucket_use
from leastwise.errors import ArtefactError, ParameterError
from leastwise.evaluation import evaluate
from leastwise.generalization import Generalization
from tests.checks.people import SCHEMA, G, promise, table


@pytest.fixture(scope="module")
def made() -> Promise:
    return promise(600)


def test_reads_back(made: Promise, tmp_path: Path) -> None:
    made.save(tmp_path / "promise.json")
    assert Promise.load(tmp_path / "promise.json") == made
    assert made.to_json() == promise(600).to_json()


def test_no_single_person_shows_in_a_count(made: Promise) -> None:
    exact = bucket_use(G, table(600, 0).split(0).test)
    for use, counted in zip(made.use, exact, strict=True):
        assert all(count % 10 == 0 for count in use.counts)
        assert all(abs(a - b) <= 5 for a, b in zip(use.counts, counted.counts, strict=True))
    assert made.label is not None
    assert all(count % 10 == 0 for count in made.label)


def test_what_it_holds(made: Promise) -> None:
    assert (made.people, made.known) == (180, 420)
    assert [told.attribute for told in made.told] == ["sex", "town"]
    assert made.utility is not None
    assert made.risk is not None
    assert made.risk.people >= made.people  # the mean of two attributes is surer than one


def test_counts_of_a_sample_are_as_unsure_as_it_is() -> None:
    """Of records in an engine, errors are those of everybody, and answers are counted in a sample."""
    test, judged = table(600, 0).split(0).test, evaluate(G, table(600, 0), ["A1", "A8"], quick=True)
    everybody = replace(judged, people=replace(judged.people, test=100 * judged.people.test))
    sampled = Promise.of(G, test, everybody)
    assert (sampled.people, sampled.sampled_people) == (18_000, 180)
    assert Promise.from_json(sampled.to_json()) == sampled
    now = bucket_use(G, table(6000, 1))
    rows = use_comparisons(sampled, now, G, DriftLimits())
    assert rows == use_comparisons(Promise.of(G, test, judged), now, G, DriftLimits())
    assert {*statuses(rows, 0.01)} <= {"fine", "watch"}, "nothing has changed"


def test_of_another_generalization(made: Promise) -> None:
    other = Generalization.untouched(SCHEMA)
    with pytest.raises(ArtefactError, match="of another generalization"):
        made.check_fits(other)
    with pytest.raises(ParameterError, match="must be of this generalization"):
        Promise.of(other, table(600, 0), evaluate(G, table(600, 0), ["A8"], quick=True))


def edited(made: Promise, **changes: Any) -> str:
    return json.dumps({**json.loads(made.to_json()), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "leastwise-run"}, "must be 'leastwise-promise'"),
        ({"version": 2}, "reads version 1"),
        ({"people": 0}, "people: must be at least 1"),
        ({"people": "many"}, "must be a whole number"),
        ({"use": [{"attribute": "age", "counts": [-10, 0]}]}, "between 0 and people"),
        ({"utility": {"error": 3, "people": 10}}, "between 0 and 1"),
        ({"secret": 1}, "unknown key"),
    ],
)
def test_what_cannot_be_read(made: Promise, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtefactError, match=message):
        Promise.from_json(edited(made, **changes))


def test_counts_of_other_buckets(made: Promise) -> None:
    with pytest.raises(ArtefactError, match="does not count the buckets"):
        Promise.from_json(edited(made, use=[{"attribute": "age", "counts": [90, 90]}])).check_fits(G)
    with pytest.raises(ArtefactError, match="does not count the classes"):
        Promise.from_json(edited(made, label=[60, 60, 60])).check_fits(G)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b"\xff")
    for name, message in (("no.json", "No such file"), ("latin.json", "not UTF-8")):
        with pytest.raises(ArtefactError, match=message):
            Promise.load(tmp_path / name)
