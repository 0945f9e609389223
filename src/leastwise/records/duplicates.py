"""Records that look like copies: are they one person's?

Two people may well give the same answers. But of a few people who agree in all attributes but the most telling
one, not many agree in that one too. Where most of them do, records were copied, or people have several.
"""

from __future__ import annotations

import numpy as np

from leastwise.documents.wording import counted
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Table

# Fewer copies than this share of the records spoil no figure.
_WORTH_TELLING = 0.005
# Larger groups agree because their answers are common.
_FEW = 25


def copies(table: Table) -> int:
    """Return how many records look like a copy of another one; 0 where whose record each is, is known.

    >>> from leastwise import Attribute, Schema
    >>> names = ("town", "job", "street", "school")
    >>> schema = Schema(tuple(Attribute(name, values=tuple(map(str, range(20)))) for name in names))
    >>> codes = np.random.default_rng(0).integers(0, 20, (300, 4))
    >>> people = Table(schema, codes, tuple(np.array(attribute.values) for attribute in schema.attributes))
    >>> copies(people), copies(people.take(np.repeat(np.arange(300), 3)))
    (0, 600)
    """
    if table.persons is not None or table.weights is not None or not len(table) or len(table.sizes) < 2:
        return 0
    agree = [float(np.square(table.use(j)).sum()) for j in range(len(table.sizes))]
    others = [j for j in range(len(table.sizes)) if j != int(np.argmin(agree))]
    first, own = joint_buckets(table.codes, table.sizes)
    _, group = joint_buckets(table.codes[:, others], [table.sizes[j] for j in others])
    size, same = np.bincount(group), np.bincount(own, minlength=len(first)).astype(float)
    pairs = np.bincount(group[first], weights=same * (same - 1))
    few = (size > 1) & (size <= _FEW)
    copied = len(table) - len(first)
    if copied < _WORTH_TELLING * len(table) or not few.any():
        return 0
    return copied if float((pairs[few] / (size[few] * (size[few] - 1))).mean()) > 1 / 2 else 0


def copies_in_words(table: Table) -> str | None:
    """Say that records look like copies, and what to do; None where they do not."""
    copied = copies(table)
    if not copied:
        return None
    return (
        f"{counted(copied, 'record looks', 'records look')} like a copy of another one. If one person can have "
        "several, name the column that tells whose they are (--person): copies make every interval and the "
        "certificate too good."
    )
