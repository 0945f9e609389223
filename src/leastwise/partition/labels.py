"""What people read for a bucket: "20 to 63", "a, b or c", "any"."""

from __future__ import annotations

import math
from collections.abc import Sequence

from leastwise.schema import Attribute
from leastwise.schema.values import Say, number_text, say_numbers

# A group of 300 occupations is named by its first few; the artefact holds the whole list.
NAMED_VALUES = 6


def interval_label(attribute: Attribute, above: float | None, up_to: float | None, say: Say = str) -> str:
    """Name the numbers in (above, up_to] that the domain has; None is an open end.

    ``say`` puts the words into another language.

    >>> age = Attribute("age", "continuous", lower=0, integer=True)
    >>> [interval_label(age, *ends) for ends in [(None, 19), (19, 63), (63, 64), (64, None)]]
    ['0 to 19', '20 to 63', '64', '65 or more']
    >>> pay = Attribute("pay", "continuous")
    >>> [interval_label(pay, *ends) for ends in [(None, 0.5), (0.5, 7), (7, None)]]
    ['up to 0.5', 'above 0.5, up to 7', 'above 7']
    """
    return (_whole_numbers if attribute.integer else _real_numbers)(attribute, above, up_to, say)


def _whole_numbers(attribute: Attribute, above: float | None, up_to: float | None, say: Say) -> str:
    first = attribute.lower if above is None else math.floor(above) + 1
    last = attribute.upper if up_to is None else math.floor(up_to)
    if first is None:
        return say("any number") if last is None else say_numbers(say, "{} or less", last)
    if last is None:
        return say_numbers(say, "{} or more", first)
    return number_text(first) if first == last else say_numbers(say, "{} to {}", first, last)


def _real_numbers(attribute: Attribute, above: float | None, up_to: float | None, say: Say) -> str:
    last = attribute.upper if up_to is None else up_to
    if above is None and attribute.lower is not None and last is not None:
        return say_numbers(say, "{} to {}", attribute.lower, last)
    if above is None and attribute.lower is not None:
        return say_numbers(say, "{} or more", attribute.lower)
    if above is None:
        return say("any number") if last is None else say_numbers(say, "up to {}", last)
    if last is None:
        return say_numbers(say, "above {}", above)
    return say_numbers(say, "above {}, up to {}", above, last)


def group_label(attribute: Attribute, values: Sequence[str], say: Say = str) -> str:
    """Name the values of a group, by the hierarchy where there is one; of an ordinal run, its first and last.

    >>> from dataclasses import replace
    >>> from leastwise.schema.hierarchy import Hierarchy
    >>> colour = Attribute("colour", values=("red", "green", "blue"))
    >>> group_label(colour, ["red", "blue"]), group_label(colour, colour.values)
    ('red or blue', 'red, green or blue')
    >>> tree = Hierarchy.from_tree({"warm": ["red"], "cold": ["green", "blue"]})
    >>> group_label(replace(colour, hierarchy=tree), ["green", "blue"])
    'cold'
    >>> size = Attribute("size", "ordinal", values=("S", "M", "L"))
    >>> group_label(size, size.values)
    'S to L'
    """
    names = values if attribute.hierarchy is None else attribute.hierarchy.names(values)
    labels = [attribute.label_of(name) if name in attribute.code_of else name for name in names]
    if attribute.kind == "ordinal" and len(labels) > 2:
        return say("{} to {}").format(labels[0], labels[-1])
    if len(labels) > NAMED_VALUES:
        rest = len(labels) - (NAMED_VALUES - 1)
        labels = [*labels[: NAMED_VALUES - 1], say("{} others").format(rest)]
    return alternatives(labels, say)


def alternatives(labels: Sequence[str], say: Say = str) -> str:
    """Join labels by commas and "or".

    >>> alternatives(["a", "b", "c"])
    'a, b or c'
    """
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} {say('or')} {labels[-1]}"


def distinguished(labels: Sequence[str]) -> list[str]:
    """Number the labels that are not unique, so that a label always tells its bucket.

    >>> distinguished(["a or b", "c", "a or b"])
    ['a or b', 'c', 'a or b (2)']
    """
    taken: set[str] = set()
    result = []
    for label in labels:
        unique, count = label, 1
        while unique in taken or (count > 1 and unique in labels):
            count += 1
            unique = f"{label} ({count})"
        taken.add(unique)
        result.append(unique)
    return result
