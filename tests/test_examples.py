"""The numbered examples run as they are, and what they print is what they promise."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from tests.scripts import printed

EXAMPLES = Path(__file__).parent.parent / "examples"
MAJORITY = 0.24  # the classifier's error on Adult with nothing asked
GUESSING = 0.447  # the mean error of guessing each personal attribute of Adult


def run(name: str, *arguments: object, data: str | None = None) -> str:
    return printed(EXAMPLES / name, *arguments, LEASTWISE_DATA=data)


def numbers_after(words: str, text: str) -> list[float]:
    """Return the numbers that stand in the rest of the line behind these words."""
    (line,) = re.findall(f"{re.escape(words)}(.*)", text)
    return [float(number) for number in re.findall(r"\d\.\d+", line)]


def test_getting_started() -> None:
    printed = run("01_getting_started.py")
    assert "of 12 attributes" in printed
    cost, everything = numbers_after("The classifier errs", printed)
    assert everything < cost < MAJORITY
    protected, guessing = numbers_after("A thief errs", printed)
    assert 0.3 < protected < guessing == GUESSING
    bound, guessed = numbers_after(
        "With 95 % confidence nobody who sees only these generalized records and their labels can", printed
    )
    assert guessed <= bound < 1
    assert printed.count("not asked") == 6
    assert "shape: (5, 7)" in printed  # the generalized records have what is asked, and the label


@pytest.mark.slow
def test_frontier(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    printed = run("02_frontier.py", str(tmp_path / "frontier.svg"))
    points: dict[str, list[tuple[float, float]]] = {}
    for name, error, safety in re.findall(r"^(.+?) +\d+ buckets  (\S+)  (\S+)$", printed, re.MULTILINE):
        points.setdefault(name, []).append((float(error), float(safety)))
    ((worst, safest),), ((best, open_book),) = points["ask nothing"], points["ask everything"]
    assert (open_book, safest) == (0, GUESSING)
    candidates = points["PAT"] + points["uniform"]
    assert all(best < error <= worst and open_book < safety <= safest for error, safety in candidates)
    for error, safety in points["uniform"]:
        assert any(e < error and s > safety for e, s in points["PAT"])
    picture = (tmp_path / "frontier.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in picture for name in points)


@pytest.mark.slow
@pytest.mark.parametrize("real", [False, True], ids=["adult", "acs"])
def test_qualitative_study(real: bool) -> None:
    if real and "LEASTWISE_DATA" not in os.environ:
        pytest.skip("LEASTWISE_DATA does not name the real files")
    printed = run("03_pat_qualitative_study.py", data=os.environ["LEASTWISE_DATA"] if real else None)
    rows = re.findall(r"^    (\S+) +(\d+) -> +(\d+)  \(", printed, re.MULTILINE)
    values, buckets = (sum(int(row[i]) for row in rows) for i in (1, 2))
    assert f"{values} attribute values become {buckets} buckets." in printed
    assert 20 < buckets < values / 4
    left_out = [name for name, _, kept in rows if kept == "1"]
    assert f"Not asked at all: {len(left_out)} of {len(rows)} attributes:\n    {', '.join(left_out)}\n" in printed
    everything, coarse = numbers_after("classifier error", printed)
    assert everything < coarse < everything + 0.06
    error, guessing = numbers_after("adversary error   0 ->", printed)
    assert 0 < error < guessing
    assert "The tree\n" in printed
    assert "Where the buckets come from\n" in printed


def test_exports(tmp_path: Path) -> None:
    printed = run("04_exports.py", tmp_path)
    assert "[('0 to 24', 'at a company or for myself'), ('25 to 63', 'I do not work')]" in printed
    assert "Refused: " in printed
    assert "'enum': ['0 to 24', '25 to 63', '64 to 120']" in printed
    form, questions, script = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("form.html", "questions.md", "generalize.js")
    )
    assert "How old are you?" in form
    assert "How old are you?" in questions
    assert "export " in script
    assert not re.search(r'(?:src|href)="?https?:', form)  # it works offline
    assert "age: a value is not in the declared domain" in printed.splitlines()[-1]
    assert {path.name for path in tmp_path.iterdir()} == {"form.html", "generalize.js", "questions.md"}


@pytest.mark.slow
def test_policy_and_check() -> None:
    printed = run("05_policy_and_check.py")
    assert "7,200 people promise" in printed
    fine, broken = printed.split("40 or older: broken")
    assert "the same people: fine" in fine
    assert "  - " not in fine
    assert "  - age: 0 to 32 is now the answer of 0.0\xa0% of the people" in broken


@pytest.mark.slow
def test_re_release() -> None:
    nested, crossed = run("06_re_release.py").split("Another one")
    assert "adopting it adds nothing" in nested
    assert "The budget is kept." in nested
    assert "are not nested" in crossed
    assert "A6 is wrong on average" in crossed
    alone, both = numbers_after("A thief errs", crossed)
    assert both < 0.3 < alone  # the old records make the difference


def test_your_own_minimizer() -> None:
    assert lines_of_class("07_your_own_minimizer.py") <= 30
    printed = run("07_your_own_minimizer.py")
    assert "Ask 3 of 12 attributes, 6 answers in all." in printed
    assert "transform gives 12 columns" in printed
    cost, protected = numbers_after("The classifier errs", printed)
    assert 0.12 < cost < MAJORITY
    assert 0 < protected < GUESSING


def test_your_own_adversary() -> None:
    assert lines_of_class("08_your_own_adversary.py") <= 30
    printed = run("08_your_own_adversary.py")
    ours, theirs = (float(text.split()[0]) for text in printed.split("wrong ")[1:])
    assert GUESSING > ours > theirs > 0.3  # A1 chooses the strongest of several predictors


@pytest.mark.parametrize("people", [600, pytest.param(1500, marks=pytest.mark.slow, id="as it is")])
def test_in_a_notebook(people: int, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="a notebook is run by nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat", reason="a notebook is read by nbformat")
    notebook = nbformat.read(EXAMPLES / "09_in_a_notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "strip the outputs"
    assert code[0].source.count(".sample(1500,") == 1
    code[0].source = code[0].source.replace(".sample(1500,", f".sample({people},")
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    shown = [output.get("data", {}) for output in outputs]
    assert sum("image/png" in each for each in shown) == 3
    pages = [each["text/html"] for each in shown if "text/html" in each]
    # One for each stage, full at the end; what is compiled once has no number, and a form that loses nothing is
    # looked for only where others lose too much.
    bars = [bar for bar in pages[0].split("<div>")[1:] if "compiling" not in bar and "losing nothing" not in bar]
    assert len(bars) == 13
    assert all(re.search(r"(\d+) of \1</div>", bar) for bar in bars)
    assert sum("leastwise-html" in page for page in pages) == 5
    said = "".join(output.get("text", "") for output in outputs)
    assert re.match(r"Ask \d+ of 12 questions, with \d+ answers in all: .+\.\n(The|.+: the) model errs", said)
    assert not list(tmp_path.iterdir())


def lines_of_class(name: str) -> int:
    """Count what has to be written: the lines of the class that are not empty."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    (found,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    return sum(bool(line.strip()) for line in text.splitlines()[found.lineno - 1 : found.end_lineno])
