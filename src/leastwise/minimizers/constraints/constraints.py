"""What practitioners must hold to: legal edges, values that stay together or apart, limits and floors.

Constraints speak of attributes and raw values. They are checked against the schema at once, all problems
together; what only the records can tell (a floor that an edge makes impossible) is told by the program.

Merging can only break what keeps values apart: edges, lists of values apart, attributes untouched. Whatever limits
the number of buckets, or wants people or values in them, holds on once it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.partition import Groups, Intervals, Partition, Untouched, keep
from leastwise.partition.base import first_seen
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.hierarchy import Tree
from leastwise.schema.values import text_of
from leastwise.validation import did_you_mean


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Conditions that the optimal partition is found under.

    Parameters
    ----------
    max_buckets
        By attribute, its largest number of buckets.
    max_buckets_in_all
        The largest sum of buckets over all attributes, a suppressed one counted as one.
    edges
        By continuous attribute, edges that must stay (``{"age": [17, 64]}``: up to 17, 18 to 64, 65 or more).
    suppressed, untouched
        Attributes that must not be collected, or must be collected in full.
    together, apart
        By attribute, lists of values that must share a bucket, or of which no two may share one. None stands
        for "missing". On a continuous or ordinal attribute, values together take all between them along.
    min_people
        No bucket may be used by fewer training records.
    nested_in
        What was told before: nothing may be asked that it does not tell (see ``nested``).

    Examples
    --------
    >>> Constraints(edges={"age": [17, 64]}, suppressed=["race"], min_people=100).min_people
    100
    """

    max_buckets: Mapping[str, int] = field(default_factory=dict)
    max_buckets_in_all: int | None = None
    edges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    suppressed: Sequence[str] = ()
    untouched: Sequence[str] = ()
    together: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    apart: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    min_people: float = 0
    nested_in: Generalization | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to hold to."""
        return not any(getattr(self, each.name) for each in fields(self))

    @property
    def wanted(self) -> frozenset[str]:
        """The attributes that must be asked: in full, at edges that must stay, or with values apart."""
        return frozenset({*self.untouched, *self.edges, *self.apart})

    def check(self, schema: Schema) -> None:
        """Raise a ``ParameterError`` that lists everything that does not fit the schema."""
        parts = (self.max_buckets, self.edges, self.suppressed, self.untouched, self.together, self.apart)
        unknown = dict.fromkeys(name for part in parts for name in part if name not in schema.names)
        problems = [f"there is no attribute {n!r}, {did_you_mean(str(n), schema.names)}" for n in unknown]
        problems += self._number_problems(schema)
        if not problems:
            problems = [*self._value_problems(schema), *self._contradictions()]
        if not problems:
            problems = [text for attribute in schema.attributes for text in self._impossible(attribute)]
        if problems:
            raise ParameterError("the constraints do not fit: " + "; ".join(problems))

    def _number_problems(self, schema: Schema) -> list[str]:
        wrong = [(name, limit) for name, limit in self.max_buckets.items() if limit < 1]
        problems = [f"max_buckets of {name} must be at least 1, got {limit}" for name, limit in wrong]
        in_all = self.max_buckets_in_all
        if in_all is not None and in_all < len(schema):
            problems.append(f"max_buckets_in_all must be at least 1 per attribute, {len(schema)}; got {in_all}")
        if self.min_people < 0:
            problems.append(f"min_people must not be negative, got {self.min_people}")
        return problems

    def _value_problems(self, schema: Schema) -> list[str]:
        problems = []
        for name, edges in self.edges.items():
            attribute = schema[name]
            if not attribute.continuous:
                problems.append(f"edges are for continuous attributes, {name} is {attribute.kind}")
            low = -math.inf if attribute.lower is None else attribute.lower
            high = math.inf if attribute.upper is None else attribute.upper
            problems += [f"edge {e} of {name} lies outside its domain" for e in edges if not low <= e < high]
            torn = [e for e in edges if attribute.integer and not float(e).is_integer()]
            problems += [f"edge {e} of {name} must be whole, as its numbers are" for e in torn]
        for part in (self.together, self.apart):
            for name, lists in part.items():
                unknown = [v for values in lists for v in values if not _known(schema[name], v)]
                problems += [f"{_shown(v)} is no value of {name}" for v in unknown]
        return problems

    def _contradictions(self) -> list[str]:
        problems = [
            f"{name} cannot be suppressed and untouched" for name in sorted({*self.suppressed} & {*self.untouched})
        ]
        parting = {name for name in self.apart if any(len(values) > 1 for values in self.apart[name])}
        parting |= {name for name in self.edges if len(self.edges[name])}
        problems += [f"{name} cannot be suppressed and parted" for name in sorted({*self.suppressed} & parting)]
        return problems

    def _impossible(self, attribute: Attribute) -> Iterator[str]:
        """Yield why no partition of an attribute can hold to what is said of it."""
        name = attribute.name
        most, edges = self.max_buckets.get(name), self.edges.get(name, ())
        together = [values for values in self.together.get(name, ()) if len(values) > 1]
        if name in self.untouched and together:
            yield f"{name} cannot be untouched with values together"
        size = math.inf if attribute.continuous else len(attribute.values) + attribute.extra_values
        if name in self.untouched and most is not None and size > most:
            yield f"{name} cannot be untouched and have at most {counted(most, 'bucket')}"
        if most is not None and len({*edges}) + 1 > most:
            stay = f"{counted(len({*edges}), 'edge')} that must stay"
            yield f"{name} cannot have at most {counted(most, 'bucket')} with {stay}"
        for values in together:
            yield from self._parted(attribute, values)

    def _parted(self, attribute: Attribute, together: Sequence[Any]) -> Iterator[str]:
        """Yield what parts values that must be together."""
        name = attribute.name
        for values in self.apart.get(name, ()):
            both = {*map(text_of, values)} & {*map(text_of, together)}
            if len(both) > 1:
                yield f"{', '.join(sorted(map(_shown, both)))} of {name} cannot be together and apart"
        numbers = [float(value) for value in together if attribute.continuous and text_of(value) is not None]
        for edge in self.edges.get(name, ()) if numbers else ():
            if min(numbers) <= edge < max(numbers):
                yield f"the edge {edge:g} of {name} parts values that must be together"


def _shown(value: Any) -> str:
    return "missing" if text_of(value) is None else repr(value)


def _known(attribute: Attribute, value: Any) -> bool:
    if text_of(value) is None:
        return attribute.missing
    if attribute.continuous:
        return isinstance(value, (int, float)) and attribute.contains(float(value))
    return text_of(value) in attribute.code_of


def broken(constraints: Constraints, generalization: Generalization, table: Table) -> list[str]:
    """Return what the generalization breaks, a phrase for each; the table is that of the training records."""
    sizes = [
        table.sizes[j] if isinstance(partition, Untouched) else partition.size
        for j, partition in enumerate(generalization.partitions)
    ]
    in_all, told = constraints.max_buckets_in_all, constraints.nested_in
    problems = (
        [] if in_all is None or sum(sizes) <= in_all else [f"{counted(sum(sizes), 'bucket')} in all, not {in_all}"]
    )
    for j, partition in enumerate(generalization.partitions):
        name = partition.attribute.name
        phrases = _problems(constraints, partition, sizes[j])
        if told is not None and not partition.is_coarser_than(told.partitions[j]):
            phrases.append("tells what was not told before")
        if too_few(constraints, partition, table, j):
            phrases.append(f"a bucket of fewer than {constraints.min_people:g} people")
        problems += [f"{name}: {phrase}" for phrase in phrases]
    return problems


def check_start(constraints: Constraints, start: Generalization, table: Table) -> None:
    """Raise a ``ParameterError`` where the start of a path breaks constraints: merging need not mend that."""
    constraints.check(table.schema)
    problems = broken(constraints, start, table)
    if problems:
        raise ParameterError(
            "the start of a path must hold to the constraints; found "
            + "; ".join(problems)
            + "; start from optimal_path(..., constraints=...)"
        )


def _problems(constraints: Constraints, partition: Partition, size: int) -> list[str]:
    name = partition.attribute.name
    limit, edges = constraints.max_buckets.get(name), constraints.edges.get(name, ())
    problems = []
    if limit is not None and (isinstance(partition, Untouched) or size > limit):
        problems.append(f"{counted(size, 'bucket')}, not {limit}")
    if name in constraints.suppressed and not partition.suppressed:
        problems.append("is not suppressed")
    if name in constraints.untouched and partition != keep(partition.attribute):
        problems.append("is not untouched")
    if isinstance(partition, Intervals):
        problems += [f"the edge {edge:g} is gone" for edge in edges if float(edge) not in partition.edges]
    parted = [v for v in constraints.together.get(name, ()) if len({*bucket_of_values(partition, v)}) > 1]
    joined = [v for v in constraints.apart.get(name, ()) if len({*bucket_of_values(partition, v)}) < len({*v})]
    tree = BucketTree.of(partition)
    if tree is not None and not all(tree.tree.joins(codes) for codes in tree.codes):
        problems.append("a group is none of its hierarchy")
    problems += [f"{[*v]} are not together" for v in parted] + [f"{[*v]} are not apart" for v in joined]
    return problems


def bucket_of_values(partition: Partition, values: Iterable[Any]) -> list[int]:
    """Return the bucket of each raw value; None stands for "missing"."""
    attribute, given = partition.attribute, [*values]
    if not attribute.continuous:
        missing = len(partition.assignment) - attribute.extra_values
        codes = [missing if (text := text_of(value)) is None else attribute.code_of[text] for value in given]
        return [int(partition.assignment[code]) for code in codes]
    numbers = [float(value) for value in given if text_of(value) is not None]
    levels = np.unique(np.array(numbers, dtype=float))
    buckets = partition.bucket_map(levels)
    return [int(buckets[len(levels) if text_of(v) is None else np.searchsorted(levels, float(v))]) for v in given]


def too_few(constraints: Constraints, partition: Partition, table: Table, j: int) -> bool:
    """Return whether a bucket has too few people; beyond an edge that must stay there may be nobody."""
    if not constraints.min_people or partition.attribute.name in constraints.untouched:
        return False
    people = np.bincount(partition.bucket_map(table.levels[j]), weights=table.unweighted.use(j))
    if partition.attribute.continuous:
        people = people[people > 0]
    return bool((people < constraints.min_people).any())


@dataclass(frozen=True, eq=False)
class BucketTree:
    """The hierarchy of an attribute as its buckets see it; ``codes`` has those of each bucket."""

    tree: Tree
    codes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, partition: Partition) -> BucketTree | None:
        """Return the tree of a partition; None where no hierarchy is declared, or nothing is asked."""
        tree = partition.attribute.tree
        if tree is None or partition.suppressed:
            return None
        codes: list[list[int]] = [[] for _ in range(partition.size)]
        for code, bucket in enumerate(partition.assignment):
            codes[bucket].append(code)
        return cls(tree, tuple(map(tuple, codes)))

    def joins(self, buckets: Iterable[int]) -> bool:
        """Return whether the values of these buckets together make a group of the tree."""
        return self.tree.joins(code for bucket in buckets for code in self.codes[bucket])

    def in_order(self, effect: npt.NDArray[Any], people: npt.NDArray[Any]) -> list[int]:
        """Return the buckets node by node, those below one node by their effect."""
        sizes = [max(len(codes), 1) for codes in self.codes]
        bucket_of = {code: bucket for bucket, codes in enumerate(self.codes) for code in codes}
        each = [bucket_of[code] for code in range(len(self.tree.paths))]
        order = self.tree.in_order([float(effect[b]) for b in each], [float(people[b]) / sizes[b] for b in each])
        return [*dict.fromkeys(bucket_of[code] for code in order)]

    def allowed_runs(self, row: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which runs, from first to last, of a row of buckets in such an order are groups of the tree."""
        order = [code for bucket in row for code in self.codes[bucket]]
        place = np.repeat(np.arange(len(row)), [len(self.codes[bucket]) for bucket in row])
        return joint_runs(self.tree, order, place, len(row))

    def nodes(self) -> list[tuple[int, ...]]:
        """Return the buckets of each node of the tree that holds several whole ones."""
        found = []
        for members in self.tree.members.values():
            inside = {*members}
            buckets = tuple(b for b, codes in enumerate(self.codes) if inside.issuperset(codes))
            if len(buckets) > 1 and sum(len(self.codes[b]) for b in buckets) == len(inside):
                found.append(buckets)
        return found


def joint_runs(tree: Tree, order: Sequence[int], place: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.bool_]:
    """Return which runs of places are groups of the tree; ``place`` has that of each code in the order."""
    allowed = np.eye(size, dtype=bool)
    for first, last in tree.runs(order):
        begins = first == 0 or place[first - 1] < place[first]
        ends = last == len(place) - 1 or place[last] < place[last + 1]
        if begins and ends:
            allowed[place[first], place[last]] = True
    return allowed


def on_the_tree(partition: Partition) -> Partition:
    """Return the coarsest refinement of a partition whose groups are those of its hierarchy."""
    tree = BucketTree.of(partition)
    if tree is None or all(tree.tree.joins(codes) for codes in tree.codes):
        return partition
    part_of = {
        code: (bucket, number)
        for bucket, codes in enumerate(tree.codes)
        for number, part in enumerate(tree.tree.parts(codes))
        for code in part
    }
    assert isinstance(partition, Groups)
    return Groups(partition.attribute, first_seen(part_of[code] for code in range(len(partition.assignment))))


@dataclass(frozen=True, eq=False)
class MergeRules:
    """Which buckets of the start of a path may become one.

    Attributes
    ----------
    fixed
        The attributes that stay as they are.
    side
        Per attribute, the interval between kept edges that each bucket lies in; -1 where it does not matter.
    apart
        Per attribute, lists of buckets of which no two may become one.
    trees
        Per attribute, its hierarchy: only groups of the tree may become one.
    """

    fixed: frozenset[int]
    side: tuple[npt.NDArray[np.intp], ...]
    apart: tuple[tuple[frozenset[int], ...], ...]
    trees: tuple[BucketTree | None, ...]

    @classmethod
    def of(cls, constraints: Constraints, partitions: Sequence[Partition]) -> MergeRules:
        """Read the constraints for the partitions that a path starts from."""
        names = [partition.attribute.name for partition in partitions]
        return cls(
            fixed=frozenset(j for j, name in enumerate(names) if name in constraints.untouched),
            side=tuple(_sides(constraints, partition) for partition in partitions),
            apart=tuple(
                tuple(frozenset(bucket_of_values(partition, v)) for v in constraints.apart.get(name, ()))
                for name, partition in zip(names, partitions, strict=True)
            ),
            trees=tuple(map(BucketTree.of, partitions)),
        )

    def free(self, attribute: int) -> bool:
        """Return whether any of its buckets may become one."""
        bound = attribute in self.fixed or self.apart[attribute] or self.trees[attribute] is not None
        return not bound and bool(self.side[attribute].max() < 0)

    def allow(self, attribute: int, buckets: Iterable[int]) -> bool:
        """Return whether these buckets of the start may become one."""
        if attribute in self.fixed or self.free(attribute):
            return attribute not in self.fixed
        joined, tree = {*buckets}, self.trees[attribute]
        if tree is not None and not tree.joins(joined):
            return False
        sides = {int(self.side[attribute][bucket]) for bucket in joined} - {-1}
        return len(sides) <= 1 and all(len(joined & parted) <= 1 for parted in self.apart[attribute])


def _sides(constraints: Constraints, partition: Partition) -> npt.NDArray[np.intp]:
    side = np.full(max(partition.size, 1), -1, dtype=np.intp)
    edges = sorted(float(edge) for edge in constraints.edges.get(partition.attribute.name, ()))
    if edges and isinstance(partition, Intervals):
        upper = np.array([*partition.edges, np.inf])
        side[np.asarray(partition.assignment[: len(upper)])] = np.searchsorted(edges, upper, side="left")
    return side
