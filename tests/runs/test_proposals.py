"""Proposals and screening learn from a sample where there are many records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leastwise import ParameterError
from leastwise.evaluation.label_guesses import label_guesses
from leastwise.predictors import JointBuckets
from leastwise.runs import DEFAULT, Options, Workers, proposals, run
from leastwise.runs.judging import Asked
from leastwise.runs.proposals import ask, enough, for_searching, pooled, sampled
from leastwise.runs.task import SHARES
from tests.runs.small import GRID, content, records
from tests.samples import Heard


def test_the_same_records_each_time_and_validation_whole() -> None:
    split = records().split(0, SHARES)
    some = sampled(split, 100, seed=1)
    assert len(some.train) == 100
    assert np.array_equal(some.train.codes, sampled(split, 100, seed=1).train.codes)
    assert some.validation is split.validation
    assert sampled(split, len(split.train), seed=1) is split


@pytest.mark.parametrize(("near", "records_used"), [(1.0, 60), (-1.0, 270)])
def test_a_sample_grows_until_it_suffices(near: float, records_used: int, monkeypatch: pytest.MonkeyPatch) -> None:
    split = records().split(0, SHARES)
    monkeypatch.setattr(proposals, "NEAR", near)
    pool = pooled([ask(source, split.train, None) for source in GRID.sources()], split.train)
    assert len(enough(split, pool.candidates, 60, 0, Workers()).train) == records_used


def test_a_run_says_what_it_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "NEAR", 1.0)
    heard, options = Heard(), Options(grid=GRID, quick=True, most=1, sample=300)
    found = run(records(1200), tmp_path / "some", options, progress=heard)
    assert found.task.sample == 300
    assert "screening (learning from 300 of 540)" in heard.words
    again = run(records(1200), tmp_path / "again", options)
    assert content(again.folder) == content(found.folder)


def test_a_search_looks_at_some_people_and_holds_them_against_their_own_beliefs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split = records().split(0, SHARES)
    assert for_searching(split) is split
    asked = Asked.limits(split.train, DEFAULT)
    told = tuple(label_guesses(each, split, (JointBuckets(),)) for each in asked.generalizations)
    asked = asked._replace(told=told)
    whole = asked.reference(split, split)
    monkeypatch.setattr(proposals, "SEARCHED", 40)
    some = for_searching(split)
    few = asked.reference(split, some)
    assert len(some.validation) == 40
    assert some.train is split.train
    assert some.test is split.test
    rows = proposals.searched(split.validation)
    assert np.array_equal(some.validation.codes, split.validation.codes[rows])
    assert np.array_equal(few.beliefs, whole.beliefs[rows])
    assert np.array_equal(few.judged.wrong, whole.judged.wrong[rows])


def test_a_run_that_searches_on_few_people_judges_on_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "SEARCHED", 100)
    options = Options(grid=GRID, quick=True, most=2, groups=("sex",))
    found = run(records(), tmp_path / "some", options)
    assert {point.validation.people for point in found.frontier.points} == {150}
    assert {each.validation.people for each in found.candidates} == {100}, "who is screened"
    again = run(records(), tmp_path / "again", options)
    assert content(again.folder) == content(found.folder)


def test_a_sample_of_too_few_is_refused() -> None:
    with pytest.raises(ParameterError, match="sample must be at least"):
        Options(sample=1)
