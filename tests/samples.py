"""Tables for tests: how to build one in a line, and small populations named by what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from leastwise import Attribute, Schema, Table

LABEL = Attribute("y", values=("0", "1"))


class Heard:
    """A progress that remembers what it was told: the words of each stage, and (done, total) of each step."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.steps: list[tuple[int, int | None]] = []

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        self.words.append(words)
        self._done, self._total = done, total

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        self.steps.append((self._done, self._total))


def coded(
    schema: Schema, *columns: Any, labels: Any = None, numbers: Mapping[str, Any] | None = None, **rest: Any
) -> Table:
    """Return a table of these codes, a column for each attribute.

    Numbers are their own codes, from 0 to 99, unless ``numbers`` names the levels of the attribute.
    """
    codes = np.asfortranarray(np.stack(columns, axis=1).astype(np.uint16))
    levels = tuple(
        np.asarray((numbers or {}).get(attribute.name, np.arange(100.0)), dtype=float)
        if attribute.continuous
        else np.array(attribute.values, dtype=object)
        for attribute in schema.attributes
    )
    return Table(schema, codes, levels, None if labels is None else np.asarray(labels).astype(np.intp), **rest)


def one_column(attribute: Attribute, values: list[object]) -> Table:
    """Return the records of one attribute."""
    return Table.from_frame(pl.DataFrame({attribute.name: values}), Schema([attribute]))


def unlabelled(table: Table) -> Table:
    """Return the records without their label."""
    return replace(table, schema=Schema(table.schema.attributes), labels=None)


def named(name: str, size: int, **rest: Any) -> Attribute:
    """Return an attribute of the values v0, v1, ..."""
    return Attribute(name, values=tuple(f"v{v}" for v in range(size)), **rest)


def a_secret_and_its_twin(rows: int = 3000, seed: int = 0) -> Table:
    """The label hangs on ``useful``; ``twin`` repeats the personal ``secret`` and nothing else."""
    random = np.random.default_rng(seed)
    useful, secret = random.integers(0, 6, rows), random.integers(0, 3, rows)
    twin = np.where(random.random(rows) < 0.9, secret, random.integers(0, 3, rows))
    labels = (useful >= 3).astype(int) ^ (random.random(rows) < 0.1)
    schema = Schema((named("useful", 6), named("secret", 3, personal=True), named("twin", 3)), LABEL)
    return coded(schema, useful, secret, twin, labels=labels)


def age_tells(rows: int = 1200) -> Table:
    """Age tells the label, the state and the sex tell nothing."""
    random = np.random.default_rng(0)
    age, state, sex = random.integers(0, 80, rows), random.integers(0, 6, rows), random.integers(0, 2, rows)
    schema = Schema(
        (
            Attribute("age", "continuous", integer=True, lower=0, upper=99),
            Attribute("state", values=tuple("abcdef"), personal=True),
            Attribute("sex", values=("f", "m"), personal=True),
        ),
        LABEL,
    )
    return coded(schema, age, state, sex, labels=(age > 30) ^ (random.random(rows) < 0.1))


def exclusive_or(rows: int = 2000) -> Table:
    """The label is a xor b: neither alone tells anything. Both hide the personal attribute."""
    random = np.random.default_rng(0)
    a, b, p = (random.integers(0, 2, rows) for _ in range(3))
    schema = Schema((named("a", 2), named("b", 2), named("p", 2, personal=True)), LABEL)
    return coded(schema, a, b, p, labels=a ^ b)


def long_row(rows: int = 4000) -> Table:
    """An ordinal attribute of 200 values that tells the label, and something of a personal one."""
    random = np.random.default_rng(0)
    number = random.integers(0, 200, rows)
    secret = np.where(random.random(rows) < 0.5, number // 67, random.integers(0, 3, rows))
    labels = number + random.normal(0, 20, rows) > 100
    schema = Schema((named("number", 200, kind="ordinal"), named("secret", 3, personal=True)), LABEL)
    return coded(schema, number, secret, labels=labels)


NOISE = {*(f"noise {j}" for j in range(7)), *(f"number {j}" for j in range(3))}
"""The attributes of ``among_noise`` that tell nothing."""


def among_noise(rows: int = 3000, seed: int = 0, rare: bool = False) -> Table:
    """The label hangs on ``useful``, of which ``copy`` is a copy; ten columns of several kinds are pure noise.

    With ``rare``, one person in a hundred has the label turned round, and ``flag`` tells who.
    """
    random = np.random.default_rng(seed)
    useful, flag = random.integers(0, 6, rows), (random.random(rows) < 0.01).astype(int)
    labels = (useful >= 3).astype(int) ^ (random.random(rows) < 0.1)
    labels = labels ^ flag if rare else labels
    sizes = (2, 3, 5, 9, 20, 60)
    noise = [random.integers(0, size, rows) for size in sizes] + [(random.random(rows) < 0.03).astype(int)]
    numbers = [
        random.integers(0, 100, rows),
        random.binomial(99, 0.3, rows),
        random.geometric(0.2, rows).clip(0, 99),
    ]
    attributes = (
        named("useful", 6),
        named("copy", 6),
        named("flag", 2),
        named("secret", 3, personal=True),
        *(named(f"noise {j}", size) for j, size in enumerate([*sizes, 2])),
        *(Attribute(f"number {j}", "continuous", lower=0, upper=99, integer=True) for j in range(3)),
    )
    columns = [useful, useful, flag, random.integers(0, 3, rows), *noise, *numbers]
    return coded(Schema(attributes, LABEL), *columns, labels=labels)
