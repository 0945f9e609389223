"""What other packages bring: minimizers and adversaries that announce themselves by entry points.

A package declares, in its ``pyproject.toml``::

    [project.entry-points."leastwise.minimizers"]
    mine = "my_package:MyMinimizer"

and leastwise knows the minimizer ``mine`` wherever a name is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

MINIMIZERS, ADVERSARIES = "leastwise.minimizers", "leastwise.adversaries"


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
            warnings.warn(f"{package} announces {point.name!r} in {group}, but {problem}", stacklevel=2)
        else:
            loaded[point.name] = found
    return loaded


def _loaded(point: EntryPoint, method: str, taken: Collection[str]) -> tuple[str, Any]:
    if point.name in taken:
        return "leastwise has one of that name itself; rename it", None
    try:
        found = point.load()
    except Exception as error:
        return f"it cannot be loaded: {type(error).__name__}: {error}; mend or uninstall it", None
    if not isinstance(found, type) or not callable(getattr(found, method, None)):
        return f"it is no class with a method {method!r}", None
    return "", found
