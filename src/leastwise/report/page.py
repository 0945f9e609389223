"""What a page shows of the facts: contents, texts of numbers, and the data of its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.documents.pictures import bars_of_section
from leastwise.documents.wording import counted, listed, percent
from leastwise.runs.showing import CHOSEN

Facts = Mapping[str, Any]
MOST_ANSWERS = 16  # of one question; the others are folded
MOST_CLASSES = 12
ITS_FOLDER_MEANS = "In these commands “run” is the folder of this run."
PERSONAL = (
    "In the law’s sense all answers of a person are personal data, and so are these records. Here “personal” "
    "marks the attributes whose disclosure is measured: how well an attacker can tell them."
)


def report_title(facts: Facts) -> str:
    """Return the title of a report."""
    label = facts["task"]["label"]
    what = "What to ask" if label is None else f"What to ask to predict {label}"
    return f"{what}: nothing fits" if facts["answer"]["about"] else what


def about_lines(facts: Facts) -> list[str]:
    """Say in a section of whom it is, where that is not what was chosen."""
    about = facts["answer"]["about"]
    return [f"What follows is of {about}."] if about else []


def report_page(facts: Facts) -> dict[str, Any]:
    """Return the variables of the report's template."""
    drift = None if not facts.get("drift") else check_facts(facts["drift"])
    attributes = [_with_share_texts(attribute) for attribute in facts["attributes"]]
    return {
        "title": report_title(facts),
        "kind": "report",
        "contents": _contents(facts),
        "answer": facts["answer"],
        "its_folder": ITS_FOLDER_MEANS,
        "task": task_texts(facts["task"]),
        "frontier": _frontier(facts["frontier"]),
        "attributes": attributes,
        "unasked": [attribute for attribute in attributes if not attribute["asked"]],
        "shares": any(b["share"] is not None for a in attributes for b in a["buckets"]),
        "necessity": facts["necessity"],
        "most_answers": MOST_ANSWERS,
        "counted": counted,
        "about": about_lines(facts),
        "back_to": "chosen" if any(p["called"] == CHOSEN for p in facts["frontier"]["points"]) else "nearest",
        "attacks": [{"predicates": [], **attack} for attack in facts["attacks"]],
        "certificate": _certificate(facts["certificate"]),
        "groups": facts.get("groups"),
        "decision": facts.get("decision"),
        "drift": drift,
        "limits": facts["limits"],
        "provenance": facts["provenance"],
        "data": {
            "fingerprint": facts["fingerprint"],
            "of": "not chosen, the nearest:" if facts["answer"]["about"] else "generalization",
            "frontier": facts["frontier"],
            "pictures": _pictures(facts, drift),
        },
    }


def _contents(facts: Facts) -> list[tuple[str, str]]:
    contents = [
        ("answer", "The answer"),
        ("asked", "What was asked"),
        ("trade-off", "The trade-off"),
        ("questions", "Before and after"),
        ("necessity", "Why each question is asked"),
        ("attacks", "What attackers find"),
        ("certificate", "What nobody can tell"),
        ("groups", "Who pays"),
        ("decision", "The decision"),
        ("drift", "On newer data"),
        ("limits", "What the numbers do not say"),
        ("provenance", "How it was made"),
    ]
    return [(place, name) for place, name in contents if facts.get(place, place not in ("groups", "decision"))]


def task_texts(task: Facts) -> dict[str, Any]:
    """Return the task with its lists and numbers as texts."""
    people, personal = task["people"], task["personal"]
    records = sum((task.get("records") or {}).values())  # where one person can have several
    of = f"{counted(records, 'record')} of " if records else ""
    everybody, all_tested = f"{of}{counted(sum(people.values()), 'person', 'people')}; ", ""
    if source := task.get("source"):  # who learns and chooses has a sample, who reports has all
        everybody = f"{source['records']:,} people in {source['engine']}; of a sample of {source['sampled']:,} "
        all_tested = "all "
    return {
        **task,
        "people_text": (
            f"{everybody}{people['train']:,.0f} to learn from, {people['validation']:,.0f} to choose with, "
            f"{all_tested}{people['test']:,.0f} {'of the test part ' * bool(all_tested)}to report on"
        ),
        "classes_text": _classes(task["classes"]) if task.get("number") is None else _number(task["number"]),
        "personal_text": f"{', '.join(personal) or 'none'} ({len(personal)} of {task['attributes']})",
        "personal_means": PERSONAL,
    }


def _number(number: Facts) -> str:
    off = f"{number['scale']:.3g} {number['unit']}".strip()
    return f"a number; errors are shares of what guessing is off among those learned from: {off}"


def _classes(classes: Sequence[str]) -> str:
    return listed(classes, "or") if len(classes) <= MOST_CLASSES else counted(len(classes), "class", "classes")


def _frontier(frontier: Facts) -> dict[str, Any]:
    points = frontier["points"]
    return {
        "names": [
            f"{p['title']}{', ' * bool(p['called'])}{p['called']}: "
            f"model {'off' if p['test'].get('number') else 'wrong'} "
            f"{percent(p['test']['utility_risk'], 1)}, attacker wrong {percent(p['test']['adversary_error'], 1)}"
            for p in points
        ],
        "table": frontier["table"],
        "chosen": next((i for i, point in enumerate(points) if point["chosen"]), None),
        "search": frontier["search"],
        "increases": frontier["increases"],
    }


def _with_share_texts(attribute: Facts) -> dict[str, Any]:
    buckets = [
        {**bucket, "share_text": "" if bucket["share"] is None else percent(bucket["share"], 1)}
        for bucket in attribute["buckets"]
    ]
    return {**attribute, "buckets": buckets}


def _certificate(certificate: Facts | None) -> dict[str, Any] | None:
    if certificate is None:
        return None
    return {**certificate, "people_text": counted(certificate["people"], "person", "people")}


def _pictures(facts: Facts, drift: Facts | None) -> dict[str, Any]:
    pictures = {attack["adversary"]: attack["picture"] for attack in facts["attacks"]}
    pictures["certificate"] = facts["certificate"] and facts["certificate"]["picture"]
    pictures["groups"] = facts.get("groups") and facts["groups"]["picture"]
    pictures |= section_pictures("drift-", drift["sections"]) if drift else {}
    return {name: picture for name, picture in pictures.items() if picture}


def check_page(facts: Facts) -> dict[str, Any]:
    """Return the variables of a check's template."""
    check = check_facts(facts)
    parts = [(f"section-{i}", part["title"]) for i, part in enumerate(check["sections"], 1)]
    return {
        **check,
        "kind": facts.get("kind", "check"),
        "contents": [("verdict", "The verdict"), *parts],
        "data": {"frontier": None, "pictures": section_pictures("section-", check["sections"])},
    }


def section_pictures(prefix: str, sections: Sequence[Facts]) -> dict[str, Any]:
    """Return the pictures of sections by the names of their places."""
    return {f"{prefix}{i}": part["picture"] for i, part in enumerate(sections, 1) if part["picture"]}


def check_facts(facts: Facts) -> dict[str, Any]:
    """Return the facts of a check with every key that the template needs."""
    reasons = list(facts.get("reasons", ()))
    return {
        "title": facts.get("title", "Check"),
        "verdict": facts.get("verdict", ""),
        "passed": bool(facts.get("passed", not reasons)),
        "reasons": reasons,
        "sections": [_section(part) for part in facts.get("sections", ())],
    }


def _section(part: Facts) -> dict[str, Any]:
    text = part.get("text", "")
    return {
        "title": part["title"],
        "paragraphs": [each for each in ([text] if isinstance(text, str) else text) if each],
        "table": part.get("table"),
        "picture": bars_of_section(part["bars"], part.get("axis", "")) if part.get("bars") else None,
    }
