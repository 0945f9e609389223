"""The options that say what is predicted from what, and the records they describe."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from leastwise.cli.output import visible
from leastwise.cli.settings import numbers_by_name
from leastwise.documents.wording import listed
from leastwise.errors import ParameterError, UnknownValueError, shorten

if TYPE_CHECKING:
    import polars as pl

    from leastwise.minimizers import Constraints
    from leastwise.policy import Policy
    from leastwise.records.table import Table
    from leastwise.schema import Kind, Schema
    from leastwise.schema.inference import Inspection
    from leastwise.schema.names import Names

Data = Annotated[
    str,
    typer.Argument(
        help="CSV, Parquet, NDJSON, Excel, SPSS, Stata or SAS file, a column for each attribute; - is stdin."
    ),
]
DataOrPolicy = Annotated[
    str | None,
    typer.Argument(
        help="CSV, Parquet or NDJSON file, - for stdin; big/*.parquet, duckdb:people.db, postgresql://... "
        "Default: the policy's."
    ),
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", "-s", help="A schema saved by inspect. Default: inferred from the data.")
]
Label = Annotated[
    list[str] | None,
    typer.Option("--label", "-l", metavar="NAME", help="The column to predict. Can be repeated: several at once."),
]
Personal = Annotated[
    list[str] | None,
    typer.Option(
        "--personal", "-p", metavar="A,B", help="The personal attributes, exactly. Default: all discrete ones."
    ),
]
Person = Annotated[
    str | None,
    typer.Option("--person", metavar="NAME", help="The column that tells whose record it is, if one has several."),
]
SurveyWeights = Annotated[
    str | None,
    typer.Option("--survey-weights", metavar="NAME", help="The column of survey weights, such as PWGTP."),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="A,B", help="Columns that are no attributes.")]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="TEXT", help="A text that means 'no answer', such as '?'. Can be repeated."),
]


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What is predicted from what."""

    label: Label = None
    personal: Personal = None
    missing: Missing = None
    person: Person = None
    survey_weights: SurveyWeights = None


@dataclass(frozen=True, kw_only=True)
class Inference:
    """How a schema is inferred, and how much labels weigh: flags of ``inspect``, settings of the others."""

    drop: Drop = None
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="A,B", help="Columns that are attributes although they look like none."),
    ] = None
    discrete: Annotated[
        list[str] | None,
        typer.Option("--discrete", metavar="A,B", help="Columns whose numbers are codes, not quantities."),
    ] = None
    continuous: Annotated[
        list[str] | None,
        typer.Option("--continuous", metavar="A,B", help="Columns whose numbers are quantities, not codes."),
    ] = None
    at_least: Annotated[
        int | None,
        typer.Option(
            "--at-least",
            min=1,
            metavar="N",
            help="Values that fewer records have are accepted as 'other' only. Default: 2.",
        ),
    ] = None
    label_above: Annotated[
        float | None,
        typer.Option("--label-above", metavar="N", help="Predict whether the label, a number, is above this one."),
    ] = None
    derive: Annotated[
        list[str] | None,
        typer.Option(
            "--derive",
            metavar="NAME=RULE",
            help="How a column is asked: born='year of YYYY-MM-DD', lat='region with lon from regions.csv'.",
        ),
    ] = None
    hierarchy: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", metavar="NAME=FILE", help="Groups of a column's values: country=un-regions."),
    ] = None
    label_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--label-weight", metavar="NAME=N", help="Of several labels, how much an error about one counts."
        ),
    ] = None


SETTINGS = tuple(each.name for each in fields(Inference))


class Records(NamedTuple):
    """Encoded records; the attributes whose domains were read off them, and the columns that were left out."""

    table: Table
    inferred: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def tell_left_out(self) -> None:
        """Say which columns are no attributes, or only their beginnings; and that records look like copies."""
        from leastwise.records.duplicates import copies_in_words

        for column in self.left_out:
            typer.echo(f"left out: {column}; --set keep=NAME makes it an attribute", err=True)
        for attribute in self.table.schema.attributes:
            kind, _, length = (attribute.derive or "").partition(" ")
            if kind == "prefix" and attribute.name in self.inferred:
                name = visible(attribute.name, 30)
                typer.echo(
                    f"shortened: {name} is asked by its first {length}; --set discrete={name} asks it as it is",
                    err=True,
                )
        copied = copies_in_words(self.table)
        if copied:
            typer.echo(f"copies: {copied}", err=True)


@dataclass(frozen=True, kw_only=True)
class Task(TaskOptions, Inference):
    """What a command knows about its records."""

    data: str
    schema: Path | None = None
    called: Names = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: str | None,
        options: TaskOptions,
        schema: Path | None = None,
        inference: Mapping[str, Any] | None = None,
        policy: Policy | None = None,
    ) -> Task:
        """Return what was typed; what was not is taken from the policy."""
        said = {"data": data, "schema": schema, **vars(options), **(inference or {})}
        typed = {name: value for name, value in said.items() if value is not None}
        known = {} if policy is None else policy.task.options()
        known = {name: value for name, value in known.items() if name not in AT_SOURCE}
        if schema is not None:  # how the policy would infer one has no use beside it
            known = {name: value for name, value in known.items() if name not in SETTINGS}
        chosen = {**known, **typed}
        if "data" not in chosen:
            raise ParameterError("name the records: a file behind the command, or data in the policy")
        called = {} if policy is None else policy.names
        return cls(**{**chosen, "data": str(chosen["data"]), "called": called})

    def read(self) -> pl.DataFrame:
        """Read the records."""
        from leastwise.records.files import read_frame

        return read_frame(self.data, tuple(self.missing or ()))

    def inspect(self, frame: pl.DataFrame) -> Inspection:
        """Propose a schema for the records."""
        from leastwise.schema.hierarchies import load_hierarchy
        from leastwise.schema.inference import AT_LEAST, infer_schema

        columns = frame.columns
        kinds: dict[str, Kind] = dict.fromkeys(names(self.discrete, columns), "discrete")
        kinds |= dict.fromkeys(names(self.continuous, columns), "continuous")
        return infer_schema(
            frame,
            self.label,
            None if self.personal is None else names(self.personal, columns),
            keep=names(self.keep, columns),
            label_above=self.label_above,
            drop=[*names(self.drop, columns), *self.beside],
            kinds=kinds,
            at_least=AT_LEAST if self.at_least is None else self.at_least,
            derive={name: _with_table(rule) for name, rule in _pairs("--derive", self.derive).items()},
            hierarchies={
                name: load_hierarchy(file) for name, file in _pairs("--hierarchy", self.hierarchy).items()
            },
            label_weights=numbers_by_name("--label-weight", self.label_weight or ()),
        )

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that tell of records and are never asked: whose they are, and how much they weigh."""
        return tuple(name for name in (self.person, self.survey_weights) if name)

    def words(self, by_set: bool = False) -> list[str]:
        """Return the options as they are typed: those of ``inspect``, or of a command where some are settings."""
        from leastwise.schema.labels import label_names

        words = [word for name in label_names(self.label) or ("COLUMN",) for word in ("--label", name)]
        for name in ("person", "survey_weights", "missing", "personal", *SETTINGS):
            given = getattr(self, name)
            one = f"{given:.15g}" if isinstance(given, int | float) else given
            for text in [one] if isinstance(one, str) else given or ():
                flag = f"--{name.replace('_', '-')}"
                words += ["--set", f"{name}={text}"] if by_set and name in SETTINGS else [flag, text]
        return words

    def records(self) -> Records:
        """Return the encoded records, and what was inferred about them."""
        frame = self.read()
        if self.schema is not None:
            return Records(self._encode(frame, self._declared(self.schema)))
        inspection = self.inspect(frame)
        left_out = tuple(
            f"{visible(f.name, 30)} ({f.kind}: {f.reason})"
            for f in inspection.left_out
            if f.name not in self.beside
        )
        return Records(self._encode(frame, inspection.schema), inspection.schema.names, left_out)

    def _encode(self, frame: pl.DataFrame, schema: Schema) -> Table:
        from leastwise.records.files import STANDARD_STREAM, RecordFile
        from leastwise.records.table import Table

        try:
            return Table.from_frame(frame, schema.with_names(self.called), self.person, self.survey_weights)
        except UnknownValueError as error:
            if error.row is None or self.data == STANDARD_STREAM:
                raise
            raise error.at(RecordFile.open(self.data).place_of(error.row)) from None

    def declared(self) -> Schema:
        """Return the schema of the file that is named."""
        assert self.schema is not None
        return self._declared(self.schema)

    def _declared(self, path: Path) -> Schema:
        from leastwise.schema.file import load_schema

        for name in SETTINGS:
            if getattr(self, name):
                raise ParameterError(f"{name} has no use beside --schema; edit {path} instead")
        schema = load_schema(path)
        from leastwise.schema.labels import check_agreed

        check_agreed("--label", self.label, path, schema.label)
        return schema if self.personal is None else schema.with_personal(names(self.personal, schema.names))


def _with_table(rule: str) -> str:
    """Return a rule with the table of regions that it names: name, south, west, north, east."""
    match = re.fullmatch("region with (.+?) from (.+)", rule)
    if not match:
        return rule
    from leastwise.documents import read_text
    from leastwise.schema.derive import regions_from

    return regions_from(map(tuple, csv.reader(read_text(Path(match[2])).splitlines())), match[1])


def _pairs(option: str, given: Sequence[str] | None) -> dict[str, str]:
    """Return what is said of each column: NAME=TEXT."""
    for text in given or ():
        if "=" not in text:
            raise ParameterError(f"{option} must be NAME=..., the name of a column first; got {shorten(text)}")
    return dict(text.split("=", 1) for text in given or ())


AT_SOURCE = ("table", "key", "sample", "min_count")
"""What a policy says of records that stay where they are."""

POLICY_FILE = Path("leastwise.yaml")
"""What a policy is called, where nobody says another name."""


def policy_of(path: Path | None) -> Policy | None:
    """Load the policy that an option names."""
    from leastwise.policy import Policy

    return None if path is None else Policy.load(path)


def policy_beside(typed: Path | None, label: str | None) -> Policy | None:
    """Load the policy that was named, or else the one that lies here; that one must be of the same label."""
    here = POLICY_FILE if POLICY_FILE.is_file() else None
    from leastwise.schema.labels import label_names

    policy = policy_of(typed or here)
    named = () if policy is None else label_names(policy.task.label)
    if typed is None and named and label not in [*map(listed, permutations(named))]:
        raise ParameterError(
            f"{POLICY_FILE} here is of another task: it predicts {shorten(listed(named))}, the run "
            f"{shorten(label)}; name the policy of the run with --policy"
        )
    return policy


def constraints_of(policy: Policy | None) -> Constraints | None:
    """Return the constraints of a policy; None where there are none to hold to."""
    return None if policy is None or policy.constraints.empty else policy.constraints


def seed_of(typed: int | None, policy: Policy | None) -> int:
    """Return the seed that was typed, or the policy's, or 0."""
    if typed is not None:
        return typed
    return 0 if policy is None else policy.seed


def names(given: Sequence[str] | None, columns: Iterable[str]) -> list[str]:
    """Return the names in options of the form a,b,c; a column whose name has a comma is taken as a whole.

    >>> names(["a,b", "c, d"], ["a", "b", "c, d"])
    ['a', 'b', 'c, d']
    """
    known = set(columns)
    parts = [[text] if text in known else text.split(",") for text in given or ()]
    return [name if name in known else name.strip() for part in parts for name in part if name.strip()]
