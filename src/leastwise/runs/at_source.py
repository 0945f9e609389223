"""The last word of a run on a source: the frontier judged and certified on all records of the test part."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from joblib import effective_n_jobs

from leastwise.evaluation.at_source import AtSource, counts_of, judge_at_source
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.in_slices import InSlices
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.records.sources import Counted, Source
from leastwise.records.table import Split
from leastwise.runs.candidates import Candidate, Figures
from leastwise.runs.folder import WORK, evaluation_path
from leastwise.runs.job import Job
from leastwise.runs.task import SourceUsed


def used(source: Source, sampled: int) -> SourceUsed:
    """Say what a run uses of a source."""
    where = source.engine.where
    return SourceUsed(
        address=None if where is None else where.address,
        table=None if where is None else where.table,
        key=source.engine.key,
        drawn=source.drawn,
        engine=source.engine.name,
        records=len(source),
        sampled=sampled,
        tested=source.people(source.tested),
        min_count=source.at_least,
        learned=source.learned,
        fingerprint=source.fingerprint,
    )


def judge_everywhere(job: Job, points: Sequence[Candidate], source: Source) -> list[Candidate]:
    """Judge the frontier on everything; what is finished is on the disk before the next query begins."""
    begun = time.perf_counter()
    paths = {point.id: job.folder / WORK / f"at-source-{point.id}.json" for point in points}
    absent = [point for point in points if not paths[point.id].is_file()]
    job.progress.begin(f"judging on all records in {source.engine.name}", len(points), len(points) - len(absent))
    step = effective_n_jobs(job.workers.jobs)  # the counts of as many as are judged at once are held
    with source.reduced([point.generalization for point in absent], source.tested) as near:
        for start in range(0, len(absent), step):
            together = absent[start : start + step]
            counted = [counts_of(near, point.generalization) for point in together]
            tasks = [
                (point.generalization, job.split, counts, len(points), job.options.judges)
                for point, counts in zip(together, counted, strict=True)
            ]
            # What is counted in slices is counted on the way, so that is judged where the source is open.
            at_once = [not isinstance(counts, InSlices) for counts in counted]
            elsewhere = iter(job.workers.map(judge_one, [*compress(tasks, at_once)]))
            for point, task, fetched in zip(together, tasks, at_once, strict=True):
                found = next(elsewhere) if fetched else judge_one(*task)
                found.instead_of(Evaluation.load(evaluation_path(job.folder, point.id))).save(paths[point.id])
                job.progress.advance()
    for point in points:  # all at once: a half-replaced folder would look like another run's
        Evaluation.load(paths[point.id]).save(evaluation_path(job.folder, point.id))
    job.note("judging on all records", seconds=time.perf_counter() - begun, tasks=len(absent))
    return [
        replace(point, tested=Figures.of(Evaluation.load(evaluation_path(job.folder, point.id))))
        for point in points
    ]


def judge_one(
    generalization: Generalization, split: Split, counted: Counted | InSlices, candidates: int, judges: Judges
) -> AtSource:
    """Judge one candidate by its counts."""
    return judge_at_source(generalization, split, counted, judges=judges, candidates=candidates)
