"""``leastwise export``."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars as pl
import pytest

from leastwise import Attribute, Generalization, Groups, Intervals
from leastwise.exports import Notice, form_html, questionnaire, record_schema, to_javascript, to_sql
from leastwise.partition import suppress
from tests.cli.running import Run

age = Attribute("age", "continuous", lower=0, integer=True, question="How old are you?")
job = Attribute("job, exactly", values=("1", "2"), other=True)
G = Generalization(
    (Intervals(age, (19, 63)), Groups(job, (0, 1, 0)), suppress(Attribute("sex", values=("f", "m")))),
    Attribute("rich", values=("0", "1")),
)


@pytest.fixture
def artefact(tmp_path: Path) -> Path:
    path = tmp_path / "g.json"
    G.save(path)
    return path


def test_each_kind_is_what_python_gives(run: Run, artefact: Path) -> None:
    kinds = {"sql": to_sql(G), "js": to_javascript(G), "form": form_html(G), "questionnaire": questionnaire(G)}
    for kind, wanted in kinds.items():
        assert run("export", artefact, "--to", kind).out == wanted
    assert json.loads(run("export", artefact, "--to", "json-schema").out) == record_schema(G)


def test_options_of_sql(run: Run, artefact: Path) -> None:
    options = [
        "--dialect",
        "duckdb",
        "--table",
        "main.p",
        "--view",
        "v",
        "--unknown",
        "other",
        "--answers",
        "codes",
    ]
    options += ["--texts", "age", "--numbers", "job, exactly", "--keep", "id", "--label"]
    query = run("export", artefact, "--to", "sql", *options).out
    with duckdb.connect() as connection:
        people = pl.DataFrame({"id": [7], "age": [" 20 "], "job, exactly": [2.0], "rich": [1]})
        connection.register("people", people)
        connection.execute("CREATE TABLE p AS SELECT * FROM people")
        connection.execute(query)
        assert connection.sql("SELECT * FROM v").pl().to_dicts() == [
            {"age": 1, "job, exactly": 1, "rich": "1", "id": 7}
        ]


def test_options_of_the_form(run: Run, artefact: Path) -> None:
    options = ["--action", "/records", "--helper", "--title", "Hello", "--label"]
    made = run("export", artefact, "--to", "form", *options).out
    assert made == form_html(G, "/records", helper=True, title="Hello", label=True)


def test_a_form_in_another_language(run: Run, artefact: Path, tmp_path: Path) -> None:
    german = run("export", artefact, "--to", "form", "--language", "de").out
    assert german == form_html(G, language="de")
    policy = tmp_path / "leastwise.yaml"
    policy.write_text(
        "format: leastwise-policy\nversion: 1\nnotice: {purpose: to help}\n"
        "form: {title: Two questions, languages: {fr: {title: Deux questions, notice: {purpose: pour aider}}}}\n"
    )
    options = ["export", artefact, "--to", "form", "--policy", policy]
    assert run(*options).out == form_html(G, title="Two questions", notice=Notice(purpose="to help"))
    french = run(*options, "--language", "fr").out
    assert all(text in french for text in ('<html lang="fr"', "Deux questions", "pour aider", "64 ou plus"))
    assert "<h1>Salut</h1>" in run(*options, "--language", "fr", "--title", "Salut").out
    assert "--language must be one of en, fr; got 'de'" in run(*options, "--language", "de").complaint


def test_a_file_is_not_overwritten(run: Run, artefact: Path, tmp_path: Path) -> None:
    target = tmp_path / "form.html"
    done = run("export", artefact, "--to", "form", "-o", target)
    assert (done.code, done.out) == (0, "")
    assert "wrote" in done.err
    assert "it exists already" in run("export", artefact, "--to", "js", "-o", target).complaint
    assert run("export", artefact, "--to", "js", "-o", target, "--force").code == 0
    assert target.read_text(encoding="utf-8") == to_javascript(G)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--to", "json"], "--to must be one of sql, js, json-schema, form, questionnaire, code-book; got 'json'"),
        (["--to", "form", "--dialect", "spark"], "--dialect is for --to sql; it means nothing for form"),
        (["--to", "js", "--label"], "--label is for --to sql and form and questionnaire"),
        (["--to", "sql", "--dialect", "spak"], "did you mean 'spark'"),
        (["--to", "sql", "--table", ""], "a table must have a name"),
        (["--to", "sql", "--texts", "aeg"], "there is no attribute 'aeg'; did you mean 'age'"),
        (["--to", "form", "--action", "javascript:alert(1)"], "action must be a path"),
        (["--to", "json-schema", "--answers", "words"], "--answers must be one of labels, codes"),
    ],
)
def test_mistakes(run: Run, artefact: Path, words: list[str], complaint: str) -> None:
    assert complaint in run("export", artefact, *words).complaint
