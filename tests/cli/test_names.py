"""Names of buckets from the policy to everything that is made of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise import Generalization
from leastwise.runs import Run as StoredRun
from leastwise.schema.file import load_schema
from tests.cli.conftest import GRID, QUICK
from tests.cli.running import Run
from tests.runs.small import write_csv

POLICY = """\
format: leastwise-policy
version: 1
data: small.csv
label: rich
personal: [job, sex]
budget: {max_error: 1.0}
constraints:
  edges: {age: [40]}
  max_buckets: {age: 2}
  together: {job: [[a, b, c], [d, e]]}
  apart: {job: [[a, d]]}
names:
  age: {young <b>: {up_to: 40}}
  job: {outdoors: [a, b, c], indoors: {values: [d, e]}}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    write_csv(tmp_path / "small.csv")
    (tmp_path / "grid.yaml").write_text(GRID + "  - name: optimal\n    steps: 8\n", encoding="utf-8")
    path = tmp_path / "leastwise.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


def test_a_run_calls_buckets_as_the_policy_does(run: Run, policy: Path) -> None:
    folder = policy.parent
    answer = run("run", "--policy", policy, "--grid", folder / "grid.yaml", *QUICK, "-o", folder / "out")
    assert answer.code == 0, answer.err
    kept = load_schema(folder / "out" / "schema.yaml")["job"].names
    assert [each.name for each in kept] == ["outdoors", "indoors"]
    asked = [c.generalization["age"] for c in StoredRun.load(folder / "out").candidates]
    assert asked
    assert all(partition.labels[0] == "young <b>" for partition in asked)
    chosen = Generalization.load(folder / "out" / "recommended.json")
    assert "young <b>" in chosen["age"].labels
    report = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "young &lt;b&gt;" in report
    assert "young <b>" not in report
    assert "(40 or less)" in report
    assert "young" in (folder / "out" / "report.md").read_text(encoding="utf-8")


def test_exports_and_records_carry_the_names(run: Run, policy: Path) -> None:
    folder = policy.parent
    made = run("minimize", "--policy", policy, "-m", "optimal", "-o", folder / "g.json")
    assert made.code == 0, made.err
    found = Generalization.load(folder / "g.json")
    assert found["age"].labels[0] == "young <b>"
    assert "young <b> (40 or less)" in run("describe", folder / "g.json").out
    told = json.loads(run("describe", folder / "g.json", "--json").out)["attributes"][0]
    assert told["names"] == {"young <b>": ["40 or less"]}
    assert "'young <b>'" in run("export", folder / "g.json", "--to", "sql").out
    form = run("export", folder / "g.json", "--to", "form").out
    assert "young &lt;b&gt; (40 or less)" in form
    assert run("apply", folder / "g.json", folder / "small.csv", "-o", folder / "out.csv").code == 0
    assert "young <b>" in (folder / "out.csv").read_text(encoding="utf-8")
    judged = run("evaluate", folder / "g.json", folder / "small.csv", "--quick", "-a", "A1")
    assert judged.code == 0, judged.err


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("job: {x: [a, z]}", "'z' is not a declared value"),
        ("joob: {x: [a]}", "there is no attribute 'joob'; did you mean 'job'?"),
        ("job: {x: [a, b], X: [c]}", "a name must be given once"),
        ("job: {d: [a, b]}", "'d' is a value that it does not hold"),
        ("job: [a, b]", "line 13, names.job: must be a mapping of names to values"),
        ("age: {old: {above: 64, upto: 99}}", "names.age.old.upto: unknown key; did you mean 'up_to'?"),
        ("age: {old: {above: x}}", "names.age.old.above: must be a finite number"),
    ],
)
def test_a_wrong_name_is_one_line(run: Run, policy: Path, wrong: str, complaint: str) -> None:
    policy.write_text(POLICY.split("names:")[0] + f"names:\n  {wrong}\n", encoding="utf-8")
    assert complaint in run("minimize", "--policy", policy, "-m", "optimal").complaint
