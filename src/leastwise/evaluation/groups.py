"""Groups: who pays for asking less, and whom it protects.

An average can hide that a few are served worse. Each declared group is judged by itself on the test part: how
often the model errs with what is asked and with everything asked, paired person by person; how often A1 errs; how
many are alone with their record. The largest gap is the difference between the group that pays most and the one
that pays least; its interval holds for all pairs of a grouping's groups at the same time (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import stats

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import find
from leastwise.confidence import Interval, error_interval, mean_interval
from leastwise.documents import Document
from leastwise.documents.wording import counted, percent, percent_range
from leastwise.errors import ParameterError
from leastwise.evaluation.certificate import check_held_out, check_origin
from leastwise.evaluation.declared_groups import FEWEST, FEWEST_TOLD, Grouping
from leastwise.evaluation.label_guesses import label_guesses
from leastwise.evaluation.utility import Judges, parts_of
from leastwise.evaluation.worth import interval_in_points, points
from leastwise.generalization import Generalization
from leastwise.predictors.held_out import Difference
from leastwise.progress import Progress, Silent
from leastwise.records.grouping import joint_keys
from leastwise.records.table import Split, Table

LEVEL = 0.95
Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class GroupFigures:
    """How one group is served and what an attacker finds of it.

    Attributes
    ----------
    grouping, group, people
        Which one, and how many were judged.
    error, interval, everything
        How often the model errs with what is asked, with its interval; and with everything asked.
    increase, increase_interval
        By how much more often it errs, paired; each group by itself.
    adversary_error, adversary_interval, baseline
        How often A1 errs on average over the personal attributes, and whoever guesses; None where nothing is
        personal.
    alone
        How many are alone with their generalized record and label.
    """

    grouping: str
    group: str
    people: float
    error: float
    interval: Interval
    everything: float
    increase: float
    increase_interval: Interval
    adversary_error: float | None
    adversary_interval: Interval | None
    baseline: float | None
    alone: int

    @property
    def more(self) -> Difference:
        """By how much more often it errs, with its standard error."""
        low, high = self.increase_interval
        return Difference(self.increase, (high - low) / (2 * float(stats.norm.ppf((1 + LEVEL) / 2))))


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The largest difference between two groups of a grouping in the increase of the error.

    ``standard_error`` is that of the difference of these two, ``among`` how many groups they are the extremes of.
    """

    grouping: str
    most: str
    least: str
    gap: float
    interval: Interval
    standard_error: float
    among: int


@dataclass(frozen=True, kw_only=True)
class Groups(Document):
    """All declared groups of a generalization, and the largest gap of each grouping."""

    FORMAT: ClassVar[str] = "leastwise-groups"
    CALLED: ClassVar[str] = "groups"

    fingerprint: str
    seed: int
    groups: tuple[GroupFigures, ...]
    gaps: tuple[Gap, ...]

    @property
    def largest(self) -> Gap | None:
        """The largest gap of all groupings."""
        return max(self.gaps, key=lambda gap: gap.gap, default=None)

    def sentences(self) -> list[str]:
        """Say who pays most and least, and whether that can be chance."""
        return [_in_words(gap) for gap in self.gaps]

    def listing(self) -> tuple[list[str], list[list[str]]]:
        """Return the columns and rows of a table."""
        columns = ["group", "people", "model wrong", "95 % interval", "everything asked", "more, in points"]
        columns += ["95 % interval in points", "A1 wrong", "guessing wrong", "alone"]
        return columns, [_row(each) for each in self.groups]


def groups_of(
    generalization: Generalization,
    records: Table | Split,
    groupings: Sequence[Grouping | str],
    seed: int = 0,
    *,
    quick: bool = False,
    held_out: bool = False,
    progress: Progress | None = None,
) -> Groups:
    """Judge a generalization group by group, on the test part.

    Parameters
    ----------
    groupings
        Such as "sex", "age[25,45,65]" or "sex & race".
    seed, quick, held_out
        See ``evaluate``.
    """
    split, told = parts_of(records, seed), progress or Silent()
    check_held_out(split.test)
    if not held_out:
        check_origin(generalization, split.test.split_seed)
    if split.test.labels is None:
        raise ParameterError("groups are judged by how often the model errs; the records need a label")
    declared = [Grouping.parse(each) if isinstance(each, str) else each for each in groupings]
    for grouping in declared:
        grouping.check(split.test.schema)
    own = generalization.within(split.test.schema)
    judges = Judges(quick, seed)
    told.begin("judging groups", 3)
    flags = []
    for each in (own, Generalization.untouched(split.test.schema)):
        guessed = label_guesses(each, split, judges.classifiers())
        flags.append(guessed.wrong("test", split.test).astype(float))
        told.advance()
    adversary, baseline = _attacked(own, split, judges, seed)
    people = _People(split.test, flags[0], flags[1], adversary, baseline, _alone(own, split.test))
    told.advance()
    judged = [judge(people, grouping) for grouping in declared]
    return Groups(
        fingerprint=generalization.fingerprint,
        seed=seed,
        groups=tuple(figures for of_grouping, _ in judged for figures in of_grouping),
        gaps=tuple(gap for _, gap in judged if gap is not None),
    )


@dataclass(frozen=True, eq=False)
class _People:
    """Person by person: whether the model errs, asking less and asking everything; A1's errors; who is alone."""

    table: Table
    wrong: Array
    everything: Array
    adversary: Array | None
    baseline: Array | None
    alone: Array


def judge(people: _People, grouping: Grouping) -> tuple[list[GroupFigures], Gap | None]:
    """Return the figures of every group that can be told, and the largest gap between those of enough people."""
    names, members = grouping.of(people.table)
    rows = {name: members == i for i, name in enumerate(names)}
    size = {name: people.table.take(np.flatnonzero(own)).headcount for name, own in rows.items()}
    # The error of a group of one is what became of that person.
    figures = [_figures(people, grouping.name, name, rows[name]) for name in names if size[name] >= FEWEST_TOLD]
    large = [(name, _increase(people, rows[name])) for name in names if size[name] >= FEWEST]
    return figures, largest_gap(grouping.name, large)


def largest_gap(grouping: str, increases: Sequence[tuple[str, Difference]]) -> Gap | None:
    """Return the largest gap, with an interval that holds whichever groups turn out to be the extremes."""
    if len(increases) < 2:
        return None
    means, pairs = [more.mean for _, more in increases], [*combinations([more for _, more in increases], 2)]
    z = float(stats.norm.ppf(1 - (1 - LEVEL) / (2 * len(pairs))))
    apart = [_apart(one, two) for one, two in pairs]
    low, high = (max(each.bound(sign * z) for each in apart) for sign in (-1, 1))
    (most, first), (least, last) = increases[int(np.argmax(means))], increases[int(np.argmin(means))]
    return Gap(
        grouping=grouping,
        most=most,
        least=least,
        gap=max(means) - min(means),
        interval=Interval(max(low, 0.0), high),
        standard_error=_apart(first, last).standard_error,
        among=len(increases),
    )


def _apart(one: Difference, two: Difference) -> Difference:
    return Difference(abs(one.mean - two.mean), float(np.hypot(one.standard_error, two.standard_error)))


def _increase(people: _People, rows: Array) -> Difference:
    table = people.table
    persons = None if table.persons is None else table.persons[rows]
    return Difference.of((people.wrong - people.everything)[rows], table.counts[rows], persons)


def _figures(people: _People, grouping: str, group: str, rows: Array) -> GroupFigures:
    own = people.table.take(np.flatnonzero(rows))
    counts, persons = own.counts, own.persons
    more, z = _increase(people, rows), float(stats.norm.ppf((1 + LEVEL) / 2))
    adversary = None if people.adversary is None else people.adversary[rows]
    return GroupFigures(
        grouping=grouping,
        group=group,
        people=own.headcount,
        error=float(np.average(people.wrong[rows], weights=counts)),
        interval=error_interval(people.wrong[rows], counts, persons),
        everything=float(np.average(people.everything[rows], weights=counts)),
        increase=more.mean,
        increase_interval=Interval(more.bound(-z), more.bound(z)),
        adversary_error=None if adversary is None else float(np.average(adversary, weights=counts)),
        adversary_interval=None if adversary is None else mean_interval(adversary, counts, persons=persons),
        baseline=None if people.baseline is None else float(np.average(people.baseline[rows], weights=counts)),
        alone=round(own.take(np.flatnonzero(people.alone[rows])).unweighted.headcount),
    )


def _attacked(g: Generalization, split: Split, judges: Judges, seed: int) -> tuple[Array | None, Array | None]:
    """Return how wrong A1, and whoever guesses, is about each person, on average over the personal attributes."""
    if not split.test.personal:
        return None, None
    breach = Breach.of(g, split, seed=seed)
    findings = [each.or_majority() for each in find(breach, tuple(breach.targets), (), judges.adversary())]
    naive = [target.naive_wrong for target in breach.targets.values()]
    wrong = [each.wrong for each in findings]
    return np.mean(np.asarray(wrong, dtype=float), axis=0), np.mean(np.asarray(naive, dtype=float), axis=0)


def _alone(generalization: Generalization, table: Table) -> Array:
    maps = table.bucket_maps(generalization)
    columns = [bucket_of[table.codes[:, j]] for j, bucket_of in enumerate(maps)]
    codes = np.stack([*columns, table.stored_label], axis=1)
    keys = joint_keys(codes, [int(column.max(initial=0)) + 1 for column in codes.T])
    _, inverse = np.unique(keys, return_inverse=True)
    return np.asarray(table.unweighted.people_in(inverse)[inverse] == 1)


def _in_words(gap: Gap) -> str:
    sure = "more than chance can explain" if gap.interval.low > 0 else "which chance can explain"
    return (
        f"By {gap.grouping}, {gap.most} pay most for asking less and {gap.least} least: a gap of "
        f"{points(gap.gap)} points ({interval_in_points(gap.interval)}), {sure}."
    )


def _row(each: GroupFigures) -> list[str]:
    few = "" if each.people >= FEWEST else " (few)"
    return [
        f"{each.group}{few}",
        f"{each.people:,.0f}",
        percent(each.error, 1),
        percent_range(each.interval),
        percent(each.everything, 1),
        points(each.increase),
        interval_in_points(each.increase_interval),
        "" if each.adversary_error is None else percent(each.adversary_error, 1),
        "" if each.baseline is None else percent(each.baseline, 1),
        counted(each.alone, "person", "people") if each.alone else "nobody",
    ]
