"""Words that are proposed for a question, from its figures; a person writes over them."""

from __future__ import annotations

from typing import Any

from leastwise.documents.wording import percent

Plain = dict[str, Any]


def rationale(question: Plain, card: Plain, figures: Plain, worth: Plain | None = None) -> str:
    """Say why a question is asked as it is, or not; what it is worth is said where it was weighed."""
    name, told = question["name"], figures["attributes"].get(question["name"])
    parts = [_how(name, card)]
    if worth is not None:
        parts.append(_helps(worth))
    if told is not None:
        parts.append(_tells(told))
    return " ".join(part for part in parts if part)


def _how(name: str, card: Plain) -> str:
    if card["asked"] == "dropped":
        return f"{name} is not asked."
    if card["asked"] == "full":
        return f"{name} is asked in full."
    labels = [bucket["name"] or bucket["label"] for bucket in card["buckets"]]
    listed = ", ".join(f"“{label}”" for label in labels[:6])
    more = f" and {len(labels) - 6} more" if len(labels) > 6 else ""
    return f"{name} is asked with {len(labels)} answers: {listed}{more}."


def _helps(worth: Plain) -> str:
    if worth["loss"] <= 2 * worth["error"]:
        return "Without it the model would not err more often, as far as these people tell."
    return f"Without it the model errs {100 * worth['loss']:.1f} points more often."


def _tells(told: Plain) -> str:
    better = told["guessing"] - told["error"]
    known = f"An attacker who steals the answers is wrong about it {percent(told['error'])} of the time"
    if better <= 0.002:
        return f"{known}, as often as by guessing."
    return f"{known}; guessing is wrong {percent(told['guessing'])} of the time."
