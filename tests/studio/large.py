"""A hundred and fifty questions, some with hostile names, one with five thousand values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leastwise import Attribute, Schema
from leastwise.random import generator
from leastwise.runs import Run
from leastwise.studio import Ground
from tests.report.hand_made import write_run
from tests.samples import coded

TOWN = Attribute("town", values=tuple(f"town {i}" for i in range(5_000)), personal=True)
HOSTILE = ("<img src=x onerror=alert(1)>", "\"quoted\" & 'so'", "a b\tc", "\u202ereversed", "__proto__", "=1+1")
NAMES = (*HOSTILE, *(f"question {i}" for i in range(143)))
SCHEMA = Schema(
    (TOWN, *(Attribute(name, values=("</script>", "no")) for name in NAMES)),
    Attribute("rich", values=("no", "yes")),
)


def ground(folder: Path) -> Ground:
    """Return the records and a run of their attributes, made by hand."""
    random, count = generator(0, "large records"), 2_000
    columns = [random.integers(5_000, size=count), *(random.integers(2, size=count) for _ in NAMES)]
    labels = (columns[1] ^ (random.random(count) < 0.2)).astype(np.intp)
    run = Run.load(folder) if folder.is_dir() else write_run(folder, SCHEMA)
    return Ground(folder, coded(SCHEMA, *columns, labels=labels), "large.csv", 0, True, run)
