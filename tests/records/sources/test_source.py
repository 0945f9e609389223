"""Every engine counts what a table counts, to the last digit."""

from __future__ import annotations

import uuid
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table, Untouched
from leastwise.errors import DataError, ParameterError, UnknownValueError
from leastwise.partition import suppress
from leastwise.records.sources import Counted, Source
from leastwise.records.sources.duckdb import connect, of_files, of_relation
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.opening import files_of, is_source, open_engine
from leastwise.records.sources.plan import PRIME, Places, number_of_key, place_of
from leastwise.records.sources.polars import Polars
from leastwise.schema.derive import WEEKDAYS
from tests import strategies
from tests.records.sources.engines import (
    IN_PROCESS,
    KEY,
    TABLE,
    any_engine,
    engine_of,
    in_postgresql,
    in_spark,
    keyed_by_uuid,
    spark_session,
)

SEED = 100
AGE = Attribute("a ge\"'`--", "continuous", lower=0, upper=120, integer=True, missing=True, personal=True)
PAY = Attribute("pay", "continuous", missing=True, other=True, lower=-10.0, personal=True)
TOWN = Attribute("town", values=("Ä 'b\" \\", "b", "1", "x;--"), missing=True, other=True, personal=True)
CODE = Attribute("code", "ordinal", values=("1", "2", "10"))
YES = Attribute("yes", values=("false", "true"))
SCHEMA = Schema((AGE, PAY, TOWN, CODE, YES), Attribute("y", values=("0", "1", "2")))
G = Generalization(
    (
        Intervals(AGE, (19, 63), (1,)),
        suppress(PAY),
        Groups.of(TOWN, [["Ä 'b\" \\", "1"], ["b", None], ["x;--"]]),
        Groups.of(CODE, [["1", "2"], ["10"]]),
        suppress(YES),
    ),
    SCHEMA.label,
)
EXACT = Generalization((suppress(AGE), Untouched(PAY), *(suppress(a) for a in (TOWN, CODE, YES))), SCHEMA.label)


def people(n: int = 500, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in random.integers(0, len(values), n)]

    return pl.DataFrame(
        {
            AGE.name: pl.Series(some([0, 19, 20, 63, 64, 120, None]), dtype=pl.Int64),
            "pay": pl.Series(some([0.1, -10.0, -11.5, 1e15, 3.0, 0.1 + 0.2, None]), dtype=pl.Float64),
            "town": pl.Series(some([*TOWN.values, "1.0", "elsewhere", None]), dtype=pl.String),
            "code": pl.Series(some([1, 2, 10]), dtype=pl.Int64),
            "yes": pl.Series(some([True, False]), dtype=pl.Boolean),
            "y": pl.Series(some([0, 1, 2]), dtype=pl.Int64),
            "unused": pl.Series(some(["a", "b"]), dtype=pl.String),
        }
    )


def shares(frame: pl.DataFrame, seed: int = SEED) -> np.ndarray[Any, Any]:
    """Say where each row lies, without any engine."""
    return np.array([place_of(row, seed, "part") for row in range(frame.height)]) / PRIME


def oracle(frame: pl.DataFrame, schema: Schema, g: Generalization, rows: Any) -> list[Counter[Any]]:
    """Count row by row: generalized record and label, then each personal attribute beside them."""
    table = Table.from_frame(frame, schema)
    z, test = table.generalize(g), np.flatnonzero(rows)
    y = np.zeros(len(table)) if table.labels is None else table.labels
    alone = Counter((*z[i].tolist(), int(y[i])) for i in test)
    return [
        alone,
        *(Counter((*z[i].tolist(), int(y[i]), int(table.codes[i, p])) for i in test) for p in table.personal),
    ]


def counters(counted: Counted, g: Generalization) -> list[Counter[Any]]:
    def rows(table: Table, values: Any = None) -> Counter[Any]:
        z, y = table.generalize(g), np.zeros(len(table)) if table.labels is None else table.labels
        beside = [()] * len(table) if values is None else [(int(v),) for v in values]
        found: Counter[Any] = Counter()
        for i in range(len(table)):
            found[(*z[i].tolist(), int(y[i]), *beside[i])] += int(table.counts[i])
        return found

    beside = [
        rows(replace(counted.truth.take(cells.record_of), weights=cells.counts), cells.values)
        for cells in counted.cells.values()
    ]
    return [rows(counted.truth), *beside]


def check_engine(engine: Engine, frame: pl.DataFrame) -> None:
    source = Source(engine, SCHEMA, SEED)
    tested = shares(frame) >= 0.7
    for g in (G, EXACT, Generalization.suppressed(SCHEMA)):
        counted = source.counted(g, source.tested)
        assert counters(counted, g) == oracle(frame, SCHEMA, g, tested)
        assert counted.people == tested.sum()
        assert counted.withheld == 0
    table = Table.from_frame(frame, SCHEMA)
    sample, order = source.sample(10**6), np.argsort(shares(frame))
    assert np.array_equal(sample.codes, table.codes[order]), "everybody, in the order of their places"
    assert all(np.array_equal(a, b) for a, b in zip(sample.levels, table.levels, strict=True))
    assert [len(part) for part in sample.split(SEED)] == [
        int((low <= shares(frame)).sum() - (high <= shares(frame)).sum())
        for low, high in ((0, 0.6), (0.6, 0.7), (0.7, 1))
    ]
    assert len(source.sample(100)) == len(Source(Polars(frame.lazy()), SCHEMA, SEED).sample(100))
    assert source.fingerprint == Source(Polars(frame.lazy()), SCHEMA, 0).fingerprint
    source.check_key()


@pytest.mark.parametrize("kind", IN_PROCESS)
def test_every_engine_counts_what_a_table_counts(kind: str, tmp_path: Path) -> None:
    frame = people()
    with engine_of(kind, frame, tmp_path) as engine:
        check_engine(engine, frame)


@pytest.mark.parametrize("kind", ["postgresql", "ibis duckdb", "ibis postgresql"])
def test_a_database_counts_what_a_table_counts(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    frame = people()
    with ExitStack() as stack:
        check_engine(any_engine(kind, frame, tmp_path, request, stack), frame)


def test_spark_counts_what_a_table_counts() -> None:
    frame = people(60)
    with spark_session() as session:
        engine = in_spark(frame, session)
        source = Source(engine, SCHEMA, SEED)
        alone = source.counted(G, source.tested)
        with source.reduced([G, EXACT], source.tested) as near:
            assert near.engine is not engine, "both from one pass"
            together = near.counted(G, near.tested)
        for counted in (alone, together):
            assert counters(counted, G) == oracle(frame, SCHEMA, G, shares(frame) >= 0.7)
        engine.close()
        assert not session.catalog.listTables(), "nothing is left in the session"
        assert session.sparkContext._jsc.getPersistentRDDs().isEmpty(), "nor in its memory"


@pytest.mark.slow
def test_spark_answers_every_question_alike() -> None:
    frame = people(200)
    with spark_session() as session:
        engine = in_spark(frame, session)
        check_engine(engine, frame)
        engine.close()
        assert not session.catalog.listTables(), "nothing is left in the session"


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_records_are_counted_alike(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    assume(len({name.casefold() for name in schema.names}) == len(schema.names))
    assume("label" not in {name.casefold() for name in schema.names})
    assume(not any("\0" in text for a in schema.attributes for text in (a.name, *a.values)))
    g = data.draw(strategies.generalizations(schema))
    rows = data.draw(st.integers(1, 20))
    columns = {
        a.name: pl.Series(
            [None if value != value else value for value in data.draw(_column(a, rows))],
            dtype=pl.Float64 if a.continuous else pl.String,
        )
        for a in schema.attributes
    }
    if schema.label is not None:
        columns["label"] = pl.Series(
            data.draw(st.lists(st.sampled_from(["no", "yes"]), min_size=rows, max_size=rows))
        )
    frame = pl.DataFrame(columns)
    connection, remove = connect()
    remove()
    keyed = frame.with_row_index("the key").with_columns(pl.col("the key").cast(pl.Int64))
    for engine in (Polars(frame.lazy()), of_relation(connection.from_arrow(keyed.to_arrow()), "the key")):
        counted = Source(engine, schema, SEED).counted(g, None)
        assert counters(counted, g) == oracle(frame, schema, g, np.ones(rows, dtype=bool))
    connection.close()


def _column(attribute: Attribute, rows: int) -> st.SearchStrategy[list[Any]]:
    known = strategies.values(attribute)
    if not attribute.continuous and not attribute.values and not attribute.missing:
        known = st.just("anything")
    return st.lists(known, min_size=rows, max_size=rows)


def test_places_depend_on_the_number_alone_and_part_twins() -> None:
    twins = pl.concat([people(1)] * 2000)
    source = Source(Polars(twins.lazy()), SCHEMA, SEED)
    tested = source.people(source.tested)
    assert 520 < tested < 680, "equal records are dealt to both sides as if they were different"
    assert sum(source.people(Places.of(low, high)) for low, high in ((0, 0.7), (0.7, 1))) == 2000
    other = Source(Polars(twins.lazy()), SCHEMA, SEED + 1)
    assert not np.array_equal(shares(twins) >= 0.7, shares(twins, SEED + 1) >= 0.7)
    assert other.people(other.tested) != 0


@pytest.mark.parametrize("step", [1, 2, 3, 7, 10, 64, 1000])
def test_parts_are_fair_whatever_the_numbers_have_in_common(step: int) -> None:
    places = np.array([place_of(number * step, 0, "part") for number in range(4000)]) / PRIME
    for start in range(3):  # no residue class is favoured
        assert abs((places[start::3] < 0.7).mean() - 0.7) < 0.06
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.06


@pytest.mark.parametrize("kind", ["polars", "parquet", "relation"])
@pytest.mark.parametrize("name", ["^)$", "^.*$", "*", "r", "k0", "n", "people", "value", "c0"])
def test_names_that_mean_something_elsewhere_are_names(kind: str, name: str, tmp_path: Path) -> None:
    town = replace(TOWN, name=name)
    schema = replace(SCHEMA, attributes=(*(a for a in SCHEMA.attributes if a is not TOWN), town))
    several = [
        Generalization((*(suppress(a) for a in schema.attributes[:-1]), p), SCHEMA.label)
        for p in (suppress(town), Groups.of(town, [[*town.values, None]]))
    ]
    frame = people(60).rename({"town": name})
    with engine_of(kind, frame, tmp_path) as engine:
        source = Source(engine, schema, SEED, ("?",))
        assert len(source.sample(10**6)) == 60
        with source.reduced(several, None) as near:
            for g in several:
                assert counters(near.counted(g, None), g) == oracle(frame, schema, g, np.ones(60, dtype=bool))


@pytest.mark.parametrize("kind", ["polars", "duckdb"])
def test_keys_that_are_texts_are_placed_alike(kind: str, tmp_path: Path) -> None:
    strange = ["007", "-0", "+7", "", " 8", "9" * 25, "-12", "0", "9" * 18]
    frame = people(60).with_columns(pl.Series("key", [*(f"person ä{i}" for i in range(51)), *strange]))
    expected = sum(place_of(number_of_key(key), SEED, "part") / PRIME >= 0.7 for key in frame["key"])
    path = tmp_path / "people.parquet"
    frame.write_parquet(path)
    engine = Polars(frame.lazy(), "key") if kind == "polars" else of_files([path], "key")
    source = Source(engine, SCHEMA, SEED)
    source.check_key()
    assert source.people(source.tested) == expected
    engine.close()


def test_a_key_of_uuids_is_one(postgres_url: str) -> None:
    """PostgreSQL refuses to cast one to a number even in a branch that nobody takes."""
    engine = keyed_by_uuid(in_postgresql(people(60), postgres_url))
    source = Source(engine, SCHEMA, SEED)
    source.check_key()
    keys = [str(uuid.UUID(int=i)) for i in range(60)]
    expected = sum(place_of(number_of_key(key), SEED, "part") / PRIME >= 0.7 for key in keys)
    assert source.people(source.tested) == expected
    engine.close()


@pytest.mark.parametrize("kind", ["polars", "csv", "text", "postgresql", "spark"])
def test_whole_numbers_are_the_same_keys_whatever_holds_them(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The texts of a CSV file, and the numbers of the table that it was written from."""
    frame = people(60).with_columns(key=pl.int_range(60, dtype=pl.Int64) * 10**15 - 5)
    texts = frame.with_columns(pl.col("key").cast(pl.String))
    numbered = Source(Polars(frame.lazy(), "key"), SCHEMA, SEED)
    expected = numbered.counted(G, numbered.tested)
    with ExitStack() as stack:
        if kind == "csv":
            frame.write_csv(tmp_path / "people.csv")
            engine: Engine = of_files([tmp_path / "people.csv"], "key")
        elif kind == "text":
            texts.write_parquet(tmp_path / "people.parquet")
            engine = of_files([tmp_path / "people.parquet"], "key")
        elif kind == "polars":
            engine = Polars(texts.lazy(), "key")
        else:
            engine = any_engine(kind, texts, tmp_path, request, stack)
            engine.key = "key"
        stack.callback(engine.close)
        source = Source(engine, SCHEMA, SEED)
        assert counters(source.counted(G, source.tested), G) == counters(expected, G)


@pytest.mark.parametrize("kind", ["polars", "parquet", "sqlite"])
def test_small_counts_do_not_leave(kind: str, tmp_path: Path) -> None:
    frame = people()
    with engine_of(kind, frame, tmp_path) as engine:
        counted = Source(engine, SCHEMA, SEED, at_least=7).counted(G, None)
    whole = oracle(frame, SCHEMA, G, np.ones(500, dtype=bool))
    shown = counters(counted, G)
    assert shown[0] == Counter({key: n for key, n in whole[0].items() if n >= 7})
    assert min(n for counter in shown for n in counter.values()) >= 7
    assert counted.withheld == sum(n for n in whole[0].values() if n < 7) > 0


def test_markers_of_missing_values_are_missing(tmp_path: Path) -> None:
    frame = people(300).with_columns(pl.col("town").fill_null("?"), pl.col("pay").fill_null(-99.0))
    for write, suffix in (("write_csv", "csv"), ("write_parquet", "parquet")):
        path = tmp_path / f"people.{suffix}"
        getattr(frame, write)(path)
        with_markers = Source(of_files([path]), SCHEMA, SEED, ("?", "-99.0")).counted(G, None)
        assert counters(with_markers, G) == oracle(people(300), SCHEMA, G, np.ones(300, dtype=bool))


@pytest.mark.parametrize("kind", ["polars", "parquet", "sqlite", "postgresql"])
def test_many_columns_of_many_values_are_put_together(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    values = tuple(f"v{i}" for i in range(40))
    schema = Schema(tuple(Attribute(f"a{j}", values=values, personal=True) for j in range(14)))
    g = Generalization(tuple(Groups.of(a, [[value] for value in values]) for a in schema.attributes))
    random = np.random.default_rng(0)
    frame = pl.DataFrame({a.name: [values[i] for i in random.integers(0, 40, 50)] for a in schema.attributes})
    frame = pl.concat([frame, frame, pl.DataFrame({a.name: [values[-1]] for a in schema.attributes})])
    with ExitStack() as stack:
        source = Source(any_engine(kind, frame, tmp_path, request, stack), schema, SEED)
        assert counters(source.counted(g, None), g) == oracle(frame, schema, g, np.ones(101, dtype=bool))


BORN = Attribute("year", "continuous", derive="year of YYYY-MM-DD", source="born", integer=True, missing=True)
DAY = Attribute("born", values=WEEKDAYS, derive="weekday of YYYY-MM-DD", missing=True, personal=True)
POST = Attribute("area", values=("1", "2", "9"), derive="prefix 1", source="post", personal=True)
RICH = Attribute("rich", values=("up to 50", "above 50"), derive="above 50", source="pay")
DERIVED = Schema((BORN, DAY, POST), RICH)


@pytest.mark.parametrize(
    "kind", ["polars", "parquet", "csv", "sqlite", "relation", "postgresql", "spark", "ibis postgresql"]
)
def test_derived_questions_are_asked_where_the_records_lie(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    random = np.random.default_rng(3)
    days = [f"{y}-0{m}-1{d}" for y in (1970, 1999) for m in (1, 9) for d in (0, 7)]
    frame = pl.DataFrame(
        {
            "born": pl.Series([[*days, "?", None][i] for i in random.integers(0, 10, 300)], dtype=pl.String),
            "post": [["10115", "20095", "99999"][i] for i in random.integers(0, 3, 300)],
            "pay": random.integers(0, 100, 300),
        }
    )
    days_of = Groups.of(DAY, [[*WEEKDAYS[:5], None], WEEKDAYS[5:]])
    g = Generalization((Intervals(BORN, (1980,)), days_of, suppress(POST)), RICH)
    plain = frame.with_columns(pl.col("born").replace("?", None))
    with ExitStack() as stack:
        engine = any_engine(kind, frame, tmp_path, request, stack)
        source = Source(engine, DERIVED, SEED, ("?",))
        everybody = np.ones(300, dtype=bool)
        assert counters(source.counted(g, None), g) == oracle(plain, DERIVED, g, everybody)
        sample = source.sample(10**6)
        assert np.array_equal(
            np.sort(sample.codes, axis=0), np.sort(Table.from_frame(plain, DERIVED).codes, axis=0)
        )


class TestBadInput:
    def test_a_value_outside_the_domain_is_named_with_how_many_have_it(self, tmp_path: Path) -> None:
        frame = people(50).with_columns(code=pl.Series([1] * 47 + [3] * 3))
        with engine_of("parquet", frame, tmp_path) as engine, pytest.raises(UnknownValueError, match="3 records"):
            _ = Source(engine, SCHEMA).domains

    def test_a_key_that_is_shared_or_missing(self, tmp_path: Path) -> None:
        frame = people(50).with_columns(key=pl.Series([*range(48), 3, None]))
        for key, rows, words in (("key", 49, "1 keys are shared by 2"), ("key", 50, "shared")):
            engine = Polars(frame[:rows].lazy(), key)
            with pytest.raises(DataError, match=words):
                Source(engine, SCHEMA).check_key()
        gaps = frame.with_columns(key=pl.Series([*range(49), None]))
        with pytest.raises(DataError, match="1 have none"):
            Source(Polars(gaps.lazy(), "key"), SCHEMA).check_key()
        with pytest.raises(DataError, match="no column 'kee'"):
            Source(Polars(gaps.lazy(), "kee"), SCHEMA).check_key()

    @pytest.mark.parametrize("kind", ["parquet", "sqlite", "postgresql"])
    def test_a_key_that_no_column_is(self, kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        with ExitStack() as stack:
            engine = any_engine(kind, people(50), tmp_path, request, stack)
            engine.key = "kee"
            with pytest.raises(DataError, match="no column 'kee'"):
                Source(engine, SCHEMA).check_key()

    def test_an_attribute_is_no_key(self) -> None:
        with pytest.raises(DataError, match="no attribute"):
            Source(Polars(people(9).lazy(), "code"), SCHEMA).check_key()

    def test_lists_cannot_be_grouped_by(self, tmp_path: Path) -> None:
        frame = people(9).with_columns(town=pl.Series([["a"]] * 9))
        with engine_of("parquet", frame, tmp_path) as engine, pytest.raises(DataError, match=r"town.*lists"):
            _ = Source(engine, SCHEMA).domains

    def test_a_column_that_is_called_like_a_place(self, tmp_path: Path) -> None:
        named = people(90).with_columns(pl.lit(0).alias("Leastwise_Place"))
        with engine_of("parquet", named, tmp_path) as engine:
            source = Source(engine, SCHEMA)
            with pytest.raises(DataError, match="Leastwise_Place"):
                source.people(source.tested)

    def test_a_file_that_changes_is_noticed(self, tmp_path: Path) -> None:
        with engine_of("parquet", people(90), tmp_path) as engine:
            source = Source(engine, SCHEMA)
            assert len(source) == 90
            people(91).write_parquet(tmp_path / "people.parquet")
            with pytest.raises(DataError, match="changed"):
                _ = source.domains

    @pytest.mark.parametrize("more", ["another record", "another value"])
    def test_a_table_that_changes_is_noticed(self, more: str, tmp_path: Path) -> None:
        with engine_of("sqlite", people(90), tmp_path) as engine:
            source = Source(engine, SCHEMA)
            _ = source.domains
            change = f'INSERT INTO "{TABLE}" SELECT * FROM "{TABLE}" LIMIT 1'
            if more == "another value":
                change = f"UPDATE \"{TABLE}\" SET town = 'new' WHERE rowid = 1"
            engine.connection.execute(change)  # type: ignore[attr-defined]
            engine.connection.commit()  # type: ignore[attr-defined]
            with pytest.raises(DataError, match=r"changed|were not there"):
                source.counted(G, None)

    def test_a_label_that_is_missing_is_counted(self) -> None:
        frame = people(20).with_columns(y=pl.Series([None] * 3 + [1] * 17, dtype=pl.Int64))
        with pytest.raises(DataError, match="missing in 3 records"):
            _ = Source(Polars(frame.lazy()), SCHEMA).domains

    def test_a_lost_connection_is_told_in_one_line(self, tmp_path: Path) -> None:
        with engine_of("duckdb", people(20), tmp_path) as engine:
            engine.connection.close()  # type: ignore[attr-defined]
            with pytest.raises(DataError, match=r"DuckDB did not answer .* same command again"):
                len(Source(engine, SCHEMA))

    def test_nothing_is_written_by_postgresql(self, postgres_url: str) -> None:
        from leastwise.records.sources.databases import connect_postgresql

        in_postgresql(people(20), postgres_url).close()
        engine = connect_postgresql(postgres_url.replace("+psycopg", ""), TABLE, KEY)
        assert len(Source(engine, SCHEMA)) == 20
        with pytest.raises(Exception, match="read-only"):
            engine.connection.execute(f'DELETE FROM "{TABLE}"')
        engine.close()

    def test_a_role_that_may_only_read_is_enough(self, postgres_url: str) -> None:
        import psycopg

        from leastwise.records.sources.databases import connect_postgresql

        url, frame = postgres_url.replace("+psycopg", ""), people(200)
        in_postgresql(frame, postgres_url).close()
        reader = f"reader_{uuid.uuid4().hex}"
        with psycopg.connect(url, autocommit=True) as owner:
            database = owner.info.dbname
            for right in (
                f"CREATE ROLE {reader} LOGIN",
                f"REVOKE ALL ON DATABASE {database} FROM PUBLIC",
                "REVOKE ALL ON SCHEMA public FROM PUBLIC",
                f"GRANT CONNECT ON DATABASE {database} TO {reader}",
                f"GRANT USAGE ON SCHEMA public TO {reader}",
                f'GRANT SELECT ON "{TABLE}" TO {reader}',
            ):
                owner.execute(right.encode())
        engine = connect_postgresql(url.replace("leastwise@", f"{reader}@"), TABLE, KEY)
        with pytest.raises(psycopg.Error, match=r"permission denied|read-only"):
            engine.connection.execute("CREATE TEMP TABLE t (a int)")
        engine.connection.rollback()
        source = Source(engine, SCHEMA, SEED)
        source.check_key()
        with source.reduced([G, EXACT], None) as near:
            for g in (G, EXACT):
                assert counters(near.counted(g, None), g) == oracle(frame, SCHEMA, g, np.ones(200, dtype=bool))
        engine.close()

    def test_a_connection_that_the_server_ends_is_told_in_one_line(self, postgres_url: str) -> None:
        import psycopg

        engine = in_postgresql(people(20), postgres_url)
        source = Source(engine, SCHEMA)
        assert len(source) == 20
        with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [engine.connection.info.backend_pid])
        with pytest.raises(DataError, match=r"PostgreSQL did not answer .* same command again"):
            _ = source.domains
        engine.close()

    def test_what_postgresql_cannot_group_by_is_named(self, postgres_url: str) -> None:
        engine = in_postgresql(people(20), postgres_url)
        engine.connection.execute(f"""ALTER TABLE "{TABLE}" ALTER town TYPE json USING '{{}}'::json""")
        engine.connection.commit()
        with pytest.raises(DataError, match=r"town.*PostgreSQL can group"):
            _ = Source(engine, SCHEMA).domains
        engine.close()

    def test_a_database_needs_a_table_and_postgresql_a_key(self, postgres_url: str, tmp_path: Path) -> None:
        duckdb.connect(str(tmp_path / "x.db")).close()
        with pytest.raises(ParameterError, match="--table; there are none"):
            open_engine(f"duckdb:{tmp_path / 'x.db'}")
        with pytest.raises(ParameterError, match="--key"):
            open_engine(postgres_url.replace("+psycopg", ""), TABLE)
        with pytest.raises(DataError, match="no such database"):
            open_engine("duckdb:nowhere.db", "t")
        with pytest.raises(DataError, match="cannot be reached"):
            open_engine("postgresql://127.0.0.1:1/none", "t", "k")

    def test_no_files_and_files_of_two_formats(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no such file"):
            files_of(str(tmp_path / "*.parquet"))
        people(3).write_parquet(tmp_path / "a.parquet")
        people(3).write_csv(tmp_path / "b.csv")
        with pytest.raises(DataError, match="one format"):
            open_engine(str(tmp_path))
        (tmp_path / "b.csv").unlink()
        (tmp_path / "c.parquet").write_bytes(b"PAR1 cut short")
        with pytest.raises(DataError, match="cut short"):
            open_engine(str(tmp_path))


def test_what_stays_where_it_is(tmp_path: Path) -> None:
    people(3).write_csv(tmp_path / "a.csv")
    assert is_source(str(tmp_path))
    assert is_source(f"{tmp_path}/*.csv")
    assert is_source(people(3).lazy())
    assert not is_source(str(tmp_path / "a.csv"))
    assert not is_source(people(3))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_files_that_are_empty_or_miss_everything_make_no_difference(suffix: str, tmp_path: Path) -> None:
    nobody = {"pay": pl.lit(None), "town": pl.lit(None), AGE.name: pl.lit(None)}
    start = people(40).with_columns(**nobody)
    typed = people(40).clear()
    whole = pl.concat([start.cast(dict(typed.schema)), people(60, seed=1)])
    pieces = [typed, start, typed, people(60, seed=1)]
    for i, piece in enumerate(pieces):
        getattr(piece, f"write_{suffix}")(tmp_path / f"{i}.{suffix}")
    if suffix == "ndjson":
        for i in (0, 2):
            (tmp_path / f"{i}.{suffix}").unlink()  # a file without a line has no columns
    engine = open_engine(str(tmp_path))
    check_engine(engine, whole)
    engine.close()
