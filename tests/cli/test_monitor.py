"""``leastwise monitor``: collected records against the promise, from a file and from a collector's database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.checks.people import G, frame, promise
from tests.cli.running import Run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("monitor")
    promise(1500).save(folder / "promise.json")
    G.save(folder / "g.json")
    G.transform(frame(800, 1)).write_csv(folder / "same.csv")
    G.transform(frame(800, 2, older=10)).write_parquet(folder / "older.parquet")
    G.transform(frame(800, 1), "codes").write_parquet(folder / "codes.parquet")
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(files, tmp_path, dirs_exist_ok=True))
    return tmp_path


def test_files(folder: Path, run: Run) -> None:
    fine = run("monitor", "g.json", "same.csv")
    assert (fine.code, fine.out.splitlines()[-1]) == (0, "Monitor of g.json: fine")
    assert run("monitor", "g.json", "codes.parquet", "--codes").code == 0
    broken = run("monitor", "g.json", "older.parquet", "-o", "monitor.html")
    assert broken.code == 1
    assert "is now the answer of" in broken.out
    assert "<html" in Path("monitor.html").read_text(encoding="utf-8")


def test_a_policy_and_a_model(folder: Path, run: Run) -> None:
    pytest.importorskip("skops", reason="models are saved by skops")
    from leastwise.models import train

    train(G, G.transform(frame(1500, 9))).save("model.skops")
    Path("p.yaml").write_text(
        "format: leastwise-policy\nversion: 1\nbudget: {max_error: 0.1, max_unique: 0}\n", encoding="utf-8"
    )
    fine = run("monitor", "g.json", "same.csv", "--model", "model.skops")
    assert fine.code == 0, fine.out
    assert "error of the model in use" in fine.out
    broken = run("monitor", "g.json", "same.csv", "--model", "model.skops", "--policy", "p.yaml")
    assert broken.code == 1
    assert "the model in use errs 0.1" in broken.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["g.json"], "name the records once"),
        (["g.json", "same.csv", "--db", "sqlite:///x.db"], "name the records once"),
        (["g.json", "codes.parquet"], "age: 800 records hold something"),
        (
            ["g.json", "same.csv", "--promise", "none.json"],
            "none.json: there is no such file; leastwise check --write-promise makes one",
        ),
        (["g.json", "none.csv"], "none.csv"),
    ],
)
def test_mistakes(folder: Path, run: Run, words: list[str], complaint: str) -> None:
    assert complaint in run("monitor", *words).complaint


def test_a_collectors_database(folder: Path, run: Run) -> None:
    pytest.importorskip("starlette", reason="the collector needs Starlette")
    from tests.collector.examples import client, sqlite_url

    url = sqlite_url(folder)
    with client(url, G, with_label=True) as collector:
        assert "no records of this generalization yet" in run("monitor", "g.json", "--db", url).complaint
        for people, expected in ((frame(800, 1), 0), (frame(800, 2, older=30), 1)):
            answer = collector.post("/records", json=G.transform(people).to_dicts())
            assert answer.status_code == 201, answer.text
            found = run("monitor", "g.json", url)
            assert found.code == expected, found.out
