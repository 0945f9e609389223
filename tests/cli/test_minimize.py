"""``leastwise minimize`` and ``leastwise minimizers`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise.cli.minimize import DEFAULT
from leastwise.cli.task import names
from leastwise.generalization import Generalization
from leastwise.minimizers import MINIMIZERS
from leastwise.schema import Attribute, Schema
from leastwise.schema.file import save_schema
from tests.cli.running import Run

UNIFORM = ("-m", "uniform", "--set")


def test_from_data_to_artefact(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    answer = run("minimize", people, "-l", "rich", "--missing", "?", "-p", "sex", *UNIFORM, "k=2", "-o", path)
    assert answer.code == 0
    found = Generalization.load(path)
    assert [partition.size for partition in found.partitions] == [2, 2, 2]
    assert found.schema.personal == ("sex",)
    assert answer.out.strip() == found.describe()
    assert f"wrote {path}" in answer.err


def test_the_same_seed_gives_the_same_bytes(run: Run, people: Path) -> None:
    words = ("minimize", people, "-l", "rich", "--missing", "?", *UNIFORM, "k=2", "--json")
    first, second = run(*words, "--seed", 1), run(*words, "--seed", 1)
    assert first.out == second.out
    assert Generalization.from_json(first.out).origin["random_state"] == 1


def test_only_the_training_part_is_seen(run: Run, tmp_path: Path) -> None:
    # The one record with a large number is outside the training part of this seed, so the range must not show it.
    path = tmp_path / "one.csv"
    path.write_text(
        "x,y\n" + "".join(f"{i % 9}.5,{i % 2}\n" for i in range(99)) + "1000000.5,1\n", encoding="utf-8"
    )
    words = ("minimize", path, "-l", "y", *UNIFORM, "k=3", "--json")
    largest = [max(Generalization.from_json(run(*words, "--seed", seed).out)["x"].edges) for seed in range(6)]
    everything = Generalization.from_json(run(*words, "--set", "all_records=true").out)
    assert min(largest) < 10
    assert everything["x"].edges[-1] > 100_000


def test_a_schema_file_decides(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    age = Attribute("age", "continuous", lower=0, upper=120, integer=True)
    save_schema(Schema((age,), Attribute("rich", values=("0", "1"))), path)
    found = Generalization.from_json(run("minimize", people, "--schema", path, *UNIFORM, "k=3", "--json").out)
    assert found["age"].labels == ("0 to 40", "41 to 80", "81 to 120")
    assert "they must agree" in run("minimize", people, "-s", path, "-l", "sex").complaint
    assert "no use beside --schema" in run("minimize", people, "-s", path, "--set", "drop=sex").complaint
    assert "no attribute 'sex'" in run("minimize", people, "-s", path, "-p", "sex").complaint


def test_feature_selection(run: Run, people: Path) -> None:
    words = ("-l", "rich", "--missing", "?", "-m", "feature-selection", "--set", "method=mutual_info", "--set")
    found = Generalization.from_json(run("minimize", people, *words, "k=1", "--json").out)
    assert found.collected == ("age",)
    everything = run("minimize", people, *words, "k=all", "--json").out
    assert Generalization.from_json(everything).not_collected == ()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("-m", "unifrom"), "did you mean 'uniform'?"),
        (("-m", "uniform", "--alpha", "0.5"), "No such option: --alpha"),
        (("-m", "uniform", "--set", "alpha=0.5"), "uniform has no setting 'alpha'; can be set: min_bucket, "),
        (("-m", "pat", "--set", "alpah=0.5"), "pat has no setting 'alpah'; did you mean 'alpha'? can be set: "),
        (("-m", "pat", "--set", "alpha=2"), "alpha of pat must be a number between 0 and 1; got 2"),
        (("-m", "pat", "--set", "leaves=0"), "max_leaves of pat must be a whole number from 1; got 0"),
        (("--set", "seed=3"), "coarsening has no setting 'seed'"),
        (("--set", "depth"), "--set must be name=value; got 'depth'"),
        (("--set", "mu=1", "--set", "mu=2"), "mu must be set once; it was set twice"),
        (("--set", "all_records=3"), "all_records of coarsening must be true or false; got 3"),
        ((*UNIFORM, "k=many"), "k of uniform must be a whole number from 1; got 'many'"),
        (("--set", "k=3"), "coarsening has no setting 'k'"),
        ((*UNIFORM, "k=0"), "k of uniform must be a whole number from 1; got 0"),
        ((*UNIFORM, "k=2", "--max-error-increase", "0.1"), "uniform has no setting 'max_error_increase'"),
        (("--seed", "x"), "'--seed'"),
        (("--max-error-increase", "0,5"), "max_error_increase must be between 0.0 and 1.0; got '0,5'"),
        (("--max-error-increase", "true"), "max_error_increase must be between"),
        (("--set", "mu=abc"), "mu of coarsening must be a number from 0, or null; got 'abc'"),
        (("--set", "surrogate=nobody"), "surrogate of coarsening must be one of "),
        (("--set", "weights=sex=abc"), "weights must be name=number, as in sex=0.3; got 'sex=abc'"),
        (("--set", "weights=sex=-1"), "the weight of sex must be a number from 0; got -1"),
        (("--set", "weights=nosuch=1"), "weights must name personal attributes; got 'nosuch'"),
        (("--set", "weights=3"), "weights must be name=number, as in sex=0.3; got '3'"),
        (("-m", "optimal", "--set", "lam=abc"), "lam must be a number from 0; got 'abc'"),
        (("-m", "optimal", "--set", "bucket_penalty=abc"), "bucket_penalty must be a number from 0"),
        (("-m", "feature-selection", "--set", "method=anov"), "method of feature-selection must be one of "),
        (("-o", "/no/such/folder/g.json"), "is no folder; make it first"),
        (("-o", "/"), "is a folder; name a file in it"),
        (("--set", "drop=age,sex,id,job"), "there are no attributes to minimize"),
        (("-p", "sx"), "did you mean 'sex'?"),
    ],
)
def test_mistakes(run: Run, people: Path, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in run("minimize", people, "-l", "rich", *words).complaint


LISTED = {
    "coarsening": {"max_error_increase": 0.01, "mu": None, "surrogate": None, "weights": None, "confidence": 0.9},
    "optimal": {"lam": 1.0, "surrogate": None, "weights": None, "bucket_penalty": 0.0},
    "pat": {
        "alpha": 0.7,
        "max_leaves": 20,
        "min_leaf": 100,
        "weights": None,
        "min_bucket": None,
        "min_joint": None,
    },
    "apt": {"target_accuracy": 0.95, "retrain": False, "max_depth": 10, "min_leaf": 10},
    "iterative": {"threshold": None, "k": 4},
    "feature-selection": {"k": 4, "method": "anova"},
    "uniform": {"k": 3},
    "advtrain": {"lam": None, "k": 5, "epochs": 20},
    "mutualinf": {"lam": None, "k": 5, "epochs": 20},
}


def test_every_minimizer_is_listed_with_what_can_be_set(run: Run) -> None:
    listed = {item["name"]: item for item in json.loads(run("minimizers", "--json").out)}
    found = {name: {each["name"]: each["default"] for each in item["settings"]} for name, item in listed.items()}
    assert found == LISTED
    said = {each["name"]: each for each in listed["pat"]["settings"]}
    assert said["alpha"]["meaning"].startswith("How much privacy counts, from 0 ")
    assert said["alpha"]["must"] == "a number between 0 and 1"
    assert said["min_joint"]["meaning"] == said["min_bucket"]["meaning"]  # described together
    assert all(each["meaning"] for item in listed.values() for each in item["settings"])
    text = run("minimizers").out
    for words in ("max_error_increase  0.01 ", "bucket_penalty      0.0 ", "Must be one of ", *LISTED):
        assert words in text


def test_the_recommended_one_is_marked_and_is_the_default(run: Run, people: Path) -> None:
    listed = json.loads(run("minimizers", "--json").out)
    assert [item["name"] for item in listed if item["recommended"]] == [DEFAULT]
    assert f"{DEFAULT} (recommended)" in run("minimizers").out
    assert next(iter(MINIMIZERS)) == DEFAULT
    found = Generalization.from_json(run("minimize", people, "-l", "rich", "--json").out)
    assert found.origin["minimizer"] == DEFAULT
    assert found.collected == ("age",)
    assert "needs a label" in run("minimize", people).complaint


def test_one_minimizer_is_told_about_and_a_help_text_needs_no_source(run: Run) -> None:
    text = run("minimizers", "pat").out
    assert "max_leaves" in text
    assert "chi2" not in text
    assert [item["name"] for item in json.loads(run("minimizers", "pat", "--json").out)] == ["pat"]
    assert "did you mean 'pat'" in run("minimizers", "patt").complaint
    for item in json.loads(run("minimizers", "--json").out):
        for setting in item["settings"]:
            assert "leastwise." not in setting["meaning"]
            assert not setting["meaning"].lower().startswith("see ")


@pytest.fixture
def policy(people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "leastwise.yaml"
    path.write_text(
        "format: leastwise-policy\nversion: 1\ndata: people.csv\nlabel: rich\nmissing: ['?']\n"
        "constraints: {edges: {age: [20, 64]}, suppressed: [sex], max_buckets: {age: 4}}\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("minimizer", ["coarsening", "optimal"])
def test_constraints_of_a_policy_hold(run: Run, policy: Path, minimizer: str) -> None:
    found = Generalization.from_json(run("minimize", "--policy", policy, "-m", minimizer, "--json").out)
    assert found.origin["minimizer"] == minimizer
    assert {20, 64} <= set(found["age"].edges)
    assert found["age"].size <= 4
    assert "sex" not in found.collected


def test_what_cannot_be_brought_to_the_constraints_is_refused(run: Run, policy: Path, people: Path) -> None:
    words = ("minimize", "--policy", policy, *UNIFORM, "k=2")
    assert "age: the edge 20 is gone; age: the edge 64 is gone); -m coarsening" in run(*words).complaint
    floored = run("minimize", "--policy", policy, "--set", "min_bucket=190")
    assert "leave out min_bucket" in floored.complaint
    fewer = "format: leastwise-policy\nversion: 1\nlabel: rich\nconstraints: {suppressed: [sex]}\n"
    policy.write_text(fewer, encoding="utf-8")
    assert "name the records" in run(*words).complaint
    found = Generalization.from_json(run(*words[:1], people, *words[1:], "--json").out)
    assert found.not_collected == ("sex",)


def write_policy(path: Path, text: str) -> Path:
    path.write_text(f"format: leastwise-policy\nversion: 1\nlabel: rich\n{text}", encoding="utf-8")
    return path


def test_what_is_typed_wins_over_the_policy(run: Run, people: Path, tmp_path: Path) -> None:
    path = write_policy(tmp_path / "leastwise.yaml", "seed: 7\nat_least: 90\ndrop: [job]\n")
    words = ("minimize", people, "--policy", path, *UNIFORM, "k=2", "--json")
    said, typed, other = (
        Generalization.from_json(run(*words, *more).out) for more in ((), ("--set", "at_least=1"), ("--seed", 3))
    )
    assert said.schema["sex"].other
    assert not typed.schema["sex"].other
    assert (said.origin["split_seed"], other.origin["split_seed"]) == (7, 3)
    schema = tmp_path / "schema.yaml"
    save_schema(typed.schema, schema)
    assert run(*words, "--schema", schema).code == 0  # drop and at_least are about inference


def test_whoever_suppresses_everything_is_asked_nothing(run: Run, people: Path, tmp_path: Path) -> None:
    path = write_policy(tmp_path / "leastwise.yaml", "drop: [id]\nconstraints: {suppressed: [age, sex, job]}\n")
    assert Generalization.from_json(run("minimize", people, "--policy", path, "--json").out).collected == ()


@pytest.mark.parametrize("edge", [30, 89])  # nobody is older than 77
def test_a_result_under_constraints_is_not_refused(run: Run, people: Path, tmp_path: Path, edge: int) -> None:
    constraints = f"{{edges: {{age: [{edge}]}}, min_people: 15}}"
    path = write_policy(tmp_path / "leastwise.yaml", f"constraints: {constraints}\n")
    for minimizer in ("coarsening", "optimal"):
        assert run("minimize", people, "--policy", path, "-m", minimizer, "--json").code == 0


def test_names_with_commas() -> None:
    assert names(["a,b", "c, d"], ["a", "b", "c, d"]) == ["a", "b", "c, d"]
    assert names([" a , b "], ["a", "b"]) == ["a", "b"]
    assert names(None, ["a"]) == []


def test_a_floor_holds_after_any_minimizer(run: Run, people: Path, tmp_path: Path) -> None:
    words = (
        "minimize",
        people,
        "-l",
        "rich",
        "--missing",
        "?",
        *UNIFORM,
        "k=3",
        "--set",
        "all_records=true",
        "--json",
    )
    free, floored = (Generalization.from_json(run(*words, *more).out) for more in ((), ("--set", "min_joint=30")))
    assert floored.origin["min_joint"] == 30
    assert floored.is_coarser_than(free)
    assert floored.total_buckets < free.total_buckets


def test_what_is_left_out_is_named(run: Run, people: Path, tmp_path: Path) -> None:
    answer = run("minimize", people, "-l", "rich", "--missing", "?", "-o", tmp_path / "g.json")
    assert "left out: id (identifier" in answer.err
