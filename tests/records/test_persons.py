"""One person, several records: splits, intervals, crowds and the certificate count persons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from leastwise import Attribute, DataError, Generalization, Schema, SchemaError, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.linkability import Linkability
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.checks import bucket_use
from leastwise.cli.main import app
from leastwise.confidence import binomial_interval, mean_interval
from leastwise.evaluation import Evaluation, certify
from leastwise.minimizers.base import held_out
from leastwise.records.duplicates import copies, copies_in_words
from leastwise.runs.shares import bucket_shares
from tests import strategies as own
from tests.adversaries.populations import Bayes, grouping, population, table_of


def copied(table: Table, times: Any, declared: bool = True) -> Table:
    """Every record as often as is said, with or without whose it is."""
    rows = np.repeat(np.arange(len(table)), times)
    return replace(table.take(rows), persons=rows if declared else None)


@given(own.tables(max_rows=40), st.integers(0, 3), st.data())
def test_nobody_is_in_two_parts(table: Table, seed: int, data: st.DataObject) -> None:
    whose = data.draw(st.lists(st.integers(0, 12), min_size=len(table), max_size=len(table)))
    table = replace(table, persons=np.array(whose, dtype=np.intp))
    split = table.split(seed)
    assert sum(map(len, split)) == len(table)
    parts = [set(part.persons.tolist()) for part in split if part.persons is not None]
    assert sum(map(len, parts)) == len(set(whose))
    learned, measured = held_out(table, 0.25, seed)
    assert learned.persons is not None
    assert measured.persons is not None
    assert len(learned) == len(table) or not {*learned.persons.tolist()} & {*measured.persons.tolist()}


def test_the_key_is_read_and_not_kept() -> None:
    frame = pl.DataFrame({"id": ["anna", "ben", "anna", "cleo"], "sex": ["f", "m", "f", "f"]})
    schema = Schema((Attribute("sex", values=("f", "m")),))
    table = Table.from_frame(frame, schema, person="id")
    assert table.persons is not None
    assert table.persons[0] == table.persons[2] != table.persons[1]
    assert "anna" not in repr(vars(table))
    with pytest.raises(DataError, match="no column 'ID'"):
        Table.from_frame(frame, schema, person="ID")
    with pytest.raises(SchemaError, match="no attribute"):
        Table.from_frame(frame, schema, person="sex")
    with pytest.raises(DataError, match="of 1 it does not"):
        Table.from_frame(frame.with_columns(id=pl.Series(["a", None, "b", "c"])), schema, person="id")


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(1, 6))
def test_copies_of_everybody_tell_no_more_than_one_of_each(wrong: list[bool], times: int) -> None:
    values = np.repeat(np.array(wrong, dtype=float), times)
    persons = np.repeat(np.arange(len(wrong)), times)
    assert mean_interval(values, persons=persons) == pytest.approx(binomial_interval(sum(wrong), len(wrong)))


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 3, 20])
def test_the_interval_of_an_error_covers_by_person(times: int) -> None:
    rng = np.random.default_rng(times)
    hits = 0
    for _ in range(600):
        records = rng.integers(1, times + 1, 80)
        wrong = np.repeat(rng.random(80) < 0.3, records).astype(float)
        low, high = mean_interval(wrong, persons=np.repeat(np.arange(80), records))
        hits += low <= 0.3 <= high
    assert hits / 600 >= 0.925


@pytest.mark.parametrize("times", [3, 5, 20])
def test_the_certificate_holds_where_people_have_several_records(times: int) -> None:
    """The truth of a value that everybody has with 1/2 is 1/2, however often each is copied."""
    broken = {True: 0, False: 0}
    for seed in range(200):
        codes = np.random.default_rng(seed).integers(0, 2, (40, 1))
        for declared in broken:
            test = copied(table_of(codes, [2], {0}), times, declared)
            # In hindsight the commoner value is named; here it is naming the first to everybody that is bounded.
            first = float((test.codes[:, 0] == 0).mean())
            certificate = certify(Generalization.suppressed(test.schema), test, held_out=True)
            slack = certificate["a"].bound - certificate["a"].hindsight
            broken[declared] += first + slack < 0.5 and certificate["a"].bound < 1
    assert broken[True] <= 0.05 * 200
    assert broken[False] > 0.05 * 200, "undeclared copies do break it"


def test_a_certificate_of_copies_is_that_of_one_each() -> None:
    table = table_of(np.random.default_rng(0).integers(0, 3, (200, 2)), [3, 3], {1})
    g = grouping(table, [[0, 1, 2], [0, 0, 0]])
    one, five = (certify(g, each, held_out=True) for each in (table, copied(table, 5)))
    assert five["b"].bound == pytest.approx(one["b"].bound)
    assert five.people == one.people == 200
    assert certify(g, copied(table, 5, declared=False), held_out=True)["b"].bound < one["b"].bound - 0.03


def test_attacks_count_persons() -> None:
    table = table_of([(0, 0), (0, 0), (1, 0), (1, 1), (2, 1)], [3, 2], {1})
    g = grouping(table, [[0, 1, 2], [0, 1]])
    plain, several = (Breach.of(g, population(each)) for each in (table, copied(table, [4, 4, 1, 3, 2])))
    one, many = (SinglingOut(0).attack(each) for each in (plain, several))
    assert (many.unique_people, many.people, many.multiplicities) == (3, 5, one.multiplicities)
    linked = Linkability(("a",), ("b",), records=5, draws=3).attack(several)
    assert linked.records == 5, "one record of each"
    hidden = grouping(table, [[0, 1, 2], [0, 0]])
    intervals = [
        Reconstruction(Bayes).attack(Breach.of(hidden, population(each)))["b"].interval
        for each in (table, copied(table, 6))
    ]
    assert intervals[1] == pytest.approx(intervals[0])


def test_copies_are_noticed_and_said() -> None:
    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 20, (900, 4)), [20, 20, 20, 20], {0})
    assert copies(table) == 0
    assert copies_in_words(table) is None
    assert "name the column that tells whose they are" in (copies_in_words(copied(table, 2, declared=False)) or "")
    assert copies(copied(table, 2)) == 0, "whose they are is known"


def test_the_key_is_declared_on_the_command_line_and_nowhere_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whose = np.repeat(np.arange(200), 5)
    columns = {"age": rng.integers(18, 80, 200)[whose], "sex": rng.choice(["f", "m"], 200)[whose]}
    columns |= {name: rng.choice([*"abcdefghijkl"], 200)[whose] for name in ("town", "job", "street")}
    keys = [f"key-{i:05}" for i in whose]
    label = rng.choice(["no", "yes"], 1000)
    pl.DataFrame({"card": keys, **columns, "rich": label}).write_csv(tmp_path / "people.csv")
    data, artefact, judged = (str(tmp_path / name) for name in ("people.csv", "g.json", "e.json"))
    task = ["--label", "rich", "--personal", "sex", "--person", "card"]
    for words in (
        ["minimize", data, *task, "--minimizer", "uniform", "-o", artefact],
        [
            "evaluate",
            artefact,
            data,
            "--person",
            "card",
            "-a",
            "A1,A8",
            "--quick",
            "--predicates",
            "0",
            "-o",
            judged,
        ],
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        assert "key-" not in result.output
        assert "like a copy" not in result.output
    assert Generalization.load(artefact).schema.names == ("age", "sex", "town", "job", "street")
    certificate = Evaluation.load(judged).certificate
    assert certificate is not None
    assert certificate.people == 60
    assert "key-" not in Path(artefact).read_text("utf-8") + Path(judged).read_text("utf-8")
    result = CliRunner().invoke(app, ["evaluate", artefact, data, "-a", "A8", "--held-out", "--quick"])
    assert "like a copy" in result.output


def test_everything_that_is_said_of_people_counts_persons() -> None:
    """Two copies of everybody, whose they are being known, are as many people as one of each."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (400, 2))
    table = replace(table_of(codes, [4, 4], {1}), labels=None)
    twice = copied(table, 2)
    g = grouping(table, [[0, 1, 1, 1], [0, 0, 1, 1]])
    assert (table.headcount, twice.headcount, copied(table, 2, declared=False).headcount) == (400, 400, 800)
    attacks = [Reconstruction(Bayes).attack(Breach.of(g, population(each))) for each in (table, twice)]
    assert attacks[0].people == attacks[1].people == 400
    one, two = (SinglingOut(0).attack(Breach.of(g, population(each))) for each in (table, twice))
    assert one.crowds == two.crowds
    assert bucket_use(g, twice) == bucket_use(g, table)
    shares = [bucket_shares(g, each) for each in (twice, table)]
    assert all(shares[0][name] == pytest.approx(shares[1][name]) for name in ("a", "b"))


def test_a_person_is_once_in_a_crowd_and_in_a_group() -> None:
    """Whoever has several records hides as well as the rarest of them, and is one person of a group."""
    table = table_of([(0, 0), (0, 0), (1, 0), (1, 1)], [2, 2], {1})
    table = replace(table, persons=np.array([0, 0, 0, 1], dtype=np.intp))
    g = grouping(table, [[0, 1], [0, 0]])
    found = SinglingOut(0).attack(Breach.of(g, population(table)))
    assert (found.unique_people, found.people) == (1, 2), "the first is alone with (0), both share (1)"
    assert [(c.k, c.people_below) for c in found.crowds][:2] == [(2, 1.0), (3, 2.0)]
    assert table.people_in(np.array([0, 0, 1, 1])).tolist() == [1, 2]
    assert (table.alone_in(np.array([0, 0, 1, 1])), table.alone_in(np.array([0, 1, 2, 2]))) == (1, 1)
    assert table.each_once.use(0).tolist() == pytest.approx([2 / 3, 4 / 3])
