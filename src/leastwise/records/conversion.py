"""Files that are brought to CSV or Parquet before they are read: spreadsheets, statistics packages, old encodings.

The converted copy is a temporary file that nobody else can open, and that is gone when the process is.
"""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from leastwise.documents.wording import counted
from leastwise.documents.writing import unnamed_file
from leastwise.errors import DataError, MissingExtraError, shorten
from leastwise.records.csv import SEPARATOR_NAMES, open_bytes

SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
STATISTICS = (".sas7bdat", ".xpt", ".sav", ".zsav", ".por", ".dta")
MOST_UNPACKED = 20_000_000_000
"""Bytes that a packed file may have when it is unpacked."""
_GZIP_RATIO = 1032  # gzip packs no better
_LOOKED_AT = 64_000_000  # bytes in which an encoding shows
_PIECE = 1 << 20
_kept = ExitStack()


def is_converted(path: Path) -> bool:
    """Return whether a file of this name is a spreadsheet or that of a statistics package."""
    return path.suffix.lower() in (*SPREADSHEETS, *STATISTICS)


def as_parquet(path: Path) -> tuple[Path, str]:
    """Return a Parquet copy of a spreadsheet or of a statistics file, and what was read, in words."""
    state = path.stat()
    return _as_parquet(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _as_parquet(path: Path, changed: int, size: int) -> tuple[Path, str]:
    spreadsheet = path.suffix.lower() in SPREADSHEETS
    frame, said = (_spreadsheet if spreadsheet else _statistics)(path)
    target = _kept.enter_context(unnamed_file())
    frame.write_parquet(target)
    return target, said


def _spreadsheet(path: Path) -> tuple[pl.DataFrame, str]:
    _check_unpacked(path)
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("fastexcel", "formats") from None
    try:
        book = fastexcel.read_excel(str(path))
        frame = book.load_sheet(0).to_polars()
    except Exception as error:
        raise _not_read(path, "a spreadsheet", error) from None
    sheets = len(book.sheet_names)
    return (
        frame,
        f"sheet {shorten(book.sheet_names[0])}, the first of {sheets}" if sheets > 1 else "its only sheet",
    )


def _check_unpacked(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > MOST_UNPACKED:
        raise too_large(path)


def too_large(path: Path) -> DataError:
    """Return the error for a file that unpacks to more than anybody has."""
    return DataError(
        f"{path}: unpacked it would have more than {MOST_UNPACKED / 1e9:.0f} GB; unpack it yourself first"
    )


def _statistics(path: Path) -> tuple[pl.DataFrame, str]:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("pyreadstat", "formats") from None
    readers: dict[str, Callable[..., Any]] = {
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
        ".por": pyreadstat.read_por,
        ".dta": pyreadstat.read_dta,
    }
    try:
        read = readers.get(path.suffix.lower(), pyreadstat.read_sav)
        columns, about = read(str(path), output_format="dict")
    except Exception as error:
        raise _not_read(path, "a file of a statistics package", error) from None
    labels = about.variable_value_labels
    made = {name: _labelled(values, labels.get(name, {})) for name, values in columns.items()}
    named = (
        f", {counted(len(labels), 'column by its value labels', 'columns by their value labels')}"
        if labels
        else ""
    )
    return pl.DataFrame(
        made, strict=False
    ), f"{path.suffix[1:].lower()} of {counted(about.number_rows or 0, 'record')}{named}"


def _labelled(values: Any, labels: dict[Any, str]) -> pl.Series:
    """Return a column by what its codes mean, where every code that occurs has a label."""
    plain = [None if value is None or value != value else value for value in values]
    whole = all(value is None or (isinstance(value, float) and value.is_integer()) for value in plain)
    if labels and all(value is None or value in labels for value in plain):
        return pl.Series([None if value is None else labels[value] for value in plain], dtype=pl.String)
    return pl.Series([None if value is None else int(value) for value in plain] if whole else plain, strict=False)


def _not_read(path: Path, what: str, error: Exception) -> DataError:
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return DataError(f"{path}: not readable as {what} ({shorten(said)}); save it anew, or as CSV")


def as_utf8(path: Path) -> tuple[Path, str] | None:
    """Return a copy of a text file in UTF-8, and what it was; None where it is UTF-8."""
    state = path.stat()
    return _as_utf8(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _as_utf8(path: Path, changed: int, size: int) -> tuple[Path, str] | None:
    if path.suffix.lower() == ".gz" and size * _GZIP_RATIO > MOST_UNPACKED:
        _check_gzip(path)
    encoding = _encoding(path)
    if encoding is None:
        return None
    target = _kept.enter_context(unnamed_file())
    with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding=encoding, newline="", errors="strict") as text:
        try:
            with target.open("w", encoding="utf-8", newline="") as file:
                while piece := text.read(_PIECE):
                    file.write(piece)
        except UnicodeDecodeError:
            raise DataError(f"{path}: neither UTF-8 nor Windows-1252 text; save it as UTF-8") from None
    return target, {"cp1252": "Windows-1252 (Latin-1) text"}.get(encoding, f"{encoding.upper()} text")


def _check_gzip(path: Path) -> None:
    with open_bytes(path) as raw:
        unpacked = 0
        while piece := raw.read(_PIECE):
            unpacked += len(piece)
            if unpacked > MOST_UNPACKED:
                raise too_large(path)


def _encoding(path: Path) -> str | None:
    """Return the encoding of a text file that is not UTF-8, as far as its beginning shows."""
    decoder, looked, plain = codecs.getincrementaldecoder("utf-8")(), 0, True
    piece = b""
    try:
        with open_bytes(path) as raw:
            piece = raw.read(_PIECE)
            if piece[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return "utf-16"
            while piece and looked < _LOOKED_AT:
                plain &= decoder.decode(piece).isascii()
                looked += len(piece)
                piece = raw.read(_PIECE)
    except UnicodeDecodeError as error:
        # Where other characters are those of UTF-8, it is such a file with a broken line, of which a reader tells.
        return "cp1252" if plain and piece[: error.start].isascii() else None
    except (OSError, EOFError):  # of a broken archive something else tells
        return None
    return None


def remarks(path: Path) -> tuple[str, ...]:
    """Say of a text file whether it is unpacked, and whether it begins with a byte order mark."""
    packed = ("unpacked from gzip",) if path.suffix.lower() == ".gz" else ()
    try:
        with open_bytes(path) as raw:
            marked = raw.read(3) == codecs.BOM_UTF8
    except (OSError, EOFError):  # of a broken archive something else tells
        marked = False
    return (*packed, "UTF-8 with a byte order mark") if marked else packed


def separator_in(path: Path, promised: str) -> str:
    """Return what separates the columns: what the name promises, or what the header has instead."""
    try:
        with (
            open_bytes(path) as raw,
            io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="") as text,
        ):
            header = next(csv.reader(text, delimiter=promised), [])
    except (OSError, EOFError, csv.Error):
        return promised
    if len(header) != 1:
        return promised
    separator = max(SEPARATOR_NAMES, key=header[0].count)
    return separator if header[0].count(separator) else promised
