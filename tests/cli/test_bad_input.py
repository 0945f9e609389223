"""Bad files through the real command line: each gets one line and exit code 2, or a sensible result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Run

HEADER = "age,sex,y\n"
ROWS = "".join(f"{20 + i % 50},{'fm'[i % 2]},{i % 3 % 2}\n" for i in range(200))


def with_labels(label: Callable[[int], object]) -> str:
    return HEADER + "".join(f"{20 + i % 50},{'fm'[i % 2]},{label(i)}\n" for i in range(40))


@pytest.mark.parametrize("command", ["inspect", "minimize"])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "the file is empty"),
        (HEADER, "no records"),
        (HEADER + "1,f,0\n2,m\n3,f,1\n", "line 3 has 2 fields"),
        (HEADER + "1,f,0\n2,m,1,9\n3,f,1\n", "line 3 has 4 fields"),
        ("age,age,y\n" + ROWS, "more than one column is called 'age'"),
        ("age,sex,Y\n" + ROWS, "there is no column 'y'"),
        (with_labels(lambda i: 1), "two classes or more; found 1"),
        (with_labels(lambda i: f"c{i}"), "40 classes have one"),
        (with_labels(lambda i: "" if i == 3 else i), "missing in 1 of 40 records"),
        (with_labels(lambda i: "" if i == 3 else i % 2), "missing in 1 of 40 records"),
        (bytes(range(256)) * 9, "UTF-8"),
        ("^age$,sex,y\n" + ROWS, "a column must not be called '^age$'"),
        ("age,*,y\n" + ROWS, "a column must not be called '*'"),
    ],
    ids=lambda item: item if isinstance(item, str) and len(item) < 40 and "\n" not in item else "",
)
def test_refused(run: Run, tmp_path: Path, command: str, content: str | bytes, complaint: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert complaint in run(command, path, "--label", "y").complaint


@pytest.mark.parametrize("command", ["inspect", "minimize", "run"])
def test_several_labels_in_one_word_are_told_how(run: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    said = run(command, path, "--label", "y, sex").complaint
    assert said.endswith("there is no column 'y, sex'; several labels are named so: --label y --label sex")
    assert "did you mean 'y'" not in said
    assert "there are: age, sex, y" in run(command, path, "--label", "y,none").complaint


def test_a_folder_that_holds_more_than_records_is_told_by_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text(HEADER + ROWS, encoding="utf-8")
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = run("run", ".", "--label", "y", "-o", "out").complaint
    assert "'.' is a folder, which is read as a whole, and 'notes.md' in it holds no records; name" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("run", "x.csv", "--label"), "Option '--label' requires an argument"),
        (("export", "out", "--to"), "Option '--to' requires an argument"),
        (("run", "x.csv", "--quick=3"), "Option '--quick' does not take a value"),
    ],
)
def test_an_option_without_its_value(run: Run, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in run(*words).complaint


@pytest.mark.parametrize("command", ["inspect", "minimize"])
def test_no_file(run: Run, tmp_path: Path, command: str) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "directory" in run(command, folder, "-l", "y").complaint
    assert "no such file" in run(command, tmp_path / "none.csv", "-l", "y").complaint
    odd = tmp_path / "odd.xlsx"
    odd.write_text("x", encoding="utf-8")
    assert "not readable as a spreadsheet" in run(command, odd, "-l", "y").complaint
    unknown = tmp_path / "odd.docx"
    unknown.write_text("x", encoding="utf-8")
    assert "must end in" in run(command, unknown, "-l", "y").complaint
    broken = tmp_path / "broken.parquet"
    broken.write_text("x", encoding="utf-8")
    assert "not readable as parquet" in run(command, broken, "-l", "y").complaint


def columns(run: Run, path: Path, *words: str) -> dict[str, dict[str, object]]:
    found = json.loads(run("inspect", path, "-l", "y", *words, "--json").out)
    return {column["name"]: column for column in found["columns"]}


def test_a_column_without_values(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "missing.csv"
    path.write_text(HEADER + "".join(f",{'fm'[i % 2]},{i % 3 % 2}\n" for i in range(50)), encoding="utf-8")
    assert columns(run, path)["age"]["kind"] == "empty column"
    assert run("minimize", path, "-l", "y").code == 0
    kept = run("minimize", path, "-l", "y", "--set", "keep=age", "--json")
    assert kept.code == 0


def test_extreme_numbers(run: Run, tmp_path: Path) -> None:
    numbers = ["1e308", "NaN", "inf", "-inf", "-1e308", "0.5"]
    path = tmp_path / "extreme.csv"
    path.write_text(
        HEADER + "".join(f"{numbers[i % 6]},{'fm'[i % 2]},{i % 4 % 3 % 2}\n" for i in range(60)), encoding="utf-8"
    )
    age = columns(run, path)["age"]
    assert (age["kind"], age["missing"], age["distinct"]) == ("continuous", 10, 5)
    assert run("minimize", path, "-l", "y", "-m", "uniform", "--set", "k=3").code == 0


def test_a_hundred_thousand_categories(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text(
        HEADER + "".join(f"{i % 50},c{i // 2},{i % 3 % 2}\n" for i in range(200_000)), encoding="utf-8"
    )
    assert columns(run, path)["sex"]["role"] == "left out"
    assert run("minimize", path, "-l", "y", "-m", "uniform", "--set", "k=3").code == 0
    assert run("minimize", path, "-l", "y", "-m", "uniform", "--set", "k=3", "--set", "keep=sex").code == 0


def test_strange_column_names(run: Run, tmp_path: Path) -> None:
    names = ['a "quoted" name', "with, comma", "😀", "n" * 10_000, "two\nlines", " "]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = "".join(",".join("fm"[i // 2**j % 2] for j in range(6)) + f",{i % 3 % 2}\n" for i in range(128))
    path = tmp_path / "names.csv"
    path.write_text(f"{header},y\n{rows}", encoding="utf-8")
    assert list(columns(run, path)) == [*names, "y"]
    assert run("inspect", path, "-l", "y").code == 0
    schema = tmp_path / "schema.yaml"
    assert run("inspect", path, "-l", "y", "-p", "with, comma", "-p", "😀", "-o", schema).code == 0
    artefact = tmp_path / "g.json"
    assert run("minimize", path, "--schema", schema, "-o", artefact).code == 0
    found = json.loads(run("describe", artefact, "--json").out)
    assert [attribute["name"] for attribute in found["attributes"]] == names
    assert [attribute["name"] for attribute in found["attributes"] if attribute["personal"]] == names[1:3]


def test_an_edited_schema_shows_all_its_problems(run: Run, tmp_path: Path) -> None:
    data, schema = tmp_path / "data.csv", tmp_path / "schema.yaml"
    data.write_text(HEADER + ROWS, encoding="utf-8")
    schema.write_text(
        "format: leastwise-schema\nversion: 1\nattributes:\n"
        "- name: age\n  kind: continous\n- name: sex\n  value: [f, m]\n",
        encoding="utf-8",
    )
    answer = run("minimize", data, "--schema", schema)
    assert answer.code == 2
    for words in (
        f"{schema}: not a schema",
        "line 4, attributes[0]: kind",
        "line 7, attributes[1].value: unknown key",
    ):
        assert words in answer.err


def test_data_outside_the_schema(run: Run, tmp_path: Path) -> None:
    data, schema = tmp_path / "data.csv", tmp_path / "schema.yaml"
    data.write_text(HEADER + ROWS, encoding="utf-8")
    assert run("inspect", data, "-l", "y", "-o", schema).code == 0
    data.write_text(HEADER + ROWS + "33,x,1\n", encoding="utf-8")
    assert (
        "sex: 'x' in line 202 of data.csv is not in the declared domain"
        in run("minimize", data, "-s", schema).complaint
    )
    data.write_text("age,y\n30,1\n", encoding="utf-8")
    assert "no column 'sex'" in run("minimize", data, "-s", schema).complaint
