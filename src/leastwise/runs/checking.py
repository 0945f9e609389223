"""What must hold before a run begins: enough records, a label and something personal; told in one line each."""

from __future__ import annotations

import hashlib
from importlib.metadata import version

import numpy as np

from leastwise.errors import DataError, SchemaError, shorten
from leastwise.records.table import Split, Table
from leastwise.schema import Schema
from leastwise.schema.file import to_yaml

FEWEST = 300
"""A tenth of the records is for validation; with fewer than 30 there, chance would choose."""

COMPUTING = ("numpy", "scipy", "scikit-learn", "numba")


def check_schema(schema: Schema) -> None:
    """Refuse a task without a label, without attributes, or without anything to protect."""
    if schema.label is None:
        raise SchemaError("a run needs a label to predict; name its column: --label")
    if not schema.attributes:
        raise SchemaError("a run needs attributes; none of the columns is one: see leastwise inspect")
    if not schema.personal:
        raise SchemaError("a run needs at least one personal attribute to protect; name it: --personal a,b")


def check_records(table: Table) -> None:
    """Refuse too few records, and a label that says nothing."""
    if len(table) < FEWEST:
        raise DataError(
            f"a run needs at least {FEWEST} records: a tenth of them chooses, three tenths are attacked; "
            f"got {len(table):,}"
        )
    seen = np.flatnonzero(np.bincount(table.y, minlength=table.classes))
    label = table.schema.label
    assert label is not None
    if len(seen) < 2:
        raise DataError(f"the label {shorten(label.name)} must have at least two classes in the records; got one")


def check_split(split: Split) -> None:
    """Refuse parts that lack a class: what is not there cannot be judged."""
    label = split.train.schema.label
    assert label is not None
    parts = np.stack([np.bincount(part.y, minlength=part.classes) for part in split])
    whole = parts.sum(axis=0)
    for name, counts in zip(Split._fields, parts, strict=True):
        absent = np.flatnonzero((counts == 0) & (whole > 0))
        if len(absent):
            value, records = label.values[absent[0]], int(whole[absent[0]])
            raise DataError(
                f"class {shorten(value)} of {shorten(label.name)} has {records:,} records and none of them is in "
                f"the {name} part; give more of them, merge the class with another, or try another --seed"
            )


def fingerprint(table: Table) -> str:
    """Return the SHA-256 of the encoded records: the same for the same records in any file format."""
    digest = hashlib.sha256(to_yaml(table.schema).encode())
    for j, attribute in enumerate(table.schema.attributes):
        if attribute.continuous:
            digest.update(np.ascontiguousarray(table.levels[j], dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(table.codes[:, j], dtype="<i4").tobytes())
    digest.update(np.ascontiguousarray(table.y, dtype="<i4").tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of leastwise and of the libraries that compute."""
    from leastwise import __version__

    return {"leastwise": __version__, **{name: version(name) for name in COMPUTING}}
