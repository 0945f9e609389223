"""What a report says, as plain facts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leastwise import Schema
from leastwise.adversaries.reconstruction import HighCertaintyResult
from leastwise.documents.wording import percent
from leastwise.predictors.held_out import Difference
from leastwise.report import render_html, render_markdown, summarize
from leastwise.report.answer import shown_id
from leastwise.report.facts import attack_facts, certificate_facts
from leastwise.report.page import report_page
from leastwise.runs import Run
from leastwise.runs.showing import CHOSEN_AS_NEAREST
from tests.report.hand_made import (
    AGE,
    DESCRIPTION,
    PAY,
    SCHEMA,
    SEX,
    attacks,
    certificate,
    evaluation,
    generalizations,
    write_run,
)

Facts = dict[str, Any]


def test_facts_are_plain_json(facts: Facts) -> None:
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["format"] == "leastwise-report"


def test_the_same_run_gives_the_same_facts(run: Run, facts: Facts) -> None:
    assert summarize(Run.load(run.folder)) == facts


def test_the_answer_comes_first_in_plain_sentences(facts: Facts) -> None:
    questions, cost, attacker, mean, alone = (text.replace("\u00a0", " ") for text in facts["answer"]["sentences"])
    assert questions == (
        "Ask 2 of 3 questions, 4 answers instead of 109: age in 2 ranges and sex in full; do not ask job."
    )
    assert alone == (
        "3 people are alone with a generalized record, among 300 people tested: all answers together single them "
        "out, also those that are not declared personal."
    )
    assert (
        cost == "The model errs 8.6 points more than with full records (21.1 % against 12.5 %, 300 people tested)."
    )
    assert attacker.startswith(
        "An attacker who steals the records is right about job for 60 % of the people tested; "
    )
    assert "guessing without them, for 50 %" in attacker
    assert "of both personal attributes it gets 30 % wrong on average, guessing 38 %" in mean


def test_whether_test_confirms_the_limit_is_said(run: Run) -> None:
    promise = replace(run.choice.verdicts[0], standing="probably kept", finding="as far as 300 people tell")
    answer = summarize(replace(run, choice=replace(run.choice, verdicts=(promise,))))["answer"]
    assert answer["why"] == f"{run.choice.sentence} Probably kept on the test part: as far as 300 people tell."
    assert answer["misses"] == []


def test_what_noise_can_explain_is_said_once(run: Run) -> None:
    promise = replace(run.choice.verdicts[0], standing="probably missed", finding="a little more")
    answer = summarize(replace(run, choice=replace(run.choice, verdicts=(promise,))))["answer"]
    assert "a little more, which noise can explain" in answer["why"]
    assert answer["misses"] == []


def test_a_budget_missed_on_the_test_part_is_said(facts: Facts) -> None:
    assert facts["answer"]["misses"] == [
        "the model errs 2.1 points more than with everything asked, allowed is 2.0"
    ]


def test_sentences_about_single_people_are_left_out_unless_asked_for(run: Run, facts: Facts) -> None:
    assert DESCRIPTION not in json.dumps(facts)
    told = facts["attacks"][-1]["finding"]
    assert "holds 1 sentence that describes the rarest" in told
    assert f"{DESCRIPTION}: 1 person" in summarize(run, predicates=True)["attacks"][-1]["predicates"]


def test_without_a_candidate_that_fits_the_report_is_about_the_nearest(tmp_path: Path) -> None:
    run = write_run(tmp_path / "first")
    nearest = run.frontier.points[0].id
    changes = {"candidate": None, "fits": False, "binding": ("too many answers",), "nearest": nearest}
    run = write_run(tmp_path / "second", choice=changes)
    facts = summarize(run)
    assert shown_id(run) == nearest
    assert facts["answer"]["fits"] is False
    assert facts["answer"]["binding"] == ["too many answers"]
    assert [point["id"] for point in facts["frontier"]["points"] if point["nearest"]] == [nearest]


def test_where_nothing_fits_nothing_is_called_chosen(nothing: Run) -> None:
    facts, nearest = summarize(nothing), nothing.choice.nearest
    answer = facts["answer"]
    assert (answer["chosen"], answer["nearest"]) == (None, nearest)
    assert not any(point["chosen"] for point in facts["frontier"]["points"])
    assert not any("chosen" in cell for row in facts["frontier"]["table"]["rows"] for cell in row)
    assert [row[-1] for row in facts["frontier"]["table"]["rows"] if "nearest, does not fit" in row[0]] == [
        nearest
    ]
    first, why_not, would = answer["sentences"]
    assert first.startswith(
        "Nothing is recommended. Of 3 candidates none keeps what was stated: the model errs at"
    )
    assert why_not.startswith(
        f"Nearest comes candidate 2 ({nearest}). On the validation part it does not fit: the"
    )
    assert would.startswith(
        "It would ask 2 of 3 questions, with 4 answers in all: age in 2 ranges and sex in full; "
    )
    assert nearest is not None
    assert nearest in answer["about"]
    assert answer["about"].endswith("does not fit and was not chosen")
    assert any("none was chosen" in text for text in facts["limits"])
    assert ["recommended", "nothing; the nearest follows"] in facts["provenance"]


def test_what_is_only_the_nearest_is_nowhere_called_just_chosen(tmp_path: Path) -> None:
    """No limit was stated, and nothing keeps the one that holds then."""
    nearest = write_run(tmp_path / "first").frontier.points[0].id
    run = write_run(tmp_path / "run", choice={"candidate": nearest, "nearest": nearest, "stated": False})
    assert run.choice.only_nearest
    facts = summarize(run)
    named = [point for point in facts["frontier"]["points"] if point["called"]]
    assert [(point["id"], point["called"]) for point in named] == [(nearest, CHOSEN_AS_NEAREST)]
    page = report_page(facts)
    assert page["back_to"] == "nearest"
    called = [name for name in page["frontier"]["names"] if "chosen" in name]
    assert len(called) == 1
    assert f", {CHOSEN_AS_NEAREST}: model wrong" in called[0]


def test_where_nothing_fits_no_command_is_named_that_is_refused(nothing: Run) -> None:
    facts = summarize(nothing)
    assert "leastwise necessity" not in json.dumps(facts)
    assert [text.partition(": ")[2] for text in facts["answer"]["ways_on"]] == [
        "leastwise choose run --max-error-increase 0.085",
        f"leastwise choose run --candidate {nothing.choice.nearest} --max-error-increase 0.001",
    ]


def test_where_something_fits_nothing_is_said_of_the_nearest(facts: Facts) -> None:
    assert (facts["answer"]["about"], facts["answer"]["ways_on"]) == ("", [])
    assert not any(point["nearest"] for point in facts["frontier"]["points"])


def test_one_personal_attribute_is_not_averaged(tmp_path: Path) -> None:
    facts = summarize(write_run(tmp_path / "run", Schema((AGE, SEX), PAY)))
    assert not any("on average" in sentence for sentence in facts["answer"]["sentences"])
    assert facts["attacks"][0]["finding"].startswith("About the one attribute this attacker is wrong")


def test_drift_is_told_only_when_there_is_some(run: Run, facts: Facts) -> None:
    assert facts["drift"] is None
    drift = {"title": "Check", "verdict": "fine", "reasons": [], "sections": []}
    assert summarize(run, drift=drift)["drift"] == drift


def test_a_certificate_that_promises_nothing_says_so() -> None:
    empty = certificate_facts(replace(certificate(SCHEMA, 0.3), alone=0.95))
    assert empty is not None
    assert empty["vacuous"]
    assert empty["picture"] is None
    assert "Nothing can be promised" in empty["sentences"][0]
    assert certificate_facts(None) is None


def test_bounds_are_told_as_a_table_and_a_picture(facts: Facts) -> None:
    found = facts["certificate"]
    assert [row[0] for row in found["table"]["rows"]] == ["sex", "job", "mean over personal attributes"]
    assert len(found["sentences"]) == 3
    assert found["picture"]["rows"][0]["baseline"] == 0.5


def test_no_bound_of_the_table_is_rounded_in_its_own_favour() -> None:
    promised = certificate(SCHEMA, 0.3)
    bounds = (replace(promised.bounds[0], bound=0.7741, bound_all=0.99961), *promised.bounds[1:])
    found = certificate_facts(replace(promised, bounds=bounds), replace(promised, bounds=bounds))
    assert found is not None
    _, alone, together, _, deployed = found["table"]["rows"][0]
    assert (alone, together, deployed) == ("77.5\xa0%", "100.0\xa0%", "77.5\xa0%")


@pytest.mark.parametrize(
    "what", ["people.csv", "0" * 64, "uniform (k 3), seed 0", "1.2.3", "apt: too few records"]
)
def test_how_it_was_made_is_complete(facts: Facts, what: str) -> None:
    assert what in [value for _, value in facts["provenance"]]


def test_the_honest_limits_name_the_quick_run(facts: Facts) -> None:
    assert any(sentence.startswith("This was a quick run") for sentence in facts["limits"])


def test_why_each_question_is_asked(facts: Facts) -> None:
    asked, unasked, between = facts["necessity"]["tables"]
    assert asked["rows"] == [
        ["age", "buys nothing that these records can tell", "0.00 (-1.00 to 1.00)", "10.0", "in 2 groups"],
        ["sex", "needed", "2.00 (1.00 to 3.00)", "10.0 (about sex 20.0)", "in 2 groups"],
    ]
    assert [row[0] for row in unasked["rows"]] == ["job"]
    assert between["rows"][0][-1] == "low | high"
    assert facts["necessity"]["sentences"][1] == (
        "Leaving out sex costs 2.00 points (1.00 to 3.00); A1 would err 10.0 points more and about sex "
        "20.0 points more. Needed."
    )


def test_what_was_not_found_is_not_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run.folder / "necessity.json").unlink()
    found = summarize(run)["necessity"]
    assert found["tables"] == []
    assert "leastwise necessity RUN RECORDS" in found["method"]


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
    # Of three people nobody is wrong about .3 % of the time: it is equally sure of more.
    assert "Of people about whom it is equally sure, any are meant" in FOUND["A2"]["finding"]
    told = next(each for each in attacks(SCHEMA, 0.4) if isinstance(each, HighCertaintyResult))
    first = replace(told.points[0], errors=(0.0, 1 / 3))
    assert "equally sure" not in replace(told, points=(first, *told.points[1:])).told().finding


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
    assert "of more records, a smaller share of the people would be alone" in FOUND["A8"]["finding"]
    assert FOUND["A8"]["table"]["rows"][0] == ["fewer than 2", "3", "1.00\u00a0%"]


def test_an_attack_that_was_not_run_says_why() -> None:
    without = tuple(attack for attack in attacks(SCHEMA, 0.4) if attack.adversary not in ("A6", "A7"))
    found: dict[str, Any] = {a["adversary"]: a for a in attack_facts(replace(JUDGED, attacks=without))}
    assert found["A6"]["picture"] is None
    assert "needs a second generalization" in found["A6"]["finding"]
    assert found["A7"]["finding"] == "It was not run."


def test_the_command_to_ask_nothing_says_what_its_folder_is(run: Run) -> None:
    front, last = run.frontier, run.frontier.points[-1]
    untold = replace(front.suppressed, increase=Difference(-0.01, 0.02), utility_risk=0.498)
    points = (*front.points[:-1], replace(last, asked=0, answers=0))
    facts = summarize(replace(run, frontier=replace(front, suppressed=untold, points=points)))
    command = f"leastwise choose run --candidate {last.id}"
    assert facts["answer"]["ways_on"] == [f"To ask nothing: {command}"]
    assert not any(command in sentence for sentence in facts["answer"]["sentences"])
    page, text = render_html(facts), render_markdown(facts)
    assert f'To ask nothing: <code class="command">{command}</code>' in page
    for shown in (page, text):
        assert shown.count("In these commands “run” is the folder of this run.") == 1
    assert "In these commands" not in render_markdown(summarize(run))
