"""A generalization in words: what is asked, what is not, and how two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from leastwise.documents import html
from leastwise.documents.pages import as_is
from leastwise.documents.wording import counted, shortened, some
from leastwise.partition import Partition

Change = Literal["same", "coarser", "finer", "different"]
_VERDICTS: dict[Change, str] = {
    "same": "Both ask the same.",
    "coarser": "The second is coarser: whoever knows the first learns nothing from it.",
    "finer": "The second is finer: it tells more than the first.",
    "different": "Neither is coarser: together they tell more than each alone.",
}


def bucket_texts(partition: Partition) -> list[str]:
    """Return the answers that a person can choose from."""
    if partition.suppressed:
        return ["not asked"]
    return list(partition.labels) or ["the exact number"]


def explained(partition: Partition) -> list[str]:
    """Return the answers, each name with what it stands for."""
    texts = bucket_texts(partition)
    if partition.attribute.names and not partition.suppressed:
        told = [partition.told(bucket) if partition.name(bucket) else "" for bucket in range(len(texts))]
        texts = [f"{text} ({behind})" if behind else text for text, behind in zip(texts, told, strict=True)]
    return texts


def footnotes(partitions: Sequence[Partition]) -> list[str]:
    """Return what each name stands for, in full: a table has no room for it.

    >>> from leastwise import Attribute, Groups
    >>> status = Attribute("status", values=("single", "civil", "church"))
    >>> groups = Groups(status, (0, 1, 1))
    >>> footnotes([groups, groups.of_attribute(status.naming(groups.content(1), "married"))])
    ['status, “married”: civil, church']
    """
    return [
        f"{partition.attribute.name}, “{partition.name(bucket)}”: {', '.join(partition.behind(bucket))}"
        for partition in partitions
        if partition.attribute.names and not partition.suppressed and partition.labels
        for bucket in range(partition.size)
        if partition.name(bucket) and partition.behind(bucket)
    ]


def heading(partitions: Sequence[Partition]) -> str:
    """Say in one line how much is asked.

    >>> heading([])
    'Ask 0 of 0 attributes.'
    """
    asked = [p for p in partitions if not p.suppressed]
    exact = sum(1 for p in asked if p.untouched)
    answers = sum(p.size for p in asked)
    text = f"Ask {len(asked)} of {counted(len(partitions), 'attribute')}"
    text += f", {exact} of them in full" if exact else ""
    return text + (f", {counted(answers, 'answer')} in all." if answers else ".")


def questions_in_words(partitions: Sequence[Partition], most: int = 12, unasked: str = "do not ask") -> str:
    """Name the questions: in how many ranges or groups each is asked, and what is not asked.

    >>> from leastwise import Attribute, Intervals
    >>> from leastwise.partition import keep, suppress
    >>> age, sex = Attribute("age", "continuous"), Attribute("sex", values=("f", "m"))
    >>> questions_in_words([Intervals(age, (19, 63)), suppress(sex)])
    'age in 3 ranges; do not ask sex'
    >>> questions_in_words([keep(age), keep(sex)])
    'age exactly and sex in full'
    """
    asked = [f"{p.attribute.name} {how_asked(p)}" for p in partitions if not p.suppressed]
    left = [p.attribute.name for p in partitions if p.suppressed]
    parts = [some(asked, most)] if asked else []
    return "; ".join([*parts, f"{unasked} {some(left, most, 'or')}"] if left else parts)


def answers_in_words(partitions: Sequence[Partition], what: str = "") -> str:
    """Say how many answers there are in all; a number that is asked exactly has no such count, and is named.

    >>> from leastwise.partition import keep
    >>> from leastwise.schema import Attribute
    >>> sex = keep(Attribute("sex", values=("f", "m")))
    >>> pay = keep(Attribute("pay", "continuous", lower=0, upper=9))
    >>> answers_in_words([sex], " answer"), answers_in_words([sex, pay, pay]), answers_in_words([pay], " answer")
    ('2 answers', '2 and 2 exact numbers', '1 exact number')
    """
    asked = [partition for partition in partitions if not partition.suppressed]
    answers, exact = sum(each.size for each in asked), sum(1 for each in asked if not each.size)
    parts = [f"{answers:,}{what}{'s' if what and answers != 1 else ''}"] if answers or not exact else []
    return " and ".join([*parts, counted(exact, "exact number")] if exact else parts)


def how_asked(partition: Partition) -> str:
    """Say how an attribute is asked: exactly, in full, or in how many ranges or groups."""
    if partition.untouched:
        return "exactly" if partition.attribute.continuous else "in full"
    return f"in {counted(partition.size, 'group' if partition.attribute.kind == 'discrete' else 'range')}"


def as_text(partitions: Sequence[Partition]) -> str:
    """Describe the buckets as indented text."""
    lines = [heading(partitions)]
    for partition in partitions:
        lines += ["", _title(partition), *(f"    {text}" for text in explained(partition))]
    return "\n".join(lines)


def as_markdown(partitions: Sequence[Partition]) -> str:
    """Describe the buckets as a Markdown table."""
    rows = ["| attribute | buckets | answers |", "|---|---|---|"]
    for partition in partitions:
        answers = " · ".join(map(as_is, bucket_texts(partition)))
        rows.append(f"| {as_is(_title(partition))} | {_count(partition)} | {answers} |")
    notes = [f"- {as_is(note)}" for note in footnotes(partitions)]
    return "\n".join([heading(partitions), "", *rows, *(["", *notes] if notes else [])])


def as_html(partitions: Sequence[Partition]) -> str:
    """Describe the buckets as a table for a notebook."""
    texts = [" · ".join(shortened(bucket_texts(p))) for p in partitions]
    counts = ["" if p.suppressed else _count(p) for p in partitions]
    rows = [[p.attribute.name, *each] for p, *each in zip(partitions, texts, counts, strict=True)]
    marks = ["personal" if p.attribute.personal else "" for p in partitions]
    columns = ("attribute", "what can be answered", "answers")
    listing = html.table(columns, rows, numbers=columns[-1:], marks=marks)
    notes = html.paragraphs(footnotes(partitions), soft=True)
    return html.box(html.heading(heading(partitions)), listing, notes)


def _count(partition: Partition) -> str:
    return "all" if partition.untouched and not partition.size else str(partition.size)


def _title(partition: Partition) -> str:
    attribute = partition.attribute
    notes = [attribute.unit] if attribute.unit else []
    notes += ["personal"] if attribute.personal else []
    return attribute.name + (f" ({', '.join(notes)})" if notes else "")


@dataclass(frozen=True)
class Comparison:
    """What one generalization asks more or less finely than another, attribute by attribute."""

    names: tuple[str, ...]
    changes: tuple[Change, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def overall(self) -> Change:
        """The one word that is true of all attributes, "different" if there is none."""
        kinds = {change for change in self.changes if change != "same"}
        return "same" if not kinds else kinds.pop() if len(kinds) == 1 else "different"

    def __str__(self) -> str:
        lines = [_VERDICTS[self.overall]]
        for name, change, before, after in zip(self.names, self.changes, self.before, self.after, strict=True):
            if change != "same":
                lines += ["", f"{name}: {change}", f"    before  {before}", f"    after   {after}"]
        return "\n".join(lines)


def compare(before: Sequence[Partition], after: Sequence[Partition]) -> Comparison:
    """Compare two generalizations of the same attributes."""
    pairs = list(zip(before, after, strict=True))
    return Comparison(
        names=tuple(p.attribute.name for p in before),
        changes=tuple(_change(first, second) for first, second in pairs),
        before=tuple(" | ".join(bucket_texts(p)) for p in before),
        after=tuple(" | ".join(bucket_texts(p)) for p in after),
    )


def _change(before: Partition, after: Partition) -> Change:
    coarser, finer = after.is_coarser_than(before), before.is_coarser_than(after)
    if coarser and finer:
        return "same"
    return "coarser" if coarser else "finer" if finer else "different"
