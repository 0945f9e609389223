from __future__ import annotations

from pathlib import Path

import pytest

from leastwise import DataError, ParameterError, Table
from leastwise.datasets import load
from leastwise.datasets.crime import COLUMNS, NORMALIZED, UNNORMALIZED
from tests.datasets.official import delimited


def community(file: str, **values: object) -> list[object]:
    """Return a row: 1 for every number that is not given."""
    state = "CA" if file == UNNORMALIZED else "6"
    row = dict.fromkeys(COLUMNS[file], "1") | {"communityname": "Lakewoodcity", "state": state}
    return list((row | {name: str(value) for name, value in values.items()}).values())


@pytest.mark.parametrize(("file", "attributes"), [(UNNORMALIZED, 99), (NORMALIZED, 97)])
def test_attributes(file: str, attributes: int, tmp_path: Path) -> None:
    rows = [community(file, ViolentCrimesPerPop=rate) for rate in (0.1, 0.2, 0.3)]
    crime = load("crime", delimited(tmp_path / file, rows))
    assert len(crime.schema) == attributes
    assert crime.schema.personal == ("state", "race")
    assert crime.frame["state"].to_list() == ["CA"] * 3
    assert crime.frame["ViolentCrimesPerPop"].to_list() == [0, 0, 1]
    assert len(Table.from_frame(crime.frame, crime.schema)) == 3


def test_race_is_one_attribute_or_four(tmp_path: Path) -> None:
    rows = [
        community(UNNORMALIZED, racePctWhite=50, racepctblack=4, racePctAsian=3, racePctHisp=black)
        for black in (3, 4)  # a fifth of 50 is 10: not above, above
    ]
    file = delimited(tmp_path / UNNORMALIZED, rows)
    assert load("crime", file).frame["race"].to_list() == [0, 1]
    four = load("crime", file, race="percentages")
    assert set(four.schema.personal) == {"state", "racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"}
    with pytest.raises(ParameterError, match="race must be one of majority, percentages"):
        load("crime", file, race="four")


def test_missing_values(tmp_path: Path) -> None:
    """The police survey may be missing; a community without the target is left out."""
    rows = [community(UNNORMALIZED, PolicPerPop="?", OtherPerCap="?", county="?"),
            community(UNNORMALIZED, ViolentCrimesPerPop="?")]  # fmt: skip
    crime = load("crime", delimited(tmp_path / UNNORMALIZED, [row[:147] for row in rows]))
    assert crime.frame.height == 1
    Table.from_frame(crime.frame, crime.schema)


def test_wrong_files_are_answered(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must have 128 or 147 columns without a header; it has 3"):
        load("crime", delimited(tmp_path / "x.data", [[1, 2, 3]]))
    with pytest.raises(DataError, match=r"must hold numbers, \? where unknown"):
        load("crime", delimited(tmp_path / NORMALIZED, [community(NORMALIZED, population="many")]))
    with pytest.raises(DataError, match=r"must hold CommViolPredUnnormalizedData.txt or communities.data"):
        load("crime", tmp_path.parent)


def test_communities(data_folder: Path) -> None:
    crime = load("crime", data_folder / "communities.data")
    assert (crime.frame.height, len(crime.schema)) == (1_994, 97)
    table = Table.from_frame(crime.frame, crime.schema)
    assert table.y.mean() == pytest.approx(0.498, abs=5e-4)
    assert crime.frame["state"][0] == "CO"  # Lakewood
