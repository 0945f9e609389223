"""The page: self-contained, the same bytes for the same facts, and every name stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from leastwise import Attribute, Schema
from leastwise.report import render_check, render_html, render_markdown, summarize, writing
from leastwise.runs import Run
from tests.report.hand_made import AGE, write_run

Facts = dict[str, Any]
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '<a href="//x">l</a>&lt;',
    "--><!--",
)
ASSETS = Path(writing.__file__).parent / "assets"


def hostile_schema() -> Schema:
    evil = Attribute(HOSTILE[0], values=HOSTILE, personal=True, question=HOSTILE[1], unit="")
    link = Attribute(HOSTILE[2], values=("x", "y"), personal=True)
    return Schema((AGE, evil, link), Attribute(HOSTILE[3], values=HOSTILE[:2]))


class Elements(HTMLParser):
    """Counts start tags, and notes attributes that could run or fetch something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.suspicious: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            fetched = name in ("src", "href", "action", "data", "srcset") and not (value or "").startswith("#")
            if name.startswith("on") or name == "style" or fetched:
                self.suspicious.append(f"{tag} {name}={value}")


def test_the_page_is_the_same_for_the_same_facts(facts: Facts) -> None:
    assert render_html(facts) == render_html(json.loads(json.dumps(facts)))


def test_nothing_is_fetched_and_nothing_runs_from_an_attribute(facts: Facts) -> None:
    found = Elements(render_html(facts))
    assert found.suspicious == []
    assert not {"link", "img", "iframe", "object"} & set(found.tags)
    assert found.tags["script"] == 3
    assert found.tags["style"] == 2


def test_the_policy_allows_the_inline_parts_by_hash_and_nothing_else(facts: Facts) -> None:
    page = render_html(facts)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    text = policy[1].replace("&#39;", "'")
    assert text.startswith("default-src 'none';")
    assert "unsafe" not in text
    inline = re.findall(r"<(?:style|script)(?: id=\"plotly[^>]*)?>(.*?)</(?:style|script)>", page, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in inline}
    assert set(re.findall(r"sha256-([^']+)'", text)) == hashes
    assert len(hashes) == 4


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    facts = summarize(write_run(tmp_path / "run", hostile_schema()), predicates=True)
    page = render_html(facts)
    found = Elements(page)
    assert found.suspicious == []
    assert "img" not in found.tags
    assert found.tags["script"] == 3
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert not set("<>&") & set(data)
    assert json.loads(data)["frontier"]["attributes"][1]["name"] == HOSTILE[0]


@pytest.mark.parametrize(
    "place", ["answer", "asked", "trade-off", "questions", "necessity", "attacks", "certificate", "limits"]
)
def test_the_sections_are_there_and_in_the_contents(facts: Facts, place: str) -> None:
    page = render_html(facts)
    assert f'<section id="{place}"' in page
    assert f'<a href="#{place}">' in page


def test_the_answer_comes_before_everything_else(facts: Facts) -> None:
    page = render_html(facts)
    main = page[page.index("<main") :]
    assert main.index("Ask 2 of 3 questions") < main.index('id="asked"') < main.index('id="trade-off"')


def test_drift_has_a_section_only_when_it_is_known(facts: Facts) -> None:
    assert 'id="drift"' not in render_html(facts)
    section = {"title": "bucket use", "text": "who answers what", "table": {"columns": ["a"], "rows": [["1"]]}}
    drift = {"title": "Check", "verdict": "broken", "reasons": ["too many farmers"], "sections": [section]}
    page = render_html({**facts, "drift": drift})
    assert "too many farmers" in page
    assert "who answers what" in page
    assert '<a href="#drift">' in page


def test_a_check_has_the_same_look() -> None:
    bars = [{"label": HOSTILE[1], "then": 0.2, "now": 0.4, "now_interval": [0.35, 0.45]}]
    table = {"columns": ["answer", "then", "now"], "rows": [[HOSTILE[0], "20 %", "40 %"]]}
    section = {"title": HOSTILE[2], "text": ["one", "two"], "table": table, "bars": bars, "axis": "share"}
    facts = {"title": "Check of people.csv", "verdict": "broken", "reasons": [HOSTILE[1]], "sections": [section]}
    page = render_check(facts)
    found = Elements(page)
    assert found.suspicious == []
    assert found.tags["script"] == 3
    assert "Check of people.csv" in page
    assert 'id="picture-section-1"' in page
    assert '"series": ["then", "now"]' in page


def test_the_plotting_library_is_the_one_that_its_note_names() -> None:
    digest = hashlib.sha256((ASSETS / "plotly-basic.min.js").read_bytes()).hexdigest()
    assert digest in (ASSETS / "README.md").read_text(encoding="utf-8")
    assert (ASSETS / "plotly-LICENSE.txt").read_text(encoding="utf-8").startswith("MIT License")


def test_the_word_personal_is_explained_to_a_lawyer(facts: Facts) -> None:
    said = "all answers of a person are personal data"
    assert said in render_html(facts)
    assert said in render_markdown(facts)
    assert "whose disclosure is measured" in render_html(facts)


def test_why_each_question_is_asked_is_told_and_folded(facts: Facts) -> None:
    page = render_html(facts)
    part = page[page.index('<section id="necessity"') : page.index('<section id="attacks"')]
    assert "buys nothing that these records can tell" in part
    assert "Judged on 300 people" in part
    assert part.index("<h3>Not asked</h3>") < part.index("<summary>Boundaries between answers")
    assert "## Why each question is asked" in render_markdown(facts)


def test_where_nothing_fits_no_row_is_the_chosen_one(nothing: Run) -> None:
    page = render_html(summarize(nothing))
    body = page[: page.index('<script type="application/json"')]
    assert '<h1 id="answer-title">What to ask to predict pay: nothing fits</h1>' in body
    assert "Nothing is recommended." in body
    assert 'class="chosen"' not in body
    assert ">chosen<" not in body
    assert body.count("which comes nearest, does not fit and was not chosen.") == 4
    assert '<code class="command">leastwise choose run --max-error-increase 0.085</code>' in body
