"""Plain documents of results: there and back, and every kind of damage named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from leastwise.confidence import Interval
from leastwise.documents import Problems
from leastwise.documents.plain import from_plain, to_plain


@dataclass(frozen=True, kw_only=True)
class Leaf:
    name: str
    count: int
    flag: bool = False


@dataclass(frozen=True, kw_only=True)
class Tree:
    leaves: tuple[Leaf, ...]
    pairs: tuple[tuple[int, int], ...]
    interval: Interval | None
    share: float
    seconds: float = field(default=0.0, compare=False)


TREE = Tree(leaves=(Leaf(name="a", count=1),), pairs=((1, 2),), interval=Interval(0.0, 0.5), share=0.25, seconds=9)


def read(data: Any) -> tuple[Tree | None, list[str]]:
    problems = Problems()
    return from_plain(Tree, data, (), problems), problems.texts


def test_there_and_back() -> None:
    plain = to_plain(TREE)
    assert plain == {
        "leaves": [{"name": "a", "count": 1, "flag": False}],
        "pairs": [[1, 2]],
        "interval": [0.0, 0.5],
        "share": 0.25,
    }
    assert read(plain) == (TREE, [])
    assert read({**plain, "interval": None})[0].interval is None  # type: ignore[union-attr]


def test_numbers_of_numpy_become_plain() -> None:
    plain = to_plain((np.float64(0.5), np.int64(3), np.float32(1)))
    assert [type(number) for number in plain] == [float, int, float]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("share", "much", "share: must be a finite number; got 'much'"),
        ("share", True, "share: must be a finite number; got True"),
        ("interval", [0.0], "interval: must be a list of 2; got a list of 1"),
        ("pairs", [[1, 2.5]], "pairs[0][1]: must be a whole number; got 2.5"),
        ("pairs", None, "pairs: must be a list of 2; got nothing"),
        ("leaves", [{"name": "a"}], "leaves[0].count: is missing"),
        ("leaves", [{"name": 1, "count": 1}], "leaves[0].name: must be a text; got 1"),
        ("leaves", [{"name": "a", "count": 1, "flag": 1}], "leaves[0].flag: must be true or false; got 1"),
        ("leaves", [3], "leaves[0]: must be a mapping of keys; got 3"),
        ("shares", 1, "shares: unknown key; did you mean 'share'?"),
    ],
)
def test_every_damage_is_named(key: str, value: Any, problem: str) -> None:
    found, problems = read({**to_plain(TREE), key: value})
    assert found is None
    assert problems == [problem]


def test_all_problems_at_once() -> None:
    found, problems = read({"share": None, "leaves": 1})
    assert found is None
    assert len(problems) == 4


@dataclass(frozen=True, kw_only=True)
class Shelf:
    shares: Mapping[str, float]
    settings: Mapping[str, Any]


def test_mappings_there_and_back() -> None:
    shelf = Shelf(shares={"a": 0.5}, settings={"k": [1, None], "name": "x"})
    problems = Problems()
    assert from_plain(Shelf, to_plain(shelf), (), problems) == shelf
    assert from_plain(Shelf, {"shares": {"a": "x"}, "settings": 3}, (), problems) is None
    assert problems.texts == [
        "shares.a: must be a finite number; got 'x'",
        "settings: must be a mapping of keys; got 3",
    ]
