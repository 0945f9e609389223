"""Minimizers hold to a hierarchy: groups of the tree only, and the exact program finds the best of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups
from leastwise.minimizers import Constraints, at_least
from leastwise.minimizers.coarsening.path import coarsening_path
from leastwise.minimizers.constraints import broken, brought_to
from leastwise.minimizers.constraints.constraints import on_the_tree
from leastwise.minimizers.merging.few_answers import with_few_answers
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.optimal.program import attribute_program
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.schema.hierarchy import Hierarchy, Tree
from tests.samples import LABEL, coded

Nested = Any


@st.composite
def trees(draw: st.DrawFn, leaves: int = 7) -> Hierarchy:
    """A tree over the values "0", "1", ... of at most three levels."""
    count = draw(st.integers(3, leaves))
    low = [draw(st.integers(0, 3)) for _ in range(count)]
    high = [draw(st.integers(0, 1)) for _ in range(4)]
    rows = []
    for value in range(count):
        depth = draw(st.integers(0, 2)) if value % 3 == 0 else 2
        groups = (f"low {low[value]}", f"high {high[low[value]]}")
        rows.append((str(value), *(groups[2 - depth :] if depth < 2 else groups)))
    return Hierarchy(tuple(rows))


def tree_of(hierarchy: Hierarchy) -> Tree:
    found = Tree.over(hierarchy, [row[0] for row in hierarchy.rows], 0)
    assert found is not None
    return found


def set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in set_partitions(rest):
        for place in range(len(smaller)):
            yield [*smaller[:place], [first, *smaller[place]], *smaller[place + 1 :]]
        yield [[first], *smaller]


def is_group(hierarchy: Hierarchy, codes: list[int]) -> bool:
    """Whether values are a node or some children of one node, straight from the definition."""
    rows = [(*reversed(row[1:]), row[0]) for row in hierarchy.rows]
    nodes = {path[:depth] for path in rows for depth in range(len(path) + 1)}
    for node in nodes:
        children = {path[: len(node) + 1] for path in rows if path[: len(node)] == node and len(path) > len(node)}
        for size in range(1, len(children) + 1):
            for some in itertools.combinations(sorted(children), size):
                held = {i for i, path in enumerate(rows) if path[: len(node) + 1] in some}
                if held == {*codes}:
                    return True
    return False


@given(trees(6), st.data())
def test_what_joins_is_what_the_definition_says(hierarchy: Hierarchy, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, len(hierarchy.rows) - 1), min_size=1, unique=True))
    assert tree_of(hierarchy).joins(codes) == is_group(hierarchy, codes)


@given(trees(), st.data())
def test_parts_are_groups_and_make_up_the_whole(hierarchy: Hierarchy, data: st.DataObject) -> None:
    tree = tree_of(hierarchy)
    codes = data.draw(st.lists(st.integers(0, len(hierarchy.rows) - 1), min_size=1, unique=True))
    parts = tree.parts(codes)
    assert sorted(code for part in parts for code in part) == sorted(codes)
    assert all(tree.joins(part) for part in parts)


@given(trees())
def test_a_tree_is_read_back_from_yaml_and_from_arx(hierarchy: Hierarchy) -> None:
    assert Hierarchy.from_arx(hierarchy.to_arx()) == hierarchy
    assert Hierarchy.from_tree(hierarchy.to_document()) == hierarchy
    attribute = Attribute("place", values=tuple(row[0] for row in hierarchy.rows), hierarchy=hierarchy)
    made = Generalization.untouched(Schema((attribute,)))
    assert Generalization.from_json(made.to_json()) == made


@st.composite
def tables(draw: st.DrawFn) -> Table:
    hierarchy = draw(trees(6))
    values = tuple(row[0] for row in hierarchy.rows)
    seed = draw(st.integers(0, 10_000))
    random = np.random.default_rng(seed)
    codes = random.integers(0, len(values), 80)
    chance = random.random(len(values))
    labels = (random.random(80) < chance[codes]).astype(int)
    tree = Attribute("place", values=values, personal=True, hierarchy=hierarchy)
    return coded(Schema((tree,), LABEL), codes, labels=labels)


@settings(max_examples=40, deadline=None)
@given(tables(), st.floats(0.0, 2.0))
def test_the_program_finds_the_best_of_all_cuts(table: Table, lam: float) -> None:
    """No cut of the tree, hence no single level of it either, is better than what the program finds."""
    hierarchy = table.schema["place"].hierarchy
    assert hierarchy is not None
    effects = np.random.default_rng(1).normal(size=(table.sizes[0], 1))
    program = attribute_program(table, 0, effects, target_weights(table, None), Constraints())
    found = program.partition(program.optimum(lam))
    assert not broken(Constraints(), Generalization((found,)), table)

    use = table.use(0)

    def cost(groups: list[list[int]]) -> float:
        total = 0.0
        for group in groups:
            people, effect = use[group], effects[group, 0]
            centre = people @ effect / max(people.sum(), 1e-300)
            total += people @ (effect - centre) ** 2 + lam * people.max()
        return float(total)

    best = min(cost(cut) for cut in cuts(hierarchy))
    buckets = np.asarray(found.assignment)
    own = cost([np.flatnonzero(buckets == b).tolist() for b in range(found.size)])
    assert own <= best + 1e-9 * (1 + abs(best))


def cuts(hierarchy: Hierarchy) -> Iterator[list[list[int]]]:
    """All partitions into nodes of the tree, by trying all partitions of the values."""
    rows = [(*reversed(row[1:]), row[0]) for row in hierarchy.rows]
    nodes = {
        frozenset(i for i, path in enumerate(rows) if path[:depth] == each[:depth])
        for each in rows
        for depth in range(len(each) + 1)
    }
    for groups in set_partitions([*range(len(rows))]):
        if all(frozenset(group) in nodes for group in groups):
            yield groups


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(1, 40), st.data())
def test_floors_paths_and_refinements_hold_to_the_tree(table: Table, fewest: int, data: st.DataObject) -> None:
    attribute = table.schema["place"]
    marks = data.draw(st.lists(st.integers(0, 2), min_size=table.sizes[0], max_size=table.sizes[0]))
    loose = Groups(attribute, tuple(marks))
    fine = on_the_tree(loose)
    assert fine.refine(loose) == fine
    g = Generalization((fine,), table.schema.label)
    assert not broken(Constraints(), g, table)
    floored = at_least(g, table, bucket=fewest)
    assert not broken(Constraints(min_people=fewest), floored, table)
    held = brought_to(Constraints(min_people=fewest), Generalization((loose,), table.schema.label), table)
    assert not broken(Constraints(min_people=fewest), held, table)
    for step in coarsening_path(table, Generalization.untouched(table.schema)):
        assert not broken(Constraints(), step, table)


def test_many_answers_are_cut_down_along_the_tree() -> None:
    values = tuple(f"{group}{number}" for group in "abcdef" for number in range(8))
    tree = Hierarchy(tuple((value, value[0]) for value in values))
    attribute = Attribute("code", values=values, hierarchy=tree)
    random = np.random.default_rng(0)
    codes = random.integers(0, len(values), 600)
    table = coded(Schema((attribute,), LABEL), codes, labels=random.random(600) < (codes // 8) / 6)
    found = with_few_answers(table, Generalization.untouched(table.schema), Constraints())
    assert 1 < found["code"].size <= 24
    assert not broken(Constraints(), found, table)


def test_buckets_are_named_by_the_tree() -> None:
    tree = Hierarchy.from_tree({"married": ["civil", "church"], "not married": ["single", "widowed", "divorced"]})
    attribute = Attribute("status", values=("single", "civil", "church", "widowed", "divorced"), hierarchy=tree)
    assert Groups(attribute, (0, 1, 1, 0, 0)).labels == ("not married", "married")
    assert Groups(attribute, (0, 1, 2, 0, 0)).labels == ("not married", "civil", "church")
    assert Groups(replace(attribute, hierarchy=None), (0, 1, 1, 0, 0)).labels[1] == "civil or church"


@pytest.mark.parametrize(
    ("tree", "complaint"),
    [
        ({"a": ["1"], "b": ["1", "2"]}, "listed twice"),
        ({"a": {"b": ["1"]}, "c": {"b": ["2"]}}, "can be in only one"),
        ({"a": {"b": {"a": ["1"]}}}, "cannot hold itself"),
        ({"a": 3}, "must be a list of values"),
    ],
)
def test_what_is_no_tree_is_one_line(tree: Nested, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as error:
        Hierarchy.from_tree(tree)
    assert "\n" not in str(error.value)


def test_an_incomplete_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="2 have no place in the hierarchy"):
        Attribute("x", values=("a", "b", "c"), hierarchy=Hierarchy.from_tree({"g": ["a"]}))
