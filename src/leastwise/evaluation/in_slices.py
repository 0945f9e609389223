"""Judge what has more distinct records than are held at once: one slice of them after another.

Each model learns once, from the sample, and guesses the records of every slice as it comes. Of a slice only sums
are kept: of how many people a guess is wrong and how sure it was, how many share a record, what is told in
hindsight. All who share a generalized record are in one slice, so the figures are those that all counts together
would give. Only the interval of the mean over attributes is wider: everybody counts as one record there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.base import Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import (
    Finding,
    MakePredictor,
    SingleModel,
    guess,
    model_of,
    read_off,
    remember,
    validation_errors,
)
from leastwise.adversaries.multi_breach import MultiBreach, remember_several, ways
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.result import AttackResult
from leastwise.adversaries.singling_out import SinglingOut, singled_out
from leastwise.errors import DataError
from leastwise.evaluation.certificate import Certificate, certificate_of, stored_buckets, told_in_hindsight
from leastwise.evaluation.label_guesses import Learned, learn_label
from leastwise.evaluation.risk import UtilityRisk, risk_of
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.predictors.base import Probabilities, Samples, samples
from leastwise.records.grouping import Cells
from leastwise.records.sources import Counted, Source
from leastwise.records.table import Split, Table

# Probabilities that differ by less are ties (see ``top_errors``).
_SURENESS = 10**6
_NOBODY = "every record is withheld: each is shared by fewer people than the minimum; lower it"
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class InSlices:
    """The test part under a generalization of more distinct records than are fetched; counted when iterated."""

    source: Source
    generalization: Generalization

    def __iter__(self) -> Iterator[Counted]:
        """Yield the counts, a slice after another."""
        return self.source.in_slices(self.generalization, self.source.tested)

    @property
    def people(self) -> int:
        """How many the test part has."""
        return self.source.people(self.source.tested)


class Judged(NamedTuple):
    """What all slices together say; the certificates are with what is stored, and of deployment."""

    people: int
    withheld: int
    utility: UtilityRisk | None
    attacks: tuple[AttackResult, ...]
    certificates: tuple[Certificate, ...]


def judge_slices(
    generalization: Generalization,
    known: Split,
    slices: Iterable[Counted],
    people: int,
    adversaries: Sequence[str],
    *,
    judges: Judges,
    tolerances: Mapping[str, float],
    label: bool,
    **promise: Any,
) -> Judged:
    """Judge a generalization by the counts of slices.

    Parameters
    ----------
    people
        How many the part has; whom no slice shows is withheld.
    adversaries
        Of A1, A2 and A8.
    promise
        The chance that a certificate is wrong, and among how many candidates one is chosen.
    """
    setting = Setting(judges.adversary(), judges.quick)
    kinds = [kind for kind in (Reconstruction, HighCertainty) if kind.name in adversaries]
    about = {"seed": judges.seed, "tolerances": tolerances, "label": label}
    labels, thieves, promised = None, list[_Thief](), list[Hindsight]()
    for counted in slices:
        split = Split(known.train, known.validation, counted.truth)
        breach = Breach.of(generalization, split, cells=counted.cells, **about)
        breaches = [breach, breach.deployed()] if breach.labelled else [breach]
        if not promised:
            told = {each.attribute.name: each.tolerance for each in breach.targets.values()}
            within = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
            promised = [Hindsight(generalization, within, each.labelled) for each in breaches]
            if counted.truth.labels is not None:
                labels = _Labels(generalization, learn_label(generalization, split, judges.classifiers()))
            if kinds:
                thieves = [_Thief(each, setting.predictor) for each in breaches]
        for thief, own in zip(thieves, breaches, strict=False):
            thief.add(own)
        for each in promised:
            each.add(counted)
        if labels is not None:
            labels.add(counted.truth)
    if not promised:
        raise DataError(_NOBODY)
    withheld = people - int(promised[0].people)
    everybody = _everybody(breach, promised[0].people, float(withheld))
    for thief, own in zip(thieves, (everybody, everybody.deployed()), strict=False):
        remember(own, setting.predictor, thief.findings(people))
    attacks: list[AttackResult] = [kind.configured(setting).attack(everybody) for kind in kinds]
    if SinglingOut.name in adversaries:
        attacks.append(_alone(promised, withheld))
    utility = None if labels is None else labels.risk(known.train, counted.truth)
    certificates = tuple(each.certificate(people, **promise) for each in promised)
    return Judged(people, withheld, utility, tuple(attacks), certificates)


def judge_together(
    several: Sequence[Generalization],
    known: Split,
    slices: Iterable[Counted],
    people: int,
    *,
    judges: Judges,
    tolerances: Mapping[str, float],
    label: bool,
) -> AttackResult:
    """Return A6 by the slices of what several generalizations of the same people tell apart together."""
    setting = Setting(judges.adversary(), judges.quick)
    thieves, shown = list[_Thief](), 0.0
    for counted in slices:
        split = Split(known.train, known.validation, counted.truth)
        breach = Breach.of(
            several, split, cells=counted.cells, seed=judges.seed, tolerances=tolerances, label=label
        )
        breaches = [breach, *map(breach.alone, breach.generalizations)]
        thieves = thieves or [_Thief(each, setting.predictor) for each in breaches]
        for thief, own in zip(thieves, breaches, strict=True):
            thief.add(own)
        shown += counted.truth.people
    if not thieves:
        raise DataError(_NOBODY)
    everybody = _everybody(breach, shown, people - shown)
    together, *alone = (thief.findings(people) for thief in thieves)
    remember_several(everybody, setting.predictor, together)
    for generalization, findings in zip(everybody.generalizations, alone, strict=True):
        remember(everybody.alone(generalization), setting.predictor, findings)
    return MultiBreach.configured(setting).attack(everybody)


def _everybody(like: Breach, shown: float, withheld: float) -> Breach:
    """Return a breach of all people as one record, of whom findings are remembered."""
    truth = replace(
        like.truth,
        codes=like.truth.codes[:1],
        labels=None if like.truth.labels is None else like.truth.labels[:1],
        weights=np.array([shown]),
    )
    nobody = Cells(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
    return replace(like, truth=truth, cells=dict.fromkeys(like.targets, nobody), withheld=withheld, memory={})


class _Guessing(NamedTuple):
    """A model that has learned, before the stolen records of another slice."""

    model: SingleModel
    stolen: Samples

    @property
    def names(self) -> Sequence[str]:
        return self.model.names

    @property
    def doubts(self) -> Sequence[float] | None:
        return self.model.doubts

    def view(self, part: int) -> Samples:
        return self.stolen if part == 2 else self.model.view(part)

    def probabilities(self, part: int, rows: Array) -> list[Probabilities]:
        return self.model.probabilities_of(self.view(part), rows)


class _Thief:
    """Who guesses the personal attributes of everybody: learned once, scored slice by slice."""

    def __init__(self, breach: Breach, predictor: MakePredictor) -> None:
        self.hidden = [p for p in breach.targets if not breach.joined.partitions[p].untouched]
        self.sums = {p: _Guessed() for p in breach.targets}
        self.models = [
            (seen, model_of(breach, seen, self.hidden, (), predictor)) for seen in _seen(breach) if self.hidden
        ]
        self.chosen: dict[int, tuple[int, float]] = {}
        if self.hidden:  # of each attribute the way that did best on the validation part
            doubts = [
                validation_errors(breach, way, self.hidden) for way in ways([each for _, each in self.models])
            ]
            best = (min(enumerate(own), key=lambda each: each[1]) for own in zip(*doubts, strict=True))
            self.chosen = dict(zip(self.hidden, best, strict=True))

    def add(self, breach: Breach) -> None:
        """Guess the people of a slice."""
        targets = breach.targets
        for p in targets.keys() - {*self.hidden}:
            self.sums[p].add(read_off(targets[p]), np.zeros(len(targets[p].truth)))
        test, labelled = breach.parts.test, breach.labelled
        stolen = [samples(test, seen, self.hidden, (), labelled) for seen, _ in self.models]
        guessing = (
            ways([_Guessing(model, own) for (_, model), own in zip(self.models, stolen, strict=True)])
            if stolen
            else []
        )
        for number in sorted({way for way, _ in self.chosen.values()}):
            own = guess(guessing[number], 2, [targets[p] for p in self.hidden])
            for p, name, guesses in zip(self.hidden, guessing[number].names, own, strict=True):
                if self.chosen[p][0] == number:
                    record_of, target = breach.record_of(p), targets[p]
                    wrong = target.wrong(guesses[0][record_of])
                    finding = Finding(target, wrong, guesses[1][record_of], name, self.chosen[p][1])
                    self.sums[p].add(finding, guesses[2][record_of])

    def findings(self, people: int) -> list[Finding]:
        """Return what was found of all people."""
        return [each.finding(people) for each in self.sums.values()]


def _seen(breach: Breach) -> list[Generalization]:
    """Return what its thief learns from: the records joined and, of several breaches, each of them alone."""
    several = breach.generalizations
    return [breach.joined, *several] if len(several) > 1 else [breach.joined]


@dataclass(eq=False)
class _Guessed:
    """About one attribute: of how many people a guess was wrong, by how sure it was.

    Of a person's value no more is kept than whether naming the commonest one would have told it.
    """

    last: Finding | None = None
    example: dict[bool, int] = field(default_factory=dict)
    keys: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    counts: Array = field(default_factory=lambda: np.zeros(0))
    off: float = 0.0
    numbered: float = 0.0

    def add(self, finding: Finding, middle: Array) -> None:
        """Add what was found of the people of a slice; ``middle`` is the guessed median of a number."""
        target, naive = finding.target, finding.target.naive_wrong
        for flag in (False, True):
            if flag not in self.example and (naive == flag).any():
                self.example[flag] = int(target.truth[naive == flag][0])
        sure = np.rint(finding.confidence * _SURENESS).astype(np.int64)
        keys = np.concatenate([self.keys, 4 * sure + 2 * finding.wrong + naive])
        self.keys, index = np.unique(keys, return_inverse=True)
        self.counts = np.bincount(index, weights=np.concatenate([self.counts, target.counts]))
        self.last = finding
        if target.tolerance is not None and finding.mean_absolute_error is None:
            known = np.isfinite(target.numbers[target.truth]) & np.isfinite(middle)
            own = float(target.counts[known].sum())
            self.off, self.numbered = self.off + own * (target.distance(middle) or 0.0), self.numbered + own

    def finding(self, people: int) -> Finding:
        """Return what was found of all people."""
        assert self.last is not None
        sure, flags = np.divmod(self.keys, 4)
        naive = flags % 2 == 1
        truth = np.where(naive, self.example.get(True, 0), self.example.get(False, 0))
        target = replace(
            self.last.target, truth=truth, counts=self.counts, withheld=people - float(self.counts.sum())
        )
        distance = self.last.mean_absolute_error  # 0 where it is read off
        if self.numbered:
            distance = self.off / self.numbered
        return replace(
            self.last, target=target, wrong=flags >= 2, confidence=sure / _SURENESS, mean_absolute_error=distance
        )


class _Labels:
    """Who guesses the label of everybody: learned once, scored slice by slice."""

    def __init__(self, generalization: Generalization, learned: Learned) -> None:
        self.generalization, self.learned = generalization, learned
        self.people: Counter[tuple[int, bool]] = Counter()

    def add(self, truth: Table) -> None:
        """Guess the people of a slice."""
        guessed = self.learned.best(self.learned.believes(samples(truth, self.generalization, "label")))
        keys = 2 * truth.y.astype(np.int64) + (guessed != truth.y)
        for key, people in enumerate(np.bincount(keys, weights=truth.counts)):
            self.people[key // 2, key % 2 == 1] += people

    def risk(self, train: Table, like: Table) -> UtilityRisk:
        """Return the utility risk of all people who were shown."""
        (labels, wrong), people = zip(*self.people, strict=True), [*self.people.values()]
        codes = np.zeros((len(people), like.codes.shape[1]), dtype=like.codes.dtype)
        judged = replace(like, codes=codes, labels=np.array(labels), weights=np.array(people, dtype=float))
        return risk_of(np.array(wrong), train, judged, self.learned.name, 0.0)


class Hindsight:
    """What is told in hindsight, and how many share a record: with the label, or without.

    Parameters
    ----------
    tolerances
        By the name of a personal number, within what it counts as told.
    """

    def __init__(self, generalization: Generalization, tolerances: Mapping[str, float], label: bool) -> None:
        self.generalization, self.tolerances, self.label = generalization, tolerances, label
        self.told: dict[str, float] = {}
        self.values: dict[str, Counter[int]] = {}
        self.levels: dict[str, Array] = {}
        self.sizes: Counter[int] = Counter()

    @property
    def people(self) -> float:
        """How many were shown."""
        return float(sum(size * records for size, records in self.sizes.items()))

    def add(self, counted: Counted) -> None:
        """Count a slice."""
        truth = counted.truth
        bucket_of = stored_buckets(self.generalization, truth, self.label)
        people_in = np.bincount(bucket_of, weights=truth.counts).astype(np.int64)
        sizes, records = np.unique(people_in, return_counts=True)
        self.sizes.update(dict(zip(sizes.tolist(), records.tolist(), strict=True)))
        for p, cells in counted.cells.items():
            name, use = truth.schema.names[p], np.bincount(cells.values, weights=cells.counts)
            self.levels[name] = np.asarray(truth.levels[p])
            fullest = self._fullest(name, bucket_of[cells.record_of], cells.values, cells.counts)
            self.told[name] = self.told.get(name, 0.0) + fullest
            known = {int(code): int(use[code]) for code in np.flatnonzero(use)}
            self.values.setdefault(name, Counter()).update(known)

    def _fullest(self, name: str, bucket_of: Array, values: Array, counts: Array) -> float:
        tolerance = self.tolerances.get(name)
        numbers = None if tolerance is None else self.levels[name].astype(float)
        whole = values.astype(np.int64), counts.astype(np.int64)
        return told_in_hindsight(bucket_of, *whole, numbers, tolerance or 0.0)

    def certificate(self, people: int, **promise: Any) -> Certificate:
        """Bound every adversary; of whom nothing was shown, everything counts as told."""
        told = {}
        for name, hindsight in self.told.items():
            values, counts = (np.array(each) for each in zip(*sorted(self.values[name].items()), strict=True))
            guessing = self._fullest(name, np.zeros(len(values), dtype=np.intp), values, counts)
            withheld = people - int(counts.sum())
            told[name] = (hindsight + withheld) / people, (guessing + withheld) / people
        return certificate_of(
            told,
            {name: self.tolerances.get(name) for name in told},
            people,
            people=people,
            known=(),
            joint_buckets=sum(self.sizes.values()),
            alone=(self.sizes[1] + people - int(self.people)) / people,
            label=self.label,
            **promise,
        )


def _alone(promised: Sequence[Hindsight], withheld: int) -> AttackResult:
    """Return A8: with what is stored, and beside it of deployment."""
    stored, *deployed = promised
    sizes = np.repeat([*stored.sizes], [*stored.sizes.values()]).astype(np.int64)
    without = deployed[0].sizes[1] + withheld if deployed else None
    return singled_out(sizes, withheld, predicates=(), unique_without_label=without, seconds=0.0)
