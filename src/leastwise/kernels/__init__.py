"""Compiled loops over codes: pure functions of arrays that know nothing of schemas or artefacts.

Nothing is imported here on purpose. A module of this package brings numba with it, so it is imported inside the
function that needs it, and ``import leastwise`` neither loads numba nor compiles. What is compiled is cached on
disk.
"""

from importlib import import_module
from pathlib import Path


def is_compiled(module: str, name: str) -> bool:
    """Return whether an earlier process left a kernel on the disk, compiled from the source as it is."""
    kernel = getattr(import_module(f"leastwise.kernels.{module}"), name)
    source, line = Path(kernel.py_func.__code__.co_filename), kernel.py_func.__code__.co_firstlineno
    kept = Path(kernel.stats.cache_path).glob(f"{module}.{name}-{line}.*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in kept)
