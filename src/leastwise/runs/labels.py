"""How well the label is told by what is judged together: everything asked, nothing asked, and candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from leastwise.documents import from_text, to_text
from leastwise.evaluation.declared_groups import Grouping, ServedBefore, parse_all
from leastwise.evaluation.label_guesses import LabelGuesses, Utilities, told_of_several, utilities_together
from leastwise.evaluation.risk import UtilityRisk, deciding, label_risks
from leastwise.generalization import Generalization
from leastwise.minimizers.merging import everything_asked
from leastwise.predictors.base import samples
from leastwise.predictors.held_out import Difference, HeldOut, Reference
from leastwise.predictors.strongest import Guesses
from leastwise.records.table import Split, Table
from leastwise.runs.budget import WORST, Budget
from leastwise.runs.candidates import ID_LENGTH, Candidate
from leastwise.runs.job import Job
from leastwise.runs.judging import guess_label
from leastwise.runs.proposals import limit_points
from leastwise.runs.sampling import searched

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

    def utilities(self, split: Split) -> list[Utilities]:
        """Return the utility risks."""
        found = utilities_together(self.generalizations, self.told, split, self.groupings)
        if not self.worst:
            return found
        return [
            Utilities(*(risk.worst_beside(everything) for risk, everything in zip(each, found[0], strict=True)))
            for each in found
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
        found, drawn = self.utilities(split)[0].validation, searched(split.validation)
        if len(drawn) == len(split.validation):
            return found
        people, told = split.validation.take(drawn), self.told[0]
        wrong, guessed = told.wrong("validation", split.validation), told.guessed("validation", split.validation)
        errors = [each.error for each in label_risks(guessed[drawn], split.train, people)]
        labels = tuple(replace(one, error=e) for one, e in zip(found.labels, errors, strict=True))
        return replace(found, error=float(np.average(wrong[drawn], weights=people.counts)), labels=labels)

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

    def increase_of_nothing(self, split: Split) -> Difference:
        """Return by how much it errs more on validation with nothing asked; of several labels, about the worst."""
        risk = self.utilities(split)[1].validation
        each = [label.increase for label in deciding(risk.labels) if self.worst and label.increase is not None]
        found = max(each, key=lambda increase: increase.mean, default=risk.increase)
        assert found is not None
        return found


def guess_labels(job: Job, asked: Asked) -> Asked:
    """Let the strongest classifiers guess the label from what is not told yet, on validation and on test."""
    name, rest = "leastwise-labels", asked.generalizations[len(asked.told) :]
    digest = hashlib.sha256("".join(each.fingerprint for each in rest).encode()).hexdigest()[:ID_LENGTH]
    found = job.resumed(
        "judging accuracy",
        job.journal(f"labels-{digest}.jsonl"),
        [(each, job.split, job.options.judges) for each in rest],
        partial(job.workers.map, guess_label),
        partial(to_text, name=name, line=True),
        lambda line: from_text(LabelGuesses, line, name, "journal"),
    )
    return asked._replace(told=(*asked.told, *found))
