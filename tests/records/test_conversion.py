"""Spreadsheets and statistics files hold the same records as the CSV file that they were made of."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from leastwise.errors import DataError
from leastwise.records import conversion
from leastwise.records.files import RecordFile, read_frame

FRAME = pd.DataFrame({"age": [31, 45, 18], "job": ["nurse", "cook", "äöü"], "pay": [1.5, 2.25, 3.0]})


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta", ".xpt"])
def test_the_same_records(tmp_path: Path, suffix: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / f"people{suffix}"
    writers = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        FRAME.to_excel(path, index=False)
    else:
        writers[suffix](FRAME, str(path))
    assert read_frame(path).to_dicts() == FRAME.to_dict("records")
    (said,) = RecordFile.open(path).said
    assert said.startswith("read from")
    assert RecordFile.open(path).place_of(2) == f" in record 3 of people{suffix}"


def test_codes_with_labels_are_read_by_their_labels(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "people.sav"
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "code": [1.0, 2.0, 9.0]})
    labels = {"sex": {1.0: "male", 2.0: "female"}, "code": {1.0: "one", 2.0: "two"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
    found = read_frame(path)
    assert found["sex"].to_list() == ["male", "female", "male"]
    assert found["code"].to_list() == [1, 2, 9]  # 9 has no label: nothing is made up


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta", ".sas7bdat", ".ods"])
def test_what_is_none_is_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"people{suffix}"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match=f"people{suffix}: not readable as") as error:
        read_frame(path)
    assert "\n" not in str(error.value)


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MOST_UNPACKED", 1000)
    packed = tmp_path / "people.csv.gz"
    import gzip

    packed.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 5000))
    book = tmp_path / "people.xlsx"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sheet", "0" * 5000)
    for path in (packed, book):
        with pytest.raises(DataError, match="unpacked it would have more"):
            read_frame(path)


def test_a_packed_latin_1_file_is_read(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress("a;b\nZürich;1\nÖrebro;2\n".encode("cp1252")))
    assert read_frame(path).equals(pl.DataFrame({"a": ["Zürich", "Örebro"], "b": [1, 2]}))


def test_what_was_done_to_read_a_text_file_is_said(tmp_path: Path) -> None:
    text = b"age;sex\n30;f\n"
    marked, packed = tmp_path / "marked.csv", tmp_path / "packed.csv.gz"
    marked.write_bytes(b"\xef\xbb\xbf" + text)
    packed.write_bytes(gzip.compress(text))
    semicolons = "semicolons between the columns"
    assert RecordFile.open(marked).said == ("UTF-8 with a byte order mark", semicolons)
    assert RecordFile.open(packed).said == ("unpacked from gzip", semicolons)
    assert read_frame(marked).columns == read_frame(packed).columns == ["age", "sex"]
