"""What is asked, in plain language: for the people who are asked, and for whoever must answer for it.

The questions are facts first, so that the form and the questionnaire say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from leastwise.documents.pages import as_is
from leastwise.documents.wording import counted
from leastwise.errors import ParameterError, shorten
from leastwise.exports.languages import Translation, check_names
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.partition.labels import distinguished
from leastwise.schema import Attribute
from leastwise.schema.derive import columns_of, notation_of
from leastwise.schema.values import Say

NO_ANSWER, SOMETHING_ELSE, PREFER_NOT = "no answer", "something else", "I prefer not to say"
MOST_RADIOS = 7

Widget = Literal["radio", "select", "number"]
Typed = Literal["number", "choice", "text", ""]


@dataclass(frozen=True)
class Choice:
    """One bucket: what is recorded, what a person reads, and what is in it where the text does not say that."""

    value: str
    text: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """One attribute that is asked.

    ``typed`` tells how a person can find the bucket from the exact value: by a number, by a choice among
    ``exact`` (texts with their values), by the text of which the question is derived, or not at all, because every
    value is its own bucket.
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
    prefer_not: bool = False

    @property
    def may_be_empty(self) -> bool:
        """Whether an exact number may be left out."""
        return self.widget == "number" and self.attribute.missing

    @property
    def notation(self) -> str:
        """How the exact value is written of which the answer is derived; empty where any text will do."""
        return notation_of(self.attribute.derive) if self.typed == "text" else ""


def questions(
    generalization: Generalization,
    translation: Translation | None = None,
    say: Say = str,
    prefer_not_to_say: Collection[str] = (),
) -> list[Question]:
    """Return what is asked, in the order of the artefact.

    Parameters
    ----------
    translation, say
        The texts of a language, and what says our own words in it.
    prefer_not_to_say
        The attributes for which that is an answer of its own; it is recorded as a missing one.
    """
    check_names("prefer_not_to_say names", prefer_not_to_say, generalization.schema.names)
    asked = [partition for partition in generalization.partitions if not partition.suppressed]
    for attribute in (partition.attribute for partition in asked):
        if attribute.name in prefer_not_to_say and not attribute.missing:
            raise ParameterError(
                f"{attribute.name} cannot offer “prefer not to say”: no answer of it stands for a missing one; "
                "declare missing: true for it in the schema and make the generalization anew"
            )
    told = translation or Translation()
    return [
        _question(partition, told.of_partition(partition), say, partition.attribute.name in prefer_not_to_say)
        for partition in asked
    ]


def label_question(label: Attribute, translation: Translation | None = None) -> Question:
    """Return the question for the label itself, asked in full."""
    if label.continuous:
        raise ParameterError(
            f"{shorten(label.name)} is a number, and a form asks for classes; leave the label out"
        )
    said = (translation or Translation()).of_attribute(label)
    choices = tuple(Choice(value, said.label_of(value)) for value in label.values)
    widget: Widget = "radio" if len(choices) <= MOST_RADIOS else "select"
    text = said.question or label.name
    return Question(label.name, text, said.unit, label.personal, widget, choices, "", (), said)


def _question(partition: Partition, spoken: Partition, say: Say, prefer_not: bool) -> Question:
    attribute, choices = spoken.attribute, _choices(partition.labels, spoken, say, prefer_not)
    explained = any(choice.members for choice in choices)  # a list inside a select cannot be shown
    widget: Widget = "radio" if len(choices) <= MOST_RADIOS or explained else "select"
    typed = _typed(partition)
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
        prefer_not,
    )


def _typed(partition: Partition) -> Typed:
    attribute = partition.attribute
    if isinstance(partition, Untouched):
        return ""
    if attribute.derive and not columns_of(attribute.derive):  # nobody types two columns: who answers knows where
        return "text"
    return "" if partition.untouched else "number" if attribute.continuous else "choice"


def _choices(labels: tuple[str, ...], partition: Partition, say: Say, prefer_not: bool) -> tuple[Choice, ...]:
    """Return the buckets as answers; each is recorded by its label, whatever people read."""
    if isinstance(partition, Untouched):
        return ()
    buckets = range(partition.size)
    texts = distinguished([_text(partition, bucket, say, prefer_not) for bucket in buckets])
    behind = [() if partition.attribute.continuous else partition.behind(bucket, say) for bucket in buckets]
    choices = [Choice(labels[bucket], texts[bucket], behind[bucket]) for bucket in buckets]
    own = [bucket for bucket in buckets if partition.own_label(bucket)]
    extra = [bucket for bucket in reversed(buckets) if bucket not in own]  # "something else" before "no answer"
    missing = partition.missing_bucket
    shared = []
    if prefer_not and missing is not None and texts[missing] != say(PREFER_NOT):
        beside = say("kept with “{}”").format(texts[missing])
        shared = [Choice(labels[missing], f"{say(PREFER_NOT)} ({beside})")]
    return (*(choices[bucket] for bucket in [*own, *extra]), *shared)


def _text(partition: Partition, bucket: int, say: Say, prefer_not: bool) -> str:
    """Say a bucket to a person who answers: "20 to 63, or no answer"."""
    if partition.name(bucket):
        # Whoever answers must see of which numbers a name is.
        numbers = partition.behind(bucket, say) if partition.attribute.continuous else ()
        return f"{partition.name(bucket)} ({numbers[0]})" if numbers else partition.name(bucket)
    own, missing = partition.own_label(bucket, say), bucket == partition.missing_bucket
    said = [own] if own else []
    said += [say(SOMETHING_ELSE)] if bucket == partition.other_bucket else []
    if missing and prefer_not:  # an answer of its own
        said = said or [say(PREFER_NOT)]
    elif missing:
        said += [say(NO_ANSWER)]
    if not own:
        said[0] = said[0][0].upper() + said[0][1:]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, {say('or')} {said[-1]}"


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
    asked += [label_question(each) for each in generalization.schema.labels if label]
    lines = [f"# {as_is(title)}", "", _summary(generalization), ""]
    for number, question in enumerate(asked, start=1):
        reason = (why or {}).get(question.name)
        lines += [*_asked(number, question), "", *([f"*Why we ask: {as_is(reason)}*", ""] if reason else [])]
    lines += [*_not_asked(generalization), *_rules(asked), *_overview(generalization)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(generalization: Generalization) -> str:
    collected, everything = len(generalization.collected), len(generalization)
    if not collected:
        return f"Asked: nothing of {counted(everything, 'attribute')}. Nothing about a person is collected."
    text = f"Asked: {collected} of {counted(everything, 'attribute')}."
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
    if not asked:
        return
    exact = [question for question in asked if question.widget == "number"]
    ranges = [question for question in asked if question.typed and question.attribute.continuous]
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
    if not generalization.collected:
        return
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
    return counted(partition.size, "answer") + (", every value its own" if partition.untouched else "")
