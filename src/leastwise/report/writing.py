"""Write the reports of a run: HTML to read, Markdown to file, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leastwise.documents import write_whole
from leastwise.records.table import Table
from leastwise.report.facts import summarize
from leastwise.report.html import render_html
from leastwise.report.markdown import render_markdown
from leastwise.runs import Run
from leastwise.runs.folder import SHARES, write_figures
from leastwise.runs.shares import Shares

Facts = dict[str, Any]


def render_json(facts: Mapping[str, Any]) -> str:
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
