"""The whole job, top to bottom: propose, screen, frontier, judge, choose, attack, record.

    propose     every minimizer of the grid, on the training part
    screen      every distinct candidate, by counting, on the validation part (25,000 of it tell enough)
    frontier    those that no other one beats, thinned to as many as will be attacked; each is made the least that
                it can be: what the validation part does not tell apart is not asked apart
    judge       the frontier by the strongest classifier and adversary, on the validation part
    choose      the best of it under the budget
    attack      the frontier by every adversary, on the test part
    record      frontier, choice and recommended artefact, from which a report is made

Whatever a step finds is on the disk before it goes on, so that a killed run resumes to the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from leastwise.documents import from_text, to_text, write_whole
from leastwise.documents.journal import Journal, locked
from leastwise.errors import ArtefactError, DataError
from leastwise.evaluation.declared_groups import ServedBefore
from leastwise.evaluation.groups import groups_of
from leastwise.evaluation.leaving_out import Mapped, necessity_of
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.evaluation.risk import UtilityRisk
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.progress import Progress, Silent
from leastwise.records.sources import Source
from leastwise.records.table import Split, Table
from leastwise.runs import folder as places
from leastwise.runs.attacking import Found, attack, judged_together, share_network
from leastwise.runs.candidates import ID_LENGTH, Candidate, Failure, read_line, write_line
from leastwise.runs.choice import best_screened, budget_in_force, choose, serving_alike
from leastwise.runs.earlier import Earlier, earlier_choice, searched_otherwise
from leastwise.runs.folder import Run, write_choice, write_figures
from leastwise.runs.frontier import Counts, Frontier, LimitPoints, steadied, thinned, worth_attacking
from leastwise.runs.grid import default_grid
from leastwise.runs.job import Job, first_job, first_words, say_unfinished
from leastwise.runs.judging import Asked, guess_labels, judge_everywhere, judge_strongly, used
from leastwise.runs.least import make_least
from leastwise.runs.polishing import name_of
from leastwise.runs.proposals import (
    Judged,
    Pool,
    Proposals,
    ask_all,
    compile_once,
    enough,
    pooled,
    screen_by_counting,
    silent_attributes,
    without_asking,
)
from leastwise.runs.task import FRESH, Options, RunTask, checked_split, task_of
from leastwise.runs.workers import Workers
from leastwise.schema import Schema
from leastwise.schema.file import to_yaml

SILENT = "silent.jsonl"


def run(
    table: Table,
    folder: str | Path,
    options: Options | None = None,
    *,
    name: str = "records",
    workers: Workers | None = None,
    progress: Progress | None = None,
    fresh: bool = False,
    source: Source | None = None,
    told: Callable[[Run], None] | None = None,
) -> Run:
    """Do the whole job and return the finished run.

    Parameters
    ----------
    table
        All records; they are split 45/25/30 by the seed.
    folder
        Where everything is written. If it holds a run of the same task, that one is resumed; of another task it
        is refused.
    options
        Who proposes, attacks and judges, the budget, the constraints and the seed.
    name
        Of the data, for the report.
    workers
        How many tasks run at once, and where; by default one, here.
    progress
        Is told how far it has come.
    fresh
        Begin anew, whatever run the folder holds.
    source
        Where ``table`` is a sample of records that lie elsewhere: the frontier is judged and certified on all of
        those that are tested.
    told
        Is given a first answer soon after the beginning: a complete run of its own, in the folder ``so_far``,
        where what is found by then lies until the run is finished. A quick run, one with its own grid, and one
        of records that lie elsewhere have none.
    """
    options, path, working = options or Options(), Path(folder), workers or Workers()
    grid = options.grid or default_grid(options.quick)
    split = checked_split(table, grid, options)
    task = task_of(table, split, grid, options, name)
    task = task if source is None else replace(task, source=used(source, len(table)))
    places.check_folder(path)
    path.mkdir(0o700, parents=True, exist_ok=True)
    with locked(path):
        earlier = None if fresh else earlier_choice(path, task)
        notes = () if fresh else searched_otherwise(path, task)
        places.prepare(path, task, fresh)
        write_whole(path / places.SCHEMA, to_yaml(table.schema), private=True)
        if (path / places.FRONTIER).is_file():  # nothing is left to do but to choose, maybe by another budget
            candidates, failures = places.read_candidates(path, table.schema)
            frontier, pool = places.read_frontier(path, candidates), Pool(candidates, failures)
            return explain(record(path, task, table.schema, frontier, pool, earlier, notes), split, progress)
        with working.ready():
            job = Job(path, split, task, grid, options, working, progress or Silent())
            compile_once(grid.sources(), split, job.progress)  # before a first answer, which is silent
            if options.grid is None and not options.quick and source is None:
                answer_first(job, told)
            frontier, pool = attacked_frontier(job, source)
            return explain(record(path, task, table.schema, frontier, pool), split, progress, working.map)


def attacked_frontier(job: Job, source: Source | None) -> tuple[Frontier, Pool]:
    """Return the frontier with what its attackers found on test, and all candidates."""
    judged = judged_frontier(job)
    first = choose(judged.frontier, job.options.budget, judged.pool.candidates)
    tested, limits = attack(job, judged, first.candidate), judged.frontier.limit_points
    if source is not None:
        tested, limits = judge_everywhere(job, tested, limits, source)
    return Frontier.of(tested, limits, judged.frontier.counts), judged.pool


def answer_first(job: Job, told: Callable[[Run], None] | None) -> None:
    """Tell a first answer, from a few trees; not where there was one already, or nothing comes of it."""
    if (job.folder / places.SO_FAR / places.FRONTIER).is_file() or any((job.folder / places.WORK).iterdir()):
        return  # a run that is resumed
    job.progress.begin("a first answer", 1)
    small = first_job(job)
    try:
        judged = judged_frontier(small, least=False)
    except DataError:  # trees found nothing; the others may
        return
    same = np.array_equal(small.fitting.train.codes, job.fitting.train.codes)
    if same and job.split.train.several is None:  # then they are silent for both
        write_whole(job.journal(SILENT).path, small.journal(SILENT).path.read_text())
    frontier = Frontier.of(attack(small, judged, None), judged.frontier.limit_points, judged.frontier.counts)
    say_unfinished(small.folder, first_words(job, small))
    answer = record(small.folder, small.task, small.split.train.schema, frontier, judged.pool)
    job.workers.forget()
    job.progress.advance()
    if told is not None:
        told(answer)


def judged_frontier(job: Job, least: bool = True) -> Found:
    """Propose, screen, find the frontier and judge it: all that a choice needs.

    Without ``least`` candidates stay as they were proposed.
    """
    train = job.split.train
    budget = budget_in_force(job.task.budget, train.number is not None)
    asked = guess_labels(job, Asked.limits(train, budget, job.options.groups))
    job = replace(job, labels=asked.told_labels(job.split))  # nobody looks for what tells the others
    silent = find_silent(job)
    if {*silent} == {*train.schema.names} and asked.clearly_told(job.split):
        silent = ()  # few training records did not tell what the strongest classifiers do
    pool = pooled(propose(job, silent), train, silent)
    pool = screen(job, pool.answerable() if job.options.grid is None else pool, asked)
    front, counts = find_frontier(job, pool, asked.risk_of_everything(job.split))
    if least:
        pool, front, asked = make_least(job, pool, front, asked, silent)
    else:
        asked = guess_labels(job, asked.and_also(front))
    counts = replace(counts, screened=len(pool.candidates))
    limits = judge_limits(job, asked)
    shared = share(job, front)
    frontier = Frontier.of(judge(job, front, asked, counts.screened, shared), limits, counts)
    # Who serves groups alike, or tells one of several labels best, may be beaten in everything else.
    if not job.options.groups and train.several is None:
        first = choose(frontier, job.options.budget, pool.candidates)
        frontier = worth_attacking(frontier, first.candidate, job.task.most)
    return Found(frontier, pool, asked, shared)


def recommend(
    table: Table, folder: Path, options: Options, workers: Workers, progress: Progress
) -> Candidate | None:
    """Return what a run would recommend, without attacking the frontier on test; None where nothing fits."""
    grid = options.grid or default_grid(options.quick)
    split = checked_split(table, grid, options)
    (folder / places.WORK).mkdir(parents=True, exist_ok=True)
    task = task_of(table, split, grid, options, "records")
    job = Job(folder, split, task, grid, options, workers, progress)
    compile_once(grid.sources(), split, progress)
    with workers.ready():
        judged = judged_frontier(job)
    choice = choose(judged.frontier, options.budget, judged.pool.candidates)
    return None if choice.candidate is None else judged.frontier[choice.candidate]


# 1. Propose ------------------------------------------------------------------------------------------------------


def find_silent(job: Job) -> tuple[str, ...]:
    """Return the attributes that tell nothing about the label, as far as records show; they are not asked."""
    (silent,) = job.resumed(
        "looking for questions that tell nothing",
        job.journal(SILENT),
        [(job.fitting.train, job.searching.validation, job.options.constraints, job.options.seed)],
        partial(job.workers.map, silent_attributes),
        lambda names: json.dumps(names) + "\n",
        lambda line: tuple(json.loads(line)),
    )
    return silent


def propose(job: Job, silent: Sequence[str]) -> list[Proposals]:
    """Ask every source of the grid, on the training part."""
    name, sources = "leastwise-proposals", job.grid.sources()
    constraints = without_asking(silent, job.options.constraints)
    if {*silent} == {*job.split.train.schema.names}:
        return []  # there is nothing to propose
    return job.resumed(
        "proposing",
        job.journal("proposals.jsonl"),
        sources,
        lambda rest: ask_all(rest, job.fitting.train, constraints, job.workers),
        partial(to_text, name=name, line=True),
        lambda line: from_text(Proposals, line, name, "journal"),
    )


# 2. Screen -------------------------------------------------------------------------------------------------------


def screen(job: Job, pool: Pool, asked: Asked) -> Pool:
    """Judge every candidate by counting, on validation (see ``SEARCHED``), beside everything asked."""
    path = job.folder / places.CANDIDATES
    beside = asked.served_before(job.split, job.searching), asked.known_for_screening(job.split)

    def work(rest: Sequence[Candidate | Failure]) -> Iterator[Candidate | Failure]:
        yield from (each for each in rest if isinstance(each, Failure))
        candidates = [each for each in rest if isinstance(each, Candidate)]
        if not candidates:
            return
        split = enough(job.searching, pool.candidates, job.options.sample, job.options.seed, job.workers)
        few, many = len(split.train), len(job.split.train)
        if few < many:
            words = f"screening (learning from {few:,} of {many:,})"
            job.progress.begin(words, len(tasks), len(tasks) - len(rest))
            job.note("a sample for screening", records=few, of=many)
        yield from screened(candidates, split, len(pool.candidates), job.workers, *beside)

    tasks = [*pool.failures, *pool.candidates]
    read = partial(read_line, where=str(path), schema=job.split.train.schema)
    done = job.resumed("screening", Journal(path), tasks, work, write_line, read, more_follows=True)
    candidates = tuple(each for each in done if isinstance(each, Candidate))
    if [c.fingerprint for c in candidates] != [c.fingerprint for c in pool.candidates]:
        raise ArtefactError(f"{path}: it holds other candidates than this task has; begin anew: {FRESH}")
    return pool._replace(candidates=candidates)


def screened(
    candidates: Sequence[Candidate],
    split: Split,
    together: int,
    workers: Workers,
    before: ServedBefore | None = None,
    everything: UtilityRisk | None = None,
) -> Iterator[Candidate]:
    """Yield the candidates with their figures; ``together`` is how many are screened on the same records."""
    tasks = [(candidate.generalization, split, together, before, everything) for candidate in candidates]
    judged = workers.map(screen_by_counting, tasks)
    yield from (replace(c, screened=each.figures) for c, each in zip(candidates, judged, strict=True))


# 3. Frontier -----------------------------------------------------------------------------------------------------


def find_frontier(job: Job, pool: Pool, everything: UtilityRisk) -> tuple[list[Candidate], Counts]:
    """Return the screened candidates that no other one beats, thinned, and how all of them came about.

    A budget may ask for what a frontier of two figures does not show (few answers, groups served alike): who is
    best under it has a place in any case. ``everything`` is how everything asked is judged on validation.
    """
    candidates, most = pool.candidates, job.task.most
    budget = budget_in_force(job.task.budget, job.split.train.number is not None)
    points = steadied([(c.validation.point, c.generalization) for c in candidates], job.fitting)
    front = unbeaten(points)
    best = Point(min(p.utility_risk for p in points), 0.0)
    worst = Point(max(p.utility_risk for p in points), max(p.adversary_error for p in points))
    fitting = best_screened(candidates, budget, everything.error)
    kept = thinned(points, front, most, Limits(best, worst))
    if fitting is not None and fitting not in [candidates[i] for i in kept]:
        kept = [*thinned(points, kept, max(most - 1, 1), Limits(best, worst)), candidates.index(fitting)]
    kept += [i for i in serving_alike(candidates, budget, everything.error) if i not in kept]
    left_out, same = len(set(front) - set(kept)), {"repeated": pool.repeated, "dropped": pool.dropped}
    counts = Counts(screened=len(candidates), thinned=left_out, failed=len(pool.failures), **same)
    return [candidates[i] for i in kept], counts


# 4. Judge --------------------------------------------------------------------------------------------------------


def share(job: Job, front: Sequence[Candidate]) -> dict[Hashable, Any]:
    """Let A1, A3 and A5 learn from all of the frontier: a run that is resumed learns the same.

    What A1 told most easily in screening will be known first.
    """
    names = job.split.train.schema.names
    candidates = []
    for each in front:
        told = each.validation.by_attribute
        candidates.append((each.generalization, sorted(map(names.index, told), key=lambda p: told[names[p]])))
    return share_network(candidates, job.split, job.options.judges, job.workers, job.progress)


def judge(
    job: Job, front: Sequence[Candidate], asked: Asked, screened: int, shared: Mapping[Hashable, Any]
) -> list[Candidate]:
    """Judge the frontier by the strongest classifier and adversary, on the validation part.

    ``screened`` is among how many it was found on these same records: its certificates pay for all of them.
    """
    part = job.split.on_validation()
    tasks = [
        _Judging(candidate.generalization, part, screened, risk.validation, job.options.judges, shared)
        for candidate, risk in zip(front, asked.utilities(job.split)[2:], strict=True)
    ]
    judged = _judged(job, "judging the frontier", f"judgements-{name_of(front)}.jsonl", tasks)
    return judged_together([replace(c, judged=each.figures) for c, each in zip(front, judged, strict=True)])


def judge_limits(job: Job, asked: Asked) -> LimitPoints:
    """Judge the limit points on validation and on test."""
    risks = asked.utilities(job.split)[:2]
    limits = [*zip(asked.generalizations, risks, strict=False)]
    on_validation = job.split.on_validation()
    tasks = [_Judging(limit, on_validation, 1, risk.validation, job.options.judges) for limit, risk in limits]
    tasks += [_Judging(limit, job.split, 1, risk.test, job.options.judges) for limit, risk in limits]
    digest = hashlib.sha256("".join(each.fingerprint for each in asked.generalizations).encode()).hexdigest()
    judged = _judged(job, "judging the limit points", f"limits-{digest[:ID_LENGTH]}.jsonl", tasks)
    names = ("untouched_validation", "suppressed_validation", "untouched", "suppressed")
    return LimitPoints(**{name: each.figures for name, each in zip(names, judged, strict=True)})


class _Judging(NamedTuple):
    """The arguments of ``judge_strongly``."""

    generalization: Generalization
    split: Split
    candidates: int
    risk: UtilityRisk
    judges: Judges
    memory: Mapping[Hashable, Any] | None = None


def _judged(job: Job, words: str, journal: str, tasks: Sequence[_Judging]) -> list[Judged]:
    name = "leastwise-judged"
    return job.resumed(
        words,
        job.journal(journal),
        tasks,
        partial(job.workers.map, judge_strongly),
        partial(to_text, name=name, line=True),
        lambda line: from_text(Judged, line, name, "journal"),
    )


# 5. Choose: see ``choice.choose``; in a finished run ``folder.pick`` ---------------------------------------------


# 6. Attack: see ``attacking.attack`` -----------------------------------------------------------------------------


# 7. Record -------------------------------------------------------------------------------------------------------


def record(
    folder: Path,
    task: RunTask,
    schema: Schema,
    frontier: Frontier,
    pool: Pool,
    earlier: Earlier | None = None,
    notes: Sequence[str] = (),
) -> Run:
    """Write the frontier, the choice and the recommended artefact; what was needed on the way only, goes.

    What somebody chose ``earlier`` in the folder is the choice, where it stays.
    """
    if not (folder / places.FRONTIER).is_file():
        places.write_frontier(folder, frontier)
    own = choose(frontier, task.budget, pool.candidates)
    choice = earlier.choice if earlier is not None and earlier.stays else own
    write_choice(folder, choice)
    for name in (places.WORK, places.SO_FAR, f"{places.SO_FAR}.part"):
        shutil.rmtree(folder / name, ignore_errors=True)
    return Run(
        folder=folder,
        task=task,
        schema=schema,
        candidates=pool.candidates,
        failures=pool.failures,
        frontier=frontier,
        choice=choice,
        notes=(*(() if earlier is None else (earlier.note(own, folder),)), *notes),
    )


def explain(run: Run, split: Split, progress: Progress | None = None, mapped: Mapped = starmap) -> Run:
    """Find the necessity of what was chosen, and how it serves groups, unless that is known; return the run."""
    chosen, task, told = run.recommended, run.task, progress or Silent()
    if chosen is not None and run.necessity is None:
        told.begin("why each question", 1)  # all of it or nothing: it takes less than an attack
        write_figures(
            run.folder, places.NECESSITY, necessity_of(chosen, split, task.seed, mapped=mapped).to_json()
        )
        told.advance()
    if chosen is not None and task.groups and run.groups is None:
        groups = groups_of(chosen, split, task.groups, task.seed, quick=task.quick, progress=told)
        write_figures(run.folder, places.GROUPS, groups.to_json())
    return run
