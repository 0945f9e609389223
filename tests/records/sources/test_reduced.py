"""What is counted from one pass for several candidates is what each would have counted alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table, Untouched
from leastwise.errors import DataError, ParameterError
from leastwise.partition import keep, suppress
from leastwise.progress import Silent
from leastwise.records.sources import Source
from leastwise.records.sources.duckdb import DuckDB, connect, of_files, of_relation
from leastwise.records.sources.engine import Draw
from leastwise.records.sources.plan import Places
from leastwise.records.sources.reduced import Reduced
from tests import strategies
from tests.records.sources.engines import any_engine
from tests.records.sources.test_source import AGE, CODE, EXACT, PAY, SCHEMA, SEED, TOWN, YES, G, counters, people

EDGES = Generalization(
    (Intervals(AGE, (19, 40)), Intervals(PAY, (0.1, 1e14)), keep(TOWN), keep(CODE), keep(YES)), SCHEMA.label
)
SEVERAL = [G, EXACT, EDGES, Generalization.suppressed(SCHEMA)]
KEEPING = ("parquet", "many parquet", "csv", "duckdb", "relation", "ibis duckdb")
NOTHING_MADE = ("polars", "sqlite", "postgresql", "ibis postgresql")


def check_reduced(source: Source, several: list[Generalization], places: Places | None) -> None:
    with source.reduced(several, places) as near:
        for g in several:
            ours, theirs = near.counted(g, places), source.counted(g, places)
            assert counters(ours, g) == counters(theirs, g)
            assert (ours.people, ours.withheld) == (theirs.people, theirs.withheld)
            if not any(isinstance(p, Untouched) for p in g.partitions):
                assert near.added_up(g, places) == source.added_up(g, places)


@pytest.mark.parametrize("kind", [*KEEPING, *NOTHING_MADE])
@pytest.mark.parametrize("at_least", [1, 5])
def test_several_are_counted_as_each_alone(
    kind: str, at_least: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        engine = any_engine(kind, people(), tmp_path, request, stack)
        source = Source(engine, SCHEMA, SEED, at_least=at_least)
        for places in (None, source.tested):
            check_reduced(source, SEVERAL, places)
        with source.reduced(SEVERAL, None) as near:
            assert isinstance(near.engine, Reduced) == (kind in KEEPING)
            assert near.domains is source.domains, "nothing is asked twice"


@settings(max_examples=8, deadline=None)
@given(strategies.tables(max_rows=40), st.data())
def test_any_generalizations_are_counted_together(table: Table, data: st.DataObject) -> None:
    schema = table.schema
    assume(len({name.casefold() for name in schema.names}) == len(schema.names))
    assume(not any("\0" in text for a in schema.attributes for text in (a.name, *a.values)))
    several = data.draw(st.lists(strategies.generalizations(schema), min_size=2, max_size=4))
    columns: dict[str, Any] = {
        a.name: [table.levels[j][code] for code in table.codes[:, j]] for j, a in enumerate(schema.attributes)
    }
    frame = pl.DataFrame({**columns, "y": [f"c{label}" for label in table.y], "the key": np.arange(len(table))})
    connection, remove = connect()
    remove()
    source = Source(of_relation(connection.from_arrow(frame.to_arrow()), "the key"), schema, SEED)
    check_reduced(source, several, None)
    connection.close()


def test_what_was_kept_is_removed(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    engine = of_files([tmp_path / "people.parquet"])
    source = Source(engine, SCHEMA, SEED)
    with pytest.raises(DataError), source.reduced(SEVERAL, None) as near:
        near.counted(G, _whom_it_leaves(engine))
    assert _tables(engine) == 0, "however it ends"
    engine.close()
    own = duckdb.connect()
    source = Source(of_relation(own.from_arrow(people().with_row_index("key").to_arrow()), "key"), SCHEMA, SEED)
    with source.reduced(SEVERAL, None):
        assert len(own.sql("SHOW ALL TABLES").fetchall()) == 1
    assert not own.sql("SHOW ALL TABLES").fetchall()
    own.close()


def _whom_it_leaves(engine: DuckDB) -> None:
    """Fail while something is kept."""
    assert _tables(engine) == 1
    raise DataError("the connection is gone")


def _tables(engine: DuckDB) -> int:
    return len(engine.fetch("SELECT table_name FROM duckdb_tables()"))


def test_nothing_else_can_be_asked_of_what_was_kept(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    engine = of_files([tmp_path / "people.parquet"])
    source = Source(engine, SCHEMA, SEED)
    finer = [
        Generalization((Intervals(AGE, (20,)), *(suppress(a) for a in SCHEMA.attributes[1:])), SCHEMA.label),
        Generalization(
            (*map(suppress, (AGE, PAY, TOWN)), Groups.of(CODE, [["1"], ["2", "10"]]), suppress(YES)), SCHEMA.label
        ),
    ]
    with source.reduced([G, Generalization.suppressed(SCHEMA)], None) as near:
        for g in finer:
            with pytest.raises(ParameterError, match="counted together"):
                near.counted(g, None)
        with pytest.raises(ParameterError, match="part"):
            near.counted(G, near.tested)
        with pytest.raises(ParameterError, match="drawn"):
            near.engine.draw(["town"], Draw(0, 5))
    engine.close()


@pytest.mark.parametrize("at_least", [1, 7])
@pytest.mark.parametrize("in_columns", [False, True])
def test_groups_that_are_too_many_to_be_held_are_counted_by_sets(
    in_columns: bool, at_least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the engine, or from one column after another."""
    people().write_parquet(tmp_path / "people.parquet")
    with ExitStack() as stack:
        engine = of_files([tmp_path / "people.parquet"])
        stack.callback(engine.close)
        source = Source(engine, Schema(SCHEMA.attributes, SCHEMA.label), SEED, at_least=at_least)
        held = [source.counted(g, None) for g in SEVERAL]
        for module in ("sql", "reduced"):
            monkeypatch.setattr(f"leastwise.records.sources.{module}.MOST_ALIKE", 3)
        monkeypatch.setattr("leastwise.records.sources.reduced._MOST_IN_COLUMNS", 10_000 if in_columns else 3)
        for g, found in zip(SEVERAL, held, strict=True):
            again = source.counted(g, None)
            assert counters(found, g) == counters(again, g)
            assert all(np.array_equal(a, b) for a, b in zip(found.truth.codes.T, again.truth.codes.T, strict=True))
        with source.reduced(SEVERAL, None) as near:  # of so many, one set after the other
            plan = near.plan(G.within(SCHEMA), None)
            assert isinstance(near.engine, Reduced)
            assert len(near.engine.queries(near.engine._own(plan), SEED)) == 1 + len(plan.values)
        check_reduced(source, SEVERAL, None)


@pytest.mark.parametrize("at_least", [1, 3])
@pytest.mark.parametrize(("held", "in_columns"), [(100_000_000, 100), (0, 100), (0, 0)])
def test_questions_that_one_number_cannot_hold(
    held: int, in_columns: int, at_least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether people are counted in this process, at once or a column after another, or in the engine."""
    monkeypatch.setattr("leastwise.records.sources.reduced._MOST_HELD", held)
    monkeypatch.setattr("leastwise.records.sources.reduced._MOST_IN_COLUMNS", in_columns)
    values = tuple(f"v{i}" for i in range(40))
    asked = tuple(Attribute(f"a{j}", values=values, personal=j < 2) for j in range(14))
    rng = np.random.default_rng(0)
    columns = {a.name: np.array(values)[rng.integers(0, 1 + (j % 3), 60)] for j, a in enumerate(asked)}
    pl.DataFrame({**columns, "y": rng.choice(["no", "yes"], 60)}).write_parquet(tmp_path / "wide.parquet")
    schema = Schema(asked, Attribute("y", values=("no", "yes")))
    halves = tuple(Groups.of(a, [values[1::2], values[::2]]) for a in asked)
    several = [Generalization(tuple(map(keep, asked)), schema.label), Generalization(halves, schema.label)]
    engine = of_files([tmp_path / "wide.parquet"])
    source = Source(engine, schema, SEED, at_least=at_least)
    assert len(source.plan(several[0], None).keys) == 2
    with source.reduced(several, None) as near:
        near.counted(several[0], None)
        assert ("_held" in vars(near.engine)) == bool(in_columns)
    check_reduced(source, several, None)
    engine.close()


@pytest.mark.parametrize("many", [20, 5000])
def test_people_are_looked_for_who_are_alike_only_where_there_can_be_some(many: int, tmp_path: Path) -> None:
    frame = people(many)
    frame.write_parquet(tmp_path / "people.parquet")
    schema = Schema((TOWN, YES), SCHEMA.label)
    coarse = [Generalization((keep(TOWN), suppress(YES)), SCHEMA.label), Generalization.suppressed(schema)]
    engine = of_files([tmp_path / "people.parquet"])
    source = Source(engine, schema, SEED)
    check_reduced(source, coarse, None)
    with source.reduced(coarse, None) as near:
        assert isinstance(near.engine, Reduced)
        kept = engine.fetch(f"SELECT count(*) AS rows, sum(people) AS people FROM {near.engine.origin}")
        combinations = near.engine.plan.combinations
        each_kept = combinations > frame.height
        assert each_kept == (many == 20)
        assert kept["people"].item() == frame.height
        assert (kept["rows"].item() == frame.height) == each_kept
        spilled = Path(engine.fetch("SELECT current_setting('temp_directory') AS t").item())
        assert (spilled / "leastwise_kept").is_file(), "in memory it would leave no room for questions"
    engine.close()
    assert not spilled.exists()


def test_without_room_for_one_pass_each_is_counted_by_itself(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said, not silently; and any other fault of the engine is one."""

    class Heard(Silent):
        words: ClassVar[list[str]] = []

        def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
            self.words.append(words)

    faults: list[Exception] = [duckdb.OutOfMemoryException("no room"), duckdb.IOException("no disk")]
    monkeypatch.setattr(DuckDB, "keep", lambda *_: (_ for _ in ()).throw(faults.pop(0)))
    with ExitStack() as stack:
        engine = any_engine("parquet", people(), tmp_path, request, stack)
        source = Source(engine, SCHEMA, SEED, progress=Heard())
        check_reduced(source, SEVERAL, None)
        assert any("each is counted by itself" in words for words in Heard.words)
        with pytest.raises(DataError, match="no disk"), source.reduced(SEVERAL, None):
            pass


def test_what_a_guess_tells_is_added_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    engine = of_files([tmp_path / "people.parquet"])
    source, asked = Source(engine, SCHEMA, SEED), list[int]()
    add_up = DuckDB.add_up
    monkeypatch.setattr(DuckDB, "add_up", lambda *given: (asked.append(1), add_up(*given))[1])
    first, again = (source.added_up(G, source.tested) for _ in range(2))
    assert first == again
    assert len(asked) == 3, "each generalization, and once what is told by none"
    engine.close()
