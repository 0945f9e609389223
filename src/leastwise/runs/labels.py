"""How well the label is told by what is judged together: everything asked, nothing asked, and candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from leastwise.documents import from_text, to_text
from leastwise.evaluation.declared_groups import Grouping, ServedBefore, parse_all
from leastwise.evaluation.label_guesses import LabelGuesses, Utilities, utilities_together
from leastwise.generalization import Generalization
from leastwise.minimizers.merging import everything_asked
from leastwise.predictors.base import samples
from leastwise.predictors.held_out import Difference, HeldOut, Reference
from leastwise.predictors.strongest import Guesses
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import ID_LENGTH, Candidate
from leastwise.runs.job import Job
from leastwise.runs.judging import guess_label
from leastwise.runs.proposals import limit_points
from leastwise.runs.sampling import searched


class Asked(NamedTuple):
    """What is judged together, everything and nothing asked first, and what classifiers guess of it."""

    generalizations: tuple[Generalization, ...]
    told: tuple[LabelGuesses, ...] = ()
    groupings: tuple[Grouping, ...] = ()

    @classmethod
    def limits(cls, train: Table, groups: Sequence[str] = ()) -> Asked:
        """Begin with the limit points; ``groups`` are those that limits are held against."""
        return cls(limit_points(train), groupings=parse_all(groups))

    def and_also(self, candidates: Sequence[Candidate]) -> Asked:
        """Add candidates."""
        return self._replace(generalizations=(*self.generalizations, *(c.generalization for c in candidates)))

    def utilities(self, split: Split) -> list[Utilities]:
        """Return the utility risks."""
        return utilities_together(self.generalizations, self.told, split, self.groupings)

    def served_before(self, split: Split) -> ServedBefore | None:
        """Return how declared groups are served on validation with everything asked; None where there are none.

        Of the people on whom a search is judged.
        """
        if not self.groupings:
            return None
        wrong = self.told[0].wrong("validation", split.validation)
        return ServedBefore(self.groupings, wrong[searched(split.validation)])

    def error_of_everything(self, split: Split) -> float:
        """Return how often the classifier errs with everything asked about the people a search is judged on."""
        drawn = searched(split.validation)
        if len(drawn) == len(split.validation):
            return self.utilities(split)[0].validation.error
        wrong = self.told[0].wrong("validation", split.validation)
        return float(np.average(wrong[drawn], weights=split.validation.counts[drawn]))

    def reference(self, split: Split) -> Reference:
        """Return everything asked as what a search holds others against, by the strongest classifier."""
        drawn, told = searched(split.validation), self.told[0]
        people = split.validation.take(drawn)
        if (
            "validation" not in told.believed
        ):  # too many records to keep beliefs of: a simpler classifier's will do
            return everything_asked(split.train, people)
        beliefs = told.beliefs("validation", split.validation)[drawn]
        rows = samples(people, self.generalizations[0], "label")
        return Reference(HeldOut.of(Guesses.of(beliefs, rows), rows, people.persons), beliefs)

    def increase_of_nothing(self, split: Split) -> Difference:
        """Return by how much it errs more on validation with nothing asked."""
        found = self.utilities(split)[1].validation.increase
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
