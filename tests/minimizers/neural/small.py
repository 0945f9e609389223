"""Small tables on which the neural minimizers have something to find."""

from __future__ import annotations

import numpy as np

from leastwise import Attribute, Schema, Table
from tests.samples import coded

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
    schema = Schema((HELPS, SECRET, AGE, GRADE), LABEL)
    return coded(schema, helps, secret, age, grade, labels=score > 0).with_own_levels()
