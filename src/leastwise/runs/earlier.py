"""What somebody chose in a finished run, when its command is given again: it stays, unless limits are others.

A run repeats its command to the same bytes. But who chose in its folder (``leastwise choose``) has seen more than
the command says, and must not lose that to a cron job. Limits that were not stated before are a new question: then
the run chooses by them. Either is said.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from leastwise.runs.budget import Budget
from leastwise.runs.choice import Choice
from leastwise.runs.folder import CHOICE, FRONTIER, check_same, read_choice, read_task
from leastwise.runs.nearest import options_of
from leastwise.runs.task import FRESH_FOR_ALL, RunTask


class Earlier(NamedTuple):
    """What somebody chose in the folder after the run, and whether it stays."""

    choice: Choice
    stays: bool

    def note(self, own: Choice, folder: Path) -> str:
        """Say what becomes of it; ``own`` is what the run itself chooses under its limits."""
        where, before = shlex.quote(str(folder)), self.choice.candidate
        if not self.stays:
            anew = "Chosen anew, because this command states other limits than the run had"
            if own.candidate is None:
                anew = "By the limits of this command, which are others than the run had, nothing is chosen"
            if own.candidate == before:
                return f"{anew}; what was chosen in its folder since is the same."
            since = f"what was chosen in its folder since, {before}, does not stay"
            return f"{anew}: {since}. To have it back: leastwise choose {where} --candidate {before}"
        stays = "This was chosen in the folder after the run, and stays. By its own limits the run chooses"
        if own.candidate in (None, before):
            return f"{stays} {'nothing' if own.candidate is None else 'the same'}."
        # Of limits that nothing keeps, whoever states them is given nothing.
        how = f"--candidate {own.candidate}" if own.only_nearest else " ".join(options_of(own.budget))
        how = f"leastwise choose {where} {how}"
        return f"{stays} {own.candidate}. To have that: {how}"


def earlier_choice(folder: Path, task: RunTask) -> Earlier | None:
    """Return what somebody chose in the folder of a finished run of this task; None where nobody but the run did.

    What does not stay is taken away before the new limits are written: who is killed between the two would leave
    it there as if it had been chosen under them.
    """
    if not (folder / FRONTIER).is_file() or not (folder / CHOICE).is_file():
        return None
    old = read_task(folder)
    check_same(old, task, folder)
    choice = read_choice(folder)
    # What was chosen under the very limits that the command states, as a policy of the run does, stays, too.
    stays = task.budget == old.budget or (choice.stated and choice.budget == task.budget)
    if not stays:
        (folder / CHOICE).unlink()
    return None if choice.candidate is None or _own(choice, old.budget) else Earlier(choice, stays)


def searched_otherwise(folder: Path, task: RunTask) -> tuple[str, ...]:
    """Say so, where the candidates of a finished run were searched for under other limits than these."""
    if not (folder / FRONTIER).is_file() or read_task(folder).budget == task.budget:
        return ()
    return (
        "Chosen among the candidates of this folder, which were searched for under other limits. Others may ask "
        f"less; to search for them, give the same command with {FRESH_FOR_ALL}.",
    )


def _own(choice: Choice, budget: Budget | None) -> bool:
    """Whether the run itself chose so, under its budget."""
    stated = budget is not None and budget.states_limits
    same = choice.budget == budget if stated else choice.budget.labels_by == (budget or Budget()).labels_by
    return not choice.picked and not choice.surely and choice.stated == stated and same
