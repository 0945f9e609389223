"""Applying a generalization: to one record, to frames of all kinds, to files of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from leastwise.apply.frames import transform_frame
from leastwise.apply.record import Output, transform_record
from leastwise.apply.request import Request
from leastwise.apply.stream import apply_file
from leastwise.generalization import Generalization
from leastwise.schema import Unknown
from leastwise.validation import check_choice

__all__ = ["Output", "apply_file", "transform"]


def transform(
    generalization: Generalization,
    records: Any,
    output: Output = "labels",
    *,
    unknown: Unknown = "other",
    suppressed: bool | None = None,
    keep: Sequence[str] = (),
) -> Any:
    """Return the generalized records; see :meth:`leastwise.Generalization.transform`.

    A lazy frame (Polars, DuckDB, Spark) is read once before the result is promised, to look for values outside
    the domain: one aggregate query, and a second one only if there are values to decide.
    """
    check_choice("output", output, get_args(Output))
    check_choice("unknown", unknown, get_args(Unknown))
    kept = output == "representative" if suppressed is None else suppressed
    request = Request(generalization, output, unknown, kept, tuple(keep))
    return (transform_record if isinstance(records, Mapping) else transform_frame)(request, records)
