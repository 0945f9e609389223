"""Every attack: a paragraph, a picture, and the table behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leastwise.documents.wording import percent
from leastwise.report.attacks import attack_facts
from tests.report.hand_made import SCHEMA, attacks, evaluation, generalizations

JUDGED = evaluation(generalizations(SCHEMA)[1], 0.2, 0.4)
FOUND = {attack["adversary"]: attack for attack in attack_facts(JUDGED)}


def test_each_adversary_has_a_paragraph_a_picture_and_a_table() -> None:
    assert list(FOUND) == ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"]
    for attack in FOUND.values():
        assert attack["scenario"]
        assert attack["finding"]
        assert attack["picture"]["kind"] in ("intervals", "curve", "bars")
        assert all(len(row) == len(attack["table"]["columns"]) for row in attack["table"]["rows"])


def test_errors_stand_beside_the_naive_guess_with_intervals() -> None:
    rows = FOUND["A1"]["picture"]["rows"]
    assert [(row["label"], row["value"], row["baseline"]) for row in rows] == [
        ("sex", 0.2, 0.25),
        ("job", 0.4, 0.5),
    ]
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
    assert FOUND["A1"]["table"]["rows"][0][:4] == ["sex", percent(0.2, 1), "19.0 to 21.0\u00a0%", percent(0.25, 1)]


def test_side_information_is_held_against_a1_and_against_no_breach() -> None:
    row = FOUND["A3"]["picture"]["rows"][1]
    assert (row["reference"], row["without"]) == (0.4, 0.3)
    assert "nothing stolen: 30.0\u00a0%" in FOUND["A3"]["finding"]
    assert "without" not in FOUND["A4"]["picture"]["names"]


def test_the_surest_guesses_are_a_curve_with_the_mean_first() -> None:
    picture = FOUND["A2"]["picture"]
    assert picture["x"] == [1.0, 10.0, 100.0]
    assert [series["name"] for series in picture["series"]] == ["mean over personal attributes", "sex", "job"]
    assert "Among the 1 % about whom it is surest (3 people for each attribute)" in FOUND["A2"]["finding"]


def test_linking_turns_errors_into_shares_linked() -> None:
    row = next(row for row in FOUND["A7"]["picture"]["rows"] if row["low"] is not None)
    assert row["label"] == "stolen records: balanced guesses"
    assert round(row["low"], 6) == 0.08
    assert round(row["high"], 6) == 0.12
    assert round(row["baseline"], 6) == 0.01


def test_asking_twice_has_a_price() -> None:
    assert "price of asking twice" in FOUND["A6"]["finding"]


def test_singling_out_counts_people() -> None:
    assert FOUND["A8"]["finding"].startswith("3 people are alone with a generalized record, among 300 people.")
    assert FOUND["A8"]["table"]["rows"][0] == ["fewer than 2", "3", "1.00\u00a0%"]


def test_an_attack_that_was_not_run_says_why() -> None:
    without = tuple(attack for attack in attacks(SCHEMA, 0.4) if attack.adversary not in ("A6", "A7"))
    found: dict[str, Any] = {a["adversary"]: a for a in attack_facts(replace(JUDGED, attacks=without))}
    assert found["A6"]["picture"] is None
    assert "needs a second generalization" in found["A6"]["finding"]
    assert found["A7"]["finding"] == "It was not run."
