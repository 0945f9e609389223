"""Several labels at once: one form serves several predictions.

To whoever counts, they are one label whose classes are the combinations; how wrong a guess is, is the weighted
share of the labels that it gets wrong (see ``records.several``). To whoever asks, stores or predicts, they are
columns of their own: ``parts``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents import Fields, Problems, is_number
from leastwise.documents.wording import listed
from leastwise.errors import SchemaError, shorten
from leastwise.schema.attribute import (
    Attribute,
    attribute_from_document,
    attribute_to_document,
    plain_number,
    repeated,
    take_attribute,
)

MOST_COMBINATIONS = 64
"""So many combinations of classes are counted, each in thousands of joint buckets."""
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class JointLabel(Attribute):
    """Several labels that are predicted from the same answers.

    Its name is that of all, for sentences; its values are the combinations of their classes, those of the last
    label changing fastest.

    Attributes
    ----------
    parts
        The labels, each with its classes.
    weights
        How much an error about each counts, summing to 1.

    Examples
    --------
    >>> both = joint_label([Attribute("paid", values=("no", "yes")), Attribute("ill", values=("no", "yes"))])
    >>> both.name, both.values[1], both.weights
    ('paid and ill', 'paid no, ill yes', (0.5, 0.5))
    """

    parts: tuple[Attribute, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        problems = label_problems(self.parts, self.weights)
        if problems:
            raise SchemaError(f"labels {shorten(listed([each.name for each in self.parts]))}", problems)

    @property
    def plain(self) -> JointLabel:
        """The same where the values of all are derived already."""
        return replace(self, parts=tuple(each.plain for each in self.parts))

    @property
    def unnamed(self) -> JointLabel:
        """The same without names of buckets."""
        return replace(self, parts=tuple(each.unnamed for each in self.parts))

    def combination(self, codes: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.intp]:
        """Return the number of each record's combination among the values, by the class of each label."""
        return np.asarray(np.ravel_multi_index(tuple(codes), [len(each.values) for each in self.parts]))

    @property
    def weighted(self) -> bool:
        """Whether some labels count more than others."""
        return len({*self.weights}) > 1


def joint_label(parts: Sequence[Attribute], weights: Mapping[str, float] | None = None) -> Attribute:
    """Return several labels as one; one alone is itself.

    Parameters
    ----------
    weights
        By name how much an error about a label counts; 1 where nothing is said.
    """
    given = dict(weights or {})
    for name in given:
        if name not in [each.name for each in parts] or len(parts) < 2:
            raise SchemaError(f"a weight must be one of several labels; {shorten(name)} is none of them")
    if len(parts) == 1:
        return parts[0]
    numbers = [given.get(each.name, 1.0) for each in parts]
    problems = [
        f"the weight of {shorten(each.name)} must be a number above 0; got {shorten(weight)}: leave a label out "
        "that does not count"
        for each, weight in zip(parts, numbers, strict=True)
        if not (is_number(weight) and weight > 0)
    ]
    if problems:
        raise SchemaError("labels", problems)
    total = float(sum(numbers))
    name = listed([each.name for each in parts])
    small = math.prod(max(len(each.values), 1) for each in parts) <= MOST_COMBINATIONS
    values = (
        tuple(_together(parts, classes) for classes in product(*(each.values for each in parts))) if small else ()
    )
    return JointLabel(name, values=values, parts=tuple(parts), weights=tuple(each / total for each in numbers))


def _together(parts: Sequence[Attribute], classes: Sequence[str]) -> str:
    return ", ".join(f"{each.name} {each.label_of(value)}" for each, value in zip(parts, classes, strict=True))


def label_problems(parts: Sequence[Attribute], weights: Sequence[float]) -> list[str]:
    """Return what keeps labels from being predicted together, in words."""
    problems = [f"label {shorten(name)} is named twice" for name in repeated(each.name for each in parts)]
    problems += [f"label {shorten(each.name)} may be no answer; take missing and other away" for each in parts
                 if each.extra_values]  # fmt: skip
    numbers = [each.name for each in parts if each.continuous]
    problems += [
        f"{shorten(name)} is a number to predict, and several labels are predicted as classes; make two classes "
        "of it (derive: above N), or give it a run of its own"
        for name in numbers
    ]
    if not problems and len(parts) < 2:
        problems.append(f"several labels are two or more; got {len(parts)}")
    if not problems and len(weights) != len(parts):
        problems.append(f"each label needs a weight; got {len(weights)} for {len(parts)}")
    classes = [len(each.values) for each in parts]
    if not numbers and math.prod(classes) > MOST_COMBINATIONS:
        of = " x ".join(map(str, classes))
        problems.append(
            f"the labels have {of} = {math.prod(classes):,} combinations of classes, and at most "
            f"{MOST_COMBINATIONS} can be predicted together; leave a label out, or merge classes"
        )
    return problems


def label_names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of what is predicted, of one label or several.

    >>> label_names("paid"), label_names(["paid", "ill"]), label_names(None)
    (('paid',), ('paid', 'ill'), ())
    """
    return (given,) if isinstance(given, str) else tuple(given or ())


def check_agreed(says: str, given: str | Sequence[str] | None, where: object, label: Attribute | None) -> None:
    """Refuse labels that were named, where others are declared; where none is named, nothing disagrees."""
    names, own = label_names(given), [] if label is None else [each.name for each in label.parts]
    if names and {*names} != {*own}:
        shown = "none" if not own else shorten(listed(own))
        raise SchemaError(f"{says} says {shorten(listed(names))}, {where} says {shown}; they must agree")


def label_to_document(label: Attribute | None) -> dict[str, Any]:
    """Return the keys of a document that say what is predicted: ``label``, or ``labels`` of several."""
    if label is None:
        return {}
    if not isinstance(label, JointLabel):
        return {"label": attribute_to_document(label)}
    least = min(label.weights)
    weights = [plain_number(round(each / least, 9)) for each in label.weights]
    told = [{"weight": weight} if label.weighted else {} for weight in weights]
    return {
        "labels": [{**attribute_to_document(each), **own} for each, own in zip(label.parts, told, strict=True)]
    }


def take_label(fields: Fields, problems: Problems) -> Attribute | None:
    """Take what is predicted out of a document; note its problems and return None if there are any."""
    if "labels" not in fields:
        return attribute_from_document(fields.take("label"), ("label",), problems) if "label" in fields else None
    before, parts, weights = len(problems.texts), list[Attribute | None](), dict[str, Any]()
    for i, item in enumerate(fields.items("labels")):
        own = Fields(item, ("labels", i), problems)
        part, weight = take_attribute(own), own.number("weight")
        own.done()
        parts.append(part)
        if part is not None and weight is not None:
            weights[part.name] = weight
    if "label" in fields:
        fields.take("label")
        problems.add(("label",), "labels are said too; say one of the two")
    labels = [each for each in parts if each is not None]
    if len(problems.texts) > before:
        return None
    try:
        if not labels:
            raise SchemaError("labels", ["labels must name at least one"])
        return joint_label(labels, weights)
    except SchemaError as error:
        for problem in error.problems:
            problems.add(("labels",), problem)
        return None
