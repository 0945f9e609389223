"""Ctrl-C is heard wherever it falls."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from leastwise.cli.progress import stoppable
from leastwise.progress import Silent


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Hear Ctrl-C, whatever was inherited: who is started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_in_a_callback() -> None:
    """Interrupt this program where what is raised is swallowed, as in a compiler's callback."""
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()


def test_an_interrupt_that_was_swallowed_ends_the_next_step(capfd: pytest.CaptureFixture[str]) -> None:
    with stoppable(Silent()) as heard:
        heard.begin("working", 2)
        interrupted_in_a_callback()
        with pytest.raises(KeyboardInterrupt):
            heard.advance()
    assert "KeyboardInterrupt" not in capfd.readouterr().err


def test_what_breaks_by_an_interrupt_is_the_interrupt() -> None:
    def broken() -> None:
        with stoppable(Silent()):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise SystemError("returned a result with an exception set") from None

    with pytest.raises(KeyboardInterrupt):
        broken()
    with pytest.raises(SystemError), stoppable(Silent()):
        raise SystemError("by itself")


def test_other_mistakes_in_a_callback_are_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda swallowed: told.append(swallowed.exc_type))
    with stoppable(Silent()):
        ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()
    assert told == [ZeroDivisionError]


def test_the_handlers_are_as_before_afterwards() -> None:
    hook = sys.unraisablehook
    with stoppable(Silent()):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sys.unraisablehook is hook


def test_a_program_that_ignores_interrupts_goes_on_ignoring_them() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable(Silent()) as heard:
            signal.raise_signal(signal.SIGINT)
            heard.advance()
    finally:
        signal.signal(signal.SIGINT, before)
