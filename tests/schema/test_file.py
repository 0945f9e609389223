"""A schema as YAML: what is written comes back, and every problem of an edited file is named with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.documents import yaml as yaml_reading
from leastwise.errors import SchemaError
from leastwise.schema.attribute import Attribute
from leastwise.schema.file import HEADER, from_yaml, load_schema, save_schema, to_yaml
from leastwise.schema.schema import Schema
from leastwise.schema.values import text_of

HEAD = "format: leastwise-schema\nversion: 1\n"

# Words that YAML reads as something else, and characters that have a meaning in it.
WORDS = "yes no null ~ 01 1.0 0x1F 12:30 2024-01-01 a:b a#b ' \" *a &a !t %x ` | > {a} [a] a,b \\ --- ... ? : << ="
BREAKS = [
    "a: b",
    "a #b",
    "- a",
    " a ",
    "\n",
    "a\n\nb",
    "\t",
    "🙂",
    "é",
    "\u2028",
    "\x85",
    "\ufeff",
    "\x07",
    "a " * 150,
]
tricky = st.sampled_from([*WORDS.split(), *BREAKS])
texts = tricky | st.text(min_size=1)
domain_values = texts.filter(text_of)  # one that stands for no answer cannot be declared


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    shared: dict[str, Any] = {key: draw(st.booleans()) for key in ("missing", "other", "personal")}
    shared |= {"unit": draw(st.just("") | texts), "question": draw(st.just("") | texts)}
    if draw(st.booleans()):
        bounds = sorted(draw(st.sets(st.floats(-1e300, 1e300), min_size=2, max_size=2)))
        lower, upper = (bound if draw(st.booleans()) else None for bound in bounds)
        return Attribute(name, "continuous", lower=lower, upper=upper, **shared)
    values = draw(st.lists(domain_values, min_size=1, max_size=12, unique_by=text_of))
    labels = draw(st.just([]) | st.lists(texts, min_size=len(values), max_size=len(values), unique=True))
    kind: Any = draw(st.sampled_from(["ordinal", "discrete"]))
    return Attribute(name, kind, tuple(values), tuple(labels), **shared)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(texts, min_size=2, max_size=5, unique=True))
    classes = draw(st.lists(domain_values, min_size=2, max_size=3, unique_by=text_of))
    label = draw(st.none() | st.just(Attribute(names[0], values=tuple(classes))))
    return Schema(tuple(draw(attributes(name)) for name in names[1:]), label)


@settings(max_examples=150)
@given(schemas(), st.lists(texts, max_size=2))
def test_what_is_written_comes_back(schema: Schema, notes: list[str]) -> None:
    assert from_yaml(to_yaml(schema, notes)) == schema


@settings(max_examples=40)
@given(schemas())
def test_both_parsers_of_yaml_read_the_same(schema: Schema) -> None:
    text = to_yaml(schema)
    saved, yaml_reading._Loader = yaml_reading._Loader, yaml.SafeLoader
    try:
        assert from_yaml(text) == schema
    finally:
        yaml_reading._Loader = saved


def test_a_file_that_a_person_reads() -> None:
    age = Attribute("age", "continuous", lower=0, integer=True, unit="years")
    sex = Attribute("sex", values=("f", "m"), labels=("female", "male"), personal=True)
    text = to_yaml(Schema((age, sex), Attribute("income", values=("<=50K", ">50K"))), ["left out: id"])
    assert text == (
        HEADER
        + """\
#
# left out: id
format: leastwise-schema
version: 1
label:
  name: income
  values: [<=50K, '>50K']
attributes:
  - name: age
    kind: continuous
    lower: 0
    integer: true
    unit: years
  - name: sex
    kind: discrete
    values: [f, m]
    labels: [female, male]
    personal: true
"""
    )


def test_texts_stay_as_they_are_written() -> None:
    values = "[yes, 01, 1.0, null, ~, 'true', 0x1F, 12:30, 2024-01-01]"
    attribute = from_yaml(f"{HEAD}attributes:\n- name: 1.0\n  values: {values}\n  unit: no\n").attributes[0]
    assert (attribute.name, attribute.unit) == ("1.0", "no")
    assert attribute.values == ("yes", "01", "1.0", "null", "~", "true", "0x1F", "12:30", "2024-01-01")


def test_numbers_and_flags_are_read_by_their_key() -> None:
    body = "attributes:\n- {name: a, kind: continuous, lower: -1e3, upper: null, integer: yes, missing: False}\n"
    attribute = from_yaml(HEAD + body).attributes[0]
    assert (attribute.lower, attribute.upper, attribute.integer, attribute.missing) == (-1000, None, True, False)
    assert from_yaml(HEAD + "attributes:\n- {name: a, kind: continuous, lower: }").attributes[0].lower is None


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(SchemaError) as caught:
        from_yaml(text)
    return caught.value.problems


def test_all_problems_at_once_with_their_lines() -> None:
    text = HEAD + (
        "label:\n"
        "  name: b\n"
        "  kind: continuous\n"
        "attributes:\n"
        "- name: a\n"
        "  kind: continous\n"
        "- name: b\n"
        "  kind: continuous\n"
        "  lower: ten\n"
        "- name: c\n"
        "  value: [x]\n"
        "- name: d\n"
        "  values: [x, y, x]\n"
        "- name: d\n"
        "  name: e\n"
        "  values: {x: 1}\n"
        "- name: f\n"
        "  values: [x]\n"
        "- name: f\n"
        "  values: [x]\n"
        "extra: 1\n"
    )
    found = problems(text)
    expected = [
        ("line 17", "key 'name' is repeated (first in line 16)"),
        ("line 7, attributes[0]", "did you mean 'continuous'?"),
        ("line 11, attributes[1].lower", "must be a finite number; got 'ten'"),
        ("line 12, attributes[2]", "values must name at least one value"),
        ("line 13, attributes[2].value", "unknown key; did you mean 'values'?"),
        ("line 14, attributes[3]", "value 'x' is listed twice"),
        ("line 18, attributes[4].values", "must be a list of texts; got a mapping"),
        ("line 23, extra", "unknown key"),
        ("line 21, attributes[6].name", "attribute 'f' is declared twice"),
    ]
    for place, words in expected:
        assert any(problem.startswith(f"{place}: ") and words in problem for problem in found), (place, found)
    assert len(found) == len(expected), found


def test_a_label_that_is_a_number_has_no_missing_value() -> None:
    body = "label: {{name: y, kind: continuous, unit: years{more}}}\nattributes:\n- {{name: a, values: [x]}}\n"
    found = from_yaml(HEAD + body.format(more=""))
    assert found.label == Attribute("y", "continuous", unit="years")
    assert from_yaml(to_yaml(found)) == found
    (problem,) = problems(HEAD + body.format(more=", missing: yes"))
    assert "must be known of everybody" in problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a mapping of keys"),
        ("# only a comment\n", "must be a mapping of keys"),
        ("- a\n", "must be a mapping of keys; got a list"),
        ("a: [\n", "line 2, column 1: not YAML"),
        ("a: b: c\n", "line 1, column 5: not YAML"),
        ("\tkey: 1", "line 1"),
        ("a: \x00", "not YAML"),
        ("a: \ud800", "not valid Unicode"),
        ("--- 1\n--- 2\n", "line 2: a second document"),
        ("a: &x [1]\nb: *x\n", "line 1: anchors"),
        ("a: !!python/object/apply:os.system [ls]\n", "line 1: tags are not allowed"),
        ("? [a]\n: b\n", "a key must be a word"),
        ("[" * 100_000, "nested too deeply"),
        ("{a: " * 100_000, "nested too deeply"),
        ("- " * 5_000, "nested too deeply"),
        ("a: &a [x]\n" + "".join(f"b{i}: *a\n" for i in range(9)), "references"),
        ("x" * 40_000_000, "too large"),
        ("format: leastwise-generalization\nversion: 1\n", "must be 'leastwise-schema'"),
        ("format: leastwise-schema\nversion: 2\n", "this release reads version 1; got 2"),
        ("format: leastwise-schema\nversion: yes\n", "this release reads version 1; got 'yes'"),
        (HEAD, "name at least one attribute"),
        (HEAD + "attributes: x\n", "must be a list"),
        (HEAD + "attributes: [{name: a, kind: continuous, lower: .inf}]", "finite"),
        (HEAD + "attributes: [{name: a, kind: continuous, lower: 9" + "9" * 500 + "}]", "finite"),
        (HEAD + "attributes: [{name: a, kind: continuous, missing: maybe}]", "must be true or false; got 'maybe'"),
        (HEAD + "<<: {a: 1}\nattributes: [{name: a, kind: continuous}]", "unknown key"),
        (
            HEAD + "label: {name: a, values: [x]}\nattributes: [{name: a, values: [x]}]",
            "the label and an attribute",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(text: str, message: str) -> None:
    assert message in "\n".join(problems(text))


@settings(max_examples=200)
@given(st.text(alphabet="ab:-[]{}#&*!|>'\"\n ,?%@~", max_size=40))
def test_no_text_crashes_the_reader(text: str) -> None:
    assert problems(HEAD + "attributes:\n- kind: x\n" + text)


def test_files(tmp_path: Path) -> None:
    schema = Schema((Attribute("größe 🙂", "continuous"),))
    path = tmp_path / "schema.yaml"
    save_schema(schema, path)
    assert load_schema(path) == schema
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_schema(path) == schema
    path.write_text(HEAD, encoding="utf-8")
    with pytest.raises(SchemaError, match=r"schema\.yaml: not a schema that can be used: line 1, attributes"):
        load_schema(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SchemaError, match="not UTF-8"):
        load_schema(path)
    with pytest.raises(SchemaError, match="No such file"):
        load_schema(tmp_path / "none.yaml")
    with pytest.raises(SchemaError, match="directory"):
        load_schema(tmp_path)


def test_a_large_domain_is_written_and_read_in_reasonable_time() -> None:
    schema = Schema((Attribute("code", values=tuple(f"v{i}" for i in range(10_000))),))
    assert from_yaml(to_yaml(schema)) == schema
