"""What minimizers propose: asked one by one, and pooled so that equal proposals are one candidate."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from leastwise.documents import to_plain
from leastwise.errors import DataError, LeastwiseError
from leastwise.evaluation.label_guesses import FEW
from leastwise.generalization import Generalization
from leastwise.kernels import is_compiled
from leastwise.minimizers import Constraints
from leastwise.minimizers.constraints import broken
from leastwise.minimizers.floor import brought_to
from leastwise.minimizers.silent import uninformative
from leastwise.progress import Progress
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import Candidate, Failure
from leastwise.runs.families import Proposal, Source
from leastwise.runs.judging import EVERYTHING, answers, screen_by_counting

LONGEST_REASON = 300


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


def ask(source: Source, train: Table, constraints: Constraints | None) -> Proposals:
    """Ask one source; a failure is noted, so that the others go on, and nothing is lost silently."""
    start = time.perf_counter()
    own: dict[str, Any] = {
        "minimizer": source.minimizer,
        "parameters": to_plain(source.parameters),
        "seed": source.seed,
    }
    try:
        found = source.propose(train, constraints)
        bound = constraints if constraints is not None or not train.schema.has_trees else Constraints()
        if bound is not None:
            found = [p._replace(generalization=brought_to(bound, p.generalization, train)) for p in found]
        held = [p for p in found if bound is None or not broken(bound, p.generalization, train)]
        candidates = tuple(_candidate(source, proposal, train) for proposal in held)
    except Exception as error:
        name = "" if isinstance(error, LeastwiseError) else f"{type(error).__name__}: "
        reason = " ".join(f"{name}{error}".split())[:LONGEST_REASON] or type(error).__name__
        return Proposals(**own, failure=reason, seconds=time.perf_counter() - start)
    dropped = len(found) - len(held)
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

    Where every attribute is silent, to ask nothing is all that is left.
    """
    if {*silent} == {*table.schema.names}:
        return Pool((candidate_that_asks_nothing(table),))
    limits = {limit.fingerprint for limit in limit_points(table)}
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


def _check_some(pool: Pool) -> None:
    if pool.candidates:
        return
    if pool.dropped:
        raise DataError(
            f"all {pool.dropped:,} candidates break the constraints; loosen them, or use the minimizer optimal, "
            "which searches under them"
        )
    if pool.failures:
        raise DataError(f"no minimizer proposed anything; {pool.failures[0].words}: {pool.failures[0].reason}")
    raise DataError(
        "no minimizer proposed anything but to ask everything or nothing; give more records or another grid"
    )


def limit_points(table: Table) -> tuple[Generalization, Generalization]:
    """Return what asks everything, and what asks nothing."""
    return Generalization.untouched(table.schema), Generalization.suppressed(table.schema)
