"""``leastwise minimize`` and ``leastwise minimizers`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leastwise.cli.minimize import DEFAULT
from leastwise.cli.minimizer_options import DEDICATED, option_of, parameters
from leastwise.cli.task import names
from leastwise.generalization import Generalization
from leastwise.minimizers import MINIMIZERS
from leastwise.schema import Attribute, Schema
from leastwise.schema.file import save_schema
from tests.cli.running import Run

UNIFORM = ("-m", "uniform", "--k")


def test_from_data_to_artefact(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    answer = run("minimize", people, "-l", "rich", "--missing", "?", "-p", "sex", *UNIFORM, 2, "-o", path)
    assert answer.code == 0
    found = Generalization.load(path)
    assert [partition.size for partition in found.partitions] == [2, 2, 2]
    assert found.schema.personal == ("sex",)
    assert answer.out.strip() == found.describe()
    assert f"wrote {path}" in answer.err


def test_the_same_seed_gives_the_same_bytes(run: Run, people: Path) -> None:
    words = ("minimize", people, "-l", "rich", "--missing", "?", *UNIFORM, 2, "--json")
    first, second = run(*words, "--seed", 1), run(*words, "--seed", 1)
    assert first.out == second.out
    assert Generalization.from_json(first.out).origin["random_state"] == 1


def test_only_the_training_part_is_seen(run: Run, tmp_path: Path) -> None:
    # The one record with a large number is outside the training part of this seed, so the range must not show it.
    path = tmp_path / "one.csv"
    path.write_text(
        "x,y\n" + "".join(f"{i % 9}.5,{i % 2}\n" for i in range(99)) + "1000000.5,1\n", encoding="utf-8"
    )
    words = ("minimize", path, "-l", "y", *UNIFORM, 3, "--json")
    largest = [max(Generalization.from_json(run(*words, "--seed", seed).out)["x"].edges) for seed in range(6)]
    everything = Generalization.from_json(run(*words, "--all-records").out)
    assert min(largest) < 10
    assert everything["x"].edges[-1] > 100_000


def test_a_schema_file_decides(run: Run, people: Path, tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    age = Attribute("age", "continuous", lower=0, upper=120, integer=True)
    save_schema(Schema((age,), Attribute("rich", values=("0", "1"))), path)
    found = Generalization.from_json(run("minimize", people, "--schema", path, *UNIFORM, 3, "--json").out)
    assert found["age"].labels == ("0 to 40", "41 to 80", "81 to 120")
    assert "they must agree" in run("minimize", people, "-s", path, "-l", "sex").complaint
    assert "no use beside --schema" in run("minimize", people, "-s", path, "--drop", "sex").complaint
    assert "no attribute 'sex'" in run("minimize", people, "-s", path, "-p", "sex").complaint


def test_feature_selection(run: Run, people: Path) -> None:
    words = ("-l", "rich", "--missing", "?", "-m", "feature-selection", "--k", 1, "--method", "mutual_info")
    found = Generalization.from_json(run("minimize", people, *words, "--json").out)
    assert found.collected == ("age",)
    everything = run("minimize", people, *words[:-3], "all", "--json").out
    assert Generalization.from_json(everything).not_collected == ()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("-m", "unifrom"), "did you mean 'uniform'?"),
        (("-m", "uniform", "--alpha", "0.5"), "uniform takes --k, --seed; got --alpha, an option of pat"),
        (("-m", "uniform", "--set", "depth=3"), "minimizer uniform takes --k, --seed; got --set depth=..."),
        (("--set", "seed=3"), "give random_state once only, by --seed"),
        (("--set", "depth"), "--set must be name=value; got 'depth'"),
        ((*UNIFORM, "many"), "k must be a whole number, at least 1; got 'many'"),
        (("--k", "3"), "got --k, an option of iterative, feature-selection, uniform"),
        ((*UNIFORM, "0"), "at least 1; got 0"),
        (("--seed", "x"), "'--seed'"),
        (("--max-error-increase", "0,5"), "max_error_increase must be between 0.0 and 1.0; got '0,5'"),
        (("--max-error-increase", "true"), "max_error_increase must be between"),
        (("--mu", "abc"), "mu must be a number from 0; got 'abc'"),
        (("--weight", "sex=abc"), "the weight of sex must be a number from 0; got 'abc'"),
        (("--weight", "sex=-1"), "the weight of sex must be a number from 0; got -1"),
        (("--weight", "nosuch=1"), "weights must name personal attributes; got 'nosuch'"),
        (("--set", "weights=3"), "weights must be numbers by attribute; got 3"),
        (("-m", "optimal", "--lam", "abc"), "lam must be a number from 0; got 'abc'"),
        (("-m", "optimal", "--set", "bucket_penalty=abc"), "bucket_penalty must be a number from 0"),
        (("-m", "feature-selection", "--method", "anov"), "did you mean 'anova'?"),
        (("-o", "/no/such/folder/g.json"), "is no folder; make it first"),
        (("-o", "/"), "is a folder; name a file in it"),
        (("--drop", "age,sex,id,job"), "there are no attributes to minimize"),
        (("-p", "sx"), "did you mean 'sex'?"),
    ],
)
def test_mistakes(run: Run, people: Path, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in run("minimize", people, "-l", "rich", *words).complaint


def test_every_minimizer_is_listed_with_its_options(run: Run) -> None:
    listed = {item["name"]: item for item in json.loads(run("minimizers", "--json").out)}
    assert set(listed) == set(MINIMIZERS)
    assert "--k (3)" in listed["uniform"]["options"]
    for name, kind in MINIMIZERS.items():
        assert all(option_of(parameter) in listed[name]["options"] for parameter in parameters(kind))
        assert name in run("minimizers").out


def test_the_dedicated_options_are_options_of_the_command(run: Run) -> None:
    text = run("minimize", "--help").out
    for parameter in DEDICATED:
        assert option_of(parameter) in text


def test_the_recommended_one_is_marked_and_is_the_default(run: Run, people: Path) -> None:
    listed = json.loads(run("minimizers", "--json").out)
    assert [item["name"] for item in listed if item["recommended"]] == [DEFAULT]
    assert f"{DEFAULT} (recommended)" in run("minimizers").out
    assert next(iter(MINIMIZERS)) == DEFAULT
    found = Generalization.from_json(run("minimize", people, "-l", "rich", "--json").out)
    assert found.origin["minimizer"] == DEFAULT
    assert found.collected == ("age",)
    assert "needs a label" in run("minimize", people).complaint


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
    words = ("minimize", "--policy", policy, *UNIFORM, 2)
    assert "age: the edge 20 is gone; age: the edge 64 is gone); -m coarsening" in run(*words).complaint
    floored = run("minimize", "--policy", policy, "--min-bucket", 190)
    assert "leave out --min-bucket" in floored.complaint
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
    words = ("minimize", people, "--policy", path, *UNIFORM, 2, "--json")
    said, typed, other = (
        Generalization.from_json(run(*words, *more).out) for more in ((), ("--at-least", 1), ("--seed", 3))
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
    words = ("minimize", people, "-l", "rich", "--missing", "?", *UNIFORM, 3, "--all-records", "--json")
    free, floored = (Generalization.from_json(run(*words, *more).out) for more in ((), ("--min-joint", 30)))
    assert floored.origin["min_joint"] == 30
    assert floored.is_coarser_than(free)
    assert floored.total_buckets < free.total_buckets


def test_what_is_left_out_is_named(run: Run, people: Path, tmp_path: Path) -> None:
    answer = run("minimize", people, "-l", "rich", "--missing", "?", "-o", tmp_path / "g.json")
    assert "left out: id (identifier" in answer.err
