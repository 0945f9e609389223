"""Errors on people that a classifier did not learn from, compared person by person.

Two generalizations are judged on the same people. Most of them are guessed alike by both, so the *paired*
difference is known far better than either error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Ridge

from leastwise.generalization import Generalization
from leastwise.partition import Codes
from leastwise.predictors.base import Predictor, Samples, samples
from leastwise.predictors.boosting import Boosting
from leastwise.predictors.cross_validation import folds_of
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.regression import Regression, boosted, linear
from leastwise.predictors.sklearn import Logistic
from leastwise.predictors.strongest import Guesses, Strongest, believes, default_network, guesses
from leastwise.random import generator
from leastwise.records.numbers import Numbers
from leastwise.records.several import Graded, Several
from leastwise.records.table import Table

MARGIN = 1.25
"""What is claimed of a limit on the increase of the error, and any limit on groups, has so many times the standard
errors that the confidence takes: on the files that this was developed with estimates were off by so much more than
their standard errors say."""
FOLDS = 3
# Of the records that a fold learns from, one in so many chooses among the classifiers.
_CHOOSES = 6
# One person who was thought impossible must not outweigh a thousand others.
_LEAST_PROBABILITY = 1e-3
# People times classes up to which boosting in small steps is worth it.
_FEW = 40_000.0
# With so many people per joint bucket a network tells the label no better than the others, and takes longest.
_WELL_FILLED = 3.0
TOLD = 1.645
"""Standard errors (95 %, one-sided) below which it is not told that a label can be predicted at all."""
# Nobody is surer than this: differences that a file tells may have no error at all.
_LEAST_ERROR = 1e-9
# How far off beliefs are: see ``weighed``.
_BELIEFS_OFF, _BELIEFS_OFF_SHARE = 0.003, 0.75
LOOKED_AT = 1.5
"""Labels that a search has looked at are off by so many times their standard error: what was merged is what these
people happened not to miss."""
MADE_OF, _MADE_OF_OFF = 2.0, 0.003
"""Labels that groups were made of: even out of fold they tell so many standard errors too little of what is lost
by these groups, and are off by so much beyond chance."""

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences and its standard error."""

    mean: float
    standard_error: float

    @classmethod
    def of(
        cls, values: npt.NDArray[Any], weights: npt.NDArray[Any], persons: npt.NDArray[Any] | None = None
    ) -> Difference:
        """Return the mean difference over people; ``persons`` tells which records are one person's.

        >>> Difference.of(np.array([1.0, 0, 0, 0, -1, 1, 0, 0]), np.ones(8))
        Difference(mean=0.125, standard_error=0.22658174179374144)
        """
        people, mean = float(weights.sum()), float(np.average(values, weights=weights))
        if persons is not None:  # the records of one person err together
            together = np.bincount(np.unique(persons, return_inverse=True)[1], weights * (values - mean))
            spread = float((together**2).sum() * len(together) / max(len(together) - 1, 1)) ** 0.5 / people
            return cls(mean, max(spread, 1 / max(len(together), 1)))
        variance = float(np.average((values - mean) ** 2, weights=weights)) / max(people - 1, 1)
        # Where nobody differs, one person who might is the least that can be told.
        return cls(mean, max(variance**0.5, 1 / max(people, 1)))

    def with_mean_of(self, people: float, mean: float, sampled: float) -> Difference:
        """Return the difference of all people, of whom counts tell the mean; this one is of a sample of them.

        Counts do not tell how many are guessed otherwise by the one and by the other. The spread of the sample's
        ``sampled`` people does; of more people the mean is known better.

        >>> few = Difference(0.02, 0.008)
        >>> few.with_mean_of(4000, 0.01, 1000), few.with_mean_of(1000, 0.09, 1000).standard_error > 0.008
        (Difference(mean=0.01, standard_error=0.004), True)
        """
        own = self.standard_error * min(sampled / people, 1.0) ** 0.5
        # At least so many are guessed otherwise as the mean takes; where nobody is, one person might be.
        least = max((abs(mean) - mean**2) / people, 0.0) ** 0.5
        return Difference(mean, max(own, least, 1 / people))

    def bound(self, errors: float) -> float:
        """Return the mean plus so many standard errors."""
        return self.mean + errors * self.standard_error


def weighed(
    told: Difference, expected: float | None, looked_at: bool = True, made_of: Difference | None = None
) -> Difference:
    """Weigh what labels tell and what beliefs expect of the same difference by how far each may be off.

    By the labels alone the luckiest of many candidates seems the best. Beliefs know no luck, but are no truth: on
    the data sets that this was developed with they were off by about 0.3 points; by more where records are few.

    Parameters
    ----------
    told
        By the labels of people whom nothing was made of.
    expected
        By beliefs; where there are none, labels alone count (beliefs about a number are far too sure).
    looked_at
        Whether what is judged was found by looking at the labels that tell.
    made_of
        By the labels of other people, who were not learned from either, but what is judged was made of them. None
        where nobody of them is guessed otherwise: then these labels tell nothing.

    Examples
    --------
    >>> few, many = weighed(Difference(0.002, 0.01), 0.008), weighed(Difference(0.002, 0.0003), 0.008)
    >>> [round(each.mean, 4) for each in (few, many)], [round(each.standard_error, 4) for each in (few, many)]
    ([0.0068, 0.0021], [0.0067, 0.0004])
    >>> round(weighed(Difference(0.002, 0.004), 0.008, made_of=Difference(0.002, 0.003)).mean, 4)  # .008, too
    0.0071
    """
    sources = [(told.mean, told.standard_error * (LOOKED_AT if looked_at else 1.0))]
    chance = told.standard_error
    if made_of is not None:
        off = (made_of.standard_error**2 + _MADE_OF_OFF**2) ** 0.5
        sources.append((made_of.mean + MADE_OF * made_of.standard_error, off))
        chance = (chance**-2 + made_of.standard_error**-2) ** -0.5
    if expected is not None:
        sources.append((expected, max(_BELIEFS_OFF, _BELIEFS_OFF_SHARE * chance)))
    weights = [max(off, _LEAST_ERROR) ** -2 for _, off in sources]
    mean = sum(weight * each for weight, (each, _) in zip(weights, sources, strict=True)) / sum(weights)
    return Difference(mean, sum(weights) ** -0.5)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """How a generalization is judged, person by person.

    Attributes
    ----------
    guessed, wrong, surprise
        The guess, whether it is wrong, and minus log P(truth).
    weights, persons
        How many people each row stands for, and which rows are one person's, where that is known.
    graded
        The label, where a guess of it is more or less wrong: ``wrong`` is then how wrong it is.
    """

    guessed: Rows
    wrong: Floats
    surprise: Floats
    weights: Floats
    persons: Rows | None = None
    graded: Graded | None = None

    @property
    def number(self) -> Numbers | None:
        """The label, where it is a number."""
        return self.graded if isinstance(self.graded, Numbers) else None

    @classmethod
    def of(cls, found: Guesses, rows: Samples, persons: Rows | None = None) -> HeldOut:
        """Hold the guesses of one target against the truth."""
        wrong = rows.wrong(found.values).astype(float)
        return cls(found.values, wrong, _surprise(found.of_truth), rows.weights, persons, rows.graded)

    @property
    def error(self) -> float:
        """The share of people who are guessed wrongly."""
        return float(np.average(self.wrong, weights=self.weights))

    def errs_more_than(self, other: HeldOut) -> Difference:
        """Return by how much this one errs more often than another one, on the same people."""
        return Difference.of(self.wrong - other.wrong, self.weights, self.persons)

    def expected_loss(self, beliefs: npt.NDArray[Any]) -> float:
        """Return how much more often this one errs than who knows the ``beliefs``, if these are right.

        They are the probabilities of each class, row by row, by a classifier that sees more. No label is looked
        at: a search by this does not end at what merely happened to fit the people it looked at.
        """
        if self.graded is not None:
            return float(np.average(self.graded.expected_loss(beliefs, self.guessed), weights=self.weights))
        most = reduce(np.maximum, beliefs.T)  # classes are few: column by column is faster than row by row
        lost = most - beliefs[np.arange(len(beliefs)), self.guessed]
        return float(np.average(lost, weights=self.weights))

    def is_surprised_more_than(self, other: HeldOut) -> Difference:
        """Return by how much its log loss is above another one's, on the same people."""
        return Difference.of(self.surprise - other.surprise, self.weights, self.persons)


def told_labels(
    several: Several, guessed: npt.NDArray[Any], weights: npt.NDArray[Any], persons: npt.NDArray[Any] | None
) -> tuple[int, ...]:
    """Return which of several labels are guessed better than by their most frequent class, beyond chance.

    What is lost about any other one by asking less is chance, and would decide. Where none is told, all count.
    """
    wrong, found = several.wrong(guessed).astype(float), []
    for label in range(wrong.shape[1]):
        own = several.exact[:, label]
        guess = own != np.bincount(own, weights=weights).argmax()
        if Difference.of(guess - wrong[:, label], weights, persons).bound(-TOLD) > 0:
            found.append(label)
    return tuple(found) or tuple(range(wrong.shape[1]))


@dataclass(frozen=True, eq=False)
class Reference:
    """What others are held against.

    Attributes
    ----------
    judged, beliefs
        How it is judged, and what it thinks of each label, row by row.
    labels
        Of several labels, those of which the one counts about which most is lost; where none is named, all count,
        by their weights.
    """

    judged: HeldOut
    beliefs: npt.NDArray[Any]
    labels: tuple[int, ...] = ()

    def increase_of(self, coarser: HeldOut) -> Difference:
        """Estimate by how much somebody who sees less errs more often, by labels and by beliefs."""
        if self.labels and isinstance(coarser.graded, Several):
            each = [self._increase_about(coarser, coarser.graded, i) for i in self.labels]
            return max(each, key=lambda increase: increase.bound(1))
        expected = coarser.expected_loss(self.beliefs) if coarser.number is None else None
        return weighed(coarser.errs_more_than(self.judged), expected)

    def _increase_about(self, coarser: HeldOut, several: Several, label: int) -> Difference:
        """Estimate the increase about one of several labels."""
        wrong = [several.wrong(each.guessed)[:, label].astype(float) for each in (coarser, self.judged)]
        told = Difference.of(wrong[0] - wrong[1], coarser.weights, coarser.persons)
        off = np.asarray(self.beliefs, dtype=float) @ several.distances_of(label)
        rows = np.arange(len(off))
        lost = off[rows, coarser.guessed] - off[rows, several.guess(self.beliefs)]
        return weighed(told, float(np.average(lost, weights=coarser.weights)))


def label_predictors() -> tuple[Predictor, ...]:
    """Return the three that tell the label best for their cost: counting, an additive model, boosting.

    The last two as regressions, where the label is a number.
    """
    return JointBuckets(), additive(), Boosting(rounds=40, rate=0.2), linear(), boosted(rounds=40, rate=0.2)


def additive() -> Logistic:
    """Return a logistic regression for what is judged often."""
    return Logistic((0.3,), most_steps=30)  # of L-BFGS: twice as many change no log loss by .0002


def utility_predictors(quick: bool = False, seed: int = 0) -> tuple[Predictor, ...]:
    """Return the predictors that the best classifier is chosen from: one target affords more than attacks do."""
    # Few people do not bear large steps.
    gentle = Boosting(rounds=100, leaves=8, rate=0.07, most_work=_FEW, seed=seed, name="gentle boosting")
    numbers = Logistic((0.3,), inputs="numbers", name="logistic on numbers")
    network = replace(default_network(quick, seed), well_filled=_WELL_FILLED)
    classes = JointBuckets(seed=seed), network, Boosting(seed=seed), gentle, numbers, Logistic()
    return *classes, boosted(seed=seed), linear(), Regression(Ridge(1.0), "numbers", "linear on numbers")


def held_out(
    generalization: Generalization,
    train: Table,
    validation: Table,
    predictors: Sequence[Predictor] | None = None,
) -> tuple[HeldOut, Strongest]:
    """Judge on validation by the best classifier that learned from the training part; return it too."""
    rows = samples(validation, generalization, "label")
    chosen = Strongest(tuple(predictors or label_predictors()))
    beliefs = chosen.fit_believing(samples(train, generalization, "label"), rows)
    return HeldOut.of(Guesses.of(beliefs, rows), rows, validation.persons), chosen


def reference(
    generalization: Generalization,
    train: Table,
    validation: Table,
    predictors: Sequence[Predictor] | None = None,
) -> Reference:
    """Judge on validation, and tell what is thought of each label there; of several, of the worst that is told."""
    judged, classifier = held_out(generalization, train, validation, predictors)
    rows, labels = samples(validation, generalization, "label"), tuple[int, ...]()
    first, bucket_of = rows.buckets
    if isinstance(judged.graded, Several):
        labels = told_labels(judged.graded, judged.guessed, judged.weights, judged.persons)
    return Reference(judged, np.asarray(classifier.predict(rows.inputs[first])[0])[bucket_of], labels)


@dataclass(frozen=True, eq=False)
class Folds:
    """The people of a table in folds: each is judged by a classifier that learned from the other folds."""

    table: Table
    fold: Rows

    @classmethod
    def of(cls, table: Table, seed: int = 0, folds: int = FOLDS) -> Folds:
        """Draw the folds."""
        return cls(table, folds_of(len(table), folds, generator(seed, "folds"), table.persons))

    def judge(self, generalization: Generalization, predictors: Sequence[Predictor] | None = None) -> HeldOut:
        """Judge a generalization on everybody.

        It must not have been made of their labels: groups that were would look better than they are.
        """
        rows = samples(self.table, generalization, "label")
        guessed, wrong, surprise = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows)), np.zeros(len(rows))
        for known, left in self._parts():
            choosing = max(len(known) // _CHOOSES, 1)
            chosen = Strongest(tuple(predictors or label_predictors()))
            chosen.fit(rows.take(known[choosing:]), rows.take(known[:choosing]))
            (found,) = guesses(chosen, rows.take(left))
            own = HeldOut.of(found, rows.take(left))
            guessed[left], wrong[left], surprise[left] = own.guessed, own.wrong, own.surprise
        return HeldOut(guessed, wrong, surprise, rows.weights, self.table.persons, rows.graded)

    def importance(self, generalization: Generalization) -> dict[str, float]:
        """Return by how much boosting's log loss rises when the answers to one question change places."""
        rows, random = samples(self.table, generalization, "label"), generator(0, "importance")
        rise = np.zeros(len(rows.input_sizes))
        for known, left in self._parts():
            learner = Boosting(rounds=40, rate=0.2) if rows.number is None else boosted(rounds=40, rate=0.2)
            model, part = learner.fit(rows.take(known), rows.take(known[:1])), rows.take(left)
            truth = np.arange(len(part)), part.targets[:, 0]
            now = believes(model, part)
            for j, changed in enumerate(_permuted(model, part.inputs, random)):
                rise[j] += float(part.weights @ (_surprise(changed[truth]) - _surprise(now[truth])))
        # What everybody answers alike is no input.
        maps = zip(generalization.schema.names, self.table.bucket_maps(generalization), strict=True)
        seen = [name for name, bucket_of in maps if bucket_of.max(initial=0) > 0]
        return dict.fromkeys(generalization.collected, 0.0) | dict(zip(seen, rise.tolist(), strict=True))

    def _parts(self) -> list[tuple[Rows, Rows]]:
        return [(np.flatnonzero(self.fold != f), np.flatnonzero(self.fold == f)) for f in np.unique(self.fold)]


def _permuted(model: Predictor, inputs: Codes, random: np.random.Generator) -> Iterator[npt.NDArray[Any]]:
    """Yield, for each column, what is believed when its codes change places."""
    if isinstance(model, Boosting):
        yield from model.predict_permuted(inputs, random)
        return
    for j in range(inputs.shape[1]):
        changed = inputs.copy()
        changed[:, j] = random.permutation(inputs[:, j])
        yield np.asarray(model.predict(changed)[0])


def _surprise(of_truth: npt.NDArray[Any]) -> Floats:
    return np.asarray(-np.log(np.maximum(of_truth, _LEAST_PROBABILITY)))
