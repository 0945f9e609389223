"""Columns on which a first try once ended: a postcode of nearly everybody's own, counts, grades, "=1.234,50"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leastwise import Generalization, Intervals, PATMinimizer, Table, minimize
from leastwise.records.files import read_frame
from leastwise.runs.grid import Grid
from leastwise.runs.task import SHARES, Options, checked_split
from leastwise.schema.inference import infer_schema
from tests.zoo import EDUCATION, german

RECORDS = 3000


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Through CSV and back, as a file has it."""
    rng = np.random.default_rng(0)
    grade, priors = rng.integers(0, len(EDUCATION), RECORDS), np.minimum(rng.geometric(0.3, RECORDS) - 1, 20)
    zips = rng.permutation(99_999)[: RECORDS - 62]
    columns = {
        "zip": [f"{n:05}" for n in [*zips, *zips[:62]]],
        "priors": priors,
        "education": [EDUCATION[i] for i in grade],
        "amount": [f"={german(value)}" for value in rng.gamma(2.0, 1500.0, RECORDS)],
        "y": np.where(grade + 2 * (priors < 2) + rng.normal(0, 1, RECORDS) > 5, "yes", "no"),
    }
    path: Path = tmp_path_factory.mktemp("seen") / "people.csv"
    pl.DataFrame(columns).write_csv(path)
    return read_frame(path)


def test_a_postcode_of_nearly_everybodys_own_starves_no_part(frame: pl.DataFrame) -> None:
    assert frame["zip"].n_unique() == 2938
    found = infer_schema(frame, "y", kinds={"zip": "discrete"}, keep=["zip"], at_least=1).schema
    split = checked_split(Table.from_frame(frame, found.with_personal(["zip"])), Grid.of("pat"), Options())
    assert [len(part) for part in split] == [round(share * RECORDS) for share in SHARES]


def test_zeros_in_front_are_not_told_to_be_missing(frame: pl.DataFrame) -> None:
    said = next(finding for finding in infer_schema(frame, "y").findings if finding.name == "zip")
    assert said.derive.startswith("prefix")
    assert "--missing" not in " ".join([said.reason, *said.warnings])


def test_counts_and_grades_are_grouped_in_their_order(frame: pl.DataFrame) -> None:
    schema = infer_schema(frame, "y", drop=["zip", "amount"], personal=["education"]).schema
    assert (schema["priors"].kind, schema["priors"].lower) == ("continuous", 0)
    assert schema["education"].values == EDUCATION
    made: Generalization = PATMinimizer(0.3, min_leaf=50).minimize(Table.from_frame(frame, schema))
    assert {*made.collected} == {"priors", "education"}
    assert "or less" not in " ".join(made["priors"].labels)
    buckets = made["education"].assignment  # type: ignore[union-attr]
    assert list(buckets) == sorted(buckets), "runs of neighbours"


def test_a_formula_that_is_an_amount_is_asked_as_one(frame: pl.DataFrame) -> None:
    said = next(finding for finding in infer_schema(frame, "y").findings if finding.name == "amount")
    assert (said.kind, said.derive) == ("continuous", "number of = 1.234,5")


@pytest.mark.parametrize("seed", [100, 101])
def test_no_single_year_is_asked_apart_where_the_records_have_no_opinion(seed: int, tmp_path: Path) -> None:
    """Whether somebody is paid changes with age step by step: no year of life is like no other."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(18, 90, 900), random.choice(["f", "m"], 900)
    paid = random.random(900) < 1 / (1 + np.exp(-(age - 45) / 8))
    people = pl.DataFrame({"age": age, "sex": sex, "paid": np.where(paid, "yes", "no")})
    found = minimize(people, "paid", ["sex"], quick=True, seed=seed, jobs=1, folder=tmp_path, progress=None)
    assert found.recommended is not None
    assert "age" in found.recommended.collected
    for candidate in found.frontier.points:
        partition = candidate.generalization["age"]
        if isinstance(partition, Intervals):
            ends = [partition.ends(bucket) for bucket in range(len(partition.edges) + 1)]
            alone = [
                up_to for above, up_to in ends if above is not None and up_to is not None and up_to - above <= 1
            ]
            assert not alone, candidate.generalization.describe()
