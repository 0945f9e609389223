"""Locks as constraints of a search and of a policy file, and back: what must stay is said in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from leastwise.errors import LeastwiseError
from leastwise.minimizers import Constraints
from leastwise.partition import Groups, Intervals, Partition, keep
from leastwise.partition import suppress as not_asked
from leastwise.schema.values import number_text, text_of
from leastwise.studio.edits import Lock, Sheet, is_untouched, with_edge

Lists = Mapping[str, Sequence[Sequence[Any]]]


def constraints_of(sheet: Sheet) -> Constraints:
    """Return what is locked, and what the policy says, as constraints.

    What stays is said by its edges; of values, by which of them share a bucket, and by one of each bucket that may
    not meet those of others.
    """
    edges: dict[str, list[float]] = {}
    together: dict[str, list[list[Any]]] = {}
    apart: dict[str, list[list[Any]]] = {}
    untouched, dropped = [*sheet.rules.untouched], [*sheet.rules.suppressed]
    for lock in sorted(sheet.locks, key=lambda each: (each.attribute, each.kind, each.what)):
        name, partition = lock.attribute, sheet.generalization[lock.attribute]
        if partition.suppressed:
            dropped.append(name)
        elif is_untouched(partition):
            untouched.append(name)
        elif isinstance(partition, Intervals):
            edges.setdefault(name, []).extend(_edges_that_stay(partition, lock))
        elif isinstance(partition, Groups):
            together.setdefault(name, []).extend(_values_together(partition, lock))
            apart.setdefault(name, []).extend(_values_apart(partition, lock))
    of_rules = {name: [*each] for name, each in sheet.rules.edges.items()}
    names = {*edges, *of_rules}
    told = {name: sorted({*edges.get(name, ()), *of_rules.get(name, ())}) for name in sorted(names)}
    return replace(
        sheet.rules,
        edges={name: each for name, each in told.items() if each},
        together=_joined(sheet.rules.together, together),
        apart=_joined(sheet.rules.apart, apart),
        untouched=[*dict.fromkeys(untouched)],
        suppressed=[*dict.fromkeys(dropped)],
    )


def _joined(first: Lists, second: Lists) -> dict[str, list[list[Any]]]:
    joined: dict[str, list[list[Any]]] = {}
    for name in [*dict.fromkeys([*first, *second])]:
        for values in (*first.get(name, ()), *second.get(name, ())):
            if [*values] not in joined.setdefault(name, []):
                joined[name].append([*values])
    return {name: lists for name, lists in joined.items() if lists}


def _edges_that_stay(partition: Intervals, lock: Lock) -> list[float]:
    if lock.kind == "attribute":
        return [*partition.edges]
    if lock.kind == "edge":
        return [edge for edge in partition.edges if number_text(edge) == lock.what]
    bucket = partition.unnamed.labels.index(lock.what)
    return [end for end in partition.ends(bucket) if end is not None] if bucket <= len(partition.edges) else []


def _members(partition: Groups) -> list[list[Any]]:
    """Return the values of each bucket; None stands for "missing", which nobody can list "other" by."""
    attribute, members = partition.attribute, [list[Any]() for _ in range(partition.size)]
    pieces = [*attribute.values, *[None] * attribute.missing]
    for piece, bucket in zip(pieces, partition.assignment, strict=False):
        members[bucket].append(piece)
    return members


def _values_together(partition: Groups, lock: Lock) -> list[list[Any]]:
    members = _members(partition)
    own = members if lock.kind == "attribute" else [members[partition.unnamed.labels.index(lock.what)]]
    return [values for values in own if len(values) > 1]


def _values_apart(partition: Groups, lock: Lock) -> list[list[Any]]:
    firsts = [values[:1] for values in _members(partition)]
    if lock.kind == "attribute":
        named = [value for first in firsts for value in first]
        return [named] if len(named) > 1 else []
    own = firsts.pop(partition.unnamed.labels.index(lock.what))
    return [[*own, *other] for other in firsts if own and other]


def held_to(sheet: Sheet, rules: Constraints) -> Sheet:
    """Return the sheet as a policy wants it: its edges are drawn, its values merged, and what it fixes is locked.

    What a policy says beyond that (values apart that a draft has together, limits) is not drawn by itself.
    """
    way, locks = sheet.generalization, {*sheet.locks}
    for partition in way.partitions:
        name = partition.attribute.name
        after = _held(partition, rules)
        if after != partition:  # the policy goes before what somebody locked
            locks = {lock for lock in locks if lock.attribute != name}
            way = way.replacing(after)
        locks |= {*_fixed(after, rules)}
    return replace(sheet, generalization=way, locks=frozenset(locks), rules=rules)


def _held(partition: Partition, rules: Constraints) -> Partition:
    attribute = partition.attribute
    if attribute.name in rules.suppressed:
        return not_asked(attribute)
    if attribute.name in rules.untouched:
        return keep(attribute)
    edges = {float(edge) for edge in rules.edges.get(attribute.name, ())}
    if edges:
        own = partition if isinstance(partition, Intervals) else Intervals(attribute, ())
        for edge in sorted(edges - {*own.edges}):
            own = with_edge(own, edge)
        return own
    for values in rules.together.get(attribute.name, ()):
        partition = _merged(partition, values)
    return partition


def _merged(partition: Partition, values: Sequence[Any]) -> Partition:
    """Return the partition with the buckets of some values as one, where they can be."""
    if not isinstance(partition, Groups):
        return partition
    with suppress(LeastwiseError):  # values of an order that are no neighbours
        while len(buckets := _buckets_of(partition, values)) > 1:
            partition = partition.merge(*sorted(buckets)[:2])
    return partition


def _buckets_of(partition: Partition, values: Iterable[Any]) -> set[int]:
    wanted = {*map(text_of, values)}
    if not isinstance(partition, Groups):
        return set()
    return {bucket for bucket, own in enumerate(_members(partition)) if wanted & {*map(text_of, own)}}


def _fixed(partition: Partition, rules: Constraints) -> Iterable[Lock]:
    """Yield the locks that say what the policy fixes of a question."""
    name = partition.attribute.name
    if name in (*rules.suppressed, *rules.untouched):
        yield Lock(name, "attribute")
    for edge in rules.edges.get(name, ()):
        yield Lock(name, "edge", number_text(float(edge)))
    if isinstance(partition, Groups) and not partition.suppressed:
        labels = partition.unnamed.labels
        fixed = [label for bucket, label in enumerate(labels) if _is_fixed(partition, bucket, rules)]
        if fixed and len(fixed) == partition.size:
            yield Lock(name, "attribute")
        else:
            yield from (Lock(name, "bucket", label) for label in fixed)


def _is_fixed(partition: Groups, bucket: int, rules: Constraints) -> bool:
    """Return whether the values of a bucket must be together, and apart from those of every other one."""
    name, members = partition.attribute.name, _members(partition)
    if name not in rules.apart or not members[bucket]:
        return False
    linked = [{*map(text_of, values)} for values in rules.together.get(name, ())]
    own = {*map(text_of, members[bucket])}
    whole = len(own) == 1 or any(own <= values for values in linked)
    parted = [_buckets_of(partition, values) for values in rules.apart[name]]
    met = {other for buckets in parted if bucket in buckets for other in buckets}
    return whole and met | {bucket} == {*range(partition.size)}
