"""The frontier as facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leastwise.report.frontier import frontier_facts
from leastwise.report.task import search_sentence
from leastwise.runs import Run
from leastwise.runs.candidates import words_of
from leastwise.runs.shares import Shares

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
    assert row[0] == "candidate 2 · knee · chosen"
    assert row[1:4] == ["2", "4", "21.1\u00a0%"]
    assert row[-2] == "uniform (k 3)"
    assert row[-1] == next(point["id"] for point in facts["frontier"]["points"] if point["chosen"])


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 2), min_size=3, max_size=3), st.integers(0, 2))
def test_the_line_joins_only_what_nothing_beats_on_test(
    run: Run, errors: list[tuple[int, int]], other: int
) -> None:
    """Whatever the test part says: a joined point is beaten by no other one, and the line never turns back."""
    front = run.frontier
    points = [
        replace(point, tested=replace(point.test, utility_risk=risk / 40, adversary_error=error / 40))
        for point, (risk, error) in zip(front.points, errors, strict=True)
    ]
    chosen = replace(run.choice, candidate=points[other].id)
    run = replace(run, frontier=replace(front, points=tuple(points)), choice=chosen)
    shown = frontier_facts(run, Shares.stored(run))
    figures = [(point["test"]["utility_risk"], point["test"]["adversary_error"]) for point in shown["points"]]
    joined = [figures[i] for i in shown["line"]]
    for risk, error in joined:
        assert not any((r < risk and e >= error) or (r <= risk and e > error) for r, e in figures)
    assert joined == sorted(joined)
    assert [error for _, error in joined] == sorted(error for _, error in joined)
    assert all(any(r <= risk and e >= error for r, e in joined) for risk, error in figures)


def test_a_candidate_has_a_name_for_people_and_a_command_to_copy(facts: Facts) -> None:
    points = facts["frontier"]["points"]
    assert [point["title"] for point in points] == [
        "everything asked in full",
        "candidate 1",
        "candidate 2 · knee",
        "candidate 3",
        "nothing asked",
    ]
    assert points[1]["command"] == f"leastwise choose run --candidate {points[1]['id']}"
    assert points[0]["command"] == facts["frontier"]["screened"][0]["command"] == ""


def test_no_minimizer_has_the_name_of_what_is_chosen() -> None:
    assert words_of("recommended", {"by": "coarsening"}) == "combined search (by coarsening)"


def test_the_search_is_told(facts: Facts) -> None:
    text = facts["frontier"]["search"]
    assert text.endswith("2 proposals were the same as an earlier one; 1 minimizer failed.")


def test_in_a_quick_run_not_every_attack_is_said_to_be_on_all(run: Run) -> None:
    some = replace(run.frontier, thinned=3)
    assert "3 candidates of the frontier were left out: the rest were attacked in full" in search_sentence(
        some, False
    )
    quick = search_sentence(some, True)
    assert "in full" not in quick
    assert "left out: the rest were attacked, though by A3, A4 and A5 at most what is chosen" in quick
