"""Randomness that is derived by name, so that adding one consumer never shifts another's numbers."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return the generator that belongs to these names under this seed.

    >>> float(generator(0, "split").random()) == float(generator(0, "split").random())
    True
    >>> float(generator(0, "split").random()) == float(generator(0, "A7").random())
    False
    """
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    key = np.frombuffer(digest[:16], dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(int(word) for word in key)))
