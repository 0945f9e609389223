"""The least of a generalization: what the records cannot tell apart is not asked apart.

Who sees a coarser record knows less: to drop a question, or to merge two answers, never helps an attacker. It is
free where the classifier, learned anew, errs no more often by anything that people tell whom neither it nor the
generalization was made from. A question of very many answers is first cut down to runs of like effect, then whole
questions are dropped, then buckets are merged in the order of backward coarsening, then two by two, until nothing
more is free. What is left is *merge-minimal*. Where some accuracy may be lost, ``spend`` goes on from there by the
best exchange rates, as far as it reaches.
"""

from __future__ import annotations

from dataclasses import replace

from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.path import Step, countable
from leastwise.minimizers.constraints.constraints import Constraints, broken
from leastwise.minimizers.constraints.floor import brought_to
from leastwise.minimizers.merging.few_answers import with_few_answers
from leastwise.minimizers.merging.search import LOSS, Limit, Search, some_of, steps_beyond
from leastwise.predictors.held_out import Difference, Reference, held_out, reference
from leastwise.records.table import Table

FEWEST_PEOPLE, FEWEST_SHARE = 10, 0.002
"""No published bucket is used by fewer training records, or by a smaller share of them."""
LOSS_OF_A_NUMBER = 3 * LOSS
"""The same of a label that is a number, as a share of the error of guessing: three times as much is one point."""
# Who errs by more than this beyond a limit does not come to keep it.
_BEYOND = 0.01
PER_ANSWER = 0.001
"""So much adversary error an answer less is worth, where a limit is spent: ten of them a point."""
# A path is an order only, in which merges are tried.
_MOST_ON_A_PATH = 5_000


def least(
    train: Table,
    validation: Table,
    generalization: Generalization,
    *,
    constraints: Constraints | None = None,
    loss: float = LOSS,
    limit: Limit | None = None,
    cautious: bool = False,
) -> Generalization:
    """Drop questions and merge answers as long as that costs no accuracy that the records can tell.

    Parameters
    ----------
    train
        Records that classifiers learn from; the generalization may have been made of them.
    validation
        Records that it was not made of: they tell what is free.
    generalization
        Any minimizer's result.
    constraints
        What the result must hold to, as the given one does.
    loss
        What may be lost at most by the beliefs of who sees more, where the records do not tell it.
    limit
        On how much more often it may err than with everything asked; what is coarser keeps it in any case.
    cautious
        Whether only the given one is believed, even where validation surprises somebody less who sees less.

    Notes
    -----
    A loss is held against the given generalization, its answers cut to those that pay and its buckets to
    ``fewest_people``; not step by step, so that small losses do not add up. The order in which merges are tried
    comes from beliefs, not from the labels of validation: of many merges the luckiest would come first.
    """
    held, own = constraints or Constraints(), train.with_own_levels()
    generalization = generalization.within(train.schema)  # an artefact publishes no domain of what it does not ask
    floor = max(held.min_people, fewest_people(train))
    start = with_few_answers(own, _with_buckets(own, generalization, held), held)  # rare values go with their like
    start = brought_to(replace(held, min_people=floor), start, own)
    if broken(held, start, own):  # a floor that the constraints leave no room for
        start = generalization
    search = Search(some_of(train), validation, held, some_of(own, _MOST_ON_A_PATH), loss, limit, cautious)
    search.begin(start)
    readable = search.with_readable_answers(search.without_questions(start))
    now, earlier = search.along_the_path(search.with_safer_answers(readable)), None
    while now is not earlier:
        earlier = now
        now = search.without_questions(search.without_pairs(now))
    return now


def loss_near(left: float, most: float = LOSS) -> float:
    """Return what may be lost on the sly where so much of a limit is left: near it hardly anything.

    >>> [loss_near(left) for left in (0.01, 0.004, 0.0, -0.05)]  # the last will not come to keep it
    [0.003, 0.002, 0.00075, 0.003]
    """
    return min(max(left / 2, most / 4), most) if left > -_BEYOND else most


def spend(
    train: Table,
    validation: Table,
    generalization: Generalization,
    most: float,
    errors: float = 0.0,
    *,
    mu: float | None = None,
    constraints: Constraints | None = None,
    everything: Reference | None = None,
) -> Generalization:
    """Coarsen on, as far as the classifier errs at most so much more often than with everything asked.

    Parameters
    ----------
    most, errors
        The increase of the error that is allowed. What the given one costs is estimated on validation
        (``Reference.increase_of``), with so many standard errors added; what comes on top, by the beliefs of who
        is told everything.
    mu
        Of the path of merges: see ``coarsening_path``.
    everything
        How everything asked is judged on validation, where that is known: see ``everything_asked``.

    Returns
    -------
    Generalization
        The given one, where it leaves nothing to spend.
    """
    generalization = generalization.within(train.schema)
    known = everything or everything_asked(train, validation)
    left = most - increase_of(generalization, train, validation, known).bound(errors)
    if left <= 0:
        return generalization
    held = constraints or Constraints()
    search = Search(some_of(train), validation, held, some_of(train.with_own_levels(), _MOST_ON_A_PATH))
    search.begin(generalization, known.beliefs)
    path = [generalization, *search.path(generalization, mu)]
    return path[search.last_within(path, left)]


def coarser_forms(train: Table, generalization: Generalization, constraints: Constraints | None) -> list[Step]:
    """Return the given one and ever coarser ones, by the best exchange rates, with what counting says of them.

    What is lost buys safety, and fewer answers.
    """
    own = some_of(train.with_own_levels(), _MOST_ON_A_PATH)
    return steps_beyond(own, generalization.within(train.schema), None, constraints or Constraints(), PER_ANSWER)


def everything_asked(train: Table, validation: Table) -> Reference:
    """Return what others are held against: everything asked, judged on validation."""
    return reference(Generalization.untouched(train.schema), some_of(train), validation)


def increase_of(
    generalization: Generalization, train: Table, validation: Table, everything: Reference
) -> Difference:
    """Estimate on validation by how much more often the classifier errs than with everything asked."""
    return everything.increase_of(held_out(generalization, some_of(train), validation)[0])


def fewest_people(train: Table) -> float:
    """Return how many training records must use every published bucket."""
    return max(FEWEST_PEOPLE, FEWEST_SHARE * train.people)


def _with_buckets(table: Table, generalization: Generalization, held: Constraints) -> Generalization:
    """Return the same with numbered buckets: what is asked exactly, without having to be, in many runs."""
    partitions = (
        p if p.attribute.name in held.untouched else countable(table, j, p, held)
        for j, p in enumerate(generalization.partitions)
    )
    return replace(generalization, partitions=tuple(partitions))
