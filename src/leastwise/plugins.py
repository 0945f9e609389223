"""What other packages bring: minimizers and adversaries that announce themselves by entry points.

A package declares, in its ``pyproject.toml``::

    [project.entry-points."leastwise.minimizers"]
    mine = "my_package:MyMinimizer"

and leastwise knows the minimizer ``mine`` wherever a name is taken.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from leastwise.errors import warn

MINIMIZERS, ADVERSARIES = "leastwise.minimizers", "leastwise.adversaries"
LONGEST_NAME = 40
GUEST_NAMES = f"letters, digits, - and _, {LONGEST_NAME} of them at most, and not be A with a number"


def is_guest(name: object) -> bool:
    """Return whether this can be the name of something that did not come with leastwise.

    It is short, and safe in files, tables and pages. "A" with a number is for adversaries of leastwise itself.

    >>> is_guest("my-thief"), is_guest("A9"), is_guest("<b>")
    (True, False, False)
    """
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not name.replace("-", "_").isidentifier():
        return False
    return not (name.startswith("A") and name[1:].isdigit())


@cache
def plugins(group: str, method: str, taken: tuple[str, ...]) -> dict[str, Any]:
    """Return what other packages announce in a group, by name.

    One that cannot be loaded, or is not what it should be, is left out with a warning that names its package: what
    is broken there must not stop everything here.

    Parameters
    ----------
    method
        What each must be able to do.
    taken
        The names that leastwise itself uses.
    """
    loaded = {}
    for point in entry_points(group=group):
        problem, found = _loaded(point, method, taken)
        if problem:
            package = point.dist.name if point.dist else point.value
            warn(f"{package} announces {point.name!r} in {group}, but {problem}")
        else:
            loaded[point.name] = found
    return loaded


def _loaded(point: EntryPoint, method: str, taken: Collection[str]) -> tuple[str, Any]:
    if point.name in taken:
        return "leastwise has one of that name itself; rename it", None
    if not is_guest(point.name):
        return f"a name must have {GUEST_NAMES}; rename it", None
    try:
        found = point.load()
    except Exception as error:
        return f"it cannot be loaded: {type(error).__name__}: {error}; mend or uninstall it", None
    if not isinstance(found, type) or not callable(getattr(found, method, None)):
        return f"it is no class with a method {method!r}", None
    return "", found
