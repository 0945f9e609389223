"""Write the reports of a run: HTML to read, Markdown to file, JSON for machines.

The HTML is one file: autoescaped templates, everything inline, nothing fetched. Its content security policy names
the styles and scripts by their hashes. Whatever else slips into the page from a name in the data does not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from leastwise import __version__
from leastwise.documents import write_whole
from leastwise.documents.pages import page_policy, script_json, templates
from leastwise.records.table import Table
from leastwise.report.facts import summarize
from leastwise.report.markdown import render_markdown
from leastwise.report.page import check_page, report_page
from leastwise.runs import Run
from leastwise.runs.folder import SHARES, write_figures
from leastwise.runs.shares import Shares

Facts = dict[str, Any]


def render_html(facts: Facts) -> str:
    """Return the report of a run (see ``summarize``); the same facts give the same bytes."""
    return _render("report.html", report_page(facts))


def render_check(facts: Facts) -> str:
    """Return the page of a check or of a monitor, from sections of text, tables and bars.

    Parameters
    ----------
    facts
        ``title``, ``verdict``, ``reasons`` and ``sections``; see docs/report.md for what a section may hold.
    """
    return _render("check.html", check_page(facts))


def _render(template: str, page: dict[str, Any]) -> str:
    styles = {"report": _asset("report.css"), "plotly": _asset("plotly.css")}
    scripts = {"plotly": _asset("plotly-basic.min.js"), "report": _asset("report.js")}
    data = Markup(script_json(page["data"]))  # noqa: S704  escaped by the rules of scripts
    return templates("leastwise.report").get_template(template).render(
        **{**page, "data": data},
        styles=styles,
        scripts=scripts,
        policy=page_policy(styles.values(), scripts.values()),
        version=__version__,
    )  # fmt: skip


@cache
def _asset(name: str) -> Markup:
    # Ours, not the user's: the only text that enters a page unescaped.
    return Markup((files("leastwise.report") / "assets" / name).read_text(encoding="utf-8"))  # noqa: S704


def render_json(facts: Facts) -> str:
    """Return the facts themselves."""
    return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


FORMATS: Mapping[str, Callable[[Facts], str]] = {"html": render_html, "md": render_markdown, "json": render_json}


def keep_shares(run: Run, table: Table) -> None:
    """Count how many people of the test part give each answer, and keep that with the run."""
    write_figures(run.folder, SHARES, Shares.count(run, table).to_json())


def write_report(
    run: Run,
    folder: str | Path | None = None,
    *,
    table: Table | None = None,
    drift: Facts | None = None,
    predicates: bool = False,
) -> Path:
    """Write report.html, report.md and report.json, and return the path of the first.

    Parameters
    ----------
    folder
        Where to; by default the folder of the run.
    table, drift, predicates
        See ``summarize``. With the test part of the records as ``table`` the report tells how many people give
        each answer; that is kept with the run, so that the report can be made again without them.
    """
    to = run.folder if folder is None else Path(folder)
    if table is not None:
        keep_shares(run, table)
    facts = summarize(run, drift=drift, predicates=predicates)
    for name, render in FORMATS.items():
        write_whole(to / f"report.{name}", render(facts))
    return to / "report.html"
