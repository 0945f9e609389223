"""The frontier as facts."""

from __future__ import annotations

from typing import Any

from leastwise.runs import Run

Facts = dict[str, Any]


def test_points_run_from_everything_asked_to_nothing_asked(facts: Facts) -> None:
    points = facts["frontier"]["points"]
    assert [point["kind"] for point in points] == ["limit", "frontier", "frontier", "frontier", "limit"][
        : len(points)
    ]
    risks = [point["test"]["utility_risk"] for point in points]
    assert risks == sorted(risks)


def test_every_other_candidate_is_screened_and_has_no_test_figures(run: Run, facts: Facts) -> None:
    frontier = facts["frontier"]
    ids = {p["id"] for p in (*frontier["points"], *frontier["screened"])} - {"untouched", "suppressed"}
    assert ids == {candidate.id for candidate in run.candidates}
    assert all("test" not in point for point in frontier["screened"])


def test_a_point_tells_its_buckets_errors_and_certificate(facts: Facts) -> None:
    frontier = facts["frontier"]
    (chosen,) = (point for point in frontier["points"] if point["chosen"])
    texts = [frontier["texts"][place] for place in chosen["buckets"]]
    assert texts == [["0 to 33", "34 to 99"], ["Female", "Male"], ["not asked"]]
    assert [row["label"] for row in chosen["attacker"]] == ["sex", "job"]
    assert chosen["attacker"][0]["low"] < chosen["attacker"][0]["value"] < chosen["attacker"][0]["high"]
    assert any("nobody who sees only these generalized records" in text for text in chosen["certificate"])


def test_the_table_names_the_chosen_one(facts: Facts) -> None:
    (row,) = (row for row in facts["frontier"]["table"]["rows"] if "chosen" in row[0])
    assert row[0] == "knee · uniform (k 3) · chosen"
    assert row[1:4] == ["2", "4", "21.1\u00a0%"]


def test_the_search_is_told(facts: Facts) -> None:
    text = facts["frontier"]["search"]
    assert text.endswith("2 proposals were the same as an earlier one; 1 minimizer failed.")
