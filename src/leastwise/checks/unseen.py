"""Values that the declared domain does not have: people for whom the form would have no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.errors import DataError, UnknownValueError
from leastwise.records.encoding import known, mapped
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class NewRecords:
    """New records as a table; those with a value outside the domain are counted and left out.

    Attributes
    ----------
    table
        The records that the schema can hold.
    people
        How many records there were in all.
    unseen
        By attribute (or label), how many records had a value that its domain does not have.
    """

    table: Table
    people: int
    unseen: Mapping[str, int] = field(default_factory=dict)


def read_new(frame: pl.DataFrame, schema: Schema) -> NewRecords:
    """Encode records that may hold values nobody declared; a label that has not arrived is left out."""
    if schema.label is not None and schema.label.name not in frame.columns:
        schema = replace(schema, label=None)
    try:
        return NewRecords(Table.from_frame(frame, schema), frame.height)
    except UnknownValueError:
        pass  # the usual case costs nothing; from here on the strange values are looked for one by one
    declared = [*schema.attributes] + ([schema.label] if schema.label else [])
    masks = {attribute.name: strange_values(frame, attribute) for attribute in declared}
    kept = ~np.any(list(masks.values()), axis=0)
    if not kept.any():
        worst = max(masks, key=lambda name: int(masks[name].sum()))
        raise DataError(
            f"no record fits the schema: {int(masks[worst].sum()):,} of {frame.height:,} have a value of {worst} "
            "that its domain does not have; is it the right file, and are its marks for 'no answer' named?"
        )
    # Those without one count too: how many questions are asked must not depend on the answers.
    unseen = {name: int(mask.sum()) for name, mask in masks.items()}
    return NewRecords(Table.from_frame(frame.filter(kept), schema), frame.height, unseen)


def strange_values(frame: pl.DataFrame, attribute: Attribute) -> npt.NDArray[np.bool_]:
    """Return which records have a value that the domain of an attribute does not have."""
    column = nw.from_native(frame[attribute.name], series_only=True)
    return np.asarray(mapped(column, lambda value: _strange(value, attribute)), dtype=bool)


def _strange(value: Any, attribute: Attribute) -> bool:
    try:
        known(value, attribute)
    except UnknownValueError:
        return True
    return False
