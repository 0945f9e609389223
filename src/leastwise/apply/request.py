"""What is asked of a transformation, and what all kinds of frames have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leastwise.apply.answers import Family, Output, answers
from leastwise.apply.record import absent
from leastwise.apply.steps import Step
from leastwise.generalization import Generalization
from leastwise.partition import Unknown

Families = Mapping[str, Family]


@dataclass(frozen=True)
class Request:
    """A generalization, and how its answers shall look."""

    generalization: Generalization
    output: Output = "labels"
    unknown: Unknown = "error"
    suppressed: bool = False

    def steps(self, families: Families, api: Any) -> list[Step]:
        """Return how each asked attribute is answered; ``families`` tells what the frame's columns hold."""
        asked = [partition for partition in self.generalization.partitions if not partition.suppressed]
        for partition in asked:
            if partition.attribute.name not in families:
                raise absent(partition.attribute.name, families)
        return [Step(p, self.output, self.unknown, families[p.attribute.name], api) for p in asked]

    def finished(self, frame: Any, families: Families, api: Any) -> Any:
        """Leave the suppressed attributes out, or give each its one answer; their values are never looked at."""
        if not self.suppressed:
            return frame.drop(*self.generalization.not_collected, strict=False)
        dtype = api.Int32 if self.output == "codes" else None
        constants = []
        for name in self.generalization.not_collected:
            answer = answers(self.generalization[name], self.output, families.get(name, "other"))[0]
            constants.append(api.lit(answer, dtype=dtype).alias(name))
        return frame.with_columns(*constants) if constants else frame


def with_texts(frame: Any, schema: Mapping[str, Any], names: Iterable[str], api: Any) -> Any:
    """Return the frame with the categorical columns among these names as texts, which is how they are compared."""
    categories = [name for name in names if schema.get(name) in (api.Categorical, api.Enum)]
    return frame.with_columns(*(api.col(name).cast(api.String) for name in categories)) if categories else frame


def families_of(schema: Mapping[str, Any], api: Any) -> Families:
    """Return what the columns hold, as far as answers are concerned."""
    return {name: _family(dtype, api) for name, dtype in schema.items()}


def _family(dtype: Any, api: Any) -> Family:
    if dtype in (api.String, api.Categorical, api.Enum):
        return "text"
    if dtype == api.Boolean:
        return "bool"
    return "int" if dtype.is_integer() else "float" if dtype.is_float() else "other"
