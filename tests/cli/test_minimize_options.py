"""The options of iterative and apt on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise import Generalization
from tests.cli.running import Run


@pytest.mark.parametrize(
    ("minimizer", "option", "loose", "strict"),
    [("iterative", "--threshold", "1", "0"), ("apt", "--target-accuracy", "0", "1")],
)
def test_a_looser_option_asks_less(
    run: Run, people: Path, tmp_path: Path, minimizer: str, option: str, loose: str, strict: str
) -> None:
    found = {}
    for value in (loose, strict):
        words = ["minimize", people, "--label", "rich", "-m", minimizer, option, value]
        answer = run(*words, "-o", tmp_path / "g.json")
        assert answer.code == 0, answer.err
        found[value] = Generalization.load(tmp_path / "g.json")
    assert found[loose].collected == ()
    assert "age" in found[strict].collected
    assert found[loose].origin["minimizer"] == minimizer


def test_an_option_of_another_minimizer_is_refused(run: Run, people: Path) -> None:
    words = ["minimize", people, "--label", "rich", "-m", "uniform", "--threshold", "0.2"]
    assert "minimizer uniform takes --k, --seed; got --threshold" in run(*words).complaint


def test_the_list_names_references_and_no_objects(run: Run) -> None:
    listed = {item["name"]: item for item in json.loads(run("minimizers", "--json").out)}
    assert "Goldsteen" in listed["apt"]["reference"]
    assert "--target-accuracy (0.95)" in listed["apt"]["options"]
    assert "model" not in listed["apt"]["options"]
    assert "--threshold" in listed["iterative"]["options"]
