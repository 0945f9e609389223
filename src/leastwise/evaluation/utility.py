"""Utility risk: how often the best classifier is wrong that sees only generalized records.

Where the label is a number, it is how far off the best regression is, as a share of the error of guessing (see
``records.numbers``); the same guesses also give the errors in the label's own unit.

It is the error on the test part of the predictor that the validation part prefers; where records are few, of the
one that cross-validation prefers, learned from all that is not tested. Two limit points frame it: everything
suppressed (the majority is guessed) and everything untouched. Who sees more can coarsen: where several
generalizations are judged together, the classifier of one may be that of any coarser one. What a generalization
costs is the *paired* difference to everything untouched: on the same people, most of whom both guess alike. A
user's own scikit-learn pipeline can be the judge instead.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor
from sklearn.linear_model import Ridge

from leastwise.adversaries.guessing import MakePredictor, StrongestOf
from leastwise.confidence import Interval, error_interval
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.declared_groups import GroupErrors, Grouping
from leastwise.generalization import Generalization
from leastwise.partition import Untouched
from leastwise.predictors.base import Predictor, samples
from leastwise.predictors.boosting import Boosting
from leastwise.predictors.cross_validation import FOLDS, CrossValidated
from leastwise.predictors.held_out import Difference, weighed
from leastwise.predictors.regression import Regression, boosted, linear
from leastwise.predictors.sklearn import Logistic, SklearnPredictor, fit_weighted
from leastwise.predictors.strongest import Strongest, believes, default_predictors
from leastwise.records.table import Split, Table
from leastwise.validation import check_choice, described

Array = npt.NDArray[Any]
Frame = Literal["labels", "codes"]
Part = Literal["train", "validation", "test"]
_JUDGED: tuple[Part, Part] = ("validation", "test")
FEW = 20_000
"""With fewer people to learn from, classifiers are chosen by cross-validation."""
_ASTRAY = 0.2
MANY_FOLDS = 6
"""Who is told everything gains by every record: with a third of them missing it would seem weaker than it is."""
# Beliefs of very many records times classes are not kept: labels alone tell enough of so many.
_MOST_BELIEFS = 2**22
REPEATS = 2
"""So often folds are drawn. What one classifier learns from these records or those is chance, about one person in
twenty-five; the difference of two classifiers would be as uncertain by that as by who was asked."""


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
        return f"off by {off} on average (R2 {self.r2:.2f}; {near})"

    def in_its_unit(self, share: float) -> str:
        """Write a share of the error of guessing in the unit of the label."""
        return f"{share * self.scale:.3g}{' ' if self.unit else ''}{self.unit}"

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
    seconds: float = field(default=0.0, compare=False)


class UtilityLimits(NamedTuple):
    """What frames every utility risk: everything suppressed, everything untouched."""

    suppressed: UtilityRisk
    untouched: UtilityRisk


def utility_predictors(quick: bool = False, seed: int = 0) -> tuple[Predictor, ...]:
    """Return the predictors that the best classifier is chosen from: one target affords more than attacks do."""
    # Few people do not bear large steps.
    gentle = Boosting(rounds=100, leaves=8, rate=0.07, most_work=2 * FEW, seed=seed, name="gentle boosting")
    numbers = Logistic((0.3,), inputs="numbers", name="logistic on numbers")
    classes = *default_predictors(quick, seed), Boosting(seed=seed), gentle, numbers, Logistic()
    return *classes, boosted(seed=seed), linear(), Regression(Ridge(1.0), "numbers", "linear on numbers")


def utility_risk(
    generalization: Generalization,
    records: Table | Split,
    predictors: Sequence[Predictor] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
) -> UtilityRisk:
    """Return the utility risk of a generalization by the protocol.

    Parameters
    ----------
    records
        All records, which are split by the seed, or the three parts.
    predictors
        To choose from on the validation part, by cross-validation where records are few; by default ours.
    quick
        Train less: for a first look.
    """
    parts = parts_of(records, seed)
    chosen_from = utility_predictors(quick, seed) if predictors is None else predictors
    return label_guesses(generalization, parts, chosen_from).risk(parts, "test")


@dataclass(frozen=True, kw_only=True)
class LabelGuesses:
    """What the best classifier of a generalization guesses of everybody.

    Attributes
    ----------
    predictor
        Who predicted.
    validation, test
        The classes that are guessed (of a number, the levels), in the order of the records, in hexadecimal digits.
    train
        The same of the training part, where records are few: out of fold, so nobody was learned from who is
        guessed. Empty where they are many.
    believed
        By part, how probable each class is, record by record, in 255ths; only where everything is asked, because
        others are held against that.
    """

    predictor: str
    validation: str
    test: str
    train: str = ""
    believed: Mapping[str, str] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def guessed(self, part: Part, people: Table) -> npt.NDArray[Any]:
        """Return the class that is guessed of each record of a part."""
        return np.frombuffer(bytes.fromhex(getattr(self, part)), dtype=_code_type(people.classes))

    def wrong(self, part: Part, people: Table) -> npt.NDArray[Any]:
        """Return about whom of a part it is wrong; of a number, how far off it is."""
        guessed = self.guessed(part, people)
        return guessed != people.y if people.number is None else people.number.off(guessed)

    def beliefs(self, part: Part, people: Table) -> npt.NDArray[np.float64]:
        """Return what it believes of each record of a part: rows of probabilities."""
        plain = np.frombuffer(bytes.fromhex(self.believed[part]), dtype=np.uint8).reshape(-1, people.classes)
        return np.asarray(plain / np.maximum(plain.sum(axis=1, keepdims=True), 1))

    def risk(self, split: Split, part: Part) -> UtilityRisk:
        """Return the utility risk on a part."""
        people: Table = getattr(split, part)
        found = _risk(self.wrong(part, people), split.train, people, self.predictor, self.seconds)
        return replace(found, number=self.in_its_unit(split, part))

    def in_its_unit(self, split: Split, part: Part) -> NumberErrors | None:
        """Return the errors on a part in the unit of the label; None where that has classes."""
        people: Table = getattr(split, part)
        if people.number is None:
            return None
        return number_errors(people.number.levels[self.guessed(part, people)], people)


def _code_type(classes: int) -> np.dtype[Any]:
    return np.dtype(np.uint8 if classes <= 256 else "<u2")


def label_guesses(generalization: Generalization, split: Split, predictors: Sequence[Predictor]) -> LabelGuesses:
    """Let the best classifier guess the label of everybody on validation and on test.

    It learns from the training part and is chosen on validation. Where records are few, it is chosen by
    cross-validation over both, guesses people on validation without having learned from them, and those on test
    from all others.
    """
    start, everything = time.perf_counter(), all(partition.untouched for partition in generalization.partitions)
    train, validation = (samples(part, generalization, "label") for part in (split.train, split.validation))
    # Where validation stands for test, who is tested must not be learned from.
    apart = not np.array_equal(split.validation.codes, split.test.codes)
    test = samples(split.test, generalization, "label") if apart else validation
    believed: dict[str, npt.NDArray[Any]]
    if apart and split.train.people + split.validation.people < FEW:
        learned = CrossValidated(predictors, folds=MANY_FOLDS if everything else FOLDS, repeats=REPEATS)
        learned.fit(train.and_also(validation), _persons(split))
        unseen = np.split(learned.beliefs_, [len(train)])
        name, believed = (
            learned.chosen_,
            {"train": unseen[0], "validation": unseen[1], "test": learned.predict(test)},
        )
    else:
        choice = Strongest(tuple(predictors)).fit(train, validation)
        seen = believes(choice, validation)
        name, believed = (
            choice.chosen_[0],
            {"validation": seen, "test": believes(choice, test) if apart else seen},
        )
    codes = _code_type(split.train.classes)
    guessed = {part: train.best(each).astype(codes).tobytes().hex() for part, each in believed.items()}
    kept = {part: _in_255ths(each) for part, each in believed.items() if everything and each.size <= _MOST_BELIEFS}
    return LabelGuesses(predictor=name, **guessed, believed=kept, seconds=time.perf_counter() - start)


def _in_255ths(believed: npt.NDArray[Any]) -> str:
    return bytes(np.rint(255 * believed).astype(np.uint8)).hex()


def _persons(split: Split) -> npt.NDArray[np.intp] | None:
    parts = [part.persons for part in (split.train, split.validation) if part.persons is not None]
    return np.concatenate(parts) if parts else None


class Utilities(NamedTuple):
    """The utility risk of one generalization on both parts."""

    validation: UtilityRisk
    test: UtilityRisk


def utilities_together(
    generalizations: Sequence[Generalization],
    told: Sequence[LabelGuesses],
    split: Split,
    groupings: Sequence[Grouping] = (),
) -> list[Utilities]:
    """Return the utility risks of generalizations that are judged together; the first asks everything.

    Each uses its own classifier, or that of a coarser one where validation tells that it errs less: who sees more
    can coarsen. So a finer one is judged worse by no more than chance. A difference that is not told (below its
    own standard error) changes nothing: of several classifiers the luckiest would be taken, not the best.

    On validation, by which is chosen, the increase of the error is estimated by labels and beliefs together (see
    ``weighed``); on test by labels alone, with what beliefs expect beside it.

    A group is a small part of a small part. Where the training part was guessed out of fold, groups are judged for
    choosing on its people, too: a generalization was made for all of them, not for one group.
    """
    unseen: tuple[Part, ...] = ("train",) if all(guesses.train for guesses in told) else ()
    wrong = [{part: guesses.wrong(part, getattr(split, part)) for part in (*unseen, *_JUDGED)} for guesses in told]
    best = _best_classifiers(generalizations, [each["validation"] for each in wrong], split.validation)
    grouped = {"validation": split.train.and_also(split.validation) if unseen else split.validation}
    found = []
    for own, mine in enumerate(best):
        note, risks = "" if mine == own else " of a coarser one", {}
        for part in _JUDGED:
            people, seen = getattr(split, part), (*unseen, part) if part == "validation" else (part,)
            risk = _risk(wrong[mine][part], split.train, people, told[mine].predictor + note, told[own].seconds)
            more = _increase(wrong[mine][part], wrong[best[0]][part], wrong[0][part], people)
            expected = _expected(told[mine], told[best[0]], told[0], split, seen)
            if part == "validation" and expected is not None:
                more = weighed(more, expected)
            guessed, everything = (np.concatenate([wrong[i][each] for each in seen]) for i in (mine, best[0]))
            groups = GroupErrors.of(guessed, everything, grouped.get(part, people), groupings)
            number = told[mine].in_its_unit(split, part)
            risks[part] = replace(risk, increase=more, expected=expected, groups=groups, number=number)
        found.append(Utilities(**risks))
    return found


def _best_classifiers(
    generalizations: Sequence[Generalization], wrong: Sequence[Array], validation: Table
) -> list[int]:
    """Return whose classifier each uses: its own, or that of a coarser one that is told to be better."""
    errors, best = [float(validation.counts @ each) for each in wrong], []
    for own, generalization in enumerate(generalizations):
        mine = wrong[own].astype(float)
        told_better = [
            i
            for i, g in enumerate(generalizations)
            if errors[i] < errors[own]
            and g.is_coarser_than(generalization)
            and Difference.of(mine - wrong[i], validation.counts, validation.persons).bound(-1) > 0
        ]
        best.append(min([own, *told_better], key=lambda i: errors[i]))
    return best


def _expected(
    coarse: LabelGuesses, best: LabelGuesses, everything: LabelGuesses, split: Split, parts: Sequence[Part]
) -> float | None:
    """Return by how much more often somebody errs who sees less, by the beliefs of who sees everything.

    ``best`` is whose guesses count as those of everything asked. None where nobody knows what is believed.
    """
    lost, people = 0.0, 0.0
    for part in parts:
        if part not in everything.believed:
            return None
        table: Table = getattr(split, part)
        off = _off_by_beliefs(everything.beliefs(part, table), table)
        row = np.arange(len(table))
        lost += float(table.counts @ (off[row, coarse.guessed(part, table)] - off[row, best.guessed(part, table)]))
        people += float(table.counts.sum())
    return lost / people


def _off_by_beliefs(beliefs: npt.NDArray[np.float64], people: Table) -> npt.NDArray[np.float64]:
    """Return, record by record, how wrong each guess would be if the beliefs are right."""
    return 1 - beliefs if people.number is None else np.asarray(beliefs @ people.number.distances)


def _increase(guessed: Array, everything: Array, its_own: Array, people: Table) -> Difference:
    """Return the paired increase over everything asked.

    Where the best classifier of everything asked is that of a coarser one, the two may hardly differ, but a better
    one might be learned: how uncertain that is shows in what its own classifier guesses.
    """
    more = Difference.of(guessed.astype(float) - everything, people.counts, people.persons)
    own = Difference.of(guessed.astype(float) - its_own, people.counts, people.persons)
    return Difference(more.mean, max(more.standard_error, own.standard_error))


def utility_limits(
    records: Table | Split,
    predictors: Sequence[Predictor] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
) -> UtilityLimits:
    """Return the utility risk of the two limit points."""
    parts = parts_of(records, seed)
    points = [Generalization.untouched(parts.train.schema), Generalization.suppressed(parts.train.schema)]
    chosen_from = utility_predictors(quick, seed) if predictors is None else predictors
    told = [label_guesses(point, parts, chosen_from) for point in points]
    untouched, suppressed = utilities_together(points, told, parts)
    return UtilityLimits(suppressed.test, untouched.test)


def judged_by(
    estimator: Any,
    generalization: Generalization,
    records: Table | Split,
    *,
    frame: Frame = "labels",
    seed: int = 0,
) -> UtilityRisk:
    """Return the utility risk with one's own scikit-learn classifier or pipeline as the judge.

    Parameters
    ----------
    estimator
        Is cloned and fitted to the training part; a random forest should bring its own ``random_state``.
    frame
        What the estimator sees: a column per collected attribute, with the ``labels`` that people read (texts;
        numbers where a number is asked exactly), or with the ``codes`` of the buckets. The classes are the
        positions of the label's values. The frame is pandas where that is installed, otherwise Polars.
    """
    check_choice("frame", frame, ("labels", "codes"))
    start = time.perf_counter()
    parts = parts_of(records, seed)
    fitted = fit_weighted(
        clone(estimator),
        generalized_frame(parts.train, generalization, frame),
        parts.train.y.astype(int) if parts.train.number is None else parts.train.number.exact,
        parts.train.counts,
    )
    predicted = np.asarray(fitted.predict(generalized_frame(parts.test, generalization, frame)))
    seconds, number = time.perf_counter() - start, parts.test.number
    if number is None:
        wrong = predicted.astype(int) != parts.test.y
        return _risk(wrong, parts.train, parts.test, type(estimator).__name__, seconds)
    off = np.abs(predicted - number.exact) / number.scale
    found = _risk(off, parts.train, parts.test, type(estimator).__name__, seconds)
    return replace(found, number=number_errors(predicted, parts.test))


def generalized_frame(table: Table, generalization: Generalization, frame: Frame = "labels") -> Any:
    """Return the generalized records as a frame: a column of labels or codes per collected attribute."""
    columns = {
        partition.attribute.name: _column(table, j, partition, bucket_of, frame)
        for j, (partition, bucket_of) in enumerate(
            zip(generalization.partitions, table.bucket_maps(generalization), strict=True)
        )
        if not partition.suppressed
    }
    try:
        import pandas
    except ImportError:
        import polars

        return polars.DataFrame(columns)
    return pandas.DataFrame(columns, index=range(len(table)))


def _column(table: Table, j: int, partition: Any, bucket_of: Array, frame: Frame) -> Array:
    if frame == "codes":
        return np.asarray(bucket_of[table.codes[:, j]])
    if isinstance(partition, Untouched):
        extras = [np.nan] * partition.attribute.extra_values
        return np.asarray([*table.levels[j], *extras], dtype=float)[table.codes[:, j]]
    return np.asarray(partition.labels, dtype=object)[bucket_of[table.codes[:, j]]]


def parts_of(records: Table | Split, seed: int) -> Split:
    """Return the three parts: those that were given, or a split by the seed."""
    return records.split(seed) if isinstance(records, Table) else records


def _risk(wrong: Array, train: Table, judged: Table, predictor: str, seconds: float) -> UtilityRisk:
    counts = judged.counts
    errors, people = float(counts @ wrong), float(counts.sum())
    classes = np.bincount(train.y, weights=train.counts, minlength=train.classes)
    if judged.number is None:
        naive = judged.y != int(classes.argmax())
    else:
        naive = judged.number.off(np.repeat(judged.number.guess(classes[None, :]), len(judged)))
    guessed = float(counts @ naive)
    return UtilityRisk(
        error=errors / people,
        interval=error_interval(wrong, counts, judged.persons),
        baseline=float(guessed / people),
        people=people,
        predictor=predictor,
        seconds=seconds,
    )


@dataclass(frozen=True)
class Judges:
    """The strongest there are, and what a user brings.

    Parameters
    ----------
    quick, seed
        Whether they train less, for a first look; of all that is drawn.
    estimator
        A scikit-learn classifier, or a predictor, that is judged beside ours: the best of all counts.
    predictor
        What adversaries predict with instead of the strongest of ours: a scikit-learn classifier, a predictor,
        or a function that makes one for each fit.
    """

    quick: bool = False
    seed: int = 0
    estimator: Any = None
    predictor: Any = None

    def __post_init__(self) -> None:
        self.classifiers()
        self.adversary()

    def classifiers(self) -> tuple[Predictor, ...]:
        """Return what the best classifier is chosen from."""
        ours = utility_predictors(self.quick, self.seed)
        return ours if self.estimator is None else (*ours, _Maker(self.estimator)())

    def adversary(self) -> MakePredictor:
        """Return what makes the predictor of an adversary."""
        return StrongestOf(self.quick, self.seed) if self.predictor is None else _Maker(self.predictor)

    def words(self) -> dict[str, str]:
        """Say what the user brought."""
        brought = {"estimator": self.estimator, "predictor": self.predictor}
        return {name: described(each) for name, each in brought.items() if each is not None}


@dataclass(frozen=True)
class _Maker:
    """Makes a fresh predictor of whatever was given."""

    given: Any

    def __post_init__(self) -> None:
        if not (callable(self.given) or (hasattr(self.given, "fit") and hasattr(self.given, "predict"))):
            raise ParameterError(
                "a judge must be a scikit-learn classifier, a predictor with fit and predict, or a function that "
                f"makes one; got {shorten(self.given)}"
            )

    # Findings are remembered by their maker: one object, one maker, whatever it holds.
    def __hash__(self) -> int:
        return id(self.given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Maker) and self.given is other.given

    def __call__(self) -> Predictor:
        if isinstance(self.given, type) or not hasattr(self.given, "fit"):
            return _predictor(self.given())
        return _predictor(self.given if hasattr(self.given, "get_params") else deepcopy(self.given))


def _predictor(given: Any) -> Predictor:
    """Return a predictor; a scikit-learn classifier or regressor becomes one."""
    if hasattr(given, "get_params"):
        return Regression(given, brought=True) if is_regressor(given) else SklearnPredictor(given)
    made: Predictor = given
    return made
