"""The demo runs without arguments and leaves files that can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise import Generalization, load_schema
from leastwise.evaluation import Evaluation
from tests.cli.running import Run


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_the_demo_answers_and_writes_what_it_found(run: Run, tmp_path: Path) -> None:
    result = run("demo", "--to", str(tmp_path / "out"), "--leaves", "4")
    assert result.code == 0, result.err
    assert "of 12 questions" in result.out
    found = Generalization.load(tmp_path / "out" / "generalization.json")
    judged = Evaluation.load(tmp_path / "out" / "evaluation.json")
    assert load_schema(tmp_path / "out" / "schema.yaml") == found.schema
    assert judged["A1"].adversary_error > 0
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert found.describe(markdown=True) in report
    assert (tmp_path / "out" / "tree.svg").read_text(encoding="utf-8").startswith("<svg")
