"""The search for the least: what is known while a generalization is made coarser, and what is free.

What is free is told by validation, and by beliefs: those of who sees more say what somebody who sees less would
miss, and look at no label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.path import Step, coarsening_steps
from leastwise.minimizers.constraints.constraints import Constraints, MergeRules
from leastwise.minimizers.merging.few_answers import READABLE, longer, runs
from leastwise.minimizers.merging.pairs import by_cost, merged, worth_their_cost
from leastwise.partition import suppress
from leastwise.predictors.base import samples
from leastwise.predictors.held_out import Difference, Folds, HeldOut, Reference, held_out
from leastwise.predictors.strongest import Strongest
from leastwise.random import generator
from leastwise.records.table import Table

# A loss of accuracy that is below so many standard errors is not told (one-sided, 90 %) ...
_CHANCE = 1.28
# ... and so many leave no doubt (99 %) where the log loss tells nothing.
_SURELY = 2.33
LOSS = 0.003
"""... and nothing is lost on the sly: by the beliefs of who sees more it costs at most this, or twice as much
where the log loss falls, because then these beliefs are too sure."""
# Classifiers learn from at most so many records: every question and many merges are tried.
_MOST_RECORDS = 12_000
# Before the end of a path of merges, where its beliefs are tried.
_LENGTHS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)
# Lagrange multiplier of the classifier error along the path of merges: nearly all that counts.
_SAVING = 20.0
# Up to so many questions, each is left out in turn; of more, the least important are tried together first.
_FEW_QUESTIONS = 12
# A fitted classifier of a hundred questions takes many megabytes, and hundreds are tried.
_MOST_FITTED = 16
# So many pairs, or questions, in a row that turn out to cost something are enough: they come in the order of that.
_PATIENCE = 3


class Limit(NamedTuple):
    """How much more often somebody who sees less may err than with everything asked.

    ``errors`` standard errors are added to the increase, which is estimated on validation.
    """

    everything: Reference
    increase: float
    errors: float

    def left(self, judged: HeldOut) -> float:
        """Return how much more might be lost; below 0 where too much is."""
        return self.increase - self.everything.increase_of(judged).bound(self.errors)

    def is_kept_by(self, judged: HeldOut) -> bool:
        """Return whether it is kept."""
        return self.left(judged) >= 0


class Witness(NamedTuple):
    """Whose beliefs say what a merge costs: how it is judged, and what it thinks of each label, on validation."""

    judged: HeldOut
    beliefs: npt.NDArray[Any]

    def misses(self, coarser: HeldOut) -> float:
        """Return how much more often somebody errs who sees less, if the beliefs are right."""
        return coarser.expected_loss(self.beliefs) - self.judged.expected_loss(self.beliefs)


@dataclass(eq=False)
class Search:
    """What is known while a generalization is made coarser; each is learned and judged once."""

    train: Table
    validation: Table
    constraints: Constraints
    own: Table  # the training part with its own numbers only: those of others must not make an edge
    loss: float = LOSS
    limit: Limit | None = None
    cautious: bool = False
    people: Table = field(init=False)  # the validation part, person by person
    given: Witness = field(init=False)  # what everything that follows, which is coarser, is held against
    surest: Witness = field(init=False)  # who was the least surprised by validation so far
    learned: bool = False  # whether others have been believed than the given one
    needed: set[str] = field(default_factory=set)  # questions without which too much is lost, whatever is merged
    _judged: dict[str, HeldOut] = field(default_factory=dict)
    _fitted: dict[str, Strongest] = field(default_factory=dict)

    def judge(self, generalization: Generalization) -> HeldOut:
        """Return how well the classifier guesses validation that learned from what a generalization tells."""
        if generalization.fingerprint not in self._judged:
            self._learn(generalization)
        return self._judged[generalization.fingerprint]

    def classifier(self, generalization: Generalization) -> Strongest:
        """Return who judged it; the last few are kept, and another one learns the same again."""
        if generalization.fingerprint not in self._fitted:
            self._learn(generalization)
        return self._fitted[generalization.fingerprint]

    def _learn(self, generalization: Generalization) -> None:
        key = generalization.fingerprint
        self._judged[key], self._fitted[key] = held_out(generalization, self.train, self.validation)
        if len(self._fitted) > _MOST_FITTED:
            del self._fitted[next(iter(self._fitted))]

    def begin(self, given: Generalization, beliefs: npt.NDArray[Any] | None = None) -> None:
        """Hold everything that follows, which is coarser, against this one; by its own beliefs, or by better ones.

        ``beliefs`` are those of who sees more, on the validation part. Their own luck counts for the given one as
        for what follows, and cancels out.
        """
        self.people = self.validation
        # Whom it does not tell apart, nothing coarser does. Trees of numbers count rows, not people.
        if self.validation.persons is None and self.validation.number is None:
            self.train = self.train.distinct(given)
            if beliefs is None and self.limit is None:  # these are held person by person
                self.validation = self.validation.distinct(given)
        own = self._believed(given) if beliefs is None else beliefs
        self.given = self.surest = Witness(self.judge(given), own)

    def _believed(self, generalization: Generalization) -> npt.NDArray[Any]:
        """Return what the classifier of a generalization thinks of each label on validation."""
        rows = samples(self.validation, generalization, "label")
        first, bucket_of = rows.buckets
        return np.asarray(self.classifier(generalization).predict(rows.inputs[first])[0])[bucket_of]

    def _believe_rather(self, coarser: Generalization) -> None:
        """Believe who is less surprised by validation than anybody before.

        Who sees more than the records bear out is too sure: what it would miss is partly noise.
        """
        after, self.learned = self.judge(coarser), True
        if after.is_surprised_more_than(self.surest.judged).mean < 0:
            self.surest = Witness(after, self._believed(coarser))

    def expected_loss(self, coarser: Generalization) -> float:
        """Return how much more often it errs than who is surest, if that one's beliefs are right."""
        return self.surest.misses(self.judge(coarser))

    def last_within(self, path: Sequence[Generalization], lost: float) -> int:
        """Return how far a path goes that loses no more than this, if the beliefs are right."""
        return last_that(lambda number: self.expected_loss(path[number]) <= lost, len(path) - 1)

    def is_free(self, coarser: Generalization) -> bool:
        """Return whether a coarser generalization costs nothing that the records can tell.

        That is so where the given one does not miss anything, or who has turned out to be surer.
        """
        after = self.judge(coarser)
        if self.learned:
            self._believe_rather(coarser)
        return not self.costs_too_much(coarser) and any(
            costs_nothing(
                after.errs_more_than(each.judged),
                after.is_surprised_more_than(each.judged),
                each.misses(after),
                self.loss,
            )
            for each in (self.given, self.surest)
        )

    def costs_too_much(self, coarser: Generalization) -> bool:
        """Return whether a limit is missed, or the records leave no doubt that something is lost."""
        after = self.judge(coarser)
        if self.limit is not None and not self.limit.is_kept_by(after):
            return True
        return after.errs_more_than(self.given.judged).bound(-_SURELY) > 0

    def is_dropped(self, now: Generalization, name: str) -> bool:
        """Return whether to leave a question out is free, or surprises the classifier no more.

        The log loss tells a question apart from noise far better than errors do, and needs no beliefs: those of
        who learned from it count noise as if it told something.
        """
        less = without(now, {name})
        if self.costs_too_much(less):
            self.needed.add(name)  # and more is lost by whatever is coarser
            return False
        free = self.is_free(less)
        if free or not self.learned:
            return free
        before, after = self.judge(now), self.judge(less)
        if after.errs_more_than(before).bound(-_SURELY) > 0:
            return False
        one, all_together = (after.is_surprised_more_than(each) for each in (before, self.surest.judged))
        return one.mean <= 0 and all_together.bound(-_CHANCE) <= 0

    def pays(self, fewer: Generalization) -> bool:
        """Return whether the records tell that more answers are worth it than people read."""
        if self.limit is not None and not self.limit.is_kept_by(self.judge(fewer)):
            return True
        more = self.judge(fewer).errs_more_than(self.given.judged)
        return more.bound(-_CHANCE) > 0 or (max(more.mean, 0.0) + self.expected_loss(fewer)) / 2 > self.loss

    def without_questions(self, now: Generalization) -> Generalization:
        """Drop questions: of those that are free, the one whose absence costs least by beliefs comes first."""
        if len(now.collected) > _FEW_QUESTIONS:
            return self._without_many(now)
        free = self._optional(now)
        while free := [name for name in free if self.is_dropped(now, name)]:  # others will not become so
            best = min(free, key=lambda name: self.expected_loss(without(now, {name})))
            now = without(now, {best})
            free.remove(best)
        return now

    def _without_many(self, given: Generalization) -> Generalization:
        """Drop the least important questions: as many as are free together, then each that still is.

        So many in a row that are needed are enough.
        """
        rise = Folds.of(self.people).importance(given)
        order = sorted(self._optional(given), key=lambda name: rise[name])
        last = self._last_free(lambda n: without(given, {*order[:n]}), len(order))
        now, needed = without(given, {*order[:last]}), 0
        for name in order[last:]:
            now, needed = (without(now, {name}), 0) if self.is_dropped(now, name) else (now, needed + 1)
            if needed == _PATIENCE:
                break
        return self.without_questions(now) if len(now.collected) <= _FEW_QUESTIONS else now

    def with_readable_answers(self, now: Generalization) -> Generalization:
        """Cut every question to as many answers as people read, unless more pay; then to a few more.

        Many questions are cut together, and each half of them where that costs something.
        """
        rules, long = MergeRules.of(self.constraints, now.partitions), longer(now, READABLE)
        parts = [long] if len(long) > _FEW_QUESTIONS else [[j] for j in long]
        while parts:
            part = parts.pop(0)
            for most in (READABLE, 2 * READABLE)[: 2 if len(part) == 1 else 1]:
                way = self._cut(now, part, rules, most)
                if way is not now and not self.pays(way):
                    now = way
                    break
            else:
                half = len(part) // 2
                parts = [part[:half], part[half:], *parts] if half else parts
        return now

    def _cut(self, now: Generalization, part: Sequence[int], rules: MergeRules, most: int) -> Generalization:
        """Cut some questions to at most so many answers."""
        for j in sorted({*part} & {*longer(now, most)}):
            partition = now.partitions[j]
            now = now.replacing(next(runs(self.own, j, partition, rules, most), partition))
        return now

    def _optional(self, now: Generalization) -> list[str]:
        """Return the questions that no constraint wants, and that may still turn out not to be needed."""
        return [name for name in now.collected if name not in {*self.constraints.wanted} | self.needed]

    def along_the_path(self, now: Generalization) -> Generalization:
        """Merge buckets in the order of backward coarsening, as far as it is free.

        Beside who is told too much, even who is told nothing may seem sure. So forms of all lengths have a say in
        whom to believe, before the shortest that is free is looked for; what is longer need not be free, too.
        """
        path = [now, *self.path(now, _SAVING)]
        lengths = [left for left in _LENGTHS if left < len(path)]
        for left in () if self.cautious else lengths:
            self._believe_rather(path[-left])
        shorter = 0
        for left in lengths:
            if self.is_free(path[-left]):
                break
            shorter = left
        else:
            left = len(path)  # the given one
        return path[self._last_free(lambda more: path[more - left], left - shorter - 1) - left]

    def path(self, now: Generalization, mu: float | None) -> list[Generalization]:
        """Return what backward coarsening makes of a generalization, merge by merge."""
        return [step.generalization for step in steps_beyond(self.own, now, mu, self.constraints)[1:]]

    def _last_free(self, way: Callable[[int], Generalization], most: int) -> int:
        return last_that(lambda number: self.is_free(way(number)), most)

    def with_safer_answers(self, now: Generalization) -> Generalization:
        """Merge what tells an attacker much and the label hardly anything, before all is lost on fewer answers."""
        while True:
            rules = MergeRules.of(self.constraints, now.partitions)
            rest = self.train, self.validation, rules, self.own, 2 * self.loss
            pairs = worth_their_cost(now, self.classifier(now), *rest)
            alone = (merged(now, [pair], rules, 1) for pair in pairs[:_PATIENCE])
            free = next((way for way in alone if way is not now and self.is_free(way)), None)
            if free is None:
                return now
            now = free

    def without_pairs(self, now: Generalization) -> Generalization:
        """Merge two buckets at a time, the cheapest pairs first: as many at once as are free together."""
        while True:
            rules = MergeRules.of(self.constraints, now.partitions)
            pairs = by_cost(now, self.classifier(now), self.train, self.validation, rules)
            together = partial(merged, now, pairs, rules)
            if last := self._last_free(together, len(pairs)):
                now = together(last)
                continue
            alone = [merged(now, [pair], rules, 1) for pair in pairs[:_PATIENCE]]
            free = next((way for way in alone if way is not now and self.is_free(way)), None)
            if free is None:
                return now
            now = free


def last_that(holds: Callable[[int], bool], most: int) -> int:
    """Return the last number from 1 to ``most`` for which something holds that holds up to there; 0 for none.

    >>> last_that(lambda number: number <= 5, 8), last_that(lambda number: False, 8), last_that(lambda _: True, 8)
    (5, 0, 8)
    """
    if most and holds(most):
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def costs_nothing(errs: Difference, surprised: Difference, expected: float, loss: float = LOSS) -> bool:
    """Return whether a loss is too small to be told: see the constants above.

    >>> costs_nothing(Difference(0.001, 0.002), Difference(0.001, 0.001), 0.003)
    True
    >>> costs_nothing(Difference(0.001, 0.0005), Difference(0.001, 0.001), 0.003)  # small, but told
    False
    >>> costs_nothing(Difference(0.001, 0.002), Difference(0.001, 0.001), 0.008)  # not told, but probable
    False
    """
    return errs.bound(-_CHANCE) <= 0 and expected <= (2 * loss if surprised.mean <= 0 else loss)


def steps_beyond(
    own: Table, now: Generalization, mu: float | None, constraints: Constraints, per_answer: float = 0.0
) -> list[Step]:
    """Return the given form and ever coarser ones, merge by merge, with what counting says of them."""
    # How many people a bucket has was counted on all records; here are only some, and merging adds people.
    held = replace(constraints, min_people=0)
    steps = coarsening_steps(own, now, mu, constraints=held, per_answer=per_answer)
    return [
        replace(step, generalization=replace(step.generalization, label=now.label, origin=now.origin))
        for step in steps
    ]


def some_of(train: Table, most: int = _MOST_RECORDS) -> Table:
    """Return at most so many records, the same ones each time: what is free hangs on validation, not on more."""
    if len(train) <= most:
        return train
    return train.take(np.sort(generator(0, "merging").choice(len(train), most, replace=False)))


def without(generalization: Generalization, names: set[str]) -> Generalization:
    """Return the same without these questions."""
    partitions = (suppress(p.attribute) if p.attribute.name in names else p for p in generalization.partitions)
    return replace(generalization, partitions=tuple(partitions)) if names else generalization
