"""Pictures as plain descriptions: what a page draws, a table can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.documents.wording import percent, percent_range

Facts = dict[str, Any]
ENDS = ("low", "high")
MOST_BARS = 24


def bar(label: str, value: float, interval: Sequence[float] | None = None, baseline: float | None = None) -> Facts:
    """Return one row of a picture: a share, its interval, and what it is held against.

    >>> bar("sex", 0.3, (0.2, 0.4))
    {'label': 'sex', 'value': 0.3, 'low': 0.2, 'high': 0.4, 'baseline': None}
    """
    low, high = interval or (None, None)
    return {"label": label, "value": value, "low": low, "high": high, "baseline": baseline}


def bars(axis: str, rows: Sequence[Facts], baseline: str = "") -> Facts:
    """Return a picture of horizontal bars; ``baseline`` names the marks they are held against."""
    return {"kind": "bars", "axis": axis, "names": {"baseline": baseline} if baseline else {}, "rows": list(rows)}


def bars_table(columns: Sequence[str], rows: Sequence[Facts]) -> Facts:
    """Return the table behind such a picture."""
    ranges = ["" if row["low"] is None else percent_range((row["low"], row["high"])) for row in rows]
    cells = [[row["label"], percent(row["value"], 1), told] for row, told in zip(rows, ranges, strict=True)]
    return {"columns": list(columns), "rows": cells}


def bars_of_section(given: Sequence[Mapping[str, Any]], axis: str = "") -> Facts:
    """Return the picture of a section of a check: single bars, or groups of the same names ("then" and "now").

    Of very many bars those that differ most are drawn, and that is noted; the table behind has them all.

    >>> bars_of_section([{"label": "age", "then": 0.2, "now": 0.3}])["series"]
    ['then', 'now']
    """
    picture = _single(given, axis) if "value" in given[0] else _groups(given, axis)
    rows = picture["rows"]
    if len(rows) <= MOST_BARS:
        return picture
    widest = sorted(range(len(rows)), key=lambda i: -_difference(rows[i]))[:MOST_BARS]
    note = f"Of {len(rows):,} the {MOST_BARS} that differ most are drawn; the table has all."
    return {**picture, "rows": [rows[i] for i in sorted(widest)], "note": note}


def _single(given: Sequence[Mapping[str, Any]], axis: str) -> Facts:
    rows = [{"label": each["label"], **_value(each), "baseline": each.get("baseline")} for each in given]
    return bars(axis, rows, "limit" if any(row["baseline"] is not None for row in rows) else "")


def _groups(given: Sequence[Mapping[str, Any]], axis: str) -> Facts:
    if "values" in given[0]:
        series = [value["name"] for value in given[0]["values"]]
        rows = [{"label": each["label"], "values": [_value(v) for v in each["values"]]} for each in given]
    else:
        series = ["then", "now"]
        rows = [{"label": each["label"], "values": [_at(each, name) for name in series]} for each in given]
    return {"kind": "groups", "axis": axis, "series": series, "rows": rows}


def _difference(row: Facts) -> float:
    """How much there is to see: the spread of a group, the distance of a single bar from its limit."""
    if "values" in row:
        values = [value["value"] for value in row["values"]]
        return float(max(values) - min(values))
    return abs(float(row["value"]) - float(row["baseline"] or 0.0))


def _at(each: Mapping[str, Any], name: str) -> Facts:
    low, high = each.get(f"{name}_interval") or (None, None)
    return {"value": each[name], "low": low, "high": high}


def _value(value: Mapping[str, Any]) -> Facts:
    return {"value": value["value"], **{end: value.get(end) for end in ENDS}}
