"""Files of any size, DuckDB databases and DuckDB relations: DuckDB reads them, within bounded memory."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from leastwise.documents import private_folder
from leastwise.errors import DataError, MissingExtraError, ParameterError, shorten
from leastwise.exports.sql_dialects import DIALECTS
from leastwise.records.files import file_format
from leastwise.records.sources.engine import no_table, not_numbered
from leastwise.records.sources.plan import Family
from leastwise.records.sources.sql import RECORD, SqlEngine, families_of

ROW = "leastwise_row"
MEMORY = "1500MB"
_LOOK_UP = 0.1  # seconds
_TABLE, _KEPT = "leastwise_records", "leastwise_kept"


class DuckDB(SqlEngine):
    """Records that DuckDB reads.

    Parameters
    ----------
    connection
        To the database.
    origin
        What stands behind FROM.
    key
        The column that tells records apart; None where ``number`` says it.
    number
        The expression of a record's number.
    files
        Which files are read, to notice when they change.
    """

    name = "DuckDB"
    dialect = DIALECTS["duckdb"]
    in_process = keeps = in_order = True

    def __init__(
        self,
        connection: Any,
        origin: str,
        key: str | None = None,
        number: str | None = None,
        files: Sequence[Path] = (),
        remove: Callable[[], None] | None = None,
    ) -> None:
        self.connection, self._origin, self.key, self.files = connection, origin, key, files
        if key is None and number is None:
            raise ParameterError("name the column that tells records apart: --key, in Python key=...")
        if key is None:
            self.__dict__["number"] = number
        self._stamp, self._cursor = self._stamps(), connection  # whose query is to be stopped
        # Also when nobody closes it, and when the program ends.
        self._finish = None if remove is None else weakref.finalize(self, _let_go, connection, remove)

    @property
    def origin(self) -> str:
        """What stands behind FROM."""
        return self._origin

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        return self._families({ROW})

    def _families(self, hidden: Set[str]) -> Mapping[str, Family]:
        with self.answering():
            cursor = self.connection.cursor()  # held: a relation does not outlive it
            families = families_of(cursor.sql(f"SELECT * FROM {self.origin} LIMIT 0").pl().schema)
        return {name: family for name, family in families.items() if name not in hidden}

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""
        if self._stamps() != self._stamp:
            raise DataError("a file of the records changed while they were read; begin anew when it is finished")
        self._cursor = cursor = self.connection.cursor()  # a connection answers one query at a time
        answer: pl.DataFrame = self._heard(lambda: cursor.sql(query).pl())
        return answer

    def keep(self, query: str) -> str:
        """Keep what a query gives in a file beside what is spilled, as private; memory has no room for it."""
        self._cursor = cursor = self.connection.cursor()
        name = f"{_KEPT}.t{uuid.uuid4().hex}"
        folder = cursor.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
        place = self.dialect.text(str(Path(folder) / _KEPT))
        cursor.execute(f"ATTACH IF NOT EXISTS {place} AS {_KEPT} (READ_WRITE)")
        self._heard(lambda: cursor.execute(f"CREATE TABLE {name} AS {query}"))
        return name

    def _heard(self, work: Callable[[], Any]) -> Any:
        """Do work in another thread: DuckDB may be deep in a query when Ctrl-C is pressed, and not look up."""
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(work)
            try:
                while not asked.done():  # a signal that reaches another thread does not end a wait in this one
                    wait([asked], timeout=_LOOK_UP)
            except KeyboardInterrupt:
                self.cancel()
                raise  # when the query has ended
            return asked.result()

    def forget(self, name: str) -> None:
        """Remove what was kept."""
        self.connection.cursor().execute(f"DROP TABLE IF EXISTS {name}")

    def cancel(self) -> None:
        """Stop the query that runs."""
        self._cursor.interrupt()

    def close(self) -> None:
        """Close what was opened here, and remove what DuckDB put on the disk."""
        if self._finish is not None:
            self._finish()

    def _stamps(self) -> list[tuple[int, int]]:
        stats = [path.stat() for path in self.files]
        return [(each.st_size, each.st_mtime_ns) for each in stats]


@contextmanager
def _interrupted() -> Iterator[None]:
    """Say in Python's own way that a query was stopped: by whoever stopped the program."""
    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def _let_go(connection: Any, remove: Callable[[], None]) -> None:
    connection.close()
    remove()


def connect(database: str = ":memory:", read_only: bool = False) -> tuple[Any, Callable[[], None]]:
    """Open DuckDB with bounded memory; what does not fit goes to a private folder. Return what removes it, too."""
    try:
        import duckdb
        import pyarrow  # noqa: F401  by which results come back
    except ImportError:
        raise MissingExtraError("duckdb and pyarrow", "engines") from None
    folder, remove = private_folder("duckdb")
    try:
        connection = duckdb.connect(database, read_only=read_only)
        connection.execute(f"SET memory_limit='{MEMORY}'; SET temp_directory='{folder}'").fetchall()
    except duckdb.Error as error:
        remove()
        said = shorten(" ".join(str(error).split()))
        raise DataError(
            f"{database}: not a database that DuckDB opens ({said}); check its name and who uses it"
        ) from None
    return connection, remove


def of_database(path: str, table: str | None, key: str | None = None) -> DuckDB:
    """Open a table, or a view, of a DuckDB database; a table's own row numbers tell records apart."""
    if not Path(path).is_file():
        raise DataError(f"{path}: there is no such database; check its name and folder")
    connection, remove = connect(path, read_only=True)
    origin = ".".join(map(DuckDB.dialect.name, (table or "").split(".")))
    if not table or not _has(connection, origin):
        known = _tables(connection)
        _let_go(connection, remove)
        raise no_table(path, table, known)
    if key is None and not _has(connection, origin, "rowid"):
        _let_go(connection, remove)
        raise not_numbered(table)
    return DuckDB(connection, origin, key, f"{RECORD}.rowid" if key is None else None, (Path(path),), remove)


def _has(connection: Any, origin: str, column: str = "*") -> bool:
    import duckdb

    try:
        connection.execute(f"SELECT {column} FROM {origin} LIMIT 0").fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):
        return False
    return True


def _tables(connection: Any) -> list[str]:
    """Return what the tables and views of a database are called."""
    name = "CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END"
    query = f"SELECT {name} FROM information_schema.tables ORDER BY 1"
    return [str(row[0]) for row in connection.execute(query).fetchall()]


def of_relation(relation: Any, key: str | None) -> DuckDB:
    """Take a relation of somebody's own connection; only a key tells its records apart."""
    if key is None:
        raise ParameterError("a relation has no row numbers; name the column that tells records apart: key=...")
    return Relation(relation, key)


class Relation(DuckDB):
    """A relation: it is queried in its own connection, under a name for the time of the query."""

    in_order = False  # whose settings are somebody else's

    def __init__(self, relation: Any, key: str) -> None:
        self.relation = relation
        # Which connection it is of, a relation does not say; later versions of DuckDB for Python hold it there.
        super().__init__(getattr(relation, "_con", None), _TABLE, key)

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        with self.answering():
            return families_of(self.relation.limit(0).pl().schema)

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""
        answer: pl.DataFrame = self._heard(lambda: self.relation.query(_TABLE, query).pl())
        return answer

    def keep(self, query: str) -> str:
        """Keep what a query gives in a temporary table of the relation's own connection."""
        name = f"leastwise_{uuid.uuid4().hex}"
        self._heard(lambda: self.relation.query(_TABLE, f"CREATE TEMP TABLE {name} AS {query}"))
        return name

    def forget(self, name: str) -> None:
        """Remove what was kept."""
        self.relation.query(_TABLE, f"DROP TABLE IF EXISTS {name}")

    def _heard(self, work: Callable[[], Any]) -> Any:
        """Do work where it can be stopped from here; elsewhere DuckDB looks up by itself from time to time."""
        if self._cursor is not None:
            return super()._heard(work)
        with _interrupted():
            return work()

    def cancel(self) -> None:
        """Stop the query that runs."""
        if self._cursor is not None:
            self._cursor.interrupt()


def of_files(paths: Sequence[Path], key: str | None = None) -> DuckDB:
    """Read files of one format, in the order of their names; together they are one table.

    A record's number is its place in all of them, so that it does not matter how they are cut.
    """
    formats = {file_format(path) for path in paths}
    if len(formats) != 1:
        raise DataError(f"files that are read together must have one format; got {', '.join(sorted(formats))}")
    connection, remove = connect()
    try:
        return _of_format(connection, remove, formats.pop(), paths, key)
    except BaseException:
        _let_go(connection, remove)
        raise


def _of_format(
    connection: Any, remove: Callable[[], None], kind: str, paths: Sequence[Path], key: str | None
) -> DuckDB:
    text = DuckDB.dialect.text
    listed = f"[{', '.join(text(str(path)) for path in paths)}]"
    if kind == "parquet":
        number = _row_of_parquet(connection, paths) if key is None else None
        rows = "filename = true, file_row_number = true" if key is None else "filename = false"
        origin = f"read_parquet({listed}, union_by_name = true, {rows})"
        return _Files(connection, origin, key, number, paths, remove)
    read = (
        f"read_csv({listed}, all_varchar = true, header = true, union_by_name = true, hive_partitioning = true)"
        if kind == "csv"
        else f"read_json({listed}, format = 'newline_delimited', union_by_name = true, sample_size = -1)"
    )
    if key is not None:
        return DuckDB(connection, read, key, None, paths, remove)
    numbered = f"(SELECT *, row_number() OVER () - 1 AS {ROW} FROM {read})"
    return DuckDB(connection, numbered, None, f"{RECORD}.{ROW}", paths, remove)


class _Files(DuckDB):
    """Parquet files, whose own row numbers and names are no columns of the records."""

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        return self._families({"filename", "file_row_number"} if self.key is None else set())


def _row_of_parquet(connection: Any, paths: Sequence[Path]) -> str:
    """Return the number of a record in all files together."""
    text, begin, whens = DuckDB.dialect.text, 0, []
    for path in paths:
        whens.append(f"WHEN {text(str(path))} THEN {begin}")
        begin += _records_in(connection, path)
    own = f"{RECORD}.file_row_number"
    return own if len(paths) == 1 else f"({own} + CASE {RECORD}.filename {' '.join(whens)} END)"


def _records_in(connection: Any, path: Path) -> int:
    import duckdb

    try:
        query = f"SELECT num_rows FROM parquet_file_metadata({DuckDB.dialect.text(str(path))})"
        return int(connection.execute(query).fetchall()[0][0])
    except duckdb.Error:
        raise DataError(f"{path}: not readable as parquet; it may be cut short: copy or write it again") from None
