"""A policy says what it means, and every mistake in it is named with its line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Schema, save_schema
from leastwise.checks import DriftLimits
from leastwise.errors import ArtefactError
from leastwise.exports import FormTexts, Notice, Translation
from leastwise.minimizers.constraints import Constraints
from leastwise.policy import Policy, Processing, policy_text
from leastwise.policy.reading import as_number
from leastwise.runs.budget import Budget

HEAD = "format: leastwise-policy\nversion: 1\n"
SCHEMA = Schema(
    (
        Attribute("age", "continuous", lower=0, upper=99, integer=True),
        Attribute("sex", values=("f", "m"), personal=True, missing=True),
        Attribute("town", values=("1", "2", "03"), personal=True),
    ),
    Attribute("works", values=("no", "yes")),
)


FORM = """
form:
  title: Two questions
  language: en
  prefer_not_to_say: [sex]
  languages:
    de:
      name: Deutsch
      title: Zwei Fragen
      notice: {purpose: um zu helfen}
      questions: {age: Wie alt sind Sie?}
      units: {age: Jahren}
      answers: {town: {"1": "2", "03": Köln}}
      sentences: {Thank you: Danke}
    no: {}
"""


def test_how_people_are_asked(tmp_path: Path) -> None:
    save_schema(SCHEMA, tmp_path / "schema.yaml")
    form = Policy.from_yaml(f"{HEAD}schema: schema.yaml\n{FORM}", tmp_path).form
    german = Translation(
        name="Deutsch",
        title="Zwei Fragen",
        notice=Notice(purpose="um zu helfen"),
        questions={"age": "Wie alt sind Sie?"},
        units={"age": "Jahren"},
        answers={"town": {"1": "2", "03": "Köln"}},
        sentences={"Thank you": "Danke"},
    )
    languages = {"de": german, "no": Translation()}
    assert form == FormTexts("Two questions", prefer_not_to_say=("sex",), languages=languages)
    assert list(form.offered) == ["en", "de", "no"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("[sexx]", "there is no attribute 'sexx'; did you mean 'sex'"),
        ("[town]", "town may not be missing; declare missing: true for it in the schema"),
    ],
)
def test_prefer_not_to_say_is_checked_against_the_schema(tmp_path: Path, said: str, found: str) -> None:
    save_schema(SCHEMA, tmp_path / "schema.yaml")
    text = problems(f"schema: schema.yaml\nform:\n  prefer_not_to_say: {said}\n", tmp_path)
    assert found in text
    assert "line 5" in text


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("languages: {de_DE: {}}", "a language must be a tag such as de"),
        ("languages: {de: {titel: x}}", "did you mean 'title'"),
        ("languages: {de: {sentences: {Thanks: x}}}", "the form has no sentence 'Thanks'"),
        ("titel: x", "did you mean 'title'"),
    ],
)
def test_mistakes_in_the_texts_of_the_form(said: str, found: str) -> None:
    assert found in problems(f"form: {{{said}}}\n")


def problems(text: str, folder: Path | str = ".") -> str:
    with pytest.raises(ArtefactError) as error:
        Policy.from_yaml(HEAD + text, folder)
    return str(error.value)


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    save_schema(SCHEMA, tmp_path / "schema.yaml")
    (tmp_path / "leastwise.yaml").write_text(
        HEAD
        + """
data: people.csv
schema: schema.yaml
label: works
personal: [sex, town]
missing: ["?", "NA"]
seed: 7
quick: yes
grid: grid.yaml
generalization: run/recommended.json
promise: promise.json
previous: [old.json, older.json]
budget:
  max_error_increase: 0.01
  max_error: .25
  min_adversary_error: {sex: 0.45, mean: 4e-1}
  max_unique: 0
  max_buckets: 40
  max_asked: 2
constraints:
  max_buckets: {age: 5}
  max_buckets_in_all: 12
  edges: {age: [17, 64]}
  suppressed: []
  untouched: []
  together: {sex: [[f, missing]]}
  apart: {town: [[1, 03]]}
  min_people: 100
drift: {level: 0.001, share: 0.05, error: 0.02, adversary_error: 0.03, max_unseen: 0}
""",
        encoding="utf-8",
    )
    policy = Policy.load(tmp_path / "leastwise.yaml")
    assert policy.task.data == tmp_path / "people.csv"
    assert policy.task.options()["missing"] == ("?", "NA")
    assert policy.budget == Budget(
        max_error_increase=0.01, max_error=0.25, min_adversary_error={"sex": 0.45, "mean": 0.4}, max_unique=0,
        max_buckets=40, max_asked=2,
    )  # fmt: skip
    assert policy.constraints == Constraints(
        max_buckets={"age": 5}, max_buckets_in_all=12, edges={"age": [17, 64]}, together={"sex": [["f", None]]},
        apart={"town": [[1, "03"]]}, min_people=100,
    )  # fmt: skip
    assert policy.drift == DriftLimits(level=0.001, share=0.05, error=0.02, adversary_error=0.03, max_unseen=0)
    assert (policy.seed, policy.quick) == (7, True)
    assert policy.previous == (tmp_path / "old.json", tmp_path / "older.json")
    assert (policy.grid, policy.promise) == (tmp_path / "grid.yaml", tmp_path / "promise.json")


def test_what_is_left_out_has_its_default() -> None:
    assert Policy.from_yaml(HEAD) == Policy()
    assert Policy.from_yaml(HEAD + "data:\nbudget:\nmissing: '?'\n").task.missing == ("?",)


def test_all_problems_at_once_with_their_lines() -> None:
    found = problems(
        "labell: works\npersonal: works\nseed: -1\nquick: perhaps\nbudget: {max_eror: 0.1, max_error: 7}\n"
        "drift: {level: many}\nconstraints: {edges: {age: [a]}, together: {sex: [f, m]}}\n"
    )
    for text in (
        "line 3, labell: unknown key; did you mean 'label'?",
        "line 5, seed: must be a whole number from 0; got -1",
        "line 6, quick: must be true or false; got 'perhaps'",
        "budget.max_eror: unknown key; did you mean 'max_error'?",
        "line 7, budget: max_error must be between 0 and 1; got 7",
        "line 8, drift.level: must be a finite number; got 'many'",
        "constraints.edges.age: must be a list of numbers",
        "constraints.together.sex: must be a list of lists of values",
    ):
        assert text in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label: sex\npersonal: [sex]", "'sex' is the label"),
        ("personal: [sex]\nbudget: {min_adversary_error: {sexx: 0.4}}", "did you mean 'sex'?"),
        ("budget: 0.1", "budget: must be a mapping of keys"),
        ("budget: {max_unique: 1.5}", "must be a whole number"),
        ("budget: {max_unique: -1}", "whole number from 0"),
        ("drift: {share: 2}", "share must be between 0.0 and 1.0"),
        ("at_least: 0", "must be at least 1"),
        ("at_least: -3", "must be at least 1"),
        ("schema: none.yaml", "No such file"),
        ("data: [a, b]", "data: must be a text"),
        ("personal: {sex: yes}", "must be a list of texts"),
        ("seed: 1\nseed: 2", "key 'seed' is repeated"),
        ("data: &x people.csv", "anchors"),
        ("data: 'unclosed", "not YAML"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    assert message in problems(text)


def test_against_the_schema(tmp_path: Path) -> None:
    save_schema(SCHEMA, tmp_path / "schema.yaml")
    found = problems(
        "schema: schema.yaml\nlabel: work\npersonal: [sexx]\ndrop: [age]\n"
        "constraints: {suppressed: [agee]}\nbudget: {min_adversary_error: {age: 0.2}}\n",
        tmp_path,
    )
    for text in (
        "they must agree",
        "did you mean 'sex'?",
        "has no use beside schema",
        "there is no attribute 'agee'",
    ):
        assert text in found
    unmarked = "schema: schema.yaml\nbudget: {min_adversary_error: {age: 0.2}}"
    assert "no personal attribute 'age'" in problems(unmarked, tmp_path)


def test_another_format(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="must be 'leastwise-policy'"):
        Policy.from_yaml("format: leastwise-schema\nversion: 1")
    with pytest.raises(ArtefactError, match="reads version 1"):
        Policy.from_yaml("format: leastwise-policy\nversion: 2")
    with pytest.raises(ArtefactError, match="too large"):
        Policy.from_yaml(" " * 33_000_000)
    with pytest.raises(ArtefactError, match="leastwise init"):
        Policy.load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"\xe9")
    with pytest.raises(ArtefactError, match="not UTF-8"):
        Policy.load(tmp_path / "latin.yaml")


@settings(deadline=None)
@given(st.text(max_size=400))
def test_no_text_makes_it_crash(text: str) -> None:
    for whole in (text, HEAD + text, HEAD + "budget: " + text):
        with suppress(ArtefactError):
            Policy.from_yaml(whole)


PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


@settings(deadline=None)
@given(PLAIN, PLAIN, st.lists(PLAIN, unique=True, max_size=3), st.lists(PLAIN, max_size=3))
def test_a_new_policy_reads_back(data: str, label: str, personal: list[str], missing: list[str]) -> None:
    text = policy_text(data, label, [name for name in personal if name != label], missing, "g.json")
    policy = Policy.from_yaml(text)
    assert (policy.task.label, policy.task.missing) == (label, tuple(missing))
    assert policy.task.data == Path(data)
    assert (policy.task.personal or ()) == tuple(name for name in personal if name != label)
    assert (policy.generalization, policy.promise) == (Path("g.json"), None)


def test_every_commented_line_of_a_new_policy_is_right_too() -> None:
    lines = policy_text("people.csv", "income", ["sex"]).splitlines()
    document = yaml.safe_load("\n".join(_uncommented(lines)))
    assert set(document) >= {"constraints", "previous", "schema", "generalization", "promise"}
    assert set(document) >= {"decision", "notice", "processing"}
    assert set(document["notice"]) == {each.name for each in fields(Notice)}
    assert set(document["processing"]) == {each.name for each in fields(Processing)}
    del document["schema"], document["constraints"]["apart"]
    text = yaml.safe_dump(document)
    assert Policy.from_yaml(text).budget.max_asked == 6


def _uncommented(lines: list[str]) -> list[str]:
    """Take the comment sign away wherever what follows is a setting."""
    known = ("schema:", "generalization:", "promise:", "previous:", "constraints:", "max_", "min_", "mean:",
             "sex:", "suppressed:", "untouched:", "edges:", "together:", "apart:", "decision:", "notice:",
             "processing:", *(f"{each.name}:" for each in (*fields(Notice), *fields(Processing))))  # fmt: skip
    found = []
    for line in lines:
        bare = line.replace("# ", "", 1) if line.lstrip().startswith("#") else line
        found.append(bare if bare.lstrip().startswith(known) else line)
    return found


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), ("-0.5", -0.5), ("1_0", 10.0), ("inf", None), (None, None)]
)
def test_numbers(text: str | None, number: float | None) -> None:
    assert as_number(text) == number
