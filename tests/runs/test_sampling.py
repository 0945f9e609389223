"""Proposals and screening learn from a sample where there are many records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leastwise import ParameterError
from leastwise.runs import Options, Workers, run, sampling, sweep
from leastwise.runs.sampling import enough, sampled
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
    monkeypatch.setattr(sampling, "NEAR", near)
    pool = sweep(split, GRID)
    assert len(enough(split, pool.candidates, 60, 0, Workers()).train) == records_used


def test_a_run_says_what_it_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "NEAR", 1.0)
    heard, options = Heard(), Options(grid=GRID, quick=True, most=1, sample=300)
    found = run(records(1200), tmp_path / "some", options, progress=heard)
    assert found.task.sample == 300
    assert "screening (learning from 300 of 540)" in heard.words
    again = run(records(1200), tmp_path / "again", options)
    assert content(again.folder) == content(found.folder)


def test_a_sample_of_too_few_is_refused() -> None:
    with pytest.raises(ParameterError, match="sample must be at least"):
        Options(sample=1)
