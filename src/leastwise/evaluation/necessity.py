"""Necessity: what each question, and each boundary between two answers, is worth; and what it gives an attacker.

Whoever must answer for a question is asked whether it is *necessary*. That is found by leaving it out: the
classifier is learned anew from the training part, chosen on validation and judged on test, of which the
generalization was not made. Both are judged on the same people, so the difference is paired. A question that is
not asked is put beside the others, in full or in a few ranges, whichever validation prefers. A1 attacks by
counting; boundaries are judged by counting and an additive model, which are learned in a moment.

Everything is told one way round: how much more often the model errs, and A1 errs, *without it*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.documents import Document, html
from leastwise.documents.wording import counted, listed
from leastwise.evaluation.certificate import check_held_out, check_origin
from leastwise.evaluation.risk import NumberErrors, number_errors
from leastwise.evaluation.utility import parts_of
from leastwise.evaluation.worth import (
    ASKED,
    LEVEL,
    NOT_ASKED,
    Estimate,
    Worth,
    left_out,
    put_beside,
    reason,
    rows,
)
from leastwise.generalization import Generalization
from leastwise.generalization.describe import how_asked
from leastwise.minimizers.merging import mergeable
from leastwise.partition import Partition, Untouched, from_map, keep, suppress
from leastwise.predictors import JointBuckets, Logistic
from leastwise.predictors import held_out as judging
from leastwise.predictors.base import CHOOSING, Predictor, samples
from leastwise.predictors.held_out import Difference, HeldOut
from leastwise.predictors.regression import linear
from leastwise.predictors.strongest import guesses
from leastwise.progress import Progress, Silent
from leastwise.records.grouping import numbered_runs, quantile_of
from leastwise.records.several import Several
from leastwise.records.table import Split, Table

# What has an order and is not asked is tried in full, and in so many parts of about equally many people.
_PARTS = 8
_LEARNED = 50_000  # boundaries are many; only what one of them changes counts, and both sides learn alike


@dataclass(frozen=True, kw_only=True)
class Necessity(Document):
    """What every question and every boundary of a generalization is worth.

    Attributes
    ----------
    fingerprint
        Of the generalization.
    seed, people
        Of the split, and how many people its test part has.
    error, adversary_error
        How often the model errs as things are, and A1 by counting; None where nothing is personal.
    asked, not_asked, boundaries
        Each question that is asked, each that is not, and each pair of neighbouring answers.
    together
        All asked questions at once that buy nothing one by one: of two that tell the same, one is needed. None
        where there are not two.
    number
        How far off the model is in the unit of the label, where that is a number.
    """

    FORMAT: ClassVar[str] = "leastwise-necessity"
    CALLED: ClassVar[str] = "necessity"

    fingerprint: str
    seed: int
    people: float
    error: float
    adversary_error: float | None
    asked: tuple[Worth, ...]
    not_asked: tuple[Worth, ...]
    boundaries: tuple[Worth, ...]
    together: Worth | None
    number: NumberErrors | None = None

    def __repr__(self) -> str:
        needed = sum(each.buys == "accuracy" for each in self.asked)
        return f"<Necessity of {counted(len(self.asked), 'question')}, {needed} needed>"

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), self.method()])

    def _repr_html_(self) -> str:
        *shown, _ = self.tables()  # a cell has no room for boundaries; a sentence tells them
        parts = [html.heading(each.title) + html.table(each.columns, each.rows) for each in shown if each.rows]
        return html.box(*parts, html.paragraphs([*self.boundary_sentences(), self.method()], soft=True))

    def sentences(self) -> list[str]:
        """Say of each question what it is worth, and of the boundaries which could go."""
        return [
            *(left_out(each, self.number) for each in self._left_out),
            *(put_beside(each, self.number) for each in self.not_asked),
            *self.boundary_sentences(),
        ]

    @property
    def _left_out(self) -> list[Worth]:
        return [*self.asked, *([] if self.together is None else [self.together])]

    def boundary_sentences(self) -> list[str]:
        """Say which neighbouring answers could be one; nothing where boundaries were not judged."""
        if not self.boundaries:
            return []
        free, every = (
            Counter(each.attribute for each in self.boundaries if each.buys in buys)
            for buys in (("nothing",), ("nothing", "sureness", "accuracy"))
        )
        of = f"Of {counted(len(self.boundaries), 'pair')} of neighbouring answers"
        if not free:
            return [f"{of} none could be one answer without a loss that these records can tell."]
        named = listed([f"{count} of {every[name]} of {name}" for name, count in free.items()])
        return [f"{of} {free.total()} could be one answer, each by itself and by counting: {named}."]

    def method(self) -> str:
        """Say how it was found, once for all sentences."""
        return (
            f"Judged on {counted(self.people, 'person', 'people')} of whom the generalization was not made, the "
            f"model learned anew each time; ranges are {100 * LEVEL:.0f} % intervals of paired differences, each "
            "by itself. A1, who steals the records, attacks by counting."
            + ("" if self.number is None else f" {self.number.what_points_are()}")
            + (" Errors are the weighted mean over the labels, and about each of them." if self._several else "")
        )

    @property
    def _several(self) -> bool:
        return any(each.by_label for each in (*self.asked, *self.not_asked))

    def reasons(self) -> dict[str, str]:
        """Return, by question, why it is asked, in the words of the people who are asked."""
        # Of questions that tell the same each buys nothing, and yet one is needed.
        alike = self.together is not None and self.together.buys != "nothing"
        return {each.attribute: reason(each, alike, self.number) for each in self.asked}

    def tables(self) -> list[Listing]:
        """Return what is asked, what is not, and the boundaries, each as a table of texts."""
        errors = [f"{who} errs more without it, in points" for who in ("the model", "A1")]
        return [
            Listing("Asked", ["question", "verdict", *errors, "asked as"], rows(self._left_out, ASKED)),
            Listing("Not asked", ["question", "verdict", *errors, "tried as"], rows(self.not_asked, NOT_ASKED)),
            Listing(
                "Boundaries between answers (by counting)",
                ["question", "verdict", *errors, "between"],
                rows(self.boundaries, ASKED),
            ),
        ]


class Listing(NamedTuple):
    """A table of texts under its title."""

    title: str
    columns: list[str]
    rows: list[list[str]]


# Judging ---------------------------------------------------------------------------------------------------------


def necessity_of(
    generalization: Generalization,
    records: Table | Split,
    seed: int = 0,
    *,
    held_out: bool = False,
    boundaries: bool = True,
    predictors: Sequence[Predictor] | None = None,
    progress: Progress | None = None,
) -> Necessity:
    """Return what every question is worth, and every boundary between two answers.

    Parameters
    ----------
    generalization
        Must not have been chosen by looking at the test part: see ``evaluate``.
    records
        All records, which are split by the seed, or the three parts; with a label.
    held_out
        Says that none of these records had a say in choosing the generalization, whatever its origin says.
    boundaries
        Whether boundaries are judged too: they are many, though each takes a moment only.
    predictors
        That the classifier is chosen from; by default counting, an additive model and boosting.
    progress
        Is told of every question and every boundary.
    """
    split = parts_of(records, seed)
    generalization = generalization.within(split.test.schema)
    check_held_out(split.test)
    if not held_out:
        check_origin(generalization, split.test.split_seed)
    judge = _Judge(split, predictors or judging.label_predictors())
    shown, now = progress or Silent(), judge.judge(generalization)
    pairs = [*judge.pairs(generalization)] if boundaries else []
    shown.begin("questions", len(generalization))
    asked, not_asked, between = list[Worth](), list[Worth](), list[Worth]()
    for partition in generalization.partitions:
        if partition.suppressed:
            not_asked.append(judge.put_beside(generalization, now, partition))
        else:
            asked.append(judge.without(generalization, now, [partition.attribute.name]))
        shown.advance()
    silent = [each.attribute for each in asked if each.buys == "nothing"]
    together = judge.without(generalization, now, silent) if len(silent) > 1 else None
    if pairs:
        quick = _Judge(_some_of(split), (JointBuckets(), Logistic(), linear()), compared=False)
        before = quick.judge(generalization)
        shown.begin("boundaries", len(pairs))
        for partition, (first, second) in pairs:
            less = quick.judge(_with(generalization, partition.merge(first, second)))
            answers = f"{partition.labels[first]} | {partition.labels[second]}"
            between.append(_worth(partition, answers, before, less))
            shown.advance()
    return Necessity(
        fingerprint=generalization.fingerprint,
        seed=seed,
        people=split.test.people,
        error=now.model.error,
        adversary_error=now.adversary_error,
        asked=tuple(asked),
        not_asked=tuple(not_asked),
        boundaries=tuple(between),
        together=together,
        number=_in_unit(now, split.test),
    )


def _in_unit(now: _Judged, test: Table) -> NumberErrors | None:
    return None if test.number is None else number_errors(test.number.levels[now.model.guessed], test)


@dataclass(frozen=True, eq=False)
class _Judged:
    """How a generalization is judged on test: person by person, and by A1; and its log loss on validation."""

    model: HeldOut
    attack: Mapping[str, float]
    doubt: float
    persons: npt.NDArray[np.intp] | None
    labels: tuple[str, ...]

    @property
    def adversary_error(self) -> float | None:
        return float(np.mean([*self.attack.values()])) if self.attack else None


@dataclass(frozen=True, eq=False)
class _Judge:
    """Learns anew, and judges on test."""

    split: Split
    predictors: Sequence[Predictor]
    compared: bool = True  # whether A1 also tries to do without the label

    def judge(self, generalization: Generalization) -> _Judged:
        train, validation, test = self.split
        before, chosen = judging.held_out(generalization, train, validation, self.predictors)
        rows = samples(test, generalization, "label")
        (found,) = guesses(chosen, rows)
        attack = self._attack(generalization) if test.personal else {}
        doubt = float(np.average(before.surprise, weights=before.weights))
        labels = tuple(label.name for label in test.schema.labels)
        return _Judged(HeldOut.of(found, rows), attack, doubt, test.persons, labels)

    def _attack(self, generalization: Generalization) -> dict[str, float]:
        found = Reconstruction(JointBuckets, compared=self.compared).attack(Breach.of(generalization, self.split))
        return {each.attribute: each.adversary_error for each in found.attributes}

    def without(self, generalization: Generalization, now: _Judged, names: Sequence[str]) -> Worth:
        """Leave out one question, or several at once."""
        left = [partition for partition in generalization.partitions if partition.attribute.name in names]
        less = self.judge(_with(generalization, *(suppress(partition.attribute) for partition in left)))
        if len(left) == 1:
            return _worth(left[0], how_asked(left[0]), now, less)
        return replace(
            _worth(left[0], "together", now, less),
            attribute=listed(names),
            personal=any(partition.attribute.personal for partition in left),
            own=None,
        )

    def put_beside(self, generalization: Generalization, now: _Judged, partition: Partition) -> Worth:
        """Ask a question too, in the form that validation prefers."""
        j = generalization.schema.names.index(partition.attribute.name)
        tried = [(form, self.judge(_with(generalization, form))) for form in _forms(self.split.train, j)]
        form, more = min(tried, key=lambda each: each[1].doubt)
        return _worth(partition, how_asked(form), more, now)

    def pairs(self, generalization: Generalization) -> Iterator[tuple[Partition, tuple[int, int]]]:
        """Yield neighbouring answers; groups without an order are neighbours by their mean label."""
        train = self.split.train
        for j, (partition, buckets) in enumerate(
            zip(generalization.partitions, train.bucket_maps(generalization), strict=True)
        ):
            # A question of two answers is its boundary, and a number that is asked exactly has none.
            if isinstance(partition, Untouched) or partition.size <= 2:
                continue
            bucket = buckets[train.codes[:, j]]
            use, label = (
                np.bincount(bucket, weights=train.counts * each, minlength=partition.size)
                for each in (np.ones(len(train)), train.y)
            )
            for pair in mergeable(partition, label / np.maximum(use, 1), use):
                yield partition, pair


def _some_of(split: Split) -> Split:
    """Return the split with fewer to learn from, where they are very many; who is judged stays whole."""
    train, validation = split.train.at_most(_LEARNED, "boundaries"), split.validation.at_most(CHOOSING, "choosing")
    return Split(train, validation, split.test)


def _worth(partition: Partition, asked_as: str, more: _Judged, less: _Judged) -> Worth:
    name, people = partition.attribute.name, (less.model.weights, less.persons)
    lost = {each: less.attack[each] - more.attack[each] for each in more.attack}
    return Worth(
        attribute=name,
        personal=partition.attribute.personal,
        asked_as=asked_as,
        error=Estimate.of(Difference.of(less.model.wrong - more.model.wrong, *people)),
        log_loss=Estimate.of(Difference.of(less.model.surprise - more.model.surprise, *people)),
        adversary_error=float(np.mean([*lost.values()])) if lost else None,
        own=lost.get(name),
        by_label=_by_label(more, less),
    )


def _by_label(more: _Judged, less: _Judged) -> dict[str, Estimate] | None:
    """Return how much more often it errs about each of several labels; None where there is one."""
    several = less.model.graded
    if not isinstance(several, Several):
        return None
    lost = several.wrong(less.model.guessed).astype(float) - several.wrong(more.model.guessed)
    people = less.model.weights, less.persons
    return {name: Estimate.of(Difference.of(lost[:, i], *people)) for i, name in enumerate(less.labels)}


def _with(generalization: Generalization, *changed: Partition) -> Generalization:
    """Return it with some attributes asked in another way."""
    ways = {partition.attribute.name: partition for partition in (*generalization.partitions, *changed)}
    return replace(generalization, partitions=tuple(ways.values()))


def _forms(train: Table, j: int) -> list[Partition]:
    """Return how a question might be asked: in full, and what has an order in a few parts too."""
    table, attribute = train.with_own_levels(), train.schema.attributes[j]
    use = table.use(j)[: len(table.levels[j])]
    if attribute.kind == "discrete" or len(use) <= _PARTS:
        return [keep(attribute)]
    runs = numbered_runs(np.minimum(quantile_of(use, _PARTS), _PARTS - 1))
    beside = runs.max() + 1 + np.arange(attribute.extra_values)
    return [keep(attribute), from_map(attribute, table.levels[j], np.concatenate([runs, beside]))]
