"""What the sample of a run promises, read off its folder: the records themselves are not needed any more."""

from __future__ import annotations

from leastwise.checks.promise import Promise
from leastwise.checks.use import BucketUse, counted
from leastwise.errors import ArtefactError
from leastwise.runs import Run
from leastwise.runs.shares import Shares


def promise_of_run(run: Run) -> Promise:
    """Return what the test part of a run promises of the candidate that was chosen.

    A run keeps the share of people in each bucket, but not in each class of the label: label rates are not
    promised. ``Promise.of`` with the records at hand promises those, too.
    """
    chosen = run.choice.candidate
    if chosen is None:
        raise ArtefactError(
            f"{run.folder}: no candidate was chosen, so nothing is promised; see: leastwise choose"
        )
    generalization, evaluation = run.generalization(chosen), run.evaluation(chosen)
    shares = Shares.stored(run).of(chosen)
    names = [partition.attribute.name for _, partition in counted(generalization)]
    if set(names) != set(shares):
        raise ArtefactError(
            f"{run.folder}: the run does not hold how many people give each answer; write the promise from the "
            "records with: leastwise check --write-promise"
        )
    people = evaluation.people.test
    use = [BucketUse(attribute=n, counts=tuple(round(share * people) for share in shares[n])) for n in names]
    return Promise.of_counts(generalization, use, None, evaluation)
