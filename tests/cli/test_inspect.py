"""``leastwise inspect`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise.schema.file import load_schema
from tests.cli.running import Run


def test_the_table_and_the_next_step(run: Run, people: Path) -> None:
    answer = run("inspect", people, "--label", "rich", "--missing", "?")
    assert (answer.code, answer.err) == (0, "")
    for words in (
        "200 records, 5 columns",
        "identifier",
        "left out",
        "non-personal",
        "whole numbers, 60 distinct",
    ):
        assert words in answer.out
    assert f"Next: more records. A run needs at least 300, and {people} has 200." in answer.out
    assert "leastwise run" not in answer.out
    assert "Left out: id (identifier: texts, 200 distinct in 200 records)" in answer.out
    assert "age: lower: 0, upper: 100" in answer.out


def test_the_next_step_of_records_that_are_enough(run: Run, people: Path, tmp_path: Path) -> None:
    header, *lines = people.read_text().splitlines()
    (tmp_path / "more.csv").write_text("\n".join([header, *lines, *lines]) + "\n")
    answer = run("inspect", tmp_path / "more.csv", "--label", "rich", "--missing", "?", "--survey-weights", "job")
    words = "--label rich --survey-weights job --missing '?' -o run"
    assert f"Next: leastwise run {tmp_path / 'more.csv'} {words}" in answer.out
    saved = run("inspect", tmp_path / "more.csv", "-l", "rich", "-o", tmp_path / "schema.yaml")
    assert f"Next: leastwise run {tmp_path / 'more.csv'} --schema {tmp_path / 'schema.yaml'} -o run" in saved.out


def test_a_mark_of_missing_values_is_pointed_out(run: Run, people: Path) -> None:
    assert "job: numbers but for '?'; if that means no answer: --missing '?'" in run("inspect", people).out


def test_json(run: Run, people: Path) -> None:
    document = json.loads(run("inspect", people, "-l", "rich", "-p", "age", "--missing", "?", "--json").out)
    roles = {column["name"]: column["role"] for column in document["columns"]}
    assert document["records"] == 200
    assert roles == {
        "age": "personal",
        "sex": "non-personal",
        "id": "left out",
        "job": "non-personal",
        "rich": "label",
    }


def test_the_schema_is_saved_but_an_edited_one_is_not_overwritten(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    answer = run("inspect", people, "-l", "rich", "--missing", "?", "-o", path)
    schema = load_schema(path)
    assert schema.names == ("age", "sex", "job")
    assert schema["job"].missing
    assert "# left out: id (identifier:" in path.read_text(encoding="utf-8")
    assert f"Wrote {path}" in answer.out
    assert "exists already" in run("inspect", people, "-l", "rich", "-o", path).complaint
    assert run("inspect", people, "-l", "rich", "-o", path, "--force").code == 0


def test_a_value_of_one_person_is_a_privacy_warning(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("sex,y\n" + "f,0\nm,1\n" * 10 + "secret,0\n", encoding="utf-8")
    answer = run("inspect", path, "-l", "y", "--at-least", 1, "-o", tmp_path / "schema.yaml")
    assert answer.err.startswith("privacy: values that only one record has are in the domain of 'sex'")
    assert len(answer.err.splitlines()) == 1
    assert "--at-least 2" in answer.err
    assert run("inspect", path, "-l", "y", "-o", tmp_path / "schema2.yaml").err == ""
    assert load_schema(tmp_path / "schema2.yaml")["sex"].values == ("f", "m")


def test_a_narrow_terminal_has_no_room_for_reasons(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leastwise.cli.inspect.width", lambda: 80)
    monkeypatch.setattr("leastwise.cli.output.width", lambda: 80)
    lines = run("inspect", people, "-l", "rich").out.splitlines()
    assert max(map(len, lines[:12])) <= 80
    assert "non-personal" in "\n".join(lines)
    assert "because" not in lines[2]


def test_the_user_overrules(run: Run, people: Path) -> None:
    words = ("-l", "rich", "--keep", "id", "--drop", "sex", "--discrete", "age", "--missing", "?")
    columns = json.loads(run("inspect", people, *words, "--json").out)["columns"]
    found = {column["name"]: (column["kind"], column["role"]) for column in columns}
    assert found["id"] == ("discrete", "personal")
    assert found["sex"] == ("text", "left out")
    assert found["age"] == ("discrete", "personal")


def test_control_signs_of_the_data_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "evil.csv"
    path.write_text("a\x1b[2Jb,y\n" + "x\x07,0\nz\x1b]0;t\x07,1\n" * 10, encoding="utf-8")
    answer = run("inspect", path, "-l", "y")
    assert answer.code == 0
    assert "\x1b[2J" not in answer.out
    assert "\x07" not in answer.out
