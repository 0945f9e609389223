"""What people are told by the commands must be true: whom a figure counts, what is chosen, what a command does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leastwise.runs import Run as StoredRun
from tests.cli.conftest import GRID, QUICK
from tests.cli.running import Run
from tests.runs.small import write_csv

pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.yaml"
    path.write_text(GRID, encoding="utf-8")
    return path


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Six hundred people, each with two equal records, and the key that tells whose they are."""
    names, *rows = write_csv(tmp_path / "small.csv").read_text("utf-8").splitlines()
    copies = [f"{row},p{i}" for i, row in enumerate(rows)]
    path = tmp_path / "twice.csv"
    path.write_text("\n".join([f"{names},who", *copies, *copies]) + "\n", encoding="utf-8")
    return path


def test_persons_are_counted_and_not_their_records(run: Run, twice: Path, grid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    task = ["--label", "rich", "--personal", "job,sex", "--person", "who", "--set", "groups=sex"]
    answer = run("run", twice, *task, "--grid", grid, *QUICK, "-o", folder)
    assert answer.code == 0, answer.err
    found = StoredRun.load(folder)
    assert sum(vars(found.task.records).values()) == 1200
    tested = found.task.tested
    assert tested == 180
    assert re.search(rf"alone with theirs, of {tested}\b", answer.out)
    for point in found.frontier.points:
        assert (point.validation.people, point.test.people) == (150, tested)
    judged = found.evaluation(found.choice.candidate or "")
    assert judged.people.test == judged["A1"].people == judged["A8"].people == tested
    assert found.necessity is not None
    assert found.necessity.people == tested
    assert found.groups is not None
    assert sum(each.people for each in found.groups.groups) == tested
    said = (folder / "report.md").read_text("utf-8")
    assert "1,200 records of 600 people; 270 to learn from, 150 to choose with, 180 to report on" in said
    assert not re.search(r"\b(360|300|540|1,200) people\b", said + answer.out)
    # The commands that go on from a run know whose the records are: else its own people would be tested.
    assert run("necessity", folder, twice).code == 0
    assert run("report", folder, twice, "-o", tmp_path / "again.md").code == 0
    judged_again = run("evaluate", folder, twice, "--quick", "-a", "A1,A8")
    assert "whose record each one is: who, as in the run" in judged_again.err
    assert "of 180 people" in judged_again.out


def test_a_check_counts_persons_too(run: Run, twice: Path, grid: Path, tmp_path: Path) -> None:
    folder, policy = tmp_path / "out", tmp_path / "leastwise.yaml"
    task = ["--label", "rich", "--personal", "job,sex", "--person", "who"]
    assert run("run", twice, *task, "--grid", grid, *QUICK, "-o", folder).code == 0
    assert run("init", twice, "--run", folder, "-o", policy).code == 0
    checked = run("check", policy, "--write-promise", tmp_path / "promise.json")
    assert checked.code == 0, checked.err
    assert "taken for a person" not in checked.err
    promise = json.loads((tmp_path / "promise.json").read_text("utf-8"))
    assert promise["people"] == promise["utility"]["people"] == 180
    assert all(sum(each["counts"]) <= 180 + 10 * len(each["counts"]) for each in promise["use"])
    alone = twice.with_name("alone.csv")
    alone.write_text("\n".join(line.rsplit(",", 1)[0] for line in twice.read_text("utf-8").splitlines()), "utf-8")
    without = run("check", policy, "--data", alone)
    assert "the records have no column 'who': each of them is taken for a person" in without.err


@pytest.fixture
def one_question(tmp_path: Path) -> Path:
    """A single question with two answers, which tells the label of most."""
    rows = [
        ("y", "yes" if i % 10 < 8 else "no") if i % 2 else ("n", "yes" if i % 10 < 2 else "no") for i in range(600)
    ]
    path = tmp_path / "one.csv"
    path.write_text("\n".join(["smoker,ill", *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


def test_one_question_with_two_answers_is_asked_or_not(run: Run, one_question: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    task = ["--label", "ill", "--personal", "smoker", "--quick", "--jobs", 1]
    answer = run("run", one_question, *task, "-o", folder)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("Ask 1 of 1 question, with 2 answers in all: smoker in full.\n")
    # Nobody is alone: that is not why nothing can be promised.
    assert "nobody is alone with theirs, of 180 tested" in answer.out
    assert "too many people are alone" not in answer.out
    told = run("necessity", folder, one_question)
    assert told.code == 0
    assert "needed" in told.out
    assert run("evaluate", folder, one_question, "--quick", "-a", "A1,A8").code == 0
    loose = run("choose", folder, "--max-error-increase", 0.9)
    assert loose.code == 0
    assert "Ask nothing: without the one question no more is lost than is allowed." in loose.out
    assert run("necessity", folder, one_question).code == 0
    both = ["--max-error-increase", 0.01, "--min-adversary-error", "smoker=0.3"]
    nothing = run("choose", folder, *both)
    assert nothing.code == 1
    assert "None of the 2 candidates of the frontier fits" in nothing.out


def test_the_estimate_that_is_chosen_by_is_told(run: Run, finished: Path) -> None:
    answer = run("choose", finished, "--max-error-increase", 0.1)
    assert re.search(
        r"the model is estimated to err [\d.-]+ points more than with everything asked \([\d.-]+ with", answer.out
    )
    facts = json.loads((finished / "report.json").read_text("utf-8"))["frontier"]
    columns = facts["table"]["columns"]
    estimate, tested = (columns.index(name) for name in ("errs more, estimated to choose by", "errs more on test"))
    told = {row[-1]: (row[estimate], row[tested]) for row in facts["table"]["rows"]}
    for point in StoredRun.load(finished).frontier.points:
        chosen_by, seen = point.validation.increase, point.test.increase
        assert chosen_by is not None
        assert seen is not None
        shown = told[point.id]
        assert shown[0].startswith(f"{100 * chosen_by.mean:z.1f} (")
        assert shown[1] == f"{100 * seen.mean:z.1f}"
    said = (finished / "report.md").read_text("utf-8")
    assert "errs more, estimated to choose by" in said
    assert facts["increases"].split("(")[0] in said
    assert "estimated to choose by" in (finished / "report.html").read_text("utf-8")


def test_where_nothing_keeps_a_stated_limit_nothing_is_called_chosen(run: Run, finished: Path, made: Path) -> None:
    words = [
        "run",
        made / "small.csv",
        "--label",
        "rich",
        "--personal",
        "job,sex",
        "--grid",
        made / "grid.yaml",
        *QUICK,
    ]
    limits = ["--max-error-increase", 0, "--min-adversary-error", "job=0.7", "--min-adversary-error", "sex=0.4"]
    answer = run(*words, *limits, "-o", finished)
    assert answer.code == 1, answer.out
    assert answer.out.startswith("Nothing is recommended. ")
    report = (finished / "report.md").read_text("utf-8")
    assert report.startswith("# What to ask to predict rich: nothing fits\n\n**Nothing is recommended. Of ")
    assert "· chosen" not in report
    assert "leastwise necessity" not in report
    assert run("necessity", finished, made / "small.csv").code == 2
    for line in answer.out.splitlines():
        if ": leastwise choose " in line:  # what is advised is not refused
            command = line.partition(": leastwise ")[2].split()
            assert run(*command).code == 0


def test_what_a_person_picked_is_not_called_unseen_by_the_test_part(run: Run, finished: Path) -> None:
    other = next(p.id for p in StoredRun.load(finished).frontier.points)
    answer = run("choose", finished, "--candidate", other)
    assert answer.code == 0
    assert (
        "Where it was picked by figures of the test part, what these confirm is confirmed by hindsight."
        in answer.out
    )
    report = (finished / "report.md").read_text("utf-8")
    assert "a person picked one. The figures here come from the test part; where it was picked by these" in report
    assert "which had no say in that" not in report


def test_a_quick_run_does_not_claim_the_strongest_attacks(finished: Path) -> None:
    report = (finished / "report.md").read_text("utf-8")
    assert "the strongest we could train" not in report
    assert "are those of a quick run, trained less than they can be" in report


def test_where_nothing_is_asked_nothing_is_stolen(run: Run, tmp_path: Path) -> None:
    rows = [f"{'nsw'[i * i % 3]},{'fm'[i * 7 % 13 % 2]},{'yes' if i * 5 % 17 == 3 else 'no'}" for i in range(900)]
    data, folder = tmp_path / "silent.csv", tmp_path / "out"
    data.write_text("\n".join(["town,sex,ill", *rows]) + "\n", encoding="utf-8")
    answer = run("run", data, "--label", "ill", "--personal", "sex", "--quick", "--jobs", 1, "-o", folder)
    assert answer.code == 0, answer.err
    first, *_ = answer.out.splitlines()
    assert first.startswith("Ask nothing: ")
    assert "errors do not show who is at risk" in first
    assert "There are no records to steal: whoever guesses gets" in answer.out
    assert "nobody who sees only generalized records that hold nothing gets fewer than" in answer.out
    assert "labels gets fewer" not in answer.out
    report = (folder / "report.md").read_text("utf-8")
    assert f"**{first.partition('.')[0]}." in report
    assert "errors do not show who is at risk" in report
    assert "## What nobody can tell who sees only the generalized records\n" in report
