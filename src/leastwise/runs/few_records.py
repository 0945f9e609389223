"""Where records are few: candidates seen by the people of the training part, too.

A frontier is chosen by the validation part. Where that is a hundred people, who seems unbeaten there is mostly
lucky, and hides a better one. The training part has several times as many. Counted leaving each person out, they
tell nearly as much; not quite, because minimizers have looked at them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leastwise.evaluation.pareto import Point
from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.recommended import estimate
from leastwise.records.table import Split

FEW = 20_000
"""With more training records, validation tells enough."""
WORTH = 0.2
"""So many people of validation tell as much as one of the training part, whom minimizers have looked at."""


def steadied(judged: Sequence[tuple[Point, Generalization]], split: Split) -> list[Point]:
    """Weigh what validation shows of each candidate with what the training part does, where that is small."""
    train = split.train
    if len(train) > FEW or train.graded is not None:
        return [shown for shown, _ in judged]
    worth = WORTH * train.people
    share, records = worth / (worth + split.validation.people), Records.of(train.with_own_levels())
    found, equal = list[Point](), np.ones(len(records.own))
    for shown, generalization in judged:
        counted = estimate(records, generalization, equal)
        mixed = (share * own + (1 - share) * other for own, other in zip(counted, shown, strict=True))
        found.append(Point(*mixed))
    return found
