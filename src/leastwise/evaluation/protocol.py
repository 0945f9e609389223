"""Judge one generalization by the protocol: utility, every attack, the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import MakePredictor, StrongestOf
from leastwise.adversaries.linkability import Linkability
from leastwise.adversaries.multi_breach import MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.result import AttackResult
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.errors import ParameterError
from leastwise.evaluation.certificate import Certificate, certify, check_held_out, check_origin
from leastwise.evaluation.evaluation import Evaluation, People, fingerprint_of
from leastwise.evaluation.utility import UtilityLimits, UtilityRisk, utility_limits, utility_risk
from leastwise.generalization import Generalization
from leastwise.records.table import Split, Table
from leastwise.validation import check_choice

ADVERSARIES = ("A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8")
Progress = Callable[[str], None]


class Adversary(Protocol):
    """Anything that attacks a breach."""

    def attack(self, breach: Breach) -> AttackResult:
        """Attack."""
        ...


def evaluate(
    generalization: Generalization,
    records: Table | Split,
    adversaries: Sequence[str] | None = None,
    seed: int = 0,
    quick: bool = False,
    *,
    others: Sequence[Generalization] = (),
    tolerances: Mapping[str, float] | None = None,
    delta: float = 0.05,
    candidates: int = 1,
    predicates: int = 10,
    without_breach: bool = False,
    held_out: bool = False,
    predictor: MakePredictor | None = None,
    limits: UtilityLimits | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge a generalization by the protocol (60 % known, 10 % to choose with, 30 % stolen).

    Parameters
    ----------
    generalization
        Must not have been chosen by looking at the test part: the split of a ``Table`` is the one that
        ``table.split(seed)`` gives, so minimize on its training part.
    records
        All records, which are split by the seed, or the three parts.
    adversaries
        "A1" to "A8"; by default all, A6 only if there are ``others``.
    seed, quick
        The same seed gives the same document. ``quick`` trains less and draws less: for a first look.
    others
        Other generalizations under which the same people were asked (for A6).
    tolerances
        Within which a number counts as told, by the name of a continuous personal attribute.
    delta, candidates
        Of the certificate, see ``certify``.
    predicates
        How many sentences A8 returns at most; they describe real people.
    without_breach
        Whether A3 to A5 also attack without the stolen records, to say what the breach added; takes longer.
    held_out
        Says that none of these records had a say in choosing the generalization, whatever its origin says.
    predictor
        Makes the predictor of A1 to A6 (it is called for each fit); by default the strongest of several.
    limits
        The utility risk of the limit points, where it is known already: it is the same for all generalizations.
    progress
        Is called with a few words before each step.
    """
    split = records.split(seed) if isinstance(records, Table) else records
    chosen = _chosen(adversaries, others, bool(split.test.personal))
    check_held_out(split.test)
    if not held_out:
        check_origin(generalization, split.test.split_seed)
    _check_personal(chosen, split.test)
    breach = Breach.of(generalization, split, seed=seed, tolerances=dict(tolerances or {}))
    clock = _Clock(progress or (lambda _: None))
    utilities = _utilities(generalization, split, seed, quick, limits, clock)
    make = predictor or StrongestOf(quick, seed)
    attackers = _adversaries(make, without_breach, 10 if quick else 50, predicates)
    attacks = [_attack(name, attackers[name], breach, others, clock) for name in chosen]
    return Evaluation(
        fingerprint=fingerprint_of(generalization),
        seed=seed,
        quick=quick,
        people=People(**{name: getattr(split, name).people for name in Split._fields}),
        personal=split.test.schema.personal,
        utility=utilities[0],
        everything=utilities[1],
        nothing=utilities[2],
        attacks=tuple(attacks),
        certificate=_certificate(breach, delta, candidates, clock),
        seconds=dict(clock.seconds),
    )


def _chosen(adversaries: Sequence[str] | None, others: Sequence[Generalization], personal: bool) -> list[str]:
    if adversaries is None and not personal:
        return ["A7", "A8"]  # all others are after personal attributes
    if adversaries is None:
        return [name for name in ADVERSARIES if name != "A6" or others]
    wanted = {check_choice("adversaries", name, ADVERSARIES) for name in adversaries}
    if "A6" in wanted and not others:
        raise ParameterError("A6 needs another generalization of the same people; give it as others")
    return [name for name in ADVERSARIES if name in wanted]


def _check_personal(chosen: Sequence[str], table: Table) -> None:
    reconstructing = [name for name in chosen if name not in ("A7", "A8")]
    if reconstructing and not table.personal:
        raise ParameterError(
            f"{', '.join(reconstructing)} are after personal attributes, and the schema marks none; mark some, or "
            "choose the adversaries A7 and A8"
        )


@dataclass(frozen=True)
class _Clock:
    """Says what begins, and notes how long it took."""

    say: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, words: str) -> Iterator[None]:
        self.say(words)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


WORDS = {
    "A1": "A1 reconstruction",
    "A2": "A2 the surest guesses",
    "A3": "A3 knowing the non-personal attributes",
    "A4": "A4 knowing all but one attribute",
    "A5": "A5 learning one attribute after the other",
    "A6": "A6 several breaches",
    "A7": "A7 linking",
    "A8": "A8 singling out",
}


def _attack(
    name: str, adversary: Adversary, breach: Breach, others: Sequence[Generalization], clock: _Clock
) -> AttackResult:
    stolen = breach.together_with(others) if name == "A6" else breach
    with clock.step(name, WORDS[name]):
        return adversary.attack(stolen)


def _adversaries(
    predictor: MakePredictor, without_breach: bool, draws: int, predicates: int
) -> dict[str, Adversary]:
    return {
        "A1": Reconstruction(predictor),
        "A2": HighCertainty(predictor),
        "A3": NonPersonalKnowledge(predictor, without_breach=without_breach),
        "A4": LeaveOneOut(predictor, without_breach=without_breach),
        "A5": PartialKnowledge(predictor, without_breach=without_breach),
        "A6": MultiBreach(predictor),
        "A7": Linkability(draws=draws),
        "A8": SinglingOut(predicates),
    }


def _utilities(
    generalization: Generalization,
    split: Split,
    seed: int,
    quick: bool,
    limits: UtilityLimits | None,
    clock: _Clock,
) -> list[UtilityRisk | None]:
    if split.train.schema.label is None:
        return [None, None, None]
    with clock.step("utility", "utility risk and its limit points"):
        own = utility_risk(generalization, split, quick=quick, seed=seed)
        suppressed, untouched = limits or utility_limits(split, quick=quick, seed=seed)
    return [own, untouched, suppressed]


def _certificate(breach: Breach, delta: float, candidates: int, clock: _Clock) -> Certificate | None:
    if not breach.truth.personal:
        return None
    # What counts as told was settled on the training part, as for the attacks.
    told = {target.attribute.name: target.tolerance for target in breach.targets.values()}
    tolerances = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
    with clock.step("certificate", "certificate"):
        return certify(
            breach.generalization, breach.truth, delta=delta, candidates=candidates, tolerances=tolerances
        )
