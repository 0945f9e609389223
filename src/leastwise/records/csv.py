"""What can be wrong with a CSV file, said with its line.

Polars reads the records; this module reads the header as the CSV standard says (quotes in names included) and
finds the line of a problem once there is one.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

import polars as pl

from leastwise.errors import DataError, shorten

SEPARATOR_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
# A character that no text file has: with it as the separator Polars reads whole lines.
_NO_SEPARATOR = "\x1f"


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, unpacking gzip."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix.lower() == ".gz" else path.open("rb")


@contextmanager
def _open_text(path: Path) -> Iterator[TextIO]:
    with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError:
            raise not_utf8(path) from None
        except csv.Error as error:
            raise DataError(f"{path}: not readable as CSV ({error}); check its quotes and separators") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path}: not a whole gzip file ({error}); copy it again") from None


def separator_of(path: Path) -> str:
    """Return the separator that the file's name promises; a .txt file says it in its header.

    >>> separator_of(Path("people.tsv")), separator_of(Path("people.csv.gz"))
    ('\\t', ',')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    if suffixes[-1:] != [".txt"]:
        return "\t" if suffixes[-1:] in ([".tsv"], [".tab"]) else ","
    with _open_text(path) as text:
        first = text.readline()
    return max(SEPARATOR_NAMES, key=first.count)


def read_header(path: Path, separator: str) -> list[str]:
    """Return the column names; complain where they, or the first record, cannot be right."""
    with _open_text(path) as text:
        rows = csv.reader(text, delimiter=separator)
        header = next(rows, None)
        has_records = next(rows, None) is not None
        if text.newlines == "\r":
            raise DataError(f"{path}: its lines must end in LF or CRLF, but end in CR alone; save it as CSV anew")
    if not header:
        raise DataError(f"{path}: the first line must name the columns, but it is empty")
    _check_names(path, header, separator)
    if not has_records:
        raise DataError(f"{path}: there is a header but no records below it; check how the file was made")
    return header


def _check_names(path: Path, header: Sequence[str], separator: str) -> None:
    for other in SEPARATOR_NAMES if len(header) == 1 else ():
        if other != separator and other in header[0]:
            wanted, given = SEPARATOR_NAMES[separator], SEPARATOR_NAMES[other]
            advice = "name the file .tsv" if other == "\t" else f"save the file with {wanted}s"
            raise DataError(
                f"{path}: the columns must be separated by {wanted}s but seem separated by {given}s; {advice}"
            )
    if len(set(header)) < len(header):
        names = ", ".join(map(shorten, sorted({name for name in header if header.count(name) > 1})))
        raise DataError(f"{path}: column names must differ; more than one column is called {names}: rename them")


def check_ragged(path: Path, separator: str, columns: int) -> None:
    """Raise the error that names the first line with more or fewer fields than the header.

    Polars fills short lines up with nulls without a word, so that a broken line looks like missing values.
    """
    lines = pl.scan_csv(
        path, separator=_NO_SEPARATOR, quote_char=None, has_header=False, new_columns=["line"], infer_schema=False,
        null_values=[], glob=False,
    )  # fmt: skip
    line = pl.col("line").fill_null("")
    fields = line.str.count_matches(separator, literal=True) + 1
    wrong = (fields != columns).arg_true().first()
    facts = lines.select(quoted=line.str.contains('"', literal=True).any(), wrong=wrong).collect(
        engine="streaming"
    )
    if facts["quoted"][0]:
        _check_ragged_quoted(path, separator, columns)
    elif facts["wrong"][0] is not None and columns > 1:
        row = facts["wrong"][0]
        raise ragged(path, row + 1, lines.slice(row, 1).select(fields).collect().item(), columns)


def _check_ragged_quoted(path: Path, separator: str, columns: int) -> None:
    with _open_text(path) as text:
        rows = csv.reader(text, delimiter=separator)
        for row in rows:
            if len(row) != columns and (columns > 1 or row):
                raise ragged(path, rows.line_num, max(len(row), 1), columns)


def ragged(path: Path, line: int, count: int, columns: int) -> DataError:
    """Return the error for a line with the wrong number of fields."""
    fields = "1 field" if count == 1 else f"{count} fields"
    return DataError(
        f"{path}: every line must have the {columns} fields of the header; line {line} has {fields}: "
        "correct it (a field that contains the separator needs quotes)"
    )


def not_utf8(path: Path) -> DataError:
    """Return the error that names the first line that is not UTF-8."""
    with open_bytes(path) as raw:
        if raw.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return DataError(f"{path}: must be UTF-8 text, but is UTF-16; save it as UTF-8")
    with open_bytes(path) as raw:
        for number, line in enumerate(raw, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return DataError(f"{path}: must be UTF-8 text, but line {number} is not; save it as UTF-8")
    return DataError(f"{path}: must be UTF-8 text; save it as UTF-8")


def line_of(path: Path, separator: str, row: int) -> int:
    """Return the line in which record ``row`` ends; a quoted line break makes it more than row + 2."""
    with _open_text(path) as text:
        rows = csv.reader(text, delimiter=separator)
        for number, _ in enumerate(rows):
            if number == row + 1:
                break
        return rows.line_num
