"""What a data set is: a declaration (attributes, label, how its official file is read) and a datasheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from leastwise.errors import DataError, ParameterError, shorten
from leastwise.schema import Attribute, Schema, values_as_text
from leastwise.schema.file import load_schema
from leastwise.validation import did_you_mean

FOLDER = Path(__file__).parent
Addresses = Callable[..., Mapping[str, str]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records with the schema that declares them.

    Attributes
    ----------
    name
        As in `leastwise.datasets.names`.
    frame
        The records (Polars); it may have more columns than the schema declares.
    schema
        The attributes and the label.
    datasheet
        Where the records come from, whom they describe, what was left out, and under which terms (Markdown).
    """

    name: str
    frame: pl.DataFrame
    schema: Schema
    datasheet: str

    def __repr__(self) -> str:
        attributes, personal = len(self.schema), len(self.schema.personal)
        return (
            f"Dataset({self.name!r}, {self.frame.height:,} records, {attributes} attributes, {personal} personal)"
        )


@dataclass(frozen=True)
class Declaration:
    """A data set before its file is there.

    Attributes
    ----------
    name, title
        For commands and for people.
    attributes, label
        What is asked and what is predicted. A discrete attribute that lists no values takes its domain from
        the file; an attribute that the file does not have (years differ) is left out.
    read
        Reads the official file: ``read(path, **options)``.
    family
        The name of its datasheet; the tasks of one survey share one.
    source
        How a person gets the file.
    addresses
        ``addresses(**options)`` gives the public addresses of the file, by the path to store each under; None
        when the file is not public, or comes with the package.
    bundled
        The copy that comes with the package, if any.
    """

    name: str
    title: str
    attributes: tuple[Attribute, ...]
    label: Attribute | None
    read: Callable[..., pl.DataFrame]
    family: str
    source: str
    addresses: Addresses | None = None
    bundled: Path | None = None

    @property
    def datasheet(self) -> str:
        """Where the records come from, what was decided about them, and under which terms (Markdown)."""
        return (FOLDER / "datasheets" / f"{self.family}.md").read_text(encoding="utf-8")

    def load(self, path: str | Path | None = None, **options: Any) -> Dataset:
        """Read the official file at a path (the bundled copy without one)."""
        place = path if path is not None else self.bundled
        if place is None:
            raise ParameterError(f"{self.name} needs the path of its file; get it so: {self.source}")
        return self.dataset(self.read(Path(place), **options))

    def dataset(self, frame: pl.DataFrame, name: str | None = None) -> Dataset:
        """Return records that are already in a frame, declared; columns that the frame has not are left out."""
        present = [attribute for attribute in self.attributes if attribute.name in frame.columns]
        schema = Schema(tuple(with_domain(attribute, frame) for attribute in present), self.label)
        return Dataset(name or self.name, frame, schema, self.datasheet)


def declared_schema(name: str) -> Schema:
    """Return what a data set declares, from the schema file that comes with the package."""
    return load_schema(FOLDER / "schemas" / f"{name}.yaml")


def with_domain(attribute: Attribute, *frames: pl.DataFrame) -> Attribute:
    """Return the attribute with the values of the frames, in order, when it lists none itself."""
    if attribute.continuous or attribute.values:
        return attribute
    values: set[Any] = set()
    for frame in frames:
        values |= set(frame[attribute.name].drop_nulls().unique().to_list())
    return replace(attribute, values=values_as_text(sorted(values)))


def number(name: str, question: str = "", **domain: Any) -> Attribute:
    """Return a continuous attribute that is not personal, whole numbers unless told otherwise."""
    return Attribute(name, "continuous", question=question, **{"integer": True, **domain})


def coded(name: str, labels: Mapping[Any, str] | Iterable[Any] = (), question: str = "", **rest: Any) -> Attribute:
    """Return a discrete, personal attribute from its codebook (a code and its label, or the codes alone)."""
    values = values_as_text(labels)
    texts = tuple(labels.values()) if isinstance(labels, Mapping) else ()
    return Attribute(name, values=values, labels=texts, question=question, **{"personal": True, **rest})


@contextmanager
def reading(place: Path, must: str) -> Iterator[None]:
    """Turn what Polars says about a file into one line: what the file must be."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{place.name} {must}: {said}") from None


def check_columns(columns: Iterable[str], wanted: Iterable[str], place: Path) -> None:
    """Complain about the first column that an official file should have and has not."""
    present = list(columns)
    if not all(name.isprintable() and "\ufffd" not in name for name in present):
        raise DataError(f"{place.name} is no text with named columns (CSV), so it is not the official file")
    for name in wanted:
        if name not in present:
            hint = did_you_mean(name, present)
            raise DataError(f"{place.name} has no column {shorten(name)}, so it is not the official file; {hint}")


def check_file(place: Path, names: Iterable[str] = ()) -> Path:
    """Return the file at a path; in a folder, the first of the names that is there."""
    if place.is_file():
        return place
    if not place.is_dir():
        raise DataError(f"there is no file {shorten(str(place))}; give the path of the downloaded file")
    wanted = list(names)
    file = next((place / name for name in wanted if (place / name).is_file()), None)
    if file is None:
        raise DataError(f"{shorten(str(place))} must hold {' or '.join(wanted) or 'a file'}; it does not")
    return file
