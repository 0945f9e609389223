"""The options that say what is predicted from what; shared by the commands that read records."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from leastwise.cli.printing import visible
from leastwise.errors import ParameterError, SchemaError, UnknownValueError, shorten

if TYPE_CHECKING:
    import polars as pl

    from leastwise.records.table import Table
    from leastwise.schema import Kind, Schema
    from leastwise.schema.inference import Inspection

Data = Annotated[
    str, typer.Argument(help="CSV, Parquet or NDJSON file with a column for each attribute; - is stdin.")
]
Label = Annotated[str | None, typer.Option("--label", "-l", help="The column to predict.")]
Personal = Annotated[
    list[str] | None,
    typer.Option("--personal", "-p", help="The personal attributes, exactly: a,b,c. Default: all discrete ones."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="A text that means 'no answer', such as '?'. Can be repeated."),
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", "-s", help="A schema saved by inspect. Default: inferred from the data.")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Columns that are no attributes: a,b.")]
Keep = Annotated[
    list[str] | None, typer.Option("--keep", help="Columns that are attributes although they look like none: a,b.")
]
Discrete = Annotated[
    list[str] | None, typer.Option("--discrete", help="Columns whose numbers are codes, not quantities: a,b.")
]
Continuous = Annotated[
    list[str] | None, typer.Option("--continuous", help="Columns whose numbers are quantities, not codes: a,b.")
]
AtLeast = Annotated[
    int, typer.Option("--at-least", min=1, help="Values that fewer records have are accepted as 'other' only.")
]


class Records(NamedTuple):
    """Encoded records; the attributes whose domains were read off them, and the columns that were left out."""

    table: Table
    inferred: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What the options of a command say about the records."""

    data: str
    label: str | None = None
    personal: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    schema: Path | None = None
    drop: Sequence[str] | None = None
    keep: Sequence[str] | None = None
    discrete: Sequence[str] | None = None
    continuous: Sequence[str] | None = None
    at_least: int = 1

    def read(self) -> pl.DataFrame:
        """Read the records."""
        from leastwise.records.files import read_frame

        return read_frame(self.data, tuple(self.missing or ()))

    def inspect(self, frame: pl.DataFrame) -> Inspection:
        """Propose a schema for the records."""
        from leastwise.schema.inference import infer_schema

        columns = frame.columns
        kinds: dict[str, Kind] = dict.fromkeys(names(self.discrete, columns), "discrete")
        kinds |= dict.fromkeys(names(self.continuous, columns), "continuous")
        return infer_schema(
            frame,
            self.label,
            None if self.personal is None else names(self.personal, columns),
            keep=names(self.keep, columns),
            drop=names(self.drop, columns),
            kinds=kinds,
            at_least=self.at_least,
        )

    def options(self, saved: Path | None = None) -> str:
        """Return the options as they are typed; those that a saved schema holds are left out."""
        words = [part for mark in self.missing or () for part in ("--missing", mark)]
        if saved is not None:
            return shlex.join(["--schema", str(saved), *words])
        words = ["--label", self.label or "COLUMN", *words]
        for name in ("personal", "drop", "keep", "discrete", "continuous"):
            words += [part for text in getattr(self, name) or () for part in (f"--{name}", text)]
        words += ["--at-least", str(self.at_least)] if self.at_least > 1 else []
        return visible(shlex.join(words))

    def records(self) -> Records:
        """Return the encoded records, and what was inferred about them."""
        frame = self.read()
        if self.schema is not None:
            return Records(self._encode(frame, self._declared()))
        found = self.inspect(frame)
        left_out = tuple(f"{visible(f.name, 30)} ({f.kind}: {f.reason})" for f in found.left_out)
        return Records(self._encode(frame, found.schema), found.schema.names, left_out)

    def _encode(self, frame: pl.DataFrame, schema: Schema) -> Table:
        from leastwise.records.files import STANDARD_STREAM, RecordFile
        from leastwise.records.table import Table

        try:
            return Table.from_frame(frame, schema)
        except UnknownValueError as error:
            if error.row is None or self.data == STANDARD_STREAM:
                raise
            raise error.at(RecordFile.open(self.data).place_of(error.row)) from None

    def _declared(self) -> Schema:
        from leastwise.schema.file import load_schema

        assert self.schema is not None
        given = {"drop": self.drop, "keep": self.keep, "discrete": self.discrete, "continuous": self.continuous}
        for option, value in (given | {"at-least": self.at_least > 1}).items():
            if value:
                raise ParameterError(f"--{option} has no use beside --schema; edit {self.schema} instead")
        schema = load_schema(self.schema)
        found = None if schema.label is None else schema.label.name
        if self.label is not None and self.label != found:
            shown = "none" if found is None else shorten(found)
            raise SchemaError(f"--label says {shorten(self.label)}, {self.schema} says {shown}; they must agree")
        return schema if self.personal is None else schema.with_personal(names(self.personal, schema.names))


def names(given: Sequence[str] | None, columns: Iterable[str]) -> list[str]:
    """Return the names in options of the form a,b,c; a column whose name has a comma is taken as a whole.

    >>> names(["a,b", "c, d"], ["a", "b", "c, d"])
    ['a', 'b', 'c, d']
    """
    known = set(columns)
    parts = [[text] if text in known else text.split(",") for text in given or ()]
    return [name if name in known else name.strip() for part in parts for name in part if name.strip()]
