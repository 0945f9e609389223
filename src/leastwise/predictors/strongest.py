"""The strongest of several predictors, chosen for each target on validation, and what it guesses.

A risk is a minimum over all predictors, so a weak one overstates privacy. Beside each predictor alone, mixtures
of two compete: models that err on different records correct each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.partition import Codes
from leastwise.predictors.base import Predictor, Probabilities, Samples, Targets, masked, samples
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.network import Network
from leastwise.records.table import Split

# Probabilities held at once: many values times many joint buckets must not fill the memory.
_LARGEST_BLOCK = 2**23
# In a mixture, what the first of the two predictors counts.
_SHARES = (0.3, 0.5, 0.7)


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
    """Return the probabilities of all targets for some inputs, with what the masks of ``like`` rule out at 0."""
    return [
        masked(np.asarray(probabilities), like.allowed(target, inputs))
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
    network = Network(epochs=5, members=1, seed=seed) if quick else Network(seed=seed)
    return JointBuckets(seed=seed), network


class Mixture(NamedTuple):
    """What each predictor counts in the probabilities of one target; a single 1 is that predictor alone."""

    shares: tuple[float, ...]

    def of(self, probabilities: Sequence[Probabilities]) -> Probabilities:
        """Return the weighted mean."""
        parts = [share * p for share, p in zip(self.shares, probabilities, strict=True) if share]
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
    scores_
        Per target, the error and the log loss on validation of every candidate, by name.
    """

    predictors: Sequence[Predictor] = field(default_factory=default_predictors)
    mixtures: bool = True
    name: str = field(default="strongest", init=False)

    def fit(self, train: Samples, validation: Samples) -> Strongest:
        """Fit every predictor that is worth it, and choose."""
        if not self.predictors:
            raise ParameterError("the strongest predictor needs at least one to choose from; got none")
        kept = worthwhile(self.predictors, train)
        self.fitted_ = [predictor.fit(train, validation) for predictor in kept]
        candidates = mixtures_of(len(kept), self.mixtures)
        tried = try_mixtures(self.fitted_, candidates, validation)
        names = [mixture.named([predictor.name for predictor in kept]) for mixture in candidates]
        best = [best_mixture(t, found, validation) for t, found in enumerate(tried)]
        self.mixtures_ = [candidates[i] for i in best]
        self.chosen_ = tuple(names[i] for i in best)
        self.scores_ = [_scores(t, found, names, validation) for t, found in enumerate(tried)]
        self.like_ = train
        return self

    def choose_again(
        self,
        target: int,
        validation: Samples,
        guess: Callable[[Probabilities], npt.NDArray[np.intp]],
        wrong: Callable[[npt.NDArray[np.intp]], npt.NDArray[Any]],
    ) -> None:
        """Choose for one target by what counts as wrong there: a number is told by a guess that is near enough.

        Parameters
        ----------
        guess, wrong
            The guesses of rows of probabilities, and about whom of the validation part guesses are wrong.

        Notes
        -----
        Whoever was chosen stays unless another one is better by more than the standard error of the difference.
        """
        candidates = mixtures_of(len(self.fitted_), self.mixtures)
        room = [np.zeros(len(validation), dtype=np.intp) for _ in candidates]
        for block in blocks(validation):
            allowed = validation.allowed(target, block.inputs)
            predicted = [masked(np.asarray(p.predict(block.inputs)[target]), allowed) for p in self.fitted_]
            for mixture, own in zip(candidates, room, strict=True):
                own[block.rows] = guess(mixture.of(predicted))[block.places]
        wrongs = [wrong(own).astype(float) for own in room]
        now, best = (
            candidates.index(self.mixtures_[target]),
            int(np.argmin([w @ validation.weights for w in wrongs])),
        )
        if not _cannot_tell(wrongs[now] - wrongs[best], validation.weights):
            self.mixtures_[target] = candidates[best]
            name = candidates[best].named([predictor.name for predictor in self.fitted_])
            self.chosen_ = (*self.chosen_[:target], name, *self.chosen_[target + 1 :])

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


def best_mixture(target: int, tried: Sequence[Guesses], validation: Samples) -> int:
    """Return which candidate is the best: see ``Strongest``."""
    weights = validation.weights
    wrong = [validation.wrong(guesses.values, target).astype(float) for guesses in tried]
    errors = [guesses.error(validation, target) for guesses in tried]
    lead = int(np.argmin(errors))
    equal = [i for i in range(len(tried)) if _cannot_tell(wrong[i] - wrong[lead], weights)]
    # Rounded, so that a predictor alone wins against a mixture that says the same.
    return min(equal, key=lambda i: (round(tried[i].log_loss(weights), 6), i))


def _cannot_tell(difference: npt.NDArray[Any], weights: npt.NDArray[Any]) -> bool:
    """Return whether a mean difference of errors is at most its standard error."""
    people = weights.sum()
    mean = float((weights * difference).sum() / people)
    variance = float((weights * difference**2).sum() / people) - mean**2
    return bool(mean <= np.sqrt(max(variance, 0) / people))


def _scores(
    target: int, tried: Sequence[Guesses], names: Sequence[str], validation: Samples
) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for name, own in zip(names, tried, strict=True):
        score = own.error(validation, target), own.log_loss(validation.weights)
        found[name] = min(score, found.get(name, score))
    return found
