"""Who is told how far a training has come.

Minimizers follow scikit-learn's contract, so a progress bar is no parameter of theirs: whoever wants to show one
listens while it lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]
"""Is called with (epochs done, epochs in all)."""

_LISTENER: ContextVar[Listener | None] = ContextVar("leastwise_training_listener", default=None)


@contextmanager
def watched(listener: Listener) -> Iterator[None]:
    """Tell the listener after every epoch of every training inside this block.

    Examples
    --------
    >>> with watched(lambda done, total: print(f"{done} of {total}")):
    ...     tell(1, 20)
    1 of 20
    >>> tell(2, 20)
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(done: int, total: int) -> None:
    """Tell the listener of this context, if there is one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, total)
