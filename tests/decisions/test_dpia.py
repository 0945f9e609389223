"""The impact assessment: all gaps at once, every figure the report's, nothing of a name read as markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import jsonschema
import pytest

from leastwise import Generalization
from leastwise.decisions import Decision, decide, keep_decision
from leastwise.decisions.dpia import FORMATS, FRAMEWORKS, SCHEMA, Assessment, assess, pia_document, render
from leastwise.exports import Notice
from leastwise.policy import Policy, Processing
from leastwise.report import write_report
from leastwise.runs import Run
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


def test_every_figure_is_the_reports(run: Run, whole: Assessment) -> None:
    """Numbers of statements that name a section of the report stand in the report."""
    told = (run.folder / "report.md").read_text() + (run.folder / "report.json").read_text()
    known = set(re.findall(r"\d[\d,.]*\d|\d", told))
    said = [each for part in whole.parts for each in (*part.statements, *part.items) if each.source]
    cells = [
        cell for part in whole.parts if part.grid and part.grid.source for row in part.grid.rows for cell in row
    ]
    assert len(said) > 20
    assert cells
    numbers = {n for text in [*(each.text for each in said), *cells] for n in re.findall(r"\d[\d,.]*\d|\d", text)}
    # Broken limits of alternatives are held against the run's own budget, to four digits.
    unknown = {number for number in numbers - known if not re.fullmatch(r"0\.\d{4}", number)}
    assert not unknown


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
    assert answers[324]["list"] == [measure["title"] for measure in document["measures"]]
    assert document["measures"][0]["title"] == "Data minimisation"
    assert "<script>" not in json.dumps(answers)


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
