"""Every experiment runs on a small sample of Adult, and its page is complete, safe and the same each time."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from leastwise import Attribute, DataError, ParameterError, Schema, Table
from leastwise.datasets import load_adult
from leastwise.experiments import EXPERIMENTS, Outcome, run_experiment
from leastwise.experiments.declaration import Experiment, Paper, Picture
from leastwise.experiments.drawing import draw

pytest.importorskip("matplotlib", reason="pictures need matplotlib")
# Those that train networks or walk through every minimizer.
LONG = ("tradeoff", "high-certainty", "architectures")
QUICK = [name for name in EXPERIMENTS if name not in (*LONG, "drift")]


@pytest.fixture(scope="module")
def adult() -> Table:
    found = load_adult()
    return Table.from_frame(found.frame, found.schema)


def rows_of(outcome: Outcome) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(outcome.to_csv()))]


def check(outcome: Outcome) -> None:
    picture = outcome.experiment.picture
    rows = rows_of(outcome)
    assert rows
    for row in rows:
        assert row[picture.x]
        assert float(row[picture.y]) >= 0
    page = outcome.to_html()
    assert outcome.experiment.paper.place.partition(":")[0] in page
    assert page.count("<svg") in (1, 2)


@pytest.mark.parametrize("name", QUICK)
def test_an_experiment_runs(name: str, adult: Table) -> None:
    check(run_experiment(name, adult, data="adult", quick=True, most=2500))


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_experiment_runs(name: str, adult: Table) -> None:
    pytest.importorskip("torch", reason="needs the extra neural")
    check(run_experiment(name, adult, data="adult", quick=True, most=2500))


def test_drift_judges_the_same_generalizations_on_each_year(adult: Table) -> None:
    half = len(adult) // 2
    early, late = adult.take(np.arange(half)), adult.take(np.arange(half, len(adult)))
    outcome = run_experiment("drift", early, quick=True, later=[("next", late)], most=4000)
    years: dict[str, list[str]] = {}
    for row in rows_of(outcome):
        years.setdefault(row["year"], []).append(row["buckets"])
    first, second = years.values()
    assert first == second


def test_drift_without_later_years_says_what_to_do(adult: Table) -> None:
    with pytest.raises(DataError, match="--later"):
        run_experiment("drift", adult, most=500)


def test_same_seed_same_files(adult: Table, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run_experiment("qualitative", adult, quick=True, most=1500).save(tmp_path / folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_what_it_measures_is_what_the_paper_counts(adult: Table) -> None:
    rows = rows_of(run_experiment("qualitative", adult, quick=True, most=4000))
    assert [row["attribute"] for row in rows] == list(adult.schema.names)
    for row in rows:
        assert (row["asked"] == "0") == (row["buckets"] == "1")
        assert float(row["kept"]) == pytest.approx(int(row["buckets"]) / int(row["values"]), abs=1e-5)


def test_two_breaches_tell_no_less_than_one_by_much(adult: Table) -> None:
    for row in rows_of(run_experiment("multi-breach", adult, quick=True, most=6000)):
        assert float(row["adversary_error"]) <= min(float(row["first_error"]), float(row["second_error"])) + 0.02


def test_hostile_names_stay_text() -> None:
    name = "<script>alert(1)</script> $x$ & co"
    experiment = Experiment(
        name="x", title=name, measure=lambda _: [], picture=Picture(kind="bars", x="a", y="b", series="c"),
        paper=Paper(place="Figure 0", finding=name, rows=[{"a": name, "b": 1.0}, {"a": "k", "b": 2.0}]),
    )  # fmt: skip
    rows = [{"a": name, "b": 1.0, "c": name}, {"a": "other", "b": 0.5, "c": "d"}]
    page = Outcome(experiment, rows, {name: name}).to_html()
    assert "<script" not in page
    assert not re.search(r"https?://(?!www\.w3\.org|purl\.org|creativecommons\.org|matplotlib\.org)", page)


def test_pictures_are_deterministic() -> None:
    rows = [{"x": 0.1, "y": 0.2, "s": "a"}, {"x": 0.3, "y": 0.1, "s": "b"}]
    picture = Picture(kind="lines", x="x", y="y", series="s")
    assert draw(rows, picture) == draw(rows, picture)


def test_unknown_names_and_records_without_people_to_protect(adult: Table) -> None:
    with pytest.raises(ParameterError, match="tradeoff"):
        run_experiment("tradeof", adult)
    schema = Schema((Attribute("a", values=("u", "v")),), Attribute("y", values=("0", "1")))
    with pytest.raises(DataError, match="personal"):
        run_experiment(
            "seeds", Table(schema, np.zeros((4, 1), np.uint8), (np.array(["u", "v"]),), np.zeros(4, int))
        )
