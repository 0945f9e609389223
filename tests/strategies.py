"""Hypothesis strategies: attributes, partitions, generalizations, records and encoded tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Partition, Schema, Table, Untouched
from leastwise.schema.values import text_of

texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
whole = st.integers(-1000, 1000).map(float)
real = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def continuous_attributes(draw: st.DrawFn, name: str | None = None) -> Attribute:
    integer = draw(st.booleans())
    numbers = whole if integer else real
    bounds = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    lower, upper = (bound if draw(st.booleans()) else None for bound in bounds)
    flags = {flag: draw(st.booleans()) for flag in ("missing", "other", "personal")}
    return Attribute(name or draw(texts), "continuous", lower=lower, upper=upper, integer=integer, **flags)


@st.composite
def discrete_attributes(draw: st.DrawFn, name: str | None = None) -> Attribute:
    values = draw(st.lists(texts.filter(text_of), min_size=1, max_size=6, unique_by=text_of))
    labels = draw(st.lists(texts, min_size=len(values), max_size=len(values), unique=True) | st.just([]))
    flags = {flag: draw(st.booleans()) for flag in ("missing", "other", "personal")}
    kind = draw(st.sampled_from(["ordinal", "discrete"]))
    return Attribute(name or draw(texts), kind, values=tuple(values), labels=tuple(labels), **flags)  # type: ignore[arg-type]


def attributes(name: str | None = None) -> st.SearchStrategy[Attribute]:
    return continuous_attributes(name) | discrete_attributes(name)


@st.composite
def intervals(draw: st.DrawFn, attribute: Attribute) -> Partition:
    if draw(st.integers(0, 9)) == 0:
        return Untouched(attribute)
    low = attribute.lower if attribute.lower is not None else -1000.0
    high = attribute.upper if attribute.upper is not None else max(low, 1000.0)
    if attribute.integer:
        numbers = st.integers(int(low), int(high) - 1).map(float) if high > low else st.nothing()
    else:
        numbers = st.floats(low, high, exclude_max=True)
    edges = sorted(draw(st.lists(numbers, max_size=4, unique=True))) if high > low else []
    edges = [edge + 0.0 for edge in dict.fromkeys(edges)]  # -0.0 and 0.0 are one edge
    extras, size = [], len(edges) + 1
    for _ in range(attribute.extra_values):
        extras.append(draw(st.integers(0, size)))
        size = max(size, extras[-1] + 1)
    return Intervals(attribute, tuple(edges), tuple(extras))


@st.composite
def groups(draw: st.DrawFn, attribute: Attribute) -> Groups:
    count = len(attribute.values)
    if attribute.kind == "ordinal":
        steps = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
        inner = list(np.cumsum(steps))
    else:
        inner = draw(st.lists(st.integers(0, count), min_size=count, max_size=count))
    extras = draw(
        st.lists(st.integers(0, count + 2), min_size=attribute.extra_values, max_size=attribute.extra_values)
    )
    return Groups(attribute, tuple(int(mark) for mark in [*inner, *extras]))


def partitions(attribute: Attribute) -> st.SearchStrategy[Partition]:
    return intervals(attribute) if attribute.continuous else groups(attribute)


@st.composite
def schemas(draw: st.DrawFn, label: bool = True) -> Schema:
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    declared = tuple(draw(attributes(name)) for name in names)
    classes = Attribute("label", values=("no", "yes")) if label and "label" not in names else None
    return Schema(declared, classes)


@st.composite
def generalizations(draw: st.DrawFn, schema: Schema | None = None) -> Generalization:
    schema = schema or draw(schemas())
    return Generalization(tuple(draw(partitions(a)) for a in schema.attributes), schema.label)


def values(attribute: Attribute) -> st.SearchStrategy[Any]:
    """Raw values of the domain, edges of the domain and missing ones included."""
    missing = st.sampled_from([None, math.nan]) if attribute.missing else st.nothing()
    if not attribute.continuous:
        known = st.sampled_from(attribute.values) if attribute.values else st.nothing()
        return known | missing
    low, high = attribute.lower, attribute.upper
    ends = [end for end, open_ in ((-math.inf, low is None), (math.inf, high is None)) if open_]
    ends += [bound for bound in (low, high) if bound is not None]
    if attribute.integer:
        # Beyond 2^53 floats skip whole numbers, and such columns are refused.
        inner = st.integers(int(-(2**53) if low is None else low), int(2**53 if high is None else high)).map(float)
    else:
        inner = st.floats(low, high, allow_nan=False, allow_infinity=False)
    return inner | st.sampled_from(ends) | missing


@st.composite
def tables(
    draw: st.DrawFn, max_rows: int = 30, max_attributes: int = 4, weights: bool = False, classes: int = 2
) -> Table:
    """Small encoded tables of discrete and integer attributes, with a label; the first attribute is personal."""
    rows = draw(st.integers(1, max_rows))
    declared, levels, columns = [], [], []
    for j in range(draw(st.integers(1, max_attributes))):
        size = draw(st.integers(2, 5))
        personal = j == 0 or draw(st.booleans())
        if draw(st.booleans()):
            declared.append(Attribute(f"a{j}", "continuous", integer=True, personal=personal))
            levels.append(np.arange(size, dtype=float) * 10)
        else:
            named = tuple(f"v{v}" for v in range(size))
            declared.append(Attribute(f"a{j}", values=named, personal=personal))
            levels.append(np.asarray(named, dtype=object))
        columns.append(draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows)))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    people = draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows)) if weights else None
    return Table(
        Schema(tuple(declared), Attribute("y", values=tuple(f"c{c}" for c in range(classes)))),
        np.asfortranarray(np.array(columns, dtype=np.uint8).T),
        tuple(levels),
        np.array(labels, dtype=np.uint8),
        None if people is None else np.array(people, dtype=float),
    )
