"""Fills in a form as a person with exact values does: many records, in one page, with nothing sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from leastwise import Generalization
from leastwise.exports import form_html
from leastwise.exports.questionnaire import questions
from leastwise.schema.values import text_of

# Types into the field of the exact value, or marks the bucket where there is none, and reads what would be sent.
FILL = """(people) => people.map((entries) => {
    document.querySelectorAll("#form").forEach((form) => form.reset());
    document.querySelectorAll(".question").forEach((question, place) => {
        const { typed, chosen } = entries[place];
        const field = question.querySelector(typed === null ? ".answer" : ".typed");
        const radios = [...question.querySelectorAll(".choices input")];
        const changed = typed === null && !field ? radios.find((radio) => radio.value === chosen) : field;
        if (changed.type === "radio") changed.checked = true;
        else changed.value = typed ?? chosen;
        changed.dispatchEvent(new Event("input", { bubbles: true }));
        changed.dispatchEvent(new Event("change", { bubbles: true }));
    });
    const left = [...document.querySelectorAll(".typed")].map((field) => field.value).join("");
    return { sent: document.getElementById("preview").textContent, left };
})"""


def filled(page: Any, asked: Generalization, records: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return what the form would send for each record; its exact values must be gone from the page."""
    page.set_content(form_html(asked, helper=True))
    found = page.evaluate(FILL, [_entries(asked, record) for record in records])
    assert all(one["left"] == "" for one in found)
    return [json.loads(one["sent"]) for one in found]


def _entries(asked: Generalization, record: Mapping[str, Any]) -> list[dict[str, str | None]]:
    coarse, entries = asked.transform(record), []
    for question in questions(asked):
        raw = record[question.attribute.column]
        text = text_of(raw) if not isinstance(raw, str) else raw
        places = {value: str(place) for place, (_, value) in enumerate(question.exact)}
        # What a list does not offer, and what has no field of its own, a person finds among the answers.
        typed = places.get(text_of(raw)) if question.typed == "choice" else text if question.typed else None
        entries.append({"typed": typed, "chosen": coarse[question.name]})
    return entries
