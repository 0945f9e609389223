"""From what scikit-learn passes around, frames and arrays, to records and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length

from leastwise.errors import DataError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Untouched
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.values import number_of, text_of
from leastwise.validation import did_you_mean

Frame = nw.DataFrame[Any]


class Records(NamedTuple):
    """The records of a frame or array.

    Attributes
    ----------
    frame
        The columns; those without names of their own (an array's) are x0, x1, ...
    by_name
        Whether the columns have names of their own.
    given
        What scikit-learn shall check the names and number of columns of.
    from_frame
        Whether they came as a frame.
    """

    frame: Frame
    by_name: bool
    given: Any
    from_frame: bool

    def select(self, names: Sequence[str]) -> Frame:
        """Return these columns; complain about one that is not there."""
        for name in names:
            if name not in self.frame.columns:
                raise DataError(
                    f"the records have no column {shorten(name)}; {did_you_mean(name, self.frame.columns)}"
                )
        return self.frame.select(*names)

    def renamed(self, names: Sequence[str]) -> Records:
        """Return the records with these names for their columns, by position."""
        if len(self.frame.columns) != len(names):
            raise DataError(f"the records must have {len(names)} columns; found {len(self.frame.columns)}")
        return self._replace(frame=self.frame.rename(dict(zip(self.frame.columns, names, strict=True))))


def read_records(X: Any) -> Records:
    """Return a frame (lazy ones are collected) or an array as records."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise DataError("two columns have the same name; rename one of them") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        array = check_array(X, dtype=None, ensure_all_finite=False)
        columns = {f"x{j}": pl.Series(_plain_column(array[:, j])) for j in range(array.shape[1])}
        return Records(nw.from_native(pl.DataFrame(columns), eager_only=True), False, array, False)
    if not len(frame) or not len(frame.columns):
        raise DataError(
            f"the records must have rows and columns; found {len(frame)} sample(s) and "
            f"{len(frame.columns)} feature(s) (shape={frame.shape}) while a minimum of 1 is required"
        )
    records = Records(frame, True, frame.to_native(), True)
    if all(isinstance(name, str) for name in frame.columns):
        return records
    return records.renamed([f"x{j}" for j in range(len(frame.columns))])._replace(by_name=False)


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


def schema_of_array(records: Frame) -> Schema:
    """Return the schema of an array: numbers without declared ends, texts with the values that occur."""
    attributes = []
    for column in records.iter_columns():
        if column.dtype.is_numeric():
            missing = bool(np.isnan(column.to_numpy()).any())
            attributes.append(Attribute(column.name, "continuous", missing=missing))
        else:
            values = sorted(text for text in column.unique().to_list() if text is not None)
            attributes.append(Attribute(column.name, values=tuple(values), missing=bool(column.is_null().any())))
    return Schema(tuple(attributes))


def labelled(table: Table, y: Any, label: Attribute | None) -> Table:
    """Return the table with the label of each record.

    Without a declared label its classes are the distinct texts, numbers in their order; fractions are a number to
    predict. It is named as the column is, or "label", made unlike every attribute.
    """
    values = column_or_1d(np.asarray(y), warn=True)
    fractions = values.dtype.kind == "f" and np.any(np.isfinite(values) & (values != np.floor(values)))
    texts = [text_of(value) for value in values.tolist()]
    if label is None:
        name = getattr(y, "name", None)
        name = name if isinstance(name, str) and name else "label"
        while name in table.schema.names:
            name += "_"
        label = Attribute(name, "continuous") if fractions else Attribute(name, values=_classes(texts))
    elif fractions and not label.continuous:
        raise DataError(
            "Unknown label type: the declared label has classes; found fractions, declare it continuous"
        )
    check_consistent_length(table.codes, texts)
    column = nw.from_native(pl.Series(label.name, texts, dtype=pl.String), series_only=True)
    return table.with_label([column], label)


def _classes(texts: Sequence[str | None]) -> tuple[str, ...]:
    distinct = sorted({text for text in texts if text is not None})
    if not distinct:
        raise DataError("the label is missing in all records")
    numbers = {text: number_of(text) for text in distinct}
    return tuple(distinct if None in numbers.values() else sorted(distinct, key=lambda text: numbers[text] or 0.0))


def buckets(generalization: Generalization, records: Frame) -> npt.NDArray[Any]:
    """Return the buckets of the records, n x d; what is suppressed is 0, what is untouched stays a number."""
    asked = [j for j, partition in enumerate(generalization.partitions) if not partition.suppressed]
    partitions = [generalization.partitions[j] for j in asked]
    table = Table.from_frame(records, Schema(tuple(partition.attribute for partition in partitions)))
    exact = any(isinstance(partition, Untouched) for partition in partitions)
    result = np.zeros((len(records), len(generalization)), dtype=float if exact else np.int64)
    for place, (j, partition) in enumerate(zip(asked, partitions, strict=True)):
        levels = table.levels[place]
        if isinstance(partition, Untouched):
            outcome = np.append(levels, [np.nan] * partition.attribute.extra_values)
        else:
            outcome = np.asarray(partition.bucket_map(levels))
        result[:, j] = outcome[table.codes[:, place]]
    return result
