"""What a form or a questionnaire asks: facts first, so that every page says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from leastwise.generalization import Generalization
from leastwise.partition import Groups, Intervals, Partition, Untouched
from leastwise.partition.labels import NAMED_VALUES, distinguished, group_label, interval_label
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
    return Question(label.name, question_text(label), label.unit, label.personal, widget, choices, "", (), label)


def question_text(attribute: Attribute) -> str:
    """Return the declared question, or the attribute's name."""
    return attribute.question or attribute.name


def _question(partition: Partition) -> Question:
    attribute = partition.attribute
    choices = _choices(partition)
    return Question(
        attribute.name,
        question_text(attribute),
        attribute.unit,
        attribute.personal,
        _widget(partition, choices),
        choices,
        _typed(partition),
        _exact(partition),
        attribute,
    )


def _widget(partition: Partition, choices: Sequence[Choice]) -> Widget:
    if isinstance(partition, Untouched):
        return "number"
    explained = any(choice.members for choice in choices)  # a list inside a select cannot be shown
    return "radio" if len(choices) <= MOST_RADIOS or explained else "select"


def _typed(partition: Partition) -> Typed:
    if partition.untouched:
        return ""
    return "number" if partition.attribute.continuous else "choice"


def _exact(partition: Partition) -> tuple[tuple[str, str], ...]:
    attribute = partition.attribute
    if _typed(partition) != "choice":
        return ()
    return tuple((attribute.label_of(value), value) for value in attribute.values)


def _choices(partition: Partition) -> tuple[Choice, ...]:
    if isinstance(partition, Untouched):
        return ()
    buckets = range(partition.size)
    texts = distinguished([_text(partition, bucket) for bucket in buckets])
    choices = [Choice(partition.labels[bucket], texts[bucket], _members(partition, bucket)) for bucket in buckets]
    own = [bucket for bucket in buckets if _own_text(partition, bucket)]
    extra = [bucket for bucket in reversed(buckets) if bucket not in own]  # "something else" before "no answer"
    return tuple(choices[bucket] for bucket in [*own, *extra])


def _text(partition: Partition, bucket: int) -> str:
    """Say a bucket to a person who answers: "20 to 63, or no answer"."""
    parts = [_own_text(partition, bucket)]
    parts += [SOMETHING_ELSE] if bucket == partition.other_bucket else []
    parts += [NO_ANSWER] if bucket == partition.missing_bucket else []
    said = [part for part in parts if part]
    if not parts[0]:
        said[0] = said[0].capitalize()
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, or {said[-1]}"


def _own_text(partition: Partition, bucket: int) -> str:
    if isinstance(partition, Intervals):
        inner = bucket <= len(partition.edges)
        return interval_label(partition.attribute, *partition.ends(bucket)) if inner else ""
    assert isinstance(partition, Groups)
    values = partition.groups[bucket]
    return group_label(partition.attribute, values) if values else ""


def _members(partition: Partition, bucket: int) -> tuple[str, ...]:
    """Return every value of a bucket whose text names only some of them."""
    if not isinstance(partition, Groups):
        return ()
    values = partition.groups[bucket]
    most_named = 2 if partition.attribute.kind == "ordinal" else NAMED_VALUES
    return tuple(map(partition.attribute.label_of, values)) if len(values) > most_named else ()
