"""Record files: CSV, Parquet and NDJSON, and what ``conversion`` makes such; each problem is answered by one line.

Every CSV column is text until something says otherwise, so that the code "01234" keeps its zero. ``scan`` gives
the records as they are, ``read_frame`` with the types that their texts show; both mean the same values.
"""

from __future__ import annotations

import atexit
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import polars as pl
from polars import selectors

from leastwise.documents.writing import unnamed_file
from leastwise.errors import DataError, UnknownValueError, shorten
from leastwise.records import conversion
from leastwise.records import csv as csv_files
from leastwise.schema.patterns import check_no_patterns, is_pattern
from leastwise.schema.values import CODE_NUMBER, WORDS

Format = Literal["csv", "parquet", "ndjson"]
STANDARD_STREAM = "-"
_FORMATS: dict[str, Format] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".ndjson", ".jsonl"), "ndjson"),
}
# An integer of more than 18 digits is an identifier that no type of numbers holds.
_INTEGER = "^(?:0|-?[1-9][0-9]{0,17})$"
_WORDS = "|".join(map(re.escape, WORDS))
_at_exit = ExitStack()
atexit.register(_at_exit.close)


def file_format(path: str | Path) -> Format:
    """Return the format that a file's name promises.

    >>> file_format("people.csv.gz"), file_format("people.pq"), file_format("people.jsonl")
    ('csv', 'parquet', 'ndjson')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes[-1:] == [".gz"]
    promised = _FORMATS.get(suffixes[-2] if packed and len(suffixes) > 1 else "".join(suffixes[-1:]))
    if promised is None or (packed and promised == "parquet"):
        raise DataError(
            f"{path}: the name must end in .csv, .tsv, .txt, .parquet, .ndjson, .xlsx, .sav, .dta or .sas7bdat, "
            "so that its format is known"
        )
    return promised


@dataclass(frozen=True)
class RecordFile:
    """A file that was found, is readable and begins as its format says.

    ``said`` tells what was done so that it could be read, and ``name`` what people call it.
    """

    path: Path
    format: Format
    separator: str = ","
    said: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def open(cls, path: str | Path, kind: str | None = None) -> RecordFile:
        """Look at the beginning of a file; ``kind`` ("csv", "tsv", ...) overrules its name."""
        place = Path(path)
        _check_readable(place)
        if kind is None and conversion.is_converted(place):
            copy, what = conversion.as_parquet(place)
            return cls(copy, "parquet", said=(f"read from {what}",), name=str(place))
        named = file_format(f"_.{kind}") if kind else file_format(place)
        if named != "csv":
            return cls(place, named, name=str(place))
        recoded = conversion.as_utf8(place)
        text = place if recoded is None else recoded[0]
        promised = csv_files.separator_of(Path(f"_.{kind}") if kind else place)
        separator = conversion.separator_in(text, promised)
        said = conversion.remarks(place)
        said += () if recoded is None else (recoded[1],)
        said += () if separator == promised else (f"{csv_files.SEPARATOR_NAMES[separator]}s between the columns",)
        return cls(text, named, separator, said, str(place))

    @cached_property
    def header(self) -> list[str]:
        """The column names of a CSV file."""
        return csv_files.read_header(self.path, self.separator)

    def scan(self, missing: Sequence[str] = ()) -> pl.LazyFrame:
        """Return the records, not yet read; read them within ``reading``."""
        with self.reading():
            if self.format == "csv":
                check_no_patterns(self.header)
                return pl.scan_csv(
                    self.path,
                    separator=self.separator,
                    infer_schema=False,
                    null_values=["", *missing],
                    new_columns=self.header,
                    glob=False,
                )
            frame = self._scan_typed()
            check_no_patterns(frame.collect_schema().names())
            return frame.with_columns(without_markers(frame.collect_schema(), missing))

    def _scan_typed(self) -> pl.LazyFrame:
        if self.format == "parquet":
            return pl.scan_parquet(self.path, glob=False)
        # A column that is a number in the first hundred records may hold a text later: look at all of them.
        return pl.scan_ndjson(self.path, infer_schema_length=None)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what Polars says about the file into one line that says what to do."""
        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self._called(self._problem(error)) from None
        except DataError as error:
            raise self._called(error) from None

    def _called(self, error: DataError) -> DataError:
        """Return an error that calls the file as people do: nobody knows a converted copy."""
        if self.said and not isinstance(error, UnknownValueError):
            error.args = (str(error).replace(str(self.path), self.name),)
        return error

    def _problem(self, error: Exception) -> DataError:
        if isinstance(error, OSError) and error.strerror:
            return _unreadable(self.path, error)
        text = str(error)
        if "utf-8" in text.lower():
            return csv_files.not_utf8(self.path)
        if isinstance(error, OSError) and self.path.suffix.lower() == ".gz":
            return DataError(f"{self.path}: not a whole gzip file ({text}); copy it again")
        if self.format == "csv":
            # The better answer where there is one; a file that cannot be split into lines has none.
            with suppress(pl.exceptions.PolarsError):
                self.check_ragged()
        said = shorten(text.splitlines()[0]) if text else type(error).__name__
        advice = {
            "csv": "check its quotes: a text with a quote in it must be quoted, and the quote doubled",
            "parquet": "it may be cut short: copy or write it again",
            "ndjson": "each line must be one JSON object",
        }[self.format]
        return DataError(f"{self.path}: not readable as {self.format} ({said}); {advice}")

    def check_ragged(self) -> None:
        """Complain about the first CSV line with more or fewer fields than the header."""
        try:
            csv_files.check_ragged(self.path, self.separator, len(self.header))
        except DataError as error:
            raise self._called(error) from None

    def place_of(self, row: int) -> str:
        """Say where a record is, counted from 0: " in line 7 of people.csv"."""
        if self.format == "parquet":
            return f" in record {row + 1:,} of {Path(self.name or self.path).name}"
        line = csv_files.line_of(self.path, self.separator, row) if self.format == "csv" else row + 1
        return f" in line {line:,} of {Path(self.name or self.path).name}"


def _check_readable(path: Path) -> None:
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise _unreadable(path, error) from None
    if empty:
        raise DataError(f"{path}: the file is empty; check how it was made")


def _unreadable(path: Path, error: OSError) -> DataError:
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path}: this is a directory; name a file in it")
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path}: there is no such file; check its name and folder")
    if isinstance(error, PermissionError):
        return DataError(f"{path}: no permission to read it; change its mode or ask its owner")
    return DataError(f"{shorten(str(path))}: {error.strerror or error}")


def by_name(name: str) -> pl.Expr:
    """Return a column by its name: one like ``^a$`` or ``*`` Polars would take for a pattern."""
    return selectors.by_name(name).as_expr() if is_pattern(name) else pl.col(name)


def without_markers(schema: pl.Schema, missing: Sequence[str]) -> list[pl.Expr]:
    """Make the missing markers of typed columns null: texts, and the numbers that they write."""
    if not missing:
        return []
    numbers = pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    markers: list[pl.Expr] = []
    for name, dtype in schema.items():
        column = by_name(name)
        if dtype == pl.String:
            markers.append(pl.when(~column.is_in(list(missing))).then(column).alias(name))
        elif dtype.is_numeric() and len(numbers):
            known = ~column.cast(pl.Float64).is_in(numbers.implode())
            markers.append(pl.when(known).then(column).alias(name))
    return markers


@contextmanager
def standard_input(path: str | Path, kind: str | None = None) -> Iterator[RecordFile]:
    """Give a file to read; "-" is copied from standard input to a temporary one, removed at the end."""
    if str(path) != STANDARD_STREAM:
        yield RecordFile.open(path, kind)
        return
    with unnamed_file() as spooled:
        with spooled.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield RecordFile.open(spooled, kind or "csv")
        except DataError as error:  # nobody knows the temporary file
            text = str(error).replace(str(spooled), "standard input")
            error.args = (text.replace(f" of {spooled.name}", " of standard input"),)
            raise


def scan(path: str | Path, missing: Sequence[str] = (), kind: str | None = None) -> pl.LazyFrame:
    """Return the records of a file, not yet read; CSV columns are texts.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet or NDJSON file; "-" is standard input, kept in a temporary file until the end.
    missing
        Texts that stand for "no answer", beside the empty text.
    kind
        "csv", "tsv", "parquet" or "ndjson", where the name does not say it (standard input is CSV by default).
    """
    if str(path) != STANDARD_STREAM:
        return RecordFile.open(path, kind).scan(missing)
    return _at_exit.enter_context(standard_input(path, kind)).scan(missing)


def read_frame(path: str | Path, missing: Sequence[str] = (), kind: str | None = None) -> pl.DataFrame:
    """Read a whole file; CSV columns of which every text is a number become numbers.

    Integers become Int64 and other numbers Float64. "01234" stays a text, and with it its column: it is a code.
    """
    with standard_input(path, kind) as source:
        with source.reading():
            frame = source.scan(missing).collect()
        if frame.height == 0:
            raise DataError(f"{path}: there are no records in it; check how the file was made")
        if source.format != "csv":
            return frame
        if frame.to_series(frame.width - 1).null_count():
            source.check_ragged()
    return frame.with_columns(_typed(column) for column in frame.iter_columns())


def _typed(column: pl.Series) -> pl.Series:
    texts = column.drop_nulls()
    if texts.is_empty():
        return column
    if texts.str.contains(_INTEGER).all():
        return column.cast(pl.Int64)
    plain = texts.str.contains(f"^({CODE_NUMBER})$")
    if plain.any() and (plain | texts.str.contains(f"^(?i:{_WORDS})$")).all():
        return column.cast(pl.Float64)
    return column
