"""The sweep: every source of the grid proposes, equal proposals become one candidate, each is screened once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leastwise.errors import DataError, LeastwiseError
from leastwise.evaluation.evaluation import fingerprint_of
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.minimizers.constraints.checks import broken
from leastwise.minimizers.constraints.holding import brought_to
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import SHORT, Candidate, Failure, words_of
from leastwise.runs.families import Proposal, Source, with_origin
from leastwise.runs.figures import Figures
from leastwise.runs.grid import Grid, default_grid
from leastwise.runs.screening import answers, screen
from leastwise.runs.workers import Workers

LONGEST_REASON = 300


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """What one source proposed; or why it could not. ``dropped`` counts what broke a constraint."""

    minimizer: str
    seed: int
    parameters: tuple[Mapping[str, Any], ...]
    generalizations: tuple[Mapping[str, Any], ...]
    dropped: int = 0
    failure: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Distinct:
    """A distinct generalization with everybody who found it, before it is judged."""

    generalization: Generalization
    fingerprint: str
    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    also_found_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What there is to screen: distinct candidates in the declared order; and what was left out, counted."""

    distinct: tuple[Distinct, ...]
    failures: tuple[Failure, ...]
    repeated: int
    dropped: int


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """All candidates, screened on validation."""

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...] = ()
    repeated: int = 0
    dropped: int = 0


def sweep(
    split: Split,
    grid: Grid | None = None,
    *,
    constraints: Constraints | None = None,
    workers: Workers | None = None,
) -> Sweep:
    """Propose and screen; nothing is written. ``leastwise.runs.run`` does the whole job.

    Parameters
    ----------
    split
        Minimizers see the training part only; candidates are screened on validation.
    grid
        Who proposes; None for the default grid.
    constraints
        What every candidate must hold to.
    """
    workers, chosen = workers or Workers(), grid or default_grid()
    chosen.check()
    with workers.ready():
        proposed = [*propose(chosen.sources(), split.train, constraints, workers)]
        plan = planned(proposed, split)
        judged = [*screened(plan.distinct, split, len(plan.distinct), workers)]
    return Sweep(candidates=tuple(judged), failures=plan.failures, repeated=plan.repeated, dropped=plan.dropped)


def propose(
    sources: Sequence[Source], train: Table, constraints: Constraints | None, workers: Workers
) -> Iterator[Proposed]:
    """Yield what each source proposes, in order."""
    yield from workers.map(proposed_by, [(source, train, constraints) for source in sources])


def proposed_by(source: Source, train: Table, constraints: Constraints | None) -> Proposed:
    """Ask one source; a failure is noted, so that the others go on, and nothing is lost silently."""
    start = time.perf_counter()
    try:
        found = source.propose(train, constraints)
        held, dropped = _held(found, train, constraints)
    except Exception as error:
        name = "" if isinstance(error, LeastwiseError) else f"{type(error).__name__}: "
        reason = " ".join(f"{name}{error}".split())[:LONGEST_REASON] or type(error).__name__
        return _proposed(source, [], train, failure=reason, seconds=time.perf_counter() - start)
    return _proposed(source, held, train, dropped=dropped, seconds=time.perf_counter() - start)


def _proposed(source: Source, found: Sequence[Proposal], train: Table, **rest: Any) -> Proposed:
    return Proposed(
        minimizer=source.minimizer,
        seed=source.seed,
        parameters=tuple(p.parameters for p in found) or (source.parameters,),
        generalizations=tuple(json.loads(with_origin(p, source, train).to_json()) for p in found),
        **rest,
    )


def _held(found: Sequence[Proposal], train: Table, constraints: Constraints | None) -> tuple[list[Proposal], int]:
    if constraints is None:
        return list(found), 0
    mended = [Proposal(p.parameters, brought_to(constraints, p.generalization, train)) for p in found]
    held = [proposal for proposal in mended if not broken(constraints, proposal.generalization, train)]
    return held, len(mended) - len(held)


def planned(proposed: Sequence[Proposed], split: Split) -> Plan:
    """Make equal proposals one, leave the limit points to themselves, and count what was left out."""
    schema = split.train.schema
    limits = {fingerprint_of(g) for g in (Generalization.untouched(schema), Generalization.suppressed(schema))}
    first: dict[str, Distinct] = {}
    finders: dict[str, list[str]] = {}
    repeated = 0
    for by, parameters, found in _each(proposed):
        name = fingerprint_of(found)
        if name in limits:
            continue
        repeated += name in first
        finders.setdefault(name, []).append(words_of(by.minimizer, parameters))
        if name not in first:
            first[name] = Distinct(
                generalization=found, fingerprint=name, minimizer=by.minimizer, parameters=parameters, seed=by.seed
            )
    failures = [
        Failure(minimizer=p.minimizer, parameters=p.parameters[0], seed=p.seed, reason=p.failure)
        for p in proposed
        if p.failure
    ]
    plan = Plan(
        distinct=tuple(_found_by(each, finders[name][1:]) for name, each in first.items()),
        failures=tuple(failures),
        repeated=repeated,
        dropped=sum(p.dropped for p in proposed),
    )
    _check_some(plan)
    return plan


def _each(proposed: Sequence[Proposed]) -> Iterator[tuple[Proposed, Mapping[str, Any], Generalization]]:
    for by in proposed:
        for parameters, document in zip(by.parameters, by.generalizations, strict=False):
            yield by, parameters, Generalization.from_json(json.dumps(dict(document)))


def _found_by(distinct: Distinct, others: Sequence[str]) -> Distinct:
    return replace(distinct, also_found_by=tuple(dict.fromkeys(others)))


def _check_some(plan: Plan) -> None:
    if plan.distinct:
        return
    if plan.dropped:
        raise DataError(
            f"all {plan.dropped:,} candidates break the constraints; loosen them, or use the minimizer optimal, "
            "which searches under them"
        )
    if plan.failures:
        first = plan.failures[0]
        raise DataError(f"no minimizer proposed anything; {first.words}: {first.reason}")
    raise DataError(
        "no minimizer proposed anything but to ask everything or nothing; give more records or another grid"
    )


def screened(distinct: Sequence[Distinct], split: Split, candidates: int, workers: Workers) -> Iterator[Candidate]:
    """Yield the screened candidates in order."""
    found = workers.map(screen, [(each.generalization, split, candidates) for each in distinct])
    for each, judged in zip(distinct, found, strict=True):
        yield _candidate(each, judged.figures, split.train)


def _candidate(found: Distinct, figures: Figures, train: Table) -> Candidate:
    return Candidate(
        id=found.fingerprint[:SHORT],
        fingerprint=found.fingerprint,
        minimizer=found.minimizer,
        parameters=found.parameters,
        also_found_by=found.also_found_by,
        seed=found.seed,
        asked=len(found.generalization.collected),
        answers=answers(found.generalization, train),
        generalization=json.loads(found.generalization.to_json()),
        validation=figures,
    )
