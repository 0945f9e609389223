"""What a run has found so far: a first answer soon, and an honest end whenever it is stopped."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leastwise.progress import Silent
from leastwise.report import write_report
from leastwise.runs import Entry, Grid, Options, Run, job, run
from leastwise.runs.folder import SO_FAR
from leastwise.runs.task import Parts
from tests.runs.small import GRID, content, records

OPTIONS = Options()


@pytest.fixture(autouse=True, scope="module")
def _small_grid() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["leastwise.runs.run"], "default_grid", lambda quick: GRID)
        yield


class StopsIn(Silent):
    """Presses Ctrl-C when a step of a stage is done."""

    def __init__(self, stage: str) -> None:
        self.stage, self.words = stage, ""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        self.words = words

    def advance(self, steps: int = 1) -> None:
        if self.words == self.stage:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Run]]:
    folder, told = tmp_path_factory.mktemp("so_far"), list[Run]()

    def keep(first: Run) -> None:
        shutil.copytree(first.folder, folder / "copy")
        told.append(first)

    run(records(), folder / "run", OPTIONS, told=keep)
    return folder, told


def test_a_first_answer_is_a_complete_run_that_says_what_it_lacks(finished: tuple[Path, list[Run]]) -> None:
    folder, (first,) = finished
    found = Run.load(folder / "copy")
    assert found.choice == first.choice
    assert found.recommended is not None
    (point,) = [each for each in found.frontier.points if each.id == found.choice.candidate]
    assert point.test.certified is not None
    assert {attack.adversary for attack in found.evaluation(point.id).attacks} >= {"A1", "A8"}
    (sentence,) = found.unfinished
    assert f"{len(GRID.sources())} other searches" in sentence
    assert "A3, A4, A5 have not yet been run" in sentence
    assert sentence in str(found)
    assert sentence in write_report(found).with_suffix(".md").read_text(encoding="utf-8").replace("\\", "")


def test_a_finished_run_has_no_answer_so_far(finished: tuple[Path, list[Run]]) -> None:
    folder, _ = finished
    assert not (folder / "run" / SO_FAR).exists()
    assert Run.load(folder / "run").unfinished == ()


def test_who_stops_between_attacks_has_what_is_attacked(finished: tuple[Path, list[Run]], tmp_path: Path) -> None:
    whole = Run.load(finished[0] / "run")
    with pytest.raises(KeyboardInterrupt):
        run(records(), tmp_path / "run", OPTIONS, progress=StopsIn("attacking the frontier"))
    found = Run.load(tmp_path / "run" / SO_FAR)
    attacked, all_ = len(found.frontier.points), len(whole.frontier.points)
    assert 0 < attacked < all_
    assert found.choice.candidate == whole.choice.candidate  # it is attacked first
    assert f"not yet run on {all_ - attacked} candidate" in found.unfinished[0]
    resumed = run(records(), tmp_path / "run", OPTIONS)
    assert not (tmp_path / "run" / SO_FAR).exists()
    assert resumed.frontier == whole.frontier
    assert content(tmp_path / "run") == content(finished[0] / "run")


def test_a_quick_run_and_one_with_its_own_grid_have_no_first_answer(tmp_path: Path) -> None:
    told: list[Run] = []
    grid = Grid(entries=(Entry(minimizer="uniform", parameters={"k": 2}),))
    run(records(), tmp_path / "run", Options(quick=True, grid=grid, most=1), told=told.append)
    assert told == []


def test_a_first_answer_of_many_records_says_on_how_many_it_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "MOST_PEOPLE", 150)
    told = list[tuple[Run, tuple[str, ...]]]()
    found = run(records(), tmp_path / "run", OPTIONS, told=lambda first: told.append((first, first.unfinished)))
    ((first, words),) = told
    assert first.task.records == Parts(train=150, validation=150, test=150)
    assert words[1] == "It is judged on 150 of 180 test records, drawn at random."
    assert {point.test.people for point in first.frontier.points} == {150}
    assert found.task.records == Parts(train=270, validation=150, test=180)
