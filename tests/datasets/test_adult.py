from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from leastwise import DataError, Table
from leastwise.datasets import load, load_adult
from tests.datasets.official import ADULT_ROWS


def test_bundled_adult_is_whole_and_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket", None)
    adult = load_adult()
    assert adult.frame.shape == (48_842, 15)
    assert adult.frame["income"].value_counts().sort("income")["count"].to_list() == [37_155, 11_687]
    assert "fnlwgt" not in adult.schema.names
    assert "education-num" not in adult.schema.names
    assert "10.24432/C5XW20" in adult.datasheet


def test_education_is_in_its_true_order() -> None:
    adult = load_adult()
    order = adult.frame.group_by("education").agg(pl.col("education-num").first()).sort("education-num")
    assert adult.schema["education"].kind == "ordinal"
    assert adult.schema["education"].values == tuple(order["education"])


def test_domains_are_declared_not_observed() -> None:
    """The least and the greatest number of the records are somebody's; bounds must not give them away."""
    adult = load_adult()
    for name in ("age", "capital-gain", "capital-loss"):
        attribute, column = adult.schema[name], adult.frame[name]
        assert attribute.upper != column.max()
        assert attribute.integer
    assert {name for name in adult.schema.names if adult.schema[name].missing} == {
        name for name in adult.schema.names if adult.frame[name].null_count()
    }


def test_every_attribute_has_a_question() -> None:
    assert all(attribute.question for attribute in load_adult().schema.attributes)


def test_adult_encodes_and_splits() -> None:
    adult = load_adult()
    split = Table.from_frame(adult.frame, adult.schema).split(0)
    assert [len(part) for part in split] == [29_305, 4_884, 14_653]


def official(folder: Path) -> Path:
    (folder / "adult.data").write_text("\n".join(ADULT_ROWS) + "\n\n")
    (folder / "adult.test").write_text(
        "|1x3 Cross validator\n" + "\n".join(f"{row}." for row in ADULT_ROWS) + "\n\n"
    )
    return folder


def test_official_parts_read_as_the_bundled_copy_does(tmp_path: Path) -> None:
    folder = official(tmp_path)
    both = load("adult", folder)
    assert both.frame.height == 4
    assert both.frame["income"].to_list() == ["<=50K", ">50K"] * 2
    assert both.frame["workclass"].to_list() == ["State-gov", None] * 2
    assert_frame_equal(load("adult", folder / "adult.test").frame, both.frame[2:])
    assert_frame_equal(both.frame[:1], load_adult().frame[:1])
    Table.from_frame(both.frame, both.schema)


def test_a_short_row_is_named(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text(ADULT_ROWS[0] + "\n39, State-gov\n")
    with pytest.raises(DataError, match="record 2 must have 15 fields; got 2"):
        load("adult", tmp_path / "adult.data")


def test_a_wrong_number_is_answered(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text(ADULT_ROWS[0].replace("39", "old") + "\n")
    with pytest.raises(DataError, match="must hold whole numbers"):
        load("adult", tmp_path / "adult.data")
