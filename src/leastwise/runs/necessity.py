"""Why each question is asked that a run recommends: found once, and kept in its folder."""

from __future__ import annotations

from leastwise.evaluation.necessity import necessity_of
from leastwise.progress import Progress, Silent
from leastwise.records.table import Split
from leastwise.runs.folder import NECESSITY, Run


def explain(run: Run, split: Split, progress: Progress | None = None) -> Run:
    """Find the necessity of what was chosen, unless it is known; return the run."""
    chosen, told = run.recommended, progress or Silent()
    if chosen is not None and run.necessity is None:
        told.begin("why each question", 1)  # all of it or nothing: it takes less than an attack
        necessity_of(chosen, split, run.task.seed).save(run.folder / NECESSITY)
        told.advance()
    return run
