"""Utility risk: how often the best classifier is wrong that sees only generalized records.

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
from sklearn.base import clone

from leastwise.adversaries.guessing import MakePredictor, StrongestOf
from leastwise.confidence import Interval, error_interval
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.declared_groups import GroupErrors, Grouping
from leastwise.generalization import Generalization
from leastwise.partition import Untouched
from leastwise.predictors.base import Predictor, samples
from leastwise.predictors.boosting import Boosting
from leastwise.predictors.cross_validation import FOLDS, CrossValidated
from leastwise.predictors.held_out import Difference
from leastwise.predictors.sklearn import Logistic, SklearnPredictor, fit_weighted
from leastwise.predictors.strongest import Strongest, default_predictors, guesses
from leastwise.records.table import Split, Table
from leastwise.validation import check_choice, described

Array = npt.NDArray[Any]
Frame = Literal["labels", "codes"]
Part = Literal["train", "validation", "test"]
FEW = 20_000
"""With fewer people to learn from, classifiers are chosen by cross-validation."""
MANY_FOLDS = 6
"""Who is told everything gains by every record: with a third of them missing it would seem weaker than it is."""
REPEATS = 2
"""So often folds are drawn. What one classifier learns from these records or those is chance, about one person in
twenty-five; the difference of two classifiers would be as uncertain by that as by who was asked."""


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
    groups
        How it serves the groups that were declared; None where there are none.
    """

    error: float
    interval: Interval
    baseline: float
    people: float
    predictor: str
    increase: Difference | None = None
    groups: GroupErrors | None = None
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
    return *default_predictors(quick, seed), Boosting(seed=seed), gentle, numbers, Logistic()


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
    """About whom the best classifier of a generalization is wrong, on validation and on test: a bit a record.

    Attributes
    ----------
    predictor
        Who predicted.
    validation, test
        The bits in the order of the records, in hexadecimal digits.
    train
        The same of the training part, where records are few: out of fold, so nobody was learned from who is
        guessed. Empty where they are many.
    """

    predictor: str
    validation: str
    test: str
    train: str = ""
    seconds: float = field(default=0.0, compare=False)

    def wrong(self, part: Part, records: int) -> npt.NDArray[np.bool_]:
        """Return about whom of a part it is wrong."""
        packed = np.frombuffer(bytes.fromhex(getattr(self, part)), dtype=np.uint8)
        return np.unpackbits(packed, count=records).astype(bool)

    def risk(self, split: Split, part: Part) -> UtilityRisk:
        """Return the utility risk on a part."""
        people: Table = getattr(split, part)
        return _risk(self.wrong(part, len(people)), split.train, people, self.predictor, self.seconds)


def label_guesses(generalization: Generalization, split: Split, predictors: Sequence[Predictor]) -> LabelGuesses:
    """Let the best classifier guess the label of everybody on validation and on test.

    It learns from the training part and is chosen on validation. Where records are few, it is chosen by
    cross-validation over both, guesses people on validation without having learned from them, and those on test
    from all others.
    """
    start = time.perf_counter()
    train, validation, test = (samples(part, generalization, "label") for part in split)
    # Where validation stands for test, who is tested must not be learned from.
    apart = not np.array_equal(split.validation.codes, split.test.codes)
    if apart and split.train.people + split.validation.people < FEW:
        folds = MANY_FOLDS if all(partition.untouched for partition in generalization.partitions) else FOLDS
        learned = CrossValidated(predictors, folds=folds, repeats=REPEATS)
        learned.fit(train.and_also(validation), _persons(split))
        name, unseen = learned.chosen_, np.split(learned.out_of_fold_.values, [len(train)])
        found = {"train": unseen[0], "validation": unseen[1], "test": learned.guess(test).values}
    else:
        choice = Strongest(tuple(predictors)).fit(train, validation)
        name, guessed = choice.chosen_[0], {"validation": validation, "test": test}
        found = {part: guesses(choice, people)[0].values for part, people in guessed.items()}
    truth = {"train": train, "validation": validation, "test": test}
    bits = {part: _packed(values != truth[part].targets[:, 0]) for part, values in found.items()}
    return LabelGuesses(predictor=name, **bits, seconds=time.perf_counter() - start)


def _packed(wrong: npt.NDArray[np.bool_]) -> str:
    return np.packbits(wrong).tobytes().hex()


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

    A group is a small part of a small part. Where the training part was guessed out of fold, groups are judged for
    choosing on its people, too: a generalization was made for all of them, not for one group.
    """
    unseen: tuple[Part, ...] = ("train",) if all(guesses.train for guesses in told) else ()
    parts: tuple[Part, ...] = (*unseen, "validation", "test")
    wrong = [{part: guesses.wrong(part, len(getattr(split, part))) for part in parts} for guesses in told]
    validation = split.validation
    grouped = split.train.and_also(validation) if groupings and unseen else None
    errors = [float(validation.counts[each["validation"]].sum()) for each in wrong]
    found: list[Utilities] = []
    best: dict[int, int] = {}
    for own, generalization in enumerate(generalizations):
        mine = wrong[own]["validation"].astype(float)
        told_better = [
            i
            for i, g in enumerate(generalizations)
            if errors[i] < errors[own]
            and g.is_coarser_than(generalization)
            and Difference.of(mine - wrong[i]["validation"], validation.counts, validation.persons).bound(-1) > 0
        ]
        best[own] = min([own, *told_better], key=lambda i: errors[i])
        note = "" if best[own] == own else " of a coarser one"
        risks = {}
        for part in parts[-2:]:
            people, guessed, everything = getattr(split, part), wrong[best[own]][part], wrong[best[0]][part]
            risk = _risk(guessed, split.train, people, told[best[own]].predictor + note, told[own].seconds)
            more = _increase(guessed, everything, wrong[0][part], people)
            if part == "validation" and grouped is not None:
                people = grouped
                guessed, everything = (_joined(wrong[best[i]]) for i in (own, 0))
            groups = GroupErrors.of(guessed, everything, people, groupings)
            risks[part] = replace(risk, increase=more, groups=groups)
        found.append(Utilities(**risks))
    return found


def _joined(wrong: Mapping[Part, npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    return np.concatenate([wrong["train"], wrong["validation"]])


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
        parts.train.y.astype(int),
        parts.train.counts,
    )
    predicted = np.asarray(fitted.predict(generalized_frame(parts.test, generalization, frame)))
    seconds = time.perf_counter() - start
    return _risk(predicted.astype(int) != parts.test.y, parts.train, parts.test, type(estimator).__name__, seconds)


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
    errors, people = float(counts[wrong].sum()), float(counts.sum())
    classes = np.bincount(train.y, weights=train.counts, minlength=train.classes)
    guessed = counts[judged.y != int(classes.argmax())].sum()
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
    """Return a predictor; a scikit-learn classifier becomes one."""
    made: Predictor = SklearnPredictor(given) if hasattr(given, "get_params") else given
    return made
