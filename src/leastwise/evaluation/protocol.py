"""Judge one generalization by the protocol: utility, every attack, the certificate."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from leastwise.adversaries import PAPER, LeaveOneOut, known_adversaries
from leastwise.adversaries.base import Adversary, Setting, about
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import Guessed, remember_last
from leastwise.adversaries.result import AttackResult, GuestResult
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.certificate import Certificate, certify, check_held_out, check_origin
from leastwise.evaluation.evaluation import Evaluation, People
from leastwise.evaluation.label_guesses import label_guesses, utilities_together
from leastwise.evaluation.leaving_out import necessity_of
from leastwise.evaluation.necessity import Necessity
from leastwise.evaluation.risk import UtilityLimits, UtilityRisk
from leastwise.evaluation.utility import Judges, parts_of
from leastwise.generalization import Generalization
from leastwise.plugins import GUEST_NAMES, is_guest
from leastwise.progress import Progress, Silent
from leastwise.records.table import Split, Table
from leastwise.schema import Schema
from leastwise.validation import check_choice


def evaluate(
    generalization: Generalization,
    records: Table | Split,
    adversaries: Sequence[str | Adversary] | str | Adversary | None = None,
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
    necessity: bool = False,
    label: bool = True,
    predictor: Any = None,
    estimator: Any = None,
    limits: UtilityLimits | None = None,
    utility: UtilityRisk | None = None,
    last: Mapping[int, Guessed] | None = None,
    memory: dict[Hashable, Any] | None = None,
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
        "A1" to "A8", the name of an adversary that another package announces, or any object with
        ``attack(breach)``; several of them, or one. By default A1 to A8, A6 only if there are ``others``.
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
    necessity
        Whether to say what each question is worth: about a classifier's fit for each.
    label
        Whether the labels are stolen with the records, as the training phase stores them; A1, A2, A8 and the
        certificate then also say what is told without them, in deployment. False: only that, which is the paper's
        setting.
    predictor
        What A1 to A6 predict with: a scikit-learn classifier, a predictor, or a function that makes one for each
        fit; by default the strongest of several.
    estimator
        Your own scikit-learn classifier: it is judged beside ours, and the best of all counts.
    limits, utility
        The utility risk of the limit points and of the generalization, where they are known already.
    last
        What A4 finds of each personal attribute, by position, where ``find_last`` found it for several
        generalizations at once.
    memory
        What the attacks on other generalizations of the same records found; it grows.
    progress
        Is told each step as it begins.
    """
    split = parts_of(records, seed)
    generalization = generalization.within(split.test.schema)
    judges = Judges(quick, seed, estimator, predictor)
    setting = Setting(judges.adversary(), quick, without_breach, predicates)
    attacking = attackers(adversaries, setting, others, split.test.schema)
    check_held_out(split.test)
    if not held_out:
        check_origin(generalization, split.test.split_seed)
    _check_personal(attacking, split.test.schema)
    memory = {} if memory is None else memory
    breach = Breach.of(
        generalization, split, seed=seed, tolerances=dict(tolerances or {}), label=label, memory=memory
    )
    remember_last(breach, setting.predictor, last or {})
    clock = _Clock(progress or Silent())
    utilities = _utilities(generalization, split, judges, (utility, limits), clock)
    attacks = _attacks(attacking, breach, others, clock)
    certificate = _certificate(breach, delta, candidates, clock)
    return Evaluation(
        fingerprint=generalization.fingerprint,
        seed=seed,
        quick=quick,
        people=People(**{name: getattr(split, name).headcount for name in Split._fields}),
        personal=split.test.schema.personal,
        utility=utilities[0],
        everything=utilities[1],
        nothing=utilities[2],
        attacks=tuple(attacks[name] for name in attacking),
        certificate=certificate,
        deployment=_certificate(breach.deployed(), delta, candidates, clock) if breach.labelled else None,
        necessity=_necessity(breach, split, clock) if necessity else None,
        seconds=dict(clock.seconds),
    )


def _check_personal(attacking: Mapping[str, Adversary], schema: Schema) -> None:
    after = [name for name, each in attacking.items() if name in PAPER and each.wants_personal]
    if after and not schema.personal:
        raise ParameterError(
            f"{', '.join(after)} are after personal attributes, and the schema marks none; mark some, or "
            "choose the adversaries A7 and A8"
        )


def several(adversaries: Any) -> tuple[Any, ...]:
    """Return adversaries one by one; one alone is one of them, not many letters.

    >>> several("A1"), several(["A1", "A8"])
    (('A1',), ('A1', 'A8'))
    """
    alone = isinstance(adversaries, str) or hasattr(adversaries, "attack")
    return (adversaries,) if alone else tuple(adversaries)


def of_the_paper(schema: Schema | None) -> list[type[Adversary]]:
    """Return the adversaries of the paper that have something to do with such records."""
    if schema is None:
        return [*PAPER.values()]
    enough = [each for each in PAPER.values() if len(schema) >= each.fewest_attributes]
    return [each for each in enough if schema.personal or not each.wants_personal]


def attackers(
    wanted: Sequence[str | Adversary] | str | Adversary | None,
    setting: Setting,
    others: Sequence[Generalization] = (),
    schema: Schema | None = None,
) -> dict[str, Adversary]:
    """Return who attacks, by name: those of the paper in their order, then all others as they were given."""
    if wanted is None:
        default = of_the_paper(schema)
        wanted = [each.name for each in default if others or not each.wants_others]
    wanted, known = several(wanted), known_adversaries()
    named = {check_choice("adversaries", each, known) for each in wanted if isinstance(each, str)}
    given = [each for each in wanted if not isinstance(each, str)]
    adversaries: dict[str, Any] = {}
    for name in (each for each in known if each in named):
        adversaries[name] = _configured(name, known[name], setting)
    for adversary in given:
        name = _checked_name(adversary)
        if name in adversaries:
            raise ParameterError(f"two adversaries are called {name}; give one of them another name")
        adversaries[name] = adversary
    order = sorted(adversaries, key=lambda name: [*PAPER].index(name) if name in PAPER else len(PAPER))
    joining = [name for name in order if getattr(adversaries[name], "wants_others", False)]
    if joining and not others:
        raise ParameterError(f"{joining[0]} needs another generalization of the same people; give it as others")
    return {name: adversaries[name] for name in order}


def _configured(name: str, kind: Any, setting: Setting) -> Any:
    if name in PAPER:
        return kind.configured(setting)
    with _named(name):  # one of another package, which may not care for settings
        return kind.configured(setting) if hasattr(kind, "configured") else kind()


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Let what goes wrong in an adversary of somebody's own carry its name."""
    try:
        yield
    except Exception as error:
        raise ParameterError(
            f"the adversary {name} must return an AttackResult, but it failed with {type(error).__name__}: "
            f"{' '.join(str(error).split()) or 'no message'}; mend it, or leave it out of the adversaries"
        ) from error


def attacked(name: str, adversary: Adversary, breach: Breach) -> AttackResult:
    """Let an adversary attack; what goes wrong in one of somebody's own is told with its name."""
    if type(adversary) in PAPER.values():
        return adversary.attack(breach)
    with _named(name):
        result = adversary.attack(breach)
    if not isinstance(result, AttackResult):
        raise ParameterError(f"{name} must return an AttackResult; got {type(result).__name__}")
    return result


def _checked_name(adversary: Any) -> str:
    if isinstance(adversary, type) or not callable(getattr(adversary, "attack", None)):
        raise ParameterError(
            f"an adversary must be a name or an object with attack(breach); got {shorten(adversary)}"
        )
    name = about(adversary).name
    if type(adversary) not in PAPER.values() and not is_guest(name):
        raise ParameterError(
            f"an adversary of your own needs a name of its own; it must have {GUEST_NAMES}; got {shorten(name)}"
        )
    return name


@dataclass(frozen=True)
class _Clock:
    """Says what begins, and notes how long it took."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, words: str) -> Iterator[None]:
        self.progress.begin(words)
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


def _attacks(
    attacking: Mapping[str, Adversary], breach: Breach, others: Sequence[Generalization], clock: _Clock
) -> dict[str, AttackResult]:
    """Let everybody attack; guests are told beside what A1 finds."""
    results: dict[str, AttackResult] = {}
    # A4 knows whatever A5 does, and begins with what that one found.
    for name in sorted(attacking, key=lambda name: name == LeaveOneOut.name):
        adversary = attacking[name]
        _, words, title, scenario = about(adversary)
        stolen = breach.together_with(others) if getattr(adversary, "wants_others", False) else breach
        with clock.step(name, name if words == name else f"{name} {words}"):
            result = attacked(name, adversary, stolen)
        guest = type(adversary) not in PAPER.values()
        results[name] = GuestResult.of(result, name, title, scenario, results.get("A1")) if guest else result
    return results


def _utilities(
    generalization: Generalization,
    split: Split,
    judges: Judges,
    known: tuple[UtilityRisk | None, UtilityLimits | None],
    clock: _Clock,
) -> list[UtilityRisk | None]:
    """Return the utility risk of the generalization, of everything asked and of nothing asked."""
    schema = split.train.schema
    if schema.label is None:
        return [None, None, None]
    with clock.step("utility", "utility risk and its limit points"):
        own, limits = known
        if limits is not None:
            own = own or label_guesses(generalization, split, judges.classifiers()).risk(split, "test")
            return [own, limits.untouched, limits.suppressed]
        together = [Generalization.untouched(schema), Generalization.suppressed(schema), generalization]
        told = [label_guesses(each, split, judges.classifiers()) for each in together]
        everything, nothing, judged = utilities_together(together, told, split)
    return [judged.test, everything.test, nothing.test]


def _certificate(breach: Breach, delta: float, candidates: int, clock: _Clock) -> Certificate | None:
    if not breach.truth.personal:
        return None
    # What counts as told was settled on the training part, as for the attacks.
    told = {target.attribute.name: target.tolerance for target in breach.targets.values()}
    tolerances = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
    step = "certificate" if breach.label else "certificate without the label"
    with clock.step(step, step):
        return certify(
            breach.generalization,
            breach.truth,
            delta=delta,
            candidates=candidates,
            tolerances=tolerances,
            label=breach.label,
        )


def _necessity(breach: Breach, split: Split, clock: _Clock) -> Necessity:
    with clock.step("necessity", "necessity"):
        return necessity_of(breach.generalization, split, breach.seed, held_out=True, progress=clock.progress)
