"""The impact assessment: all gaps at once, every figure the report's, nothing of a name read as markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from leastwise import Generalization
from leastwise.decisions import Decision, decide, keep_decision
from leastwise.documents.wording import percent
from leastwise.exports import Notice
from leastwise.policy import Policy, Processing
from leastwise.report import write_report
from leastwise.report.dpia import FORMATS, FRAMEWORKS, SCHEMA, Assessment, assess, pia_document, render
from leastwise.report.dpia.alternatives import alternatives
from leastwise.report.dpia.assessing import _on_whom
from leastwise.report.dpia.assessment import Part
from leastwise.report.dpia.risks import _impacts
from leastwise.report.dpia.subject import Subject
from leastwise.runs import Budget, Run, Size
from leastwise.runs.choice import PICKED
from leastwise.runs.verdicts import KEPT, PROBABLY_KEPT, verdicts
from tests.decisions.conftest import ALTHOUGH
from tests.report.hand_made import write_run

EVIL = "<script>alert(1)</script> | *x*"
SAID = Policy(
    notice=Notice(
        controller="Example Ltd", purpose="advice", legal_basis="consent", keep_days=30, contact="a@b.org"
    ),
    processing=Processing(
        name=EVIL,
        source="a form",
        recipients="advisers",
        rights="at the desk",
        controls=("sealed", "logged"),
        benefits="advice for those who gain",
        consultation="the officer",
    ),
)


def test_who_had_a_say_in_choosing_is_said(run: Run) -> None:
    plain, sure, picked = (
        _on_whom(replace(run.choice, **changed))
        for changed in ({}, {"surely": True}, {"sentence": f"{PICKED}: it is short."})
    )
    assert plain.endswith("no say in choosing")
    assert "a say in one thing only" in sure
    assert "may have seen before" in picked


@pytest.fixture
def whole(run: Run, decision: Decision) -> Assessment:
    return assess(run, SAID)


def test_an_empty_policy_lists_all_that_is_missing(run: Run) -> None:
    found = assess(run)
    keys = [gap.split(" ")[0] for gap in found.gaps]
    assert keys[:5] == [f"notice.{k}" for k in ("controller", "purpose", "legal_basis", "keep_days", "contact")]
    assert len([key for key in keys if key.startswith("processing.")]) == 7
    assert "a decision: leastwise decide" in found.gaps[-1]
    # What nobody said is not made up.
    assert "To be written by a person." in found["processing"].text()


def test_nothing_is_missing_where_all_is_said(whole: Assessment) -> None:
    assert whole.gaps == ()
    assert (whole.author, whole.date) == ("Ann", "2026-11-17")


def facts_of(run: Run) -> dict[str, Any]:
    """Return what the report says, from its file."""
    found: dict[str, Any] = json.loads((run.folder / "report.json").read_text())
    return found


def rows_of(part: Part) -> list[list[str]]:
    assert part.grid is not None
    return [list(row) for row in part.grid.rows]


def test_every_figure_is_the_reports(run: Run, whole: Assessment) -> None:
    """Numbers of statements that name a section of the report stand in the report."""
    told = (run.folder / "report.md").read_text() + (run.folder / "report.json").read_text()
    known = set(re.findall(r"\d[\d,.]*\d|\d", told))
    said = [each for part in whole.parts for each in (*part.statements, *part.items) if each.source]
    # Alternatives are held against the run's own budget, to four digits: see below.
    grids = [part.grid for part in whole.parts if part.place != "alternatives" and part.grid and part.grid.source]
    cells = [cell for grid in grids for row in grid.rows for cell in row]
    assert len(said) > 20
    assert cells
    texts = [each.text for each in said if "is itself beyond a limit" not in each.text]
    assert not {n for text in [*texts, *cells] for n in re.findall(r"\d[\d,.]*\d|\d", text)} - known


def test_tables_are_the_reports_row_by_row(run: Run, whole: Assessment) -> None:
    facts = facts_of(run)
    asked, not_asked = (table["rows"] for table in facts["necessity"]["tables"][:2])
    assert [row[:5] for row in rows_of(whole["collected"])] == asked
    assert [row[:5] for row in rows_of(whole["not_collected"])] == not_asked
    assert rows_of(whole["inference"]) == facts["certificate"]["table"]["rows"]


def test_attacks_are_told_as_the_report_tells_them(run: Run, whole: Assessment) -> None:
    attacks = facts_of(run)["attacks"]
    said = [each.text for place in ("singling_out", "linkability", "inference") for each in whole[place].items]
    assert len(attacks) == 8
    assert all(any(attack["finding"] in text for text in said) for attack in attacks)
    for attribute in run.evaluation(run.choice.candidate or "")["A1"].attributes:
        (line,) = [each.text for each in whole["impacts"].items if attribute.attribute in each.text]
        gained = percent(attribute.adversary_error, 1) in line and percent(attribute.baseline, 1) in line
        assert gained or (
            line.endswith("no more than whoever guesses.") and attribute.adversary_error >= attribute.baseline
        )


def test_what_somebody_learns_is_by_an_attack_that_was_tried(run: Run, whole: Assessment) -> None:
    """Whoever has the records may attack better; and where nobody is alone, no record is found by that."""
    first, *others, last = (each.text for each in whole["impacts"].items)
    assert "the strongest attack that we tried on the records alone" in first
    assert not any("whoever has the records" in text for text in (first, *others))
    assert last.startswith("3 people are alone with a generalized record, of 300 people tested: who knows")
    judged = run.evaluation(run.choice.candidate or "")
    hidden = replace(judged["A8"], unique_people=0)
    changed = replace(judged, attacks=tuple(hidden if a.adversary == "A8" else a for a in judged.attacks))
    assert (
        _impacts(changed, str).items[-1].text == "Nobody is alone with a generalized record, of 300 people tested."
    )


def test_alternatives_have_the_figures_of_the_report(run: Run, whole: Assessment) -> None:
    points = {point["id"]: point for point in facts_of(run)["frontier"]["points"]}
    rows = rows_of(whole["alternatives"])
    assert len(rows) >= 2
    everything = points["untouched"]["test"]["utility_risk"]
    for name, asked, answers, error, attacker, why in rows:
        point = points["suppressed" if name == "nothing asked" else name]
        test = point["test"]
        assert (asked, answers) == (str(point["asked"]), f"{point['answers']:,}")
        assert (error, attacker) == (percent(test["utility_risk"], 1), percent(test["adversary_error"], 1))
        more = test["increase"]["mean"] if test["increase"] else test["utility_risk"] - everything
        beyond = re.findall(r"errs ([\d.]+) points more", why)
        assert beyond or "goes no further" in why
        assert all(number == f"{more * 100:.1f}" for number in beyond)


def test_what_misses_a_limit_refuses_nobody_for_missing_it_less(run: Run, whole: Assessment) -> None:
    """The hand-made choice misses its limit: that is said, and others are refused for going further beyond it."""
    said = [each.text for each in whole["alternatives"].statements]
    assert any(text.startswith("What was chosen is itself beyond a limit: the model errs") for text in said)
    chosen = run.frontier[run.choice.candidate or ""].test.utility_risk
    for name, *_, why in rows_of(whole["alternatives"])[:-1]:
        worse = run.frontier[name].test.utility_risk > chosen
        assert why.startswith("It goes further beyond the limits" if worse else "It goes no further beyond")


def test_an_alternative_keeps_the_limits_no_surer_than_people_tell(tmp_path: Path) -> None:
    """Whose figures are within a limit, and who is confirmed to be: two words for the two."""
    loose, tight = Budget(max_error_increase=0.5), Budget(max_buckets=100)
    said = {}
    for name, budget in {"loose": loose, "tight": tight}.items():
        run = write_run(tmp_path / name, choice={"budget": budget, "stated": True, "verdicts": ()})
        for row in rows_of(assess(run, SAID)["alternatives"]):
            figures = run.frontier.suppressed if row[0] == "nothing asked" else run.frontier[row[0]].test
            size = Size(0, 0) if row[0] == "nothing asked" else Size(int(row[1]), int(row[2]))
            told = verdicts(budget, figures, run.frontier.untouched.utility_risk, size)
            assert not any(each.missed for each in told)
            said[row[-1].partition(".")[0].partition(" on test")[0]] = {each.standing for each in told}
    assert said == {"It probably keeps the limits": {PROBABLY_KEPT}, "It keeps the limits": {KEPT}}


def test_where_nothing_is_asked_that_is_no_alternative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "run")
    about = Subject.of(run, SAID)
    assert "nothing asked" in str(alternatives(about).grid)
    nothing = replace(about, generalization=Generalization.suppressed(run.schema))
    monkeypatch.setattr("leastwise.report.dpia.alternatives.on_test", lambda _: [])
    part = alternatives(nothing)
    assert part.grid is None
    assert part.statements[0].text.endswith("None asks less, or tells an attacker less, than what was chosen.")


def test_what_is_asked_without_need_or_reason_is_left_to_whoever_signs(run: Run) -> None:
    """Figures that do not show it are no proof of necessity; a reason in words is one."""
    assert run.necessity is not None
    weak = [each.attribute for each in run.necessity.asked if each.buys != "accuracy"]
    assert weak
    hasty = decide(run, by="Ann", because="so", broken=ALTHOUGH)
    keep_decision(hasty, run.evaluation(run.choice.candidate or ""), run.folder)
    said = assess(run, SAID)["collected"].for_a_person
    assert all(name in said for name in weak)
    assert f"why {'it is' if len(weak) == 1 else 'they are'} asked" in said
    explained = decide(run, by="Ann", because="so", broken=ALTHOUGH, rationale=dict.fromkeys(weak, "the law"))
    keep_decision(explained, run.evaluation(run.choice.candidate or ""), run.folder)
    assert assess(run, SAID)["collected"].for_a_person == ""


def test_a_quick_run_is_said_first(run: Run) -> None:
    quick = replace(run.evaluation(run.choice.candidate or ""), quick=True)
    quick.save(run.folder / "evaluations" / f"{run.choice.candidate}.json")
    assert any("quick run" in each.text for each in assess(run, SAID)["summary"].items)


def test_the_sources_are_places_of_the_report(run: Run, whole: Assessment) -> None:
    page = (run.folder / "report.html").read_text()
    places = {each.source for part in whole.parts for each in (*part.statements, *part.items) if each.source}
    assert places
    for place in places:
        file, _, anchor = place.partition("#")
        assert (run.folder / file).is_file()
        assert f'id="{anchor}"' in page


def test_necessity_is_told_of_each_item(run: Run, whole: Assessment) -> None:
    assert run.necessity is not None
    rows = whole["collected"].grid
    assert rows is not None
    assert {row[0] for row in rows.rows} >= {each.attribute for each in run.necessity.asked}
    domains = dict(row[:2] for row in whole["data"].grid.rows)  # type: ignore[union-attr]
    assert domains["job (personal)"].startswith("7 values")


def test_each_alternative_says_why_not(run: Run, whole: Assessment) -> None:
    grid = whole["alternatives"].grid
    assert grid is not None
    assert grid.rows[-1][0] == "nothing asked"
    assert all(row[-1] for row in grid.rows)


def test_every_question_of_others_is_answered_somewhere(whole: Assessment) -> None:
    places = {part.place for part in whole.parts}
    named = {place for questions in FRAMEWORKS.values() for _, _, parts in questions for place in parts}
    assert named <= places
    assert places - named == set()


def test_the_pia_tool_can_import_it(whole: Assessment) -> None:
    document = pia_document(whole)
    jsonschema.validate(document, SCHEMA, format_checker=jsonschema.FormatChecker())
    answers = {answer["reference_to"]: answer["data"] for answer in document["answers"]}
    assert {121, 213, 321, 322, 323, 324, 325, 326} <= set(answers)
    assert [answers[number]["gauge"] for number in (325, 326)] == [0, 0]
    assert {answer["gauge"] for answer in answers.values()} == {0}
    assert answers[324]["list"] == [measure["title"] for measure in document["measures"]]
    assert document["measures"][0]["title"] == "Data minimisation"
    assert "<script>" not in json.dumps(answers)


def test_the_pia_of_a_draft_is_of_the_day_it_was_written(run: Run) -> None:
    """The tool shows the day; nobody has begun an assessment in 1970."""
    before, moment = date.today().isoformat(), pia_document(assess(run, SAID))["pia"]["created_at"]
    assert before <= moment[:10] <= date.today().isoformat()


def test_a_file_that_the_pia_tool_wrote_fits_the_description_too(whole: Assessment) -> None:
    """The tool adds its own numbers, and answers questions that leastwise knows nothing of."""
    document = pia_document(whole)
    its_own = {"id": 343, "pia_id": 12, "updated_at": "2018-02-20T15:44:04.904Z"}
    answers = [{**answer, **its_own} for answer in document["answers"]]
    answers.append({**answers[0], "reference_to": 346})
    jsonschema.validate({**document, "answers": answers}, SCHEMA, format_checker=jsonschema.FormatChecker())
    by_text = {**answers[0], "reference_to": "121"}  # the tool looks for a number, and would show an empty answer
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "answers": [by_text]}, SCHEMA)


@pytest.mark.parametrize("wrong", [{"answers": []}, {"pia": None}, {"more": 1}])
def test_the_description_of_the_format_can_fail(whole: Assessment, wrong: dict[str, object]) -> None:
    document = {**pia_document(whole), **wrong}
    if wrong == {"answers": []}:
        document["answers"] = [
            {"reference_to": 999, "data": {"text": "", "gauge": 5, "list": []}, "created_at": ""}
        ]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_names_are_never_markup(whole: Assessment) -> None:
    page, text = render(whole, "html"), render(whole, "markdown")
    assert isinstance(page, str)
    assert isinstance(text, str)
    assert "<script" not in page
    assert "<script" not in text


def test_word_holds_every_part(whole: Assessment) -> None:
    docx = pytest.importorskip("docx")
    content = render(whole, "docx")
    assert isinstance(content, bytes)
    read = docx.Document(BytesIO(content))
    headings = [p.text for p in read.paragraphs if p.style.name == "Heading 1"]
    assert headings[:-1] == [part.title for part in whole.parts]


def test_the_same_facts_give_the_same_bytes(run: Run, whole: Assessment) -> None:
    again = assess(Run.load(run.folder), SAID)
    for form in FORMATS:
        if form != "docx":  # whose archive holds the time
            assert render(whole, form) == render(again, form)


def test_a_draft_made_by_hand_is_assessed(tmp_path: Path) -> None:
    made = write_run(tmp_path / "run")
    write_report(made)
    nothing = Generalization.suppressed(made.schema)
    judged = replace(made.evaluation(made.frontier.points[0].id), fingerprint=nothing.fingerprint)
    found = decide(made, by="Ann", because="ask nothing", draft=(nothing, judged), broken=ALTHOUGH)
    keep_decision(found, judged, made.folder)
    told = assess(made, SAID)
    assert {each.source for each in told["inference"].items} == {"decided-evaluation.json"}
    assert [gap for gap in told.gaps if "what each question is worth" in gap]
