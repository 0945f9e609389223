"""What a person can do to a question: merge, split, move an edge or values, place "missing", drop, ask in full.

An edit is a small value that comes from the page and is kept in the journal; applied to a sheet it gives another
one, or says in words why not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ArtefactError, ParameterError, SchemaError, shorten
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.partition import Groups, Intervals, Partition, Untouched, edge_between, keep, suppress
from leastwise.schema import Attribute
from leastwise.schema.values import number_text

Edit = Mapping[str, Any]
_START = 4  # buckets that a question is divided into when it comes back from "asked in full"
_RARE = 1 / 8  # the share of people below which a value begins in a group with others


@dataclass(frozen=True)
class Lock:
    """What must stay: a whole question, one of its buckets (by its label) or one of its edges."""

    attribute: str
    kind: str
    what: str = ""


@dataclass(frozen=True)
class Sheet:
    """What is drawn: the buckets with the names that people gave them, what is locked, what a policy says."""

    generalization: Generalization
    locks: frozenset[Lock] = frozenset()
    rules: Constraints = field(default_factory=Constraints)


@dataclass(frozen=True)
class People:
    """How many people have each level of an attribute; by it a bucket is split in the middle."""

    levels: npt.NDArray[Any]
    use: npt.NDArray[np.float64]


def apply_edit(sheet: Sheet, edit: Edit, people: Callable[[str], People]) -> Sheet:
    """Return the sheet after an edit; a ``ParameterError`` says why it cannot be."""
    kind, name = edit.get("kind"), edit.get("attribute")
    if not isinstance(name, str) or name not in sheet.generalization.schema.names:
        raise ParameterError(f"an edit must name one of the attributes; got {shorten(name)}")
    if kind in ("lock", "unlock"):
        return _locked(sheet, name, edit)
    if kind == "rename":
        return _renamed(sheet, name, edit)
    if kind not in _EDITS:
        raise ParameterError(f"an edit must be one of {', '.join(_EDITS)}; got {shorten(kind)}")
    before = sheet.generalization[name]
    try:
        after = _EDITS[kind](before, edit, people)
    except ParameterError as error:
        text = str(error)
        raise ParameterError(text if text.startswith(name) else f"{name}: {text}") from None
    except (ArtefactError, KeyError, TypeError, ValueError, IndexError) as error:
        reasons = "; ".join(getattr(error, "problems", ()) or ()) or "its numbers do not fit"
        raise ParameterError(f"{name}: this cannot be done: {reasons}") from None
    check_locks(sheet, after)
    return replace(sheet, generalization=sheet.generalization.replacing(after))


def check_locks(sheet: Sheet, after: Partition) -> None:
    """Refuse what would change something that is locked."""
    name = after.attribute.name
    for lock in (lock for lock in sheet.locks if lock.attribute == name):
        if not _holds(lock, sheet.generalization[name], after):
            what = {"attribute": "the question", "bucket": f"“{lock.what}”", "edge": f"the edge {lock.what}"}[
                lock.kind
            ]
            raise ParameterError(f"{name}: {what} is locked; unlock it first")


def _holds(lock: Lock, before: Partition, after: Partition) -> bool:
    if lock.kind == "attribute":
        return before == after
    if lock.kind == "bucket":
        return lock.what in after.unnamed.labels
    return isinstance(after, Intervals) and lock.what in map(number_text, after.edges)


def _locked(sheet: Sheet, name: str, edit: Edit) -> Sheet:
    partition, kind, what = sheet.generalization[name], edit.get("what", "attribute"), edit.get("value", "")
    known: Sequence[str] = [""]
    if kind == "bucket":
        known = partition.unnamed.labels
    elif kind == "edge":
        known = [number_text(edge) for edge in partition.edges] if isinstance(partition, Intervals) else []
    elif kind != "attribute":
        raise ParameterError(f"a lock must be of an attribute, a bucket or an edge; got {shorten(kind)}")
    if what not in known:
        raise ParameterError(f"{name} has no {kind} {shorten(what)} to lock")
    lock = Lock(name, kind, what)
    return replace(sheet, locks=sheet.locks | {lock} if edit["kind"] == "lock" else sheet.locks - {lock})


def _renamed(sheet: Sheet, name: str, edit: Edit) -> Sheet:
    """Give a bucket a name, or take it away; it is known by what it holds, whatever it is called now."""
    partition, label, given = sheet.generalization[name], edit.get("label"), edit.get("name", "")
    if label not in partition.unnamed.labels or partition.suppressed:
        raise ParameterError(f"{name} has no bucket {shorten(label)}")
    if not isinstance(given, str):
        raise ParameterError("a name must be a text")
    content = partition.content(partition.unnamed.labels.index(label))
    try:
        after = partition.of_attribute(partition.attribute.naming(content, given.strip()))
    except SchemaError as error:
        raise ParameterError(f"{name}: {'; '.join(error.problems)}") from None
    if after.clashing:
        raise ParameterError(f"{name}: another group is called {shorten(given.strip())}; find another name")
    return replace(sheet, generalization=sheet.generalization.replacing(after))


def _merge(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    return partition.merge(int(edit["first"]), int(edit["second"]))


def _move_edge(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    """Move an edge to a place between its neighbours."""
    if not isinstance(partition, Intervals):
        raise ParameterError("it has no edges; ask it in groups first")
    place, to = int(edit["edge"]), float(edit["to"])
    if not 0 <= place < len(partition.edges) or not math.isfinite(to):
        raise ValueError
    edges = [*partition.edges]
    edges[place] = math.floor(to) if partition.attribute.integer else to
    return Intervals(partition.attribute, tuple(edges), partition.extras)


def _split(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    bucket, name = int(edit["bucket"]), partition.attribute.name
    if isinstance(partition, Untouched):
        raise ParameterError("it is asked in full; ask it in groups first")
    if isinstance(partition, Intervals):
        at = float(edit["at"]) if edit.get("at") is not None else _middle(partition, bucket, people(name))
        return with_edge(partition, at)
    assert isinstance(partition, Groups)
    members = [piece for piece, of in enumerate(partition.assignment) if of == bucket]
    if len(members) < 2:
        raise ParameterError(f"{name}: a bucket of one value cannot be split")
    use = people(name).use[members]
    half = int(np.argmin(np.abs(np.cumsum(use)[:-1] - use.sum() / 2))) + 1
    return _regrouped(partition, [members[half:]], partition.size)


def _middle(partition: Intervals, bucket: int, people: People) -> float:
    """Return the roundest number that parts the people of a bucket about evenly."""
    levels = people.levels.astype(float)
    inside = np.flatnonzero(partition.bucket_map(levels)[: len(levels)] == bucket)
    if len(inside) < 2:
        raise ParameterError(f"{partition.attribute.name}: nobody's numbers lie apart in this bucket")
    use = np.cumsum(people.use[inside])
    low, high = (levels[inside[int(np.searchsorted(use, use[-1] * share))]] for share in (0.4, 0.6))
    place = min(int(np.searchsorted(use, use[-1] / 2)), len(inside) - 2)
    if high <= low:
        low, high = levels[inside[place]], levels[inside[place + 1]]
    return edge_between(float(low), float(high), partition.attribute.integer)


def with_edge(partition: Intervals, at: float) -> Intervals:
    """Return the partition with one more edge."""
    edge = math.floor(at) if partition.attribute.integer else at
    if edge in partition.edges:
        raise ParameterError(f"{partition.attribute.name}: there is an edge at {number_text(edge)} already")
    edges = tuple(sorted((*partition.edges, edge)))
    place, before = edges.index(edge), len(partition.edges) + 1
    # What lay in a bucket behind the new edge, or in one of its own, moves up with it.
    extras = [each + (each > place) if each < before else each + 1 for each in partition.extras]
    return Intervals(partition.attribute, edges, tuple(extras))


def _move(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    """Move values, "missing" or "other" (by their places in the domain) to a bucket, or to a new one (None)."""
    pieces, to = [int(piece) for piece in edit["pieces"]], edit.get("to")
    target = partition.size if to is None else int(to)
    if not pieces or not 0 <= target <= partition.size:
        raise ValueError
    if isinstance(partition, Untouched):
        raise ParameterError("it is asked in full; ask it in groups first")
    if isinstance(partition, Intervals):
        first = len(partition.edges) + 1
        extras = list(partition.extras)
        for piece in pieces:
            if piece < first:
                raise ParameterError(f"{partition.attribute.name}: of a number, move the edge instead")
            extras[piece - first] = target
        marks = [*range(first), *extras]
        return Intervals(partition.attribute, partition.edges, tuple(_numbered(marks)[first:]))
    assert isinstance(partition, Groups)
    return _regrouped(partition, [pieces], target)


def _numbered(marks: Sequence[int]) -> list[int]:
    number: dict[int, int] = {}
    return [number.setdefault(mark, len(number)) for mark in marks]


def _regrouped(partition: Groups, lists: Sequence[Sequence[int]], target: int) -> Groups:
    assignment = [*partition.assignment]
    for pieces in lists:
        for piece in pieces:
            assignment[piece] = target
    if partition.attribute.kind == "ordinal":
        values = len(partition.attribute.values)
        runs = [mark for mark, _ in itertools.groupby(assignment[:values])]
        if len(runs) != len({*runs}):
            name = partition.attribute.name
            raise ParameterError(f"{name} is in order: only neighbouring values can share a bucket")
    return Groups(partition.attribute, tuple(assignment))


def _drop(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    return suppress(partition.attribute)


def _ask(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    return keep(partition.attribute)


def _divide(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    """Ask in a few buckets of about as many people each: where a dropped or full question begins again."""
    attribute, known = partition.attribute, people(partition.attribute.name)
    if not attribute.continuous:
        return _grouped(attribute, known)
    levels, use = known.levels.astype(float), np.cumsum(known.use[: len(known.levels)])
    cuts = np.searchsorted(use, use[-1] * np.arange(1, _START) / _START)
    cuts = sorted({min(int(cut), len(levels) - 2) for cut in cuts}) if len(levels) > 1 else []
    edges = sorted({_round_near(levels, cut, attribute.integer) for cut in cuts})
    low = -math.inf if attribute.lower is None else attribute.lower
    high = math.inf if attribute.upper is None else attribute.upper
    return Intervals(attribute, tuple(edge for edge in edges if low <= edge < high))


def _grouped(attribute: Attribute, known: People) -> Partition:
    """Return where groups of values begin: those of the tree, runs of an order, or the rare ones together."""
    if attribute.hierarchy is not None:
        return _level(keep(attribute), {"level": 1}, lambda _: known)
    values = len(attribute.values)
    use = known.use[:values] / max(known.use.sum(), 1.0)
    if attribute.kind == "ordinal":
        marks = np.minimum((np.cumsum(use) - use / 2) * _START, _START - 1).astype(int)
    else:
        rarest = np.argsort(use, kind="stable")[: 2 if values > 2 else 0]
        rare = use < _RARE if (use < _RARE).sum() > 1 else np.isin(np.arange(values), rarest)
        marks = np.where(rare, values, np.arange(values))
    extras = range(values + 1, values + 1 + attribute.extra_values)
    groups = Groups(attribute, (*marks.tolist(), *extras))
    return keep(attribute) if groups.suppressed else groups


def _level(partition: Partition, edit: Edit, people: Callable[[str], People]) -> Partition:
    """Group the values as the declared hierarchy does, so many steps above the values themselves."""
    attribute, level = partition.attribute, int(edit["level"])
    if attribute.hierarchy is None or level < 1:
        raise ParameterError("no hierarchy is declared for it")
    above = {row[0]: row[min(level, len(row) - 1)] for row in attribute.hierarchy.rows}
    marks = [above[value] for value in attribute.values]
    extras = [("missing",)] * attribute.missing + [("other",)] * attribute.other
    number: dict[object, int] = {}
    return Groups(attribute, tuple(number.setdefault(mark, len(number)) for mark in [*marks, *extras]))


def _round_near(levels: npt.NDArray[np.float64], cut: int, whole: bool) -> float:
    around = levels[max(cut - 2, 0)], levels[min(cut + 3, len(levels) - 1)]
    return edge_between(float(around[0]), float(around[1]), whole)


_EDITS: dict[str, Callable[[Partition, Edit, Callable[[str], People]], Partition]] = {
    "merge": _merge,
    "move_edge": _move_edge,
    "split": _split,
    "move": _move,
    "drop": _drop,
    "ask": _ask,
    "divide": _divide,
    "level": _level,
}


def is_untouched(partition: Partition) -> bool:
    """Return whether every value keeps a bucket of its own."""
    return isinstance(partition, Untouched) or partition.untouched
