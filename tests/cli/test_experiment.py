"""``leastwise experiment``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Run

pytest.importorskip("matplotlib", reason="pictures need matplotlib")


def test_without_a_name_they_are_listed(run: Run) -> None:
    answer = run("experiment")
    assert answer.code == 0
    for name in ("tradeoff", "multi-breach", "drift", "architectures"):
        assert name in answer.out


def test_files_are_written(run: Run, tmp_path: Path) -> None:
    answer = run("experiment", "singling-out", "--quick", "--records", "2000", "-o", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".svg", ".html"}


def test_mistakes_are_one_line(run: Run, tmp_path: Path) -> None:
    assert "tradeoff" in run("experiment", "tradeof").complaint
    assert "--schema" in run("experiment", "seeds", "--data", tmp_path / "people.csv").complaint
    both = run("experiment", "seeds", "--dataset", "adult", "--schema", tmp_path / "s.yaml")
    assert "give one of them" in both.complaint


@pytest.mark.parametrize("dataset", ["acs-income", "loan", "health", "crime"])
def test_a_file_of_another_kind_is_one_line_without_its_bytes(run: Run, tmp_path: Path, dataset: str) -> None:
    path = tmp_path / "people.bin"
    path.write_bytes(b"PAR1" + bytes(range(256)) * 9)
    said = run("experiment", "seeds", "--data", path, "--dataset", dataset).complaint
    assert said.startswith("people.bin ")
    assert said.rstrip("\n").isprintable()
