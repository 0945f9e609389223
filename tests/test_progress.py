"""Progress: what begins, how far it has come, how fast it goes and how long it will take."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from leastwise import progress
from leastwise.progress import Bars, Lines, NotebookBars, watching


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


def test_what_the_first_step_compiles_is_not_in_the_estimate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    lines = Lines()
    lines.begin("attacking", 12)
    for seconds in (90, 5, 5):
        clock.now += seconds
        lines.advance()
    assert capsys.readouterr().err.splitlines() == [
        "attacking: 12",
        "attacking: 1 of 12",
        "attacking: 3 of 12, 0.20 a second, about 45 s left",
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


def test_a_notebook_gets_one_output_with_a_bar_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display", reason="notebooks are IPython's")
    clock, pages = Clock(), []

    class Handle:
        def update(self, page: Any) -> None:
            pages.append(page.data)

    def first(page: Any, display_id: bool) -> Handle:
        pages.append(page.data)
        return Handle()

    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(display, "display", first)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    with watching(Lines()) as bars:
        assert isinstance(bars, NotebookBars)
        bars.begin("proposing", 1000)
        for _ in range(1000):
            clock.now += 0.001
            bars.advance()
        bars.begin("looking <around>")
    assert len(pages) < 10  # what nobody could see is not drawn
    assert pages[-1] == (
        '<div><progress value="1000" max="1000"></progress> proposing: 1,000 of 1,000</div>'
        "<div><progress></progress> looking &lt;around&gt;: 0</div>"
    )
    bars.begin("screening", 2)
    assert pages[-1].endswith(
        '<div><progress value="1" max="1"></progress> looking &lt;around&gt;</div>'
        '<div><progress value="0" max="2"></progress> screening: 0 of 2</div>'
    ), "what has ended does not go on moving in a notebook that is kept"


def test_a_shell_without_a_kernel_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert not progress.in_notebook()
    shell.kernel = object()
    assert progress.in_notebook()
