"""Files of any size: read in batches, answered, and written under the final name only when all is well.

Records are read in order and in bounded memory, so that the first value outside its domain is named with its
line. The output grows in a hidden file beside the target; a run that is killed leaves nothing under the target's
name.
"""

from __future__ import annotations

import gzip
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
from polars.io.plugins import register_io_source

from leastwise.apply.deriving import derived_attributes
from leastwise.apply.frames import transform_polars
from leastwise.apply.record import Output, absent
from leastwise.apply.request import Request
from leastwise.documents.writing import unnamed_file, whole_file
from leastwise.errors import DataError, LeastwiseError, UnknownValueError
from leastwise.generalization import Generalization
from leastwise.progress import Progress, Silent
from leastwise.records.files import STANDARD_STREAM, RecordFile, file_format, standard_input
from leastwise.schema import Unknown

BATCH = 100_000  # records; about 100 MB of text columns at worst, and large enough to keep all cores busy


_TEXTS = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
_FORMULA = r"^[=+\-@\t\r]"
_NO_FORMULA = pl.when(_TEXTS.str.contains(_FORMULA)).then("'" + _TEXTS).otherwise(_TEXTS).name.keep()


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before every text and name that a spreadsheet would run as a formula."""
    return frame.with_columns(_NO_FORMULA).rename(lambda name: f"'{name}" if re.match(_FORMULA, name) else name)


def apply_file(
    generalization: Generalization,
    source: str | Path,
    target: str | Path,
    *,
    output: Output = "labels",
    unknown: Unknown = "other",
    suppressed: bool | None = None,
    keep: Sequence[str] = (),
    missing: Sequence[str] = (),
    source_kind: str | None = None,
    target_kind: str | None = None,
    overwrite: bool = False,
    spreadsheet: bool = False,
    progress: Progress | None = None,
    others: Counter[str] | None = None,
) -> int:
    """Generalize a file of records into another; return how many there were.

    Parameters
    ----------
    generalization
        What is asked.
    source, target
        CSV, TSV, Parquet or NDJSON by their names; "-" is standard input or output.
    output, unknown, suppressed, keep
        As in :meth:`leastwise.Generalization.transform`.
    missing
        Texts that stand for "no answer", beside the empty text.
    source_kind, target_kind
        "csv", "tsv", "parquet" or "ndjson", where the name does not say it; for "-" it is CSV by default.
    overwrite
        Whether an existing target is replaced.
    spreadsheet
        Whether a CSV file has an apostrophe before texts that a spreadsheet would run as a formula. Such a file is
        for people to look at: its texts are no longer the labels.
    progress
        Is told of the records of every batch.
    others
        Counts, by attribute, the values that are not declared and went to "other".
    """
    kept = output == "representative" if suppressed is None else suppressed
    request = Request(generalization, output, unknown, kept, tuple(keep))
    writer = replace(_Writer.to(target, target_kind, overwrite), spreadsheet=spreadsheet)
    with standard_input(source, source_kind) as records:
        told = progress or Silent()
        told.begin("records")
        batches = _Batches(request, records, tuple(missing), told, Counter() if others is None else others)
        with writer.finished_file() as path:
            writer.write(batches, path)
            if not batches.rows:
                raise DataError(f"{source}: there are no records in it; check how the file was made")
    return batches.rows


@dataclass
class _Batches:
    """The generalized batches of a file, in order; what went wrong with the source is kept in ``problem``."""

    request: Request
    source: RecordFile
    missing: Sequence[str]
    progress: Progress
    others: Counter[str]
    rows: int = 0
    problem: LeastwiseError | None = None
    _whole_lines: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.records = self._wanted(self.source.scan(self.missing))
        self.schema = transform_polars(self.request, pl.DataFrame(schema=self.records.collect_schema())).schema

    def _wanted(self, records: pl.LazyFrame) -> pl.LazyFrame:
        """Leave out what may not leave before it is read; the last column stays, to show short lines."""
        names = records.collect_schema().names()
        derived = {each.name: each.columns for each in derived_attributes(self.request, names)}
        for name in self.request.generalization.collected:
            if name not in names and name not in derived:
                raise absent(name, names)
        wanted = {*self.request.leaving(names), *chain.from_iterable(derived.values()), *names[-1:]}
        return records.select(name for name in names if name in wanted)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        try:
            for batch in self._raw():
                yield self._answered(batch)
        except UnknownValueError as error:
            place = "" if error.row is None else self.source.place_of(error.row)
            self.problem = error.at(place)
            raise self.problem from None
        except LeastwiseError as error:
            self.problem = error
            raise

    def _raw(self) -> Iterator[pl.DataFrame]:
        with self.source.reading():
            batches = iter(self.records.collect_batches(chunk_size=BATCH, maintain_order=True))
        while True:
            with self.source.reading():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _answered(self, batch: pl.DataFrame) -> pl.DataFrame:
        # A line that is too short ends in nulls; the first null there has the whole file looked through.
        if self.source.format == "csv" and not self._whole_lines and batch.to_series(-1).null_count():
            self.source.check_ragged()
            self._whole_lines = True
        answered = transform_polars(self.request, batch, self.rows, self.others).cast(self.schema)
        self.rows += batch.height
        self.progress.advance(batch.height)
        return answered


@dataclass(frozen=True)
class _Writer:
    """Where the answers go."""

    target: Path | None
    format: str
    separator: str = ","
    spreadsheet: bool = False

    @classmethod
    def to(cls, target: str | Path, kind: str | None, overwrite: bool) -> _Writer:
        named = Path(f"_.{kind or 'csv'}") if kind or str(target) == STANDARD_STREAM else Path(target)
        form = file_format(named)
        separator = "\t" if form == "csv" and named.suffix == ".tsv" else ","
        if str(target) == STANDARD_STREAM:
            return cls(None, form, separator)
        return cls(_free_place(Path(target), overwrite), form, separator)

    @contextmanager
    def finished_file(self) -> Iterator[Path]:
        """Give a file to write; put it in its place when all went well, remove it otherwise."""
        if self.target is None:
            with unnamed_file() as path:
                yield path
                with path.open("rb") as done:
                    shutil.copyfileobj(done, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            return
        # Like all that holds people it is its owner's, unless one is replaced that more may read.
        with _explained(self.target), whole_file(self.target, private=not self.target.exists()) as path:
            yield path

    def write(self, batches: _Batches, path: Path) -> None:
        """Write all batches; a problem of the source wins over the writer's words for it."""
        try:
            with _explained(self.target or path):
                self._write(batches, path)
        except Exception:
            if batches.problem is not None:
                raise batches.problem from None
            raise

    def _write(self, batches: _Batches, path: Path) -> None:
        if self.format == "parquet":
            source = register_io_source(lambda *_: iter(batches), schema=batches.schema)
            source.sink_parquet(path)
            return
        packed = self.target is not None and self.target.suffix.lower() == ".gz"
        with cast(BinaryIO, gzip.open(path, "wb")) if packed else path.open("wb") as file:
            for number, batch in enumerate(batches):
                if self.format == "ndjson":
                    batch.write_ndjson(file)
                else:
                    batch = without_formulas(batch) if self.spreadsheet else batch
                    batch.write_csv(file, separator=self.separator, include_header=number == 0)


def _free_place(target: Path, overwrite: bool) -> Path:
    place = target.resolve()
    if place.is_dir():
        raise DataError(f"{target}: this is a directory; name a file in it")
    if not place.parent.is_dir():
        raise DataError(f"{target}: there is no folder {place.parent}; make it first")
    if place.exists() and not place.is_file():
        raise DataError(f"{target}: this is no ordinary file; write to '-' for standard output")
    if place.exists() and not overwrite:
        raise DataError(f"{target}: it exists already; choose another name, or say that it may be overwritten")
    return place


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Say in one line what went wrong with writing."""
    try:
        yield
    except LeastwiseError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        if "No space left" in str(error):
            raise DataError(f"{target}: the disk is full; nothing was written, free some space") from None
        if isinstance(error, BrokenPipeError):
            raise
        said = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
        raise DataError(f"{target}: it cannot be written ({said}); check the folder and its permissions") from None
