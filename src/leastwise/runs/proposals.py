"""What minimizers propose: asked one by one, pooled so that equal proposals are one candidate, and screened.

Where records are many a sample of them does: to propose and to screen needs no more than tells candidates apart.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import MakePredictor
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.documents import to_plain
from leastwise.errors import DataError, LeastwiseError
from leastwise.evaluation.certificate import certify
from leastwise.evaluation.declared_groups import GroupErrors, ServedBefore
from leastwise.evaluation.label_guesses import FEW, label_guesses
from leastwise.evaluation.risk import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.kernels import is_compiled
from leastwise.minimizers import Constraints
from leastwise.minimizers.constraints import broken, brought_to
from leastwise.minimizers.merging import uninformative
from leastwise.minimizers.recommended import Mapped
from leastwise.partition import Untouched
from leastwise.predictors import JointBuckets
from leastwise.predictors.base import few_threads
from leastwise.predictors.held_out import additive
from leastwise.predictors.regression import linear
from leastwise.progress import Progress
from leastwise.random import generator
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import LONGEST, Candidate, Failure, Figures
from leastwise.runs.grid import Proposal, Source
from leastwise.runs.workers import Workers

LONGEST_REASON = 300
EVERYTHING = "everything"
"""Who proposes the candidate that asks everything in full."""
NEAR = 0.005
"""A sample suffices where twice as many records change no figure by more than this."""
SEARCHED = 25_000
"""So many people of the validation part screen candidates, and say what is free while they are made the least.
Where one in forty is guessed otherwise, a loss is told there to a tenth of a point, a third of what may be lost;
hundreds of classifiers are judged there. The frontier is then judged on all."""
SEARCHED_ANSWERS, FEWEST_SEARCHED = 1_200_000, 12_000
"""Of wide tables fewer people, so that all their answers are no more than these; but not fewer than the second."""
TRIED = 3
"""Candidates on which that is tried: one of few answers, one in the middle, one of many."""


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """What one source proposed; or why it could not. ``dropped`` counts what broke a constraint."""

    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    candidates: tuple[Candidate, ...] = ()
    dropped: int = 0
    failure: str = ""
    seconds: float = field(default=0.0, compare=False)


def ask_all(
    sources: Sequence[Source], train: Table, constraints: Constraints | None, workers: Workers
) -> Iterator[Proposals]:
    """Ask the sources, in their order; one that looks for several things has all workers for itself."""
    whole = [(source, train, constraints) for source in sources if not source.in_parts]
    asked = iter([*workers.map(ask, whole)])
    for source in sources:
        if source.in_parts:
            with few_threads(1):  # as workers do: sums of several threads differ from run to run
                yield ask(source, train, constraints, workers.map)
        else:
            yield next(asked)


def ask(source: Source, train: Table, constraints: Constraints | None, mapped: Mapped = starmap) -> Proposals:
    """Ask one source; a failure is noted, so that the others go on, and nothing is lost silently."""
    start = time.perf_counter()
    own: dict[str, Any] = {
        "minimizer": source.minimizer,
        "parameters": to_plain(source.parameters),
        "seed": source.seed,
    }
    try:
        proposals = source.propose(train, constraints, mapped)
        bound = constraints if constraints is not None or not train.schema.has_trees else Constraints()
        if bound is not None:
            proposals = [p._replace(generalization=brought_to(bound, p.generalization, train)) for p in proposals]
        held = [p for p in proposals if bound is None or not broken(bound, p.generalization, train)]
        candidates = tuple(_candidate(source, proposal, train) for proposal in held)
    except BrokenProcessPool:  # no failure of the source: a worker was ended
        raise
    except Exception as error:
        name = "" if isinstance(error, LeastwiseError) else f"{type(error).__name__}: "
        reason = " ".join(f"{name}{error}".split())[:LONGEST_REASON] or type(error).__name__
        return Proposals(**own, failure=reason, seconds=time.perf_counter() - start)
    dropped = len(proposals) - len(held)
    return Proposals(**own, candidates=candidates, dropped=dropped, seconds=time.perf_counter() - start)


def compile_once(sources: Sequence[Source], split: Split, progress: Progress) -> None:
    """Compile what the first run on a machine has to, before anything is timed; the next ones find it on the disk.

    A few hundred records are enough: what is compiled depends on the types of the columns, not on their length.
    """
    last = {"pat": ("split_scan", "scan_node"), "recommended": ("joint_coarsening", "score_target")}
    named = {source.minimizer: source for source in sources if source.minimizer in last and source.brought is None}
    if all(is_compiled(*kernel) for kernel in [("backoff", "posteriors"), *(last[name] for name in named)]):
        return
    progress.begin("compiling, once")
    few = split.train.take(np.arange(min(len(split.train), 400)))
    for source in named.values():
        ask(source, few, None)
    screen_by_counting(Generalization.untouched(few.schema), split._replace(train=few), 1)


def _candidate(source: Source, proposal: Proposal, train: Table) -> Candidate:
    generalization = proposal.generalization
    return Candidate(
        fingerprint=generalization.fingerprint,
        minimizer=source.minimizer,
        parameters=to_plain(proposal.parameters),
        seed=source.seed,
        asked=len(generalization.collected),
        answers=answers(generalization, train),
        generalization=source.signed(proposal, train),
    )


class Pool(NamedTuple):
    """All that was proposed, equal proposals made one, in the order of the grid; what failed or was left out."""

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...] = ()
    repeated: int = 0
    dropped: int = 0

    def answerable(self) -> Pool:
        """Return the pool without forms of which nothing would be made, where there are others."""
        return self._replace(
            candidates=tuple(each for each in self.candidates if each.answers <= LONGEST) or self.candidates
        )


def silent_attributes(
    train: Table, validation: Table, constraints: Constraints | None, seed: int
) -> tuple[str, ...]:
    """Return the attributes that tell nothing about the label and that no constraint wants asked.

    The training part tells. Where it is small and none of them seems to tell anything, validation has a say, too:
    to ask nothing is the last word about a file.
    """
    held, silent = constraints or Constraints(), uninformative(train, seed)
    if {*silent} == {*train.schema.names} and train.people + validation.people < FEW:
        silent = uninformative(train.and_also(validation), seed)
    wanted = {*held.untouched, *held.edges, *held.apart}
    return tuple(name for name in silent if name not in wanted)


def without_asking(silent: Sequence[str], constraints: Constraints | None) -> Constraints | None:
    """Return the constraints under which these attributes are not asked."""
    if not silent:
        return constraints
    held = constraints or Constraints()
    return replace(held, suppressed=tuple(dict.fromkeys([*held.suppressed, *silent])))


def candidate_that_asks_nothing(train: Table) -> Candidate:
    """Return the candidate that asks nothing: the model guesses the most frequent class."""
    return _limit("nothing", limit_points(train)[1], train)


def candidate_that_asks_everything(
    train: Table, silent: Sequence[str], constraints: Constraints | None
) -> Candidate | None:
    """Return the candidate that asks all in full but what tells nothing; None where constraints forbid it."""
    held = without_asking(silent, constraints) or Constraints()
    everything = brought_to(held, limit_points(train)[0], train)
    if not everything.collected or broken(held, everything, train):
        return None
    return _limit(EVERYTHING, everything, train)


def _limit(name: str, generalization: Generalization, train: Table) -> Candidate:
    return Candidate(
        fingerprint=generalization.fingerprint,
        minimizer=name,
        parameters={},
        seed=0,
        asked=len(generalization.collected),
        answers=answers(generalization, train),
        generalization=Source(name, {}, 0).signed(Proposal({}, generalization), train),
    )


def pooled(proposals: Sequence[Proposals], table: Table, silent: Sequence[str] = ()) -> Pool:
    """Make equal proposals one, and leave the limit points to themselves.

    Where every attribute is silent, to ask nothing is all that is left; where nothing lies between the limit
    points, as of one question with two answers, those that were proposed are candidates.
    """
    if {*silent} == {*table.schema.names}:
        return Pool((candidate_that_asks_nothing(table),))
    limits = set() if _only_ends(proposals, table) else {limit.fingerprint for limit in limit_points(table)}
    first: dict[str, Candidate] = {}
    finders: dict[str, list[str]] = {}
    for candidate in (each for by in proposals for each in by.candidates if each.fingerprint not in limits):
        first.setdefault(candidate.fingerprint, candidate.within(table.schema))
        finders.setdefault(candidate.fingerprint, []).append(candidate.words)
    also = {name: tuple(dict.fromkeys(words[1:])) for name, words in finders.items()}
    pool = Pool(
        candidates=tuple(replace(candidate, also_found_by=also[name]) for name, candidate in first.items()),
        failures=tuple(
            Failure(minimizer=p.minimizer, parameters=p.parameters, seed=p.seed, reason=p.failure)
            for p in proposals
            if p.failure
        ),
        repeated=sum(len(words) - 1 for words in finders.values()),
        dropped=sum(p.dropped for p in proposals),
    )
    _check_some(pool)
    return pool


def _only_ends(proposals: Sequence[Proposals], table: Table) -> bool:
    """Whether to ask everything, or nothing, is all that was proposed of one question."""
    ends = {limit.fingerprint for limit in limit_points(table)}
    proposed = {candidate.fingerprint for by in proposals for candidate in by.candidates}
    return len(table.schema) == 1 and proposed <= ends


def _check_some(pool: Pool) -> None:
    if pool.candidates:
        return
    if pool.dropped:
        every = "the one candidate breaks" if pool.dropped == 1 else f"all {pool.dropped:,} candidates break"
        raise DataError(
            f"{every} the constraints; loosen them, or use the minimizer optimal, which searches under them"
        )
    if pool.failures:
        raise DataError(f"no minimizer proposed anything; {pool.failures[0].words}: {pool.failures[0].reason}")
    raise DataError(
        "no minimizer proposed anything but to ask everything or nothing; give more records or another grid"
    )


def limit_points(table: Table) -> tuple[Generalization, Generalization]:
    """Return what asks everything, and what asks nothing."""
    return Generalization.untouched(table.schema), Generalization.suppressed(table.schema)


# Screening -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The figures of a candidate on one part."""

    figures: Figures
    seconds: float = field(default=0.0, compare=False)


def screen_by_counting(
    generalization: Generalization,
    split: Split,
    candidates: int,
    before: ServedBefore | None = None,
    everything: UtilityRisk | None = None,
) -> Judged:
    """Judge on validation by counting (and for the label an additive model, which carries over).

    Parameters
    ----------
    candidates
        How many are screened on the same records: the certificate pays for all of them.
    before
        How declared groups are served with everything asked, where there are any.
    everything
        Where the worst of several labels counts: how everything asked is judged.
    """
    part = split.on_validation()
    told = label_guesses(generalization, part, (JointBuckets(), additive(), linear()))
    risk = told.risk(part, "test")
    risk = risk if everything is None else risk.worst_beside(everything)
    if before is not None:
        wrong = told.wrong("test", part.test)
        risk = replace(risk, groups=GroupErrors.of(wrong, before.wrong, part.test, before.groupings))
    return judge_risk(generalization, part, candidates, risk, JointBuckets)


def judge_risk(
    generalization: Generalization,
    split: Split,
    candidates: int,
    risk: UtilityRisk,
    adversary: MakePredictor,
    seed: int = 0,
    memory: Mapping[Hashable, Any] | None = None,
) -> Judged:
    """Attack and certify the last part, and put the figures together.

    ``memory`` holds what an adversary has learned for several candidates.
    """
    start = time.perf_counter()
    breach = Breach.of(generalization, split, seed=seed, memory={**(memory or {})})
    attack = Reconstruction(adversary, compared=False).attack(breach)
    # What counts as told was settled on the training part, as for the attack.
    told = {target.attribute.name: target.tolerance for target in breach.targets.values()}
    tolerances = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
    certificate = certify(generalization, split.test, candidates=candidates, tolerances=tolerances)
    assert attack.interval is not None
    figures = Figures(
        utility_risk=risk.error,
        utility_interval=risk.interval,
        adversary_error=attack.adversary_error,
        adversary_interval=attack.interval,
        by_attribute={result.attribute: result.adversary_error for result in attack.attributes},
        certified=certificate.mean.adversary_error_at_least,
        unique_people=SinglingOut(0).attack(breach).unique_people,
        increase=risk.increase,
        people=round(risk.people),
        groups=risk.groups,
        number=risk.number,
        expected=risk.expected,
        labels=risk.labels,
        worst=risk.worst,
    )
    return Judged(figures=figures, seconds=time.perf_counter() - start)


def answers(generalization: Generalization, train: Table) -> int:
    """Return how many different answers there are in all; a number asked exactly has as many as were given."""
    total = 0
    for level, partition in zip(train.levels, generalization.partitions, strict=True):
        if isinstance(partition, Untouched):
            total += partition.size or len(level) + partition.attribute.extra_values
        elif not partition.suppressed:
            total += partition.size
    return total


# Samples ---------------------------------------------------------------------------------------------------------


def sampled(split: Split, most: int, seed: int) -> Split:
    """Return the split with at most so many training records, the same ones each time; validation stays whole."""
    train = split.train
    if len(train) <= most or (train.weights is not None and not train.survey):
        return split
    rows = np.sort(generator(seed, "sample").choice(len(train), most, replace=False))
    return split._replace(train=train.take(rows))


def searched(validation: Table) -> npt.NDArray[np.intp]:
    """Return where the people of the validation part stand on whom a search is judged."""
    wide = max(SEARCHED_ANSWERS // max(len(validation.schema), 1), FEWEST_SEARCHED)
    return validation.drawn(min(SEARCHED, wide), "searching")


def for_searching(split: Split) -> Split:
    """Return the split with at most so many validation records as a search is judged on; training stays whole."""
    people, rows = split.validation, searched(split.validation)
    return split if len(rows) == len(people) else split._replace(validation=people.take(rows))


def enough(split: Split, candidates: Sequence[Candidate], most: int, seed: int, workers: Workers) -> Split:
    """Return the split with as many training records as screening needs: twice as many would tell the same."""
    by_size = sorted(candidates, key=lambda each: (each.answers, each.fingerprint))
    places = sorted({0, len(by_size) // 2, len(by_size) - 1})[:TRIED]
    now = sampled(split, most, seed)
    while len(now.train) < len(split.train):
        twice = sampled(split, 2 * len(now.train), seed)
        tasks = [(by_size[i].generalization, part, len(by_size)) for part in (now, twice) for i in places]
        points = [judged.figures.point for judged in workers.map(screen_by_counting, tasks)]
        pairs = zip(points[: len(places)], points[len(places) :], strict=True)
        changes = [abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True)]
        if max(changes) <= NEAR:
            return now
        now = twice
    return split
