"""The draft as a script: a file that makes the same artefact, byte for byte, without the studio."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import fields

from leastwise.generalization import Generalization
from leastwise.partition import Groups, Intervals, Partition
from leastwise.schema import Attribute


def as_python(generalization: Generalization, to: str = "draft.json") -> str:
    """Return Python that makes the artefact from its buckets, and writes it."""
    if any(each.hierarchy or each.derive for each in generalization.schema.attributes):
        return _from_text(generalization, to)
    lines = [
        "from leastwise import Attribute, Generalization, Groups, Intervals",
        "from leastwise.partition import keep, suppress",
        *(["from leastwise.schema import Content, Named"] if _has_names(generalization) else []),
        "",
        "generalization = Generalization(",
        "    (",
        *(f"        {_partition(partition)}," for partition in generalization.partitions),
        "    ),",
        f"    label={_attribute(generalization.label) if generalization.label is not None else None},",
        f"    origin={dict(generalization.origin)!r},",
        ")",
        f"generalization.save({to!r})",
        "",
    ]
    return "\n".join(lines)


def _from_text(generalization: Generalization, to: str) -> str:
    """Return Python that reads the artefact as it is: a tree of groups, or a derivation, is a document."""
    lines = [repr(line) for line in generalization.to_json().splitlines(keepends=True)]
    return "\n".join(
        [
            "from leastwise import Generalization",
            "",
            "generalization = Generalization.from_json(",
            *(f"    {line}" for line in lines),
            ")",
            f"generalization.save({to!r})",
            "",
        ]
    )


def _partition(partition: Partition) -> str:
    if partition.suppressed:
        return f"suppress({_attribute(partition.attribute.without_domain())})"
    attribute = _attribute(partition.attribute, _names(partition))
    if isinstance(partition, Intervals):
        return f"Intervals({attribute}, {partition.edges!r}, {partition.extras!r})"
    if isinstance(partition, Groups) and not partition.untouched:
        return f"Groups({attribute}, {partition.assignment!r})"
    return f"keep({attribute})"


def _has_names(generalization: Generalization) -> bool:
    return any(not partition.suppressed and _names(partition) for partition in generalization.partitions)


def _names(partition: Partition) -> list[str]:
    """Return the names of the buckets that have one, each with what it holds; values in their own order."""
    named = [bucket for bucket in range(len(partition.labels)) if partition.name(bucket)]
    return [f"Named({partition.name(bucket)!r}, {_content(partition, bucket)})" for bucket in named]


def _content(partition: Partition, bucket: int) -> str:
    content = partition.content(bucket)
    values = tuple(value for value in partition.attribute.values if value in content.values)
    given = [f"frozenset({values!r})"] if values else []
    for key in ("above", "up_to", "missing", "other"):
        value = getattr(content, key)
        given += [] if value is None or value is False else [f"{key}={value!r}"]
    return f"Content({', '.join(given)})"


def _attribute(attribute: Attribute, names: Sequence[str] = ()) -> str:
    given = []
    for each in fields(attribute):
        value = getattr(attribute, each.name)
        if each.init and each.name not in ("name", "names") and value != each.default:
            given.append(f"{each.name}={value!r}")
    given += [f"names=({', '.join(names)},)"] if names else []
    return f"Attribute({', '.join([repr(attribute.name), *given])})"


def as_commands(
    generalization: Generalization, data: str, schema: str, seed: int, quick: bool, to: str = "draft.json"
) -> str:
    """Return shell commands that write the artefact and judge it, by the schema of the run as the run does."""
    judge = f"leastwise evaluate {to} {shlex.quote(data)} --schema {shlex.quote(schema)} --seed {seed}"
    judge += " --quick" if quick else ""
    text = generalization.to_json()
    end = "END"
    while end in text:
        end += "_"
    return f"cat > {to} <<'{end}'\n{text}{end}\n{judge}\n"
