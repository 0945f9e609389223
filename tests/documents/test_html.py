"""What a notebook shows: every text stays text, and the style reaches nothing outside its box."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization, Table
from leastwise.documents.html import STYLE, box, heading, paragraphs, table
from tests.strategies import generalizations, tables, texts

TAGS = {"div", "style", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "span"}
hostile = texts | st.sampled_from(
    ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "</style><b>", "&lt;", "<!--", "]]>"]
)


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of its cells and paragraphs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.texts = [""]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= set(attrs)
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


def check(shown: str) -> Page:
    """Hold what is shown to what may be there: a few elements, classes of ours, no script, nothing fetched."""
    page = Page(shown)
    assert page.tags <= TAGS
    classes = ("leastwise-html", "soft", "number", "chosen", "mark")
    assert page.attributes <= {("class", name) for name in classes}
    assert shown.startswith('<div class="leastwise-html">')
    assert shown.count("<div") == shown.count("</div>") == shown.count("<style>") == 1
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    return page


def test_every_rule_is_bound_to_the_box() -> None:
    rules = re.sub(r"@media[^{]*\{([^}]*\}) \}", r"\1", STYLE)
    assert "@" not in rules
    selectors = [part for rule in re.findall(r"([^{}]+)\{", rules) for part in re.split(r",\s*(?![^(]*\))", rule)]
    assert len(selectors) > 10
    assert all(".leastwise-html.leastwise-html" in selector for selector in selectors)


def test_dark_and_light_declare_the_same_colours_and_every_colour_is_declared() -> None:
    blocks = [
        set(re.findall(r"(--\w+):", block)) for block in re.findall(r"\{([^{}]*color-scheme[^{}]*)\}", STYLE)
    ]
    assert len(blocks) == 4
    assert all(block == set(re.findall(r"var\((--\w+)\)", STYLE)) for block in blocks)


@given(st.lists(hostile, min_size=2, max_size=2), hostile)
def test_texts_stay_texts(cells: list[str], mark: str) -> None:
    page = check(box(heading(cells[0]), paragraphs(cells), table(cells, [cells], marks=[mark])))
    for text in (*cells, mark):
        assert any(text in shown for shown in page.texts)


@given(generalizations())
def test_a_generalization_shows_its_questions_and_marks_the_personal_ones(g: Generalization) -> None:
    page = check(g._repr_html_())
    for partition in g.partitions:
        assert any(shown.startswith(partition.attribute.name) for shown in page.texts)
    assert page.texts.count("personal") >= len(g.schema.personal)
    assert "\n" not in repr(g)
    attributes = "1 attribute" if len(g) == 1 else f"{len(g)} attributes"
    assert re.match(rf"<Generalization asks {len(g.collected)} of {attributes}[,>]", repr(g))


@given(tables(weights=True))
def test_a_table_shows_its_schema_and_nobody(records: Table) -> None:
    page = check(records._repr_html_())
    assert not any(re.search(r"\bv\d\b", shown) for shown in page.texts[2:])  # the values of these tables
    assert [shown.strip() for shown in page.texts if shown.strip() in records.schema.names] == list(
        records.schema.names
    )
    assert "\n" not in repr(records)


def test_a_short_repr_names_the_part() -> None:
    from tests.runs.small import records

    assert repr(records()) == "<Table 600 records x 4 attributes>"
    assert repr(records().split().train) == "<Table 360 records x 4 attributes, train part>"
