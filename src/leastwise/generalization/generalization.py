"""The artefact: one partition per attribute. Everything else makes it, applies it, judges it or shows it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastwise.documents import Path as Place
from leastwise.documents import Problems, read_text, write_whole
from leastwise.errors import ArtefactError, SchemaError, shorten
from leastwise.generalization import artefact, describe
from leastwise.partition import Partition, keep, suppress
from leastwise.schema import Attribute, Schema, Unknown
from leastwise.schema.names import Names

if TYPE_CHECKING:
    from leastwise.apply import Output


@dataclass(frozen=True, eq=False)
class Generalization:
    """What is asked of everyone: the buckets of each attribute (global, single-dimensional, strict).

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0, integer=True)
    >>> sex = Attribute("sex", values=("Female", "Male"), personal=True)
    >>> g = Generalization.of([Intervals(age, (19, 63))], [age, sex])
    >>> print(g.describe())
    Ask 1 of 2 attributes, 3 answers in all.
    <BLANKLINE>
    age
        0 to 19
        20 to 63
        64 or more
    <BLANKLINE>
    sex (personal)
        not asked
    >>> g.transform({"age": 30, "sex": "Male"})
    {'age': '20 to 63'}
    """

    partitions: tuple[Partition, ...]
    label: Attribute | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "partitions", tuple(self.partitions))
        object.__setattr__(self, "origin", dict(self.origin))
        _ = self.schema  # complains about repeated names

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether both ask the same of the same label; the domain of what is not asked does not count."""
        return isinstance(other, Generalization) and self.fingerprint == other.fingerprint

    @classmethod
    def of(cls, partitions: Iterable[Partition], attributes: Iterable[Attribute], **rest: Any) -> Generalization:
        """Build from the partitions of the attributes that are collected; all others are suppressed."""
        given = {partition.attribute.name: partition for partition in partitions}
        return cls(tuple(given.get(a.name) or suppress(a) for a in attributes), **rest)

    @classmethod
    def untouched(cls, schema: Schema) -> Generalization:
        """Return the limit point that asks everything."""
        return cls(tuple(keep(attribute) for attribute in schema.attributes), schema.label)

    @classmethod
    def suppressed(cls, schema: Schema) -> Generalization:
        """Return the limit point that asks nothing."""
        return cls(tuple(suppress(attribute) for attribute in schema.attributes), schema.label)

    @cached_property
    def schema(self) -> Schema:
        """The attributes with their declared domains, and the label."""
        return Schema(tuple(partition.attribute for partition in self.partitions), self.label)

    def __getitem__(self, name: str) -> Partition:
        return self.partitions[self.schema.position(name)]

    def __len__(self) -> int:
        return len(self.partitions)

    def replacing(self, partition: Partition) -> Generalization:
        """Return the generalization with the partition of that attribute replaced."""
        j = self.schema.position(partition.attribute.name)
        return replace(self, partitions=(*self.partitions[:j], partition, *self.partitions[j + 1 :]))

    def within(self, schema: Schema) -> Generalization:
        """Return the generalization with the domains of a schema for what is suppressed.

        An artefact does not publish these, so any domain of an attribute of that name, kind and role will do; all
        others must be the same.
        """
        if self.schema.attributes == schema.attributes:
            return self
        pairs = zip(self.partitions, schema.attributes, strict=False)
        fitted = tuple(suppress(a) if p.suppressed and _same_role(p.attribute, a) else p for p, a in pairs)
        differing = {p.attribute for p in (*fitted, *self.partitions[len(fitted) :])} ^ {*schema.attributes}
        if differing or tuple(p.attribute for p in fitted) != schema.attributes:
            names = sorted({shorten(attribute.name) for attribute in differing}) or ["their order"]
            raise SchemaError(f"the same attributes and domains are needed; {', '.join(names)} differ")
        return replace(self, partitions=fitted)

    def with_personal(self, personal: Sequence[str]) -> Generalization:
        """Return the generalization with exactly these attributes marked as personal; the buckets stay."""
        attributes = self.schema.with_personal(personal).attributes
        pairs = zip(self.partitions, attributes, strict=True)
        return replace(self, partitions=tuple(p.of_attribute(a) for p, a in pairs))

    def with_names(self, names: Names) -> Generalization:
        """Return the generalization with names for some buckets, by attribute; the buckets stay."""
        attributes = self.schema.with_names(names).attributes
        pairs = zip(self.partitions, attributes, strict=True)
        return replace(self, partitions=tuple(p.of_attribute(a) for p, a in pairs))

    @property
    def collected(self) -> tuple[str, ...]:
        """The attributes that are asked."""
        return tuple(p.attribute.name for p in self.partitions if not p.suppressed)

    @property
    def not_collected(self) -> tuple[str, ...]:
        """The attributes that are suppressed."""
        return tuple(p.attribute.name for p in self.partitions if p.suppressed)

    @property
    def total_buckets(self) -> int:
        """All buckets of all attributes, a suppressed one counted as one."""
        return sum(partition.size for partition in self.partitions)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what is published of label and buckets: equal for equal generalizations.

        Names of buckets have no part in it: what was judged and decided still holds when one is called otherwise.
        """
        unnamed = [partition.unnamed for partition in self.partitions]
        return hashlib.sha256(artefact.to_text(unnamed, self.label, {}).encode()).hexdigest()

    def is_coarser_than(self, other: Generalization) -> bool:
        """Return whether knowing the other's generalized record tells this one's (equal included)."""
        return all(mine.is_coarser_than(its) for mine, its in self.beside(other))

    def refine(self, *others: Generalization) -> Generalization:
        """Return what somebody knows who holds the generalized records of all: their common refinement."""
        joined = self
        for other in others:
            pairs = joined.beside(other)
            joined = Generalization(tuple(mine.refine(its) for mine, its in pairs), self.label)
        return joined

    def compare(self, other: Generalization) -> describe.Comparison:
        """Say what the other asks more or less finely."""
        pairs = self.beside(other)
        return describe.compare([mine for mine, _ in pairs], [its for _, its in pairs])

    def beside(self, other: Generalization) -> list[tuple[Partition, Partition]]:
        """Return the partitions of both in pairs; where only one asks, the domain is what that one says."""
        known = other.schema
        if self.schema.names == known.names:
            pairs = zip(self.partitions, other.partitions, strict=True)
            known = Schema(tuple((mine if its.suppressed else its).attribute for mine, its in pairs))
        mine, its = self.within(known), other.within(known)
        return [*zip(mine.partitions, its.partitions, strict=True)]

    def describe(self, markdown: bool = False) -> str:
        """Say in words what is asked."""
        return (describe.as_markdown if markdown else describe.as_text)(self.partitions)

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        heading = describe.heading(self.partitions).removeprefix("Ask ").rstrip(".")
        return f"<Generalization asks {heading.replace(' in all', '')}>"

    def _repr_html_(self) -> str:
        return describe.as_html(self.partitions)

    def transform(
        self,
        records: Any,
        output: Output = "labels",
        *,
        unknown: Unknown = "other",
        suppressed: bool | None = None,
        keep: Sequence[str] = (),
    ) -> Any:
        """Return the generalized records, as the kind of frame that came in, or as a dict for one dict.

        Parameters
        ----------
        records
            A pandas, Polars (eager or lazy), PyArrow, DuckDB or PySpark frame, or one record as a dict.
            Of its columns only the attributes and the label leave; see ``keep``.
        output
            ``labels`` (what people read), ``codes`` (numbers of the buckets) or ``representative`` (a fixed
            member of the bucket, so that a model made for full records can be fed).
        unknown
            A value outside the domain goes to "other" where the artefact declares that, and is an error elsewhere;
            ``error`` refuses it in either case.
        suppressed
            Whether suppressed attributes appear, as a constant; by default only with ``representative``.
        keep
            Other columns that may leave as they are. A column that nobody declared could tell exactly what the
            buckets hide (education in years beside education), so nothing else is passed on.
        """
        from leastwise.apply import transform

        return transform(self, records, output, unknown=unknown, suppressed=suppressed, keep=keep)

    def to_json(self) -> str:
        """Return the artefact as text; equal generalizations of equal origin and names give equal bytes."""
        return artefact.to_text(self.partitions, self.label, self.origin)

    @classmethod
    def from_json(cls, text: str) -> Generalization:
        """Read the artefact; an ``ArtefactError`` lists everything that is wrong with it."""
        partitions, label, origin = artefact.from_text(text)
        try:
            return cls(partitions, label, origin)
        except SchemaError as error:
            raise ArtefactError("not a generalization that can be trusted", error.problems) from None

    def to_document(self) -> dict[str, Any]:
        """Return the artefact as a plain mapping, for a document that holds it among other things."""
        return artefact.to_document(self.partitions, self.label, self.origin)

    @classmethod
    def from_document(cls, data: Any, path: Place, problems: Problems) -> Generalization | None:
        """Read such a mapping; note its problems and return None if there are any."""
        own = Problems()
        content = artefact.from_document(data, own)
        try:
            if content is not None and not own.texts:
                return cls(*content)
        except SchemaError as error:
            own.texts += error.problems
        for text in own.texts:
            problems.add(path, text)
        return None

    def save(self, path: str | Path) -> None:
        """Write the artefact to a file."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Generalization:
        """Read the artefact from a file."""
        return cls.from_json(read_text(path))


def _same_role(first: Attribute, second: Attribute) -> bool:
    return (first.name, first.kind, first.personal) == (second.name, second.kind, second.personal)
