"""train, predict and collect through the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from leastwise.collector.records import RecordFormat
from leastwise.collector.store import Store, Submission
from tests.cli.running import Run
from tests.collector.examples import FINE, G, people, sqlite_url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    G.save(tmp_path / "g.json")
    FINE.save(tmp_path / "fine.json")
    people().write_parquet(tmp_path / "full.parquet")
    G.transform(people()).write_parquet(tmp_path / "coarse.parquet")
    return tmp_path


def test_train_then_predict(run: Run, folder: Path) -> None:
    model, out = folder / "model.skops", folder / "out.csv"
    answer = run("train", folder / "g.json", folder / "coarse.parquet", "--label", "income", "-o", model)
    assert answer.code == 0, answer
    assert "held-out records" in answer.out
    assert (folder / "model.md").read_text().startswith("# Model card")
    answer = run("predict", folder / "g.json", model, folder / "coarse.parquet", "-o", out)
    assert answer.code == 0, answer
    assert pl.read_csv(out).columns == ["prediction", "p:<=50K", "p:>50K"]
    again = run("predict", folder / "g.json", model, folder / "coarse.parquet", "-o", out)
    assert "exists already" in again.complaint
    assert "exists already" in run("train", folder / "g.json", folder / "coarse.parquet", "-o", model).complaint
    other = run("predict", folder / "fine.json", model, folder / "coarse.parquet", "-o", folder / "x.csv")
    assert "trained under generalization" in other.complaint


def test_train_from_a_database(run: Run, folder: Path) -> None:
    url = sqlite_url(folder)
    store = Store.open(url)
    rows = RecordFormat(G, True).read_many(G.transform(people()).to_dicts())
    store.write([Submission(store.register(G), rows)])
    store.close()
    from_file = run("train", folder / "g.json", folder / "coarse.parquet", "-o", folder / "a.skops", "--json")
    from_base = run("train", folder / "g.json", url, "-o", folder / "b.skops", "--json")
    first, second = json.loads(from_file.out), json.loads(from_base.out)
    assert (first["trained"], first["classes"]) == (second["trained"], second["classes"])
    assert "fingerprint" in run("train", folder / "fine.json", url, "-o", folder / "c.skops").complaint


def test_full_records(run: Run, folder: Path) -> None:
    words = ("train", folder / "g.json", folder / "full.parquet", "-o", folder / "m.skops")
    assert "label of a bucket" in run(*words).complaint
    assert run(*words, "--full").code == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["train", "g.json", "none.parquet"], "no such file"),
        (["train", "g.json", "coarse.parquet", "--estimator", "os.system"], "scikit-learn classifier"),
        (["train", "g.json", "coarse.parquet", "--label", "age"], "is an attribute"),
        (["train", "g.json", "sqlite:///none.db"], "no such database"),
        (["train", "g.json", "ftp://x"], "sqlite:///records.db or postgresql"),
        (["predict", "g.json", "g.json", "coarse.parquet"], "not a model"),
        (["predict", "g.json", "g.json", "coarse.parquet", "-o", "out.txt.x"], "the name must end in"),
        (["collect", "none.json"], "none.json"),
        (["collect", "g.json", "--db", "mysql://x"], "sqlite:///records.db or postgresql"),
        (["collect", "g.json", "--host", "no such host"], "cannot listen"),
        (["collect", "g.json", "--model", "none.skops"], "none.skops"),
        (["collect", "g.json", "--model", "g.json"], "not a model"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], complaint: str
) -> None:
    monkeypatch.chdir(folder)
    assert complaint in run(*words).complaint


def test_a_short_token_is_refused(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LEASTWISE_TOKEN", "hunter2")
    complaint = run("collect", "g.json", "--port", "0").complaint
    assert "LEASTWISE_TOKEN" in complaint
    assert "hunter2" not in complaint


def test_the_extra_may_be_missing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util
    import sys

    for name in [name for name in sys.modules if name.startswith("leastwise.collector")]:
        monkeypatch.delitem(sys.modules, name)
    found = importlib.util.find_spec
    absent = {"starlette": None}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: absent.get(name, found(name)))
    assert "pip install 'leastwise[collector]'" in run("collect", folder / "g.json").complaint


def test_another_host_is_warned_about(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("leastwise.collector.app.serve", lambda *_, **__: None)
    assert "other machines can reach" in run("collect", "g.json", "--host", "0.0.0.0", "--port", "0").err
    assert "other machines" not in run("collect", "g.json", "--port", "0").err
