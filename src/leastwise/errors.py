"""The exceptions and warnings of leastwise.

    LeastwiseError                  everything a user can mend; the CLI prints one line and exits 2
    ├── SchemaError                 a schema that does not hold together, or does not fit its data
    ├── ArtefactError               a generalization file that cannot be trusted
    ├── DataError                   a file or frame that cannot be read as records
    │   └── UnknownValueError       a value outside the declared domain of its attribute
    ├── ParameterError              an argument out of its range
    └── MissingExtraError           an optional dependency that is not installed

    PrivacyLeakWarning              something read from one person's data is about to be published

A message says what must hold, what was found and what to do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class LeastwiseError(ValueError):
    """Base of all errors that a user can mend."""


class _ProblemsError(LeastwiseError):
    """An error that lists every problem of a document at once."""

    def __init__(self, what: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(_listing(what, self.problems))


def _listing(what: str, problems: Sequence[str]) -> str:
    if not problems:
        return what
    if len(problems) == 1:
        return f"{what}: {problems[0]}"
    shown = [f"  - {problem}" for problem in problems[:MOST_LISTED]]
    more = [f"  and {len(problems) - MOST_LISTED:,} more"] if len(problems) > MOST_LISTED else []
    return "\n".join([f"{what}: {len(problems):,} problems", *shown, *more])


MOST_LISTED = 100


class SchemaError(_ProblemsError):
    """A schema that does not hold together, or does not fit its data."""


class ArtefactError(_ProblemsError):
    """A generalization that cannot be trusted: all its problems at once."""


class DataError(LeastwiseError):
    """A file or frame that cannot be read as records."""


class UnknownValueError(DataError):
    """A value outside the declared domain of its attribute."""

    def __init__(self, attribute: str, value: object, hint: str, row: int | None = None, where: str = "") -> None:
        self.attribute, self.value, self.hint, self.row = attribute, value, hint, row
        place = where or ("" if row is None else f" in record {row + 1}")
        what = "a missing value" if value is None else shorten(value)
        super().__init__(f"{attribute}: {what}{place} is not in the declared domain; {hint}")

    def at(self, where: str) -> UnknownValueError:
        """Return the same error with its place said in the reader's words (" in line 7 of people.csv")."""
        return UnknownValueError(self.attribute, self.value, self.hint, self.row, where)


class ParameterError(LeastwiseError):
    """An argument out of its range."""


class MissingExtraError(LeastwiseError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}; install it with: pip install 'leastwise[{extra}]'")


class PrivacyLeakWarning(UserWarning):
    """Something read from one person's data is about to be published."""


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line of whoever called leastwise, however deep in it, or behind scikit-learn, this is."""
    frame, level = sys._getframe(1), 3
    while frame.f_back is not None and _inside(frame.f_back.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def _inside(module: str) -> bool:
    return module.partition(".")[0] in ("leastwise", "sklearn")


def shorten(value: object, width: int = 60) -> str:
    """Show a value in a message without letting it fill the screen.

    >>> shorten("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    text = repr(value)
    return text if len(text) <= width + 2 else f"{text[:width]}…{text[-1]}"
