"""A check in words: verdict, reasons, tables; no text of the data becomes markup."""

from __future__ import annotations

import json

import polars as pl

from leastwise import Attribute, Generalization, Groups, Schema, Table
from leastwise.checks import check, check_facts, facts_as_markdown
from leastwise.checks.checking import Check
from leastwise.checks.comparisons import Comparison
from leastwise.checks.drifting import DriftLimits
from leastwise.runs.budget import Budget
from tests.checks.people import G, promise, table


def test_all_sections_of_a_check() -> None:
    found = check(G, table(1500, 7), budget=Budget(max_error=0.3), promise=promise(1500), quick=True)
    facts = check_facts(found, "Check of g.json")
    assert json.loads(json.dumps(facts)) == facts
    assert (facts["verdict"], facts["reasons"]) == ("fine", [])
    titles = [section["title"] for section in facts["sections"]]
    assert titles == [
        "What was found", "Budget", "Accuracy", "Risk", "Bucket use", "Label rate", "What nobody can tell",
        "What these figures do not say",
    ]  # fmt: skip
    for section in facts["sections"]:
        assert set(section) >= {"title", "text", "table"}
        if section["table"]:
            width = len(section["table"]["columns"])
            assert all(len(row) == width for row in section["table"]["rows"])
    use = facts["sections"][4]
    assert use["table"]["columns"] == ["", "promised", "now", "95 % interval", "verdict"]
    assert len(use["table"]["rows"]) == 7
    assert use["bars"][0]["now_interval"][0] < use["bars"][0]["now"] < use["bars"][0]["now_interval"][1]


def test_broken_says_why() -> None:
    found = check(G, table(1500, 7), budget=Budget(max_asked=1), quick=True)
    facts = check_facts(found, "t")
    assert (facts["verdict"], len(facts["reasons"])) == ("broken", 1)
    assert "**Verdict: broken**" in facts_as_markdown(facts)


def test_a_hostile_name_stays_text() -> None:
    hostile = "<script>alert(1)</script> | **x** [a](b)\n# head"
    comparison = Comparison(
        about="Bucket use", name=hostile, then=0.1, now=0.5, limit=0.02, chance=0.0, matters=True, reason=hostile
    )
    found = Check(
        generalization=G, limits=DriftLimits(), comparisons=(comparison,), evaluation=None, people=10, notes=()
    )
    text = facts_as_markdown(check_facts(found, hostile))
    assert "<script>" not in text
    assert "\n# head" not in text
    assert "[a](b)" not in text
    row = next(line for line in text.splitlines() if line.startswith("| &lt;script"))
    assert row.replace("\\|", "").count("|") == 6


def test_nothing_asked_and_nothing_personal() -> None:
    flag = Attribute("flag", values=("0", "1"))
    schema = Schema((flag,), Attribute("y", values=("0", "1")))
    rows = {"flag": ["0", "1"] * 50, "y": ["0", "0", "1", "1"] * 25}
    nothing = Generalization((Groups(flag, (0, 0)),), schema.label)
    found = check(nothing, Table.from_frame(pl.DataFrame(rows), schema), quick=True)
    facts = check_facts(found, "t")
    assert facts["verdict"] == "fine"
    assert [s["title"] for s in facts["sections"]] == ["What was found", "What these figures do not say"]
