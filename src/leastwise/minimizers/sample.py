"""From what scikit-learn passes around, frames and arrays, to records and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length

from leastwise.encoding import encode_label
from leastwise.errors import DataError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Untouched
from leastwise.schema import Attribute, Schema
from leastwise.table import Table
from leastwise.values import number_of, text_of

Frame = nw.DataFrame[Any]


def read_records(X: Any) -> Frame:
    """Return a frame or array as a frame; the columns of an array are named x0, x1, ..."""
    records = nw.from_native(X, pass_through=True)
    if isinstance(records, nw.LazyFrame):
        records = records.collect()
    if not isinstance(records, nw.DataFrame):
        return _frame_of_array(check_array(X, dtype=None, ensure_all_finite=False))
    if not len(records) or not len(records.columns):
        raise DataError(
            f"the records must have rows and columns; found {len(records)} sample(s) and "
            f"{len(records.columns)} feature(s) (shape={records.shape}) while a minimum of 1 is required"
        )
    return records


def _frame_of_array(array: npt.NDArray[Any]) -> Frame:
    columns = {f"x{j}": pl.Series(_plain_column(array[:, j])) for j in range(array.shape[1])}
    return nw.from_native(pl.DataFrame(columns), eager_only=True)


def _plain_column(column: npt.NDArray[Any]) -> npt.NDArray[np.float64] | list[str | None]:
    """Return numbers where all values are numbers (also as objects), their texts otherwise."""
    if column.dtype.kind in "biuf":
        return column.astype(float)
    texts = [text_of(value) for value in column.tolist()]
    if not any(isinstance(value, str) for value in column.tolist()):
        numbers = [np.nan if text is None else number_of(text) for text in texts]
        if None not in numbers:
            return np.asarray(numbers, dtype=float)
    return texts


def named(records: Frame, names: Sequence[str]) -> Frame:
    """Return the columns under these names: found by name where all are there, by position otherwise."""
    if set(names) <= set(records.columns):
        return records.select(*names)
    if any(isinstance(name, str) and name in names for name in records.columns):
        absent = [name for name in names if name not in records.columns]
        raise DataError(f"the records have no column {shorten(absent[0])}; they must have every attribute")
    if len(records.columns) != len(names):
        raise DataError(f"the records must have {len(names)} columns; found {len(records.columns)}")
    return records.rename(dict(zip(records.columns, names, strict=True)))


def numeric_schema(records: Frame) -> Schema:
    """Return the schema of an array: numbers without declared ends, texts with the values that occur."""
    return Schema(tuple(_attribute_of(records[name]) for name in records.columns))


def _attribute_of(column: nw.Series[Any]) -> Attribute:
    if column.dtype.is_numeric():
        missing = bool(np.isnan(column.to_numpy()).any())
        return Attribute(column.name, "continuous", missing=missing)
    values = sorted(text for text in column.unique().to_list() if text is not None)
    return Attribute(column.name, values=tuple(values), missing=bool(column.is_null().any()))


def labels_as_text(y: Any) -> list[str | None]:
    """Return the label of each record as a text; numbers that are no classes are refused."""
    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind == "f" and np.any(np.isfinite(values) & (values != np.floor(values))):
        raise DataError("Unknown label type: the label must be classes; found fractions, put them into classes")
    return [text_of(value) for value in values.tolist()]


def label_attribute(texts: Sequence[str | None], name: str) -> Attribute:
    """Return the label whose classes are the distinct texts, numbers in their order."""
    distinct = sorted({text for text in texts if text is not None})
    numbers = {text: number_of(text) for text in distinct}
    if None not in numbers.values():
        distinct.sort(key=lambda text: numbers[text] or 0.0)
    if not distinct:
        raise DataError("the label is missing in all records")
    return Attribute(name, values=tuple(distinct))


def with_labels(table: Table, texts: Sequence[str | None], label: Attribute) -> Table:
    """Return the table with the class of each record."""
    check_consistent_length(table.codes, texts)
    column = nw.from_native(pl.Series(label.name, texts, dtype=pl.String), series_only=True)
    return replace(table, schema=Schema(table.schema.attributes, label), labels=encode_label(column, label))


def label_name(y: Any, taken: Sequence[str]) -> str:
    """Return the name that the label column has, or "label", made unlike every attribute's."""
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "label"
    while name in taken:
        name += "_"
    return name


def buckets(generalization: Generalization, records: Frame) -> npt.NDArray[Any]:
    """Return the buckets of the records, n x d; what is suppressed is 0, what is untouched stays a number."""
    asked = [j for j, partition in enumerate(generalization.partitions) if not partition.suppressed]
    partitions = [generalization.partitions[j] for j in asked]
    table = Table.from_frame(records, Schema(tuple(partition.attribute for partition in partitions)))
    exact = any(isinstance(partition, Untouched) for partition in partitions)
    result = np.zeros((len(records), len(generalization)), dtype=float if exact else np.int64)
    for place, j in enumerate(asked):
        result[:, j] = _outcome(partitions[place], table.levels[place])[table.codes[:, place]]
    return result


def _outcome(partition: Any, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what each code becomes."""
    if isinstance(partition, Untouched):
        return np.append(levels, [np.nan] * partition.attribute.extra_values)
    return np.asarray(partition.bucket_map(levels))
