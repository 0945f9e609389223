"""A budget held against new data: broken only where noise cannot explain it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.checks.comparisons import Comparison
from leastwise.checks.promise import Share, share_of_what
from leastwise.confidence import binomial_interval
from leastwise.documents.wording import counted
from leastwise.errors import ParameterError
from leastwise.evaluation.declared_groups import FEWEST
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import Gap, Groups
from leastwise.evaluation.noise import (
    chance_above,
    chance_below,
    chance_of_gap,
    chance_of_increase,
    chance_of_number,
    people_behind,
)
from leastwise.evaluation.risk import deciding
from leastwise.generalization import Generalization
from leastwise.predictors.held_out import Difference
from leastwise.runs.budget import MEAN, WORST, Budget, increase_in_words
from leastwise.validation import did_you_mean

ABOUT = "Budget"
TOGETHER = "Both together"


def size_comparisons(generalization: Generalization, budget: Budget) -> list[Comparison]:
    """Hold the limits that need no data: how much is asked."""
    answers = generalization.total_buckets - len(generalization.not_collected)
    counts = {
        "answers in all": (answers, budget.max_buckets),
        "questions": (len(generalization.collected), budget.max_asked),
    }
    return [
        Comparison(
            about=ABOUT,
            agreed=True,
            name=name,
            now=count,
            limit=most,
            chance=0.0 if count > most else 1.0,
            matters=count > most,
            reason=f"there are {count:,} {name}, allowed are {most:,}",
        )
        for name, (count, most) in counts.items()
        if most is not None
    ]


def utility_comparisons(evaluation: Evaluation, budget: Budget) -> list[Comparison]:
    """Hold the limits of the classifier's error."""
    if not budget.bounds_utility:
        return []
    if evaluation.utility is None or evaluation.everything is None:
        raise ParameterError(
            "the budget limits the model's error, and the records have no label; give records that do"
        )
    risk, most = evaluation.utility, budget.max_error_increase
    by_label = bool(risk.labels) and budget.labels_by == WORST  # every label must keep the limits
    errors = {e.label: Share(error=e.error, people=risk.people) for e in risk.labels} if by_label else {}
    increases = {e.label: e.increase for e in risk.labels} if by_label else {"": risk.increase}
    told = {e.label for e in deciding(risk.labels)} or {""}
    comparisons = []
    for label, share in (errors or {"": Share.of(risk)}).items():
        if budget.max_error is not None:
            who = f"the model{f' about {label}' * bool(label)}"
            comparisons.append(error_comparison(share, budget.max_error, who, share_of_what(risk)))
        if most is not None:
            comparisons.append(_increase(increases[label], most, label, by_label and label not in told))
    return comparisons


def error_comparison(risk: Share, most: float, who: str = "the model", of: str = "of the time") -> Comparison:
    """Hold the error of a model against the most that is allowed."""
    errors = risk.error * risk.people
    return Comparison(
        about=ABOUT,
        agreed=True,
        name=f"error of {who}",
        now=risk.error,
        limit=most,
        interval=binomial_interval(errors, risk.people),
        chance=chance_above(errors, risk.people, most),
        matters=risk.error > most,
        reason=f"{who} errs {risk.error:.3f} {of}, allowed is {most:g}",
    )


def _increase(increase: Difference | None, most: float, label: str, untold: bool) -> Comparison:
    """Hold a limit on the increase of the error; of a label that no answers tell, nothing can be lost."""
    assert increase is not None  # whoever judges both compares them person by person
    about = f" about {label}" * bool(label)
    return Comparison(
        about=ABOUT,
        agreed=True,
        name=f"more error{about} than with everything asked{', which does not tell it either' * untold}",
        now=increase.mean,
        limit=None if untold else most,
        chance=1.0 if untold else chance_of_increase(increase, most),
        matters=increase.mean > most and not untold,
        reason=f"the model errs {increase_in_words(increase.mean, most, about)}",
    )


def group_comparisons(groups: Groups, budget: Budget) -> list[Comparison]:
    """Hold the limits of declared groups, each group and each grouping by itself."""
    large = [each for each in groups.groups if each.people >= FEWEST]
    most = budget.max_group_error
    errors = [
        error_comparison(Share(error=each.error, people=round(each.people)), most, f"the model for {each.group}")
        for each in (large if most is not None else ())
        if most is not None
    ]
    limit = budget.max_group_gap
    if limit is None:
        return errors
    more = {gap.grouping: [each.more for each in large if each.grouping == gap.grouping] for gap in groups.gaps}
    return [*errors, *(_gap(gap, more[gap.grouping], limit) for gap in groups.gaps)]


def _gap(gap: Gap, increases: Sequence[Difference], limit: float) -> Comparison:
    return Comparison(
        about=ABOUT,
        agreed=True,
        name=f"gap by {gap.grouping}",
        now=gap.gap,
        limit=limit,
        interval=gap.interval,
        chance=chance_of_gap(increases, limit),
        matters=gap.gap > limit,
        reason=(
            f"by {gap.grouping}, {gap.most} pay {gap.gap:.3f} more than {gap.least} for asking less, "
            f"allowed is {limit:g}"
        ),
    )


def unique_comparisons(unique: int, people: float, budget: Budget) -> list[Comparison]:
    """Hold the limits of people who are alone with their generalized record: how many, and which share."""
    are = "is" if unique == 1 else "are"
    alone = f"{unique:,} of {counted(people, 'person', 'people')} {are} alone with their record, allowed"
    same: dict[str, Any] = {"about": ABOUT, "agreed": True}
    comparisons = []
    if (most := budget.max_unique) is not None:
        chance = chance_of_number(unique, most)
        figures: dict[str, Any] = {"now": unique, "limit": most, "chance": chance, "matters": unique > most}
        comparisons.append(
            Comparison(name="people who are alone", reason=f"{alone} are {most:,}", **figures, **same)
        )
    if (share := budget.max_unique_share) is not None and people:
        chance, now = chance_above(unique, people, share), unique / people
        figures = {"now": now, "limit": share, "chance": chance, "matters": now > share}
        words = f"{alone} is a share of {share:g}"
        comparisons.append(Comparison(name="share of people who are alone", reason=words, **figures, **same))
    return comparisons


def risk_comparisons(attack: Any, least: Mapping[str, float], about: str = ABOUT) -> list[Comparison]:
    """Hold the adversary errors that must be left against an attack (A1, or A6 for several breaches)."""
    known = [each.attribute for each in attack.attributes]
    for name in least:
        if name != MEAN and name not in known:
            hint = did_you_mean(name, [*known, MEAN])
            raise ParameterError(f"min_adversary_error: there is no personal attribute {name!r}; {hint}")
    return [_risk(attack, name, limit, about) for name, limit in least.items()]


def _risk(attack: Any, name: str, least: float, about: str) -> Comparison:
    result = attack if name == MEAN else attack[name]
    error, interval = result.adversary_error, result.interval
    people = people_behind(error, interval, attack.people) if name == MEAN else attack.people
    who = "on average over the personal attributes" if name == MEAN else f"about {name}"
    return Comparison(
        about=about,
        agreed=True,
        name=f"{attack.adversary} {'on average' if name == MEAN else name}",
        now=error,
        limit=least,
        interval=interval,
        chance=chance_below(error * people, people, least),
        matters=error < least,
        reason=f"{attack.adversary} is wrong {who} {error:.3f} of the time, wanted is at least {least:g}",
    )
