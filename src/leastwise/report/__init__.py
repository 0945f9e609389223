"""The report: facts of a run or a check, then pixels: HTML, Markdown and JSON from the same facts."""

from leastwise.report.displays import FrontierDisplay, PartitionDisplay, RiskDisplay
from leastwise.report.facts import summarize
from leastwise.report.markdown import render_markdown
from leastwise.report.minimizing import minimize
from leastwise.report.reading import read_check
from leastwise.report.writing import FORMATS, keep_shares, render_check, render_html, render_json, write_report

__all__ = [
    "FORMATS",
    "FrontierDisplay",
    "PartitionDisplay",
    "RiskDisplay",
    "keep_shares",
    "minimize",
    "read_check",
    "render_check",
    "render_html",
    "render_json",
    "render_markdown",
    "summarize",
    "write_report",
]
