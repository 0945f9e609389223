"""What attacks on the candidates of a run share: who knows a lot learns once for several of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from leastwise.adversaries.breach import stores_label
from leastwise.adversaries.guessing import Guessed, find_last
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.progress import Progress
from leastwise.records.table import Split
from leastwise.runs.workers import Workers

# Candidates that are attacked one after the other: what is found of each is written down after the last of them.
_MOST_TOGETHER = 4


def alike(generalizations: Mapping[str, Generalization]) -> list[list[str]]:
    """Return the names in groups that collect the personal attributes alike, a few in each.

    Who knows everything that is not personal learns the same about all of a group.
    """
    groups: dict[object, list[str]] = defaultdict(list)
    for name, generalization in generalizations.items():
        groups[tuple(p for p in generalization.partitions if p.attribute.personal)].append(name)
    step = _MOST_TOGETHER
    return [group[start : start + step] for group in groups.values() for start in range(0, len(group), step)]


def find_last_of_all(
    generalizations: Sequence[Generalization], split: Split, judges: Judges, workers: Workers, progress: Progress
) -> list[dict[int, Guessed]]:
    """Return, for each generalization, what A4 finds of each personal attribute, by position.

    A task is an attribute, not a generalization. Only who was guessed wrongly comes back, and stays in memory: a
    run that is resumed learns again, and the same.
    """
    train = split.train
    stored = [stores_label(train, generalization) for generalization in generalizations]
    # A model sees the label or it does not; an attribute of many values takes longest.
    positions = sorted(train.personal, key=lambda p: -train.sizes[p])
    places = [[i for i, own in enumerate(stored) if own is label] for label in (True, False)]
    tasks = [(p, group) for group in places if group for p in positions]
    if tasks:
        progress.begin("learning what tells the last attribute", len(tasks), 0)
    arguments = [(p, [generalizations[i] for i in g], split, judges.seed, judges.adversary()) for p, g in tasks]
    found: list[dict[int, Guessed]] = [{} for _ in generalizations]
    for (p, group), guessed in zip(tasks, workers.map(find_last, arguments), strict=True):
        for i, own in zip(group, guessed, strict=True):
            found[i][p] = own
        progress.advance()
    return found
