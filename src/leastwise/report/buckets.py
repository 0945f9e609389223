"""Before and after, attribute by attribute: what would be asked of a person, and how many give each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.documents.wording import counted, shortened
from leastwise.generalization import Generalization
from leastwise.generalization.describe import bucket_texts
from leastwise.partition import Partition, keep
from leastwise.schema import Attribute

Facts = dict[str, Any]


def answers_before(attribute: Attribute) -> int:
    """Return how many answers the full question has; 0 where any number may be given."""
    return keep(attribute).size


def attribute_facts(generalization: Generalization, shares: Mapping[str, Sequence[float]]) -> list[Facts]:
    """Return the facts of every attribute, in the order of the schema."""
    return [_facts(partition, shares.get(partition.attribute.name)) for partition in generalization.partitions]


def _facts(partition: Partition, shares: Sequence[float] | None) -> Facts:
    attribute = partition.attribute
    return {
        "name": attribute.name,
        "unit": attribute.unit,
        "question": attribute.question,
        "personal": attribute.personal,
        "kind": attribute.kind,
        "asked": not partition.suppressed,
        "exact": partition.untouched and not partition.suppressed,
        "before": before_text(attribute),
        "answers_before": answers_before(attribute),
        "answers_after": 0 if partition.suppressed else partition.size,
        "buckets": [] if partition.suppressed or not partition.labels else _buckets(partition, shares),
    }


def before_text(attribute: Attribute) -> str:
    """Say what the full question was.

    >>> before_text(Attribute("sex", values=("Female", "Male")))
    '2 values: Female · Male'
    >>> before_text(Attribute("age", "continuous", lower=0, integer=True, unit="years"))
    'the exact number of years (whole numbers from 0)'
    """
    if attribute.continuous:
        what = f"the exact number of {attribute.unit}" if attribute.unit else "the exact number"
        return f"{what} ({attribute.domain_text()})"
    names = [attribute.label_of(value) for value in attribute.values]
    return f"{counted(len(names), 'value')}: {' · '.join(shortened(names))}"


def _buckets(partition: Partition, shares: Sequence[float] | None) -> list[Facts]:
    return [
        {
            "label": label,
            **({"named": True} if partition.name(b) else {}),
            "members": [*partition.behind(b)],  # a name, or the first few of many; the rest can be unfolded
            "share": None if shares is None else shares[b],
        }
        for b, label in enumerate(partition.labels)
    ]


class BucketTexts:
    """The buckets of many candidates, told once: candidates share most of their partitions."""

    def __init__(self) -> None:
        self.texts: list[list[str]] = []
        self._place: dict[tuple[str, ...], int] = {}

    def places(self, generalization: Generalization) -> list[int]:
        """Return for each attribute where its buckets stand in ``texts``."""
        return [self._of(partition) for partition in generalization.partitions]

    def _of(self, partition: Partition) -> int:
        texts = tuple(shortened(bucket_texts(partition)))
        if texts not in self._place:
            self._place[texts] = len(self.texts)
            self.texts.append(list(texts))
        return self._place[texts]
