"""``leastwise check``: 0 fine, 1 broken, 2 a mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise import Generalization, Groups, Intervals
from leastwise.checks import Promise
from tests.checks.people import AGE, LABEL, SEX, TOWN, G, frame
from tests.cli.running import Run

POLICY = """format: leastwise-policy
version: 1
data: sample.csv
label: works
personal: [sex, town]
generalization: g.json
promise: promise.json
quick: true
budget: {max_error: 0.25, min_adversary_error: {sex: 0.25}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame(1500, 0).write_csv("sample.csv")
    frame(1500, 1).write_csv("same.csv")
    frame(1500, 2, older=10).write_csv("older.csv")
    G.save("g.json")
    Path("leastwise.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_promise_then_check(folder: Path, run: Run) -> None:
    made = run("check", "--write-promise", "promise.json")
    assert (made.code, made.out.splitlines()[-1]) == (0, "Check of g.json: fine")
    assert "keep it where those may be kept" in made.err
    Promise.load("promise.json").check_fits(G)

    fine = run("check", "--data", "same.csv")
    assert fine.code == 0, fine.out
    assert "judging: A1 reconstruction" in fine.err

    broken = run("check", "leastwise.yaml", "--data", "older.csv", "-o", "check.md")
    assert broken.code == 1
    assert "Check of g.json: broken\n  - age: " in broken.out
    assert Path("check.md").read_text(encoding="utf-8").startswith("# Check of g.json\n\n**Verdict: broken**")


def test_limits_of_groups_need_groups(folder: Path, run: Run) -> None:
    said = POLICY.replace("max_error:", "max_group_gap:").replace("promise: promise.json\n", "")
    Path("leastwise.yaml").write_text(said, encoding="utf-8")
    said = run("check", "--data", "same.csv").complaint
    assert said.endswith(
        "need declared groups, and there are none; declare them in the policy, such as groups: [sex]"
    )


def test_the_same_seed_gives_the_same_bytes(folder: Path, run: Run) -> None:
    for name in ("one", "two"):
        run("check", "--write-promise", f"{name}-promise.json", "-o", f"{name}.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert Path("one-promise.json").read_bytes() == Path("two-promise.json").read_bytes()


def test_without_a_policy(folder: Path, run: Run) -> None:
    Path("leastwise.yaml").unlink()
    found = run("check", "--data", "same.csv", "-g", "g.json", "--quick", "--json")
    assert found.code == 0
    assert json.loads(found.out)["verdict"] == "fine"
    assert "there is no leastwise.yaml here" in run("check", "--data", "same.csv").complaint


def test_a_web_page(folder: Path, run: Run) -> None:
    run("check", "--data", "same.csv", "--write-promise", "promise.json", "-o", "check.html")
    assert "<html" in Path("check.html").read_text(encoding="utf-8")


def test_a_re_release(folder: Path, run: Run) -> None:
    other = Generalization((Intervals(AGE), Groups(SEX, (0, 1)), Groups(TOWN, (0, 0, 0, 0))), LABEL)
    other.save("old.json")
    Path("promise.json").unlink(missing_ok=True)
    policy = POLICY.replace("promise: promise.json\n", "")
    Path("leastwise.yaml").write_text(policy, encoding="utf-8")
    assert run("check", "--data", "same.csv").code == 0
    found = run("check", "--data", "same.csv", "--previous", "old.json")
    assert found.code == 1
    assert "A6 is wrong about sex 0.000 of the time, wanted is at least 0.25" in found.out
    assert "are not nested" in found.out
    # The policy's promise is of the one in use, not of the one that is about to be.
    Path("leastwise.yaml").write_text(POLICY.replace("g.json", "old.json"), encoding="utf-8")
    assert run("check", "--data", "same.csv", "-g", "g.json", "--previous", "old.json").code == 1
    Path("leastwise.yaml").write_text(policy + "previous: [old.json]\n", encoding="utf-8")
    assert run("check", "--data", "same.csv").code == 1


def test_values_nobody_declared(folder: Path, run: Run) -> None:
    text = Path("same.csv").read_text(encoding="utf-8").replace(",a,", ",atlantis,")
    Path("strange.csv").write_text(text, encoding="utf-8")
    Path("leastwise.yaml").write_text(POLICY.replace("promise: promise.json\n", ""), encoding="utf-8")
    found = run("check", "--data", "strange.csv")
    assert found.code == 1
    assert "town: " in found.out
    assert "atlantis" not in found.out + found.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["other.yaml"], "leastwise init"),
        (["--promise", "g.json"], "must be 'leastwise-promise'"),
        (["-g", "none.json"], "none.json: No such file"),
        (["-o", "check.pdf"], "must end in .html, .md, .json"),
        (["-o", "no/check.md"], "is no folder"),
        (["--write-promise", "g.json"], "g.json: it exists already"),
        ([], "promise.json: No such file"),
    ],
)
def test_mistakes(folder: Path, run: Run, words: list[str], complaint: str) -> None:
    assert complaint in run("check", *words).complaint


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("label: works", "label: work", "they must agree"),
        ("data: sample.csv", "data: none.csv", "none.csv"),
        ("personal: [sex, town]", "personal: [sex]", "g.json marks sex, town; they must agree"),
        ("generalization: g.json\n", "", "name what was chosen"),
        ("data: sample.csv\n", "", "name the records"),
    ],
)
def test_policies_that_do_not_fit(folder: Path, run: Run, old: str, new: str, complaint: str) -> None:
    text = POLICY.replace("promise: promise.json\n", "").replace(old, new)
    Path("leastwise.yaml").write_text(text, encoding="utf-8")
    assert complaint in run("check").complaint


def test_all_problems_of_a_policy(folder: Path, run: Run) -> None:
    Path("leastwise.yaml").write_text(POLICY.replace("quick", "quikc").replace("0.25,", "7,"), encoding="utf-8")
    found = run("check")
    assert found.code == 2
    assert "2 problems" in found.err
    assert "did you mean 'quick'?" in found.err
