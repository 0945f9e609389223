"""Records that stay where they are, on the command line: one answer, whoever counts and however they are cut."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import leastwise
from leastwise.checks import Promise
from leastwise.errors import DataError, ParameterError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.partition import suppress
from leastwise.records.sources import Source
from leastwise.records.sources.polars import Polars
from leastwise.runs import Budget, Grid
from leastwise.runs import Run as StoredRun
from leastwise.schema.file import to_yaml
from tests.cli.running import Run
from tests.runs.small import SCHEMA, content, records, write_csv

GRID = "format: leastwise-grid\nversion: 1\nminimizers:\n  - name: uniform\n    k: [2, 3]\n"
pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")


@pytest.fixture
def people(tmp_path: Path) -> pl.DataFrame:
    return pl.read_csv(write_csv(tmp_path / "small.csv", records(1200)))


@pytest.fixture
def words(tmp_path: Path) -> list[object]:
    (tmp_path / "grid.yaml").write_text(GRID, encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(to_yaml(SCHEMA), encoding="utf-8")
    usual = ["--schema", tmp_path / "schema.yaml", "--grid", tmp_path / "grid.yaml", "--quick", "--jobs", 1]
    return [*usual, "--set", "most=1", "--sample", 600]


def parts(frame: pl.DataFrame, folder: Path) -> Path:
    folder.mkdir()
    for i, (start, end) in enumerate(((0, 0), (0, 500), (500, 501), (501, frame.height))):
        frame[start:end].write_parquet(folder / f"{i}.parquet")
    return folder


def database(frame: pl.DataFrame, path: Path) -> str:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:{path}"


def judged(folder: Path) -> dict[str, bytes]:
    return {name: text for name, text in content(folder).items() if name.startswith(("evaluations", "frontier"))}


@pytest.mark.slow
def test_files_and_a_database_give_the_same_bytes_and_a_stopped_run_goes_on(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, stored = parts(people, tmp_path / "parts"), database(people, tmp_path / "people.db")
    answer = run("run", files, *words, "-o", tmp_path / "one")
    assert answer.code == 0, answer.err
    found = StoredRun.load(tmp_path / "one")
    assert found.task.source is not None
    tested = found.task.source.tested
    assert (found.task.source.records, found.task.source.engine) == (1200, "DuckDB")
    assert found.task.records.test < tested == found.frontier.points[0].test.people
    assert f"judged and certified on all {tested:,} of the test part" in answer.out
    assert f"all {tested:,} of the test part" in (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    evaluation = found.evaluation(found.frontier.points[0].id)
    assert evaluation["A1"].people == evaluation["A8"].people == evaluation.people.test == tested
    assert evaluation["A7"].people < tested, "who knows more is judged on the sample"
    check_that_figures_are_of_the_same_people(found)
    report = (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
    assert f"Records: parts, 1,200 people in DuckDB; of a sample of {found.task.source.sampled:,} " in report
    assert f"all {tested:,} of the test part to report on" in report
    sampled = f"All else is of the {found.task.records.test:,} of them in the sample."
    assert f", on all {tested:,} people. {sampled}" in report, "A3 is beside A1 of more people"

    def lost(*_: Any) -> Any:
        raise DataError("the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr(Source, "counted", lost)
        again = run("run", stored, "--table", "people", *words, "-o", tmp_path / "two")
    assert again.code == 2
    assert "the connection is gone" in again.err
    assert run("run", stored, "--table", "people", *words, "-o", tmp_path / "two").code == 0
    assert judged(tmp_path / "one") == judged(tmp_path / "two")
    with duckdb.connect(str(tmp_path / "people.db")) as connection:
        connection.execute("DELETE FROM people WHERE rowid = 7")
    changed = run("run", stored, "--table", "people", *words, "-o", tmp_path / "two")
    assert "holds a run of another task" in changed.err


def check_that_figures_are_of_the_same_people(found: StoredRun) -> None:
    """What stands in one sentence is of the same people: errors, what is lost, and what frames them."""
    frontier, (point, *_) = found.frontier, found.frontier.points
    tested = found.task.source.tested if found.task.source else 0
    judged = (frontier.untouched, frontier.suppressed, point.test)
    assert {figures.people for figures in judged} == {figures.attacked for figures in judged} == {tested}
    for figures in judged:
        assert figures.increase is not None
        lost = figures.utility_risk - frontier.untouched.utility_risk
        assert figures.increase.mean == pytest.approx(lost), "the verdict is about the errors beside it"
    evaluation = found.evaluation(point.id)
    assert evaluation.everything is not None
    assert evaluation.nothing is not None
    assert evaluation.everything.error == frontier.untouched.utility_risk
    assert evaluation["A1"].baseline == pytest.approx(frontier.suppressed.adversary_error)


@pytest.mark.slow
def test_where_not_everything_is_told_of_all_the_models_errors_are_of_the_sample(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path
) -> None:
    answer = run("run", parts(people, tmp_path / "parts"), *words, "--min-count", 3, "-o", tmp_path / "one")
    assert answer.code in (0, 1), answer.err
    found = StoredRun.load(tmp_path / "one")
    source, frontier, point = found.task.source, found.frontier, found.frontier.points[0]
    assert source is not None
    few = found.task.records.test
    assert {each.people for each in (frontier.untouched, frontier.suppressed, point.test)} == {few}
    assert {each.attacked for each in (frontier.suppressed, point.test)} == {source.tested}
    assert point.test.increase is not None
    lost = point.test.utility_risk - frontier.untouched.utility_risk
    assert point.test.increase.mean == pytest.approx(lost)
    assert f"attacked and certified on all {source.tested:,} of the test part" in answer.out
    assert "counts below 3 stayed there, and who is behind them counts as told and alone" in answer.out
    assert f"How often the model errs is of the {few:,} of them in the sample" in answer.out
    table = (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
    alone = frontier.untouched.unique_people
    assert f"| {alone:,} of {few:,} |" in table, "those of the sample do not stand beside those of all as if alike"
    (share,) = Budget(max_unique_share=0.0).limits(point.test, 0.0)
    assert share.now == point.test.unique_people / source.tested, "of all who were counted"


@pytest.mark.slow
def test_a_run_that_is_stopped_in_a_query_goes_on_behind_it(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, counted, asked = parts(people, tmp_path / "parts"), Source.counted, list[str]()
    words = ["most=3" if word == "most=1" else word for word in words]

    def stopped(self: Source, generalization: Any, places: Any) -> Any:
        asked.append(generalization.fingerprint)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return counted(self, generalization, places)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Source, "counted", stopped)
        answer = run("run", files, *words, "-o", tmp_path / "run")
    assert answer.code == 130
    assert "what is finished is kept" in answer.err
    first, behind = asked[0], asked[1:]
    asked[:] = ["", "", ""]  # nobody is stopped any more
    monkeypatch.setattr(Source, "counted", stopped)
    assert run("run", files, *words, "-o", tmp_path / "run").code == 0
    assert behind[0] in asked
    assert first not in asked, "what was counted is not counted again"
    monkeypatch.undo()
    assert run("run", files, *words, "-o", tmp_path / "at once").code == 0
    assert judged(tmp_path / "run") == judged(tmp_path / "at once")


def test_evaluate_and_explain(run: Run, people: pl.DataFrame, tmp_path: Path) -> None:
    rare = people.with_columns(town=pl.Series(["far"] * 3 + people["town"].to_list()[3:]))
    stored = database(rare, tmp_path / "people.db")
    g = leastwise.UniformMinimizer(k=2, random_state=0).minimize(records(300))
    g = g.replacing(suppress(SCHEMA["town"]))
    g.save(tmp_path / "g.json")
    usual = ("evaluate", tmp_path / "g.json", stored, "--table", "people", "--quick", "--held-out")
    shown = run(*usual, "--explain")
    assert shown.code == 0, shown.err
    assert "GROUPING SETS" in shown.out
    assert "reads " in shown.out
    answer = run(*usual, "--adversaries", "A1,A8", "--json")
    assert answer.code == 0, answer.err
    exact = Evaluation.from_json(answer.out)
    learned = Evaluation.from_json(run(*usual, "--adversaries", "A1", "--json", "--set", "learn_all=true").out)
    assert learned["A1"].adversary_error <= exact["A1"].adversary_error
    few = run(*usual, "--adversaries", "A8", "--json", "--sample", 300)
    assert few.code == 0, "what the sample did not show is completed from everything"
    careful = run(*usual, "--adversaries", "A1,A8", "--json", "--min-count", 8)
    loose = Evaluation.from_json(careful.out)
    assert loose.certificate is not None
    assert exact.certificate is not None
    told = run(*usual, "--adversaries", "A1,A3", "--sample", 600).out
    assert "people" in told.partition("higher is safer")[2].split("most told")[0], "A1 and A3 are of other people"
    assert f" {exact['A1'].people:,.0f} " in told.partition("higher is safer")[2].partition("A3 ")[0]
    few_shown = run(*usual, "--adversaries", "A8", "--min-count", 8, "--sample", 600).out
    assert re.search(r"Of \d+ people of the sample", few_shown), few_shown
    assert loose.certificate.mean.bound >= exact.certificate.mean.bound
    assert json.loads(careful.out)["people"] == json.loads(answer.out)["people"]


def test_a_studio_opens_on_the_sample_of_a_run(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = list[Any]()
    monkeypatch.setattr("leastwise.studio.serve", lambda room, *_, **__: rooms.append(room))
    stored, folder = database(people, tmp_path / "people.db"), tmp_path / "run"
    made = run("run", stored, "--table", "people", *words, "-o", folder)
    assert made.code == 0, made.err
    assert "stayed in DuckDB" in run("studio", folder).err
    assert "the same --table, --key, --sample" in run("studio", folder, stored, "--table", "people").err
    opened = run("studio", folder, stored, "--table", "people", "--sample", 600)
    assert opened.code == 0, opened.err
    assert len(rooms) == 1
    found = StoredRun.load(folder)
    assert len(rooms[0].ground.table) == found.task.source.sampled if found.task.source else False


def test_a_studio_begins_a_run_of_a_folder_of_record_files(
    run: Run, people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(described: Any, *_: Any) -> None:
        raise ParameterError(f"begun on {described.data}")

    monkeypatch.setattr("leastwise.cli.studio._begun", begun)
    files = parts(people, tmp_path / "parts")
    assert f"begun on {files}" in run("studio", files, "--label", "rich").err
    (tmp_path / "empty").mkdir()
    assert "is no run" in run("studio", tmp_path / "empty").err


def test_bad_addresses_are_answered_in_one_line(run: Run, words: list[object], tmp_path: Path) -> None:
    assert "no such file" in run("run", tmp_path / "*.parquet", *words).complaint
    assert "no such database" in run("run", "duckdb:nowhere.db", "--table", "t", *words).complaint
    (tmp_path / "x.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert "no column" in run("run", tmp_path / "x.csv", "--key", "c", *words).err
    assert "--table is for databases" in run("run", tmp_path / "x.csv", "--table", "t", *words).complaint
    assert "one for each person" in run("run", tmp_path / "x.csv", "--key", "a", "--person", "b", *words).complaint


@pytest.mark.parametrize("kind", ["files", "duckdb", "sqlite", "postgresql"])
def test_what_init_writes_of_a_run_can_be_run_again(
    kind: str,
    run: Run,
    people: pl.DataFrame,
    words: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    people = people.with_row_index("number")
    address, more = _stored(kind, people, tmp_path, request)
    made = run("run", address, *more, "--key", "number", *words, "--max-error-increase", 0.5, "-o", "run")
    assert made.code == 0, made.err
    answer = judged(tmp_path / "run")
    (tmp_path / "policies").mkdir()
    said = run("init", "--run", "run", "-o", "policies/leastwise.yaml")
    assert "correct 'data'" not in said.err
    text = (tmp_path / "policies" / "leastwise.yaml").read_text(encoding="utf-8")
    assert "secret" not in text + (tmp_path / "run" / "task.json").read_text(encoding="utf-8")
    monkeypatch.setenv("PGPASSWORD", "secret")
    again = ("--policy", "policies/leastwise.yaml", "--grid", "grid.yaml", "--jobs", 1, "--set", "most=1")
    resumed = run("run", *again, "-o", "run")
    assert (resumed.code, resumed.out) == (0, made.out), "the same task: nothing is left to be done"
    anew = run("run", *again, "-o", "anew")
    assert anew.code == 0, anew.err
    assert judged(tmp_path / "anew") == answer
    checked = run("check", "policies/leastwise.yaml")
    assert "1,200 records were checked" in checked.out, checked.err


def _stored(
    kind: str, people: pl.DataFrame, folder: Path, request: pytest.FixtureRequest
) -> tuple[str, tuple[str, ...]]:
    """Put people somewhere; return the address, with a secret where there can be one, and the table."""
    if kind == "files":
        return f"{parts(people, folder / 'parts').name}/*.parquet", ()
    if kind == "duckdb":
        database(people, folder / "people.db")
        return "duckdb:people.db", ("--table", "people")
    if kind == "sqlite":
        with closing(sqlite3.connect(folder / "people.db")) as connection:
            connection.execute(f"CREATE TABLE people ({', '.join(people.columns)})")
            connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * people.width)})", people.rows())
            connection.commit()
        return "sqlite:people.db", ("--table", "people")
    import psycopg

    url = request.getfixturevalue("postgres_url").replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        columns = ", ".join(f"{n} {'bigint' if d.is_integer() else 'text'}" for n, d in people.schema.items())
        connection.execute(f"CREATE TABLE people ({columns})".encode())
        with connection.cursor() as cursor:
            values = ", ".join(["%s"] * people.width)
            cursor.executemany(f"INSERT INTO people VALUES ({values})".encode(), people.rows())
    return f"{url}&password=secret", ("--table", "people")


def test_a_policy_says_what_is_wrong_with_its_source(run: Run, tmp_path: Path) -> None:
    text = 'format: leastwise-policy\nversion: 1\ndata: "duckdb:x.db"\nsample: 10\nmin_count: 0\n'
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    said = run("run", "--policy", tmp_path / "p.yaml").err
    assert "sample: must be at least 300; got 10" in said
    assert "min_count: must be at least 1; got 0" in said


def test_a_table_that_is_not_there_is_answered_with_those_that_are(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for kind in ("duckdb", "sqlite", "postgresql"):
        folder = tmp_path / kind
        folder.mkdir()
        address, _ = _stored(kind, people, folder, request)
        if kind != "postgresql":
            address = address.replace("people.db", str(folder / "people.db"))
        known = (address, "--key", "age", *words)
        assert run("run", *known).complaint.endswith("--table; there are: people")
        said = run("run", *known, "--table", "peeple").complaint
        assert said.endswith("there is no table 'peeple'; did you mean 'people'?")


def test_a_view_has_no_row_numbers_and_needs_a_key(run: Run, people: pl.DataFrame, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age; CREATE VIEW seen AS SELECT * FROM people")
    with closing(sqlite3.connect(tmp_path / "b.db")) as other:
        other.execute("CREATE TABLE people (age)")
        other.execute("INSERT INTO people VALUES (1)")
        other.execute("CREATE VIEW seen AS SELECT * FROM people")
        other.execute("CREATE TABLE bare (age PRIMARY KEY) WITHOUT ROWID")
        other.commit()
    for address, table in (("duckdb:a.db", "seen"), ("sqlite:b.db", "seen"), ("sqlite:b.db", "bare")):
        scheme, _, name = address.partition(":")
        said = run("run", f"{scheme}:{tmp_path / name}", "--table", table, "--label", "age").complaint
        assert f"'{table}' has no row numbers" in said
        assert said.endswith("--key")


def test_minimize_takes_a_lazy_frame_and_infers(people: pl.DataFrame, tmp_path: Path) -> None:
    from leastwise.minimizers import UniformMinimizer

    found = leastwise.minimize(
        people.lazy(),
        "rich",
        ["job", "sex"],
        grid=Grid.of(UniformMinimizer(k=2, random_state=0)),
        quick=True,
        jobs=1,
        sample=700,
        folder=tmp_path / "run",
        progress=None,
    )
    assert found.task.source is not None
    assert found.task.source.engine == "Polars"
    assert found.schema["job"].values == SCHEMA["job"].values


def test_a_date_is_asked_by_its_year_where_it_lies(run: Run, people: pl.DataFrame, tmp_path: Path) -> None:
    days = pl.date_range(pl.date(1960, 1, 1), pl.date(1999, 12, 31), eager=True).gather_every(12)[: people.height]
    dated = people.with_columns(days.dt.to_string().alias("born"))
    (tmp_path / "grid.yaml").write_text(GRID, encoding="utf-8")
    usual = ("-l", "rich", "--grid", tmp_path / "grid.yaml", "--quick", "-j", 1)
    task = (parts(dated, tmp_path / "parts"), *usual, "--set", "most=1", "--sample", 600)
    done = run("run", *task, "--set", "derive=born=decade of YYYY-MM-DD", "-o", tmp_path / "run")
    assert done.code in (0, 1), done.err
    found = StoredRun.load(tmp_path / "run")
    assert found.schema["born"].derive == "decade of YYYY-MM-DD"
    assert found.task.source is not None


@pytest.mark.slow
def test_groups_of_records_that_stay_are_judged_on_the_sample(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path
) -> None:
    more = ["--set", "groups=sex", "--set", "max_group_gap=0.5", "-o", tmp_path / "one"]
    answer = run("run", parts(people, tmp_path / "parts"), *words, *more)
    assert answer.code == 0, answer.err
    found = StoredRun.load(tmp_path / "one")
    assert found.groups is not None
    assert sum(each.people for each in found.groups.groups) == found.task.records.test
    point = found.frontier.points[0]
    assert point.test.people > found.task.records.test
    assert point.test.groups is not None, "the limit is held on the test part, too"
    assert {*point.test.groups.increases["sex"]} == {"f", "m"}
    assert run("choose", tmp_path / "one", "--max-group-gap", 0.5).code == 0


def test_groups_that_the_source_does_not_have_are_refused(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path
) -> None:
    answer = run("run", parts(people, tmp_path / "parts"), *words, "--set", "groups=sexx", "-o", tmp_path / "one")
    assert answer.code == 2
    assert "groups: there is no attribute" in answer.err.splitlines()[-1]


def test_train_and_monitor_count_generalized_records_where_they_lie(
    run: Run, people: pl.DataFrame, tmp_path: Path
) -> None:
    g = leastwise.UniformMinimizer(k=2, random_state=0).minimize(records(300))
    g.save(tmp_path / "g.json")
    coarse = g.transform(people)
    coarse = coarse if "rich" in coarse.columns else coarse.with_columns(people["rich"])
    coarse.write_parquet(tmp_path / "coarse.parquet")
    stored = database(coarse, tmp_path / "coarse.db")
    at = (stored, "--table", "people")
    usual = ("--json", "--estimator", "sklearn.tree.DecisionTreeClassifier")
    read = run("train", tmp_path / "g.json", tmp_path / "coarse.parquet", *usual, "-o", tmp_path / "a.skops")
    counted = run("train", tmp_path / "g.json", *at, *usual, "-o", tmp_path / "b.skops")
    full = (database(people, tmp_path / "full.db"), "--table", "people", "--full")
    made = run("train", tmp_path / "g.json", *full, *usual, "-o", tmp_path / "c.skops")
    facts = [json.loads(each.out) for each in (read, counted, made)]
    assert {each["trained"] for each in facts} == {1200}
    assert facts[1] | {"files": []} == facts[2] | {"files": []}, "generalized here or there"
    assert abs(facts[0]["error"] - facts[1]["error"]) < 0.06, "another part was held out"
    shown = run("train", tmp_path / "g.json", *at, "--explain", "-o", tmp_path / "d.skops")
    assert shown.code == 0, shown.err
    assert "counting generalized records: reads " in shown.out
    assert not (tmp_path / "d.skops").exists()
    refused = run("train", tmp_path / "g.json", *full[:3], *usual, "-o", tmp_path / "e.skops")
    assert refused.code == 2
    assert "label of a bucket" in refused.err


def test_monitor_finds_the_same_by_counts(run: Run, people: pl.DataFrame, tmp_path: Path) -> None:
    g = leastwise.UniformMinimizer(k=2, random_state=0).minimize(records(300))
    g.save(tmp_path / "g.json")
    table = records(1200)
    found = leastwise.evaluate(g, table, ["A1", "A8"], 100, quick=True, held_out=True)
    Promise.of(g, table.split(100).test, found).save(tmp_path / "promise.json")
    coarse = g.transform(people)
    coarse.write_parquet(tmp_path / "coarse.parquet")
    stored = database(coarse, tmp_path / "coarse.db")
    usual = ("--promise", tmp_path / "promise.json", "--json")
    read = run("monitor", tmp_path / "g.json", tmp_path / "coarse.parquet", *usual)
    counted = run("monitor", tmp_path / "g.json", stored, "--table", "people", *usual)
    assert (read.code, json.loads(read.out)) == (counted.code, json.loads(counted.out))
    few = run("monitor", tmp_path / "g.json", stored, "--table", "people", "--min-count", 5, *usual)
    assert "people whose record fewer than 5 have" in few.err


def test_samples_are_drawn_for_minimum_sample_and_experiments(
    run: Run, people: pl.DataFrame, words: list[object], tmp_path: Path
) -> None:
    files = parts(people, tmp_path / "parts")
    declared = ("--schema", tmp_path / "schema.yaml")
    usual = ("minimum-sample", files, *declared, "--sizes", "100,200", "--repetitions", 1, "--json")
    found = json.loads(run(*usual).out)
    fewer = json.loads(run(*usual, "--sample", 600).out)
    assert (
        fewer["records"]
        < found["records"]
        == len(Source(Polars(people.lazy()), SCHEMA).sample(10**6).split(0).train)
    )
    shown = run(*usual, "--explain")
    assert "drawing a sample" in shown.out
    assert "candidate" not in shown.out
    assert "no use here" in run(*usual, "--min-count", 5).complaint
    wanted = ("experiment", "seeds", "--quick", "--data", files, "-o", tmp_path / "experiments")
    assert "need --schema" in run(*wanted, "--sample", 600).complaint
