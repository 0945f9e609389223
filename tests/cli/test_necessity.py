"""``leastwise necessity``: why each question is asked; of a run, kept in its folder; and for the people asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise import Generalization
from leastwise.evaluation import Necessity
from leastwise.runs import Run as StoredRun
from tests.cli.running import Run

pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
REASONS = ("would get a wrong prediction", "It makes the predictions surer", "We could not measure")


@pytest.fixture
def records(made: Path) -> Path:
    return made / "small.csv"


@pytest.fixture
def folder(finished: Path) -> Path:
    return finished


@pytest.mark.parametrize("command", ["necessity", "evaluate"])
def test_records_that_are_not_named_are_asked_for_by_name(run: Run, folder: Path, command: str) -> None:
    said = run(command, folder).complaint
    assert said.startswith("a run keeps the name of its records, small.csv, and not where they lie")
    assert said.endswith(f"leastwise {command} {folder} small.csv")
    assert "Missing argument" in run(command, folder / "recommended.json").complaint


def test_a_run_finds_it_and_the_command_finds_the_same(run: Run, records: Path, folder: Path) -> None:
    found = StoredRun.load(folder)
    assert found.necessity is not None
    assert [each.attribute for each in found.necessity.asked] == [*found.recommended.collected]  # type: ignore[union-attr]
    before = (folder / "necessity.json").read_bytes()
    answer = run("necessity", folder, records)
    assert answer.code == 0, answer.err
    assert "Judged on" in answer.out
    assert "verdict" in answer.out
    assert f"wrote {folder / 'necessity.json'}" in answer.err
    assert (folder / "necessity.json").read_bytes() == before
    alone = json.loads(run("necessity", folder / "recommended.json", records, "--json").out)
    assert [each["attribute"] for each in alone["asked"]] == [*found.recommended.collected]  # type: ignore[union-attr]


def test_what_was_found_for_another_candidate_is_not_told(run: Run, records: Path, folder: Path) -> None:
    before = StoredRun.load(folder)
    other = next(point.id for point in before.frontier.points if point.id != before.choice.candidate)
    picked = run("choose", folder, "--candidate", other)
    assert picked.code == 0
    assert picked.out.startswith("A person picked this one of")
    again = StoredRun.load(folder)
    assert again.choice.candidate == other
    assert again.necessity is None
    assert "of another generalization" in run("export", folder, "--to", "form", "--why", folder).complaint
    assert run("necessity", folder, records).code == 0
    assert StoredRun.load(folder).necessity is not None


def test_other_records_are_refused(run: Run, records: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("\n".join(records.read_text("utf-8").splitlines()[:-5]), encoding="utf-8")
    assert "its fingerprint differs" in run("necessity", folder, other).complaint
    assert "not 7: use that seed" in run("necessity", folder, records, "--seed", 7).complaint


def test_people_are_told_why_they_are_asked(run: Run, folder: Path, tmp_path: Path) -> None:
    asked = Generalization.load(folder / "recommended.json").collected
    for kind in ("form", "questionnaire"):
        plain = run("export", folder, "--to", kind).out
        told = run("export", folder, "--to", kind, "--why", folder).out
        assert "Why we ask" not in plain
        assert told.count("Why we ask: ") == len(asked)
        assert any(reason in told for reason in REASONS)
        assert run("export", folder, "--to", kind, "--why", folder / "necessity.json").out == told
    assert (
        "--why is for --to form and questionnaire"
        in run("export", folder, "--to", "js", "--why", folder).complaint
    )
    broken = tmp_path / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    assert "broken.json" in run("export", folder, "--to", "form", "--why", broken).complaint


def test_it_is_part_of_an_evaluation_on_request(run: Run, records: Path, folder: Path, tmp_path: Path) -> None:
    words = ("evaluate", folder, records, "--adversaries", "A8", "--quick")
    assert json.loads(run(*words, "--json").out)["necessity"] is None
    answer = run(*words, "--necessity", "-o", tmp_path / "evaluation.json")
    assert answer.code == 0, answer.err
    assert "verdict" in answer.out
    stored = json.loads((tmp_path / "evaluation.json").read_text("utf-8"))["necessity"]
    kept = json.loads((folder / "necessity.json").read_text("utf-8"))
    assert {"format", "version", *stored} == {*kept}
    assert stored["people"] == kept["people"]
    assert Necessity.load(folder / "necessity.json").fingerprint == stored["fingerprint"]
