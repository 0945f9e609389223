"""Judge a chosen generalization again, on new data: are its budgets kept, and is all as the sample promised?

None of the new records had a say in choosing the generalization, so all of them count for bucket use, label rate
and values nobody declared. Accuracy and risk are measured by the protocol on the new records alone: classifier and
adversary learn from their training part, and the test part is predicted and stolen. So the figures say what the
generalization is worth *today*, for a model and a thief who know today's people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from leastwise.checks.budgets import (
    TOGETHER,
    group_comparisons,
    risk_comparisons,
    size_comparisons,
    unique_comparisons,
    utility_comparisons,
)
from leastwise.checks.comparisons import Comparison, Status, statuses
from leastwise.checks.drifting import (
    DriftLimits,
    accuracy_comparisons,
    label_comparisons,
    risk_drift,
    unseen_comparisons,
    use_comparisons,
)
from leastwise.checks.promise import Promise, Share, share_of_what, with_effective_people
from leastwise.checks.use import NewRecords, bucket_use, label_use
from leastwise.documents.wording import listed
from leastwise.errors import ParameterError
from leastwise.evaluation.at_source import evaluate_at_source
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import groups_of
from leastwise.evaluation.protocol import evaluate
from leastwise.evaluation.risk import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.progress import Progress
from leastwise.records.sources import Source
from leastwise.records.table import Table
from leastwise.runs.budget import Budget

FEWEST = 50  # records; with fewer, nothing can be said


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a check found.

    Attributes
    ----------
    generalization, limits
        What was checked, and what counts as drift.
    comparisons, statuses
        The questions, and what to make of each: ``fine``; ``watch``, beyond its limit but noise can explain it;
        ``broken``.
    evaluation
        How the generalization was judged on the new records; None where they are generalized already.
    people
        How many new records there were.
    notes
        What could not be compared, and why.
    reopened
        Why the decision behind it must be looked at again; empty where it stands, or where there is none.
    """

    generalization: Generalization
    limits: DriftLimits
    comparisons: tuple[Comparison, ...]
    evaluation: Evaluation | None
    people: int
    notes: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()

    @property
    def statuses(self) -> tuple[Status, ...]:
        """What to make of each comparison, all of them judged together."""
        return statuses(self.comparisons, self.limits.level)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is broken; empty when all is fine."""
        return (*self.alarms, *(f"the decision must be reopened: {reason}" for reason in self.reopened))

    @property
    def alarms(self) -> tuple[str, ...]:
        """What the records say against it; empty where noise can explain all."""
        pairs = zip(self.comparisons, self.statuses, strict=True)
        return tuple(comparison.reason for comparison, status in pairs if status == "broken")

    @property
    def broken(self) -> bool:
        """Whether a budget is broken, something drifted, or the decision must be reopened."""
        return bool(self.reasons)


def check(
    generalization: Generalization,
    records: NewRecords | Table,
    *,
    budget: Budget | None = None,
    promise: Promise | None = None,
    limits: DriftLimits | None = None,
    previous: Sequence[Generalization] = (),
    seed: int = 0,
    quick: bool = False,
    held_out: bool = True,
    groups: Sequence[str] = (),
    progress: Progress | None = None,
    source: Source | None = None,
) -> Check:
    """Judge a chosen generalization on new records.

    Parameters
    ----------
    generalization
        The one that is in use, or about to be.
    records
        New records at full granularity, none of which chose the generalization.
    budget
        What must be kept.
    promise
        What the sample promised; without it only the budget is checked.
    limits
        What counts as drift.
    previous
        Generalizations of the same people that leaked before: what both tell together must keep the budget.
    seed, quick
        See ``evaluate``.
    held_out
        False for the sample that the generalization was chosen on: then the seed must be that of its split.
    groups
        Declared groups, which the budget's limits of groups are held against.
    progress
        See ``evaluate``.
    source
        Where the new records lie, if ``records`` are a sample of them: budgets are held against all of those.
    """
    budget = budget or Budget()
    budget.check_groups(bool(groups), "declare them in the policy, such as groups: [sex]")
    new = records if isinstance(records, NewRecords) else NewRecords(records, len(records))
    limits = limits or DriftLimits()
    if len(new.table) < FEWEST:
        many = f"at least {FEWEST} records that fit the schema; got {len(new.table):,}"
        raise ParameterError(f"a check needs {many}: collect more first")
    if promise is not None:
        promise.check_fits(generalization)
    how: dict[str, Any] = {"seed": seed, "quick": quick, "held_out": held_out, "progress": progress}
    evaluation = _judged(generalization, new.table, previous, source, **how)
    told = with_effective_people(evaluation, new.table.efficiency)
    comparisons = _budget_comparisons(generalization, told, budget)
    comparisons += unseen_comparisons(new.unseen, new.people, limits)
    if groups and budget.bounds_groups:
        comparisons += group_comparisons(groups_of(generalization, new.table, groups, **how), budget)
    if promise is not None:
        comparisons += _drift(generalization, new.table, told, promise, limits)
    return Check(
        generalization=generalization,
        limits=limits,
        comparisons=tuple(comparisons),
        evaluation=evaluation,
        people=new.people if source is None else len(source),
        notes=tuple(_notes(generalization, new, previous, promise, evaluation)),
    )


def _judged(
    generalization: Generalization,
    table: Table,
    previous: Sequence[Generalization],
    source: Source | None,
    **how: Any,
) -> Evaluation:
    """Judge it on the new records, by those who attack what a budget is about."""
    after = ["A1", *(["A6"] if previous else [])] if table.personal else []
    judge = evaluate if source is None else partial(evaluate_at_source, source=source)
    return judge(generalization, table, adversaries=[*after, "A8"], others=previous, predicates=0, **how)


def _notes(
    generalization: Generalization,
    new: NewRecords,
    previous: Sequence[Generalization],
    promise: Promise | None,
    evaluation: Evaluation,
) -> list[str]:
    """Say what was not checked, how records count, and what all generalizations ever in use tell together."""
    effective = new.table.effective_people if new.table.survey else None
    return [
        *_label_notes(generalization, new),
        *weight_notes(len(new.table), effective, promise),
        *_nesting_notes(generalization, previous),
        *(attack.told().finding for attack in evaluation.attacks if attack.adversary == "A6"),
        *([] if promise is None else _not_comparable(promise, evaluation)),
    ]


def _label_notes(generalization: Generalization, new: NewRecords) -> list[str]:
    if generalization.label is None or new.table.labels is not None:
        return []
    without = f"The records have no label ({listed(new.absent) or generalization.label.name})"
    return [f"{without}: the model's error and the label rate are not checked."]


def weight_notes(records: int, effective: float | None, promise: Promise | None) -> list[str]:
    """Say what survey weights count here, and where only one side has them.

    ``effective`` is how many people with equal weights would tell as much; None where there are no weights.
    """
    notes = []
    if effective is not None:
        notes.append(
            f"Shares and errors are weighted as the survey says: these {records:,} records tell as much as "
            f"{effective:,.0f} would with equal weights. Who is alone is counted by records."
        )
    if promise is not None and (promise.effective_people is None) != (effective is None):
        ways = ("once each", "by their weights") if effective is not None else ("by survey weights", "once each")
        notes.append(f"The promise counted records {ways[0]}, and here they count {ways[1]}.")
    return notes


def _budget_comparisons(
    generalization: Generalization, evaluation: Evaluation, budget: Budget
) -> list[Comparison]:
    alone: Any = evaluation["A8"]
    several = [attack for attack in evaluation.attacks if attack.adversary == "A6"]
    least = budget.min_adversary_error
    if least and not evaluation.personal:
        raise ParameterError("the budget protects personal attributes, and the schema marks none; mark them")
    return [
        *size_comparisons(generalization, budget),
        *utility_comparisons(evaluation, budget),
        *(risk_comparisons(evaluation["A1"], least) if least else []),
        *unique_comparisons(alone.unique_people, alone.people, budget),
        *(row for joint in several for row in risk_comparisons(joint, least, TOGETHER)),
    ]


def _drift(
    generalization: Generalization, table: Table, evaluation: Evaluation, promise: Promise, limits: DriftLimits
) -> list[Comparison]:
    known = _known(evaluation)
    comparisons = use_comparisons(promise, bucket_use(generalization, table), generalization, limits)
    comparisons += label_comparisons(promise, label_use(table), table.schema.label, limits)
    if promise.quick != evaluation.quick:
        return comparisons
    if evaluation.utility is not None and 2 * known >= promise.known:
        comparisons += _accuracy(promise, evaluation.utility, limits)
    if evaluation.personal and known <= 2 * promise.known:
        comparisons += risk_drift(promise, evaluation["A1"], limits)
    return comparisons


def _accuracy(promise: Promise, risk: UtilityRisk, limits: DriftLimits) -> list[Comparison]:
    """Compare the classifier's error, of several labels about each."""
    if not risk.labels:
        return accuracy_comparisons(promise, Share.of(risk), limits, of=share_of_what(risk))
    return [
        row
        for each in risk.labels
        for row in accuracy_comparisons(
            promise.about(each.label),
            Share(error=each.error, people=risk.people),
            limits,
            f"the model about {each.label}",
        )
    ]


def _known(evaluation: Evaluation) -> float:
    return evaluation.people.train + evaluation.people.validation


def _not_comparable(promise: Promise, evaluation: Evaluation) -> list[str]:
    """Say which figures cannot be held against the promise: they were not measured alike."""
    known = _known(evaluation)
    if promise.quick != evaluation.quick:
        how = ["with full training", "quickly"]
        return [
            f"Accuracy and risk are not compared with the promise: that was measured {how[promise.quick]}, this "
            f"{how[evaluation.quick]}."
        ]
    if 2 * known < promise.known:
        return [
            f"The model's error is not compared with the promise: it learned from {known:,.0f} records, then from "
            f"{promise.known:,}. A model of fewer records errs more, whatever is asked."
        ]
    if known > 2 * promise.known:
        return [
            f"The adversary's error is not compared with the promise: it knew {known:,.0f} people, then "
            f"{promise.known:,}. Who knows more people errs less, whatever is asked."
        ]
    return []


def _nesting_notes(generalization: Generalization, previous: Sequence[Generalization]) -> list[str]:
    notes = []
    for number, old in enumerate(previous, start=1):
        which = "The previous generalization" if len(previous) == 1 else f"Previous generalization {number}"
        if generalization.is_coarser_than(old):
            notes.append(f"{which} told all that this one tells: adopting it adds nothing to what leaked.")
        elif old.is_coarser_than(generalization):
            notes.append(f"{which} is coarser than this one: who holds both knows what this one tells, no more.")
        else:
            notes.append(f"{which} and this one are not nested: who holds both knows more than either tells.")
    return notes
