"""A tree over the values of an attribute: countries in regions, codes in chapters, "married | not married".

Groups that people recognise are the *nodes* of the tree, or some children of one node together ("Northern Europe
or Western Europe"). A minimizer that holds to it makes no others, and the tree names them.

In a schema a tree is a mapping of names to smaller mappings or lists of values; elsewhere it is a hierarchy file
of ARX: a line for each value, from the value to the groups that hold it, separated by semicolons.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy.typing as npt

from leastwise.documents import Problems
from leastwise.errors import SchemaError, shorten

Row = tuple[str, ...]
Vector = Sequence[float] | npt.NDArray[Any]
EVERYTHING = "*"  # how ARX writes the root
MOST_LEVELS = 5


@dataclass(frozen=True)
class Hierarchy:
    """A tree over values.

    Parameters
    ----------
    rows
        For each value, itself and the groups that hold it, from the smallest to the largest. The root, which
        holds everything, is not written. They are kept as the tree has them: what one group holds stands together.

    Examples
    --------
    >>> europe = {"North": ["Norway", "Sweden"], "South": ["Italy"]}
    >>> tree = Hierarchy.from_tree({"Europe": europe, "Asia": ["Japan"]})
    >>> tree.rows[0]
    ('Norway', 'North', 'Europe')
    >>> tree.names(("Norway", "Sweden", "Italy")), tree.names(("Norway", "Japan"))
    (['Europe'], ['Norway', 'Japan'])
    """

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        rows = tuple(tuple(_without_repeats(row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        problems = _problems(rows)
        if problems:
            raise SchemaError("not a hierarchy", problems)
        # A schema and an artefact write the tree; what is read back must be equal to what was written.
        object.__setattr__(self, "rows", tuple(_as_in_tree(rows)))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """Build from a mapping of names to smaller mappings or lists of values."""
        return cls(tuple(_rows_of(tree, ())))

    @cached_property
    def path_of(self) -> Mapping[str, Row]:
        """The groups of each value, from the largest to the smallest."""
        return {row[0]: row[:0:-1] for row in self.rows}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of all groups."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row[1:]))

    def within(self, values: Iterable[str]) -> Hierarchy:
        """Return the tree over these values only."""
        wanted = {*values}
        return Hierarchy(tuple(row for row in self.rows if row[0] in wanted))

    def misfits(self, values: Sequence[str]) -> list[str]:
        """Return what keeps the tree from being one over just these values, in words."""
        absent = [value for value in values if value not in self.path_of]
        known = {*values}
        strange = [row[0] for row in self.rows if row[0] not in known]
        problems = []
        for misplaced, what in (
            (absent, "have no place in the hierarchy"),
            (strange, "of the hierarchy are no values"),
        ):
            if misplaced:
                named = ", ".join(map(shorten, misplaced[:5])) + (" ..." if len(misplaced) > 5 else "")
                problems.append(f"every value must have its place; {len(misplaced)} {what}: {named}")
        return problems

    def names(self, values: Iterable[str]) -> list[str]:
        """Return the largest groups that lie within the values, and the values that are in none."""
        given = [*values]
        held: Counter[Row] = Counter(prefix for value in given for prefix in _prefixes(self.path_of[value]))
        names = []
        for value in given:
            whole = [
                prefix for prefix in _prefixes(self.path_of[value]) if 1 < held[prefix] == self._sizes[prefix]
            ]
            names.append(whole[0][-1] if whole else value)
        return [*dict.fromkeys(names)]

    @cached_property
    def _sizes(self) -> Counter[Row]:
        return Counter(prefix for path in self.path_of.values() for prefix in _prefixes(path))

    def to_document(self) -> dict[str, Any]:
        """Return the mapping that a schema writes."""
        return _document(self.path_of, ())

    def to_arx(self) -> str:
        """Return the tree as ARX reads it: every line of the same length, the root last."""
        depth = max((len(row) for row in self.rows), default=1)
        text = io.StringIO()
        writer = csv.writer(text, delimiter=";", lineterminator="\n")
        # A shorter path repeats its largest group, so that each column is one level.
        writer.writerows([*row, *[row[-1]] * (depth - len(row)), EVERYTHING] for row in self.rows)
        return text.getvalue()

    @classmethod
    def from_arx(cls, text: str) -> Hierarchy:
        """Read a hierarchy file of ARX: semicolons, or the separator that its first line has more of."""
        first = text.lstrip("\ufeff").partition("\n")[0]
        separator = max(";,\t", key=first.count)
        lines = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator)
        rows = [tuple(cell.strip() for cell in line) for line in lines if any(cell.strip() for cell in line)]
        return cls(tuple(_without_root(row) for row in rows))


def _without_root(row: Row) -> Row:
    while len(row) > 1 and row[-1] in (EVERYTHING, ""):
        row = row[:-1]
    return row


def _without_repeats(row: Row) -> Iterable[str]:
    """Leave out a group that is named like the value or group just below it: it holds nothing else."""
    for place, name in enumerate(row):
        if place == 0 or name != row[place - 1]:
            yield name


def _as_in_tree(rows: Sequence[Row]) -> list[Row]:
    """Return rows so that those of a group follow each other, groups and values by their first appearance."""
    prefixes = [_prefixes(row[::-1]) for row in rows]
    first = {prefix: place for place, each in reversed([*enumerate(prefixes)]) for prefix in each}
    places = sorted(range(len(rows)), key=lambda place: [first[prefix] for prefix in prefixes[place]])
    return [rows[place] for place in places]


def _prefixes(path: Row) -> list[Row]:
    return [path[: depth + 1] for depth in range(len(path))]


def _problems(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return ["it has no values"]
    problems, parents, seen = [], dict[str, str | None](), dict[str, Row]()
    for row in rows:
        if not all(isinstance(name, str) and name for name in row):
            problems.append(f"values and groups must be non-empty texts; got {shorten(row)}")
            continue
        if row[0] in seen:
            where = " and in ".join(
                shorten(" > ".join(reversed(each[1:])) or "none") for each in (seen[row[0]], row)
            )
            problems.append(f"value {shorten(row[0])} is listed twice, in {where}")
        seen.setdefault(row[0], row)
        if len(row) > MOST_LEVELS + 1:
            problems.append(f"at most {MOST_LEVELS} levels of groups; {shorten(row[0])} has {len(row) - 1}")
        if len({*row[1:]}) < len(row) - 1:
            problems.append(f"a group cannot hold itself; {' > '.join(map(shorten, reversed(row)))}")
            continue
        for group, parent in zip(row[1:], [*row[2:], None], strict=False):
            if parents.setdefault(group, parent) != parent:
                both = " and in ".join("none" if p is None else shorten(p) for p in (parents[group], parent))
                problems.append(f"group {shorten(group)} is in {both}; it can be in only one")
    return [*dict.fromkeys(problems)]


def _rows_of(tree: Any, above: Row) -> Iterable[Row]:
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _rows_of(below, (name, *above))
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            if isinstance(item, Mapping):  # groups among values
                yield from _rows_of(item, above)
            else:
                yield (item, *above)
    else:
        raise SchemaError(f"a group must be a list of values, or a mapping of smaller groups; got {shorten(tree)}")


def _document(path_of: Mapping[str, Row], above: Row) -> dict[str, Any]:
    """Return the groups below a node; values beside groups are written as groups of one."""
    children: dict[str, list[str]] = {}
    for value, path in path_of.items():
        if path[: len(above)] == above:
            children.setdefault(path[len(above)] if len(path) > len(above) else value, []).append(value)
    return {name: _written(path_of, (*above, name), values) for name, values in children.items()}


def _written(path_of: Mapping[str, Row], here: Row, values: list[str]) -> Any:
    if all(path_of[value] in (here, here[:-1]) for value in values):
        return values
    return _document({value: path_of[value] for value in values}, here)


def hierarchy_from_document(data: Any, path: tuple[str | int, ...], problems: Problems) -> Hierarchy | None:
    """Read the mapping that a schema has; note its problems and return None if there are any."""
    try:
        if not isinstance(data, dict):
            raise SchemaError(f"must be a mapping of groups to their values; got {shorten(data)}")
        return Hierarchy.from_tree(data)
    except SchemaError as error:
        for text in error.problems or [str(error)]:
            problems.add(path, text)
        return None


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree as the codes of an attribute see it: "missing" and "other" are children of the root.

    Attributes
    ----------
    paths
        Of each code, the groups that hold it, from the largest to the smallest, and the code itself.
    """

    paths: tuple[tuple[str | int, ...], ...]

    @classmethod
    def over(cls, hierarchy: Hierarchy | None, values: Sequence[str], extra_values: int) -> Tree | None:
        """Return the tree over the codes of a domain; None without a hierarchy."""
        if hierarchy is None:
            return None
        inner: list[tuple[str | int, ...]] = [
            (*hierarchy.path_of[value], code) for code, value in enumerate(values)
        ]
        return cls((*inner, *((len(values) + extra,) for extra in range(extra_values))))

    @cached_property
    def members(self) -> Mapping[tuple[str | int, ...], tuple[int, ...]]:
        """The codes of each node, by its path; the root's is empty."""
        members: dict[tuple[str | int, ...], list[int]] = {(): []}
        for code, path in enumerate(self.paths):
            for depth in range(len(path) + 1):
                members.setdefault(path[:depth], []).append(code)
        return {path: tuple(codes) for path, codes in members.items()}

    def parent(self, codes: Iterable[int]) -> tuple[str | int, ...]:
        """Return the smallest node that holds the codes, but is none of them itself: where they are siblings."""
        paths = [self.paths[code] for code in codes]
        shared, shortest = 0, min(map(len, paths))
        while shared < shortest and len({path[shared] for path in paths}) == 1:
            shared += 1
        node = paths[0][:shared]
        # A whole node is a child of the one above it.
        while node and len(self.members[node]) == len(paths):
            node = node[:-1]
        return node

    def joins(self, codes: Iterable[int]) -> bool:
        """Return whether codes make a group of the tree: a node, or some children of one node."""
        given = {*codes}
        above = self.parent(given)
        children = {self.paths[code][: len(above) + 1] for code in given}
        return sum(len(self.members[child]) for child in children) == len(given)

    def in_order(self, effect: Vector, weight: Vector) -> list[int]:
        """Return the codes node by node, the children of each node by their mean effect."""

        def mean(path: tuple[str | int, ...]) -> float:
            codes = self.members[path]
            people = sum(weight[code] for code in codes)
            if people <= 0:
                return sum(effect[code] for code in codes) / len(codes)
            return sum(effect[code] * weight[code] for code in codes) / people

        keys = []
        for code, path in enumerate(self.paths):
            nodes = [path[: depth + 1] for depth in range(len(path))]
            keys.append((tuple((mean(node), self.members[node][0]) for node in nodes), code))
        return [code for _, code in sorted(keys)]

    def runs(self, order: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Yield the first and last place of each run in such an order that is a group of the tree."""
        place = {code: i for i, code in enumerate(order)}
        children: dict[tuple[str | int, ...], dict[tuple[str | int, ...], tuple[int, int]]] = {}
        for path, codes in self.members.items():
            if path:
                places = [place[code] for code in codes]
                children.setdefault(path[:-1], {})[path] = min(places), max(places)
        for spans in children.values():
            ends = sorted(spans.values())
            yield from ((ends[i][0], ends[j][1]) for i in range(len(ends)) for j in range(i, len(ends)))

    def parts(self, codes: Iterable[int]) -> list[tuple[int, ...]]:
        """Return the fewest groups of the tree that make up a set of codes."""
        given = {*codes}
        whole = {path for path, members in self.members.items() if path and given.issuperset(members)}
        largest = [path for path in whole if path[:-1] not in whole]
        if len(given) == len(self.paths):
            return [tuple(sorted(given))]
        groups: dict[tuple[str | int, ...], list[int]] = {}
        for path in largest:
            groups.setdefault(path[:-1], []).extend(self.members[path])
        return sorted(tuple(sorted(group)) for group in groups.values())
