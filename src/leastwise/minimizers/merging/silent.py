"""Questions that tell nothing: which attributes do not predict the label, as far as the records show."""

from __future__ import annotations

from leastwise.generalization import Generalization
from leastwise.minimizers.merging.search import last_that, without
from leastwise.predictors import Boosting, JointBuckets
from leastwise.predictors.held_out import Difference, Folds, HeldOut
from leastwise.predictors.regression import boosted
from leastwise.records.table import Table

# What must be shown of a question to be asked at all: standard errors of what it tells by itself, and of what all
# questions that tell nothing by themselves add together to the others.
_ALONE, _TOGETHER = 2.0, 0.5
# Of many attributes that tell nothing one will seem to: alone it must tell so clearly.
_CLEARLY = 3.0


def uninformative(table: Table, seed: int = 0) -> tuple[str, ...]:
    """Return the attributes that tell nothing about the label, as far as these records show.

    They are those that do not predict it by themselves, and that together add nothing to all others: both by
    held-out log loss (of a number, by how far off it is), on values that no label has grouped. A copy of a telling
    attribute is telling too. Where all attributes together do not predict the label, and none does clearly by
    itself, all of them tell nothing.
    """
    names, folds, everything = table.schema.names, Folds.of(table, seed), Generalization.untouched(table.schema)
    nothing = folds.judge(Generalization.suppressed(table.schema), (JointBuckets(),))

    def told_by(name: str) -> Difference:
        alone = without(everything, {*names} - {name})
        trees = Boosting if table.number is None else boosted
        return _loses_to(nothing, folds.judge(alone, (JointBuckets(), trees(rounds=15, leaves=7, rate=0.4))))

    told = {name: told_by(name) for name in names}
    silent = [name for name in names if told[name].bound(-_ALONE) <= 0]
    if not silent:
        return ()
    given = folds.judge(everything)
    clearly = any(each.bound(-_CLEARLY) > 0 for each in told.values())
    if not clearly and _loses_to(nothing, given).bound(-_ALONE) <= 0:
        return names
    rise = dict.fromkeys(names, 0.0) | folds.importance(everything)  # of one value nothing is asked
    silent.sort(key=lambda name: rise[name])

    def add_nothing(count: int) -> bool:
        less = folds.judge(without(everything, {*silent[:count]}))
        losses = less.errs_more_than(given), less.is_surprised_more_than(given)
        return all(loss.bound(-_TOGETHER) <= 0 for loss in losses)

    return tuple(silent[: last_that(add_nothing, len(silent))])


def _loses_to(less: HeldOut, more: HeldOut) -> Difference:
    """Return what is lost by who sees less: log loss; of a number distance, as each level has few people."""
    return less.is_surprised_more_than(more) if less.number is None else less.errs_more_than(more)
