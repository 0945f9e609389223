"""The strongest of several predictors, chosen for each target on validation, and what it guesses.

A risk is a minimum over all predictors, so a weak one overstates privacy. Beside each predictor alone, mixtures
of two compete: models that err on different records correct each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.mixtures import try_cells
from leastwise.partition import Codes
from leastwise.predictors.base import Predictor, Probabilities, Samples, Targets, samples
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.network import Network
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Split

# Probabilities held at once: many values times many joint buckets must not fill the memory.
_LARGEST_BLOCK = 2**23
# In a mixture, what the first of the two predictors counts.
_SHARES = (0.3, 0.5, 0.7)


Guess = Callable[[Probabilities], npt.NDArray[np.intp]]
Wrong = Callable[[npt.NDArray[np.intp]], npt.NDArray[Any]]


class Block(NamedTuple):
    """Some joint buckets: their inputs, the rows that lie in them, and in which of them each row lies."""

    inputs: Codes
    rows: npt.NDArray[np.intp]
    places: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of one target, row by row: the value, its probability, and the probability of the truth."""

    values: npt.NDArray[np.intp]
    confidence: npt.NDArray[np.float64]
    of_truth: npt.NDArray[np.float64]

    @classmethod
    def empty(cls, rows: int) -> Guesses:
        """Return room for the guesses of so many rows."""
        return cls(np.zeros(rows, dtype=np.intp), np.zeros(rows), np.zeros(rows))

    @classmethod
    def of(cls, probabilities: Probabilities, records: Samples) -> Guesses:
        """Return the guesses of the first target, from the probabilities of each row."""
        rows, best = np.arange(len(records)), records.best(probabilities)
        return cls(
            best, np.asarray(probabilities[rows, best]), np.asarray(probabilities[rows, records.targets[:, 0]])
        )

    def fill(self, block: Block, probabilities: Probabilities, records: Samples, target: int) -> None:
        """Put in the guesses of the rows of a block, from the probabilities of its joint buckets."""
        best, truth = records.best(probabilities), records.targets[:, target]
        self.values[block.rows] = best[block.places]
        self.confidence[block.rows] = probabilities[np.arange(len(best)), best][block.places]
        self.of_truth[block.rows] = probabilities[block.places, truth[block.rows]]

    def put(self, rows: npt.NDArray[np.intp], part: Guesses) -> None:
        """Put in the guesses of some rows."""
        self.values[rows], self.confidence[rows], self.of_truth[rows] = part.values, part.confidence, part.of_truth

    def error(self, records: Samples, target: int) -> float:
        """Return the share of people who are guessed wrongly; of a number, how far off guesses are on average."""
        return float((records.weights * records.wrong(self.values, target)).sum() / records.weights.sum())

    def log_loss(self, weights: npt.NDArray[Any]) -> float:
        """Return the mean of -log P(truth), a probability counted as at least 1e-12."""
        return float(-(weights * np.log(np.maximum(self.of_truth, 1e-12))).sum() / weights.sum())


def guesses(predictor: Predictor, records: Samples) -> tuple[Guesses, ...]:
    """Return the guesses of every target, with what the generalization rules out excluded.

    Each joint bucket is predicted once, in blocks.
    """
    return tuple(found for (found,) in try_mixtures([predictor], [Mixture((1.0,))], records))


def errors(found: Sequence[Guesses], records: Samples) -> npt.NDArray[np.float64]:
    """Return the error of each target."""
    return np.array([g.error(records, t) for t, g in enumerate(found)])


def masked_predictions(predictor: Predictor, like: Samples, inputs: Codes) -> list[Probabilities]:
    """Return the probabilities of all targets for some inputs, with what the masks of ``like`` rule out at 0.

    Those of a predictor that ``rules_out`` what is impossible are so already.
    """
    if getattr(predictor, "rules_out", False):
        return [np.asarray(probabilities) for probabilities in predictor.predict(inputs)]
    return [
        like.ruled_out(target, inputs, np.asarray(probabilities))
        for target, probabilities in enumerate(predictor.predict(inputs))
    ]


def believes(predictor: Predictor, records: Samples) -> Probabilities:
    """Return what is believed of the first target, row by row; each joint bucket is predicted once."""
    first, place = records.buckets
    return np.asarray(masked_predictions(predictor, records, records.inputs[first])[0][place])


def blocks(records: Samples) -> Iterator[Block]:
    """Yield the joint buckets of the records in blocks whose probabilities fit into memory."""
    first, bucket_of = records.buckets
    order = np.argsort(bucket_of, kind="stable")
    step = max(_LARGEST_BLOCK // max(sum(records.target_sizes), 1), 1)
    starts = range(0, len(first), step)
    ends = np.searchsorted(bucket_of[order], [start + step for start in starts])
    for start, rows in zip(starts, np.split(order, ends[:-1]), strict=True):
        yield Block(records.inputs[first[start : start + step]], rows, bucket_of[rows] - start)


def default_predictors(quick: bool = False, seed: int = 0) -> tuple[Predictor, ...]:
    """Return the predictors that the strongest one is chosen from.

    Counting is exact where joint buckets are well filled; two networks with different beginnings, averaged,
    carry over from one joint bucket to another where they are not. ``quick`` trains one network, shorter.
    """
    return JointBuckets(seed=seed), default_network(quick, seed)


def default_network(quick: bool = False, seed: int = 0) -> Network:
    """Return the network of the default predictors."""
    return Network(epochs=5, members=1, seed=seed) if quick else Network(seed=seed)


class Mixture(NamedTuple):
    """What each predictor counts in the probabilities of one target; a single 1 is that predictor alone."""

    shares: tuple[float, ...]

    def of(self, probabilities: Sequence[Probabilities]) -> Probabilities:
        """Return the weighted mean."""
        parts = [
            p if share == 1 else share * p for share, p in zip(self.shares, probabilities, strict=True) if share
        ]
        return np.asarray(sum(parts[1:], start=parts[0]))

    def named(self, names: Sequence[str]) -> str:
        """Say which predictors have a part in it."""
        return " + ".join(name for share, name in zip(self.shares, names, strict=True) if share)


@dataclass
class Strongest:
    """Several predictors, of which each target uses the one, or the mixture of two, that validation prefers.

    The lowest error wins. Errors that validation cannot tell apart (the difference is below its own standard
    error) count as equal, and among those the lowest log loss wins.

    Attributes
    ----------
    chosen_
        Per target, the name of what was chosen.
    errors_
        Per target, the error of what was chosen on validation.
    scores_
        Per target, the error and the log loss on validation of every candidate, by name.
    """

    predictors: Sequence[Predictor] = field(default_factory=default_predictors)
    mixtures: bool = True
    name: str = field(default="strongest", init=False)
    rules_out: ClassVar[bool] = True

    def fit(self, train: Samples, validation: Samples) -> Strongest:
        """Fit every predictor that is worth it, and choose."""
        return self._fit(train, validation, None)

    def fit_alone(self, train: Samples, validation: Samples) -> Strongest:
        """Fit the only predictor: there is nothing to choose, so nobody is asked about validation."""
        (predictor,) = self.predictors
        self.fitted_ = [predictor.fit(train, validation)]
        self.mixtures_ = [Mixture((1.0,)) for _ in train.target_sizes]
        self.chosen_ = (predictor.name,) * len(train.target_sizes)
        self.like_ = train.nobody
        return self

    def fit_believing(self, train: Samples, validation: Samples) -> Probabilities:
        """Fit, and return what is believed of the first target on validation, row by row.

        What was predicted there in choosing is not predicted again.
        """
        predicted: list[list[Probabilities]] = []
        self._fit(train, validation, predicted)
        if not predicted:
            return believes(self, validation)
        found = np.concatenate([self.mixtures_[0].of(block) for block in predicted])
        return np.asarray(found[validation.buckets[1]])

    def _fit(self, train: Samples, validation: Samples, predicted: list[list[Probabilities]] | None) -> Strongest:
        if not self.predictors:
            raise ParameterError("the strongest predictor needs at least one to choose from; got none")
        kept = worthwhile(self.predictors, train)
        self.fitted_ = [predictor.fit(train, validation) for predictor in kept]
        candidates = mixtures_of(len(kept), self.mixtures)
        tried = self._tried(candidates, validation, predicted)
        names = [mixture.named([predictor.name for predictor in kept]) for mixture in candidates]
        best = [found.best() for found in tried]
        self.mixtures_ = [candidates[i] for i in best]
        self.chosen_ = tuple(names[i] for i in best)
        self.errors_ = [float(found.errors[i]) for found, i in zip(tried, best, strict=True)]
        self.scores_ = [found.scores(names) for found in tried]
        self.like_ = train.nobody
        return self

    def _tried(
        self, candidates: Sequence[Mixture], validation: Samples, kept: list[list[Probabilities]] | None
    ) -> list[Tried]:
        if validation.graded is None:
            return try_on_cells(self.fitted_, candidates, validation, kept)
        # How wrong a guess is, the exact label tells, not its level.
        guessed = try_mixtures(self.fitted_, candidates, validation)
        return [Tried.of(t, found, validation) for t, found in enumerate(guessed)]

    def choose_again(self, validation: Samples, judged: Mapping[int, tuple[Guess, Wrong]]) -> None:
        """Choose for some targets by what counts as wrong there: a number is told by a guess that is near enough.

        Parameters
        ----------
        judged
            By target, the guesses of rows of probabilities, and about whom of validation guesses are wrong.

        Notes
        -----
        Whoever was chosen stays unless another one is better by more than the standard error of the difference.
        """
        candidates = mixtures_of(len(self.fitted_), self.mixtures)
        room = {target: np.zeros((len(candidates), len(validation)), dtype=np.intp) for target in judged}
        for block in blocks(validation) if judged else ():
            predicted = [masked_predictions(p, validation, block.inputs) for p in self.fitted_]
            for target, (guess, _) in judged.items():
                for mixture, own in zip(candidates, room[target], strict=True):
                    own[block.rows] = guess(mixture.of([p[target] for p in predicted]))[block.places]
        names = [predictor.name for predictor in self.fitted_]
        for target, (_, wrong) in judged.items():
            wrongs = [wrong(own).astype(float) for own in room[target]]
            now = candidates.index(self.mixtures_[target])
            best = int(np.argmin([w @ validation.weights for w in wrongs]))
            if not _cannot_tell(wrongs[now] - wrongs[best], validation.weights):
                now, self.mixtures_[target] = best, candidates[best]
                name = candidates[best].named(names)
                self.chosen_ = (*self.chosen_[:target], name, *self.chosen_[target + 1 :])
            people = float(validation.weights.sum()) or 1.0
            self.errors_[target] = float(wrongs[now] @ validation.weights) / people

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of what was chosen."""
        needed = [any(m.shares[i] for m in self.mixtures_) for i in range(len(self.fitted_))]
        found = [
            masked_predictions(predictor, self.like_, inputs) if used else []
            for predictor, used in zip(self.fitted_, needed, strict=True)
        ]
        return [
            mixture.of([p[t] if share else np.zeros(0) for p, share in zip(found, mixture.shares, strict=True)])
            for t, mixture in enumerate(self.mixtures_)
        ]


def strongest(predictors: Sequence[Predictor] | None = None, *, quick: bool = False, seed: int = 0) -> Strongest:
    """Return the predictor that uses the strongest of these, or of the default ones, for each target."""
    return Strongest(default_predictors(quick, seed) if predictors is None else tuple(predictors))


def wrong_guesses(
    predictors: Sequence[Predictor], generalization: Generalization, parts: Split, targets: Targets
) -> tuple[list[npt.NDArray[Any]], Strongest]:
    """Return, per target, about whom of the test part the strongest of these predictors is wrong; and that one."""
    train, validation, test = (samples(part, generalization, targets) for part in parts)
    choice = Strongest(tuple(predictors)).fit(train, validation)
    return [test.wrong(found.values, t) for t, found in enumerate(guesses(choice, test))], choice


def worthwhile(predictors: Sequence[Predictor], train: Samples) -> list[Predictor]:
    """Return the predictors that can add anything here; those that do not say so are always worth it."""
    if not train.input_sizes:
        return [predictors[0]]  # nothing is seen: all of them guess the most frequent
    return [p for p in predictors if getattr(p, "worthwhile", lambda _: True)(train)] or [predictors[0]]


def mixtures_of(predictors: int, mixtures: bool = True) -> list[Mixture]:
    """Return each predictor alone, and with ``mixtures`` any two in several shares."""
    alone = [{i: 1.0} for i in range(predictors)]
    pairs = combinations(range(predictors), 2) if mixtures else ()
    mixed = [{i: share, j: 1 - share} for i, j in pairs for share in _SHARES]
    return [Mixture(tuple(shares.get(i, 0.0) for i in range(predictors))) for shares in alone + mixed]


def try_mixtures(
    predictors: Sequence[Predictor], candidates: Sequence[Mixture], validation: Samples
) -> list[list[Guesses]]:
    """Return, per target and candidate, the guesses on validation."""
    found = [[Guesses.empty(len(validation)) for _ in candidates] for _ in validation.target_sizes]
    for block in blocks(validation):
        predicted = [masked_predictions(p, validation, block.inputs) for p in predictors]
        for t, room in enumerate(found):
            for candidate, own in zip(candidates, room, strict=True):
                own.fill(block, candidate.of([p[t] for p in predicted]), validation, t)
    return found


@dataclass(frozen=True, eq=False)
class Tried:
    """How several candidates do on one target: a row for each of them.

    Attributes
    ----------
    wrong, of_truth
        Whether the guess is wrong, and the probability of the truth.
    weights
        How many people each column stands for.
    """

    wrong: npt.NDArray[np.float64]
    of_truth: npt.NDArray[np.float64]
    weights: npt.NDArray[Any]

    @classmethod
    def of(cls, target: int, guessed: Sequence[Guesses], records: Samples) -> Tried:
        """Hold guesses against the truth, record by record."""
        wrong = np.array([records.wrong(guesses.values, target) for guesses in guessed]).astype(float)
        return cls(wrong, np.array([guesses.of_truth for guesses in guessed]), records.weights)

    @property
    def errors(self) -> npt.NDArray[np.float64]:
        """The share of people whom each guesses wrongly; of a number, how far off guesses are on average."""
        return np.asarray(self.wrong @ self.weights / self._people)

    @cached_property
    def log_losses(self) -> npt.NDArray[np.float64]:
        """The mean of -log P(truth) of each, a probability counted as at least 1e-12."""
        return np.asarray(-np.log(np.maximum(self.of_truth, 1e-12)) @ self.weights / self._people)

    @property
    def _people(self) -> float:
        """How many people there are; where all weigh nothing, everybody errs alike."""
        return float(self.weights.sum()) or 1.0

    def best(self) -> int:
        """Return which candidate is the best: see ``Strongest``."""
        lead = int(np.argmin(self.errors))
        equal = _not_told(self.wrong - self.wrong[lead], self.weights)
        # Rounded, so that a predictor alone wins against a mixture that says the same.
        return min(equal, key=lambda i: (round(float(self.log_losses[i]), 6), i))

    def scores(self, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the least error of each name, with its log loss."""
        found: dict[str, tuple[float, float]] = {}
        for name, score in zip(
            names, zip(self.errors.tolist(), self.log_losses.tolist(), strict=True), strict=True
        ):
            found[name] = min(score, found.get(name, score))
        return found


def try_on_cells(
    predictors: Sequence[Predictor],
    candidates: Sequence[Mixture],
    validation: Samples,
    kept: list[list[Probabilities]] | None = None,
) -> list[Tried]:
    """Return, per target, how the candidates do; people of one joint bucket and value are looked at together.

    What each predicts of the first target is put into ``kept``, block of joint buckets by block.
    """
    first, bucket_of = validation.buckets
    shares = np.array([mixture.shares for mixture in candidates])
    cells = [
        _Cells.of(bucket_of, validation.targets[:, t], size, validation.weights, len(candidates))
        for t, size in enumerate(validation.target_sizes)
    ]
    step = max(_LARGEST_BLOCK // max(sum(validation.target_sizes), 1), 1)
    for start in range(0, len(first), step):
        rows = first[start : start + step]
        predicted = [masked_predictions(p, validation, validation.inputs[rows]) for p in predictors]
        if kept is not None:
            kept.append([each[0] for each in predicted])
        for t, own in enumerate(cells):
            stacked = np.stack([p[t] for p in predicted], dtype=float)
            starts = np.searchsorted(own.bucket, np.arange(start, start + len(rows) + 1))
            try_cells(stacked, shares, starts, own.truth, own.tried.wrong, own.tried.of_truth)
    return [own.tried for own in cells]


class _Cells(NamedTuple):
    """People of one joint bucket and one value, in the order of the buckets; and room for what is tried."""

    bucket: npt.NDArray[np.intp]
    truth: npt.NDArray[np.intp]
    tried: Tried

    @classmethod
    def of(cls, bucket_of: Any, truth: Any, size: int, weights: Any, candidates: int) -> _Cells:
        first, cell_of = joint_buckets(
            np.column_stack([bucket_of, truth]), [int(bucket_of.max(initial=0)) + 1, size]
        )
        people = np.bincount(cell_of, weights=weights, minlength=len(first))
        wrong, of_truth = np.zeros((2, candidates, len(first)))
        return cls(bucket_of[first], truth[first], Tried(wrong, of_truth, people))


def _cannot_tell(difference: npt.NDArray[Any], weights: npt.NDArray[Any]) -> bool:
    """Return whether a mean difference of errors is at most its standard error."""
    return _not_told(difference[None], weights) == [0]


def _not_told(differences: npt.NDArray[Any], weights: npt.NDArray[Any]) -> list[int]:
    """Return which of several mean differences of errors, each a row, are at most their standard error."""
    people = float(weights.sum()) or 1.0  # nobody tells anything
    means = ((weights * differences).sum(axis=1) / people).tolist()
    squares = ((weights * differences**2).sum(axis=1) / people).tolist()
    pairs = enumerate(zip(means, squares, strict=True))
    return [i for i, (mean, square) in pairs if mean <= math.sqrt(max(square - mean**2, 0) / people)]
