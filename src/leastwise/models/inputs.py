"""Generalized records as numbers for a model: the bucket of each collected attribute."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.apply.record import MISSING_LABEL
from leastwise.errors import DataError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.schema import Attribute
from leastwise.schema.values import number_of, text_of
from leastwise.validation import did_you_mean

Matrix = npt.NDArray[np.float64]
HINT = "generalize them first (leastwise apply), or say that they are full records and are to be generalized here"


def as_polars(frame: Any) -> pl.DataFrame:
    """Return records of any kind of frame as a Polars frame."""
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise DataError(f"records must be a frame (pandas, Polars, PyArrow); got {type(frame).__name__}") from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    return eager.to_polars()


def encoded(generalization: Generalization, frame: pl.DataFrame) -> Matrix:
    """Return a row per record and a column per collected attribute: the number of its bucket.

    An untouched number stands for itself, and NaN for a missing one. Anything that is no label of a bucket is
    refused: a model of this package never sees full-granularity records.
    """
    asked = [p for p in generalization.partitions if not p.suppressed]
    if not asked:
        raise DataError("this generalization asks nothing, so there is nothing to predict from")
    for name in generalization.collected:
        if name not in frame.columns:
            raise DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, frame.columns)}")
    return np.column_stack([_numbers(partition, frame[partition.attribute.name]) for partition in asked])


def _numbers(partition: Partition, column: pl.Series) -> Matrix:
    known = column.cast(pl.String, strict=False).unique().to_list()
    texts = [text for text in known if text is not None]
    number_of_text = {text: _number(partition, text) for text in texts}
    wrong = {text for text, number in number_of_text.items() if number is None}
    if wrong or column.null_count():
        bad = column.cast(pl.String, strict=False).is_in(list(wrong)).fill_null(True)
        raise DataError(
            f"{partition.attribute.name}: each value must be the label of a bucket; {int(bad.sum()):,} of "
            f"{len(column):,} are not (the first in record {int(bad.arg_true()[0]) + 1:,}); {HINT}"
        )
    replaced = column.cast(pl.String).replace_strict(number_of_text, return_dtype=pl.Float64)
    return replaced.to_numpy().astype(np.float64)


def _number(partition: Partition, text: str) -> float | None:
    if not isinstance(partition, Untouched):
        labels = partition.labels
        return float(labels.index(text)) if text in labels else None
    attribute = partition.attribute
    if attribute.missing and text == MISSING_LABEL:
        return float("nan")
    number = number_of(text)
    return number if number is not None and attribute.contains(number) else None


def numbers_of(column: pl.Series) -> Matrix:
    """Return the number of each record, NaN where it has none."""
    texts = [text_of(value) for value in column.to_list()]
    numbers = np.array([np.nan if text is None else number_of(text) for text in texts], dtype=float)
    known = np.array([text is not None for text in texts], dtype=bool)
    strange = int((known & ~np.isfinite(numbers)).sum())
    if strange:
        raise DataError(f"{column.name}: each label must be a number; {strange:,} are not")
    return numbers


def classes_of(label: Attribute | None, column: pl.Series) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    """Return the classes and the class of each record, -1 where it has none."""
    texts = [text_of(value) for value in column.to_list()]
    if label is None:
        label = Attribute(str(column.name), values=tuple(sorted({text for text in texts if text is not None})))
    place, classes = label.code_of, label.values
    strange = sum(text is not None and text not in place for text in texts)
    if strange:
        raise DataError(f"{column.name}: each label must be one of {', '.join(classes)}; {strange:,} are not")
    codes = [-1 if text is None else place[text] for text in texts]
    return classes, np.asarray(codes, dtype=np.intp)
