"""What a run recommends publishes nobody's value, and takes the very file that it was made from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.cli.conftest import GRID, QUICK
from tests.cli.running import Run


def write_records(path: Path) -> Path:
    """Write records with names that one person has, rare codes, and numbers that lie alone."""
    rng = np.random.default_rng(3)
    count = 400
    pay = np.round(rng.lognormal(7, 1, count), 2)
    job = rng.choice(["nurse", "cook", "clerk"], count).astype(object)
    job[:6] = [f"secret{i}" for i in range(6)]
    town = rng.choice(["n", "s"], count).astype(object)
    town[10:13] = ["hidden1", "hidden2", "hidden2"]
    rich = (pay > 1100) ^ (rng.random(count) < 0.1)
    rows = [f"{p},{j},{t},{int(y)}" for p, j, t, y in zip(pay, job, town, rich, strict=True)]
    path.write_text("\n".join(["pay,job,town,rich", *rows]), encoding="utf-8")
    return path


def test_a_run_on_a_file_with_lonely_values(run: Run, tmp_path: Path) -> None:
    records, folder, grid = write_records(tmp_path / "people.csv"), tmp_path / "out", tmp_path / "grid.yaml"
    grid.write_text(GRID, encoding="utf-8")
    answer = run("run", records, "--label", "rich", "--grid", grid, *QUICK, "-o", folder)
    assert answer.code == 0, answer.err
    assert "privacy" not in answer.err
    text = (folder / "recommended.json").read_text(encoding="utf-8")
    assert "secret" not in text
    assert "hidden1" not in text
    for attribute in json.loads(text)["attributes"]:
        if attribute["buckets"] == "suppressed":
            assert not {"values", "labels", "lower", "upper"} & {*attribute}
    for more in ((), ("--answers", "codes"), ("--keep-suppressed",)):
        assert run("apply", folder, records, "-o", tmp_path / "coarse.csv", "--force", *more).code == 0
    for command in (
        ("train", folder, records, "--full", "-o", tmp_path / "model"),
        ("evaluate", folder, records, "--quick", "--adversaries", "A1", "--json"),
    ):
        answer = run(*command)
        assert answer.code == 0, answer.err
