"""What one column of an engine holds: which values, how often, and the code of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.records.sources.plan import Family
from leastwise.schema import Attribute

Codes = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Domain:
    """What one column holds: its raw values, how often each occurs, and the code of each."""

    attribute: Attribute
    family: Family
    values: pl.DataFrame
    levels: npt.NDArray[Any]

    @property
    def by_number(self) -> bool:
        """Whether its buckets are found by comparing numbers."""
        return self.attribute.continuous and self.family in ("int", "float")

    def with_numbers(self, numbers: npt.NDArray[Any]) -> Domain:
        """Return it with more numbers."""
        levels = np.union1d(self.levels, numbers)
        if len(levels) == len(self.levels):
            return self
        extras = len(levels) + np.arange(self.attribute.extra_values)
        code_of = np.concatenate([np.searchsorted(levels, self.levels), extras]).astype(np.intp)
        codes = pl.Series("code", code_of[self.values["code"].to_numpy().astype(np.intp)])
        return replace(self, levels=levels, values=self.values.with_columns(codes))

    def codes(self, raw: pl.Series) -> Codes:
        """Return the code of each raw value, -1 for one that was not there before."""
        known = self.values.select("value", "code")  # a column of which only nulls are fetched has no type
        matched = pl.DataFrame({"value": raw.cast(known["value"].dtype)}).join(
            known, on="value", how="left", nulls_equal=True, maintain_order="left"
        )
        return matched["code"].fill_null(-1).to_numpy().astype(np.intp)
