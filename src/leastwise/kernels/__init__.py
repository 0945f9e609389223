"""Compiled loops over codes: pure functions of arrays that know nothing of schemas or artefacts.

Nothing is imported here on purpose. A module of this package brings numba with it, so it is imported inside the
function that needs it, and ``import leastwise`` neither loads numba nor compiles. What is compiled is cached on
disk.
"""

from importlib import import_module


def is_compiled(module: str, name: str) -> bool:
    """Return whether an earlier process left a kernel on the disk, compiled from the source as it is."""
    kernel = getattr(import_module(f"leastwise.kernels.{module}"), name)
    # Numba itself says whether its index was made of this source: it looks at more than the time of a file.
    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return kept is not None and bool(kept._load_index())
