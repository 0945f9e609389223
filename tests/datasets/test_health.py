from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from leastwise import DataError, Table
from leastwise.datasets import load
from leastwise.datasets.health import PERSONAL
from tests.datasets.official import TABLES, health, health_zip


def test_full_and_pruned_have_the_papers_attributes(tmp_path: Path) -> None:
    full, pruned = (load(name, health(tmp_path)) for name in ("health", "health-pruned"))
    assert len(full.schema) == 101
    assert set(full.schema.personal) == set(PERSONAL)
    assert len(pruned.schema) == 12
    assert pruned.schema.personal == pruned.schema.names[-6:]
    for dataset in (full, pruned):
        assert len(Table.from_frame(dataset.frame, dataset.schema)) == 5


def test_counts_by_hand(tmp_path: Path) -> None:
    frame = load("health", health(tmp_path)).frame
    # Member-years in order: 1 Y1, 1 Y2, 2 Y1, 2 Y2 (drugs only), 3 (in Members only).
    expected = {
        "no_Claims": [2, 1, 1, 0, 0],
        "no_Providers": [1, 1, 1, 0, 0],
        "no_Vendors": [2, 1, 0, 0, 0],
        "PayDelay_total": [190, 30, 5, 0, 0],
        "PayDelay_max": [162, 30, 5, 0, 0],
        "PayDelay_min": [28, 30, 5, 0, 0],
        "PCG=COPD": [1, 0, 0, 0, 0],
        "PCG=missing": [0, 1, 0, 0, 0],
        "Specialty=Internal": [1, 1, 0, 0, 0],
        "Specialty=missing": [0, 0, 1, 0, 0],
        "PG=EM": [1, 1, 0, 0, 0],
        "PlaceSvc=Office": [1, 1, 1, 0, 0],
        "DrugCount_total": [9, 0, 0, 1, 0],
        "DrugCount_months": [2, 0, 0, 1, 0],
        "LabCount_total": [10, 0, 0, 0, 0],
        "AGE>60": [1, 1, 0, 0, 0],
        "Sex=missing": [0, 0, 1, 1, 0],
        "Sex=M": [0, 0, 0, 0, 1],
        "Charlson>0": [1, 0, 0, 0, 0],
    }
    assert {name: frame[name].to_list() for name in expected} == expected
    assert not {"MemberID", "Year"} & set(frame.columns)


def test_archive_reads_as_the_folder(tmp_path: Path) -> None:
    packed = load("health", health_zip(tmp_path / "HHP_release3.zip"))
    assert_frame_equal(packed.frame, load("health", health(tmp_path)).frame)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    health(tmp_path)
    (tmp_path / "LabCount.csv").unlink()
    with pytest.raises(DataError, match=r"must hold LabCount.csv"):
        load("health", tmp_path)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("Claims.csv", TABLES["Claims.csv"].replace("PayDelay", "Delay"))
    with pytest.raises(DataError, match="has no column 'PayDelay'"):
        load("health", tmp_path / "a.zip")


def test_a_group_that_the_codebook_does_not_have_is_named(tmp_path: Path) -> None:
    health(tmp_path)
    (tmp_path / "Claims.csv").write_text(TABLES["Claims.csv"].replace("COPD", "COPDX"))
    with pytest.raises(DataError, match="PrimaryConditionGroup 'COPDX' is not known"):
        load("health", tmp_path)


def test_a_number_that_is_none_is_answered(tmp_path: Path) -> None:
    health(tmp_path)
    (tmp_path / "LabCount.csv").write_text(TABLES["LabCount.csv"].replace("10+", "many"))
    with pytest.raises(DataError, match="with whole numbers"):
        load("health", tmp_path)


def test_member_years(data_folder: Path) -> None:
    full = load("health", data_folder / "health.parquet")
    assert (full.frame.height, len(full.schema)) == (171_067, 101)
    assert full.frame["Charlson>0"].mean() == pytest.approx(0.316, abs=5e-4)
    # Each claim has one group of each kind, "missing" at worst.
    for kind in ("PCG=", "Specialty=", "PG=", "PlaceSvc="):
        total = full.frame.select(name for name in full.frame.columns if name.startswith(kind)).sum_horizontal()
        assert (total == full.frame["no_Claims"]).all(), kind
