"""What is said of each column of the zoo, and that every one goes the whole way with the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from leastwise import Generalization
from leastwise.collector.records import InvalidRecordsError, RecordFormat
from leastwise.exports import to_sql
from leastwise.minimizers.uniform import UniformMinimizer
from leastwise.records.files import read_frame
from leastwise.records.table import Table
from leastwise.schema.file import from_yaml, to_yaml
from leastwise.schema.inference import Inspection, infer_schema
from tests.exports import engines
from tests.exports.node import Node, node  # noqa: F401
from tests.filling import filled
from tests.zoo import RECORDS, ZOO, Animal


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The zoo as a file has it: through CSV and back."""
    columns = {animal.name: list(animal.values(np.random.default_rng(i))) for i, animal in enumerate(ZOO)}
    columns["y"] = [i % 2 for i in range(RECORDS)]
    path: Path = tmp_path_factory.mktemp("zoo") / "zoo.csv"
    pl.DataFrame(columns).write_csv(path)
    return read_frame(path)


@pytest.fixture(scope="module")
def inspected(frame: pl.DataFrame) -> Inspection:
    return infer_schema(frame, "y")


def test_there_are_forty_and_one() -> None:
    assert len({animal.name for animal in ZOO}) == 41


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.name)
def test_what_is_said_of_it(inspected: Inspection, animal: Animal) -> None:
    finding = next(f for f in inspected.findings if f.name == animal.name)
    assert (finding.kind, finding.derive) == (animal.kind, animal.derive), finding
    assert animal.says in " ".join([finding.reason, *finding.warnings]), finding
    assert (finding.role == "left out") == (animal.name not in inspected.schema.names)


@pytest.fixture(scope="module")
def generalization(frame: pl.DataFrame, inspected: Inspection) -> Generalization:
    schema = from_yaml(to_yaml(inspected.schema))
    assert schema == inspected.schema
    made = UniformMinimizer(3).minimize(Table.from_frame(frame, schema))
    return Generalization.from_json(made.to_json())


def test_every_road_gives_the_same_answers(
    frame: pl.DataFrame,
    generalization: Generalization,
    node: Node,  # noqa: F811
) -> None:
    records = frame.to_dicts()
    truth = [generalization.transform(record) for record in records]
    assert len(generalization.collected) > 25
    names = [*generalization.collected, "y"]
    assert generalization.transform(frame).select(names).to_dicts() == [
        {n: row[n] for n in names} for row in truth
    ]
    assert (
        generalization.transform(frame.lazy())
        .select(names)
        .collect()
        .equals(generalization.transform(frame).select(names))
    )
    pandas = generalization.transform(frame.to_pandas())
    assert isinstance(pandas, pd.DataFrame)
    for name in generalization.collected:
        assert pandas[name].tolist() == [row[name] for row in truth]
    table = Table.from_frame(frame, generalization.schema)
    for j, name in enumerate(generalization.schema.names):
        if name in generalization.collected:
            labels = generalization[name].labels
            assert [labels[b] for b in table.generalize(generalization)[:, j]] == [row[name] for row in truth]
    assert [row["record"] for row in node.generalize(generalization, records)] == truth


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_every_database_gives_the_same_answers(
    frame: pl.DataFrame, generalization: Generalization, dialect: str
) -> None:
    run = {"duckdb": engines.duckdb_rows, "sqlite": engines.sqlite_rows}[dialect]
    found = run(to_sql(generalization, dialect, holds=engines.holds(generalization, frame)), frame)
    truth = [generalization.transform(record) for record in frame.to_dicts()]
    assert found == [{name: row[name] for name in generalization.collected} for row in truth]


def test_the_form_gives_the_same_answers_and_the_collector_takes_no_others(
    frame: pl.DataFrame, generalization: Generalization, chromium: Any
) -> None:
    records = frame.to_dicts()
    truth = generalization.transform(frame).select(generalization.collected).to_dicts()
    page = chromium.new_page()
    assert filled(page, generalization, records[::20]) == truth[::20]
    page.close()
    door = RecordFormat(generalization)
    assert door.frame([row.answers for row in door.read_many(truth)]).to_dicts() == truth
    for partition in (p for p in generalization.partitions if p.attribute.derive and not p.suppressed):
        name = partition.attribute.name
        with pytest.raises(InvalidRecordsError):
            door.read({**truth[0], name: records[0][partition.attribute.column]})
