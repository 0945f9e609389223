"""How many people give each answer: the shares that lie with a run.

They are counted once, when the records are at hand, of the test part, and say nothing about single records; so a
report can be made again, for another choice, without the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from leastwise.documents import from_text, read_text, to_text
from leastwise.errors import ArtefactError
from leastwise.generalization import Generalization
from leastwise.partition import Partition
from leastwise.records.table import Table
from leastwise.runs.folder import SHARES, Run

FORMAT = "leastwise-shares"
ByAttribute = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The share of people in each bucket, by the id of a candidate and the name of an attribute.

    Attributes
    ----------
    fingerprint, seed
        Of the records, and of the split whose test part was counted.
    candidates
        Of every candidate of the frontier, the attributes that are asked in buckets.
    """

    fingerprint: str
    seed: int
    candidates: Mapping[str, ByAttribute] = field(default_factory=dict)

    @classmethod
    def count(cls, run: Run, table: Table) -> Shares:
        """Count the answers of the people in the test part."""
        ids = [point.id for point in run.frontier.points]
        shares = {name: bucket_shares(run.generalization(name), table) for name in ids}
        return cls(fingerprint=run.task.fingerprint, seed=run.task.seed, candidates=shares)

    @classmethod
    def stored(cls, run: Run) -> Shares:
        """Read what lies with the run; nothing where there is none, or where it is about other records."""
        path = run.folder / SHARES
        nothing = cls(fingerprint=run.task.fingerprint, seed=run.task.seed)
        if not path.is_file():
            return nothing
        shares = from_text(cls, read_text(path), FORMAT, str(path))
        shares._check(run)
        return shares if (shares.fingerprint, shares.seed) == (nothing.fingerprint, nothing.seed) else nothing

    def of(self, candidate: str) -> ByAttribute:
        """Return the shares of a candidate; none where it was not counted."""
        return self.candidates.get(candidate, {})

    def to_json(self) -> str:
        """Return the document."""
        return to_text(self, FORMAT)

    def _check(self, run: Run) -> None:
        known = {point.id for point in run.frontier.points}
        for name in known & set(self.candidates):
            generalization = run.generalization(name)
            sizes = {p.attribute.name: p.size for p in generalization.partitions if _counted(p)}
            counts = {attribute: len(shares) for attribute, shares in self.of(name).items()}
            each = [share for shares in self.of(name).values() for share in shares]
            if counts != sizes or not all(0 <= share <= 1 for share in each):
                raise ArtefactError(
                    f"{run.folder / SHARES}: its shares do not fit the buckets of candidate {name}"
                )


def _counted(partition: Partition) -> bool:
    return not partition.suppressed and bool(partition.labels)


def bucket_shares(generalization: Generalization, table: Table) -> dict[str, tuple[float, ...]]:
    """Return for each attribute that is asked in buckets the share of people in each bucket."""
    shares, table = {}, table.each_once
    for j, partition in enumerate(generalization.partitions):
        if not _counted(partition):
            continue
        used = [0.0] * partition.size
        for bucket, count in zip(partition.bucket_map(table.levels[j]), table.use(j), strict=True):
            used[int(bucket)] += float(count)
        shares[partition.attribute.name] = tuple(count / table.people for count in used)
    return shares
