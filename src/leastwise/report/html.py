"""The report as one HTML file: autoescaped templates, everything inline, nothing fetched.

The content security policy names the styles and scripts by their hashes. Whatever else might slip into the page
from a name in the data does not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from leastwise import __version__
from leastwise.documents.pages import page_policy, script_json, templates
from leastwise.report.page import check_page, report_page

Facts = Mapping[str, Any]


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
