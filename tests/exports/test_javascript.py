"""The exported JavaScript does what Python does: in Node, and in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Generalization, Groups, Intervals
from leastwise.exports import to_javascript
from leastwise.exports.javascript import plan
from leastwise.partition import suppress
from tests.apply.cases import generalized_columns
from tests.exports.engines import by_text
from tests.exports.node import Node, node  # noqa: F401  (a fixture)
from tests.strategies import generalizations, values

CONFORMANCE = Path(__file__).parent.parent / "conformance" / "apply.json"
CASES = json.loads(CONFORMANCE.read_text(encoding="utf-8"))["cases"]
OUTPUTS = st.sampled_from(["labels", "codes"])
UNKNOWN = st.sampled_from(["error", "other"])
SHARED = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])

age = Attribute("age", "continuous", lower=0, integer=True)
G = Generalization((Intervals(age, (19, 63)), suppress(Attribute("sex", values=("f", "m")))))


def expected(g: Generalization, record: dict[str, Any], output: Any, unknown: Any) -> dict[str, Any]:
    try:
        return {"record": by_text([g.transform(record, output, unknown=unknown)])[0]}
    except DataError:
        return {"error": True}


def found(answer: dict[str, Any]) -> dict[str, Any]:
    return {"error": True} if "error" in answer else {"record": by_text([answer["record"]])[0]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_conformance(case: dict[str, Any], node: Node) -> None:  # noqa: F811
    g = Generalization.from_json(json.dumps(case["generalization"]))
    for output in ("labels", "codes"):
        answers = node.generalize(g, case["records"], output=output, unknown=case["unknown"])
        for answer, wanted, wrong in zip(answers, case[output], case["errors"], strict=True):
            assert answer == ({"error": wrong} if wrong else {"record": wanted})


@settings(SHARED)
@given(generalized_columns(strange=True) | generalized_columns(), OUTPUTS, UNKNOWN)
def test_it_agrees_with_python(node: Node, drawn: Any, output: str, unknown: str) -> None:  # noqa: F811
    g, frame = drawn
    records = frame.to_dicts()
    answers = node.generalize(g, records, output=output, unknown=unknown)
    assert [found(a) for a in answers] == [expected(g, record, output, unknown) for record in records]


@st.composite
def records_of(draw: st.DrawFn) -> tuple[Generalization, dict[str, Any]]:
    """Draw names and values of every kind, infinities and odd characters included."""
    g = draw(generalizations())
    declared = [a for a in g.schema.attributes if a.values or a.continuous or a.missing]
    return g, {a.name: draw(values(a)) for a in declared}


@settings(SHARED)
@given(records_of(), OUTPUTS)
def test_one_record_of_any_name(node: Node, drawn: Any, output: str) -> None:  # noqa: F811
    g, record = drawn
    [answer] = node.generalize(g, [record], output=output)
    assert found(answer) == expected(g, record, output, "error")


def test_a_module_of_its_own(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    (tmp_path / "g.mjs").write_text(to_javascript(G), encoding="utf-8")
    program = """
        import generalize, { generalize as same, UnknownValueError } from "./g.mjs";
        console.log(JSON.stringify(generalize({ age: 63, sex: "f", name: "x" })), same === generalize);
        for (const bad of [{ age: -1 }, { age: "secret" }, {}, { age: true }, { age: [1] }]) {
          try { generalize(bad); console.log("accepted"); }
          catch (error) { console.log(error instanceof UnknownValueError, error.message); }
        }
        try { generalize({ age: 1 }, { output: "label" }); } catch (error) { console.log(error.message); }
    """
    (tmp_path / "use.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run(["node", "use.mjs"], cwd=tmp_path, capture_output=True, check=True, timeout=60)
    lines = done.stdout.decode().splitlines()
    assert lines[0] == '{"age":"20 to 63"} true'
    assert all(line.startswith("true age: the value is not in the declared domain") for line in lines[1:6])
    assert b"secret" not in done.stdout
    assert lines[6] == "output must be labels or codes"


def test_what_is_suppressed_is_not_in_the_module() -> None:
    assert '"sex"' not in to_javascript(G)
    assert [attribute["name"] for attribute in plan(G)["attributes"]] == ["age"]


def test_no_text_ends_a_script() -> None:
    name = "</script><script>alert(1)</script><!--\u2028"
    text = to_javascript(Generalization((Groups(Attribute(name, values=(name, "b")), (0, 1)),)))
    assert "</script" not in text
    assert "<!--" not in text
    assert "\u2028" not in text


def test_in_a_browser(chromium: Any) -> None:
    page = chromium.new_page()
    generals = [Generalization.from_json(json.dumps(case["generalization"])) for case in CASES]

    def serve(route: Any) -> None:
        if route.request.url.endswith("/g.js"):
            route.fulfill(body=to_javascript(G), content_type="text/javascript; charset=utf-8")
        else:
            route.fulfill(body="<!doctype html><title>t</title>", content_type="text/html")

    page.route("**/*", serve)
    page.goto("http://leastwise.test/")
    pairs = zip(generals, CASES, strict=True)
    sent = [{"plan": plan(g), "records": c["records"], "unknown": c["unknown"]} for g, c in pairs]
    told = page.evaluate(
        """async (text) => {
            const { generalizer } = await import("/g.js");
            return JSON.stringify(JSON.parse(text).map(({ plan, records, unknown }) => records.map((record) => {
                try { return { record: generalizer(plan)(record, { unknown }) }; }
                catch (error) { return { error: error.attribute }; }
            })));
        }""",
        json.dumps(sent),  # as text: an object that crosses into the page loses the key __proto__
    )
    page.close()
    for case, answered in zip(CASES, json.loads(told), strict=True):
        wanted = [
            {"error": e} if e else {"record": r} for r, e in zip(case["labels"], case["errors"], strict=True)
        ]
        assert answered == wanted
