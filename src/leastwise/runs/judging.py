"""Judging the frontier: how well its label is told, by the strongest classifiers, and what is told of people.

On validation, where the adversary knows the training part; of records that stay in a source, the last word is on
all of the test part.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from leastwise.documents import from_text, to_text
from leastwise.evaluation.at_source import (
    AtSource,
    LimitsAtSource,
    counts_of,
    judge_at_source,
    judge_everything,
    judge_nothing,
)
from leastwise.evaluation.declared_groups import Grouping, ServedBefore, parse_all
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.in_slices import InSlices
from leastwise.evaluation.label_guesses import (
    LabelGuesses,
    Utilities,
    label_guesses,
    told_of_several,
    utilities_together,
)
from leastwise.evaluation.risk import UtilityRisk, deciding, label_risks
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.minimizers.merging import everything_asked
from leastwise.predictors.base import samples
from leastwise.predictors.held_out import Difference, HeldOut, Reference
from leastwise.predictors.strongest import Guesses
from leastwise.records.sources import Counted, Source
from leastwise.records.table import Split, Table
from leastwise.runs.budget import WORST, Budget
from leastwise.runs.candidates import ID_LENGTH, Candidate, Figures
from leastwise.runs.folder import WORK, evaluation_path
from leastwise.runs.frontier import LimitPoints
from leastwise.runs.job import Job
from leastwise.runs.proposals import Judged, judge_risk, limit_points, searched
from leastwise.runs.task import SourceUsed

CLEARLY = 3.0
"""Standard errors that leave no doubt."""


class Asked(NamedTuple):
    """What is judged together, everything and nothing asked first, and what classifiers guess of it."""

    generalizations: tuple[Generalization, ...]
    told: tuple[LabelGuesses, ...] = ()
    groupings: tuple[Grouping, ...] = ()
    worst: bool = False  # whether, of several labels, the one counts about which most is lost

    @classmethod
    def limits(cls, train: Table, budget: Budget, groups: Sequence[str] = ()) -> Asked:
        """Begin with the limit points; ``groups`` are those that limits are held against."""
        worst = train.several is not None and budget.labels_by == WORST
        return cls(limit_points(train), groupings=parse_all(groups), worst=worst)

    def and_also(self, candidates: Sequence[Candidate]) -> Asked:
        """Add candidates."""
        return self._replace(generalizations=(*self.generalizations, *(c.generalization for c in candidates)))

    def only(self, stays: Sequence[bool]) -> Asked:
        """Leave some candidates out; both limit points stay."""
        here = (True, True, *stays)
        return self._replace(
            generalizations=tuple(compress(self.generalizations, here)), told=tuple(compress(self.told, here))
        )

    def utilities(self, split: Split) -> list[Utilities]:
        """Return the utility risks."""
        utilities = utilities_together(self.generalizations, self.told, split, self.groupings)
        if not self.worst:
            return utilities
        return [
            Utilities(
                *(risk.worst_beside(everything) for risk, everything in zip(each, utilities[0], strict=True))
            )
            for each in utilities
        ]

    def served_before(self, split: Split, searching: Split) -> ServedBefore | None:
        """Return how declared groups are served on validation with everything asked; None where there are none.

        ``searching`` is what a search looks at: see ``reference``.
        """
        if not self.groupings:
            return None
        wrong, drawn = self.told[0].wrong("validation", split.validation), searched(split.validation)
        if split.train.several is not None and searching.validation.several is not None:
            levels = split.train.several.projection(searching.validation.several).argmax(axis=1)
            guessed = levels[self.told[0].guessed("validation", split.validation)[drawn]]
            return ServedBefore(self.groupings, searching.validation.several.off(guessed))
        return ServedBefore(self.groupings, wrong[drawn])

    def risk_of_everything(self, split: Split) -> UtilityRisk:
        """Return how everything asked is judged on validation; its error is that of whom a search is judged on."""
        risk, drawn = self.utilities(split)[0].validation, searched(split.validation)
        if len(drawn) == len(split.validation):
            return risk
        people, told = split.validation.take(drawn), self.told[0]
        wrong, guessed = told.wrong("validation", split.validation), told.guessed("validation", split.validation)
        errors = [each.error for each in label_risks(guessed[drawn], split.train, people)]
        labels = tuple(replace(one, error=e) for one, e in zip(risk.labels, errors, strict=True))
        return replace(risk, error=float(np.average(wrong[drawn], weights=people.counts)), labels=labels)

    def known_for_screening(self, split: Split) -> UtilityRisk | None:
        """Return the same, where the worst of several labels counts: others are held against it in screening."""
        return self.risk_of_everything(split) if self.worst else None

    def told_labels(self, split: Split) -> tuple[int, ...]:
        """Return, where the worst of several labels counts, those that can be told at all; else none."""
        return told_of_several(self.told[0], split) if self.worst else ()

    def reference(self, split: Split, searching: Split) -> Reference:
        """Return everything asked as what a search holds others against, by the strongest classifier.

        ``searching`` is what the search looks at: some people of the validation part, and the labels that can be
        told.
        """
        people, everything, labels = searching.validation, self.told[0], self.told_labels(split)
        if "validation" not in everything.believed:  # too many records to keep beliefs of: a simpler one's will do
            return replace(everything_asked(searching.train, people), labels=labels)
        beliefs = everything.beliefs("validation", split.validation)[searched(split.validation)]
        if split.train.several is not None and searching.train.several is not None:
            beliefs = beliefs @ split.train.several.projection(searching.train.several)
        rows = samples(people, self.generalizations[0], "label")
        return Reference(HeldOut.of(Guesses.of(beliefs, rows), rows, people.persons), beliefs, labels)

    def clearly_told(self, split: Split) -> bool:
        """Whether validation tells beyond doubt that who is told everything errs less than who is told nothing."""
        everything, nothing = (each.wrong("validation", split.validation).astype(float) for each in self.told[:2])
        people = split.validation
        return Difference.of(nothing - everything, people.counts, people.persons).bound(-CLEARLY) > 0

    def increases(self, split: Split) -> list[Difference]:
        """Return by how much each errs more on validation; of several labels, about the worst."""
        found = list[Difference]()
        for risk, _ in self.utilities(split):
            each = [label.increase for label in deciding(risk.labels) if self.worst and label.increase is not None]
            worst = max(each, key=lambda increase: increase.mean, default=risk.increase)
            assert worst is not None
            found.append(worst)
        return found


def guess_labels(job: Job, asked: Asked) -> Asked:
    """Let the strongest classifiers guess the label from what is not told yet, on validation and on test."""
    name, rest = "leastwise-labels", asked.generalizations[len(asked.told) :]
    digest = hashlib.sha256("".join(each.fingerprint for each in rest).encode()).hexdigest()[:ID_LENGTH]
    guesses = job.resumed(
        "judging accuracy",
        job.journal(f"labels-{digest}.jsonl"),
        [(each, job.split, job.options.judges) for each in rest],
        partial(job.workers.map, guess_label),
        partial(to_text, name=name, line=True),
        lambda line: from_text(LabelGuesses, line, name, "journal"),
    )
    return asked._replace(told=(*asked.told, *guesses))


def guess_label(generalization: Generalization, split: Split, judges: Judges) -> LabelGuesses:
    """Let the strongest classifiers guess the label; each task has its own, which learn."""
    return label_guesses(generalization, split, judges.classifiers())


def judge_strongly(
    generalization: Generalization,
    split: Split,
    candidates: int,
    risk: UtilityRisk,
    judges: Judges,
    memory: Mapping[Hashable, Any] | None = None,
) -> Judged:
    """Judge on the last part with the strongest adversary, who may have learned for several candidates at once.

    The utility risk is known.
    """
    return judge_risk(generalization, split, candidates, risk, judges.adversary(), judges.seed, memory)


# All records of a source -----------------------------------------------------------------------------------------


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


def judge_everywhere(
    job: Job, points: Sequence[Candidate], limits: LimitPoints, source: Source
) -> tuple[list[Candidate], LimitPoints]:
    """Judge the frontier and what frames it on everything; what is finished is on the disk before the next query.

    Where that does not tell how often the model errs with everything asked, its errors stay those of the sample.
    """
    begun = time.perf_counter()
    ends = _limits_everywhere(job, source)
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
                judged = next(elsewhere) if fetched else judge_one(*task)
                sampled = Evaluation.load(evaluation_path(job.folder, point.id))
                judged.instead_of(sampled, ends).save(paths[point.id])
                job.progress.advance()
    everybody = _same_people(job, points, {name: Evaluation.load(path) for name, path in paths.items()})
    for point in points:  # all at once: a half-replaced folder would look like another run's
        everybody[point.id].save(evaluation_path(job.folder, point.id))
    job.note("judging on all records", seconds=time.perf_counter() - begun, tasks=len(absent))
    tested = [replace(point, tested=Figures.of(everybody[point.id])) for point in points]
    return tested, _framed(limits, ends, tested)


def _same_people(
    job: Job, points: Sequence[Candidate], judged: Mapping[str, Evaluation]
) -> Mapping[str, Evaluation]:
    """Return the judgements with the model's errors of all people, or where one has them not, all of the sample.

    Candidates are compared by these errors; those of two parts would differ by who was asked.
    """
    if all(each.utility is not None and each.utility.people >= each.people.test for each in judged.values()):
        return judged
    sampled = {point.id: Evaluation.load(evaluation_path(job.folder, point.id)) for point in points}
    return {
        name: replace(each, utility=own.utility, everything=own.everything, nothing=own.nothing)
        for name, each in judged.items()
        for own in [sampled[name]]
    }


def _limits_everywhere(job: Job, source: Source) -> LimitsAtSource:
    """Judge everything and nothing asked on all records, or read what was found before the run was stopped."""
    ways: dict[str, Callable[[Split, Source, Judges], Evaluation | None]]
    ways = {"everything": judge_everything, "nothing": judge_nothing}
    paths = {name: job.folder / WORK / f"at-source-{name}.json" for name in ways}
    absent = [name for name, path in paths.items() if not path.is_file()]
    job.progress.begin(
        f"judging the limit points on all records in {source.engine.name}", len(ways), len(ways) - len(absent)
    )
    for name in absent:
        if (found := ways[name](job.split, source, job.options.judges)) is not None:
            found.save(paths[name])
        job.progress.advance()
    everything = Evaluation.load(paths["everything"]) if paths["everything"].is_file() else None
    return LimitsAtSource(everything, Evaluation.load(paths["nothing"]))


def _framed(limits: LimitPoints, ends: LimitsAtSource, tested: Sequence[Candidate]) -> LimitPoints:
    """Return the limit points with the figures of all people, of the model's errors where candidates have them."""
    of_all = all(point.test.people == point.test.attacked for point in tested)
    risk, untouched = ends.risk_of_everything if of_all else None, limits.untouched
    if ends.everything is not None:
        untouched = untouched.of_everybody(ends.everything, risk)
    return replace(limits, untouched=untouched, suppressed=limits.suppressed.of_everybody(ends.nothing, risk))


def judge_one(
    generalization: Generalization, split: Split, counted: Counted | InSlices, candidates: int, judges: Judges
) -> AtSource:
    """Judge one candidate by its counts."""
    return judge_at_source(generalization, split, counted, judges=judges, candidates=candidates)
