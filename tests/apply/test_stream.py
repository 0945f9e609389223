"""Files: what is streamed equals what is transformed in memory, and nothing is ever left half written."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Generalization, Groups, Intervals, UnknownValueError
from leastwise.apply import apply_file, stream
from leastwise.apply.frames import transform_polars
from leastwise.apply.request import Request
from leastwise.partition import keep, suppress
from leastwise.records.files import read_frame
from leastwise.schema import Extra
from tests.apply.cases import comparable, generalized_columns, outcome
from tests.apply.test_frames import quick
from tests.samples import Heard

AGE = Attribute("age", "continuous", lower=0, integer=True)
JOB = Attribute("job", values=("nurse", "cook", "clerk"), missing=True, other=True)
G = Generalization(
    (
        Intervals(AGE, (19, 63)),
        Groups.of(JOB, [["nurse", "cook"], ["clerk"]]),
        suppress(Attribute("sex", values=("f", "m"))),
    ),
    Attribute("y", values=("1", "2", "3", "4", "a", "two\nlines")),
)
PEOPLE = pl.DataFrame(
    {
        "age": [5, 20, 70, 63],
        "job": ["nurse", None, "clerk", "cook"],
        "sex": ["f", "x", None, "m"],
        "y": [1, 2, 3, 4],
    }
)


def write(frame: pl.DataFrame, path: Path) -> Path:
    kind = path.suffixes[0]
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind == ".ndjson":
        frame.write_ndjson(path)
    else:
        text = frame.write_csv(separator="\t" if kind == ".tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("target", ["out.csv", "out.tsv", "out.parquet", "out.ndjson", "out.csv.gz"])
@pytest.mark.parametrize("source", ["in.csv", "in.tsv", "in.parquet", "in.ndjson", "in.csv.gz"])
def test_every_format_to_every_format(
    source: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH", 3)
    heard = Heard()
    rows = apply_file(G, write(PEOPLE, tmp_path / source), tmp_path / target, progress=heard)
    assert rows == heard.steps[-1][0] == 4
    done = read_frame(tmp_path / target)
    assert comparable(done.to_dicts()) == comparable(G.transform(PEOPLE).to_dicts())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([source, target])


@quick
@given(data=generalized_columns(strange=True))
def test_a_file_is_its_frame(data: tuple[Generalization, pl.DataFrame], tmp_path_factory: Any) -> None:
    """The law behind ``read_frame``: the typed frame of a CSV file and its texts mean the same values."""
    g, frame = data
    folder = tmp_path_factory.mktemp("law")
    source, target = write(frame, folder / "in.csv"), folder / "out.parquet"

    def streamed() -> list[dict[str, Any]]:
        apply_file(g, source, target, unknown="other")
        return pl.read_parquet(target).to_dicts()

    expected = outcome(lambda: g.transform(read_frame(source), unknown="other").to_dicts())
    assert outcome(streamed) == expected
    assert target.exists() == (expected != "strange")


def test_the_line_of_a_strange_value_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH", 2)
    path = tmp_path / "people.csv"
    path.write_text('age,job,y\n1,nurse,"two\nlines"\n2,cook,\n3,clerk,\n4,pilot,\n')
    with pytest.raises(UnknownValueError, match=r"job: 'pilot' in line 6 of people\.csv"):
        apply_file(G, path, tmp_path / "out.parquet", unknown="error")
    assert [p.name for p in tmp_path.iterdir()] == ["people.csv"]
    assert apply_file(G, path, tmp_path / "out.csv") == 4
    assert read_frame(tmp_path / "out.csv")["job"].to_list() == ["nurse or cook"] * 2 + ["clerk", "other"]


@pytest.mark.parametrize("target", ["out.parquet", "out.csv"])
def test_bad_lines_leave_no_file(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH", 2)
    for content, expected in {
        b"age,job\n1,nurse\n2\n": "line 3 has 1 field:",
        b"age,job\n1,nurse\n2,cook,3\n": "line 3 has 3 fields",
        b"age,job\n1,nurse\n2,co\x81ok\n": "neither UTF-8 nor Windows-1252",
        b"age,job\n1,\xc3\xa4\n2,co\xffok\n": "line 3 is not",
        b"age,job\n": "no records",
        b"age,age\n1,2\n": "more than one column",
        b"age;work\n1;nurse\n": "no column 'job'",
        b"age,work\n1,nurse\n": "no column 'job'",
    }.items():
        (tmp_path / "in.csv").write_bytes(content)
        with pytest.raises(DataError, match=expected):
            apply_file(G, tmp_path / "in.csv", tmp_path / target)
        assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_an_empty_parquet_file_has_no_records(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no records"):
        apply_file(G, write(PEOPLE.clear(), tmp_path / "in.parquet"), tmp_path / "out.parquet")


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    source = write(PEOPLE, tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    for target, expected in {
        source: "exists already",
        tmp_path / "folder.csv": "is a directory",
        tmp_path / "nowhere" / "out.csv": "no folder",
        tmp_path / "out.xlsx": "must end in",
    }.items():
        with pytest.raises(DataError, match=expected):
            apply_file(G, source, target)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="no ordinary file"):
        apply_file(G, source, tmp_path / "pipe.csv", overwrite=True)


def test_a_file_can_be_overwritten_in_place(tmp_path: Path) -> None:
    source = write(PEOPLE, tmp_path / "in.csv")
    apply_file(G, source, source, overwrite=True)
    assert read_frame(source)["age"].to_list() == ["0 to 19", "20 to 63", "64 or more", "20 to 63"]


def test_outputs_and_missing_markers(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("age,job,y\n30,?,a\n70,clerk,?\n")
    apply_file(G, source, tmp_path / "a.parquet", output="representative", missing=["?"])
    done = pl.read_parquet(tmp_path / "a.parquet")
    assert done.to_dict(as_series=False) == {
        "age": [41, 64], "job": [None, "clerk"], "y": ["a", None], "sex": ["f", "f"],
    }  # fmt: skip
    apply_file(G, source, tmp_path / "b.parquet", output="codes", missing=["?"], suppressed=True)
    assert pl.read_parquet(tmp_path / "b.parquet").rows() == [(1, 2, "a", 0), (2, 1, None, 0)]


def test_column_names_survive(tmp_path: Path) -> None:
    names = ['say "hi"', "a, b", "😀", "x" * 10_000, "line\nbreak"]
    g = Generalization(tuple(keep(Attribute(name, values=("1", "2"))) for name in names))
    frame = pl.DataFrame({name: [1, 2] for name in names})
    source = write(frame, tmp_path / "in.csv")
    for suffix in ("csv", "parquet", "ndjson"):
        apply_file(g, source, tmp_path / f"out.{suffix}")
        assert read_frame(tmp_path / f"out.{suffix}").columns == names


def test_extreme_numbers(tmp_path: Path) -> None:
    g = Generalization((Intervals(Attribute("n", "continuous", missing=True), (0.0,)),))
    source = tmp_path / "in.csv"
    source.write_text("n,y\n1e308,1\n-1e308,1\nNaN,1\ninf,1\n-inf,1\n1e400,1\n")
    apply_file(g, source, tmp_path / "out.csv")
    assert read_frame(tmp_path / "out.csv")["n"].to_list() == [
        "above 0", "up to 0", "missing", "above 0", "up to 0", "above 0",
    ]  # fmt: skip


def test_standard_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"age\tjob\n5\tcook\n")))
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=written))
    apply_file(G, "-", "-", source_kind="tsv", target_kind="ndjson")
    assert written.getvalue() == b'{"age":"0 to 19","job":"nurse or cook"}\n'


SLOW_RUN = """
import sys, time
from leastwise import Generalization
from leastwise.apply import apply_file, stream
from leastwise.progress import Silent
stream.BATCH = 1

class Stuck(Silent):
    def advance(self, steps=1):
        self.batches = getattr(self, "batches", 0) + 1
        if self.batches == 500:
            print("half", flush=True)
            time.sleep(60)

apply_file(Generalization.load(sys.argv[1]), sys.argv[2], sys.argv[3], progress=Stuck())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda each: each.name)
@pytest.mark.parametrize("target", ["out.parquet", "out.csv"])
def test_a_killed_run_leaves_nothing(target: str, number: signal.Signals, tmp_path: Path) -> None:
    source = write(pl.concat([PEOPLE] * 200), tmp_path / "in.csv")
    G.save(tmp_path / "g.json")
    command = [sys.executable, "-c", SLOW_RUN, str(tmp_path / "g.json"), str(source), str(tmp_path / target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"half\n"
        child.send_signal(number)
        assert child.wait() == -number
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "g.json"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small disk needs root on Linux")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.ndjson"])
def test_a_full_disk_is_one_clear_error(name: str, small_disk: Path, tmp_path: Path) -> None:
    # Long texts that cannot be packed fill the disk also in Parquet.
    unpackable = [os.urandom(200).hex() for _ in range(4000)]
    source = write(pl.DataFrame({"age": 30, "job": "cook", "note": unpackable}), tmp_path / "in.csv")
    with pytest.raises(DataError, match="disk is full") as caught:
        apply_file(G, source, small_disk / name, keep=["note"])
    assert "\n" not in str(caught.value)
    assert list(small_disk.iterdir()) == []


def test_a_spreadsheet_runs_no_formula(tmp_path: Path) -> None:
    formula = Attribute("=job", values=("=1+1", "@x", "+2", "plain"))
    g = Generalization((keep(formula),))
    (tmp_path / "in.csv").write_text("=job\n" + "\n".join(formula.values) + "\n")
    apply_file(g, tmp_path / "in.csv", tmp_path / "as-is.csv")
    assert (tmp_path / "as-is.csv").read_text() == "=job\n=1+1\n@x\n+2\nplain\n"
    apply_file(g, tmp_path / "in.csv", tmp_path / "people.csv", spreadsheet=True)
    assert (tmp_path / "people.csv").read_text() == "'=job\n'=1+1\n'@x\n'+2\nplain\n"


@given(
    st.lists(st.sampled_from(["a", "b", "x", "y", "1", "1.0", "", None]), min_size=1, max_size=30),
    st.sampled_from([(0, 1, 0, 1), (0, 1, 2, 3), (0, 1, 1, 1)]),
)
def test_what_went_to_other_is_counted(values: list[str | None], assignment: tuple[int, ...]) -> None:
    """Also where "other" shares its bucket with declared values, or with missing ones."""
    attribute = Attribute("x", values=("a", "1"), missing=True, other=True)
    number = Attribute("n", "continuous", lower=0, upper=5, missing=True, other=True)
    g = Generalization((Groups(attribute, assignment), Intervals(number, (2,), assignment[2:])))
    numbers = [float(i % 9 - 1) if value else None for i, value in enumerate(values)]
    frame = pl.DataFrame({"x": values, "n": numbers}, schema={"x": pl.String, "n": pl.Float64})
    counts = Counter[str]()
    assert transform_polars(Request(g), frame, others=counts).equals(transform_polars(Request(g), frame))
    read = {a: [a.read(v) for v in frame[a.name]] for a in (attribute, number)}
    assert counts == {a.name: found.count(Extra.OTHER) for a, found in read.items()}


def test_a_question_is_read_from_its_source_in_a_file(tmp_path: Path) -> None:
    age = Attribute("age", "continuous", integer=True, derive="age on 2025-01-01 of YYYY-MM-DD", source="born")
    g = Generalization((Intervals(age, (30,)),), Attribute("y", values=("0", "1")))
    (tmp_path / "in.csv").write_text("y,born,name\n1,1987-05-11,A\n0,2001-01-01,B\n", encoding="utf-8")
    assert apply_file(g, tmp_path / "in.csv", tmp_path / "out.csv") == 2
    found = pl.read_csv(tmp_path / "out.csv")
    assert sorted(found.columns) == ["age", "y"]
    assert found["age"].to_list() == ["31 or more", "30 or less"]
    (tmp_path / "other.csv").write_text("y,name\n1,A\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column 'born', of which age is made"):
        apply_file(g, tmp_path / "other.csv", tmp_path / "o.csv")
