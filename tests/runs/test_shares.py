"""How many people give each answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.errors import ArtefactError
from leastwise.partition import Groups, Intervals, keep, suppress
from leastwise.report import summarize, write_report
from leastwise.runs import Run
from leastwise.runs.shares import Shares, bucket_shares
from tests.report.hand_made import AGE, SEX, write_run
from tests.report.test_writing import people
from tests.samples import coded


def test_shares_are_those_of_the_people_counted_by_hand() -> None:
    g = Generalization((Intervals(AGE, (30,)), Groups.of(SEX, [["Female"], ["Male"]])))
    table = coded(g.schema, [20, 40], [1, 0], weights=np.array([1, 3]))
    assert bucket_shares(g, table) == {"age": (0.25, 0.75), "sex": (0.75, 0.25)}


def test_what_is_not_asked_or_asked_exactly_has_no_shares() -> None:
    g = Generalization((keep(AGE), suppress(SEX)))
    table = coded(g.schema, [20], [1])
    assert bucket_shares(g, table) == {}


@pytest.fixture
def kept(tmp_path: Path) -> Run:
    """A run whose report was made with the records at hand."""
    run = write_run(tmp_path / "run")
    write_report(run, table=people())
    return run


def test_they_are_kept_for_every_candidate_of_the_frontier(kept: Run) -> None:
    found = Shares.stored(kept)
    assert found == Shares.count(kept, people())
    assert set(found.candidates) == {point.id for point in kept.frontier.points}
    shown = [point["shares"] for point in summarize(kept)["frontier"]["points"] if point["kind"] == "frontier"]
    assert all(sum(each) == pytest.approx(1) for shares in shown for each in shares if each is not None)


def test_without_them_no_share_is_told(tmp_path: Path) -> None:
    facts = summarize(write_run(tmp_path / "run"))
    assert {bucket["share"] for attribute in facts["attributes"] for bucket in attribute["buckets"]} == {None}


def test_those_of_other_records_are_not_told(kept: Run) -> None:
    path = kept.folder / "shares.json"
    path.write_text(path.read_text(encoding="utf-8").replace("0" * 64, "1" * 64), encoding="utf-8")
    assert Shares.stored(kept).candidates == {}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"age": [', '"age": [0.5, ', "do not fit the buckets"),
        ('"age": [', '"older": [', "do not fit the buckets"),
        ('"seed": 0', '"seed": "x"', "seed: must be a whole number"),
        ("leastwise-shares", "leastwise-other", "leastwise-shares"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(kept: Run, old: str, new: str, complaint: str) -> None:
    path = kept.folder / "shares.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ArtefactError, match=complaint):
        summarize(kept)
