"""Reading files: every bad one is answered by one line that says what to do."""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from leastwise.errors import DataError, UnknownValueError
from leastwise.records.files import RecordFile, file_format, read_frame, scan, standard_input

BAD_CSV = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n", "must name the columns"),
    "header_only": (b"a,b\n", "no records"),
    "long_line": (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields"),
    "short_line": (b"a,b\n1,2\n3\n", "line 3 has 1 field:"),
    "empty_line": (b"a,b\n1,2\n\n3,4\n", "line 3 has 1 field:"),
    "short_quoted_line": (b'a,b\n"1\n,",2\n3\n', "line 4 has 1 field:"),
    "long_quoted_line": (b'a,b\n"1\n,",2\n3,4,5\n', "line 4 has 3 fields"),
    "ragged_semicolons": (b"a;b\n1;2\n3\n", "ragged_semicolons.csv: every line must have the 2 fields"),
    "no_text": (b"a,b\n1,\x81\xff\n", "neither UTF-8 nor Windows-1252"),
    "repeated_names": (b"a,b,a\n1,2,3\n", "more than one column is called 'a'"),
    "open_quote": (b'a,b\n"x,2\n3,4\n', "check its quotes|line"),
    "stray_quote": (b'a,b\n5" pipe,2\n"a ""q"" b",3\n', "check its quotes"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_a_bad_csv_file_is_answered_by_one_line(name: str, tmp_path: Path) -> None:
    content, expected = BAD_CSV[name]
    path = tmp_path / f"{name}.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected) as caught:
        read_frame(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("people.tsv", b"a,b\n1,2\n", "commas between the columns"),
        ("people.csv", b"a;b\n1;2\n", "semicolons between the columns"),
        ("people.csv", b"a\tb\n1\t2\n", "tabs between the columns"),
        ("people.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16 text"),
        ("people.csv", "\ufeffa,b\n1,2\n".encode(), "UTF-8 with a byte order mark"),
        ("people.csv", "a;b\n1;2\n".encode("utf-16"), "UTF-16 text"),
    ],
)
def test_what_is_not_as_the_name_promises_is_read_and_said(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert read_frame(path).to_dicts() == [{"a": 1, "b": 2}]
    assert RecordFile.open(path).said[:1] == (said,)


def test_latin_1_is_read_as_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("é,b\n1,2\nJosé,1\n".encode("latin-1"))
    assert read_frame(path).to_dicts() == [{"é": "1", "b": 2}, {"é": "José", "b": 1}]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("cut.parquet", None, "cut short"),
        ("text.parquet", b"a,b\n1,2\n", "not readable as parquet"),
        ("half.ndjson", b'{"a": 1}\n{"a":\n', "one JSON object"),
        ("list.ndjson", b"[1, 2]\n", "one JSON object"),
        ("latin.ndjson", '{"a": "José"}\n'.encode("latin-1"), "line 1 is not"),
        ("empty.ndjson", b"", "is empty"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "gzip"),
    ],
)
def test_a_broken_file_is_answered_by_one_line(
    name: str, content: bytes | None, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is None:
        pl.DataFrame({"a": range(1000)}).write_parquet(path)
        content = path.read_bytes()[:500]
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected) as caught:
        read_frame(path)
    assert "\n" not in str(caught.value)


def test_what_is_no_readable_file_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(DataError, match="is a directory"):
        scan(folder)
    with pytest.raises(DataError, match="no such file"):
        scan(tmp_path / "absent.csv")
    (tmp_path / "people.docx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"must end in \.csv"):
        scan(tmp_path / "people.docx")
    with pytest.raises(DataError):
        scan(tmp_path / ("x" * 300 + ".csv"))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="no permission"):
        scan(tmp_path / "secret.csv")


def test_formats_by_name() -> None:
    names = ["a.csv", "a.TSV", "a.txt", "a.csv.gz", "a.parquet", "a.pq", "a.ndjson", "a.jsonl", "a.b.csv"]
    assert [file_format(name) for name in names] == ["csv"] * 4 + ["parquet"] * 2 + ["ndjson"] * 2 + ["csv"]
    for name in ("a", "a.xlsx", "a.gz", "a.parquet.gz", "csv"):
        with pytest.raises(DataError):
            file_format(name)


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.txt", ";"), ("b.txt", "\t")])
def test_the_separator_follows_the_name(name: str, separator: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f"a{separator}b\n1{separator}2\n")
    assert read_frame(tmp_path / name).to_dict(as_series=False) == {"a": [1], "b": [2]}


def test_texts_become_numbers_only_when_every_one_is(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    rows = [
        "whole,zip,real,mixed,text,empty,odd",
        "1,01234,1.0,1,a,,nan",
        ",98765,-2e3,x,b,,inf",
        "-3,5,.5,2,c,,2",
    ]
    path.write_text("\n".join(rows) + "\n")
    frame = read_frame(path)
    assert dict(frame.schema) == {
        "whole": pl.Int64, "zip": pl.String, "real": pl.Float64, "mixed": pl.String, "text": pl.String,
        "empty": pl.String, "odd": pl.Float64,
    }  # fmt: skip
    assert frame["whole"].to_list() == [1, None, -3]
    assert frame["zip"].to_list() == ["01234", "98765", "5"]


def test_long_integers_stay_identifiers(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("id,n\n12345678901234567890,1e308\n12345678901234567891,-1e308\n")
    frame = read_frame(path)
    assert frame["id"].n_unique() == 2
    assert frame["n"].to_list() == [1e308, -1e308]


def test_missing_markers_are_null_in_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "?", ""], "n": [1, -9, 3]})
    frame.write_csv(tmp_path / "m.csv")
    frame.write_parquet(tmp_path / "m.parquet")
    frame.write_ndjson(tmp_path / "m.ndjson")
    for suffix in ("csv", "parquet", "ndjson"):
        read = read_frame(tmp_path / f"m.{suffix}", missing=["?", "-9"])
        assert read["n"].to_list() == [1, None, 3]
        assert [value or None for value in read["a"].to_list()] == ["x", None, None]


def test_column_names_arrive_unharmed(tmp_path: Path) -> None:
    names = ['say "hi"', "a, b", "😀", "x" * 10_000, "line\nbreak", " "]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (tmp_path / "names.csv").write_text(f"{quoted}\n1,2,3,4,5,6\n", encoding="utf-8")
    assert scan(tmp_path / "names.csv").collect_schema().names() == names
    assert read_frame(tmp_path / "names.csv").row(0) == (1, 2, 3, 4, 5, 6)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert read_frame(tmp_path / "bom.csv").to_dict(as_series=False) == {"a": [1], "b": [2]}


def test_a_text_late_in_ndjson_is_kept(tmp_path: Path) -> None:
    (tmp_path / "late.ndjson").write_text('{"a": 1}\n' * 2000 + '{"a": "x", "b": 2}\n')
    frame = read_frame(tmp_path / "late.ndjson")
    assert frame["a"][-1] == "x"
    assert frame["b"][-1] == 2


def test_gzip_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,\n2,3\n", mtime=0))
    assert read_frame(tmp_path / "a.csv.gz")["b"].to_list() == [None, 3]
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"a,b\n1\n", mtime=0))
    with pytest.raises(DataError, match="line 2 has 1 field"):
        read_frame(tmp_path / "b.csv.gz")


def test_standard_input_leaves_no_file_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\tb\n1\t2\n")))
    with standard_input("-", "tsv") as source:
        assert source.scan().collect().to_dict(as_series=False) == {"a": ["1"], "b": ["2"]}
    assert not source.path.exists()


def test_what_is_wrong_with_standard_input_is_said_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match=r"^standard input: the file is empty"):
        read_frame("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    with pytest.raises(UnknownValueError, match="'2' in line 2 of standard input"), standard_input("-") as source:
        raise UnknownValueError("b", "2", "correct it").at(source.place_of(0))


def test_standard_input_can_be_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": 1}\n')))
    assert scan("-", kind="ndjson").collect()["a"].to_list() == [1]


def test_the_line_of_a_record_counts_quoted_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n1,"x\ny"\n2,z\n')
    assert RecordFile.open(tmp_path / "a.csv").place_of(1) == " in line 4 of a.csv"
    (tmp_path / "a.ndjson").write_text('{"a": 1}\n')
    assert RecordFile.open(tmp_path / "a.ndjson").place_of(0) == " in line 1 of a.ndjson"


def test_stopped_input_leaves_no_records_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Stopped()))
    with pytest.raises(KeyboardInterrupt):
        read_frame("-")
    assert list(tmp_path.iterdir()) == []


def test_lines_that_end_in_cr_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,job\r37,nurse\r5,cook\r")
    for read in (read_frame, scan):
        with pytest.raises(DataError, match="CR alone"):
            read(path)
    path.write_bytes(b'age,job\n37,"nurse\rcook"\n')
    assert read_frame(path)["job"].to_list() == ["nurse\rcook"]
