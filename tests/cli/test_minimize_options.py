"""Every minimizer on the command line, with its own options."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from leastwise import Generalization, Table
from leastwise.cli.progress import training
from leastwise.minimizers import MINIMIZERS, watched
from leastwise.minimizers.neural.minimizers import watcher
from leastwise.partition import suppress
from tests.cli.running import Run
from tests.samples import Heard

SETTINGS = {
    "uniform": {"k": 2},
    "feature-selection": {"k": 1, "method": "chi2"},
    "iterative": {"threshold": 0.3, "k": 3},
    "apt": {"target_accuracy": 0.9, "retrain": True},
    "advtrain": {"lam": 0.1, "k": 3, "epochs": 2},
    "mutualinf": {"lam": 0.01, "k": 3, "epochs": 2},
    "pat": {"alpha": 0.5, "max_leaves": 4, "min_leaf": 10, "min_bucket": 5, "weights": "sex=2"},
    "optimal": {"lam": 0.5, "surrogate": "one_hot_logistic", "weights": "sex=2"},
    "coarsening": {"max_error_increase": 0.05, "mu": 2, "surrogate": "one_hot_logistic"},
}
NEURAL = ("advtrain", "mutualinf")


def minimizers_here() -> list[object]:
    """Return the names; the neural ones are skipped where PyTorch is not installed."""
    from importlib.util import find_spec

    missing = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")
    return [pytest.param(name, marks=missing if name in NEURAL else ()) for name in MINIMIZERS]


@pytest.mark.parametrize("name", minimizers_here())
def test_each_minimizer_takes_its_options_and_writes_its_artefact(
    run: Run, people: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "g.json"
    options = [word for each, value in SETTINGS[name].items() for word in ("--set", f"{each}={value}")]
    answer = run("minimize", people, "--label", "rich", "-p", "sex", "-m", name, *options, "-o", path)
    assert answer.code == 0, answer.err
    origin = Generalization.load(path).origin
    assert origin["minimizer"] == name
    assert {**origin, **SETTINGS[name], "weights": None} == {**origin, "weights": None}


@pytest.mark.parametrize(
    ("minimizer", "option", "loose", "strict"),
    [("iterative", "threshold", "1", "0"), ("apt", "target-accuracy", "0", "1")],
)
def test_a_looser_option_asks_less(
    run: Run, people: Path, minimizer: str, option: str, loose: str, strict: str
) -> None:
    found = {}
    for value in (loose, strict):
        answer = run(
            "minimize", people, "--label", "rich", "-m", minimizer, "--set", f"{option}={value}", "--json"
        )
        assert answer.code == 0, answer.err
        found[value] = Generalization.from_json(answer.out)
    assert found[loose].collected == ()
    assert "age" in found[strict].collected


def test_the_list_names_references_and_no_objects(run: Run) -> None:
    listed = {item["name"]: item for item in json.loads(run("minimizers", "--json").out)}
    assert "Goldsteen" in listed["apt"]["reference"]
    assert "model" not in {each["name"] for each in listed["apt"]["settings"]}


class Halved:
    """Another package's: suppresses all but the first so many.

    Parameters
    ----------
    kept
        How many attributes are asked as they are.
    """

    def __init__(self, kept: int = 1) -> None:
        self.kept = kept

    def minimize(self, table: Table) -> Generalization:
        untouched = Generalization.untouched(table.schema)
        rest = table.schema.names[self.kept :]
        return Generalization(
            tuple(suppress(p.attribute) if p.attribute.name in rest else p for p in untouched.partitions)
        )


def test_a_minimizer_of_another_package_is_listed_and_proposes(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leastwise.minimizers.plugins", lambda *_: {"halved": Halved})
    listed = {item["name"]: item for item in json.loads(run("minimizers", "--json").out)}
    assert listed["halved"]["does"] == "Another package's: suppresses all but the first so many."
    assert [(each["name"], each["default"], each["meaning"]) for each in listed["halved"]["settings"]] == [
        ("kept", 1, "How many attributes are asked as they are.")
    ]
    answer = run("minimize", people, "-l", "rich", "--missing", "?", "-m", "halved", "--set", "kept=2", "--json")
    assert Generalization.from_json(answer.out).collected == ("age", "sex")


def test_a_result_is_overwritten_only_when_that_is_said(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    words = ("minimize", people, "-l", "rich", "-m", "uniform", "-o", path)
    assert run(*words, "--set", "k=2").code == 0
    before = path.read_bytes()
    assert (
        "exists already; choose another name, or overwrite it with --force"
        in run(*words, "--set", "k=3").complaint
    )
    assert path.read_bytes() == before
    assert run(*words, "--set", "k=3", "--force").code == 0
    assert path.read_bytes() != before


def test_a_terminal_shows_how_far_a_training_has_come() -> None:
    screen = io.StringIO()
    heard = Heard()
    with watched(heard), training(Console(file=screen, force_terminal=True)):
        watcher().begin("epoch", 3)
        for _ in range(3):
            watcher().advance()
    assert "minimizing" in screen.getvalue()
    assert "epoch 3 of 3" in screen.getvalue()
    assert heard.words == []  # only the innermost is told


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_the_bar_is_on_the_terminal_and_the_result_in_the_pipe(people: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "leastwise", "minimize", str(people)]
    words = ["-l", "rich", "-m", "mutualinf", "--set", "epochs=3", "--json"]
    shown, answer = on_a_terminal([*command, *words], tmp_path / "out.json")
    assert "epoch 3 of 3" in shown
    assert Generalization.from_json(answer).origin["minimizer"] == "mutualinf"


def on_a_terminal(command: list[str], out: Path) -> tuple[str, str]:
    """Return what a command writes to a terminal as its standard error stream, and its output."""
    ours, theirs = os.openpty()
    with out.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=theirs) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode(), out.read_text(encoding="utf-8")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1024)
    except OSError:  # Linux says so when the other end is closed
        return b""
