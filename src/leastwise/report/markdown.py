"""The report as Markdown, from the same facts: for a repository, a ticket or a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.documents.pages import as_is
from leastwise.documents.wording import percent
from leastwise.report.page import ITS_FOLDER_MEANS, about_lines, check_facts, report_title, task_texts

Facts = Mapping[str, Any]


def render_markdown(facts: Facts) -> str:
    """Return the report of a run as Markdown; the same facts give the same bytes."""
    rows = [_question(attribute) for attribute in facts["attributes"]]
    questions = {"columns": ["question", "before", "now"], "rows": rows}
    about = about_lines(facts)
    parts = [
        [f"# {as_is(report_title(facts))}"],
        _answer(facts["answer"]),
        _section("What was asked", _task(task_texts(facts["task"]))),
        _section(
            "The trade-off",
            [facts["frontier"]["search"], facts["frontier"]["increases"]],
            facts["frontier"]["table"],
        ),
        _section("Before and after, question by question", about, questions),
        _names(facts["attributes"]),
        _necessity(facts["necessity"]),
        ["## What attackers find", *map(as_is, about)],
        *(_attack(attack) for attack in facts["attacks"]),
        _certificate(facts["certificate"]),
        _groups(facts.get("groups")),
        _decision(facts.get("decision")),
        _drift(facts["drift"]),
        _section("What these numbers do not say", facts["limits"], bullets=True),
        _section("How it was made", [], {"columns": ["", ""], "rows": facts["provenance"]}),
    ]
    return "\n\n".join(block for part in parts for block in part) + "\n"


def _section(title: str, texts: Sequence[str], table: Facts | None = None, bullets: bool = False) -> list[str]:
    shown = ["\n".join(f"- {as_is(text)}" for text in texts)] if bullets else [as_is(text) for text in texts]
    return [f"## {as_is(title)}", *(text for text in shown if text), *([_table(table)] if table else [])]


def _table(table: Facts) -> str:
    rule = ["---"] * len(table["columns"])
    rows = [[as_is(cell) for cell in row] for row in (table["columns"], *table["rows"])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


def _answer(answer: Facts) -> list[str]:
    blocks = ["  \n".join(f"**{as_is(sentence)}**" for sentence in answer["sentences"]), as_is(answer["why"])]
    if answer["misses"]:
        missed = "; ".join(answer["misses"])
        blocks.append(as_is(f"It is beyond a limit on the test part: {missed}."))
    blocks += [as_is(text) for text in (*answer["ways_on"], *([ITS_FOLDER_MEANS] if answer["ways_on"] else []))]
    return [block for block in blocks if block]


def _task(task: Facts) -> list[str]:
    budget = "; ".join(task["budget"]) + ("" if task["stated"] else " (none was stated; this one holds then)")
    return [
        f"Records: {task['data']}, {task['people_text']}.",
        f"To predict: {task['label']} ({task['classes_text']}).",
        f"Personal attributes: {task['personal_text']}. {task['personal_means']}",
        f"Budget: {budget}.",
    ]


def _necessity(necessity: Facts) -> list[str]:
    blocks = ["## Why each question is asked"]
    for listing in necessity["tables"]:
        blocks += [f"### {as_is(listing['title'])}", _table(listing)]
    return [*blocks, as_is(necessity["method"])]


def _names(attributes: Sequence[Facts]) -> list[str]:
    """Return what each name of a bucket stands for: the table has no room for it."""
    named = [(a["name"], bucket) for a in attributes for bucket in a["buckets"] if "named" in bucket]
    lines = [f"{name}, “{each['label']}”: {', '.join(each['members'])}" for name, each in named if each["members"]]
    return ["\n".join(f"- {as_is(line)}" for line in lines)] if lines else []


def _question(attribute: Facts) -> list[str]:
    name = f"{attribute['name']} (personal)" if attribute["personal"] else attribute["name"]
    if not attribute["asked"]:
        return [name, attribute["before"], "not asked"]
    now = " / ".join(
        bucket["label"] + ("" if bucket["share"] is None else f" ({percent(bucket['share'], 1)})")
        for bucket in attribute["buckets"]
    )
    return [name, attribute["before"], now or "the exact number"]


def _attack(attack: Facts) -> list[str]:
    text = as_is(f"{attack['scenario']} {attack['finding']}")
    blocks = [f"### {attack['adversary']}: {as_is(attack['title'])}", text]
    blocks += [_table(attack["table"])] if attack["table"] else []
    described = "\n".join(f"- {as_is(sentence)}" for sentence in attack.get("predicates", ()))
    return [*blocks, described] if described else blocks


def _certificate(certificate: Facts | None) -> list[str]:
    if certificate is None:
        return []
    blocks = _section(certificate["title"], certificate["sentences"], bullets=True)
    return [*blocks, *([as_is(certificate["note"])] if certificate["note"] else []), _table(certificate["table"])]


def _groups(groups: Facts | None) -> list[str]:
    return _section("Who pays", [*groups["sentences"], groups["method"]], groups["table"]) if groups else []


def _decision(decision: Facts | None) -> list[str]:
    if not decision:
        return []
    blocks = _section("The decision", [*decision["sentences"], *decision["broken"]])
    blocks += [_table(decision["reasons"])] if decision["reasons"]["rows"] else []
    blocks += ["\n".join(f"- {as_is(text)}" for text in decision["comments"])] if decision["comments"] else []
    blocks += [f"How it was drawn: {as_is('; '.join(decision['drawn']))}."] if decision["drawn"] else []
    if decision["history"]:
        blocks += ["### All decisions", _table(decision["history"])]
        blocks.append("\n".join(f"- {as_is(text)}" for text in decision["changes"]))
    return blocks


def _drift(drift: Facts | None) -> list[str]:
    if not drift:
        return []
    check = check_facts(drift)
    blocks = _section("On newer data", [f"Verdict: {check['verdict']}"])
    blocks += ["\n".join(f"- {as_is(reason)}" for reason in check["reasons"])] if check["reasons"] else []
    for part in check["sections"]:
        blocks += [f"### {as_is(part['title'])}", *map(as_is, part["paragraphs"])]
        blocks += [_table(part["table"])] if part["table"] else []
    return blocks
