"""What is asked: the attributes of a record, and the label to predict from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from leastwise.errors import SchemaError, shorten
from leastwise.schema.attribute import Attribute, repeated
from leastwise.schema.names import Names
from leastwise.validation import did_you_mean


@dataclass(frozen=True)
class Schema:
    """The attributes of a record, and the label that is predicted from them.

    Examples
    --------
    >>> schema = Schema([Attribute("sex", values=("Female", "Male"), personal=True)])
    >>> schema["sex"].personal, schema.personal
    (True, ('sex',))
    """

    attributes: tuple[Attribute, ...]
    label: Attribute | None = None
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        names = self.names
        object.__setattr__(self, "_position", {name: j for j, name in enumerate(names)})
        problems = [f"attribute {shorten(name)} is declared twice" for name in repeated(names)]
        for each in self.labels:
            if each.name in self._position:
                problems.append(f"{shorten(each.name)} is the label and an attribute; it can be only one")
        if self.label is not None and self.label.continuous and self.label.extra_values:
            problems.append("a label that is a number must be known of everybody; take missing and other away")
        if problems:
            raise SchemaError("schema", problems)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def labels(self) -> tuple[Attribute, ...]:
        """What is predicted: nothing, one label, or several."""
        return () if self.label is None else self.label.parts

    @property
    def personal(self) -> tuple[str, ...]:
        """The names of the personal attributes (the paper's P)."""
        return tuple(attribute.name for attribute in self.attributes if attribute.personal)

    @property
    def has_trees(self) -> bool:
        """Whether any attribute has a hierarchy that minimizers must hold to."""
        return any(attribute.hierarchy is not None for attribute in self.attributes)

    def check_counted(self) -> None:
        """Refuse numbers, and several labels, to predict where the records stay in an engine that counts."""
        if len(self.labels) > 1:
            raise SchemaError(
                "several labels are judged record by record, and an engine counts records by class; read them "
                "into memory (a sample of them, as a file), or predict one label at a time"
            )
        if self.label is not None and self.label.continuous:
            raise SchemaError(
                f"{shorten(self.label.name)} is a number to predict, and an engine counts records by class; "
                "read them into memory (a sample of them, as a file), or make two classes of it there"
            )

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.position(name)]

    def position(self, name: str) -> int:
        """Return the place of an attribute; suggest the near miss when there is none of that name."""
        if name not in self._position:
            raise SchemaError(f"there is no attribute {shorten(name)}; {did_you_mean(name, self.names)}")
        return self._position[name]

    def with_personal(self, names: Iterable[str]) -> Schema:
        """Return the schema in which exactly these attributes are personal."""
        chosen = {self[name].name for name in names}
        return replace(self, attributes=tuple(replace(a, personal=a.name in chosen) for a in self.attributes))

    def with_names(self, names: Names) -> Schema:
        """Return the schema with names for some buckets, which count before those it has."""
        for name in names:
            self.position(name)
        named = (a.with_names(names[a.name]) if a.name in names else a for a in self.attributes)
        return replace(self, attributes=tuple(named))

    def with_attribute(self, attribute: Attribute) -> Schema:
        """Return the schema with the attribute of that name replaced."""
        j = self.position(attribute.name)
        return replace(self, attributes=(*self.attributes[:j], attribute, *self.attributes[j + 1 :]))
