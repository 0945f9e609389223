"""The model card: what a model was made for and how good it is, for people and for machines."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from leastwise.confidence import Interval
from leastwise.documents import Fields, Problems, read_json
from leastwise.documents.markdown import as_is
from leastwise.errors import ArtefactError, shorten
from leastwise.models.model import ModelFacts

FORMAT, VERSION = "leastwise-model", 1
_COUNTS = ("tested", "trained", "unlabelled", "seed")


def facts_to_document(facts: ModelFacts) -> dict[str, Any]:
    """Return the facts for machines."""
    return {"format": FORMAT, "version": VERSION, **asdict(facts)}


def facts_to_json(facts: ModelFacts) -> str:
    """Return the facts as the text of a file."""
    return json.dumps(facts_to_document(facts), ensure_ascii=False, indent=1) + "\n"


def facts_from_json(text: str) -> ModelFacts:
    """Read the facts; complain about everything that is wrong with them."""
    problems = Problems()
    fields = Fields(read_json(text, problems), (), problems)
    if (fields.take("format"), fields.take("version")) != (FORMAT, VERSION):
        raise ArtefactError(f"not the facts of a model of this release ({FORMAT}, version {VERSION})")
    numbers = {name: fields.number(name) for name in ("error", "baseline", *_COUNTS)}
    texts: dict[str, Any] = {name: fields.text(name) for name in ("fingerprint", "label", "estimator")}
    interval = fields.take("interval")
    versions = fields.take("versions", {})
    classes, collected = fields.texts("classes"), fields.texts("collected")
    fields.done()
    if problems.texts or None in numbers.values() or not _is_interval(interval) or not isinstance(versions, dict):
        raise ArtefactError("the facts of the model cannot be trusted", problems.texts)
    whole: dict[str, Any] = {name: int(numbers[name] or 0) for name in _COUNTS}
    shares: dict[str, Any] = {name: numbers[name] for name in ("error", "baseline")}
    known = {shorten(str(name)).strip("'"): str(text) for name, text in versions.items()}
    return ModelFacts(**texts, **whole, **shares, classes=classes, collected=collected,
                      interval=Interval(*map(float, interval)), versions=known)  # fmt: skip


def _is_interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(end, int | float) for end in value)


def card(facts: ModelFacts) -> str:
    """Return the model card as Markdown."""
    low, high = facts.interval
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items())
    return f"""# Model card: {as_is(facts.label)}

Predicts **{as_is(facts.label)}** ({", ".join(map(as_is, facts.classes))}) from generalized records.

| | |
|---|---|
| generalization | `{facts.fingerprint}` |
| it reads | {", ".join(map(as_is, facts.collected))} |
| estimator | `{facts.estimator}` |
| wrong on held-out records | {facts.error:.2%} (95 % interval {low:.2%} to {high:.2%}; {facts.tested:,} records) |
| always answering the most frequent class | {facts.baseline:.2%} |
| fitted on | {facts.trained:,} records with a label, {facts.unlabelled:,} without one left out |
| seed | {facts.seed} |
| made with | {versions} |

**How it was measured.** The same pipeline was fitted on the records that were not held out and asked about those
that were; the saved model is fitted on all of them. The interval is exact (binomial) for records like these. It
says nothing about other people, or about the same people later: compare what arrives with `leastwise monitor`.

**What it has seen.** Labels of buckets only, of the attributes above. It answers only records of this
generalization. A model can still tell something about the records it was fitted on; it holds no more than they do.

**What it is not.** It was not examined for differences between groups of people. Whoever decides about people
with it must do that.
"""
