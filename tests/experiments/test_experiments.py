"""Every experiment runs on a small sample of Adult, and its page is complete, safe and the same each time."""

from __future__ import annotations

import csv
import html
import io
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from leastwise import DataError, Generalization, ParameterError, Schema, Table
from leastwise.adversaries import AttackResult, Breach
from leastwise.datasets import load_adult
from leastwise.experiments import EXPERIMENTS, Laboratory, Outcome, run_experiment
from leastwise.experiments.candidates import own
from leastwise.experiments.declaration import Experiment, Paper, Picture, Row
from leastwise.experiments.page import draw
from leastwise.minimizers import UniformMinimizer
from tests.samples import LABEL, coded, named

pytest.importorskip("matplotlib", reason="pictures need matplotlib")
# Those that train networks or walk through every minimizer.
LONG = ("tradeoff", "high-certainty", "architectures")
# The paper prints the numbers.
WITH_THE_PAPERS_PICTURE = ("tradeoff", "multi-breach", "linkability", "singling-out", "architectures")
QUICK = [name for name in EXPERIMENTS if name not in (*LONG, "drift")]


@pytest.fixture(scope="module")
def adult() -> Table:
    found = load_adult()
    return Table.from_frame(found.frame, found.schema)


def rows_of(outcome: Outcome) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(outcome.to_csv()))]


# What each experiment puts side by side.
COMPARED = {
    "seeds": ["seed 0", "seed 1"],
    "feature-selection": [
        *(f"feature-selection ({m})" for m in ("anova", "chi2", "iterative", "mutual_info")),
        "limit",
    ],
    "training-sizes": ["0.1\xa0% (50 records)", "1.0\xa0% (50 records)", "20.0\xa0% (300 records)"],
    "side-information": [
        "A1 knows nothing more",
        "A3 knows the non-personal attributes",
        "A4 knows all but one",
        "A5 learns one after the other",
    ],
    "multi-breach": ["C1", "C2", "C3", "C4"],
    "linkability": [
        *(f"pat alpha={s}" for s in ("0.3 leaves=20", "0.3 leaves=50", "0.3 leaves=8", "0.9 leaves=50")),
        "uniform k=3",
    ],
    "singling-out": [
        f"pat alpha={s}"
        for s in ("0 leaves=20", "0.3 leaves=10", "0.3 leaves=2", "0.3 leaves=20", "0.3 leaves=4", "0.8 leaves=20")
    ],
    "one-against-many": [
        f"{one}: {protected} protected"
        for one in ("education", "occupation")
        for protected in ("all attributes", f"only {one}")
    ],
}
SHARES = ("utility_risk", "adversary_error", "baseline", "linked", "by_guess", "first_error", "second_error")


def check(outcome: Outcome) -> None:
    name, picture, rows = outcome.experiment.name, outcome.experiment.picture, rows_of(outcome)
    page = outcome.to_html()
    compared = {row[picture.series or picture.x] for row in rows}
    if name in COMPARED:
        assert sorted(compared) == COMPARED[name]
    assert len(compared) > 1
    assert all(html.escape(each) in page for each in compared)
    assert all(0 <= float(row[share]) <= 1 for row in rows for share in SHARES if share in row)
    assert len({row[picture.y] for row in rows}) > 1, "whatever is compared, the figure is the same"
    for row in rows:  # nobody errs much more than the guess that knows nothing
        assert float(row.get("adversary_error", 0)) <= float(row.get("baseline", 1)) + 0.05
    assert outcome.experiment.paper.place.partition(":")[0] in page
    assert page.count("<svg") == (2 if name in WITH_THE_PAPERS_PICTURE else 1)


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
    with pytest.raises(DataError, match=r"give them: later=\[\(name, table\)\]$"):
        run_experiment("drift", adult, most=500)


def test_same_seed_same_files(adult: Table, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run_experiment("qualitative", adult, quick=True, most=1500).save(tmp_path / folder)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in "ab")
    assert one == two
    assert {Path(name).suffix for name in one} >= {".html", ".csv"}


def test_what_it_measures_is_what_the_paper_counts(adult: Table) -> None:
    rows = rows_of(run_experiment("qualitative", adult, quick=True, most=4000))
    assert [row["attribute"] for row in rows] == list(adult.schema.names)
    for row in rows:
        assert (row["asked"] == "0") == (row["buckets"] == "1")
        assert float(row["kept"]) == pytest.approx(int(row["buckets"]) / int(row["values"]), abs=1e-5)


def test_two_breaches_tell_no_less_than_one_by_much(adult: Table) -> None:
    for row in rows_of(run_experiment("multi-breach", adult, quick=True, most=6000)):
        assert float(row["adversary_error"]) <= min(float(row["first_error"]), float(row["second_error"])) + 0.02


class Halves:
    """Everything in two: a minimizer that is no ``Minimizer``."""

    def minimize(self, table: Table) -> Generalization:
        return table.generalization([np.arange(size) * 2 // size for size in table.sizes])


class Careless:
    """Guesses what is most frequent."""

    name = "careless"

    def attack(self, breach: Breach) -> AttackResult:
        return AttackResult(adversary="x", people=breach.people, adversary_error=0.9, interval=None, baseline=1.0)


def test_own_minimizers_adversaries_and_judges_take_part(adult: Table) -> None:
    outcome = run_experiment(
        "side-information", adult, quick=True, most=1500,
        minimizers=[Halves()], adversaries=Careless(), predictor=DummyClassifier(), estimator=DummyClassifier(),
    )  # fmt: skip
    rows = rows_of(outcome)
    assert sorted({row["adversary"][:2] for row in rows}) == ["A1", "A3", "A4", "A5", "ca"]
    assert len(rows) == 5, "one generalization, of the minimizer that was brought"
    assert {row["adversary_error"] for row in rows if row["adversary"] == "careless"} == {"0.9"}
    assert {row["adversary_error"] for row in rows if row["adversary"] != "careless"} != {"0.9"}
    assert outcome.facts["own minimizers"] == "Halves()"
    assert outcome.facts["predictor"] == "DummyClassifier()"


def test_an_experiment_of_ones_own_and_what_an_experiment_has_no_use_for(adult: Table) -> None:
    def measure(laboratory: Laboratory) -> list[dict[str, str]]:
        return [{"by": candidate.minimizer, "setting": candidate.setting} for candidate in own(laboratory)]

    mine = Experiment(
        name="mine", title="Mine", measure=measure, picture=Picture(kind="bars", x="by", y="setting"),
        paper=Paper(place="nowhere", finding="none"), takes=("minimizers",),
    )  # fmt: skip
    found = run_experiment(mine, adult, most=500, minimizers=[Halves(), "uniform", UniformMinimizer(4)])
    rows = [(row["by"], row["setting"]) for row in found.rows]
    assert rows == [("Halves", ""), ("uniform", "k=3"), ("uniform", "k=4")]
    with pytest.raises(ParameterError, match=r"singling-out has no use for minimizers of your own; .*tradeoff"):
        run_experiment("singling-out", adult, minimizers=[Halves()])
    with pytest.raises(ParameterError, match="an object with minimize"):
        run_experiment(mine, adult, most=500, minimizers=[Careless()])


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
    nobody = coded(Schema((named("a", 2),), LABEL), np.zeros(4), labels=np.zeros(4))
    with pytest.raises(DataError, match="personal"):
        run_experiment("seeds", nobody)


def claimed(name: str, rows: list[Row], **facts: str) -> list[str]:
    return Outcome(EXPERIMENTS[name], rows, facts).verdict


def test_a_page_says_what_agrees_and_what_does_not() -> None:
    scenario: Row = {"scenario": "C1", "first_error": 0.4, "second_error": 0.3, "baseline": 0.5}
    agrees = claimed("multi-breach", [{**scenario, "adversary_error": 0.25}])
    assert agrees[0].startswith("Agrees: two breaches tell more")
    assert claimed("multi-breach", [{**scenario, "adversary_error": 0.35}])[0].startswith("Does not agree here")
    order = {"A1 nothing": 0.4, "A3 more": 0.35, "A4 most": 0.2, "A5 some": 0.3}
    rows: list[Row] = [{"adversary": a, "utility_risk": 0.2, "adversary_error": e} for a, e in order.items()]
    assert claimed("side-information", rows)[0].startswith("Agrees")
    turned: list[Row] = [{**row, "adversary_error": 1 - float(row["adversary_error"])} for row in rows]
    assert claimed("side-information", turned)[0].startswith("Does not agree here")
    found = ((8, 1.0), (20, 1.2), (50, 1.1))
    told: list[Row] = [{"generalization": f"pat alpha=0.3 leaves={k}", "times_chance": t} for k, t in found]
    assert claimed("linkability", told)[0].startswith("Does not agree here")
    assert any("quick run" in text for text in claimed("seeds", [], strength="quick: fewer settings"))
    assert claimed("seeds", [])[0].startswith("Cannot be told from these rows: other splits")
    nothing = Experiment(
        name="x", title="x", measure=lambda _: [], picture=Picture(kind="bars", x="a", y="b"),
        paper=Paper(place="nowhere", finding="none"),
    )  # fmt: skip
    assert Outcome(nothing, [], {}).verdict[0].startswith("Nothing here is decided by a rule")
    assert any("z alone" in text for text in agrees)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "linkability",
            [{"generalization": f"pat alpha=0.3 leaves={n}", "times_chance": 1.0} for n in (8, 20, 50)],
        ),
        (
            "singling-out",
            [{"generalization": f"pat alpha={a} leaves=20", "unique_people": 0} for a in ("0", 0.3, 0.8)],
        ),
        ("multi-breach", [{"adversary_error": 0.3, "first_error": 0.3, "second_error": 0.4}]),
        (
            "side-information",
            [
                {"utility_risk": 0.2, "adversary": f"{who} x", "adversary_error": 0.3}
                for who in ("A1", "A3", "A4", "A5")
            ],
        ),
    ],
)
def test_where_all_are_alike_a_claim_that_one_is_more_does_not_agree(name: str, rows: list[Row]) -> None:
    said = claimed(name, rows)
    assert said[0].startswith("Does not agree here"), said


@pytest.mark.parametrize("name", WITH_THE_PAPERS_PICTURE)
def test_what_the_paper_prints_agrees_with_what_it_finds(name: str) -> None:
    rows, told = EXPERIMENTS[name].paper.rows, EXPERIMENTS[name].claims
    if name == "tradeoff":  # three of its trees are printed: who is ahead of those may not be of its frontier
        told = told[:1]
    assert all(claim.holds(rows) for claim in told)


def test_every_experiment_has_a_verdict() -> None:
    assert [name for name, experiment in EXPERIMENTS.items() if not experiment.claims] == []


def test_the_papers_figures_have_no_digits_that_it_does_not_print() -> None:
    rows: list[Row] = [
        {"generalization": "pat", "architecture": name, "adversary_error": 0.5}
        for name in ("MLP-2", "MLP-3", "MLP-5")
    ]
    found = Outcome(EXPERIMENTS["architectures"], rows, {}).to_html()
    assert "<td>0.52</td>" in found
    assert "<td>0.520</td>" not in found
    assert "<td>0.500</td>" in found  # ours


def test_small_figures_are_not_rounded_to_the_same() -> None:
    rows: list[Row] = [
        {
            "generalization": f"pat alpha=0.3 leaves={k}",
            "value_told": 0.1,
            "by_chance": 0.1,
            "times_chance": 1 + k / 100,
        }
        for k in (8, 20, 50)
    ]
    page = Outcome(EXPERIMENTS["linkability"], rows, {}).to_html()
    for figure in ("0.0025", "0.0030", "0.0046", "0.0027", "1.917"):
        assert f"<td>{figure}</td>" in page
    assert "Agrees: the finer the tree" in page
