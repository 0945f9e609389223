"""The less intrusive ways to the same end that a run found, and why each was not chosen."""

from __future__ import annotations

from leastwise.documents.wording import counted, percent
from leastwise.report.dpia.assessment import TO_WRITE, Grid, Part, Statement
from leastwise.report.dpia.subject import Subject
from leastwise.runs import Candidate, Figures, Size
from leastwise.runs.budget import Limit
from leastwise.runs.showing import on_test
from leastwise.runs.verdicts import KEPT, NOISE, verdicts


def alternatives(about: Subject) -> Part:
    """Tell what is less intrusive on the frontier, and why it was not chosen."""
    front, chosen = about.run.frontier, about.generalization.fingerprint
    others = [p for p in on_test(front) if p.fingerprint != chosen and _less_intrusive(p, about)]
    rows = tuple(
        (p.id, str(p.asked), f"{p.answers:,}", percent(p.test.utility_risk, 1), percent(p.test.adversary_error, 1),
         _why_not(p, about))
        for p in others
    )  # fmt: skip
    if about.generalization.collected:  # else that is what was chosen
        rows += (("nothing asked", "0", "0", percent(front.suppressed.utility_risk, 1),
                  percent(front.suppressed.adversary_error, 1), _why_nothing(about)),)  # fmt: skip
    columns = ("alternative", "questions", "answers", "model wrong", "attacker wrong", "why it was not chosen")
    attacked = counted(len(front.points), "candidate was", "candidates were")
    in_full = "" if about.run.task.quick else " in full"
    return Part(
        place="alternatives",
        title="Less intrusive ways to the same end, and why they were not chosen",
        statements=(
            Statement(
                f"{front.screened:,} ways of asking were compared, and {attacked} attacked{in_full}. "
                f"{'These ask' if rows else 'None asks'} less, or {'tell' if rows else 'tells'} an attacker less, "
                "than what was chosen.",
                about.source("trade-off"),
            ),
            # Whoever misses a limit cannot refuse others for missing it, unless they miss it by more.
            *(
                Statement(f"What was chosen is itself beyond a limit: {verdict.words}.", about.source("answer"))
                for verdict in verdicts(about.run.choice.budget, *_figures_and_size(about))
                if verdict.missed
            ),
        ),
        grid=Grid(columns, rows, about.source("trade-off")) if rows else None,
    )


def _less_intrusive(point: Candidate, about: Subject) -> bool:
    own = about.generalization
    answers = own.total_buckets - len(own.not_collected)
    error = about.evaluation["A1"].adversary_error
    return point.test.adversary_error > error or point.asked < len(own.collected) or point.answers < answers


def _why_not(point: Candidate, about: Subject) -> str:
    size = Size(point.asked, point.answers)
    reason = _beyond(point.test, size, about)
    if reason:
        return reason
    kept = "It goes no further beyond the limits" if _missed(about) else _keeps(point.test, size, about)
    if about.decision is not None:
        return f"{kept}. Decided otherwise: {about.decision.because.rstrip('.')}."
    return f"{kept} on test; the validation part, which chose, preferred the other."


def _keeps(figures: Figures, size: Size, about: Subject) -> str:
    """Say that an alternative is within the limits, no surer than the verdicts are."""
    run = about.run
    held = verdicts(run.choice.budget, figures, run.frontier.untouched.utility_risk, size)
    sure = all(verdict.standing == KEPT for verdict in held)
    return "It keeps the limits" if sure else "It probably keeps the limits"


def _beyond(figures: Figures, size: Size, about: Subject) -> str:
    """Say which limits an alternative goes further beyond than what was chosen; nothing where it does not."""
    chosen = {limit.name: limit.beyond for limit in _missed(about)}
    held = about.run.choice.budget.limits(figures, about.run.frontier.untouched.utility_risk, size)
    worse = [limit for limit in held if limit.beyond > chosen.get(limit.name, 0)]
    by_noise = verdicts(about.run.choice.budget, figures, about.run.frontier.untouched.utility_risk, size)
    noise = {verdict.limit for verdict in by_noise if verdict.only_noise}
    said = "; ".join(limit.text + f", {NOISE}" * (limit.name in noise) for limit in worse)
    further = "goes further beyond" if any(limit.name in chosen for limit in worse) else "does not keep"
    return f"It {further} the limits: {said}." if said else ""


def _missed(about: Subject) -> list[Limit]:
    """Return the limits that what was chosen does not keep itself."""
    held = about.run.choice.budget.limits(*_figures_and_size(about))
    return [limit for limit in held if limit.beyond > 0]


def _figures_and_size(about: Subject) -> tuple[Figures, float, Size]:
    """Return what the limits are held against: its figures, the error with everything asked, its size."""
    own = about.generalization
    size = Size(len(own.collected), own.total_buckets - len(own.not_collected))
    return Figures.of(about.evaluation), about.run.frontier.untouched.utility_risk, size


def _why_nothing(about: Subject) -> str:
    return _beyond(about.run.frontier.suppressed, Size(0, 0), about) or (
        f"{_keeps(about.run.frontier.suppressed, Size(0, 0), about)}. {TO_WRITE}"
    )
