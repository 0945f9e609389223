"""Decide: put a generalization, its figures, the people and their reasons together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from leastwise.decisions.decision import (
    MONTHS,
    Broken,
    Comment,
    Decision,
    Fingerprints,
    Roles,
    digest,
    not_known,
    policy_digest,
    report_digest,
)
from leastwise.documents import Problems, read_json, read_text
from leastwise.errors import ArtefactError, ParameterError
from leastwise.evaluation import Evaluation
from leastwise.generalization import Generalization
from leastwise.runs import Figures, Run, Size
from leastwise.runs.folder import attacked
from leastwise.runs.verdicts import verdicts

REPORT = "report.json"


def decide(
    run: Run,
    candidate: str | None = None,
    *,
    by: str | Roles,
    because: str,
    draft: tuple[Generalization, Evaluation] | None = None,
    rationale: Mapping[str, str] | None = None,
    comments: Sequence[Comment] = (),
    drawn: Sequence[str] = (),
    broken: Mapping[str, str] | str = "",
    policy: Mapping[str, str] | None = None,
    months: int = MONTHS,
    today: str = "",
) -> Decision:
    """Return a decision for a candidate of a run, or for a draft that was made by hand.

    Parameters
    ----------
    candidate
        The id of one that was attacked in full; by default the one that the run recommends.
    by
        The author, or all roles.
    because
        Why this one.
    draft
        Instead of a candidate, a generalization of the same attributes and its evaluation (A1 and A8 at least) on
        the records of the run.
    rationale, comments
        Why each question is asked or not, and what was said to it.
    drawn
        How a draft came about, step by step.
    broken
        Why a limit of the run's budget is not kept: by limit, in the words of ``limits_broken``, or one reason for
        all. A decision that breaks a limit without a reason is refused.
    policy
        What the policy says, key by key (``Policy.said``).
    months
        After how many it must be looked at again.
    today
        The day, as 2026-11-17; by default the moment of the clock, in UTC.
    """
    generalization, evaluation = draft or _of_candidate(run, candidate)
    _check_fits(run, generalization, evaluation)
    missed = limits_broken(run, generalization, evaluation)
    said = dict(policy or {})
    facts = read_facts(run.folder / REPORT) if (run.folder / REPORT).is_file() else None
    open_then = () if facts is None else not_known(facts)
    return Decision(
        candidate=None if draft else generalization.fingerprint[:12],
        generalization=generalization,
        figures=Figures.of(evaluation),
        everything=run.frontier.untouched,
        roles=Roles(author=by) if isinstance(by, str) else by,
        because=because,
        rationale=dict(rationale or {}),
        comments=tuple(comments),
        drawn=tuple(drawn),
        broken=_answered(missed, broken),
        policy=said,
        fingerprints=Fingerprints(
            data=run.task.fingerprint,
            artefact=digest(generalization.to_json()),
            evaluation=digest(evaluation.to_json()),
            policy=policy_digest(said),
            report="" if facts is None else report_digest(facts, open_then),
            not_known=open_then,
        ),
        date=today or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        months=months,
    )


def limits_broken(run: Run, generalization: Generalization, evaluation: Evaluation) -> list[str]:
    """Say which limits of the run's budget a generalization does not keep on the test part."""
    known = {point.fingerprint: point for point in run.frontier.points}
    same = known.get(generalization.fingerprint)
    asked = len(generalization.collected)
    answers = generalization.total_buckets - len(generalization.not_collected) if same is None else same.answers
    budget, figures, everything = run.choice.budget, Figures.of(evaluation), run.frontier.untouched.utility_risk
    held = verdicts(budget, figures, everything, Size(asked, answers))
    broken = [verdict.words for verdict in held if verdict.missed]
    if budget.bounds_groups and figures.groups is None:  # a draft: nobody has judged it group by group
        broken.append("how it serves declared groups was not judged, and that is limited")
    return broken


def _of_candidate(run: Run, name: str | None) -> tuple[Generalization, Evaluation]:
    chosen = name or run.choice.candidate
    if chosen is None:
        nearest = run.choice.nearest or "ID"
        raise ParameterError(
            f"no candidate of {run.folder} keeps its limits, and none was chosen; name the one to decide for, and "
            f"say why although it does not keep them: --candidate {nearest} --although TEXT"
        )
    point = attacked(run, chosen)
    return run.generalization(point.id), run.evaluation(point.id)


def _check_fits(run: Run, generalization: Generalization, evaluation: Evaluation) -> None:
    if evaluation.fingerprint != generalization.fingerprint:
        raise ParameterError("the evaluation must be of the generalization that is decided for; judge it again")
    if set(generalization.schema.names) != set(run.schema.names):
        raise ParameterError(f"a draft must be of the attributes of the run: {', '.join(run.schema.names)}")
    missing = {"A1", "A8"} - {attack.adversary for attack in evaluation.attacks}
    if evaluation.utility is None or missing:
        raise ParameterError("the evaluation must hold the model's error, A1 and A8; judge it with: evaluate")


def _answered(missed: Sequence[str], reasons: Mapping[str, str] | str) -> tuple[Broken, ...]:
    given = dict.fromkeys(missed, reasons) if isinstance(reasons, str) else reasons
    silent = [limit for limit in missed if not given.get(limit, "").strip()]
    if silent:
        raise ParameterError(
            f"what breaks a limit needs a written reason (--although): {'; '.join(silent)}; say why it is decided "
            "nevertheless, or choose another candidate"
        )
    return tuple(Broken(limit=limit, because=given[limit]) for limit in missed)


def read_facts(path: object) -> dict[str, object]:
    """Read the facts of a report from its JSON."""
    problems = Problems()
    facts = read_json(read_text(str(path)), problems)
    if problems.texts or not isinstance(facts, dict):
        raise ArtefactError(f"{path}: not the facts of a report", problems.texts)
    return facts
