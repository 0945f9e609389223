"""Fixtures of the command line's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Run, runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(monkeypatch, capsys)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two hundred records whose label depends on age, and whose ids are unique."""
    rows = [
        f"{18 + 7 * i % 60},{'fmd'[i % 3]},p{i},{'?' if i % 10 == 0 else i % 4},{int(7 * i % 60 > 30)}"
        for i in range(200)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,sex,id,job,rich", *rows]), encoding="utf-8")
    return path
