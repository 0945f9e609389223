"""One attribute as the program sees it: items in a row, what they hold of each target, and forbidden buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from leastwise.kernels.interval_program import run_sums
from leastwise.minimizers.constraints.constraints import Constraints, joint_runs
from leastwise.minimizers.orders import principal_direction
from leastwise.minimizers.pgini import check_weights
from leastwise.records.grouping import even_runs, numbered_runs, quantile_of
from leastwise.records.table import Table
from leastwise.schema import Attribute
from leastwise.schema.hierarchy import Tree
from leastwise.schema.values import text_of

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

# Beyond so many values an attribute is first put into at most MOST_ITEMS runs.
MOST_VALUES, MOST_ITEMS = 1000, 512
# Entries of a table that is counted whole; a larger one is mostly empty.
_LARGEST_TABLE = 2**22
_MOST_TARGET_VALUES = 128
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one attribute, in the order in which runs of them may become buckets.

    Attributes
    ----------
    item_of
        The item of each code; the free items come after those in the row; -1: the code is not in the sample.
    row, free
        How many items are in the row, and how many are free.
    weights, effects
        People and mean effect of each item.
    inner_spread
        Squared effect that was given up when codes were put into one item.
    reduced
        Whether neighbouring values were put into one item because there are too many.
    """

    item_of: Places
    row: int
    free: int
    weights: Floats
    effects: Floats
    inner_spread: Floats
    reduced: bool


def items_of(table: Table, attribute: int, effects: Floats, constraints: Constraints) -> Items:
    """Return the items of an attribute: values in their own order, or discrete ones in that of their effects."""
    declared = table.schema.attributes[attribute]
    use = table.use(attribute)
    if declared.kind == "discrete":  # with several classes, by the direction in which effects vary most
        grouped = _grouped_effects(table, attribute, effects, constraints)
        ranks = grouped @ principal_direction(grouped, use)
        tree = declared.tree
        row = (
            np.argsort(ranks, kind="stable")
            if tree is None
            else np.array(tree.in_order(ranks, use), dtype=np.intp)
        )
        free = np.arange(0)
    else:  # numbers that no training record has are left out
        inner = len(use) - declared.extra_values
        row = np.flatnonzero(use[:inner] > 0) if declared.continuous else np.arange(inner)
        free = np.arange(inner, len(use))
    group = _together(declared, table.levels[attribute], row, constraints)
    item_of_place, reduced = _reduced(
        declared, use[row], group, _between_edges(table, attribute, constraints)[row]
    )
    item_of = np.full(len(use), -1, dtype=np.intp)
    item_of[row] = item_of_place
    item_of[free] = int(item_of_place.max(initial=-1)) + 1 + np.arange(len(free))
    return _measured(item_of, int(item_of_place.max(initial=-1)) + 1, len(free), use, effects, reduced)


def _measured(item_of: Places, row: int, free: int, use: Floats, effects: Floats, reduced: bool) -> Items:
    known = item_of >= 0
    place, people = item_of[known], use[known]
    weights = np.bincount(place, weights=people, minlength=row + free)
    sums = [np.bincount(place, weights=people * column, minlength=row + free) for column in effects[known].T]
    mean = np.stack(sums, axis=1) / np.maximum(weights, 1e-300)[:, None]
    mean[weights == 0] = 0.0
    apart = ((effects[known] - mean[place]) ** 2).sum(axis=1)
    inner = np.bincount(place, weights=people * apart, minlength=row + free)
    return Items(item_of, row, free, weights.astype(float), mean, inner.astype(float), reduced)


def _grouped_effects(table: Table, attribute: int, effects: Floats, constraints: Constraints) -> Floats:
    """Return the effects with values that must stay together at their common mean, so that they order as one."""
    declared, levels, use = table.schema.attributes[attribute], table.levels[attribute], table.use(attribute)
    mark = _together(declared, levels, np.arange(len(use)), constraints)
    people = np.maximum(np.bincount(mark, weights=use, minlength=len(use)), 1e-300)
    sums = [np.bincount(mark, weights=use * column, minlength=len(use)) for column in effects.T]
    mean = (np.stack(sums, axis=1) / people[:, None])[mark]
    # A value by itself keeps its very effect: rounding must not part equal ones.
    alone = np.bincount(mark, minlength=len(use))[mark] == 1
    return np.where(alone[:, None], effects, mean)


def _together(attribute: Attribute, levels: Any, row: Places, constraints: Constraints) -> Places:
    """Return, per place in the row, a mark that is equal for neighbours that must stay together."""
    codes = {int(code): place for place, code in enumerate(row)}
    mark = np.arange(len(row))
    if attribute.tree is not None and len(row) > MOST_ITEMS:
        mark = _by_level(attribute.tree, row)
    for values in constraints.together.get(attribute.name, ()):
        places = sorted(codes[c] for v in values if (c := code_of(attribute, levels, v)) in codes)
        if places and attribute.kind != "discrete":
            places = [*range(places[0], places[-1] + 1)]
        # Lists that share a value are one: everything that bears one of their marks follows.
        mark[np.isin(mark, mark[places])] = mark[places].min() if places else 0
    return mark


def _by_level(tree: Tree, row: Places) -> Places:
    """Return equal marks for values that too deep a level of a hierarchy tells apart: too many to be items."""
    deepest = max(map(len, tree.paths))
    for depth in range(deepest - 1, 0, -1):
        nodes = [tree.paths[code][:depth] for code in row]
        if len({*nodes}) <= MOST_ITEMS:
            return np.array([nodes.index(node) for node in nodes], dtype=np.intp)
    return np.arange(len(row))


def code_of(attribute: Attribute, levels: Any, value: Any) -> int:
    """Return the code of a raw value, -1 for a number that no record has."""
    if text_of(value) is None:
        return len(levels)
    if not attribute.continuous:
        return attribute.code_of[str(text_of(value))]
    place = int(np.searchsorted(levels, float(value)))
    return place if place < len(levels) and levels[place] == float(value) else -1


def _between_edges(table: Table, attribute: int, constraints: Constraints) -> Places:
    """Return, per code, the interval between edges that must stay."""
    between, levels = np.zeros(table.sizes[attribute], dtype=np.intp), table.levels[attribute]
    edges = np.sort(np.asarray(constraints.edges.get(table.schema.names[attribute], ()), dtype=float))
    if len(edges):
        between[: len(levels)] = np.searchsorted(edges, levels.astype(float), side="left")
    return between


def _reduced(attribute: Attribute, use: Floats, mark: Places, between: Places) -> tuple[Places, bool]:
    """Number the items by their first place; put neighbours together where there are too many."""
    _, first, mark_number = np.unique(mark, return_index=True, return_inverse=True)
    items = np.argsort(np.argsort(first))[mark_number]
    count = len(first)
    real = attribute.continuous and not attribute.integer
    if count <= (MOST_ITEMS if real else MOST_VALUES):
        return items.astype(np.intp), False
    people = np.bincount(items, weights=use, minlength=count)
    most = MOST_ITEMS - int(between.max(initial=0))  # each edge that must stay may cut one in two
    return numbered_runs(even_runs(people, most), between[np.sort(first)])[items], True


def held_values(
    table: Table, attribute: int, items: Items, weights: Floats
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats, npt.NDArray[np.int64], Floats]:
    """Return what each item holds of the personal attributes, in the form that ``revealed`` takes."""
    codes = [personal_codes(table, p) for p in guessed(table)]
    sizes = [int(column.max(initial=0)) + 1 for column in codes]
    item, count = items.item_of[table.codes[:, attribute]].astype(np.int64), items.row + items.free
    # Counted attribute by attribute: a table of all records times all attributes would have to be sorted.
    tables = [csr_matrix((count, 0))]
    for column, size in zip(codes, sizes, strict=True):
        if count * size > _LARGEST_TABLE:
            tables.append(csr_matrix((table.counts.astype(float), (item, column)), shape=(count, size)))
        else:
            people = np.bincount(item * size + column, weights=table.weights, minlength=count * size)
            tables.append(csr_matrix(people.reshape(count, size).astype(float)))
    held = hstack(tables, format="csr")
    held.sum_duplicates()
    target_of = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
    return held.indptr.astype(np.int64), held.indices.astype(np.int64), held.data, target_of, weights


def guessed(table: Table) -> tuple[int, ...]:
    """Return the attributes that an adversary is after: the personal ones, or all where none is declared."""
    return table.personal or tuple(range(len(table.schema)))


def personal_codes(table: Table, personal: int) -> npt.NDArray[np.int64]:
    """Return the values of a personal attribute as guessed ones: numbers as runs, each told by one guess."""
    codes = table.codes[:, personal].astype(np.int64)
    if not table.schema.attributes[personal].continuous:
        return codes
    run = _told_together(table, personal)
    if run.max(initial=0) >= _MOST_TARGET_VALUES:
        run = quantile_of(table.use(personal)[: len(run)], _MOST_TARGET_VALUES).astype(np.int64)
    extra = int(run.max(initial=-1)) + 1 + np.arange(table.sizes[personal] - len(run))
    return np.asarray(np.concatenate([run, extra])[codes])


def _told_together(table: Table, personal: int) -> npt.NDArray[np.int64]:
    """Number the levels so that those with one number are within the tolerance of the middle between them."""
    numbers = np.asarray(table.levels[personal], dtype=float)
    width = 2 * table.default_tolerance(personal) * (1 + 1e-9)
    run, begin = np.zeros(len(numbers), dtype=np.int64), 0
    for i in range(1, len(numbers)):
        if numbers[i] - numbers[begin] > width:
            begin = i
        run[i] = run[i - 1] + (begin == i)
    return run


def target_weights(table: Table, weights: Mapping[str, float] | Sequence[float] | None) -> Floats:
    """Return w_p / |P| for each personal attribute."""
    names = [table.schema.names[p] for p in guessed(table)]
    by_name = (
        dict(zip(names, weights, strict=True)) if isinstance(weights, Sequence | np.ndarray) else weights or {}
    )
    check_weights(by_name, names)
    return np.array([float(by_name.get(name, 1.0)) for name in names]) / max(len(names), 1)


def forbidden_buckets(
    table: Table, attribute: int, items: Items, free: Sequence[list[int]], constraints: Constraints
) -> tuple[Flags, Flags]:
    """Return which buckets the constraints forbid; the program stays exact because it only loses choices.

    The first is [mask of free items, first, last], the second is [mask]: buckets of the free items only. ``free``
    has the free items of each mask.
    """
    apart, together = (
        _listed(table, attribute, items, lists) for lists in (constraints.apart, constraints.together)
    )
    side, between = np.zeros(items.row, dtype=np.intp), _between_edges(table, attribute, constraints)
    in_row = (items.item_of >= 0) & (items.item_of < items.row)
    side[items.item_of[in_row]] = between[in_row]
    people, runs, alone = run_sums(items.weights[: items.row]), [], []
    outside = _outside_the_tree(table, attribute, items)
    for added in free:
        extra = items.weights[added].sum()
        wrong = (people + extra < constraints.min_people) | (side[:, None] != side[None, :]) | outside
        few, parted, torn = bool(added) and extra < constraints.min_people, False, False
        for listed in apart:
            wrong |= _held(listed, items.row) + len([item for item in listed if item in added]) > 1
            parted |= len({*listed} & {*added}) > 1
        for listed in together:
            here = len({*listed} & {*added})
            held = _held([*{*listed}], items.row) + here
            wrong |= (held > 0) & (held < len({*listed}))
            torn |= 0 < here < len({*listed})
        runs.append(wrong)
        alone.append(bool(few or parted or torn))
    return np.stack(runs), np.array(alone)


def _outside_the_tree(table: Table, attribute: int, items: Items) -> Flags:
    """Return which runs of items are no group of the hierarchy; none where there is no hierarchy."""
    tree = table.schema.attributes[attribute].tree
    if tree is None:
        return np.zeros((items.row, items.row), dtype=bool)
    # Items stand node by node: what is a run of codes in that order is one of items.
    order = np.argsort(items.item_of, kind="stable")
    return ~joint_runs(tree, order.tolist(), items.item_of[order], items.row)


def _held(listed: list[int], row: int) -> npt.NDArray[np.int64]:
    """Return how many of the items each run holds; an item that is listed twice counts twice."""
    here = np.array([item for item in listed if item < row], dtype=np.intp)
    return run_sums(np.bincount(here, minlength=row)).astype(np.int64)


def _listed(
    table: Table, attribute: int, items: Items, lists: Mapping[str, Sequence[Sequence[Any]]]
) -> list[list[int]]:
    """Return the items of each list of values of an attribute; a number that no record has is in none."""
    declared, levels = table.schema.attributes[attribute], table.levels[attribute]
    result = []
    for values in lists.get(declared.name, ()):
        codes = [code_of(declared, levels, value) for value in values]
        result.append([int(items.item_of[c]) for c in codes if c >= 0 and items.item_of[c] >= 0])
    return result
