"""What is asked, in plain language: for the people who are asked, and for whoever must answer for it.

The questions are facts first, so that the form and the questionnaire say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from leastwise.documents.pages import as_is
from leastwise.generalization import Generalization
from leastwise.partition import Groups, Partition, Untouched
from leastwise.partition.labels import NAMED_VALUES, distinguished
from leastwise.schema import Attribute

NO_ANSWER, SOMETHING_ELSE = "no answer", "something else"
MOST_RADIOS = 7

Widget = Literal["radio", "select", "number"]
Typed = Literal["number", "choice", ""]


@dataclass(frozen=True)
class Choice:
    """One bucket: what is recorded, what a person reads, and every value in it where the text names only some."""

    value: str
    text: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """One attribute that is asked.

    ``typed`` tells how a person can find the bucket from the exact value: by a number, by a choice among
    ``exact`` (texts with their values), or not at all, because every value is its own bucket.
    """

    name: str
    text: str
    unit: str
    personal: bool
    widget: Widget
    choices: tuple[Choice, ...]
    typed: Typed
    exact: tuple[tuple[str, str], ...]
    attribute: Attribute

    @property
    def may_be_empty(self) -> bool:
        """Whether an exact number may be left out."""
        return self.widget == "number" and self.attribute.missing


def questions(generalization: Generalization) -> list[Question]:
    """Return what is asked, in the order of the artefact."""
    return [_question(partition) for partition in generalization.partitions if not partition.suppressed]


def label_question(label: Attribute) -> Question:
    """Return the question for the label itself, asked in full."""
    texts = label.labels or label.values
    choices = tuple(Choice(value, text) for value, text in zip(label.values, texts, strict=True))
    widget: Widget = "radio" if len(choices) <= MOST_RADIOS else "select"
    text = label.question or label.name
    return Question(label.name, text, label.unit, label.personal, widget, choices, "", (), label)


def _question(partition: Partition) -> Question:
    attribute, choices = partition.attribute, _choices(partition)
    explained = any(choice.members for choice in choices)  # a list inside a select cannot be shown
    widget: Widget = "radio" if len(choices) <= MOST_RADIOS or explained else "select"
    typed: Typed = "" if partition.untouched else "number" if attribute.continuous else "choice"
    exact = [(attribute.label_of(value), value) for value in attribute.values] if typed == "choice" else []
    return Question(
        attribute.name,
        attribute.question or attribute.name,
        attribute.unit,
        attribute.personal,
        "number" if isinstance(partition, Untouched) else widget,
        choices,
        typed,
        tuple(exact),
        attribute,
    )


def _choices(partition: Partition) -> tuple[Choice, ...]:
    if isinstance(partition, Untouched):
        return ()
    buckets = range(partition.size)
    texts = distinguished([_text(partition, bucket) for bucket in buckets])
    choices = [Choice(partition.labels[bucket], texts[bucket], _members(partition, bucket)) for bucket in buckets]
    own = [bucket for bucket in buckets if partition.own_label(bucket)]
    extra = [bucket for bucket in reversed(buckets) if bucket not in own]  # "something else" before "no answer"
    return tuple(choices[bucket] for bucket in [*own, *extra])


def _text(partition: Partition, bucket: int) -> str:
    """Say a bucket to a person who answers: "20 to 63, or no answer"."""
    parts = [partition.own_label(bucket)]
    parts += [SOMETHING_ELSE] if bucket == partition.other_bucket else []
    parts += [NO_ANSWER] if bucket == partition.missing_bucket else []
    said = [part for part in parts if part]
    if not parts[0]:
        said[0] = said[0].capitalize()
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, or {said[-1]}"


def _members(partition: Partition, bucket: int) -> tuple[str, ...]:
    """Return every value of a bucket whose text names only some of them."""
    if not isinstance(partition, Groups):
        return ()
    values = partition.groups[bucket]
    most_named = 2 if partition.attribute.kind == "ordinal" else NAMED_VALUES
    return tuple(map(partition.attribute.label_of, values)) if len(values) > most_named else ()


TITLE = "What we ask, and what we do not"


def questionnaire(
    generalization: Generalization,
    *,
    title: str = TITLE,
    label: bool = False,
    why: Mapping[str, str] | None = None,
) -> str:
    """Return the questions as Markdown: what is asked, what is not, and how answers are recorded.

    Parameters
    ----------
    generalization
        What is asked.
    title
        The heading.
    label
        Whether the label is asked too, as the training phase needs it.
    why
        By attribute, why it is asked: see ``Necessity.reasons``.
    """
    asked = questions(generalization)
    if label and generalization.label is not None:
        asked.append(label_question(generalization.label))
    lines = [f"# {as_is(title)}", "", _summary(generalization), ""]
    for number, question in enumerate(asked, start=1):
        reason = (why or {}).get(question.name)
        lines += [*_asked(number, question), "", *([f"*Why we ask: {as_is(reason)}*", ""] if reason else [])]
    lines += [*_not_asked(generalization), *_rules(asked), *_overview(generalization)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(generalization: Generalization) -> str:
    collected, everything = len(generalization.collected), len(generalization)
    text = f"Asked: {collected} of {everything} attributes."
    if generalization.label is not None:
        text += f" The answers serve to predict **{as_is(generalization.label.name)}**."
    return text + " Nothing else about a person is collected."


def _asked(number: int, question: Question) -> Iterator[str]:
    unit = f" (in {as_is(question.unit)})" if question.unit else ""
    yield f"## {number}. {as_is(question.text)}{unit}"
    yield ""
    if question.widget == "number":
        empty = "; it may be left empty" if question.may_be_empty else ""
        yield f"Answer with the exact number: {question.attribute.domain_text()}{empty}."
        return
    yield "Choose one:"
    yield ""
    for choice in question.choices:
        members = f" (all of them: {as_is(', '.join(choice.members))})" if choice.members else ""
        yield f"- [ ] {as_is(choice.text)}{members}"


def _not_asked(generalization: Generalization) -> Iterator[str]:
    if not generalization.not_collected:
        return
    yield "## What is not asked"
    yield ""
    yield "These were considered and are not needed. They are not asked, not received and not stored:"
    yield ""
    for name in generalization.not_collected:
        yield f"- {_titled(generalization[name].attribute)}"
    yield ""


def _titled(attribute: Attribute) -> str:
    asked = f" (“{as_is(attribute.question)}”)" if attribute.question else ""
    return f"{as_is(attribute.name)}{asked}" + (", personal" if attribute.personal else "")


def _rules(asked: list[Question]) -> Iterator[str]:
    exact = [question for question in asked if question.widget == "number"]
    ranges = [question for question in asked if question.typed == "number"]
    yield "## How an answer is recorded"
    yield ""
    yield "- Recorded is the line that was chosen, not the value behind it."
    if exact:
        yield f"- Recorded exactly, because that is needed: {', '.join(as_is(each.name) for each in exact)}."
    if any(not question.attribute.integer for question in ranges):
        yield "- A number that lies on the border of two ranges belongs to the lower one."
    if any(question.attribute.missing for question in asked):
        yield "- “No answer” is an answer like any other where it is offered."
    if any(question.attribute.other for question in asked):
        yield "- “Something else” stands for every value that is not listed."
    yield ""


def _overview(generalization: Generalization) -> Iterator[str]:
    yield "## Overview for the data protection officer"
    yield ""
    yield "| attribute | personal | its values | asked as |"
    yield "|---|---|---|---|"
    for partition in generalization.partitions:
        attribute = partition.attribute
        personal = "yes" if attribute.personal else "no"
        domain = "not published" if partition.suppressed else _domain(attribute)
        yield f"| {as_is(attribute.name)} | {personal} | {domain} | {_asked_as(partition)} |"
    yield ""
    yield (
        "Coarse answers tell less than exact ones, but not nothing: several together can still point to one "
        "person. How well each attribute can be guessed from the answers, and how many people stand alone with "
        "theirs, is measured on a sample by `leastwise evaluate`."
    )


def _domain(attribute: Attribute) -> str:
    extras = [name for name, there in (("no answer", attribute.missing), ("others", attribute.other)) if there]
    return ", ".join([attribute.domain_text(), *extras])


def _asked_as(partition: Partition) -> str:
    if partition.suppressed:
        return "**not asked**"
    if isinstance(partition, Untouched):
        return "the exact number"
    return f"{partition.size} answers" + (", every value its own" if partition.untouched else "")
