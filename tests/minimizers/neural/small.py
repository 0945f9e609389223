"""Small tables on which the neural minimizers have something to find."""

from __future__ import annotations

import numpy as np

from leastwise import Attribute, Schema, Table

HELPS = Attribute("helps", values=("a", "b", "c", "d"))
SECRET = Attribute("secret", values=("p", "q", "r"), personal=True)
AGE = Attribute("age", "continuous", lower=0, upper=120, integer=True)
GRADE = Attribute("grade", "ordinal", values=("low", "mid", "high", "top"), missing=True)
LABEL = Attribute("y", values=("no", "yes"))


def people(rows: int = 1500, seed: int = 0) -> Table:
    """Return records whose label hangs on helps (c, d) and on age (above 50), but not on secret or grade."""
    random = np.random.default_rng(seed)
    helps, secret = random.integers(4, size=rows), random.integers(3, size=rows)
    age, grade = random.integers(18, 90, size=rows), random.integers(5, size=rows)
    score = 2.5 * (helps >= 2) + 2.5 * (age > 50) - 2.5 + random.logistic(size=rows)
    levels, age_codes = np.unique(age.astype(float), return_inverse=True)
    codes = np.column_stack([helps, secret, age_codes, grade]).astype(np.uint8)
    named = (np.array(HELPS.values, dtype=object), np.array(SECRET.values, dtype=object))
    return Table(
        Schema((HELPS, SECRET, AGE, GRADE), LABEL),
        np.asfortranarray(codes),
        (*named, levels, np.array(GRADE.values, dtype=object)),
        (score > 0).astype(np.uint8),
    )
