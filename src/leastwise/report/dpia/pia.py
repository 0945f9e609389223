"""The assessment as a file that the French regulator's PIA tool imports.

The tool reads one JSON: the ``pia`` itself, ``answers`` by the number of the question, ``measures``,
``evaluations`` and ``comments``. It looks an answer up by its number (a text would never be found), shows ``text``
as the HTML of an editor, and ties question 324 to measures by their titles. ``SCHEMA`` describes what it reads, in
our words. Gauges stay 0, which the tool shows as not yet estimated: severity and likelihood are a person's.
"""

from __future__ import annotations

import json
from datetime import date
from html import escape
from typing import Any

from leastwise.report.dpia.assessment import Assessment, Part
from leastwise.report.dpia.mappings import CNIL, FRAMEWORKS
from leastwise.report.dpia.risks import MINIMIZATION

_TEXT = {"type": "string"}
_MOMENT = {"type": "string", "format": "date-time"}
_PERHAPS = {"type": ["string", "null"]}
QUESTIONS = [*range(111, 114), *range(121, 124), *range(211, 216), *range(221, 228)]
QUESTIONS += [10 * risk + place for risk in (32, 33, 34) for place in range(1, 7)]
"""The numbers of the tool's own questions: context, principles, and the three risks."""
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What the PIA tool imports",
    "type": "object",
    "required": ["pia", "answers", "measures", "evaluations", "comments"],
    "additionalProperties": False,
    "properties": {
        "pia": {
            "type": "object",
            "required": ["name", "author_name", "evaluator_name", "validator_name", "status", "created_at"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "category": _PERHAPS,
                "author_name": _TEXT,
                "evaluator_name": _TEXT,
                "validator_name": _TEXT,
                "status": {"type": "integer", "minimum": 0, "maximum": 4},
                "created_at": _MOMENT,
                "updated_at": _MOMENT,
            },
        },
        "answers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["reference_to", "data", "created_at"],
                "additionalProperties": False,
                "properties": {
                    "reference_to": {"type": "integer", "enum": QUESTIONS},
                    "data": {
                        "type": "object",
                        "required": ["text", "gauge", "list"],
                        "additionalProperties": False,
                        "properties": {
                            "text": _PERHAPS,
                            "gauge": {"type": ["integer", "null"], "minimum": 0, "maximum": 4},
                            "list": {"type": "array", "items": _TEXT},
                        },
                    },
                    "created_at": _MOMENT,
                    "updated_at": _MOMENT,
                    "id": {"type": "integer"},
                    "pia_id": {"type": "integer"},
                },
            },
        },
        "measures": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "title", "content", "placeholder", "created_at"],
                "properties": {"id": {"type": "integer"}, "title": _TEXT, "content": _TEXT, "created_at": _MOMENT},
            },
        },
        "evaluations": {"type": "array", "maxItems": 0},
        "comments": {"type": "array", "maxItems": 0},
    },
}

_LISTS, _MEASURES = ("321", "322", "323"), "324"


def pia_document(found: Assessment) -> dict[str, Any]:
    """Return the assessment as the PIA tool imports it."""
    moment = f"{found.date or date.today().isoformat()}T00:00:00.000Z"  # the tool wants a day of drafts, too
    first, *others = (each.text for each in found["controls"].items)
    measures = {MINIMIZATION: _escaped(first), **{text: _escaped(text) for text in others}}
    answers = [
        {"reference_to": int(number), "data": _answer(number, found, places, measures), "created_at": moment}
        for number, _, places in FRAMEWORKS[CNIL]
    ]
    return {
        "pia": {
            "name": found.title,
            "category": None,
            "author_name": found.author,
            "evaluator_name": found.reviewer,
            "validator_name": found.approver,
            "status": 0,
            "created_at": moment,
            "updated_at": moment,
        },
        "answers": answers,
        "measures": [
            {"id": i, "title": title, "content": content, "placeholder": "", "created_at": moment}
            for i, (title, content) in enumerate(measures.items(), 1)
        ],
        "evaluations": [],
        "comments": [],
    }


def _answer(
    number: str, assessment: Assessment, places: tuple[str, ...], measures: dict[str, str]
) -> dict[str, Any]:
    parts = [assessment[place] for place in places]
    if number == _MEASURES:
        return {"text": None, "gauge": 0, "list": list(measures)}
    if number in _LISTS:
        return {"text": None, "gauge": 0, "list": [each.text for part in parts for each in part.items]}
    return {"text": "".join(_paragraphs(part) for part in parts), "gauge": 0, "list": []}


def _paragraphs(part: Part) -> str:
    """Return a part as the tool's editor holds it: simple HTML, texts of people escaped."""
    lines = "".join(f"<p>{_escaped(line)}</p>" for line in part.text().split("\n") if line)
    return f"<p><strong>{_escaped(part.title)}</strong></p>{lines}"


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def render_pia(assessment: Assessment) -> str:
    """Return the document as text."""
    return json.dumps(pia_document(assessment), ensure_ascii=False, indent=1) + "\n"
