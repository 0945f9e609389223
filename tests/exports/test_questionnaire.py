"""The questionnaire says what is asked, in words that Markdown cannot twist."""

from __future__ import annotations

import pytest
from hypothesis import given

from leastwise import Attribute, Generalization, Groups, Intervals, Untouched
from leastwise.exports import questionnaire
from leastwise.partition import suppress
from tests.strategies import generalizations

age = Attribute("age", "continuous", lower=0, integer=True, unit="years", question="How old are you?")
pay = Attribute("pay", "continuous", missing=True, other=True)
G = Generalization(
    (
        Intervals(age, (19, 63)),
        Intervals(pay, (0.5,), (2, 0)),
        Untouched(Attribute("children", "continuous", lower=0, upper=20, integer=True, missing=True)),
        suppress(Attribute("sex", values=("f", "m"), personal=True, question="What is your sex?")),
    ),
    Attribute("rich", values=("0", "1"), labels=("no", "yes")),
)

EXPECTED = """\
# What we ask, and what we do not

Asked: 3 of 4 attributes. The answers serve to predict **rich**. Nothing else about a person is collected.

## 1. How old are you? (in years)

Choose one:

- [ ] 0 to 19
- [ ] 20 to 63
- [ ] 64 or more

## 2. pay

Choose one:

- [ ] up to 0.5, or something else
- [ ] above 0.5
- [ ] No answer

## 3. children

Answer with the exact number: whole numbers from 0 to 20; it may be left empty.

## What is not asked

These were considered and are not needed. They are not asked, not received and not stored:

- sex (“What is your sex?”), personal

## How an answer is recorded

- Recorded is the line that was chosen, not the value behind it.
- Recorded exactly, because that is needed: children.
- A number that lies on the border of two ranges belongs to the lower one.
- “No answer” is an answer like any other where it is offered.
- “Something else” stands for every value that is not listed.

## Overview for the data protection officer

| attribute | personal | its values | asked as |
|---|---|---|---|
| age | no | whole numbers from 0 | 3 answers |
| pay | no | numbers, open at both ends, no answer, others | 3 answers |
| children | no | whole numbers from 0 to 20, no answer | the exact number |
| sex | yes | not published | **not asked** |

"""


def test_it_reads_like_this() -> None:
    text = questionnaire(G)
    assert text.startswith(EXPECTED)
    assert "several together can still point to one person" in text


def test_the_label_can_be_asked_too() -> None:
    assert "## 4. rich\n\nChoose one:\n\n- [ ] no\n- [ ] yes\n" in questionnaire(G, label=True)


def test_a_long_group_is_listed_in_full() -> None:
    job = Attribute("job", values=tuple("abcdefgh"))
    text = questionnaire(Generalization((Groups(job, (0, 0, 0, 0, 0, 0, 0, 1)),)))
    assert "- [ ] a, b, c, d, e or 2 others (all of them: a, b, c, d, e, f, g)" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("[x](http://y)", "\\[x\\](http://y)"),
        ("a\n# b", "a \\# b"),
        ("- a", "\\- a"),
        ("1. a", "1\\. a"),
        ("*a* `b` ~c~", "\\*a\\* \\`b\\` \\~c\\~"),
    ],
)
def test_names_are_only_names(name: str, shown: str) -> None:
    text = questionnaire(Generalization((suppress(Attribute(name, values=("x", "y"))),)))
    assert f"\n- {shown}\n" in text
    assert f"| {shown} | no |" in text


@given(generalizations())
def test_every_answer_has_its_line(g: Generalization) -> None:
    text = questionnaire(g)
    asked = [partition for partition in g.partitions if not partition.suppressed]
    assert text.count("\n- [ ] ") == sum(len(partition.labels) for partition in asked)
    assert text.count("\n## ") == len(asked) + 1 + bool(asked) + bool(g.not_collected)
    assert len([line for line in text.split("\n") if line.startswith("| ")]) == len(g) + 1


def test_where_nothing_is_asked_no_answer_is_spoken_of() -> None:
    text = questionnaire(Generalization((suppress(age),)))
    assert "Asked: nothing of 1 attribute. Nothing about a person is collected." in text
    assert "How an answer is recorded" not in text
    assert "answers" not in text
