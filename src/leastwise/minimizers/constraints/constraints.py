"""What practitioners must hold to: legal edges, values that stay together or apart, limits and floors.

Constraints speak of attributes and raw values. They are checked against the schema at once, all problems
together; what only the records can tell (a floor that an edge makes impossible) is told by the program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from leastwise.errors import ParameterError
from leastwise.schema import Attribute, Schema
from leastwise.schema.values import text_of
from leastwise.validation import did_you_mean


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Conditions that the optimal partition is found under.

    Parameters
    ----------
    max_buckets
        By attribute, its largest number of buckets.
    max_buckets_in_all
        The largest sum of buckets over all attributes, a suppressed one counted as one.
    edges
        By continuous attribute, edges that must stay (``{"age": [17, 64]}``: up to 17, 18 to 64, 65 or more).
    suppressed, untouched
        Attributes that must not be collected, or must be collected in full.
    together, apart
        By attribute, lists of values that must share a bucket, or of which no two may share one. None stands
        for "missing". On a continuous or ordinal attribute, values together take all between them along.
    min_people
        No bucket may be used by fewer training records.

    Examples
    --------
    >>> Constraints(edges={"age": [17, 64]}, suppressed=["race"], min_people=100).min_people
    100
    """

    max_buckets: Mapping[str, int] = field(default_factory=dict)
    max_buckets_in_all: int | None = None
    edges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    suppressed: Sequence[str] = ()
    untouched: Sequence[str] = ()
    together: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    apart: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    min_people: float = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to hold to."""
        return not any(getattr(self, each.name) for each in fields(self))

    def check(self, schema: Schema) -> None:
        """Raise a ``ParameterError`` that lists everything that does not fit the schema."""
        problems = [*self._name_problems(schema), *self._number_problems(schema)]
        if not problems:
            problems = [*self._value_problems(schema), *self._contradictions()]
        if not problems:
            problems = [text for attribute in schema.attributes for text in self._impossible(attribute)]
        if problems:
            raise ParameterError("the constraints do not fit: " + "; ".join(problems))

    def _name_problems(self, schema: Schema) -> list[str]:
        parts = (self.max_buckets, self.edges, self.suppressed, self.untouched, self.together, self.apart)
        names = dict.fromkeys(name for part in parts for name in part)
        return [
            f"there is no attribute {name!r}, {did_you_mean(str(name), schema.names)}"
            for name in names
            if name not in schema.names
        ]

    def _number_problems(self, schema: Schema) -> list[str]:
        limits = {f"max_buckets of {name}": limit for name, limit in self.max_buckets.items()}
        problems = [f"{name} must be at least 1, got {limit}" for name, limit in limits.items() if limit < 1]
        in_all = self.max_buckets_in_all
        if in_all is not None and in_all < len(schema):
            problems.append(f"max_buckets_in_all must be at least 1 per attribute, {len(schema)}; got {in_all}")
        if self.min_people < 0:
            problems.append(f"min_people must not be negative, got {self.min_people}")
        return problems

    def _value_problems(self, schema: Schema) -> list[str]:
        problems = []
        for name, edges in self.edges.items():
            attribute = schema[name]
            if not attribute.continuous:
                problems.append(f"edges are for continuous attributes, {name} is {attribute.kind}")
            low = -math.inf if attribute.lower is None else attribute.lower
            high = math.inf if attribute.upper is None else attribute.upper
            problems += [f"edge {e} of {name} lies outside its domain" for e in edges if not low <= e < high]
            torn = [e for e in edges if attribute.integer and not float(e).is_integer()]
            problems += [f"edge {e} of {name} must be whole, as its numbers are" for e in torn]
        for part in (self.together, self.apart):
            for name, lists in part.items():
                unknown = [v for values in lists for v in values if not _known(schema[name], v)]
                problems += [f"{_shown(v)} is no value of {name}" for v in unknown]
        return problems

    def _contradictions(self) -> list[str]:
        problems = [
            f"{name} cannot be suppressed and untouched" for name in sorted({*self.suppressed} & {*self.untouched})
        ]
        parting = {name for name in self.apart if any(len(values) > 1 for values in self.apart[name])}
        parting |= {name for name in self.edges if len(self.edges[name])}
        problems += [f"{name} cannot be suppressed and parted" for name in sorted({*self.suppressed} & parting)]
        return problems

    def _impossible(self, attribute: Attribute) -> Iterator[str]:
        """Yield why no partition of an attribute can hold to what is said of it."""
        name = attribute.name
        most, edges = self.max_buckets.get(name), self.edges.get(name, ())
        together = [values for values in self.together.get(name, ()) if len(values) > 1]
        if name in self.untouched and together:
            yield f"{name} cannot be untouched with values together"
        size = math.inf if attribute.continuous else len(attribute.values) + attribute.extra_values
        if name in self.untouched and most is not None and size > most:
            yield f"{name} cannot be untouched and have at most {most} buckets"
        if most is not None and len({*edges}) + 1 > most:
            yield f"{name} cannot have at most {most} buckets with {len({*edges})} edges that must stay"
        for values in together:
            yield from self._parted(attribute, values)

    def _parted(self, attribute: Attribute, together: Sequence[Any]) -> Iterator[str]:
        """Yield what parts values that must be together."""
        name = attribute.name
        for values in self.apart.get(name, ()):
            both = {*map(text_of, values)} & {*map(text_of, together)}
            if len(both) > 1:
                yield f"{', '.join(sorted(map(_shown, both)))} of {name} cannot be together and apart"
        numbers = [float(value) for value in together if attribute.continuous and text_of(value) is not None]
        for edge in self.edges.get(name, ()) if numbers else ():
            if min(numbers) <= edge < max(numbers):
                yield f"the edge {edge:g} of {name} parts values that must be together"


def _shown(value: Any) -> str:
    return "missing" if text_of(value) is None else repr(value)


def _known(attribute: Attribute, value: Any) -> bool:
    if text_of(value) is None:
        return attribute.missing
    if attribute.continuous:
        return isinstance(value, (int, float)) and attribute.contains(float(value))
    return text_of(value) in attribute.code_of
