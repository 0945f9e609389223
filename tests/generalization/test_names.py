"""Names of buckets: carried by the artefact, shown by everything, and no part of what is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals
from leastwise.errors import ArtefactError, SchemaError
from leastwise.exports import code_book, questionnaire
from leastwise.generalization import json_schema
from leastwise.schema.names import LONGEST, Content, Named, name_problem
from leastwise.studio import as_python
from tests.strategies import generalizations

AGE = Attribute("age", "continuous", lower=0, integer=True, missing=True)
STATUS = Attribute("status", values=("single", "civil", "church", "widowed"), personal=True)
ASKED = Generalization(
    (
        Intervals(AGE.naming(Content(up_to=17), "minor"), (17,)),
        Groups(STATUS.naming(Content(frozenset({"civil", "church"})), "married"), (0, 1, 1, 0)),
    )
)
texts = st.text(max_size=LONGEST + 5).map(str.strip)


@st.composite
def named(draw: st.DrawFn) -> Generalization:
    """Return a generalization some of whose buckets have names."""
    plain, found = draw(generalizations()), []
    for partition in plain.partitions:
        attribute = partition.attribute
        for bucket in range(partition.size if partition.labels and not partition.suppressed else 0):
            name = draw(st.one_of(st.just(""), texts, st.sampled_from(["<b>", "a | b", "=1+1", "“x”", "0"])))
            if name and not name_problem(name):
                try:
                    attribute = attribute.naming(partition.content(bucket), name)
                except SchemaError:
                    continue  # another bucket has it, or it is a value
        found.append(partition.of_attribute(attribute))
        assume(not found[-1].clashing)
    return Generalization(tuple(found), plain.label, plain.origin)


@given(named())
def test_a_file_keeps_names_and_they_are_no_part_of_the_fingerprint(given: Generalization) -> None:
    text = given.to_json()
    back = Generalization.from_json(text)
    assert back.to_json() == text
    assert [p.labels for p in back.partitions if not p.suppressed] == [
        p.labels for p in given.partitions if not p.suppressed
    ]
    unnamed = Generalization(tuple(p.unnamed for p in given.partitions), given.label, given.origin)
    assert given.fingerprint == unnamed.fingerprint
    assert given == unnamed
    has = any(p.labels != p.unnamed.labels for p in given.partitions)
    assert json.loads(text)["version"] == (2 if has else 1)
    assert json.loads(unnamed.to_json())["version"] == 1
    made: dict[str, Generalization] = {}
    exec(as_python(given).replace("generalization.save('draft.json')", ""), made)
    assert made["generalization"].to_json() == text


@given(named())
def test_a_name_tells_its_bucket(given: Generalization) -> None:
    for partition in given.partitions:
        labels = partition.labels
        assert len({*labels}) == len(labels)
        for bucket, label in enumerate(labels if not partition.suppressed else ()):
            assert not partition.name(bucket) or label == partition.name(bucket)


def test_everything_says_the_name_and_what_it_stands_for() -> None:
    assert ASKED.transform({"age": 12, "status": "church"}) == {"age": "minor", "status": "married"}
    assert "    minor (0 to 17)" in ASKED.describe()
    assert "    married (civil or church)" in ASKED.describe()
    table = ASKED.describe(markdown=True)
    assert "| status (personal) | 2 | single or widowed · married |" in table
    assert "- status, “married”: civil, church" in table
    assert "married" in ASKED._repr_html_()
    assert "status,1,married,civil | church" in code_book(ASKED)
    assert "age,0,minor,0 to 17" in code_book(ASKED)
    asked = questionnaire(ASKED)
    assert "- [ ] minor (0 to 17)" in asked
    assert "- [ ] married (all of them: civil, church)" in asked


def test_a_merge_forgets_the_name_and_a_bucket_that_comes_back_has_it_again() -> None:
    status = ASKED["status"]
    apart = Groups(status.attribute, (0, 1, 2, 0))
    assert apart.labels == ("single or widowed", "civil", "church")
    assert apart.merge(1, 2).labels == status.labels
    assert ASKED["age"].merge(0, 2).labels == ("minor or missing", "18 or more")


def changed(change: Any) -> list[str]:
    document = json.loads(ASKED.to_json())
    change(document)
    with pytest.raises(ArtefactError) as caught:
        Generalization.from_json(json.dumps(document))
    return list(caught.value.problems)


def buckets(document: Any, attribute: int) -> Any:
    return document["attributes"][attribute]["buckets"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(version=1), "attributes[0].buckets[0].name: unknown key"),
        (lambda d: buckets(d, 1)[1].update(name=""), "a name must not be empty"),
        (lambda d: buckets(d, 1)[1].update(name=3), "must be a text"),
        (lambda d: buckets(d, 1)[1].update(name=" x"), "must not begin or end with a space"),
        (lambda d: buckets(d, 1)[1].update(name="x" * 81), "at most 80 characters; this one has 81"),
        (lambda d: buckets(d, 1)[1].update(name="a\u2028b"), "one line of visible text"),
        (lambda d: buckets(d, 1)[0].update(name="MARRIED"), "a name must be given once"),
        (lambda d: buckets(d, 1)[1].update(name="single or widowed"), "another bucket is called so"),
        (lambda d: buckets(d, 1)[1].update(name="Single"), "'single' is a value that it does not hold"),
        (lambda d: buckets(d, 0)[0].update(name="18 or more"), "another bucket is called so"),
        (lambda d: d["attributes"][1].update(names={"x": ["civil"]}), "names"),
    ],
)
def test_each_wrong_name_is_told_with_its_place(change: Any, words: str) -> None:
    assert any(words in problem for problem in changed(change)), changed(change)


def test_buckets_of_a_file_may_stand_in_any_order() -> None:
    document = json.loads(ASKED.to_json())
    buckets(document, 1).reverse()
    assert Generalization.from_json(json.dumps(document)).to_json() == ASKED.to_json()


def test_the_json_schema_knows_names() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(ASKED.to_json()), json.loads(json_schema()))


def test_names_of_nothing_known_are_refused() -> None:
    with pytest.raises(SchemaError, match="did you mean 'civil'"):
        STATUS.naming(Content(frozenset({"civl"})), "x")
    with pytest.raises(SchemaError, match="it names nothing"):
        Attribute("a", values=("b",), names=(Named("x", Content()),))
    with pytest.raises(SchemaError, match="above must be below up_to"):
        AGE.naming(Content(above=20, up_to=10), "x")
    with pytest.raises(SchemaError, match='the domain has no "other"'):
        STATUS.naming(Content(other=True), "x")
