from __future__ import annotations

from pathlib import Path

import pytest

from leastwise import DataError, ParameterError, Table
from leastwise.datasets import load
from leastwise.datasets.acs import ACS_INCOME, addresses
from tests.datasets.official import CHILD, pums

TASKS = {"acs-income": (10, 7), "acs-employment": (16, 14), "acs-public-coverage": (19, 16)}

# For each task, people and whether its filter keeps them: the edges of folktables' inequalities.
KEPT = {
    "acs-income": [({}, True), ({"AGEP": "16"}, False), ({"AGEP": "17"}, True), ({"PINCP": "100"}, False),
                   ({"PINCP": "101"}, True), ({"WKHP": ""}, False), ({"PWGTP": "00000"}, False), (CHILD, False)],
    "acs-employment": [({}, True), (CHILD, True), ({"PWGTP": "0"}, True)],
    "acs-public-coverage": [({}, False), ({"PINCP": "30000"}, True), ({"PINCP": "30001"}, False),
                            ({"PINCP": "-500"}, True), ({"PINCP": "0", "AGEP": "65"}, False),
                            ({"PINCP": "0", "AGEP": "64"}, True), (CHILD, False)],
}  # fmt: skip
# A person whom the task keeps, and the label.
LABELS = {
    "acs-income": [({"PINCP": "50000"}, 0), ({"PINCP": "50001"}, 1)],
    "acs-employment": [({"ESR": "1"}, 1), ({"ESR": "2"}, 0), (CHILD, 0)],
    "acs-public-coverage": [({"PINCP": "0", "PUBCOV": "1"}, 1), ({"PINCP": "0", "PUBCOV": "2"}, 0)],
}


@pytest.mark.parametrize("name", TASKS)
def test_columns_and_personal_attributes_are_those_of_the_paper(name: str, tmp_path: Path) -> None:
    people = [{"PINCP": "20000"}, {"PINCP": "20000", "SEX": "2", "FER": "2"}]
    task = load(name, pums(tmp_path / "psam_p06.csv", people))
    assert (len(task.schema), len(task.schema.personal)) == TASKS[name]
    continuous = {attribute.name for attribute in task.schema.attributes if attribute.continuous}
    assert continuous == {"AGEP", "SCHL", "WKHP", "PINCP"} & set(task.schema.names)
    table = Table.from_frame(task.frame, task.schema)
    assert len(table) == 2


@pytest.mark.parametrize("name", TASKS)
def test_filters(name: str, tmp_path: Path) -> None:
    for i, (person, kept) in enumerate(KEPT[name]):
        task = load(name, pums(tmp_path / f"{i}.csv", [person]))
        assert task.frame.height == int(kept), person


@pytest.mark.parametrize("name", TASKS)
def test_labels(name: str, tmp_path: Path) -> None:
    people, labels = zip(*LABELS[name], strict=True)
    task = load(name, pums(tmp_path / "psam_p06.csv", people))
    assert task.schema.label is not None
    assert task.frame[task.schema.label.name].to_list() == list(labels)


def test_a_blank_is_missing(tmp_path: Path) -> None:
    task = load("acs-employment", pums(tmp_path / "psam_p06.csv", [{}, CHILD]))
    assert task.frame["SCHL"].to_list() == [21, None]
    assert task.frame["MIL"].to_list() == [4, None]
    Table.from_frame(task.frame, task.schema)


def test_domains_from_the_dictionary_and_from_the_file(tmp_path: Path) -> None:
    task = load(
        "acs-income", pums(tmp_path / "psam_p06.csv", [{"OCCP": "9830"}, {"OCCP": "0010"}, {"OCCP": "0110"}])
    )
    assert task.schema["OCCP"].values == ("10", "110", "9830")
    assert task.schema["OCCP"].other
    assert len(task.schema["RAC1P"].values) == 9
    assert task.schema["SEX"].labels == ("male", "female")
    assert (task.schema["AGEP"].lower, task.schema["AGEP"].upper) == (17, 99)


def test_zip_and_folders_are_understood(tmp_path: Path) -> None:
    pums(tmp_path / "2018" / "1-Year" / "csv_pca.zip", [{}])
    pums(tmp_path / "2014" / "1-Year" / "ss14pca.csv", [{}, {}])
    pums(tmp_path / "psam_p36.csv", [{}, {}, {}])
    found = [load("acs-income", tmp_path, state=state, year=year).frame.height
             for state, year in (("CA", 2018), ("ca", 2014), ("NY", 2017))]  # fmt: skip
    assert found == [1, 2, 3]
    assert load("acs-income", tmp_path / "2018" / "1-Year" / "csv_pca.zip").frame.height == 1


def test_later_files_name_two_columns_differently(tmp_path: Path) -> None:
    file = pums(tmp_path / "psam_p06.csv", [{"RELP": "20", "PINCP": "1"}], {"RELP": "RELSHIPP", "ST": "STATE"})
    coverage = load("acs-public-coverage", file)
    assert coverage.frame["ST"].to_list() == [6]
    employment = load("acs-employment", file)
    assert "RELSHIPP" in employment.schema.names
    assert "RELP" not in employment.schema.names
    assert len(employment.schema) == 16
    Table.from_frame(employment.frame, employment.schema)


def test_what_is_not_a_person_file_is_answered(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("AGEP,SEX\n1,2\n")
    with pytest.raises(DataError, match="has no column 'COW', so it is not the official file"):
        load("acs-income", other)
    with pytest.raises(DataError, match="must hold whole numbers"):
        load("acs-income", pums(tmp_path / "text.csv", [{"SEX": "male"}]))
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="not a PUMS person file"):
        load("acs-income", tmp_path / "empty.csv")
    damaged = pums(tmp_path / "csv_pca.zip", [{}] * 50)
    data = bytearray(damaged.read_bytes())
    data[60:90] = b"x" * 30
    damaged.write_bytes(bytes(data))
    with pytest.raises(DataError, match="is damaged"):
        load("acs-income", damaged)


def test_missing_files_and_wrong_options_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="leastwise datasets get acs-income"):
        load("acs-income")
    with pytest.raises(DataError, match="there is no file"):
        load("acs-income", tmp_path / "nothing.csv")
    with pytest.raises(ParameterError, match="say which state"):
        load("acs-income", tmp_path)
    with pytest.raises(ParameterError, match="state must be one of"):
        load("acs-income", tmp_path, state="XX", year=2018)
    with pytest.raises(DataError, match=r"must hold csv_pca.zip or psam_p06.csv or ss18pca.csv"):
        load("acs-income", tmp_path, state="CA", year=2018)
    with pytest.raises(ParameterError, match="has no option 'stat'; did you mean 'state'"):
        load("acs-income", tmp_path, stat="CA")


def test_address() -> None:
    expected = "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/csv_pca.zip"
    assert addresses("CA", 2018) == {"2018/1-Year/csv_pca.zip": expected}


def test_acs_income_as_folktables_gives_it(data_folder: Path) -> None:
    """Every record of Colorado 2018 lies in the declared domains, and the label rate is the known one."""
    import polars as pl

    frame = pl.read_parquet(data_folder / "acs_income_co_2018.parquet")
    income = ACS_INCOME.dataset(frame)
    assert income.schema.names == tuple(frame.columns[:-1])
    assert len(income.schema["OCCP"].values) == 522
    table = Table.from_frame(income.frame, income.schema)
    assert len(table) == 31_306
    assert table.y.mean() == pytest.approx(0.4144, abs=5e-5)
