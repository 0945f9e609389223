"""Pictures as plain descriptions."""

from __future__ import annotations

from leastwise.documents.pictures import MOST_BARS, bars_of_section


def test_of_very_many_bars_those_that_differ_most_are_drawn_in_their_order() -> None:
    given = [{"label": str(i), "then": 0.5, "now": 0.5 + 0.001 * i} for i in range(100)]
    picture = bars_of_section(given, "share")
    assert [row["label"] for row in picture["rows"]] == [str(i) for i in range(100 - MOST_BARS, 100)]
    assert picture["note"] == f"Of 100 the {MOST_BARS} that differ most are drawn; the table has all."


def test_few_bars_are_all_drawn() -> None:
    picture = bars_of_section([{"label": "a", "then": 0.1, "now": 0.2, "now_interval": [0.1, 0.3]}])
    then, now = picture["rows"][0]["values"]
    assert (then["low"], now["low"], now["high"]) == (None, 0.1, 0.3)
    assert "note" not in picture


def test_single_bars_are_held_against_their_limit() -> None:
    picture = bars_of_section([{"label": "a", "value": 0.1, "baseline": 0.2}, {"label": "b", "value": 0.3}])
    assert picture["names"] == {"baseline": "limit"}
    assert [row["baseline"] for row in picture["rows"]] == [0.2, None]
    assert bars_of_section([{"label": "a", "value": 0.1}])["names"] == {}


def test_groups_can_have_names_of_their_own() -> None:
    values = [{"name": name, "value": 0.1, "low": 0.0, "high": 0.2} for name in ("2023", "2024", "2025")]
    assert bars_of_section([{"label": "a", "values": values}])["series"] == ["2023", "2024", "2025"]
