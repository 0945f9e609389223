"""Judge on everything, where it lies: what was learned from a sample is scored on counts of all records.

A predictor depends on the generalized record alone. So its guess is made once for each distinct one, and how
often it is wrong follows exactly from how many people have that record together with each value: utility, A1, A2,
A6, A8 and the certificate are those of all records of the test part. Only the interval of the mean over attributes
is wider than it would be one by one. Who knows more than the generalized record (A3 to A5, A7) is judged on the
sample.

Where small counts are withheld, every figure is on the safe side: of the people behind them the classifier tells
nobody, and the adversary everybody.

What a generalization costs is the difference to everything asked. So a judgement tells the model's errors of all
people only where those of everything asked are told of all of them, too; else they stay those of the sample, all
of them. A difference of two parts would be that of two samples of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leastwise.adversaries.base import Adversary, Setting, about
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.multi_breach import MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.result import AttackResult
from leastwise.adversaries.singling_out import SinglingOut, singled_out
from leastwise.confidence import binomial_interval
from leastwise.evaluation.certificate import Certificate, certificate_of, certify_counts
from leastwise.evaluation.evaluation import Evaluation, People
from leastwise.evaluation.in_slices import InSlices, judge_slices, judge_together
from leastwise.evaluation.label_guesses import label_guesses
from leastwise.evaluation.protocol import attackers, evaluate
from leastwise.evaluation.risk import UtilityRisk
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.records.sources import AddedUp, Counted, Source
from leastwise.records.sources.engine import TooManyGroupsError
from leastwise.records.table import Split, Table

EXACT = (Reconstruction, HighCertainty, MultiBreach, SinglingOut)
"""The adversaries who see no more than generalized records and labels."""


@dataclass(frozen=True)
class AtSource:
    """What all records of the test part say of a generalization."""

    people: int
    utility: UtilityRisk | None
    attacks: tuple[AttackResult, ...]
    certificate: Certificate | None
    deployment: Certificate | None

    def instead_of(self, sampled: Evaluation, limits: LimitsAtSource | None = None) -> Evaluation:
        """Return a judgement by a sample with these figures where there are any.

        Without ``limits`` the model's errors stay those of the sample. How groups are served, and what beliefs
        expect, stays so in any case.
        """
        own = {attack.adversary: attack for attack in self.attacks}
        judged = replace(
            sampled,
            people=replace(sampled.people, test=float(self.people)),
            attacks=tuple(own.get(attack.adversary, attack) for attack in sampled.attacks),
            certificate=self.certificate,
            deployment=self.deployment,
        )
        everything = None if limits is None else limits.risk_of_everything
        if limits is None or everything is None or self.utility is None or sampled.utility is None:
            return judged
        utility = beside_everything(self.utility, everything, sampled.utility)
        return replace(judged, utility=utility, everything=everything, nothing=limits.nothing.utility)


class LimitsAtSource(NamedTuple):
    """What all records of the test part say of everything asked, where they tell that, and of nothing asked."""

    everything: Evaluation | None
    nothing: Evaluation

    @property
    def risk_of_everything(self) -> UtilityRisk | None:
        """How often the model errs with everything asked, about everybody; None where that is not told."""
        return None if self.everything is None else self.everything.utility


def judge_limits(known: Split, source: Source, judges: Judges) -> LimitsAtSource:
    """Judge everything asked and nothing asked on all records of the test part."""
    nothing = judge_nothing(known, source, judges)
    return LimitsAtSource(judge_everything(known, source, judges), nothing)


def judge_everything(known: Split, source: Source, judges: Judges) -> Evaluation | None:
    """Judge everything asked on all records of the test part; None where small counts are withheld.

    With everything asked hardly two people are alike. So hardly anybody would be shown, and it would seem to cost
    less to ask less.
    """
    everything = Generalization.untouched(known.train.schema)
    return _judge_limit(everything, known, source, judges) if source.at_least == 1 else None


def judge_nothing(known: Split, source: Source, judges: Judges) -> Evaluation:
    """Judge nothing asked on all records of the test part."""
    return _judge_limit(Generalization.suppressed(known.train.schema), known, source, judges)


def _judge_limit(limit: Generalization, known: Split, source: Source, judges: Judges) -> Evaluation:
    own, schema = judge_at_source(limit, known, source, ("A1", "A8"), judges=judges), known.train.schema
    return Evaluation(
        fingerprint=limit.fingerprint,
        seed=judges.seed,
        quick=judges.quick,
        people=People(train=known.train.people, validation=known.validation.people, test=float(own.people)),
        personal=schema.personal,
        utility=own.utility,
        everything=None,
        nothing=None,
        attacks=own.attacks,
        certificate=own.certificate,
        deployment=own.deployment,
    )


def beside_everything(risk: UtilityRisk, everything: UtilityRisk, sampled: UtilityRisk) -> UtilityRisk:
    """Return a risk of all people with its increase over that of everything asked, which is of the same people."""
    increase = sampled.increase
    if increase is not None:
        increase = increase.with_mean_of(risk.people, risk.error - everything.error, sampled.people)
    return replace(risk, increase=increase, expected=sampled.expected, groups=sampled.groups)


class TooMany(NamedTuple):
    """What is known of a generalization of more distinct records than are fetched: with the label, and without.

    ``label`` says whether the first is with it.
    """

    stored: AddedUp
    deployed: AddedUp | None
    label: bool


def evaluate_at_source(
    generalization: Generalization,
    sample: Table,
    source: Source,
    adversaries: Sequence[str | Adversary] | None = None,
    seed: int = 0,
    quick: bool = False,
    *,
    others: Sequence[Generalization] = (),
    **rest: Any,
) -> Evaluation:
    """Judge a generalization by the protocol: on everything where counts tell, on the sample where they do not.

    Parameters
    ----------
    sample
        Drawn from the source, split by the same seed.
    adversaries, seed, quick, others, rest
        See ``evaluate``.
    """
    judges = Judges(quick, seed, rest.get("estimator"), rest.get("predictor"))
    setting = Setting(judges.adversary(), quick)
    wanted = [*attackers(adversaries, setting, others, sample.schema)]
    counted = [each.name for each in EXACT if each.name in wanted]
    split, by_name = sample.split(seed), {about(a).name: a for a in adversaries or () if not isinstance(a, str)}
    sampled = evaluate(
        generalization,
        split,
        [by_name.get(name, name) for name in wanted],
        seed,
        quick,
        others=others,
        **rest,
    )
    own = {
        name: rest[name] for name in ("tolerances", "delta", "candidates", "predicates", "label") if name in rest
    }
    exact = judge_at_source(generalization, split, source, counted, judges=judges, others=others, **own)
    told = source.at_least == 1 and sampled.utility is not None
    return exact.instead_of(sampled, judge_limits(split, source, judges) if told else None)


def judge_at_source(
    generalization: Generalization,
    known: Split,
    records: Source | Counted | InSlices | TooMany,
    adversaries: Sequence[str] = ("A1", "A2", "A8"),
    *,
    judges: Judges | None = None,
    others: Sequence[Generalization] = (),
    tolerances: dict[str, float] | None = None,
    delta: float = 0.05,
    candidates: int = 1,
    predicates: int = 0,
    label: bool = True,
) -> AtSource:
    """Judge a generalization on all records of the test part of a source.

    Parameters
    ----------
    known
        The split of a sample of the source; training and validation are learned from.
    records
        The source, or what it counted of the test part. Where there are too many distinct records to hold, a slice
        of them is counted after another; where there are too many for that, A8 and the certificate are those of
        all people, and all else is left to the sample.
    adversaries
        Of A1, A2, A6 and A8; others see more than can be counted.
    others
        Other generalizations under which the same people were asked (for A6, which takes the source).
    """
    judges = judges or Judges()
    counted = counts_of(records, generalization) if isinstance(records, Source) else records
    promise: dict[str, Any] = {"delta": delta, "candidates": candidates}
    several = (generalization, *others)
    about: dict[str, Any] = {"judges": judges, "tolerances": tolerances or {}, "label": label}
    if isinstance(counted, InSlices):
        try:
            judged = _judge_slices(known, counted, adversaries, judges, tolerances or {}, label, **promise)
            more = _together(several, known, counted.source, **about) if MultiBreach.name in adversaries else []
            return replace(judged, attacks=(*judged.attacks, *more))
        except TooManyGroupsError:
            counted = _added_up(counted, label)
    if isinstance(counted, TooMany):
        return _judge_sums(known, counted, adversaries, tolerances or {}, **promise)
    breach = _breach((generalization,), known, counted, judges, tolerances, label)
    told = {target.attribute.name: target.tolerance for target in breach.targets.values()}
    within = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
    setting = Setting(judges.adversary(), judges.quick, False, predicates)
    attacks: list[AttackResult] = []
    for kind in (each for each in EXACT if each.name in adversaries):
        if kind is MultiBreach:
            attacks += _together(several, known, records if isinstance(records, Source) else counted, **about)
        else:
            attacks.append(kind.configured(setting).attack(breach))
    certified = [
        certify_counts(generalization, counted, within, label=own, **promise)
        for own in ((label, False) if breach.labelled else (label,))
    ]
    return AtSource(
        people=counted.people,
        utility=_utility(generalization, known, counted, judges),
        attacks=tuple(attacks),
        certificate=certified[0],
        deployment=certified[1] if len(certified) > 1 else None,
    )


def counts_of(source: Source, generalization: Generalization) -> Counted | InSlices:
    """Count the test part; what is too much to hold is counted in slices, when they are asked for."""
    try:
        return source.counted(generalization, source.tested)
    except TooManyGroupsError:
        return InSlices(source, generalization)


def _added_up(counted: InSlices, label: bool) -> TooMany:
    """Add up in the engine what is too much even for slices."""
    source = counted.source
    add_up = partial(source.added_up, counted.generalization, source.tested)
    stored = label and source.schema.label is not None
    return TooMany(add_up(stored), add_up(False) if stored else None, stored)


def _judge_slices(
    known: Split,
    counted: InSlices,
    adversaries: Sequence[str],
    judges: Judges,
    tolerances: dict[str, float],
    label: bool,
    **promise: Any,
) -> AtSource:
    judged = judge_slices(
        counted.generalization,
        known,
        counted,
        counted.people,
        adversaries,
        judges=judges,
        tolerances=tolerances,
        label=label,
        **promise,
    )
    certificate, deployment = (*judged.certificates, None)[:2]
    utility = judged.utility and _with_withheld(judged.utility, judged.people, judged.withheld)
    return AtSource(judged.people, utility, judged.attacks, certificate, deployment)


def _judge_sums(
    known: Split,
    counted: TooMany,
    adversaries: Sequence[str],
    tolerances: dict[str, float],
    **rest: Any,
) -> AtSource:
    """Certify, and count who is alone, from what was added up."""
    stored, deployed, label = counted
    certificates = [
        _certified(known, each, tolerances, label=own, **rest)
        for each, own in ((stored, label), (deployed, False))
        if each is not None
    ]
    alone = None if deployed is None else deployed.sizes.get(1, 0) + deployed.withheld
    sizes = np.repeat([*stored.sizes], [*stored.sizes.values()]).astype(np.int64)
    singled = singled_out(sizes, stored.withheld, predicates=(), unique_without_label=alone, seconds=0.0)
    return AtSource(
        people=stored.people,
        utility=None,
        attacks=(singled,) if SinglingOut.name in adversaries else (),
        certificate=certificates[0],
        deployment=certificates[1] if len(certificates) > 1 else None,
    )


def _certified(known: Split, added: AddedUp, tolerances: dict[str, float], **rest: Any) -> Certificate:
    schema = known.train.schema
    within = {
        name: tolerances.get(name, known.train.default_tolerance(schema.position(name)))
        for name in added.told
        if schema[name].continuous
    }
    told = {name: (added.told[name] / added.people, added.guessed[name] / added.people) for name in added.told}
    return certificate_of(
        told,
        {name: within.get(name) for name in told},
        added.people,
        people=added.people,
        known=(),
        joint_buckets=sum(added.sizes.values()),
        alone=(added.sizes.get(1, 0) + added.withheld) / added.people,
        **rest,
    )


def _together(
    several: Sequence[Generalization],
    known: Split,
    records: Source | Counted,
    judges: Judges,
    tolerances: dict[str, float],
    label: bool,
) -> list[AttackResult]:
    """Return A6; nothing where there are too many records even for slices: the sample has the word."""
    counted = counts_of(records, several[0].refine(*several[1:])) if isinstance(records, Source) else records
    if isinstance(counted, Counted):
        stolen = _breach(several, known, counted, judges, tolerances, label)
        return [MultiBreach.configured(Setting(judges.adversary(), judges.quick)).attack(stolen)]
    rest: dict[str, Any] = {"judges": judges, "tolerances": tolerances, "label": label}
    try:
        return [judge_together(several, known, counted, counted.people, **rest)]
    except TooManyGroupsError:
        return []


def _breach(
    several: Sequence[Generalization],
    known: Split,
    counted: Counted,
    judges: Judges,
    tolerances: dict[str, float] | None,
    label: bool,
) -> Breach:
    split = Split(known.train, known.validation, counted.truth)
    return Breach.of(
        several,
        split,
        seed=judges.seed,
        tolerances=tolerances or {},
        label=label,
        cells=counted.cells,
        withheld=float(counted.withheld),
        counting=counted.learned,
    )


def _utility(generalization: Generalization, known: Split, counted: Counted, judges: Judges) -> UtilityRisk | None:
    if counted.truth.labels is None:
        return None
    split = Split(known.train, known.validation, counted.truth)
    risk = label_guesses(generalization, split, judges.classifiers()).risk(split, "test")
    return _with_withheld(risk, counted.people, counted.withheld)


def _with_withheld(risk: UtilityRisk, people: int, withheld: int) -> UtilityRisk:
    """Return a risk where of withheld people nobody is told."""
    if not withheld:
        return risk
    wrong, guessed = (round(share * risk.people) + withheld for share in (risk.error, risk.baseline))
    interval = binomial_interval(wrong, float(people))
    return replace(risk, error=wrong / people, baseline=guessed / people, people=float(people), interval=interval)
