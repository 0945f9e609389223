"""How necessity is found: by leaving a question out, or asking one more, and learning anew.

The classifier is learned anew from the training part, chosen on validation and judged on test, of which the
generalization was not made. Both are judged on the same people, so the difference is paired. A question that is
not asked is put beside the others, in full or in a few ranges, whichever validation prefers. A1 attacks by
counting; boundaries are judged by counting and an additive model, which are learned in a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.documents.wording import listed
from leastwise.evaluation.certificate import check_held_out, check_origin
from leastwise.evaluation.necessity import Necessity
from leastwise.evaluation.risk import number_errors
from leastwise.evaluation.utility import parts_of
from leastwise.evaluation.worth import Estimate, Worth
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
Mapped = Callable[[Callable[..., Worth], Iterable[Sequence[Any]]], Iterator[Worth]]


def necessity_of(
    generalization: Generalization,
    records: Table | Split,
    seed: int = 0,
    *,
    held_out: bool = False,
    boundaries: bool = True,
    predictors: Sequence[Predictor] | None = None,
    progress: Progress | None = None,
    mapped: Mapped = starmap,
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
    mapped
        Yields what a function makes of each of several tasks, in their order: one here after the other, or where
        several work (``Workers.map`` of ``leastwise.runs``), at the same time.
    """
    split = parts_of(records, seed)
    generalization = generalization.within(split.test.schema)
    check_held_out(split.test)
    if not held_out:
        check_origin(generalization, split.test.split_seed)
    judge = _Judge(split, predictors or judging.label_predictors())
    shown, now = progress or Silent(), judge.judge(generalization)
    shown.begin("questions", len(generalization))
    asked, not_asked = list[Worth](), list[Worth]()
    tasks = [(judge, generalization, now, partition) for partition in generalization.partitions]
    for partition, worth in zip(generalization.partitions, mapped(_Judge.question, tasks), strict=True):
        (not_asked if partition.suppressed else asked).append(worth)
        shown.advance()
    silent = [each.attribute for each in asked if each.buys == "nothing"]
    together = judge.without(generalization, now, silent) if len(silent) > 1 else None
    between = _between(judge, generalization, shown, mapped) if boundaries else ()
    number = split.test.number
    return Necessity(
        fingerprint=generalization.fingerprint,
        seed=seed,
        people=split.test.headcount,
        error=now.model.error,
        adversary_error=now.adversary_error,
        asked=tuple(asked),
        not_asked=tuple(not_asked),
        boundaries=between,
        together=together,
        number=None if number is None else number_errors(number.levels[now.model.guessed], split.test),
    )


def _between(judge: _Judge, generalization: Generalization, shown: Progress, mapped: Mapped) -> tuple[Worth, ...]:
    """Return what every boundary is worth, by classifiers that are learned in a moment."""
    pairs = [*judge.pairs(generalization)]
    if not pairs:
        return ()
    quick = _Judge(_some_of(judge.split), (JointBuckets(), Logistic(), linear()), compared=False)
    before, worths = quick.judge(generalization), list[Worth]()
    shown.begin("boundaries", len(pairs))
    for worth in mapped(_Judge.boundary, [(quick, generalization, before, *pair) for pair in pairs]):
        worths.append(worth)
        shown.advance()
    return tuple(worths)


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

    def judge(self, generalization: Generalization, attacked: bool = True) -> _Judged:
        train, validation, test = self.split
        predictors = deepcopy(self.predictors)  # others may judge at the same time
        before, chosen = judging.held_out(generalization, train, validation, predictors)
        rows = samples(test, generalization, "label")
        (guessed,) = guesses(chosen, rows)
        attack = self._attack(generalization) if attacked else {}
        doubt = float(np.average(before.surprise, weights=before.weights))
        labels = tuple(label.name for label in test.schema.labels)
        return _Judged(HeldOut.of(guessed, rows), attack, doubt, test.persons, labels)

    def _attack(self, generalization: Generalization) -> dict[str, float]:
        if not self.split.test.personal:
            return {}
        attack = Reconstruction(JointBuckets, compared=self.compared).attack(Breach.of(generalization, self.split))
        return {each.attribute: each.adversary_error for each in attack.attributes}

    def question(self, generalization: Generalization, now: _Judged, partition: Partition) -> Worth:
        """Leave out a question that is asked, or ask one that is not."""
        if partition.suppressed:
            return self.put_beside(generalization, now, partition)
        return self.without(generalization, now, [partition.attribute.name])

    def boundary(
        self, generalization: Generalization, now: _Judged, partition: Partition, pair: tuple[int, int]
    ) -> Worth:
        """Make two answers one."""
        less = self.judge(_with(generalization, partition.merge(*pair)))
        return _worth(partition, " | ".join(partition.labels[bucket] for bucket in pair), now, less)

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
        tried = [(form, self.judge(_with(generalization, form), False)) for form in _forms(self.split.train, j)]
        form, more = min(tried, key=lambda each: each[1].doubt)
        more = replace(more, attack=self._attack(_with(generalization, form)))
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
