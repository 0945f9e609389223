"""The assessment as a Word document, for those who must add to it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from leastwise.errors import MissingExtraError

if TYPE_CHECKING:
    from leastwise.decisions.dpia.assessment import Assessment, Grid, Part, Statement


def render_docx(found: Assessment) -> bytes:
    """Return the document; texts are written as they are, nothing in them is markup."""
    try:
        from docx import Document
    except ImportError:
        raise MissingExtraError("python-docx", "word") from None
    from leastwise.decisions.dpia.rendering import answered_in, heading, opening

    page = Document()
    page.core_properties.title = heading(found)
    page.core_properties.author = found.author
    page.add_heading(heading(found), 0)
    for text in opening(found):
        page.add_paragraph(_clean(text))
    for part in found.parts:
        _write(page, part)
    page.add_heading("Where the questions of others are answered", 1)
    _table(page, answered_in(found))
    stream = BytesIO()
    page.save(stream)
    return stream.getvalue()


def _write(page: Any, part: Part) -> None:
    page.add_heading(_clean(part.title), 1)
    for each in part.statements:
        _say(page.add_paragraph(), each)
    for each in part.items:
        _say(page.add_paragraph(style="List Bullet"), each)
    if part.grid is not None:
        _table(page, part.grid)
    if part.for_a_person:
        page.add_paragraph().add_run(_clean(part.for_a_person)).italic = True


def _say(paragraph: Any, statement: Statement) -> None:
    paragraph.add_run(_clean(statement.text))
    if statement.source:
        paragraph.add_run(f" [{statement.source}]").font.size = 100_000  # of 12,700 to the point: small


def _table(page: Any, grid: Grid) -> None:
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
