"""The assessment as Markdown, HTML, Word and JSON, and as the PIA tool reads it: the same facts in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from leastwise.documents.pages import as_is, page_policy, templates
from leastwise.errors import MissingExtraError
from leastwise.report.dpia.assessment import Assessment, Grid, Part, Statement
from leastwise.report.dpia.mappings import THREATS
from leastwise.report.dpia.pia import render_pia


def render(found: Assessment, form: str) -> str | bytes:
    """Return the assessment in one of ``FORMATS``."""
    return FORMATS[form][1](found)


def render_markdown(assessment: Assessment) -> str:
    """Return the assessment as Markdown; the sources of figures are links."""
    blocks = [f"# {as_is(heading(assessment))}", *map(as_is, opening(assessment))]
    for part in assessment.parts:
        blocks += _part(part)
    blocks += ["## Where the questions of others are answered", _table(answered_in(assessment))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def heading(assessment: Assessment) -> str:
    """Return the title."""
    return f"Impact assessment: {assessment.title}"


def opening(assessment: Assessment) -> list[str]:
    """Say what this is, who decided it, and what is missing."""
    who = [("author", assessment.author), ("reviewer", assessment.reviewer), ("approver", assessment.approver)]
    said = ", ".join(f"{role} {name}" for role, name in who if name)
    lines = [
        f"Decided on {assessment.date}: {said}." if assessment.date else "Nobody has decided yet: this is a draft."
    ]
    lines.append(
        f"{assessment.measured}; each names the place that it comes from. "
        "What only a person can weigh, severity and likelihood above all, is left to a person and marked so."
    )
    if assessment.gaps:
        lines.append(f"This is not complete. Missing: {'; '.join(assessment.gaps)}.")
    return lines


def answered_in(assessment: Assessment) -> Grid:
    """Return the questions of others with the titles of the parts that answer them."""
    titles = {p.place: p.title.partition(":")[0] if p.place in THREATS else p.title for p in assessment.parts}
    rows = [
        (a.framework, a.number, a.asks, "; ".join(titles[place] for place in a.places))
        for a in assessment.answered
    ]
    return Grid(("form", "question", "asks for", "answered in"), tuple(rows))


def _part(part: Part) -> list[str]:
    blocks = [f"## {as_is(part.title)}", *(_said(each) for each in part.statements)]
    if part.items:
        blocks.append("\n".join(f"- {_said(each)}" for each in part.items))
    if part.grid is not None:
        blocks.append(_table(part.grid))
        blocks.append(_source(part.grid.source))
    return [*blocks, f"*{as_is(part.for_a_person)}*" if part.for_a_person else ""]


def _said(statement: Statement) -> str:
    return " ".join(filter(None, [as_is(statement.text), _source(statement.source)]))


def _source(source: str) -> str:
    return f"[source]({source})" if source else ""


def _table(grid: Grid) -> str:
    rows = [[as_is(cell) for cell in row] for row in (grid.columns, *grid.rows)]
    rule = ["---"] * len(grid.columns)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


def render_html(assessment: Assessment) -> str:
    """Return the assessment as one page for screen and print; nothing is fetched, no script runs."""
    pages = templates(__package__)
    style = pages.get_template("dpia.css").render()
    return pages.get_template("dpia.html").render(
        found=assessment,
        title=heading(assessment),
        opening=opening(assessment),
        answered=answered_in(assessment),
        style=style,
        policy=page_policy([style]),
    )


def render_docx(assessment: Assessment) -> bytes:
    """Return the document; texts are written as they are, nothing in them is markup."""
    try:
        from docx import Document
    except ImportError:
        raise MissingExtraError("python-docx", "word") from None
    page = Document()
    page.core_properties.title = heading(assessment)
    page.core_properties.author = assessment.author
    page.add_heading(heading(assessment), 0)
    for text in opening(assessment):
        page.add_paragraph(_clean(text))
    for part in assessment.parts:
        _word_part(page, part)
    page.add_heading("Where the questions of others are answered", 1)
    _word_table(page, answered_in(assessment))
    stream = BytesIO()
    page.save(stream)
    return stream.getvalue()


def _word_part(page: Any, part: Part) -> None:
    page.add_heading(_clean(part.title), 1)
    for each in part.statements:
        _word_text(page.add_paragraph(), each)
    for each in part.items:
        _word_text(page.add_paragraph(style="List Bullet"), each)
    if part.grid is not None:
        _word_table(page, part.grid)
    if part.for_a_person:
        page.add_paragraph().add_run(_clean(part.for_a_person)).italic = True


def _word_text(paragraph: Any, statement: Statement) -> None:
    paragraph.add_run(_clean(statement.text))
    if statement.source:
        paragraph.add_run(f" [{statement.source}]").font.size = 100_000  # of 12,700 to the point: small


def _word_table(page: Any, grid: Grid) -> None:
    table = page.add_table(rows=1, cols=len(grid.columns), style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, grid.columns, strict=True):
        cell.text = _clean(text)
    for row in grid.rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = _clean(text)
    note = f"Source: {grid.source}" if grid.source else ""
    page.add_paragraph(note)


def _clean(text: str) -> str:
    """Leave out what XML cannot hold."""
    return "".join(
        sign for sign in text if sign in "\t\n" or (ord(sign) >= 32 and ord(sign) not in (0xFFFE, 0xFFFF))
    )


Render = Callable[[Assessment], "str | bytes"]
FORMATS: Mapping[str, tuple[str, Render]] = {
    "markdown": ("dpia.md", render_markdown),
    "html": ("dpia.html", render_html),
    "docx": ("dpia.docx", render_docx),
    "cnil-pia": ("dpia-cnil.json", render_pia),
    "json": ("dpia.json", Assessment.to_json),
}
"""By what the command line calls it: the name of the file, and who writes it."""
