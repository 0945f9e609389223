"""Files that cannot be trusted: every problem is named, all at once, and nothing crashes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import ArtefactError, Attribute, Generalization, Groups, Intervals
from tests import strategies as own

AGE = Attribute("age", "continuous", lower=0, upper=120, integer=True, missing=True)
COLOUR = Attribute("colour", values=("red", "green", "blue"), other=True)
GOOD = Generalization(
    (Intervals(AGE, (19, 63)), Groups.of(COLOUR, [["red", "blue"]])), origin={"minimizer": "none"}
)

Document = dict[str, Any]


def broken(change: Callable[[Document], object]) -> list[str]:
    document = json.loads(GOOD.to_json())
    change(document)
    with pytest.raises(ArtefactError) as caught:
        Generalization.from_json(json.dumps(document))
    return list(caught.value.problems)


def buckets(document: Document, attribute: int = 0) -> list[Document]:
    found = document["attributes"][attribute]["buckets"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="other"), "format: must be 'leastwise-generalization'; got 'other'"),
        (lambda d: d.update(version=4), "version: this release reads versions 1, 2 and 3; got 4"),
        (lambda d: d.update(version=True), "version: this release reads versions 1, 2 and 3; got True"),
        (lambda d: d.update(atributes=1), "atributes: unknown key; did you mean 'attributes'?"),
        (lambda d: d.update(origin={"count": [1]}), "origin: must be a mapping to texts"),
        (lambda d: d.update(attributes={}), "attributes: must be a list"),
        (lambda d: d["attributes"].append(7), "attributes[2]: must be a mapping"),
        (lambda d: d["attributes"][0].update(kind="number"), "kind must be one of"),
        (lambda d: d["attributes"][0].update(lower="0"), "attributes[0].lower: must be a finite number; got '0'"),
        (lambda d: d["attributes"][0].update(lower=True), "attributes[0].lower: must be a finite number"),
        (lambda d: d["attributes"][0].update(name=""), "name must be a non-empty text"),
        (lambda d: d["attributes"][0].update(buckets=None), "attributes[0].buckets: must be a list of buckets"),
        (
            lambda d: buckets(d)[1].update(above=20),
            "a gap: the interval before ends at 19, this one begins above 20",
        ),
        (lambda d: buckets(d)[1].update(above=18), "an overlap: the interval before ends at 19"),
        (lambda d: buckets(d)[0].update(up_to=63.5), "write 63 instead of 63.5"),
        (lambda d: buckets(d)[0].update(above=5), "the first interval must be open below"),
        (lambda d: buckets(d)[0].update(missing=True), '"missing" must be in exactly one bucket; found in 2'),
        (lambda d: buckets(d)[3].clear(), "an empty bucket"),
        (lambda d: buckets(d)[0].update(values=[]), "unknown key"),
        (lambda d: buckets(d, 1)[0]["values"].append("pink"), "'pink' is not a declared value"),
        (lambda d: buckets(d, 1)[0]["values"].append("green"), "an overlap: 'green' is in two buckets"),
        (
            lambda d: buckets(d, 1)[0]["values"].remove("red"),
            "a gap: 1 of the declared values are in no bucket: 'red'",
        ),
        (lambda d: buckets(d, 1).append({}), "an empty bucket"),
        (lambda d: buckets(d, 1).pop(), '"other" must be in exactly one bucket; found in 0'),
        (lambda d: d["attributes"].append(d["attributes"][0]), "attribute 'age' is declared twice"),
    ],
)
def test_each_problem_is_named_with_its_place(change: Callable[[Document], object], words: str) -> None:
    assert any(words in problem for problem in broken(change)), broken(change)


def test_all_problems_come_at_once() -> None:
    def change(document: Document) -> None:
        document["extra"] = 1
        document["attributes"][0]["lower"] = "x"
        buckets(document, 1)[0]["values"].append("pink")

    assert len(broken(change)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{}", "format"),
        ("null", "must be a mapping"),
        ('{"format": 1, "format": 2}', "a key is repeated"),
        (GOOD.to_json().replace("63", "NaN"), "finite number"),
        (GOOD.to_json().replace("63", "1e999"), "finite number"),
        (GOOD.to_json().replace("63", "9" * 5000), "not JSON"),
        (" " * 33_000_000, "too large"),
    ],
)
def test_hostile_text_is_refused(text: str, words: str) -> None:
    with pytest.raises(ArtefactError, match=words):
        Generalization.from_json(text)


@given(own.generalizations(), st.data())
def test_a_file_cut_off_anywhere_is_refused(g: Generalization, data: st.DataObject) -> None:
    text = g.to_json().rstrip()
    with pytest.raises(ArtefactError):
        Generalization.from_json(text[: data.draw(st.integers(0, len(text) - 1))])


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.data(), json_values)
def test_any_replaced_part_is_read_or_refused_but_never_crashes(data: st.DataObject, junk: Any) -> None:
    document = json.loads(GOOD.to_json())
    place, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = junk
    try:
        Generalization.from_json(json.dumps(document))
    except ArtefactError as error:
        assert error.problems  # noqa: PT017 (most junk is refused, some is a valid artefact)


def hostile(count: int) -> dict[str, str]:
    """Files whose reader must not compare everything with everything."""
    declared, others = [f"value number {i}" for i in range(count)], [f"valu nr {i}" for i in range(count)]
    job = {"name": "job", "kind": "discrete", "values": declared}
    document = {"format": "leastwise-generalization", "version": 1}
    buckets = [{"values": declared}, {"values": others}]
    return {
        "undeclared values": json.dumps({**document, "attributes": [{**job, "buckets": buckets}]}),
        "unknown keys": json.dumps({**document, "attributes": [{**job, **dict.fromkeys(others, 1)}]}),
        "a repeated key": "{" + ",".join(['"a": 1'] * count * 6) + "}",
    }


@pytest.mark.parametrize("name", hostile(1))
def test_hostile_files_are_refused_at_once(name: str) -> None:
    start = time.process_time()
    with pytest.raises(ArtefactError) as error:
        Generalization.from_json(hostile(20_000)[name])
    assert time.process_time() - start < 5, "the slowest took minutes when it compared all with all"
    assert len(str(error.value)) < 50_000
