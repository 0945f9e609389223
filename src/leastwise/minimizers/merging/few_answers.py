"""Fewer answers: a question in runs of like effect on the label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from leastwise.generalization import Generalization
from leastwise.kernels.interval_program import best_partition, spread
from leastwise.minimizers.constraints.constraints import Constraints, MergeRules
from leastwise.minimizers.merging.pairs import in_order
from leastwise.minimizers.optimal.smoothing import Smoothing, sums_by_code
from leastwise.minimizers.orders import principal_direction
from leastwise.partition import Partition, Untouched
from leastwise.records.table import Table

MOST_ANSWERS = 24
"""No question has more answers, unless constraints want them: models need no more."""
READABLE = 8
"""More answers than these a question has only where the records tell that they pay."""


def with_few_answers(
    train: Table, generalization: Generalization, constraints: Constraints, most: int = MOST_ANSWERS
) -> Generalization:
    """Cut questions of very many answers down to runs that differ least in what they tell about the label."""
    rules = MergeRules.of(constraints, generalization.partitions)
    partitions = [
        partition
        if isinstance(partition, Untouched) or partition.size <= most
        else next(runs(train, j, partition, rules, most), partition)
        for j, partition in enumerate(generalization.partitions)
    ]
    return replace(generalization, partitions=tuple(partitions))


def runs(train: Table, j: int, partition: Partition, rules: MergeRules, most: int) -> Iterator[Partition]:
    """Yield a question in as many runs as it may have, then in fewer, as far as the rules allow."""
    bucket_of = partition.bucket_map(train.levels[j])
    people, effect = Smoothing.of(train, j).means_of_groups(sums_by_code(train, j), bucket_of, partition.size)
    overall = people @ effect / people.sum()
    row = np.arange(in_order(partition))
    tree = rules.trees[j]
    if tree is not None:
        ranks = (effect - overall) @ principal_direction(effect - overall, people)
        row = np.asarray(tree.in_order(ranks, people))
    elif partition.attribute.kind == "discrete":
        row = np.argsort((effect - overall) @ principal_direction(effect - overall, people), kind="stable")
    cost = spread(people[row], effect[row], np.zeros(0), np.zeros((0, train.classes)))
    if tree is not None:
        cost[~tree.allowed_runs(row.tolist())] = np.inf
    for cut in reversed(best_partition(cost[None], np.zeros(1), max(most - (partition.size - len(row)), 1))):
        groups = np.arange(partition.size)
        for first, end in pairwise((0, *cut.ends)):
            groups[row[first:end]] = row[first:end].min()
        if all(rules.allow(j, np.flatnonzero(groups == name).tolist()) for name in np.unique(groups)):
            yield partition.coarsen(groups.tolist())


def longer(generalization: Generalization, most: int) -> list[int]:
    """Return where the questions stand that have more answers, and are not asked exactly."""
    pairs = enumerate(generalization.partitions)
    return [j for j, partition in pairs if not isinstance(partition, Untouched) and partition.size > most]
