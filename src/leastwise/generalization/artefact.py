"""The file format of a generalization: JSON, readable by a person, complete without the data.

Described in docs/artefact-format.md and published as a JSON Schema beside this file. Version 2 is version 1 with
names of buckets; what has none is written as version 1, as ever.

Intervals are written with both ends, although one would do, so that a reader sees "above 19, up to 63"; gaps and
overlaps are therefore possible in an edited file, and are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from leastwise.documents import Fields, Problems, check_format, is_number, read_json
from leastwise.errors import ArtefactError, SchemaError, shorten
from leastwise.partition import Groups, Intervals, Partition, keep, suppress
from leastwise.schema import Attribute
from leastwise.schema.attribute import attribute_to_document, plain_number, take_attribute
from leastwise.schema.labels import label_to_document, take_label
from leastwise.schema.names import Named, name_problem
from leastwise.schema.values import number_text
from leastwise.validation import did_you_mean

FORMAT = "leastwise-generalization"
VERSION, WITH_NAMES, WITH_LABELS = 1, 2, 3
SUPPRESSED, UNTOUCHED = "suppressed", "untouched"
LINE_WIDTH = 100

Content = tuple[tuple[Partition, ...], Attribute | None, dict[str, Any]]
# One for all: ``json.dumps`` makes a new one each time, which takes longer than to write a short text.
_on_a_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_schema() -> str:
    """Return the published JSON Schema of the format."""
    return (files("leastwise.generalization") / "generalization.schema.json").read_text(encoding="utf-8")


def to_document(
    partitions: Sequence[Partition], label: Attribute | None, origin: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of the file."""
    named = any(map(_has_names, partitions))
    several = label is not None and len(label.parts) > 1
    version = WITH_LABELS if several else WITH_NAMES if named else VERSION
    document: dict[str, Any] = {"format": FORMAT, "version": version}
    if origin:
        document["origin"] = dict(origin)
    document |= label_to_document(None if label is None else label.unnamed)
    document["attributes"] = [*map(_partition_to_document, partitions)]
    return document


def _partition_to_document(partition: Partition) -> dict[str, Any]:
    return {**attribute_to_document(_published(partition)), "buckets": _buckets_to_document(partition)}


def _published(partition: Partition) -> Attribute:
    """Return the attribute; nobody needs the domain of a suppressed one, and its values are somebody's."""
    return partition.attribute.without_domain() if partition.suppressed else partition.attribute.unnamed


def _has_names(partition: Partition) -> bool:
    asked = bool(partition.attribute.names) and bool(partition.labels) and not partition.suppressed
    return asked and any(map(partition.name, range(partition.size)))


def _buckets_to_document(partition: Partition) -> Any:
    if partition.suppressed:
        return SUPPRESSED
    if partition.untouched and not _has_names(partition):
        return UNTOUCHED
    buckets = [_members_to_document(partition, bucket) for bucket in range(partition.size)]
    for name, place in (("missing", partition.missing_bucket), ("other", partition.other_bucket)):
        if place is not None:
            buckets[place][name] = True
    for place, bucket in enumerate(buckets):
        if partition.name(place):
            bucket["name"] = partition.name(place)
    return buckets


def _members_to_document(partition: Partition, bucket: int) -> dict[str, Any]:
    if isinstance(partition, Groups):
        values = partition.groups[bucket]
        return {"values": list(values)} if values else {}
    assert isinstance(partition, Intervals)
    if bucket > len(partition.edges):
        return {}
    above, up_to = partition.ends(bucket)
    return {"above": plain_number(above), "up_to": plain_number(up_to)}


def to_text(partitions: Sequence[Partition], label: Attribute | None, origin: Mapping[str, Any]) -> str:
    """Return the text of the file; lists and small mappings keep to one line each, so that it reads well."""
    if len(partitions) < 2:  # which may fit into a line
        return _written(to_document(partitions, label, origin)) + "\n"
    document = to_document((), label, origin)
    if any(map(_has_names, partitions)):
        document["version"] = max(document["version"], WITH_NAMES)
    texts = {key: _written(value, 1) for key, value in document.items()}
    texts["attributes"] = "[\n  " + ",\n  ".join(map(_partition_text, partitions)) + "\n ]"
    return "{\n " + ",\n ".join(f'"{key}": {text}' for key, text in texts.items()) + "\n}\n"


def _partition_text(partition: Partition) -> str:
    """Return an attribute and its buckets as they stand in a file."""
    # Two that differ only in names are equal.
    return (
        _written(_partition_to_document(partition), 2) if partition.attribute.names else _unnamed_text(partition)
    )


@lru_cache(maxsize=4096)
def _unnamed_text(partition: Partition) -> str:
    """Return the same where nobody has named a bucket; what a search tries differs in one of them."""
    return _written(_partition_to_document(partition), 2)


def _written(value: Any, depth: int = 0) -> str:
    line = _on_a_line(value)
    if not isinstance(value, (dict, list)) or len(line) + depth <= LINE_WIDTH or not value:
        return line
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, list):
        items = [_written(item, depth + 1) for item in value]
        return f"[{indent}{(',' + indent).join(items)}\n{' ' * depth}]"
    pairs = [f"{_on_a_line(key)}: {_written(item, depth + 1)}" for key, item in value.items()]
    return f"{{{indent}{(',' + indent).join(pairs)}\n{' ' * depth}}}"


def from_text(text: str) -> Content:
    """Read a file's text; complain about everything that is wrong with it at once."""
    problems = Problems()
    document = read_json(text, problems)
    content = None if document is None and problems.texts else from_document(document, problems)
    if problems.texts or content is None:
        raise ArtefactError("not a generalization that can be trusted", problems.texts)
    return content


def from_document(document: Any, problems: Problems) -> Content | None:
    """Read the content of a file; note everything that is wrong with it."""
    fields = Fields(document, (), problems)
    if not check_format(fields, FORMAT, VERSION, WITH_NAMES, WITH_LABELS):
        return None
    version = fields.take("version")
    named = version in (WITH_NAMES, WITH_LABELS)
    if "labels" in fields and version != WITH_LABELS:
        problems.add(("labels",), f"several labels are of version {WITH_LABELS}; got version {version}")
    origin = fields.take("origin", {})
    if not isinstance(origin, dict) or not all(map(_is_single, origin.values())):
        fields.wrong("origin", "a mapping to texts, numbers, true, false or null", origin)
    label = take_label(fields, problems)
    partitions = [
        _partition_from_document(item, ("attributes", i), problems, named)
        for i, item in enumerate(fields.items("attributes"))
    ]
    fields.done()
    return tuple(p for p in partitions if p is not None), label, origin


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool)) or is_number(value)


def _partition_from_document(
    data: Any, path: tuple[str | int, ...], problems: Problems, named: bool
) -> Partition | None:
    fields = Fields(data, path, problems)
    attribute = take_attribute(fields)
    buckets = fields.take("buckets")
    fields.done()
    if attribute is None:
        return None
    if buckets == SUPPRESSED:
        return suppress(attribute)
    if buckets == UNTOUCHED:
        return keep(attribute)
    if not isinstance(buckets, list) or not buckets:
        fields.wrong("buckets", f'a list of buckets, "{SUPPRESSED}" or "{UNTOUCHED}"', buckets)
        return None
    return _read_buckets(attribute, buckets, (*path, "buckets"), problems, named)


def _read_buckets(
    attribute: Attribute, buckets: list[Any], path: tuple[str | int, ...], problems: Problems, named: bool
) -> Partition | None:
    before = len(problems.texts)
    read = [Fields(bucket, (*path, i), problems) for i, bucket in enumerate(buckets)]
    names = [_read_name(fields) for fields in read] if named else []
    partition = (_read_intervals if attribute.continuous else _read_groups)(attribute, read, path)
    for fields in read:
        fields.done()
    if partition is None or len(problems.texts) > before:
        return None
    if not any(names):
        return partition
    places = [_place_in(partition, i, fields) for i, fields in enumerate(read)]
    return _with_names(partition, dict(zip(places, names, strict=True)), path, problems)


def _read_name(fields: Fields) -> str:
    """Return the name of a bucket, empty where it has none."""
    if "name" not in fields:
        return ""
    name = fields.text("name")
    problem = name_problem(name)
    if problem:
        fields.problems.add((*fields.path, "name"), problem)
    return name


def _place_in(partition: Partition, place: int, bucket: Fields) -> int:
    """Return the number of a bucket of a file, in which buckets may stand in any order."""
    values = bucket.texts("values")
    if values:
        return partition.assignment[partition.attribute.code_of[values[0]]]
    if "above" in bucket or "up_to" in bucket:
        return place
    extra = partition.missing_bucket if bucket.flag("missing") else partition.other_bucket
    assert extra is not None
    return extra


def _with_names(
    partition: Partition, names: Mapping[int, str], path: tuple[str | int, ...], problems: Problems
) -> Partition | None:
    """Give buckets their names."""
    named = tuple(Named(name, partition.content(bucket)) for bucket, name in sorted(names.items()) if name)
    try:
        renamed = partition.of_attribute(replace(partition.attribute, names=named))
    except SchemaError as error:
        for problem in error.problems:
            problems.add(path, problem)
        return None
    for name in renamed.clashing:
        problems.add(path, f"name {shorten(name)}: another bucket is called so; every bucket needs its own")
    return renamed


def _read_extras(attribute: Attribute, buckets: list[Fields], path: tuple[str | int, ...]) -> list[int]:
    """Return the buckets of "missing" and "other"; each must be placed exactly once, if the domain has it."""
    places = []
    for name in ("missing", "other"):
        holding = [i for i, fields in enumerate(buckets) if fields.flag(name)]
        declared = getattr(attribute, name)
        if len(holding) != int(declared):
            must = "be in exactly one bucket" if declared else "not be in a bucket: the domain has none"
            buckets[0].problems.add(path, f'"{name}" must {must}; found in {len(holding)}')
        places += holding[:1] if declared else []
    return places


def _read_intervals(attribute: Attribute, buckets: list[Fields], path: tuple[str | int, ...]) -> Partition | None:
    problems = buckets[0].problems
    extras = _read_extras(attribute, buckets, path)
    inner = [i for i, fields in enumerate(buckets) if "above" in fields or "up_to" in fields]
    ends = [(fields.number("above"), fields.number("up_to")) for fields in buckets]
    _check_used({*inner, *extras}, buckets, path)
    if inner != list(range(len(inner))) or not inner:
        problems.add(path, "the intervals must come first, in ascending order")
        return None
    if ends[0][0] is not None or ends[inner[-1]][1] is not None:
        problems.add(path, "the first interval must be open below and the last open above")
    for i in inner[1:]:
        _check_joint(ends[i - 1][1], ends[i][0], (*path, i), problems)
    edges = [up_to for _, up_to in ends[: len(inner) - 1]]
    if None in edges:
        return None
    # "missing" comes before "other", whatever their order in the file.
    own = list(dict.fromkeys(bucket for bucket in extras if bucket >= len(inner)))
    places = tuple(b if b < len(inner) else len(inner) + own.index(b) for b in extras)
    return _build(lambda: Intervals(attribute, cast("tuple[float, ...]", tuple(edges)), places), path, problems)


def _check_used(used: set[int], buckets: list[Fields], path: tuple[str | int, ...]) -> None:
    for i in range(len(buckets)):
        if i not in used:
            buckets[0].problems.add((*path, i), "an empty bucket")


def _check_joint(
    up_to: float | None, above: float | None, path: tuple[str | int, ...], problems: Problems
) -> None:
    if up_to == above and up_to is not None:
        return
    names = ["nothing" if end is None else number_text(end) for end in (up_to, above)]
    gap = up_to is not None and above is not None and up_to < above
    problems.add(
        path,
        f"{'a gap' if gap else 'an overlap'}: the interval before ends at {names[0]}, "
        f"this one begins above {names[1]}; they must be the same",
    )


def _read_groups(attribute: Attribute, buckets: list[Fields], path: tuple[str | int, ...]) -> Partition | None:
    problems = buckets[0].problems
    extras = _read_extras(attribute, buckets, path)
    place: dict[str, int] = {}
    for i, fields in enumerate(buckets):
        for value in fields.texts("values"):
            if value not in attribute.code_of:
                hint = "" if problems.many else f"; {did_you_mean(value, attribute.values)}"
                problems.add((*fields.path, "values"), f"{shorten(value)} is not a declared value{hint}")
            elif value in place:
                problems.add((*fields.path, "values"), f"an overlap: {shorten(value)} is in two buckets")
            else:
                place[value] = i
    absent = [value for value in attribute.values if value not in place]
    if absent:
        shown = ", ".join(map(shorten, absent[:5])) + (" ..." if len(absent) > 5 else "")
        problems.add(path, f"a gap: {len(absent)} of the declared values are in no bucket: {shown}")
    _check_used({*place.values(), *extras}, buckets, path)
    if absent:
        return None
    marks = tuple(place[value] for value in attribute.values) + tuple(extras)
    return _build(lambda: Groups(attribute, marks), path, problems)


def _build(make: Any, path: tuple[str | int, ...], problems: Problems) -> Partition | None:
    try:
        return cast(Partition, make())
    except ArtefactError as error:
        for problem in error.problems:
            problems.add(path, problem)
        return None
