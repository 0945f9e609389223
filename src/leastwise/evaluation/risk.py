"""The utility risk of one classifier: how often it is wrong, or how far off, with its interval and baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.confidence import Interval, error_interval
from leastwise.documents.plain import LEFT_OUT
from leastwise.evaluation.declared_groups import GroupErrors
from leastwise.predictors.held_out import Difference
from leastwise.records.table import Table

Array = npt.NDArray[Any]
# Of the error of guessing, what is near enough.
_ASTRAY = 0.2


@dataclass(frozen=True, kw_only=True)
class NumberErrors:
    """How far off a regression is, in the unit of the label.

    Attributes
    ----------
    absolute, squared
        The mean absolute error, and the root of the mean squared error, of the same guesses.
    r2
        The share of the variance that the guesses explain; below 0 where the mean of all would do better.
    within, tolerance
        The share of people about whom it is off by at most the tolerance: a tenth of the way that guessing goes
        astray both ways, whole for whole numbers.
    scale, unit
        The error of guessing, which shares of error are of; and what it is measured in.
    """

    absolute: float
    squared: float
    r2: float
    within: float
    tolerance: float
    scale: float
    unit: str = ""

    def words(self) -> str:
        """Say how far off it is.

        >>> errors = {"absolute": 9.13, "squared": 12, "r2": 0.31, "within": 0.2, "tolerance": 3, "scale": 14.6}
        >>> NumberErrors(**errors, unit="years").words()
        'off by 9.13 years on average (R2 0.31; within 3 of the truth for 20 %)'
        """
        near = f"within {self.tolerance:g} of the truth for {self.within * 100:.0f} %"
        off = self.in_its_unit(self.absolute / self.scale)
        return f"off by {off} on average (R2 {self.r2:z.2f}; {near})"

    def in_its_unit(self, share: float) -> str:
        """Write a share of the error of guessing in the unit of the label."""
        number = share * self.scale
        written = f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"
        return f"{written}{' ' if self.unit else ''}{self.unit}"

    def what_points_are(self) -> str:
        """Say what a point of error is, once for all figures."""
        return f"A point is a hundredth of the error of guessing: {self.in_its_unit(0.01)}."


def number_errors(guessed: Array, people: Table) -> NumberErrors:
    """Return the errors of guessed numbers."""
    number, label, counts = people.number, people.schema.label, people.counts
    assert number is not None
    assert label is not None
    off = np.abs(guessed - number.exact)
    mean = np.average(number.exact, weights=counts)
    spread = float(np.average((number.exact - mean) ** 2, weights=counts))
    squared = float(np.average(off**2, weights=counts))
    tolerance = _ASTRAY * number.scale
    tolerance = max(round(tolerance), 1.0) if label.integer else float(f"{tolerance:.2g}")
    return NumberErrors(
        absolute=float(np.average(off, weights=counts)),
        squared=squared**0.5,
        r2=1 - squared / spread if spread > 0 else 0.0,
        within=float(np.average(off <= tolerance * (1 + 1e-9), weights=counts)),
        tolerance=tolerance,
        scale=number.scale,
        unit=label.unit,
    )


@dataclass(frozen=True, kw_only=True)
class LabelRisk:
    """How often a classifier is wrong about one of several labels.

    Attributes
    ----------
    label
        Its name.
    error, interval, baseline, increase, expected
        As of ``UtilityRisk``, about this label alone.
    untold
        Whether validation does not tell that with everything asked it is guessed better than by its most frequent
        class. Nothing can then be lost by asking less, so that it does not decide.
    """

    label: str
    error: float
    interval: Interval
    baseline: float
    increase: Difference | None = None
    expected: float | None = None
    untold: bool = field(default=False, metadata=LEFT_OUT)


def deciding(labels: Sequence[LabelRisk]) -> tuple[LabelRisk, ...]:
    """Return the labels of which the worst decides: those that can be told at all; where none can, all."""
    return tuple(each for each in labels if not each.untold) or tuple(labels)


@dataclass(frozen=True, kw_only=True)
class UtilityRisk:
    """How often a classifier is wrong that sees only generalized records. Lower is better.

    Attributes
    ----------
    error
        On the test part.
    interval
        That holds the error of this classifier on everybody with 95 % confidence (exact, binomial).
    baseline
        The error of guessing the most frequent class of the training part.
    people
        How many were tested.
    predictor
        Who predicted.
    increase
        By how much it errs more often than with everything asked, paired, with its standard error; None where the
        two were not compared.
    expected
        The same increase, by what the classifier believes of each record that is told everything: no label, no
        luck. None where that is not known.
    number
        The same errors in the unit of the label, where that is a number.
    groups
        How it serves the groups that were declared; None where there are none.
    labels, worst
        Where there are several labels, each by itself; the error is then their weighted mean. Where the worst of
        them counts: what the error would be, were it to rise about all of them by as much as about that one.
    """

    error: float
    interval: Interval
    baseline: float
    people: float
    predictor: str
    increase: Difference | None = None
    expected: float | None = None
    groups: GroupErrors | None = None
    number: NumberErrors | None = None
    labels: tuple[LabelRisk, ...] = field(default=(), metadata=LEFT_OUT)
    worst: float | None = field(default=None, metadata=LEFT_OUT)
    seconds: float = field(default=0.0, compare=False)

    def worst_beside(self, everything: UtilityRisk) -> UtilityRisk:
        """Return it where the worst of several labels counts, held against how everything asked is judged.

        As it is, where there is one label. Increases are the estimates where there are any.
        """
        if not self.labels:
            return self
        mine = {each.label: each for each in self.labels}
        pairs = ((mine[its.label], its) for its in deciding(everything.labels))
        more = [own.error - its.error if own.increase is None else own.increase.mean for own, its in pairs]
        return replace(self, worst=everything.error + max(more))


class UtilityLimits(NamedTuple):
    """What frames every utility risk: everything suppressed, everything untouched."""

    suppressed: UtilityRisk
    untouched: UtilityRisk


def risk_of(wrong: Array, train: Table, judged: Table, predictor: str, seconds: float) -> UtilityRisk:
    """Return the utility risk of who is wrong about these people."""
    counts = judged.counts
    errors, people = float(counts @ wrong), float(counts.sum())
    classes = np.bincount(train.y, weights=train.counts, minlength=train.classes)
    if judged.graded is None:
        naive = judged.y != int(classes.argmax())
    else:
        naive = judged.graded.off(np.repeat(judged.graded.guess(classes[None, :]), len(judged)))
    guessed = float(counts @ naive)
    return UtilityRisk(
        error=errors / people,
        interval=error_interval(wrong, counts, judged.persons),
        baseline=float(guessed / people),
        people=judged.headcount,
        predictor=predictor,
        seconds=seconds,
    )


def label_risks(guessed: Array, train: Table, judged: Table) -> tuple[LabelRisk, ...]:
    """Return how often guessed levels are wrong about each of several labels that count; nothing of one."""
    several, label, counts = judged.several, judged.schema.label, judged.counts
    if several is None or label is None:
        return ()
    classes = np.bincount(train.y, weights=train.counts, minlength=train.classes)
    naive = several.wrong(np.repeat(several.guess(classes[None, :]), len(judged)))
    wrong, people = several.wrong(guessed), float(counts.sum())
    return tuple(
        LabelRisk(
            label=each.name,
            error=float(counts @ wrong[:, place]) / people,
            interval=error_interval(wrong[:, place], counts, judged.persons),
            baseline=float(counts @ naive[:, place]) / people,
        )
        for place, each in enumerate(label.parts)
        if several.weights[place]
    )
