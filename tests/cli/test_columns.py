"""The columns of a new user's file, through the real commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leastwise import Generalization
from leastwise.schema.hierarchies import un_regions
from tests.cli.running import Run


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(100)
    n = 600
    age = random.integers(18, 80, n)
    rare = np.where(random.random(n) < 0.03, [f"x{i}" for i in range(n)], random.choice(["a", "b", "c"], n))
    frame = pl.DataFrame(
        {
            "zip": [f"{z:05}" for z in (99_999 * random.random(n) ** 3).astype(int)],
            "age": age,
            "x": rare,
            "priors": np.minimum(random.geometric(0.3, n) - 1, 20),
            "born": [f"{2024 - a}-06-15" for a in age],
            "country": random.choice(["France", "Germany", "Italy", "Japan", "China"], n),
            "y": np.where((age > 45) ^ (rare == "a"), "yes", "no"),
            "pay": random.integers(20_000, 90_000, n),
        }
    )
    path: Path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.write_csv(path)
    return path


def test_rare_values_are_other_on_every_road_without_a_word(run: Run, people: Path, tmp_path: Path) -> None:
    g = tmp_path / "g.json"
    task = ("-l", "y", "--set", "drop=zip,born,pay,country", "--set", "at_least=10")
    assert run("minimize", people, *task, "-m", "uniform", "--set", "k=3", "-o", g).code == 0
    assert Generalization.load(g)["x"].attribute.other
    rare = int(pl.read_csv(people)["x"].str.starts_with("x").sum())
    assert (
        f"not declared, and so 'other': x {rare} ({100 * rare / 600:.1f} %)"
        in run("apply", g, people, "-o", tmp_path / "coarse.csv").err
    )
    counted = run("apply", g, people, "-o", tmp_path / "coarse.csv", "--force", "--json")
    assert json.loads(counted.out)["others"] == {"x": rare}
    assert run("train", g, people, "--full", "-o", tmp_path / "m.skops").code == 0
    assert run("predict", g, tmp_path / "m.skops", people, "--full", "-o", tmp_path / "p.csv").code == 0
    assert pl.read_csv(tmp_path / "p.csv").height == 600


def test_inspect_leaves_no_zip_code_to_be_missing(run: Run, people: Path) -> None:
    said = run("inspect", people, "-l", "y").out
    assert "--missing '0" not in said
    columns = {c["name"]: c for c in json.loads(run("inspect", people, "-l", "y", "--json").out)["columns"]}
    assert columns["zip"]["derive"].startswith("prefix")
    assert (columns["priors"]["kind"], columns["priors"]["domain"]) == ("continuous", "whole numbers from 0")
    assert columns["born"]["derive"] == "year of YYYY-MM-DD"


def test_a_tree_that_is_named_groups_and_names(run: Run, people: Path, tmp_path: Path) -> None:
    g, schema = tmp_path / "g.json", tmp_path / "schema.yaml"
    found = run("inspect", people, "-l", "y", "--hierarchy", "country=un-regions", "-o", schema)
    assert found.code == 0, found
    assert run("minimize", people, "-s", schema, "-m", "uniform", "--set", "k=2", "-o", g).code == 0
    told = {label for label in Generalization.load(g)["country"].labels if label != "any"}
    assert told <= {"Europe", "Asia", "Western Europe", "Southern Europe", "Eastern Asia", "France", "Germany",
                    "Italy", "Japan", "China", "Western Europe or Southern Europe"}  # fmt: skip
    arx = tmp_path / "tree.csv"
    arx.write_text("France;EU;*\nGermany;EU;*\nItaly;EU;*\nJapan;Asia;*\n", encoding="utf-8")
    complaint = run("inspect", people, "-l", "y", "--hierarchy", f"country={arx}").complaint
    assert "1 have no place in the hierarchy: 'China'" in complaint


def test_a_number_is_predicted_by_a_threshold(run: Run, people: Path, tmp_path: Path) -> None:
    g = tmp_path / "g.json"
    task = ("-l", "pay", "--set", "label_above=50000", "--set", "drop=zip,x", "--personal", "country")
    assert run("minimize", people, *task, "-m", "uniform", "--set", "k=2", "-o", g).code == 0
    assert run("apply", g, people, "-o", tmp_path / "coarse.csv").code == 0
    assert {*pl.read_csv(tmp_path / "coarse.csv")["pay"]} == {"up to 50000", "above 50000"}
    assert run("train", g, people, "--full", "-o", tmp_path / "m.skops").code == 0
    assert run("train", g, tmp_path / "coarse.csv", "-o", tmp_path / "m2.skops").code == 0
    assert "all are on one side" in run("inspect", people, "-l", "pay", "--label-above", "5").complaint


def test_a_number_is_predicted_as_a_number(run: Run, people: Path, tmp_path: Path) -> None:
    g, schema, model = tmp_path / "g.json", tmp_path / "schema.yaml", tmp_path / "m.skops"
    task = ("-l", "age", "--drop", "zip,x,born,pay", "--personal", "country,y")
    assert "a number to predict, 62 distinct" in run("inspect", people, *task, "-o", schema).out
    assert "kind: continuous" in schema.read_text(encoding="utf-8").split("attributes:")[0]
    pat = ("-m", "pat", "--set", "max_leaves=4", "--set", "alpha=0.1")
    assert run("minimize", people, "-s", schema, *pat, "-o", g).code == 0
    assert Generalization.load(g)["y"].size == 2, "the label of the other tests tells the age"
    assert run("apply", g, people, "-o", tmp_path / "coarse.csv").code == 0
    assert pl.read_csv(tmp_path / "coarse.csv")["age"].to_list() == pl.read_csv(people)["age"].to_list()
    assert "off by" in run("train", g, tmp_path / "coarse.csv", "-o", model).out
    assert run("predict", g, model, tmp_path / "coarse.csv", "-o", tmp_path / "p.csv").code == 0
    assert pl.read_csv(tmp_path / "p.csv")["prediction"].dtype == pl.Float64
    form = json.loads(run("export", g, "--to", "json-schema").out)
    assert form["properties"]["age"]["type"] == ["integer", "null"]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (
            ("minimize", "PEOPLE", "-s", "SCHEMA", "-m", "apt"),
            "apt needs a label of classes, and 'age' is a number",
        ),
        (("export", "G", "--to", "form", "--label"), "'age' is a number, and a form asks for classes"),
        (
            ("collect", "G", "--db", "sqlite:///x.db", "--with-label"),
            "is a number, and a collector stores classes",
        ),
        (
            ("train", "G", "PEOPLE", "--full", "--estimator", "sklearn.linear_model.LogisticRegression"),
            "regressor",
        ),
    ],
)
def test_where_a_number_cannot_go_it_is_one_line(
    run: Run, people: Path, tmp_path: Path, command: tuple[str, ...], complaint: str
) -> None:
    g, schema = tmp_path / "g.json", tmp_path / "schema.yaml"
    run("inspect", people, "-l", "age", "--drop", "zip,x,born,pay", "--personal", "country,y", "-o", schema)
    run("minimize", people, "-s", schema, "-m", "uniform", "--set", "k=2", "-o", g)
    places = {"PEOPLE": people, "SCHEMA": schema, "G": g}
    words = [str(places.get(word, word)).replace("sqlite:///x", f"sqlite:///{tmp_path}/x") for word in command]
    assert complaint in run(*words).complaint


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--derive", "born"), "--derive must be NAME=..."),
        (("--derive", "born=first letter"), "derive must be 'prefix 3'"),
        (("--derive", "birth=prefix 3"), "there is no column 'birth'"),
        (("--hierarchy", "country=un-region"), "un-regions"),
        (("--hierarchy", "country=none.csv"), "none.csv"),
        (("--label-above", "x"), ""),
    ],
)
def test_what_cannot_be_is_one_line(run: Run, people: Path, options: tuple[str, str], complaint: str) -> None:
    found = run("inspect", people, "-l", "y", *options)
    assert found.code == 2
    assert complaint in found.err


def test_dates_of_two_notations_are_left_out_with_a_reason(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    rows = [f"{'1987-05-11' if i % 2 else '11.05.1987'},{i % 40},{i % 2}" for i in range(60)]
    path.write_text("born,age,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert "several notations" in run("inspect", path, "-l", "y").out
    forced = run("inspect", path, "-l", "y", "--derive", "born=year of YYYY-MM-DD")
    assert forced.code == 2
    assert "in 30 of 60 records they have another" in forced.complaint


def test_a_country_is_in_its_region_whatever_that_is_called() -> None:
    tree = un_regions(["Micronesia", "Guam", "Palau", "Fiji"])
    assert tree.rows[0][-1] == "Oceania"
    assert len({row[1] for row in tree.rows if row[0] != "Fiji"}) == 1
    assert tree.names(["Guam", "Palau"]) != tree.names(["Guam", "Palau", "Micronesia"])


def test_a_table_of_regions_from_a_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(102)
    lat, lon = random.uniform(41, 60, 300), random.uniform(-9, 9, 300)
    y = np.where(lat > 50, "yes", "no")
    pl.DataFrame({"lat": lat, "lon": lon, "sex": random.choice(["f", "m"], 300), "y": y}).write_csv("people.csv")
    Path("regions.csv").write_text("name,south,west,north,east\nNorth,50,-10,60.5,10\nSouth,40,-10,50,10\n")
    derive = "--derive", "lat=region with lon from regions.csv"
    said = run("inspect", "people.csv", "--label", "y", *derive).out
    assert "asked with lat, as a region" in " ".join(said.split())
    assert run("inspect", "people.csv", "--label", "y", *derive, "-o", "schema.yaml").code == 0
    assert run("run", "people.csv", "--schema", "schema.yaml", "--quick", "-j", 1, "-o", "run").code == 0
    assert Generalization.load("run/recommended.json").collected == ("lat",)
    assert run("apply", "run", "people.csv", "-o", "coarse.csv").code == 0
    coarse = pl.read_csv("coarse.csv")
    assert "lon" not in coarse.columns
    assert {text.removesuffix(" or other") for text in coarse["lat"]} == {"North", "South"}


def test_that_codes_are_asked_by_their_beginning_is_said(run: Run, tmp_path: Path) -> None:
    random, path = np.random.default_rng(100), tmp_path / "codes.csv"
    codes = random.integers(0, 100, 2_000)
    frame = pl.DataFrame({"code": [f"C{c:03}" for c in codes], "sex": random.choice(["f", "m"], 2_000)})
    frame.with_columns(y=pl.Series(codes % 2)).write_csv(path)
    said = run("minimize", path, "--label", "y", "--minimizer", "uniform", "-o", tmp_path / "g.json")
    assert said.code == 0
    assert "shortened: code is asked by its first 3; --set discrete=code asks it as it is" in said.err
    whole = run(
        "minimize",
        path,
        "--label",
        "y",
        "--minimizer",
        "uniform",
        "--set",
        "discrete=code",
        "-o",
        tmp_path / "h.json",
    )
    assert whole.code == 0
    assert "shortened" not in whole.err
