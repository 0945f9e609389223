"""Progress: what begins, how far it has come, how fast it goes and how long it will take."""

from __future__ import annotations

import pytest

from leastwise import progress
from leastwise.progress import Bars, Lines, watching


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_lines_tell_rate_and_remaining_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    lines = Lines()
    lines.begin("screening", 100, 20)
    for _ in range(10):
        clock.now += 2
        lines.advance()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "screening: 100, 20 of them done before",
        "screening: 25 of 100, 0.50 a second, about 2 min left",
        "screening: 30 of 100, 0.50 a second, about 2 min left",
    ]


def test_where_there_is_no_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(Lines()) as watcher:
        assert isinstance(watcher, Lines)
        watcher.begin("proposing", 1, 0)
        watcher.advance()
    assert capsys.readouterr().err == "proposing: 1\n"


def test_bars_end_full(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        bars.begin("proposing", 2, 1)
        bars.advance()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "proposing" in shown.err
    assert "2/2" in shown.err
