"""What the best classifier of a generalization guesses and believes, and how several of them are judged together.

Who sees more can coarsen: where several generalizations are judged together, the classifier of one may be that of
any coarser one. What a generalization costs is the *paired* difference to everything untouched: on the same
people, most of whom both guess alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.evaluation.declared_groups import GroupErrors, Grouping
from leastwise.evaluation.risk import LabelRisk, NumberErrors, UtilityRisk, label_risks, number_errors, risk_of
from leastwise.generalization import Generalization
from leastwise.predictors.base import CHOOSING, Predictor, Samples, samples
from leastwise.predictors.cross_validation import FOLDS, CrossValidated
from leastwise.predictors.held_out import Difference, told_labels, weighed
from leastwise.predictors.strongest import Strongest, believes
from leastwise.records.table import Split, Table

Array = npt.NDArray[Any]
Part = Literal["train", "validation", "test"]
_JUDGED: tuple[Part, Part] = ("validation", "test")
# How probable it may be that one of all coarser ones seems better by luck.
_LUCK = 0.1
FEW = 20_000
"""With fewer people to learn from, classifiers are chosen by cross-validation."""
MANY_FOLDS = 6
"""Who is told everything gains by every record: with a third of them missing it would seem weaker than it is."""
# Beliefs of very many records times classes are not kept: labels alone tell enough of so many.
_MOST_BELIEFS = 2**22
REPEATS = 2
"""So often folds are drawn. What one classifier learns from these records or those is chance, about one person in
twenty-five; the difference of two classifiers would be as uncertain by that as by who was asked."""


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

    def wrong(self, part: Part, people: Table, label: int | None = None) -> npt.NDArray[Any]:
        """Return about whom of a part it is wrong; of a number, how far off it is.

        Of several labels it is wrong about a share, or right or wrong about the one that is asked for.
        """
        guessed = self.guessed(part, people)
        if label is not None and people.several is not None:
            return people.several.wrong(guessed)[:, label]
        return guessed != people.y if people.graded is None else people.graded.off(guessed)

    def beliefs(self, part: Part, people: Table) -> npt.NDArray[np.float64]:
        """Return what it believes of each record of a part: rows of probabilities."""
        plain = np.frombuffer(bytes.fromhex(self.believed[part]), dtype=np.uint8).reshape(-1, people.classes)
        return np.asarray(plain / np.maximum(plain.sum(axis=1, keepdims=True), 1))

    def risk(self, split: Split, part: Part) -> UtilityRisk:
        """Return the utility risk on a part."""
        people: Table = getattr(split, part)
        risk = risk_of(self.wrong(part, people), split.train, people, self.predictor, self.seconds)
        labels = label_risks(self.guessed(part, people), split.train, people)
        return replace(risk, number=self.in_its_unit(split, part), labels=labels)

    def in_its_unit(self, split: Split, part: Part) -> NumberErrors | None:
        """Return the errors on a part in the unit of the label; None where that has classes."""
        people: Table = getattr(split, part)
        if people.number is None:
            return None
        return number_errors(people.number.levels[self.guessed(part, people)], people)


def _code_type(classes: int) -> np.dtype[Any]:
    return np.dtype(np.uint8 if classes <= 256 else "<u2")


class Learned(NamedTuple):
    """The best classifier of a generalization, learned from people who are not tested.

    Attributes
    ----------
    name
        Who it is.
    rows
        The training part as it sees it.
    unseen
        By part, what it believes of people without having learned from them.
    believes
        What it believes of others.
    """

    name: str
    rows: Samples
    unseen: dict[str, Array]
    believes: Callable[[Samples], Array]

    def best(self, believed: Array) -> npt.NDArray[np.intp]:
        """Return the class that is guessed of each row of beliefs."""
        return self.rows.best(believed)


def learn_label(
    generalization: Generalization, split: Split, predictors: Sequence[Predictor], apart: bool = True
) -> Learned:
    """Learn to guess the label from the training part, and choose who guesses on validation.

    Where records are few, it is chosen by cross-validation over both, and learned from both. ``apart``: whether
    validation does not stand for test, so that validation may be learned from.
    """
    train, validation = (samples(part, generalization, "label") for part in (split.train, split.validation))
    if apart and split.train.people + split.validation.people < FEW:
        everything = all(partition.untouched for partition in generalization.partitions)
        learned = CrossValidated(predictors, folds=MANY_FOLDS if everything else FOLDS, repeats=REPEATS)
        learned.fit(train.and_also(validation), _persons(split))
        unseen = dict(zip(("train", "validation"), np.split(learned.beliefs_, [len(train)]), strict=True))
        return Learned(learned.chosen_, train, unseen, learned.predict)
    some = split.validation.at_most(CHOOSING, "choosing")
    few = validation if some is split.validation else samples(some, generalization, "label")
    choice = Strongest(tuple(predictors))
    seen = choice.fit_believing(train, few)
    seen = seen if few is validation else believes(choice, validation)
    return Learned(choice.chosen_[0], train, {"validation": seen}, partial(believes, choice))


def label_guesses(generalization: Generalization, split: Split, predictors: Sequence[Predictor]) -> LabelGuesses:
    """Let the best classifier guess the label of everybody on validation and on test.

    It learns from the training part and is chosen on validation. Where records are few, it is chosen by
    cross-validation over both, guesses people on validation without having learned from them, and those on test
    from all others.
    """
    start, everything = time.perf_counter(), all(partition.untouched for partition in generalization.partitions)
    # Where validation stands for test, who is tested must not be learned from.
    apart = not np.array_equal(split.validation.codes, split.test.codes)
    learned = learn_label(generalization, split, predictors, apart)
    tested = learned.unseen["validation"]
    if apart:
        tested = learned.believes(samples(split.test, generalization, "label"))
    believed = {**learned.unseen, "test": tested}
    codes = _code_type(split.train.classes)
    guessed = {part: learned.best(each).astype(codes).tobytes().hex() for part, each in believed.items()}
    kept = {part: _in_255ths(each) for part, each in believed.items() if everything and each.size <= _MOST_BELIEFS}
    return LabelGuesses(predictor=learned.name, **guessed, believed=kept, seconds=time.perf_counter() - start)


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
    can coarsen. So a finer one is judged worse by no more than chance. What chance may do among so many coarser
    ones changes nothing: the luckiest classifier would be taken, not the best, and all that is held against
    everything asked would seem to cost less than it does.

    On validation, by which is chosen, the increase of the error is estimated by labels and beliefs together (see
    ``weighed``), of the training part, too, where that was guessed out of fold; on test by labels alone, with what
    beliefs expect beside it. What it costs to ask nothing is told by labels alone, of everybody who was not
    learned from: it was found by no search that looked at them, and whoever believes in noise expects to lose by
    it even where nothing can be told.

    A group is a small part of a small part. Where the training part was guessed out of fold, groups are judged for
    choosing on its people, too: a generalization was made for all of them, not for one group.
    """
    unseen: tuple[Part, ...] = ("train",) if all(guesses.train for guesses in told) else ()
    wrong = [{part: guesses.wrong(part, getattr(split, part)) for part in (*unseen, *_JUDGED)} for guesses in told]
    best = _best_classifiers(generalizations, wrong, split, unseen)
    # Whoever was lucky in place of everything asked must not be what others are held against where it errs more.
    base = {part: min((best[0], 0), key=partial(_errors, wrong, split, part)) for part in _JUDGED}
    grouped = {"validation": split.train.and_also(split.validation) if unseen else split.validation}
    decide, names = told_of_several(told[0], split), [each.name for each in split.train.schema.labels]
    untold, utilities = {name for place, name in enumerate(names) if decide and place not in decide}, []
    for own, chosen in enumerate(best):
        risks = {}
        for part in _JUDGED:
            mine = chosen if own else base[part]
            note = "" if mine == own else " of a coarser one"
            people, seen = getattr(split, part), (*unseen, part) if part == "validation" else (part,)
            risk = risk_of(wrong[mine][part], split.train, people, told[mine].predictor + note, told[own].seconds)
            expected = _expected(told[mine], told[base[part]], told[0], split, seen)
            guessed, everything = (np.concatenate([wrong[i][each] for each in seen]) for i in (mine, base[part]))
            groups = GroupErrors.of(guessed, everything, grouped.get(part, people), groupings)
            labels_only = part == "validation" and not generalizations[own].collected
            if labels_only:
                more = _cost_of_nothing(told[mine], told[base[part]], told[0], split, seen)
            elif part == "validation" and expected is not None:
                of_classes = expected if people.number is None else None
                more = _estimated(told[mine], told[base[part]], told[0], split, seen, of_classes)
            else:
                more = _increase(wrong[mine][part], wrong[base[part]][part], wrong[0][part], people)
            number = told[mine].in_its_unit(split, part)
            each = _about_each_label(told[mine], told[base[part]], told[0], split, part, seen, labels_only)
            labels = tuple(replace(one, untold=one.label in untold) for one in each)
            risks[part] = replace(
                risk, increase=more, expected=expected, groups=groups, number=number, labels=labels
            )
        utilities.append(Utilities(**risks))
    return utilities


def _cost_of_nothing(
    nothing: LabelGuesses,
    best: LabelGuesses,
    everything: LabelGuesses,
    split: Split,
    seen: Sequence[Part],
    label: int | None = None,
) -> Difference:
    """Return by how much more often somebody errs who is told nothing, by labels of all who were not learned from.

    ``best`` is whose guesses count as those of everything asked; ``label`` is which of several is meant.
    """
    guessed = None
    if "train" in seen:
        guessed = _guessing(split.train.and_also(split.validation), label)
    return _increase_on(nothing, best, everything, split, seen, label, guessed)


def _increase_on(
    coarse: LabelGuesses,
    best: LabelGuesses,
    everything: LabelGuesses,
    split: Split,
    seen: Sequence[Part],
    label: int | None,
    guessed: Array | None = None,
) -> Difference:
    """Return the paired increase over everything asked by labels of these parts, about one label or all.

    ``guessed`` is about whom who sees less is wrong, where that is not its own guesses.
    """
    people = split.train.and_also(split.validation) if len(seen) > 1 else getattr(split, seen[-1])
    wrong = [
        np.concatenate([each.wrong(part, getattr(split, part), label) for part in seen])
        for each in (coarse, best, everything)
    ]
    return _increase(wrong[0] if guessed is None else guessed, wrong[1], wrong[2], people)


def _estimated(
    coarse: LabelGuesses,
    best: LabelGuesses,
    everything: LabelGuesses,
    split: Split,
    seen: Sequence[Part],
    expected: float | None,
    label: int | None = None,
) -> Difference:
    """Estimate the increase over everything asked by labels of these parts and by what beliefs expect."""

    def increase(part: Part) -> Difference:
        return _increase_on(coarse, best, everything, split, [part], label)

    made_of = None
    if "train" in seen:
        wrong = [each.wrong("train", split.train, label) for each in (coarse, best)]
        made_of = increase("train") if np.any(wrong[0] != wrong[1]) else None
    return weighed(increase("validation"), expected, made_of=made_of)


def _guessing(people: Table, label: int | None) -> Array:
    """Return about whom the guess is wrong, the same of everybody, that is best in hindsight.

    Out of fold the most frequent class of the others is guessed: of a label that is balanced, just the rarer one.
    """
    if label is not None and people.several is not None:
        own = people.several.exact[:, label]
        return np.asarray(own != np.bincount(own, weights=people.counts).argmax())

    def wrong(guess: int) -> Array:
        everybody = np.full(len(people), guess)
        return everybody != people.y if people.graded is None else people.graded.off(everybody)

    return min(map(wrong, range(people.classes)), key=lambda each: float(people.counts @ each))


def told_of_several(everything: LabelGuesses, split: Split) -> tuple[int, ...]:
    """Return which of several labels can be told at all, by who is told everything; none where there is one."""
    people, guessed = split.validation, everything.guessed("validation", split.validation)
    if people.several is None:
        return ()
    if everything.train:  # out of fold: these were not learned from either
        guessed = np.concatenate([everything.guessed("train", split.train), guessed])
        people = split.train.and_also(people)
    assert people.several is not None
    return told_labels(people.several, guessed, people.counts, people.persons)


def _about_each_label(
    coarse: LabelGuesses,
    best: LabelGuesses,
    everything: LabelGuesses,
    split: Split,
    part: Part,
    seen: Sequence[Part],
    labels_only: bool,
) -> tuple[LabelRisk, ...]:
    """Return the risks about each of several labels, with their increases, as of all together."""
    people: Table = getattr(split, part)
    risks = []
    for place, risk in enumerate(label_risks(coarse.guessed(part, people), split.train, people)):
        expected = _expected(coarse, best, everything, split, seen, place)
        if labels_only:
            more = _cost_of_nothing(coarse, best, everything, split, seen, place)
        elif part == "validation" and expected is not None:
            more = _estimated(coarse, best, everything, split, seen, expected, place)
        else:
            more = _increase_on(coarse, best, everything, split, (part,), place)
        risks.append(replace(risk, increase=more, expected=expected))
    return tuple(risks)


def _best_classifiers(
    generalizations: Sequence[Generalization],
    wrong: Sequence[Mapping[Part, Array]],
    split: Split,
    unseen: Sequence[Part],
) -> list[int]:
    """Return whose classifier each uses: its own, or that of a coarser one that is told to be better.

    Validation tells it. Where people of the training part were not learned from either, they must not speak
    against it, although the coarser one was made for them.
    """
    people, best = split.validation, []
    parts: tuple[Part, ...] = (*unseen, "validation")
    errors = [[_errors(wrong, split, part, i) for part in parts] for i in range(len(wrong))]
    for own, generalization in enumerate(generalizations):
        mine = wrong[own]["validation"].astype(float)
        coarser = [i for i, g in enumerate(generalizations) if i != own and g.is_coarser_than(generalization)]
        level = NormalDist().inv_cdf(1 - _LUCK / max(len(coarser), 1))
        told_better = [
            i
            for i in coarser
            if all(theirs < ours for theirs, ours in zip(errors[i], errors[own], strict=True))
            and Difference.of(mine - wrong[i]["validation"], people.counts, people.persons).bound(-level) > 0
        ]
        best.append(min([own, *told_better], key=lambda i: errors[i][-1]))
    return best


def _errors(wrong: Sequence[Mapping[Part, Array]], split: Split, part: Part, one: int) -> float:
    """Return about how many people of a part one of them is wrong."""
    people: Table = getattr(split, part)
    return float(people.counts @ wrong[one][part])


def _expected(
    coarse: LabelGuesses,
    best: LabelGuesses,
    everything: LabelGuesses,
    split: Split,
    parts: Sequence[Part],
    label: int | None = None,
) -> float | None:
    """Return by how much more often somebody errs who sees less, by the beliefs of who sees everything.

    ``best`` is whose guesses count as those of everything asked; ``label`` is which of several is meant, where it
    is not all of them. None where nobody knows what is believed.
    """
    lost, people = 0.0, 0.0
    for part in parts:
        if part not in everything.believed:
            return None
        table: Table = getattr(split, part)
        off = _off_by_beliefs(everything.beliefs(part, table), table, label)
        row = np.arange(len(table))
        lost += float(table.counts @ (off[row, coarse.guessed(part, table)] - off[row, best.guessed(part, table)]))
        people += float(table.counts.sum())
    return lost / people


def _off_by_beliefs(beliefs: npt.NDArray[np.float64], people: Table, label: int | None) -> npt.NDArray[np.float64]:
    """Return, record by record, how wrong each guess would be if the beliefs are right."""
    if label is not None and people.several is not None:
        return np.asarray(beliefs @ people.several.distances_of(label))
    return 1 - beliefs if people.graded is None else np.asarray(beliefs @ people.graded.distances)


def _increase(guessed: Array, everything: Array, its_own: Array, people: Table) -> Difference:
    """Return the paired increase over everything asked.

    Where the best classifier of everything asked is that of a coarser one, the two may hardly differ, but a better
    one might be learned: how uncertain that is shows in what its own classifier guesses.
    """
    more = Difference.of(guessed.astype(float) - everything, people.counts, people.persons)
    own = Difference.of(guessed.astype(float) - its_own, people.counts, people.persons)
    return Difference(more.mean, max(more.standard_error, own.standard_error))
