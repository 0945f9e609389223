"""A check as plain facts: a verdict, its reasons, and sections of text and tables; and the same as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leastwise.checks.budgets import ABOUT as BUDGET
from leastwise.checks.budgets import TOGETHER
from leastwise.checks.checking import Check
from leastwise.checks.comparisons import Comparison, Status
from leastwise.checks.drifting import ACCURACY, LABEL, RISK, UNSEEN, USE
from leastwise.documents.pages import as_is
from leastwise.documents.wording import counted, percent

Facts = dict[str, Any]
FINE, BROKEN = "fine", "broken"
# What each kind of comparison asks, in the order in which a reader wants to know.
TEXTS = {
    BUDGET: "What was agreed, held against the new records. Broken means that noise cannot explain it.",
    TOGETHER: "What somebody knows who holds the records under the previous generalization and under this one.",
    ACCURACY: "How often the model is wrong, then and now. Only an increase is an alarm.",
    RISK: "How often the adversary who stole the records (A1) is wrong. Higher is safer; only a decrease alarms.",
    USE: "Which answer is given by which share of the people, then and now.",
    LABEL: "Which share of the people has each class of the label, then and now.",
    UNSEEN: "People for whom the form would have no answer. Their records are left out of all other figures.",
}
AXES = {
    ACCURACY: "error of the model",
    RISK: "error of the adversary (higher is safer)",
    USE: "share of the people",
    LABEL: "share of the people",
}
SHARES = frozenset({USE, LABEL, UNSEEN})


def check_facts(found: Check, title: str) -> Facts:
    """Return a check as a verdict, reasons and sections."""
    return {
        "title": title,
        "kind": "monitor" if found.evaluation is None else "check",
        "verdict": BROKEN if found.broken else FINE,
        "reasons": list(found.reasons),
        "sections": [
            _answer(found),
            *_decision(found),
            *_tables(found),
            *_certificate(found),
            *([_limits(found)] if found.people else []),
        ],
    }


def _answer(check: Check) -> Facts:
    watched = check.statuses.count("watch")
    sentences = [
        f"{check.people:,} records were checked by {counted(len(check.comparisons), 'question')}.",
        f"Broken: {len(check.alarms):,} of them." if check.alarms else "Nothing is broken.",
    ]
    if not check.people:  # the decision alone was looked at
        sentences = []
    if check.reopened:
        sentences.append("The decision must be looked at again.")
    if watched:
        sentences.append(f"Beyond the limit, but noise can explain it: {counted(watched, 'figure')}; watch.")
    return {"title": "What was found", "text": [*sentences, *check.notes], "table": None}


def _decision(check: Check) -> list[Facts]:
    if not check.reopened:
        return []
    return [{"title": "Why the decision must be reopened", "text": list(check.reopened), "table": None}]


def _tables(check: Check) -> list[Facts]:
    pairs = list(zip(check.comparisons, check.statuses, strict=True))
    by_kind = {about: [pair for pair in pairs if pair[0].about == about] for about in TEXTS}
    return [_section(about, chosen) for about, chosen in by_kind.items() if chosen]


def _section(about: str, pairs: Sequence[tuple[Comparison, Status]]) -> Facts:
    drift = any(comparison.then is not None for comparison, _ in pairs)
    rows, bars = [], []
    for comparison, status in pairs:
        ends = None if comparison.interval is None else list(map(float, comparison.interval))
        interval = " to ".join(_figure(end, about) for end in ends or ())
        held = _figure(comparison.then if drift else comparison.limit, about)
        rows.append([comparison.name, held, _figure(comparison.now, about), interval, status])
        then, now = comparison.then, comparison.now
        bars.append({"label": comparison.name, "then": then, "now": now, "now_interval": ends})
    columns = ["", "promised" if drift else "limit", "now", "95 % interval", "verdict"]
    section = {"title": about, "text": TEXTS[about], "table": {"columns": columns, "rows": rows}}
    return {**section, "bars": bars, "axis": AXES.get(about, "")} if drift else section


def _figure(value: float | None, about: str) -> str:
    if value is None:
        return ""
    if about in SHARES:
        return f"{100 * value:.2f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _certificate(check: Check) -> list[Facts]:
    if check.evaluation is None or check.evaluation.certificate is None:
        return []
    first = "A bound on every adversary who sees only what the sentences name, counted on the new records."
    text = [first, *check.evaluation.certificate.sentences()]
    return [{"title": "What nobody can tell", "text": text, "table": None}]


def _limits(check: Check) -> Facts:
    limits = check.limits
    text = (
        f"A check alarms although nothing changed in at most {percent(limits.level, 2)} of all cases: its "
        "questions are judged together, by exact tests (Fisher, binomial) and Holm's rule. That training is a "
        "draw, too, is not in them; the smallest differences that matter leave room for it. A difference below "
        f"{percent(limits.share, 1)} of the people in a bucket, {limits.error:g} of the model's error or "
        f"{limits.adversary_error:g} of the adversary's is no alarm however sure it is. Few records show only "
        "large changes: no alarm is no proof. A model and an adversary that learned from few new records "
        "err more than they could."
    )
    return {"title": "What these figures do not say", "text": text, "table": None}


def facts_as_markdown(facts: Facts) -> str:
    """Write the facts of a check as Markdown; texts of the data are shown as they are, never read as markup."""
    lines = [f"# {as_is(facts['title'])}", "", f"**Verdict: {as_is(facts['verdict'])}**", ""]
    lines += [f"- {as_is(reason)}" for reason in facts["reasons"]] + ([""] if facts["reasons"] else [])
    for section in facts["sections"]:
        lines += [f"## {as_is(section['title'])}", ""]
        lines += [line for text in paragraphs(section) for line in (as_is(text), "")]
        if section["table"]:
            lines += [*_table_lines(section["table"]), ""]
    return "\n".join(lines).rstrip() + "\n"


def paragraphs(section: Facts) -> list[str]:
    """Return the text of a section, which is one paragraph or a list of them."""
    text = section["text"]
    return [text] if isinstance(text, str) else list(text)


def _table_lines(table: Facts) -> list[str]:
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    texts = [row if i == 1 else [as_is(cell) for cell in row] for i, row in enumerate(rows)]
    return [f"| {' | '.join(cells)} |" for cells in texts]
