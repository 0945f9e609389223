"""What is asked of a transformation, and what all kinds of frames have in common."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from leastwise.apply.record import Family, Output, absent, answers
from leastwise.apply.steps import PolarsStep, Step
from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.schema import Attribute, Unknown
from leastwise.schema.values import is_several, text_of

Families = Mapping[str, Family]


@dataclass(frozen=True)
class Request:
    """A generalization, and how its answers shall look."""

    generalization: Generalization
    output: Output = "labels"
    unknown: Unknown = "other"
    suppressed: bool = False
    keep: tuple[str, ...] = ()

    def leaving(self, names: Iterable[str]) -> list[str]:
        """Return which columns may leave: what is asked, the label, and what the caller keeps by name.

        Anything else stays behind. A column that nobody declared could tell exactly what the buckets hide.
        """
        columns = list(names)
        for name in self.keep:
            if name not in columns:
                raise absent(name, columns)
            if name in self.generalization.not_collected:
                raise ParameterError(f"{shorten(name)} is not collected; it cannot be kept as it is")
        allowed = {*self.generalization.collected, *self.keep, *(label.name for label in self.labels)}
        allowed |= set(self.generalization.not_collected) if self.suppressed else set()  # as a constant
        return [name for name in columns if name in allowed]

    def steps(self, families: Families, api: Any) -> list[Step]:
        """Return how each asked attribute is answered; ``families`` tells what the frame's columns hold."""
        asked = [partition for partition in self.generalization.partitions if not partition.suppressed]
        for partition in asked:
            name = partition.attribute.name
            if name not in families:
                raise absent(name, families)
        kind = PolarsStep if api is pl else Step
        return [kind(p, self.output, self.unknown, families[p.attribute.name], api) for p in asked]

    def check_labels(self, columns: Container[str], values_of: Callable[[str], Iterable[Any]]) -> None:
        """Refuse a label that the artefact does not declare: an exact income must not leave as a "label".

        ``values_of`` gives the distinct values of a column, where the records have it.
        """
        for label in self.labels:
            for value in values_of(label.name) if label.name in columns else ():
                if is_several(value) or text_of(value) is not None:
                    label.read(value)

    @property
    def labels(self) -> tuple[Attribute, ...]:
        """What is predicted: nothing, one label, or several."""
        return self.generalization.schema.labels

    def finished(self, frame: Any, families: Families, api: Any) -> Any:
        """Let go what may leave; a suppressed attribute stays behind, or leaves as a constant."""
        constants = self._constants(families, api) if self.suppressed else {}
        names = [*self.leaving(families), *(name for name in constants if name not in families)]
        if not names:
            raise ParameterError(
                "nothing would be left of the records: no attribute is collected and no column is kept; "
                "name one to keep, or have the suppressed ones written as constants (suppressed=True)"
            )
        frame = frame.with_columns(*constants.values()) if constants else frame
        return frame.select(*names)

    def _constants(self, families: Families, api: Any) -> dict[str, Any]:
        """Return the one answer of each suppressed attribute; its values are never looked at."""
        dtype = api.Int32 if self.output == "codes" else None
        constants = {}
        for name in self.generalization.not_collected:
            answer = answers(self.generalization[name], self.output, families.get(name, "other"))[0]
            constants[name] = api.lit(answer, dtype=dtype).alias(name)
        return constants


def with_texts(frame: Any, schema: Mapping[str, Any], names: Iterable[str], api: Any) -> Any:
    """Return the frame as values are compared: categories as texts, and short floats as the numbers they are."""
    kinds = (api.Categorical, api.Enum, getattr(api, "Null", api.Enum))  # an empty column has no type of its own
    known = [name for name in names if name in schema]
    cast = [api.col(name).cast(api.String) for name in known if schema[name] in kinds]
    cast += [api.col(name).cast(api.Float64) for name in known if schema[name] == api.Float32]
    return frame.with_columns(*cast) if cast else frame


def families_of(schema: Mapping[str, Any], api: Any) -> Families:
    """Return what the columns hold, as far as answers are concerned."""
    return {name: _family(dtype, api) for name, dtype in schema.items()}


def _family(dtype: Any, api: Any) -> Family:
    if dtype in (api.String, api.Categorical, api.Enum):
        return "text"
    if dtype == api.Boolean:
        return "bool"
    return "int" if dtype.is_integer() else "float" if dtype.is_float() else "other"
