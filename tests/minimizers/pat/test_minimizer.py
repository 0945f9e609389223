from __future__ import annotations

import itertools
import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.utils.estimator_checks import check_estimator

from leastwise import Attribute, Generalization, ParameterError, Schema, SchemaError, Table
from leastwise.minimizers import MINIMIZERS, PATMinimizer, pat, pat_grid, pat_path
from leastwise.minimizers.pat import ALPHAS, LEAVES, grow_tree
from leastwise.minimizers.pat.tree import generalization
from tests.minimizers.pat.samples import random_table, repeated
from tests.samples import unlabelled


def test_it_is_registered_under_its_name() -> None:
    assert MINIMIZERS["pat"] is PATMinimizer


def test_fit_learns_from_a_frame_and_keeps_the_tree() -> None:
    random = np.random.default_rng(0)
    age = random.integers(18, 90, 2000)
    sex = random.choice(["F", "M"], 2000)
    frame = pl.DataFrame(
        {"age": age, "sex": sex, "y": np.where((age > 40) ^ (random.random(2000) < 0.1), "p", "n")}
    )
    schema = Schema(
        (
            Attribute("age", "continuous", lower=0, integer=True),
            Attribute("sex", values=("F", "M"), personal=True),
        ),
        Attribute("y", values=("n", "p")),
    )
    pat = PATMinimizer(max_leaves=2, schema=schema).fit(frame)
    assert pat.generalization_["age"].labels == ("0 to 40", "41 or more")
    assert pat.generalization_.not_collected == ("sex",)
    assert pat.tree_.leaves == (1, 2)
    assert pat.generalization_.origin["minimizer"] == "pat"
    assert pat.generalization_.origin["alpha"] == 0.7
    assert Generalization.from_json(pat.generalization_.to_json()) == pat.generalization_


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.6])
def test_a_path_is_the_single_results_each_coarser_than_the_next(alpha: float) -> None:
    table = random_table(1, rows=600)
    leaves = (2, 4, 8, 16, 1000)
    found = pat_path(table, alpha, leaves, min_leaf=10)
    for k, g in zip(leaves, found, strict=True):
        assert g == PATMinimizer(alpha, k, min_leaf=10).minimize(table)
        assert g.origin["max_leaves"] == k
    assert all(a.is_coarser_than(b) for a, b in itertools.pairwise(found))
    assert found[::-1] == pat_path(table, alpha, leaves[::-1], min_leaf=10)


@pytest.mark.parametrize("rows", [400, 20000])
def test_a_grid_is_the_paths_whether_or_not_rows_repeat(rows: int) -> None:
    table = random_table(2, rows=rows, discrete=3)
    if rows == 400:
        table = repeated(random_table(2, rows=rows, weights="whole"))
    alphas, leaves = (0.0, 0.5, 0.7), (2, 6, 20)
    together = pat_grid(table, alphas, leaves, min_leaf=20)
    assert together == [pat_path(table, alpha, leaves, min_leaf=20) for alpha in alphas]


def with_levels_of_others(table: Table) -> Table:
    """Return the same records, with many numbers as levels that only people elsewhere gave."""
    levels, codes = list(table.levels), table.codes.astype(np.uint16, order="F")
    for j, attribute in enumerate(table.schema.attributes):
        if attribute.continuous:
            others = np.concatenate([levels[j][:-1] + share * np.diff(levels[j]) for share in (0.1, 0.15, 0.9)])
            levels[j] = np.unique(np.concatenate([levels[j], others.round(6), [-1000.0, 1000.0]]))
            extra = len(levels[j]) + np.arange(attribute.extra_values)
            place = np.concatenate([np.searchsorted(levels[j], table.levels[j]), extra])
            codes[:, j] = place[table.codes[:, j]]
    return replace(table, codes=codes, levels=tuple(levels))


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_numbers_that_only_other_parts_hold_move_no_edge() -> None:
    table = random_table(6, rows=900)
    table = replace(table, schema=table.schema.with_personal(["age", "job", "sex"]))  # |age| counts, too
    shared = with_levels_of_others(table)
    plain = generalization(grow_tree(table, 0.2, 12, min_leaf=10))
    assert generalization(grow_tree(shared, 0.2, 12, min_leaf=10)) != plain
    assert [g.to_json() for g in pat_path(shared, 0.2, (4, 12), min_leaf=10)] == [
        g.to_json() for g in pat_path(table, 0.2, (4, 12), min_leaf=10)
    ]
    assert pat_grid(shared, (0.2, 0.5), (12,), min_leaf=10)[0] == [plain]
    pat = PATMinimizer(0.2, 12, min_leaf=10)
    assert pat.propose(shared).to_json() == pat.propose(table).to_json()


def test_rows_that_stand_for_nobody_keep_their_numbers() -> None:
    table = random_table(6, rows=300, weights="whole")
    age = table.schema.position("age")
    # Only rows of weight 0 hold the lowest number; the level above it is nobody's.
    held = table.take(np.flatnonzero(table.codes[:, age] != 1))
    table = replace(held, weights=np.where(held.codes[:, age] == 0, 0.0, held.counts))
    own = table.with_own_levels()
    numbers = np.append(own.levels[age], np.nan)[own.codes[:, age]]
    assert np.array_equal(numbers, np.append(table.levels[age], np.nan)[table.codes[:, age]], equal_nan=True)
    assert len(own.levels[age]) == len(table.levels[age]) - 1
    assert pat_path(table, 0.2, (8,), min_leaf=10)[0].collected


def test_a_path_says_which_part_of_which_split_chose_it() -> None:
    train = random_table(7, rows=400).split(seed=5).train
    for g in (*pat_path(train, 0.3, (2, 4), min_leaf=10), *pat_grid(train, (0.1, 0.3), (4,), min_leaf=10)[1]):
        assert (g.origin["chosen_on"], g.origin["split_seed"]) == ("train", 5)


def test_the_paper_s_grid_has_108_settings() -> None:
    assert len(ALPHAS) * len(LEAVES) == 108


def test_the_same_records_give_the_same_bytes() -> None:
    table = random_table(3, rows=500)
    texts = {PATMinimizer(0.3, 12, min_leaf=5, random_state=seed).minimize(table).to_json() for seed in (0, 0, 7)}
    assert len(texts) == 1


def test_at_alpha_0_9_fewer_buckets_are_asked_than_at_0_1_and_at_1_nothing() -> None:
    table = random_table(4, rows=3000)
    buckets = [g.total_buckets for g in (PATMinimizer(a, 50, min_leaf=5).minimize(table) for a in (0.1, 0.9, 1.0))]
    assert buckets[0] > buckets[1] >= buckets[2] == len(table.schema)


def test_the_weights_of_personal_attributes_decide_what_is_asked() -> None:
    table = random_table(5, rows=3000)
    careless = grow_tree(table, 0.8, 30, min_leaf=20, weights={"job": 0, "size": 0, "sex": 1})
    assert {table.schema.names[split.attribute] for split in careless.splits} & {"job", "size"}
    assert "sex" not in {table.schema.names[split.attribute] for split in careless.splits}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"alpha": 1.5}, "alpha must be between 0.0 and 1.0"),
        ({"max_leaves": 0}, "max_leaves must be a whole number"),
        ({"max_leaves": 2.5}, "max_leaves must be a whole number"),
        ({"min_leaf": 0}, "min_leaf must be at least 1"),
        ({"weights": {"jop": 1.0}}, "did you mean 'job'"),
    ],
)
def test_wrong_parameters_are_said(how: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        PATMinimizer(**how).minimize(random_table(0))  # type: ignore[arg-type]


def test_it_needs_a_label() -> None:
    with pytest.raises(SchemaError, match="label"):
        PATMinimizer().minimize(unlabelled(random_table(0)))


def test_floors_hold_on_the_records() -> None:
    table = random_table(6, rows=1000)
    g = PATMinimizer(0.1, 30, min_leaf=5, min_bucket=60, min_joint=20).minimize(table)
    assert g.is_coarser_than(PATMinimizer(0.1, 30, min_leaf=5).minimize(table))
    _, people = np.unique(table.generalize(g), axis=0, return_counts=True)
    assert people.min() >= 20
    assert g.collected


@pytest.mark.parametrize("name", ["__init__", "drawing", "minimizer", "tree"])
def test_numba_is_loaded_only_when_a_tree_is_grown(name: str) -> None:
    source = Path(pat.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    loaded = [line for line in source.splitlines() if line.startswith(("from leastwise", "import"))]
    assert not [line for line in loaded if "kernels" in line or ".growth" in line]


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_scikit_learn_contract_holds() -> None:
    results = check_estimator(PATMinimizer(max_leaves=4, min_leaf=2), on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_the_examples_of_the_guide_run() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "pat.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert blocks
    seen: dict[str, object] = {}
    for block in blocks:
        exec(block, seen)
    nested = seen["nested"]
    assert isinstance(nested, list)
    assert all(a.is_coarser_than(b) for a, b in itertools.pairwise(nested))


@pytest.mark.slow
def test_the_qualitative_study_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("LEASTWISE_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["study"])
    runpy.run_path(
        str(Path(__file__).parents[3] / "examples" / "03_pat_qualitative_study.py"), run_name="__main__"
    )
    said = capsys.readouterr().out
    assert "attribute values become" in said
    assert "Not asked at all:" in said


def test_real_records_are_asked_little(data_folder: Path) -> None:
    frame = pl.read_parquet(data_folder / "acs_income_co_2018.parquet").sample(8000, seed=0)
    discrete = [name for name in frame.columns if name not in ("AGEP", "SCHL", "WKHP", "PINCP")]
    attributes = tuple(
        Attribute(name, values=tuple(map(str, sorted(frame[name].unique().to_list()))), personal=True)
        if name in discrete
        else Attribute(name, "continuous", integer=True)
        for name in frame.columns
        if name != "PINCP"
    )
    labelled = frame.with_columns(pl.col("PINCP").cast(pl.Int8))
    table = Table.from_frame(labelled, Schema(attributes, Attribute("PINCP", values=("0", "1"))))
    coarse, fine = pat_path(table, 0.7, (4, 20))
    assert coarse.total_buckets <= len(attributes) + 3
    assert fine.total_buckets < sum(table.sizes) / 5
