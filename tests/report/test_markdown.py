"""The Markdown report, from the same facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leastwise.report import render_markdown, summarize
from leastwise.runs import Run
from tests.report.hand_made import write_run
from tests.report.test_html import HOSTILE, hostile_schema

Facts = dict[str, Any]


def test_it_says_what_the_page_says(facts: Facts) -> None:
    text = render_markdown(facts)
    assert text.startswith(
        "# What to ask to predict pay\n\n**Ask 2 of 3 questions, 4 answers instead of 109: age in 2 "
    )
    for attack in facts["attacks"]:
        assert f"### {attack['adversary']}: " in text
    assert "| age | the exact number of years (whole numbers from 0 to 99) | 0 to 33 / 34 to 99 |" in text
    assert "is beyond a limit on the test part" in text
    assert text.endswith("|\n")


def test_every_row_of_a_table_has_as_many_cells_as_its_head(facts: Facts) -> None:
    width = None
    for line in render_markdown(facts).split("\n"):
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else None
        assert width is None or cells is None or cells == width, line
        width = cells


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    text = render_markdown(summarize(write_run(tmp_path / "run", hostile_schema())))
    assert "<" not in text
    assert HOSTILE[2].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in text


def test_drift_is_told_too(facts: Facts) -> None:
    section = {"title": "use", "text": "who", "table": {"columns": ["a", "b"], "rows": [["1", "2"]]}}
    drift = {"title": "Check", "verdict": "broken", "reasons": ["too many"], "sections": [section]}
    text = render_markdown({**facts, "drift": drift})
    assert "## On newer data\n\nVerdict: broken\n\n- too many\n\n### use\n\nwho\n\n| a | b |" in text


def test_where_nothing_fits_it_says_so_first_and_in_every_part_of_whom_it_is(nothing: Run) -> None:
    text = render_markdown(summarize(nothing))
    assert text.startswith("# What to ask to predict pay: nothing fits\n\n**Nothing is recommended. ")
    assert text.count("which comes nearest, does not fit and was not chosen.") == 2
    assert "To allow what the nearest takes: leastwise choose run --max-error-increase 0.085" in text
    assert "Ask 2 of" not in text
