"""A person's own pick."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise import Generalization, ParameterError
from leastwise.runs import Run, pick
from tests.report.hand_made import write_run


def test_every_attacked_candidate_can_be_picked_and_it_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    for point in run.frontier.points:
        picked = pick(run.folder, point.id)
        assert Run.load(run.folder).choice == picked.choice
        assert picked.choice.candidate == point.id
        assert picked.choice.sentence.startswith("A person picked this one of 3 attacked candidates.")
        recommended = Generalization.load(run.folder / "recommended.json")
        assert recommended.fingerprint == point.fingerprint
        # The budget of the run allows 2 points more errors, and none of them keeps that.
        assert not picked.choice.fits
        assert "It does not keep the limits: the model errs" in picked.choice.sentence
        assert (picked.choice.binding, picked.choice.nearest) == ((), None)
        assert [(verdict.limit, verdict.missed) for verdict in picked.choice.verdicts] == [
            ("max_error_increase", True),
            ("min_adversary_error sex", point.test.by_attribute["sex"] < 0.2),
        ]


def test_what_was_not_attacked_cannot_be_picked_and_nothing_is_changed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    before = (run.folder / "choice.json").read_bytes()
    attacked = {point.id for point in run.frontier.points}
    (screened,) = (candidate.id for candidate in run.candidates if candidate.id not in attacked)
    with pytest.raises(ParameterError, match="was screened only; pick one that was attacked: "):
        pick(run.folder, screened)
    with pytest.raises(ParameterError, match="there is no candidate 'nobody'"):
        pick(run.folder, "nobody")
    with pytest.raises(ParameterError, match="is no run"):
        pick(tmp_path, run.frontier.points[0].id)
    assert (run.folder / "choice.json").read_bytes() == before
