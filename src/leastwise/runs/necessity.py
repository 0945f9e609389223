"""Why each question is asked that a run recommends, and who pays: found once, and kept in its folder."""

from __future__ import annotations

from itertools import starmap

from leastwise.evaluation.groups import groups_of
from leastwise.evaluation.leaving_out import Mapped, necessity_of
from leastwise.progress import Progress, Silent
from leastwise.records.table import Split
from leastwise.runs.folder import GROUPS, NECESSITY, Run, write_figures


def explain(run: Run, split: Split, progress: Progress | None = None, mapped: Mapped = starmap) -> Run:
    """Find the necessity of what was chosen, and how it serves groups, unless that is known; return the run."""
    chosen, told = run.recommended, progress or Silent()
    if chosen is not None and run.necessity is None:
        told.begin("why each question", 1)  # all of it or nothing: it takes less than an attack
        found = necessity_of(chosen, split, run.task.seed, mapped=mapped)
        write_figures(run.folder, NECESSITY, found.to_json())
        told.advance()
    if chosen is not None and run.task.groups and run.groups is None:
        task = run.task
        groups = groups_of(chosen, split, task.groups, task.seed, quick=task.quick, progress=told)
        write_figures(run.folder, GROUPS, groups.to_json())
    return run
