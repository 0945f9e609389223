"""The least of a generalization: what the records cannot tell apart is not asked apart.

Who sees a coarser record knows less: to drop a question, or to merge two answers, never helps an attacker. It is
free where the classifier, learned anew, errs no more often by anything that people tell whom neither it nor the
generalization was made from. A question of very many answers is first cut down to runs of like effect, then whole
questions are dropped, then buckets are merged in the order of backward coarsening, then two by two, until nothing
more is free. What is left is *merge-minimal*. Where some accuracy may be lost, ``spend`` goes on from there by the
best exchange rates, as far as it reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.path import coarsening_steps, countable
from leastwise.minimizers.constraints.constraints import Constraints, MergeRules, broken
from leastwise.minimizers.constraints.floor import brought_to
from leastwise.minimizers.merging.few_answers import READABLE, longer, runs, with_few_answers
from leastwise.minimizers.merging.pairs import by_cost, merged
from leastwise.partition import suppress
from leastwise.predictors.base import samples
from leastwise.predictors.held_out import Difference, Folds, HeldOut, Reference, held_out, reference
from leastwise.predictors.strongest import Strongest
from leastwise.random import generator
from leastwise.records.table import Table

FEWEST_PEOPLE, FEWEST_SHARE = 10, 0.002
"""No published bucket is used by fewer training records, or by a smaller share of them."""
# A loss of accuracy that is below so many standard errors is not told (one-sided, 90 %) ...
_CHANCE = 1.28
# ... and so many leave no doubt (99 %) where the log loss tells nothing.
_SURELY = 2.33
LOSS = 0.003
"""... and nothing is lost on the sly: by the beliefs of who sees more it costs at most this, or twice as much
where the log loss falls, because then these beliefs are too sure."""
LOSS_OF_A_NUMBER = 3 * LOSS
"""The same of a label that is a number, as a share of the error of guessing: three times as much is one point."""
# Who errs by more than this beyond a limit does not come to keep it.
_BEYOND = 0.01
# Classifiers learn from at most so many records: every question and many merges are tried.
_MOST_RECORDS = 12_000
# A path is an order only, in which merges are tried.
_MOST_ON_A_PATH = 5_000
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


def least(
    train: Table,
    validation: Table,
    generalization: Generalization,
    *,
    constraints: Constraints | None = None,
    loss: float = LOSS,
    limit: Limit | None = None,
    cautious: bool = False,
) -> Generalization:
    """Drop questions and merge answers as long as that costs no accuracy that the records can tell.

    Parameters
    ----------
    train
        Records that classifiers learn from; the generalization may have been made of them.
    validation
        Records that it was not made of: they tell what is free.
    generalization
        Any minimizer's result.
    constraints
        What the result must hold to, as the given one does.
    loss
        What may be lost at most by the beliefs of who sees more, where the records do not tell it.
    limit
        On how much more often it may err than with everything asked; what is coarser keeps it in any case.
    cautious
        Whether only the given one is believed, even where validation surprises somebody less who sees less.

    Notes
    -----
    A loss is held against the given generalization, its answers cut to those that pay and its buckets to
    ``fewest_people``; not step by step, so that small losses do not add up. The order in which merges are tried
    comes from beliefs, not from the labels of validation: of many merges the luckiest would come first.
    """
    held, own = constraints or Constraints(), train.with_own_levels()
    generalization = generalization.within(train.schema)  # an artefact publishes no domain of what it does not ask
    floor = max(held.min_people, fewest_people(train))
    start = with_few_answers(own, _with_buckets(own, generalization, held), held)  # rare values go with their like
    start = brought_to(replace(held, min_people=floor), start, own)
    if broken(held, start, own):  # a floor that the constraints leave no room for
        start = generalization
    search = _Search(_some(train), validation, held, _some(own, _MOST_ON_A_PATH), loss, limit, cautious)
    search.begin(start)
    readable = search.with_readable_answers(search.without_questions(start))
    now, earlier = search.along_the_path(readable), None
    while now is not earlier:
        earlier = now
        now = search.without_questions(search.without_pairs(now))
    return now


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


def loss_near(left: float, most: float = LOSS) -> float:
    """Return what may be lost on the sly where so much of a limit is left: near it hardly anything.

    >>> [loss_near(left) for left in (0.01, 0.004, 0.0, -0.05)]  # the last will not come to keep it
    [0.003, 0.002, 0.00075, 0.003]
    """
    return min(max(left / 2, most / 4), most) if left > -_BEYOND else most


def spend(
    train: Table,
    validation: Table,
    generalization: Generalization,
    most: float,
    errors: float = 0.0,
    *,
    mu: float | None = None,
    constraints: Constraints | None = None,
    everything: Reference | None = None,
) -> Generalization:
    """Coarsen on, as far as the classifier errs at most so much more often than with everything asked.

    Parameters
    ----------
    most, errors
        The increase of the error that is allowed. What the given one costs is estimated on validation
        (``Reference.increase_of``), with so many standard errors added; what comes on top, by the beliefs of who
        is told everything.
    mu
        Of the path of merges: see ``coarsening_path``.
    everything
        How everything asked is judged on validation, where that is known: see ``everything_asked``.

    Returns
    -------
    Generalization
        The given one, where it leaves nothing to spend.
    """
    generalization = generalization.within(train.schema)
    known = everything or everything_asked(train, validation)
    left = most - increase_of(generalization, train, validation, known).bound(errors)
    same: Any = {"constraints": constraints, "everything": known}
    return spent_by_shares(train, validation, generalization, left, (1.0,), (mu,), **same)[0]


def spent_by_shares(
    train: Table,
    validation: Table,
    generalization: Generalization,
    left: float,
    shares: Sequence[float],
    multipliers: Sequence[float | None],
    *,
    constraints: Constraints | None,
    everything: Reference,
) -> list[Generalization]:
    """Return what ``spend`` returns where only a share of what is left is spent: path by path, share by share.

    What the paths have in common is learned once.
    """
    if left <= 0:
        return [generalization] * (len(multipliers) * len(shares))
    held = constraints or Constraints()
    search = _Search(_some(train), validation, held, _some(train.with_own_levels(), _MOST_ON_A_PATH))
    search.begin(generalization, everything.beliefs)
    paths = ([generalization, *search.path(generalization, mu)] for mu in multipliers)
    return [path[search.last_within(path, share * left)] for path in paths for share in shares]


def everything_asked(train: Table, validation: Table) -> Reference:
    """Return what others are held against: everything asked, judged on validation."""
    return reference(Generalization.untouched(train.schema), _some(train), validation)


def increase_of(
    generalization: Generalization, train: Table, validation: Table, everything: Reference
) -> Difference:
    """Estimate on validation by how much more often the classifier errs than with everything asked."""
    return everything.increase_of(held_out(generalization, _some(train), validation)[0])


def fewest_people(train: Table) -> float:
    """Return how many training records must use every published bucket."""
    return max(FEWEST_PEOPLE, FEWEST_SHARE * train.people)


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


class _Witness(NamedTuple):
    """Whose beliefs say what a merge costs: how it is judged, and what it thinks of each label, on validation."""

    judged: HeldOut
    beliefs: npt.NDArray[Any]

    def misses(self, coarser: HeldOut) -> float:
        """Return how much more often somebody errs who sees less, if the beliefs are right."""
        return coarser.expected_loss(self.beliefs) - self.judged.expected_loss(self.beliefs)


@dataclass(eq=False)
class _Search:
    """What is known while a generalization is made coarser; each is learned and judged once."""

    train: Table
    validation: Table
    constraints: Constraints
    own: Table  # the training part with its own numbers only: those of others must not make an edge
    loss: float = LOSS
    limit: Limit | None = None
    cautious: bool = False
    people: Table = field(init=False)  # the validation part, person by person
    given: _Witness = field(init=False)  # what everything that follows, which is coarser, is held against
    surest: _Witness = field(init=False)  # who was the least surprised by validation so far
    learned: bool = False  # whether others have been believed than the given one
    _judged: dict[str, HeldOut] = field(default_factory=dict)
    _fitted: dict[str, Strongest] = field(default_factory=dict)

    def judge(self, generalization: Generalization) -> HeldOut:
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
        self.given = self.surest = _Witness(self.judge(given), own)

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
            self.surest = _Witness(after, self._believed(coarser))

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
        if self.limit is not None and not self.limit.is_kept_by(after):
            return False
        return after.errs_more_than(self.given.judged).bound(-_SURELY) <= 0 and any(
            costs_nothing(
                after.errs_more_than(each.judged),
                after.is_surprised_more_than(each.judged),
                each.misses(after),
                self.loss,
            )
            for each in (self.given, self.surest)
        )

    def is_dropped(self, now: Generalization, name: str) -> bool:
        """Return whether to leave a question out is free, or surprises the classifier no more.

        The log loss tells a question apart from noise far better than errors do, and needs no beliefs: those of
        who learned from it count noise as if it told something.
        """
        less = without(now, {name})
        free = self.is_free(less)
        if free or not self.learned:
            return free
        before, after = self.judge(now), self.judge(less)
        if self.limit is not None and not self.limit.is_kept_by(after):
            return False
        if any(after.errs_more_than(each).bound(-_SURELY) > 0 for each in (self.given.judged, before)):
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
        """Return the questions that no constraint wants."""
        return [name for name in now.collected if name not in self.constraints.wanted]

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
        # How many people a bucket has was counted on all records; here are only some, and merging adds people.
        held = replace(self.constraints, min_people=0)
        steps = coarsening_steps(self.own, now, mu, constraints=held)
        return [replace(step.generalization, label=now.label, origin=now.origin) for step in steps[1:]]

    def _last_free(self, way: Callable[[int], Generalization], most: int) -> int:
        return last_that(lambda number: self.is_free(way(number)), most)

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


def _some(train: Table, most: int = _MOST_RECORDS) -> Table:
    """Return at most so many records, the same ones each time: what is free hangs on validation, not on more."""
    if len(train) <= most:
        return train
    return train.take(np.sort(generator(0, "merging").choice(len(train), most, replace=False)))


def _with_buckets(table: Table, generalization: Generalization, held: Constraints) -> Generalization:
    """Return the same with numbered buckets: what is asked exactly, without having to be, in many runs."""
    partitions = (
        p if p.attribute.name in held.untouched else countable(table, j, p, held)
        for j, p in enumerate(generalization.partitions)
    )
    return replace(generalization, partitions=tuple(partitions))


def without(generalization: Generalization, names: set[str]) -> Generalization:
    """Return the same without these questions."""
    partitions = (suppress(p.attribute) if p.attribute.name in names else p for p in generalization.partitions)
    return replace(generalization, partitions=tuple(partitions)) if names else generalization
