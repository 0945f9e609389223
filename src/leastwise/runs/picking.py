"""Choosing in a finished run: by another budget, or a person's own pick, with a sentence that says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from leastwise.errors import ParameterError, shorten
from leastwise.runs import folder as places
from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import Candidate
from leastwise.runs.choice import Choice, choose, figures_in_words, guesses, verdicts_of
from leastwise.runs.folder import Run, write_choice
from leastwise.runs.journal import locked
from leastwise.validation import did_you_mean


def choose_again(folder: str | Path, budget: Budget) -> Run:
    """Choose anew in a finished run, and write the choice; where nothing fits, the earlier one stays."""
    places.check_run(Path(folder))
    with locked(Path(folder)):
        found = Run.load(folder)
        budget.check(*guesses(found.frontier), found.schema.names)
        choice = choose(found.frontier, budget, found.candidates)
        if choice.candidate is not None:  # otherwise what was chosen before stays
            found.generalization(choice.candidate)  # complains, before anything is written, if it was not judged
            write_choice(found.folder, choice)
    return replace(found, choice=choice)


def pick(folder: str | Path, name: str) -> Run:
    """Make a candidate the choice of a finished run, whether it keeps the limits or not.

    Parameters
    ----------
    folder
        Of the run.
    name
        The id of a candidate that was attacked in full.
    """
    places.check_run(Path(folder))
    with locked(Path(folder)):
        found = Run.load(folder)
        choice = _picked(found, attacked(found, name))
        found.generalization(name)  # complains, before anything is written, if it was changed
        write_choice(found.folder, choice)
    return replace(found, choice=choice)


def attacked(run: Run, name: str) -> Candidate:
    """Return a candidate that was attacked in full; complain about one that was not."""
    known = {point.id: point for point in run.frontier.points}
    if name in known:
        return known[name]
    if name in {candidate.id for candidate in run.candidates}:
        raise ParameterError(f"candidate {name} was screened only; pick one that was attacked: {', '.join(known)}")
    raise ParameterError(f"there is no candidate {shorten(name)} in {run.folder}; {did_you_mean(name, known)}")


def _picked(run: Run, point: Candidate) -> Choice:
    front, budget, size = run.frontier, run.choice.budget, Size(point.asked, point.answers)
    broken = budget.problems(point.validation, front.untouched_validation.utility_risk, size)
    kept = f"It keeps: {budget.words()}." if not broken else f"It does not keep the limits: {'; '.join(broken)}."
    return replace(
        run.choice,
        candidate=point.id,
        sentence=(
            f"A person picked this one of {len(front.points)} attacked candidates. On the validation part "
            f"{figures_in_words(point)}. {kept}"
        ),
        fits=not broken,
        binding=(),
        nearest=None,
        verdicts=verdicts_of(point, budget, front),
    )
