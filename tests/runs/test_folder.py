"""A finished run as it lies in its folder, and a person's own pick."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import Generalization, ParameterError
from leastwise.runs import Budget, Run, pick
from leastwise.runs.folder import prepare
from leastwise.runs.task import Parts
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


def test_a_pick_is_held_against_the_limits_that_are_stated_with_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    point = run.frontier.points[0]
    loose, strict = Budget(max_error_increase=0.5), Budget(max_asked=0)
    picked = pick(run.folder, point.id, loose)
    assert (picked.choice.fits, picked.choice.stated, picked.choice.budget) == (True, True, loose)
    assert f"It keeps: {loose.words()}." in picked.choice.sentence
    picked = pick(run.folder, point.id, strict)
    assert (picked.choice.fits, picked.choice.budget) == (False, strict)
    assert "It does not keep the limits: " in picked.choice.sentence
    assert [verdict.missed for verdict in picked.choice.verdicts] == [True]
    assert pick(run.folder, point.id).choice == Run.load(run.folder).choice == picked.choice
    with pytest.raises(ParameterError, match="there is no personal attribute 'sx'"):
        pick(run.folder, point.id, Budget(min_adversary_error={"sx": 0.1}))
    with pytest.raises(ParameterError, match="need declared groups"):
        pick(run.folder, point.id, Budget(max_group_gap=0.1))
    assert Run.load(run.folder).choice == picked.choice


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


def test_what_was_said_otherwise_is_named_before_the_data(tmp_path: Path) -> None:
    """Whoever marks another attribute personal has changed the fingerprint, and not the data."""
    run = write_run(tmp_path / "run")
    other = replace(run.task, fingerprint="1" * 64, records=Parts(train=1, validation=1, test=1))
    with pytest.raises(ParameterError, match=r"\(the data differs\)"):
        prepare(run.folder, other, fresh=False)
    with pytest.raises(ParameterError, match=r"\(personal differs\)"):
        prepare(run.folder, replace(other, personal=("sex",)), fresh=False)
