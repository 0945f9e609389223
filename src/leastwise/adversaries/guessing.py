"""What all reconstructing adversaries share: learn from the known records, predict the stolen ones, score."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.amortised import SharedNetwork
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.leave_one_out import MAJORITY, Rest, Restricted
from leastwise.adversaries.result import AttributeResult, ReconstructionResult
from leastwise.adversaries.targets import Target, target_of
from leastwise.confidence import Interval, error_interval, mean_interval, spread_interval
from leastwise.generalization import Generalization
from leastwise.partition import Partition
from leastwise.predictors.base import Predictor, Probabilities, Samples, samples
from leastwise.predictors.boosting import Boosting
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.network import Network
from leastwise.predictors.strongest import Strongest, default_predictors, masked_predictions, strongest
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Split, Table

MakePredictor = Callable[[], Predictor]
READ_OFF = "read off"
SHARED = "shared network"
"""Where in the memory of a breach the network lies that several generalizations share, if there is one."""
# Probabilities held at once: many values times many joint buckets must not fill the memory.
_LARGEST_BLOCK = 2**22
# People times values of an attribute that boosting is given: about two seconds.
_MOST_BOOSTED = 100_000


@dataclass(frozen=True, eq=False)
class Finding:
    """What an adversary made of one attribute: person by person, whether it was wrong and how sure it was.

    ``doubt`` is its error on the validation part, by which it chooses among its models.
    """

    target: Target
    wrong: npt.NDArray[Any]
    confidence: npt.NDArray[np.float64]
    predictor: str
    doubt: float
    mean_absolute_error: float | None = None

    def error(self) -> float:
        """Return the share of people who are guessed wrongly."""
        return float(self.wrong @ self.target.counts) / self.target.people

    def or_majority(self) -> Finding:
        """Return the majority guess where this one does worse: nobody is made to use what misleads.

        Decided on the attacked people themselves, in favour of the adversary.
        """
        naive, counts = self.target.naive_wrong, self.target.counts
        if float(self.wrong @ counts) <= float(naive @ counts):
            return self
        sure = np.full(len(naive), self.target.best(self.target.prior[None, :])[1][0])
        return replace(self, wrong=naive, confidence=sure, predictor=MAJORITY)


class Model(Protocol):
    """Anything that gives the probabilities of all targets for some rows of one part of the breach."""

    @property
    def names(self) -> Sequence[str]:
        """Who predicts each target."""
        ...

    @property
    def doubts(self) -> Sequence[float] | None:
        """The error of each target on the validation part, where it is known from choosing there."""
        ...

    def view(self, part: int) -> Samples:
        """Return the rows of a part (1 validation, 2 stolen) as the model tells them apart."""
        ...

    def probabilities(self, part: int, rows: npt.NDArray[Any]) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row, the impossible ones at 0."""
        ...


class SingleModel:
    """One predictor, fitted to the inputs of one generalization and what is known beside it."""

    def __init__(
        self,
        breach: Breach,
        generalization: Generalization,
        targets: Sequence[int],
        known: Sequence[int],
        predictor: MakePredictor,
    ) -> None:
        train, *self._views = views(breach, generalization, targets, known)
        self.predictor = predictor().fit(train, self._views[0])
        self._choose_by_tolerance(breach, targets)
        # A strongest-of-several says whom it chose.
        self.names = tuple(map(str, getattr(self.predictor, "chosen_", [self.predictor.name] * len(targets))))

    def _choose_by_tolerance(self, breach: Breach, targets: Sequence[int]) -> None:
        """Let a strongest-of-several choose for numbers whoever comes near enough most often."""
        strongest_of = self.predictor
        self.doubts: Sequence[float] | None = None
        if not isinstance(strongest_of, Strongest):
            return
        judged = {}
        for t, p in enumerate(targets):
            if breach.targets[p].tolerance is not None:
                own = target_of(p, breach.train, breach.validation, breach.parts.train, breach.tolerances)
                judged[t] = partial(_first_guess, own), own.wrong
        strongest_of.choose_again(self._views[0], judged)
        self.doubts = strongest_of.errors_

    def view(self, part: int) -> Samples:
        """Return the rows of a part as the predictor sees them."""
        return self._views[part - 1]

    def probabilities(self, part: int, rows: npt.NDArray[Any]) -> list[Probabilities]:
        """Return the masked probabilities for some rows."""
        return self.probabilities_of(self.view(part), rows)

    def probabilities_of(self, view: Samples, rows: npt.NDArray[Any]) -> list[Probabilities]:
        """Return the masked probabilities for some rows of other people, as the predictor sees them."""
        return masked_predictions(self.predictor, view, view.inputs[rows])


def _first_guess(target: Target, probabilities: Probabilities) -> npt.NDArray[np.intp]:
    return target.best(probabilities)[0]


def views(
    breach: Breach, generalization: Generalization, targets: Sequence[int], known: Sequence[int] = ()
) -> list[Samples]:
    """Return the three parts as the adversary sees them: with the label where it was stolen too."""
    return [samples(part, generalization, targets, known, breach.labelled) for part in breach.parts]


def model_of(
    breach: Breach,
    generalization: Generalization,
    targets: Sequence[int],
    known: Sequence[int],
    predictor: MakePredictor,
) -> SingleModel:
    """Return a fitted model, remembered with the breach: A6 begins with the models of A1."""
    seen = (generalization.partitions, breach.coarsening, breach.labelled)
    key = ("model", *seen, tuple(targets), tuple(known), predictor)
    if key not in breach.memory:
        breach.memory[key] = SingleModel(breach, generalization, targets, known, predictor)
    model: SingleModel = breach.memory[key]
    return model


@dataclass(frozen=True)
class StrongestOf:
    """Makes the default predictor: the strongest of several, chosen per attribute on the validation part.

    ``boosted``: gradient boosting is among them. It pays where much is known of few people, and costs most where
    there are many people and values: those are left to the others.
    """

    quick: bool = False
    seed: int = 0
    boosted: bool = False

    def __call__(self, network: Predictor | None = None) -> Predictor:
        """Return a fresh predictor.

        ``network``: one that has learned already, for several generalizations, in place of one that learns for
        this one. It is no part of this value, by which findings are remembered.
        """
        # One network: a second one, averaged in, costs as much again and changes no error by .002.
        counting, own = default_predictors(self.quick, self.seed)
        own = replace(own, members=1) if isinstance(own, Network) else own
        usual = counting, network or own
        if not self.boosted:
            return strongest(usual)
        beside = counting if isinstance(counting, JointBuckets) else None
        return strongest((*usual, Boosting(seed=self.seed, most_work=_MOST_BOOSTED, counting=beside)))

    def knowing_more(self) -> StrongestOf:
        """Return what somebody uses who knows some attributes in full."""
        return self if self.quick else replace(self, boosted=True)


STRONGEST = StrongestOf()


def find(breach: Breach, targets: Sequence[int], known: Sequence[int], predictor: MakePredictor) -> list[Finding]:
    """Return what the adversary finds who holds the stolen records and knows some attributes in full.

    Findings are remembered with the breach: A2 and A5 begin with what A1, A3 and A4 find.
    """
    keys = {target: _key(breach, target, known, predictor) for target in targets}
    absent = [target for target in targets if keys[target] not in breach.memory]
    for target, finding in zip(absent, _find(breach, absent, known, predictor), strict=True):
        breach.memory[keys[target]] = finding
    return [breach.memory[keys[target]] for target in targets]


def _key(breach: Breach, target: int, known: Sequence[int], predictor: MakePredictor) -> Hashable:
    # What is known in full hides its own buckets: two breaches that differ only there are the same.
    hidden = tuple(
        None if j in set(known) and not p.untouched else p for j, p in enumerate(breach.joined.partitions)
    )
    # Who knows more uses more; but what stands in the stolen record in full is known to everybody.
    more = tuple(j for j in sorted(known) if not breach.joined.partitions[j].untouched)
    return _Found(target, bool(known), more, hidden, breach.coarsening, breach.labelled, predictor)


class _Found(NamedTuple):
    """Where a finding is remembered: what it depends on."""

    target: int
    knowing_more: bool
    known: tuple[int, ...]
    hidden: tuple[Partition | None, ...]
    coarsening: Hashable
    labelled: bool
    predictor: MakePredictor


def remember(breach: Breach, predictor: MakePredictor, found: Sequence[Finding]) -> None:
    """Let a breach know what was found elsewhere by who knows nothing beside the stolen records."""
    for finding in found:
        breach.memory[_key(breach, finding.target.position, (), predictor)] = finding


class Guessed(NamedTuple):
    """A finding without what every breach of the same people has."""

    wrong: npt.NDArray[np.bool_]
    predictor: str
    doubt: float
    mean_absolute_error: float | None


def find_last(
    position: int,
    generalizations: Sequence[Generalization],
    split: Split,
    seed: int,
    predictor: MakePredictor,
) -> list[Guessed]:
    """Return what is found of one attribute by who knows all others, for several generalizations at once."""
    memory: dict[Hashable, Any] = {}
    others = all_but(position, split.train)
    guessed = []
    for generalization in generalizations:
        breach = Breach.of(generalization, split, seed=seed, memory=memory)
        (own,) = find(breach, (position,), others, predictor)
        guessed.append(Guessed(own.wrong, own.predictor, own.doubt, own.mean_absolute_error))
    return guessed


def remember_last(breach: Breach, predictor: MakePredictor, guessed: Mapping[int, Guessed]) -> None:
    """Let a breach know what ``find_last`` found, by position."""
    for p, (wrong, name, doubt, distance) in guessed.items():
        sure = np.zeros(len(wrong))  # nobody asks A4 how sure it is
        finding = Finding(breach.targets[p], wrong, sure, name, doubt, distance)
        breach.memory[_key(breach, p, all_but(p, breach.train), predictor)] = finding


def found_knowing_more(memory: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    """Return what is worth to be remembered for another generalization: findings from more than the records."""
    return {key: each for key, each in memory.items() if isinstance(key, _Found) and key.knowing_more}


def all_but(position: int, table: Table) -> list[int]:
    """Return the positions of all other attributes."""
    return [j for j in range(len(table.schema)) if j != position]


def find_alone(breach: Breach, predictor: MakePredictor, compared: bool = True) -> list[Finding]:
    """Return what A1 finds, who knows nothing beside the stolen records.

    Where the label did not help on the validation part (a model can drown in what it sees), it is not used.
    """
    labelled = find(breach, tuple(breach.targets), (), predictor)
    less = find_deployed(breach, predictor) if compared else []
    return (
        [min(pair, key=lambda each: each.doubt) for pair in zip(labelled, less, strict=True)] if less else labelled
    )


def find_deployed(breach: Breach, predictor: MakePredictor) -> list[Finding]:
    """Return what the same adversary finds in the deployment phase; nothing where that is no other breach."""
    return find(breach.deployed(), tuple(breach.targets), (), predictor) if breach.labelled else []


def _find(breach: Breach, targets: Sequence[int], known: Sequence[int], predictor: MakePredictor) -> list[Finding]:
    plain = [p for p in targets if breach.joined.partitions[p].untouched]
    by_position = {p: read_off(breach.targets[p]) for p in plain}
    hidden = [p for p in targets if p not in plain]
    if hidden:
        more = predictor.knowing_more() if known and isinstance(predictor, StrongestOf) else predictor
        open_ = [j for j, p in enumerate(breach.joined.partitions) if j not in known and not p.untouched]
        if known and len(open_) == 1:
            by_position[open_[0]] = _find_last(breach, open_[0], more)
        else:
            shared = _sharing(breach, hidden, known, more)
            make = SingleModel if known or shared is not more else model_of
            model = make(breach, breach.joined, hidden, known, shared)
            by_position |= dict(zip(hidden, findings(breach, model, hidden), strict=True))
    return [by_position[p] for p in targets]


def _sharing(
    breach: Breach, targets: Sequence[int], known: Sequence[int], predictor: MakePredictor
) -> MakePredictor:
    """Return what somebody uses with the network of all candidates in it, where there is one."""
    shared: SharedNetwork | None = breach.memory.get(SHARED)
    if shared is None or not isinstance(predictor, StrongestOf):
        return predictor
    return partial(predictor, shared.seen_by(breach, known, targets))


def _find_last(breach: Breach, position: int, predictor: MakePredictor) -> Finding:
    """Return what is found of one attribute by who knows all others."""
    # The model of one attribute is kept at a time: it may fill much memory, and next come other generalizations.
    slot, key = ("rest", breach.labelled), (position, predictor)
    if breach.memory.get(slot, (None,))[0] != key:
        breach.memory[slot] = key, Rest(breach, position, predictor())
    rest: Rest = breach.memory[slot][1]
    ways = (Restricted(breach, rest, members) for members in (rest.members, [rest.majority]))
    return min((findings(breach, model, [position])[0] for model in ways), key=lambda each: each.doubt)


def read_off(target: Target) -> Finding:
    """Return the finding about an attribute that is collected in full: it stands in the stolen record."""
    people = len(target.truth)
    distance = None if target.tolerance is None else 0.0
    return Finding(target, np.zeros(people, dtype=bool), np.ones(people), READ_OFF, 0.0, distance)


def findings(breach: Breach, model: Model, targets: Sequence[int]) -> list[Finding]:
    """Score a model on the stolen records."""
    guessed = guess(model, 2, [breach.targets[p] for p in targets])
    result = []
    for name, p, guesses in zip(model.names, targets, guessed, strict=True):
        target, record_of = breach.targets[p], breach.record_of(p)
        codes, confidence, middle = guesses[0][record_of], guesses[1][record_of], guesses[2][record_of]
        distance = None if target.tolerance is None else target.distance(middle)
        result.append(Finding(target, target.wrong(codes), confidence, name, math.nan, distance))
    if breach.validation.codes is breach.truth.codes and breach.cells is None:  # see ``Split.on_validation``
        return [replace(own, doubt=own.error()) for own in result]
    doubts = validation_errors(breach, model, targets)
    return [replace(own, doubt=doubt) for own, doubt in zip(result, doubts, strict=True)]


def validation_errors(breach: Breach, model: Model, targets: Sequence[int]) -> list[float]:
    """Return the error of each target on the validation part."""
    if model.doubts is not None:
        return [*model.doubts]
    part, seen, counts = breach.validation, breach.parts.train, breach.validation.counts
    known = [target_of(p, breach.train, part, seen, breach.tolerances) for p in targets]
    guessed = guess(model, 1, known)
    wrong = [target.wrong(codes) for target, (codes, _, _) in zip(known, guessed, strict=True)]
    return [float(each @ counts) / part.people for each in wrong]


Guess = tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.float64]]


def guess(model: Model, part: int, targets: Sequence[Target]) -> list[Guess]:
    """Return, per target, each row's guess, its probability of being right, and the median of a number."""
    view = model.view(part)
    first, bucket_of = joint_buckets(view.inputs, view.input_sizes)
    pieces: list[list[Guess]] = [[] for _ in targets]
    step = max(1, _LARGEST_BLOCK // max(sum(view.target_sizes), 1))
    for start in range(0, max(len(first), 1), step):
        predicted = model.probabilities(part, first[start : start + step])
        for target, probabilities, own in zip(targets, predicted, pieces, strict=True):
            named = target.tolerance is None
            middle = np.zeros(len(probabilities)) if named else target.median(probabilities)
            own.append((*target.best(probabilities), middle))
    return [tuple(np.concatenate(arrays)[bucket_of] for arrays in zip(*own, strict=True)) for own in pieces]  # type: ignore[misc]


def scored(name: str, breach: Breach, guesses: Mapping[int, npt.NDArray[Any]]) -> ReconstructionResult:
    """Score the guesses of an adversary, beside the naive guess and with intervals.

    Parameters
    ----------
    name
        Of the adversary.
    guesses
        By the position of each personal attribute (``breach.targets``), the guessed code of every stolen person.
    """
    findings_of_all = [
        Finding(target, target.wrong(np.asarray(guesses[p])), np.zeros(len(target.truth)), name, doubt=0.0)
        for p, target in breach.targets.items()
    ]
    return ReconstructionResult(**reconstruction_fields(name, breach, findings_of_all, time.perf_counter()))


def least(own_findings: Sequence[Finding], weaker: Sequence[Finding]) -> list[Finding]:
    """Return, attribute by attribute, what errs least: who knows more may do as those do who know less.

    Decided on the attacked people themselves, in favour of the adversary.
    """
    rivals: dict[int, list[Finding]] = defaultdict(list)
    for finding in weaker:
        rivals[finding.target.position].append(finding)
    return [min((own, *rivals[own.target.position]), key=Finding.error) for own in own_findings]


def reconstruction_fields(
    adversary: str,
    breach: Breach,
    own: Sequence[Finding],
    start: float,
    blind: Sequence[Finding] = (),
    deployed: Sequence[Finding] = (),
) -> dict[str, Any]:
    """Return the fields of a ``ReconstructionResult``.

    ``blind`` was found without the stolen records, ``deployed`` without their labels.
    """
    own, *others = ([finding.or_majority() for finding in each] for each in (own, blind, deployed))
    without: list[list[float | None]] = [
        [finding.error() for finding in each] if each else [None] * len(own) for each in others
    ]
    attributes = tuple(
        _attribute_result(finding, breach.truth.persons, *errors)
        for finding, *errors in zip(own, *without, strict=True)
    )
    return {
        "adversary": adversary,
        "people": breach.headcount,
        "adversary_error": float(np.mean([result.adversary_error for result in attributes])),
        "interval": _interval_of_mean(breach, own),
        "baseline": float(np.mean([result.baseline for result in attributes])),
        "attributes": attributes,
        "seconds": time.perf_counter() - start,
    }


def _interval_of_mean(breach: Breach, own: Sequence[Finding]) -> Interval:
    if breach.cells is None:
        wrong = np.mean([finding.wrong for finding in own], axis=0)
        return mean_interval(wrong, breach.truth.counts, persons=breach.truth.persons)
    # Which of one person's attributes are told together is not counted: the most they can be is assumed.
    most = np.mean([np.sqrt(_error_by_record(breach, finding)) for finding in own], axis=0)
    mean = float(np.mean([finding.error() for finding in own]))
    return spread_interval(mean, float(most**2 @ breach.truth.counts) / breach.people - mean**2, breach.people)


def _error_by_record(breach: Breach, finding: Finding) -> npt.NDArray[Any]:
    """Return the share of the people behind each stolen record who are guessed wrongly."""
    record_of, people = breach.record_of(finding.target.position), breach.truth.counts
    if len(people) == 1:  # counts of everybody as one record: each finding has its own
        return np.array([float(finding.wrong @ finding.target.counts) / people[0]])
    wrong = np.bincount(record_of, weights=finding.wrong * finding.target.counts, minlength=len(people))  # type: ignore[arg-type]
    return np.asarray(wrong / np.maximum(people, 1))


def _attribute_result(
    finding: Finding,
    persons: npt.NDArray[np.intp] | None,
    without_breach: float | None,
    without_label: float | None,
) -> AttributeResult:
    target = finding.target
    return AttributeResult(
        attribute=target.attribute.name,
        adversary_error=finding.error(),
        interval=error_interval(finding.wrong, target.counts, persons, target.withheld),
        baseline=float(target.naive_wrong @ target.counts) / target.people,
        predictor=finding.predictor,
        tolerance=target.tolerance,
        mean_absolute_error=finding.mean_absolute_error,
        without_breach=without_breach,
        without_label=without_label,
    )
