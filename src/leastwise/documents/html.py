"""What a notebook shows of a value: escaped texts and tables in a box of its own, light or dark as the page is.

Nothing is fetched and nothing runs. Every rule of the style is bound to the box, so that it changes nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

# The class stands twice, to win over the rules that notebooks have for tables. What the page says of itself
# (JupyterLab, Sphinx, VS Code) counts more than what the system prefers.
_LIGHT = """--ink: #1d2127; --soft: #59606b; --line: #dedbd2; --paper: #fdfcf9; --wash: #dcebf4; --mark: #a04300;
  color-scheme: light;"""
_DARK = """--ink: #e9e7e1; --soft: #a8afb8; --line: #3a414a; --paper: #1b1f24; --wash: #243746; --mark: #f2a063;
  color-scheme: dark;"""
_RULES = """
BOX { LIGHT }
@media (prefers-color-scheme: dark) { BOX { DARK } }
:is([data-jp-theme-light=true], [data-theme=light], .vscode-light) BOX { LIGHT }
:is([data-jp-theme-light=false], [data-theme=dark], .vscode-dark) BOX { DARK }
BOX { box-sizing: border-box; max-width: 62rem; padding: .7rem 1rem; overflow-x: auto; color: var(--ink);
  background: var(--paper); border: 1px solid var(--line); border-radius: 6px;
  font: 14px/1.45 system-ui, sans-serif; overflow-wrap: break-word; }
BOX p { margin: .3rem 0; color: inherit; }
BOX p.soft, BOX th { color: var(--soft); }
BOX table { margin: .5rem 0; border-collapse: collapse; border: 0; font-size: 13px; color: inherit; }
BOX tr:nth-child(n) { background: none; }
BOX tr.chosen:nth-child(n) { background: var(--wash); }
BOX :is(th, td):nth-child(n) { padding: .25rem .9rem .25rem .3rem; text-align: left; vertical-align: top;
  border: 0; border-top: 1px solid var(--line); background: none; max-width: 36rem; white-space: normal; }
BOX thead th:nth-child(n) { border-top: 0; font-weight: 600; }
BOX .number:nth-child(n) { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
BOX .mark { color: var(--mark); font-size: 12px; }
"""
STYLE = _RULES.replace("BOX", ".leastwise-html.leastwise-html").replace("LIGHT", _LIGHT).replace("DARK", _DARK)


def box(*parts: str) -> str:
    """Return parts that are HTML already, in a box."""
    return f'<div class="leastwise-html"><style>{STYLE}</style>{"".join(parts)}</div>'


def heading(text: str) -> str:
    """Return what comes first, in bold."""
    return f"<p><b>{escape(text)}</b></p>"


def paragraphs(texts: Sequence[str], soft: bool = False) -> str:
    """Return texts, each in a line of its own."""
    return "".join(f"<p{' class=soft' if soft else ''}>{escape(text)}</p>" for text in texts)


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    marks: Sequence[str] = (),
    chosen: int | None = None,
) -> str:
    """Return a table of texts.

    Parameters
    ----------
    numbers
        The columns that are set to the right.
    marks
        A short note for the first cell of each row; empty for none.
    chosen
        The row that is told apart.

    >>> table(["<a>"], [["1 < 2"]])
    '<table><thead><tr><th>&lt;a&gt;</th></tr></thead><tbody><tr><td>1 &lt; 2</td></tr></tbody></table>'
    """
    looks = [" class=number" if name in numbers else "" for name in columns]
    head = "".join(f"<th{look}>{escape(name)}</th>" for name, look in zip(columns, looks, strict=True))
    body = []
    for i, row in enumerate(rows):
        cells = [escape(text) for text in row]
        if marks and marks[i]:
            cells[0] += f" <span class=mark>{escape(marks[i])}</span>"
        line = "".join(f"<td{look}>{cell}</td>" for cell, look in zip(cells, looks, strict=True))
        body.append(f"<tr{' class=chosen' if i == chosen else ''}>{line}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
