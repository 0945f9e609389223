"""The facts of a check, read from a file that nobody vouches for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leastwise.errors import ArtefactError
from leastwise.report import read_check, render_check

TABLE = {"columns": ["answer", "now"], "rows": [["a", "20 %"]]}
BARS = [{"label": "a", "then": 0.1, "now": 0.2, "now_interval": [0.1, 0.3]}]
SECTION = {"title": "Use", "text": ["one", "two"], "table": TABLE, "bars": BARS, "axis": "share"}
CHECK = {"title": "Check", "verdict": "broken", "reasons": ["too many"], "sections": [SECTION]}


def read(folder: Path, facts: Any) -> dict[str, Any]:
    path = folder / "check.json"
    path.write_text(facts if isinstance(facts, str) else json.dumps(facts), encoding="utf-8")
    return read_check(path)


def with_section(**changes: Any) -> dict[str, Any]:
    return {**CHECK, "sections": [{**SECTION, **changes}]}


def test_what_a_check_wrote_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, CHECK)
    assert found == CHECK
    assert "too many" in render_check(found)


def test_a_section_may_be_text_only(tmp_path: Path) -> None:
    (section,) = read(tmp_path, {**CHECK, "sections": [{"title": "T", "text": "one", "table": None}]})["sections"]
    assert section == {"title": "T", "text": ["one"], "table": None, "bars": [], "axis": ""}


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ("not json", "not JSON"),
        ([], "must be a mapping"),
        ({"title": "x"}, "verdict: is missing"),
        ({**CHECK, "reasons": [1]}, "reasons: must be a list of texts"),
        ({**CHECK, "sections": ["x"]}, r"sections\[0\]: must be a mapping"),
        (with_section(title=3), r"sections\[0\].title: must be a text"),
        (with_section(text=[1]), "text: must be a list of texts"),
        (
            with_section(table={"columns": ["a"], "rows": [["1", "2"]]}),
            r"table.rows\[0\]: must be a list of 1 texts",
        ),
        (with_section(bars=[{"label": "a"}]), r"bars\[0\]: must have a value, then and now, or values"),
        (with_section(bars=[{"label": "a", "value": "x"}]), "value: must be a finite number"),
        (
            with_section(bars=[{"label": "a", "then": 0, "now": 1, "now_interval": [1]}]),
            "must be two numbers, or null",
        ),
        (with_section(bars=[{"label": "a", "values": [{"name": "x"}]}]), "value: is missing"),
        (with_section(bars=[*BARS, {"label": "b", "value": 0.1}]), "must all be of one kind"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, facts: Any, complaint: str) -> None:
    with pytest.raises(ArtefactError, match=complaint):
        read(tmp_path, facts)
