"""Attacking the candidates of a run: adversaries learn once for several of them.

Who sees more can coarsen: an attack on a coarser candidate is an attack on every finer one. Candidates of one run
are attacked on the same people. Where less is told of a finer one than of a coarser one, its attacker drowned in
what it saw: it would coarsen what it stole, and do as the other does. Decided on the attacked people themselves,
attribute by attribute, in favour of the adversary.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import call
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leastwise.adversaries import LeaveOneOut, Linkability
from leastwise.adversaries.amortised import SharedNetwork
from leastwise.adversaries.base import Adversary, about
from leastwise.adversaries.breach import Breach, stores_label
from leastwise.adversaries.guessing import (
    SHARED,
    Guessed,
    SingleModel,
    StrongestOf,
    find_last,
    found_knowing_more,
    validation_errors,
)
from leastwise.adversaries.linkability import know_others
from leastwise.adversaries.reconstruction import CertaintyPoint, HighCertaintyResult
from leastwise.adversaries.result import AttackResult, AttributeResult, ReconstructionResult
from leastwise.adversaries.side_information import non_personal
from leastwise.confidence import Interval
from leastwise.documents import write_whole
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.protocol import evaluate, of_the_paper
from leastwise.evaluation.risk import UtilityLimits, UtilityRisk
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.predictors.base import Predictor
from leastwise.predictors.network import Network
from leastwise.progress import Progress
from leastwise.records.table import Split
from leastwise.runs.candidates import ID_LENGTH, Candidate, Figures
from leastwise.runs.folder import EVALUATIONS, GENERALIZATIONS, artefact_path, evaluation_path
from leastwise.runs.frontier import Frontier
from leastwise.runs.job import Job, keep_attacked
from leastwise.runs.judging import Asked
from leastwise.runs.proposals import Pool
from leastwise.runs.workers import Workers

# Candidates that are attacked one after the other: what is found of each is written down after the last of them.
_MOST_TOGETHER = 4
# Fewer candidates than these have networks of their own ...
_FEWEST_SHARING = 3
# ... and so have those of fewer training records: on 9,000 a shared one erred .009 more about an attribute.
FEWEST_PEOPLE = 20_000
# A network of its own that errs so much less on validation takes the place of the shared one.
_LEAD = 0.01
NOTE = " of a coarser one"


# The step of a run -----------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """A frontier that is judged on validation, all candidates, and what classifiers guess.

    ``shared`` is what an adversary has learned for all of the frontier at once.
    """

    frontier: Frontier
    pool: Pool
    asked: Asked
    shared: Mapping[Hashable, Any]


def attack(job: Job, on_validation: Found, chosen: str | None) -> list[Candidate]:
    """Attack the frontier on test; in a quick run only what is chosen meets adversaries with side information."""
    frontier, tasks = on_validation.frontier, _tasks(job, on_validation, chosen)
    for point in frontier.points:
        write_whole(artefact_path(job.folder, point.id), point.generalization.to_json())
    before = {name: task.done_before(evaluation_path(job.folder, name)) for name, task in tasks.items()}
    done = {name: evaluation for name, evaluation in before.items() if evaluation is not None}
    absent = [name for name in tasks if name not in done]
    absent.sort(key=lambda name: (name != chosen, -frontier[name].answers))  # what takes longest comes first
    start = time.perf_counter()
    tasks |= _learned(job, {name: tasks[name] for name in absent}, on_validation.shared)
    job.progress.begin("attacking the frontier", len(tasks), len(tasks) - len(absent))
    tested = {name: replace(frontier[name], tested=Figures.of(each)) for name, each in done.items()}
    for name, judged in _attacked(job, {name: tasks[name] for name in absent}):
        judged.save(evaluation_path(job.folder, name))
        done[name] = judged
        tested[name] = replace(frontier[name], tested=Figures.of(judged))
        if chosen in tested and job.options.grid is None:
            keep_attacked(job, frontier, tested, on_validation.pool)
        job.note("attacking", candidate=name, **judged.seconds)
        job.progress.advance()
    job.note("attacking the frontier", seconds=time.perf_counter() - start, tasks=len(absent))
    for name, judged in attacked_together({n: t.generalization for n, t in tasks.items()}, done).items():
        if judged != done[name]:
            judged.save(evaluation_path(job.folder, name))
            tested[name] = replace(frontier[name], tested=Figures.of(judged))
    _keep_only(job.folder, tasks)
    return [tested[point.id] for point in frontier.points]


def _tasks(job: Job, on_validation: Found, chosen: str | None) -> dict[str, Attack]:
    """Return the attack on each candidate of the frontier, by its id."""
    frontier, asked = on_validation.frontier, on_validation.asked
    everything, nothing, *others = (each.test for each in asked.utilities(job.split))
    risks = dict(zip((each.fingerprint[:ID_LENGTH] for each in asked.generalizations[2:]), others, strict=True))
    return {
        point.id: Attack(
            point.generalization,
            job.split,
            (*attackers_of(job.split, job.task.quick and point.id != chosen), *job.options.adversaries),
            len(frontier.points),
            UtilityLimits(nothing, everything),
            risks[point.id],
            job.options.judges,
            {},
            {},
        )
        for point in frontier.points
    }


def _learned(job: Job, tasks: Mapping[str, Attack], shared: Mapping[Hashable, Any]) -> dict[str, Attack]:
    """Return the attacks with what is learned for all of them at once; a run that is resumed learns the same."""
    start = time.perf_counter()
    if tasks:
        new = {name: task._replace(memory={**shared}) for name, task in tasks.items()}
        tasks = learned_for_all(new, job.split, job.options.judges, job.workers, job.progress)
    job.note("attacking all at once", task=len(tasks), seconds=time.perf_counter() - start)
    return {**tasks}


def _attacked(job: Job, tasks: Mapping[str, Attack]) -> Iterator[tuple[str, Evaluation]]:
    """Attack those that are alike together; yield what was found of each."""
    groups = alike({name: task.generalization for name, task in tasks.items()})
    together = job.workers.map(attack_alike, [[tasks[name] for name in group] for group in groups])
    yield from zip(chain.from_iterable(groups), chain.from_iterable(together), strict=True)


def _keep_only(folder: Path, candidates: Iterable[str]) -> None:
    """Remove what another frontier left behind before this one was found."""
    names = {f"{candidate}.json" for candidate in candidates}
    for sub in (GENERALIZATIONS, EVALUATIONS):
        for path in (folder / sub).iterdir():
            if path.name not in names:
                path.unlink()


# Learning once for several ---------------------------------------------------------------------------------------


def alike(generalizations: Mapping[str, Generalization]) -> list[list[str]]:
    """Return the names in groups that collect the personal attributes alike, a few in each.

    Who knows everything that is not personal learns the same about all of a group.
    """
    groups: dict[object, list[str]] = defaultdict(list)
    for name, generalization in generalizations.items():
        groups[tuple(p for p in generalization.partitions if p.attribute.personal)].append(name)
    step = _MOST_TOGETHER
    return [group[start : start + step] for group in groups.values() for start in range(0, len(group), step)]


def find_last_of_all(
    generalizations: Sequence[Generalization], split: Split, judges: Judges, workers: Workers, progress: Progress
) -> list[dict[int, Guessed]]:
    """Return, for each generalization, what A4 finds of each personal attribute, by position.

    A task is an attribute, not a generalization. Only who was guessed wrongly comes back, and stays in memory: a
    run that is resumed learns again, and the same.
    """
    train = split.train
    stored = [stores_label(train, generalization) for generalization in generalizations]
    # A model sees the label or it does not; an attribute of many values takes longest.
    positions = sorted(train.personal, key=lambda p: -train.sizes[p])
    places = [[i for i, own in enumerate(stored) if own is label] for label in (True, False)]
    tasks = [(p, group) for group in places if group for p in positions]
    if tasks:
        progress.begin("learning what tells the last attribute", len(tasks), 0)
    arguments = [(p, [generalizations[i] for i in g], split, judges.seed, judges.adversary()) for p, g in tasks]
    guesses: list[dict[int, Guessed]] = [{} for _ in generalizations]
    for (p, group), guessed in zip(tasks, workers.map(find_last, arguments), strict=True):
        for i, own in zip(group, guessed, strict=True):
            guesses[i][p] = own
        progress.advance()
    return guesses


def know_others_of_all(
    generalizations: Sequence[Generalization], split: Split, judges: Judges, workers: Workers
) -> list[dict[Hashable, Any]]:
    """Return, for each generalization, what A7 knows of other people: most often the same for all of them."""
    keys = [Breach.of(each, split).coarsening for each in generalizations]
    distinct = dict(zip(keys, generalizations, strict=True))
    learned = workers.map(know_others, [(each, split, judges.seed, judges.quick) for each in distinct.values()])
    by_key = dict(zip(distinct, learned, strict=True))
    return [by_key[key] for key in keys]


def learned_for_all(
    tasks: Mapping[str, Attack], split: Split, judges: Judges, workers: Workers, progress: Progress
) -> dict[str, Attack]:
    """Return the attacks with what A4 and A7 find and learn for all of them at once."""
    learned = dict(tasks)
    by_a4, by_a7 = (
        [name for name, task in tasks.items() if adversary in task.adversaries]
        for adversary in (LeaveOneOut.name, Linkability.name)
    )
    last = find_last_of_all([tasks[name].generalization for name in by_a4], split, judges, workers, progress)
    for name, own in zip(by_a4, last, strict=True):
        learned[name] = learned[name]._replace(last={**learned[name].last, **own})
    others = know_others_of_all([tasks[name].generalization for name in by_a7], split, judges, workers)
    for name, known in zip(by_a7, others, strict=True):
        learned[name] = learned[name]._replace(memory={**learned[name].memory, **known})
    return learned


def share_network(
    candidates: Sequence[tuple[Generalization, Sequence[int]]],
    split: Split,
    judges: Judges,
    workers: Workers,
    progress: Progress,
) -> dict[Hashable, Any]:
    """Return what A1, A3 and A5 use for all candidates: one network; nothing where each is better off alone.

    With each candidate comes the order in which its personal attributes probably become known.
    """
    able = isinstance(judges.adversary(), StrongestOf) and not judges.quick and len(split.train.personal) > 1
    few = len(candidates) < _FEWEST_SHARING or split.train.people < FEWEST_PEOPLE
    if not able or few or not SharedNetwork.bearable(split.train, [each for each, _ in candidates]):
        return {}
    return {SHARED: learn_for_all(candidates, split, judges.seed, workers, progress)}


def learn_for_all(
    candidates: Sequence[tuple[Generalization, Sequence[int]]],
    split: Split,
    seed: int,
    workers: Workers,
    progress: Progress,
) -> SharedNetwork:
    """Let one network learn for all candidates; beside it, find out what it should not be asked."""
    middle, order = candidates[len(candidates) // 2]
    breach = Breach.of(middle, split, seed=seed)
    steps = _steps(breach, order)
    tasks: list[Any] = [(SharedNetwork, split.train, candidates, seed)]  # the longest first
    tasks += [(_error_alone, middle, split, seed, position, known) for position, known in steps]
    progress.begin("learning for all candidates", len(tasks), 0)
    learned = list[Any]()
    for each in workers.map(call, tasks):
        learned.append(each)
        progress.advance()
    network: SharedNetwork = learned.pop(0)
    network.mistrusted = _mistrusted(network, breach, steps, learned)
    return network


Step = tuple[int, tuple[int, ...]]
"""An attribute that is wanted, and what is known in full beside the stolen record."""


def _steps(breach: Breach, order: Sequence[int]) -> list[Step]:
    """Return the steps of A5 that are its own: the first is that of A3, the last that of A4."""
    hidden = [p for p in order if not breach.joined.partitions[p].untouched]
    first = [*non_personal(breach), *(p for p in order if p not in hidden)]
    return [(p, (*first, *hidden[:k])) for k, p in enumerate(hidden) if 0 < k < len(hidden) - 1]


def _mistrusted(
    network: SharedNetwork, breach: Breach, steps: Sequence[Step], alone: Sequence[float]
) -> frozenset[int]:
    """Return what the network of all candidates should not be asked by A5.

    Where attributes add up, as claims do, it may learn too little of what each known one leaves of the next. So an
    attribute that a network of its own tells better, for one of the candidates, is not left to it.
    """

    def error(position: int, known: Sequence[int]) -> float:
        view = network.seen_by(breach, known, (position,))
        assert view is not None, "it has learned from this candidate"
        return _validation_error(breach, view, position, known)

    return frozenset(p for (p, known), own in zip(steps, alone, strict=True) if own < error(p, known) - _LEAD)


def _error_alone(
    generalization: Generalization, split: Split, seed: int, position: int, known: Sequence[int]
) -> float:
    """Return the error on validation of a network that learns one attribute for one candidate alone."""
    breach = Breach.of(generalization, split, seed=seed)
    return _validation_error(breach, Network(members=1, seed=seed), position, known)


def _validation_error(breach: Breach, network: Predictor, position: int, known: Sequence[int]) -> float:
    model = SingleModel(breach, breach.joined, (position,), known, lambda: network)
    return validation_errors(breach, model, (position,))[0]


class Attack(NamedTuple):
    """The arguments of ``attack_in_full``; ``memory`` holds what was learned for several of them."""

    generalization: Generalization
    split: Split
    adversaries: tuple[str | Adversary, ...]
    candidates: int
    limits: UtilityLimits
    utility: UtilityRisk
    judges: Judges
    last: Mapping[int, Guessed]
    memory: dict[Hashable, Any]

    def done_before(self, path: Path) -> Evaluation | None:
        """Return what an earlier run found, if it did exactly this."""
        if not path.is_file():
            return None
        evaluation = Evaluation.load(path)
        wanted = [each if isinstance(each, str) else about(each).name for each in self.adversaries]
        same = (
            evaluation.certificate is not None
            and evaluation.certificate.candidates == self.candidates
            and [each.adversary for each in evaluation.attacks] == wanted
            and evaluation.fingerprint == self.generalization.fingerprint
            and [evaluation.utility, evaluation.everything] == [self.utility, self.limits.untouched]
        )
        return evaluation if same else None


def attackers_of(split: Split, cheap: bool) -> list[str]:
    """Return who attacks one generalization; those with side information train a model for every attribute."""
    able = of_the_paper(split.test.schema)
    return [a.name for a in able if not a.wants_others and not (cheap and a.side_information)]


def attack_alike(*tasks: Attack) -> list[Evaluation]:
    """Judge candidates that collect the personal attributes alike: A3 and A5 learn once for all of them."""
    earlier: dict[Hashable, Any] = {}
    evaluations = []
    for task in tasks:
        memory = task.memory | earlier
        evaluations.append(attack_in_full(*task._replace(memory=memory)))
        earlier = found_knowing_more(memory)
    return evaluations


def attack_in_full(
    generalization: Generalization,
    split: Split,
    adversaries: Sequence[str | Adversary],
    candidates: int,
    limits: UtilityLimits,
    utility: UtilityRisk,
    judges: Judges,
    last: Mapping[int, Guessed],
    memory: dict[Hashable, Any],
) -> Evaluation:
    """Judge on test. No sentence describes a person: the folder is there to be passed on."""
    return evaluate(
        generalization,
        split,
        adversaries,
        judges.seed,
        judges.quick,
        candidates=candidates,
        predicates=0,
        predictor=judges.predictor,
        estimator=judges.estimator,
        limits=limits,
        utility=utility,
        last=last,
        memory=memory,
    )


# Who sees more can coarsen ---------------------------------------------------------------------------------------


def judged_together(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Let the figures of validation keep the law."""
    return [
        _judged(own, [other for other in candidates if _is_coarser(other.generalization, own.generalization)])
        for own in candidates
    ]


def attacked_together(
    generalizations: Mapping[str, Generalization], evaluations: Mapping[str, Evaluation]
) -> dict[str, Evaluation]:
    """Let what every adversary found keep the law; both are by the name of the candidate."""
    corrected = {}
    for name, own in evaluations.items():
        coarser = [
            evaluations[other]
            for other, generalization in generalizations.items()
            if _is_coarser(generalization, generalizations[name])
        ]
        corrected[name] = replace(own, attacks=tuple(_least(attack, coarser) for attack in own.attacks))
    return corrected


def _is_coarser(one: Generalization, other: Generalization) -> bool:
    return one.fingerprint != other.fingerprint and one.is_coarser_than(other)


def _judged(own: Candidate, coarser: Sequence[Candidate]) -> Candidate:
    assert own.judged is not None
    errors = [own.judged.by_attribute, *(each.judged.by_attribute for each in coarser if each.judged is not None)]
    least = {name: min(each[name] for each in errors) for name in own.judged.by_attribute}
    if least == own.judged.by_attribute:
        return own
    less = own.judged.adversary_error - float(np.mean([*least.values()]))
    figures = replace(
        own.judged,
        by_attribute=least,
        adversary_error=own.judged.adversary_error - less,
        adversary_interval=_lower(own.judged.adversary_interval, less),
    )
    return replace(own, judged=figures)


def _least(own: AttackResult, coarser: Sequence[Evaluation]) -> AttackResult:
    """Return what one adversary finds who may also do what it does to coarser records."""
    same = [each for judged in coarser for each in judged.attacks if each.adversary == own.adversary]
    others = [each for each in same if isinstance(each, ReconstructionResult)]
    if not isinstance(own, ReconstructionResult) or not others:
        return own
    attributes = tuple(_best(result, [other[result.attribute] for other in others]) for result in own.attributes)
    less = own.adversary_error - float(np.mean([each.adversary_error for each in attributes]))
    if attributes == own.attributes or own.interval is None:
        return own
    result = replace(
        own,
        attributes=attributes,
        adversary_error=own.adversary_error - less,
        interval=_lower(own.interval, less),
    )
    if not isinstance(result, HighCertaintyResult):
        return result
    surest = [other.points for other in others if isinstance(other, HighCertaintyResult)]
    return replace(result, points=tuple(map(_surest, zip(result.points, *surest, strict=True))))


def _best(own: AttributeResult, others: Sequence[AttributeResult]) -> AttributeResult:
    best = min((own, *others), key=lambda each: each.adversary_error)
    if best is own:
        return own
    without = [each.without_label for each in (own, *others) if each.without_label is not None]
    return replace(
        best,
        predictor=best.predictor.removesuffix(NOTE) + NOTE,
        without_breach=own.without_breach,
        without_label=min(without, default=None),
    )


def _surest(points: Sequence[CertaintyPoint]) -> CertaintyPoint:
    """Return the least errors on the people about whom somebody is surest."""
    which = np.argmin([point.errors for point in points], axis=0).tolist()
    errors = tuple(points[k].errors[i] for i, k in enumerate(which))
    intervals = tuple(points[k].intervals[i] for i, k in enumerate(which))
    return replace(points[0], errors=errors, intervals=intervals, mean=float(np.mean(errors)), minimum=min(errors))


def _lower(interval: Interval, less: float) -> Interval:
    return Interval(max(interval.low - less, 0.0), max(interval.high - less, 0.0))
