"""A file as organisations have it, from ``leastwise run`` to the form and the collector, by the real commands.

A postcode, a date, a count, an amount in local notation, countries in a tree, words in an order and rare values.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from leastwise import Generalization, PrivacyLeakWarning
from leastwise.records.files import read_frame
from tests.cli.running import Run, run_once, runner
from tests.collector.examples import client, exported, sqlite_url
from tests.exports import engines
from tests.exports.node import Node, node  # noqa: F401
from tests.filling import filled
from tests.zoo import german

GRID = """\
format: leastwise-grid
version: 1
minimizers: [{name: pat, alpha: 0.3, leaves: 16, min-leaf: 20}]
"""
COUNTRIES = ["France", "Germany", "Italy", "Japan", "China", "Brazil", "Mexico", "Kenya"]
LINEAR = ("--estimator", "sklearn.linear_model.LogisticRegression")
RECORDS = 500


def people() -> pl.DataFrame:
    """Records whose label depends on every column but the colour."""
    random = np.random.default_rng(100)
    year, area = random.integers(1945, 2006, RECORDS), random.choice([10, 20, 70, 90], RECORDS)
    country, pain = random.choice(COUNTRIES, RECORDS), random.choice(["low", "medium", "high"], RECORDS)
    amount, priors = random.gamma(2.0, 1500.0, RECORDS), np.minimum(random.geometric(0.3, RECORDS) - 1, 20)
    score = 1.0 * (year < 1975) + (amount > 3000) + np.isin(country, COUNTRIES[:3]) + (area > 50)
    score += 0.4 * (pain == "high") - 0.4 * (priors > 2)
    rare = random.random(RECORDS) < 0.03
    return pl.DataFrame(
        {
            "zip": [f"{a:02}{random.integers(0, 1000):03}" for a in area],
            "born": [f"{random.integers(1, 29):02}.{random.integers(1, 13):02}.{y}" for y in year],
            "priors": priors,
            "amount": [f"{german(value)} €" for value in amount],
            "country": country,
            "pain": pain,
            "colour": np.where(rare, [f"x{i}" for i in range(RECORDS)], random.choice(["a", "b"], RECORDS)),
            "y": np.where(score > 1.5, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``people.csv`` and the run of it, once."""
    made: Path = tmp_path_factory.mktemp("real")
    people().write_csv(made / "people.csv")
    (made / "grid.yaml").write_text(GRID, encoding="utf-8")
    task = ("-l", "y", "--set", "at_least=5", "--set", "hierarchy=country=un-regions", "--set", "keep=colour")
    quick = ("--quick", "--jobs", 1, "--set", "most=1", "-g", made / "grid.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        assert run_once("run", made / "people.csv", *task, *quick, "-o", made / "out") == 0
    return made


@pytest.fixture(scope="module")
def asked(folder: Path) -> Generalization:
    found = Generalization.load(folder / "out" / "recommended.json")
    assert {*found.collected} >= {"zip", "born", "amount", "country"}, "what this is about is asked"
    return found


@pytest.fixture(scope="module")
def records(folder: Path) -> list[dict[str, Any]]:
    return read_frame(folder / "people.csv").to_dicts()


@pytest.fixture(scope="module")
def coarse(asked: Generalization, records: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What every road must give: the records one by one, without the label."""
    return [{k: v for k, v in asked.transform(record).items() if k != "y"} for record in records]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(monkeypatch, capsys)


def test_what_is_asked_is_what_people_recognise(asked: Generalization) -> None:
    tree = asked["country"].attribute.hierarchy
    assert tree is not None
    words = {word for label in asked["country"].labels for word in label.replace(" or ", ", ").split(", ")}
    assert words <= {*tree.groups, *COUNTRIES}
    assert asked["zip"].attribute.derive.startswith("prefix")
    assert all(len(label) <= 60 for partition in asked.partitions for label in partition.labels)


def test_the_artefact_applies_to_the_very_file(
    run: Run,
    folder: Path,
    asked: Generalization,
    coarse: list[dict[str, str]],
    records: list[dict[str, Any]],
    node: Node,  # noqa: F811
) -> None:
    assert run("apply", folder / "out", folder / "people.csv", "-o", folder / "coarse.csv").code == 0
    texts = pl.read_csv(folder / "coarse.csv", infer_schema=False)
    assert texts.select(asked.collected).to_dicts() == coarse
    frame = read_frame(folder / "people.csv")
    assert asked.transform(frame).select(asked.collected).to_dicts() == coarse
    for dialect, rows in (("duckdb", engines.duckdb_rows), ("sqlite", engines.sqlite_rows)):
        query = run("export", folder / "out", "--to", "sql", "--dialect", dialect).out
        assert rows(query, frame) == coarse
    assert [row["record"] for row in node.generalize(asked, records)] == [asked.transform(r) for r in records]


def test_a_model_is_trained_and_predicts(run: Run, folder: Path) -> None:
    model, out = folder / "m.skops", folder / "p.csv"
    assert run("train", folder / "out", folder / "people.csv", "--full", "-o", model, *LINEAR).code == 0
    assert run("predict", folder / "out", model, folder / "people.csv", "--full", "-o", out).code == 0
    right = pl.read_csv(out)["prediction"] == pl.read_csv(folder / "people.csv")["y"]
    assert right.mean() > 0.8


def test_the_collector_takes_what_the_form_makes_of_the_exact_and_nothing_exact(
    chromium: Any,
    asked: Generalization,
    records: list[dict[str, Any]],
    coarse: list[dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEASTWISE_SECRET", "0123456789abcdef" * 4)
    page = chromium.new_page()
    sent = filled(page, asked, records[:50])
    page.close()
    assert sent == coarse[:50]
    with client(sqlite_url(tmp_path), asked) as made:
        assert {made.post("/records", json=one).status_code for one in sent} == {201}
        for name in ("zip", "born", "amount"):
            exact = made.post("/records", json={**sent[0], name: records[0][name]})
            assert exact.status_code == 422
            assert str(records[0][name]) not in exact.text
        stored = [{name: row[name] for name in asked.collected} for row in exported(made)]
    assert sorted(stored, key=str) == sorted(sent, key=str)


def test_the_form_says_how_to_write_and_asks_again(chromium: Any, asked: Generalization) -> None:
    from leastwise.exports import form_html

    page = chromium.new_page()
    page.set_content(form_html(asked, helper=True))
    born = page.locator(".question", has=page.get_by_text("born", exact=True))
    assert "written like DD.MM.YYYY" in born.inner_text()
    born.locator(".typed").fill("1987-05-11")
    born.locator(".typed").blur()
    assert "This does not fit: written like DD.MM.YYYY." in born.inner_text()
    born.locator(".typed").fill("11.05.1987")
    born.locator(".typed").blur()
    assert "fit" not in born.inner_text()
    assert (
        born.locator("input:checked").get_attribute("value")
        == asked["born"].labels[asked["born"].assignment[asked["born"].piece("11.05.1987")]]
    )
    page.close()
