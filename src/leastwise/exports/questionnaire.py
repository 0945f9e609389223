"""What is asked, in plain language: for the people who are asked, and for whoever must answer for it."""

from __future__ import annotations

from collections.abc import Iterator

from leastwise.documents.markdown import as_is
from leastwise.exports.questions import Question, label_question, questions
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.schema import Attribute

TITLE = "What we ask, and what we do not"


def questionnaire(generalization: Generalization, *, title: str = TITLE, label: bool = False) -> str:
    """Return the questions as Markdown: what is asked, what is not, and how answers are recorded.

    Parameters
    ----------
    generalization
        What is asked.
    title
        The heading.
    label
        Whether the label is asked too, as the training phase needs it.
    """
    asked = questions(generalization)
    if label and generalization.label is not None:
        asked.append(label_question(generalization.label))
    lines = [f"# {as_is(title)}", "", _summary(generalization), ""]
    for number, question in enumerate(asked, start=1):
        lines += [*_question(number, question), ""]
    lines += [*_not_asked(generalization), *_rules(asked), *_overview(generalization)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _summary(generalization: Generalization) -> str:
    collected, everything = len(generalization.collected), len(generalization)
    text = f"Asked: {collected} of {everything} attributes."
    if generalization.label is not None:
        text += f" The answers serve to predict **{as_is(generalization.label.name)}**."
    return text + " Nothing else about a person is collected."


def _question(number: int, question: Question) -> Iterator[str]:
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
        yield f"| {as_is(attribute.name)} | {personal} | {_domain(attribute)} | {_asked_as(partition)} |"
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
