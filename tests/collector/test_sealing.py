"""Sealed records: whoever has the server has ciphertext, whoever has the private key has the records."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa

from leastwise.cli.collect import keys, records
from leastwise.collector import databases, read_records, sealing, store
from leastwise.collector.records import RecordFormat, Row
from leastwise.collector.store import Store, Submission
from leastwise.collector.tables import records as table
from leastwise.errors import DataError, MissingExtraError, ParameterError
from leastwise.records.files import read_frame
from tests.collector.examples import RECORD, RECORDS, TOKEN, G, client, sqlite_url, trained

pytest.importorskip("nacl", reason="sealing needs PyNaCl")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def public(tmp_path: Path) -> bytes:
    keys(tmp_path / "records.key")
    assert stat.S_IMODE((tmp_path / "records.key").stat().st_mode) == 0o600
    return sealing.read_key(tmp_path / "records.pub", sealing.PUBLIC)


def fill(url: str, public: bytes) -> None:
    opened = Store.open(url, public=public)
    labelled = [{**record, "income": ">50K"} for record in RECORDS] + [{**RECORD, "income": None}]
    opened.write([Submission(opened.register(G), RecordFormat(G, True).read_many(labelled))])
    opened.close()


def test_the_private_key_opens_them(
    url: str, tmp_path: Path, public: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, public)
    fill(url, public)  # another start has another data key
    with pytest.raises(DataError, match="LEASTWISE_KEY_FILE"):
        read_records(url)
    monkeypatch.setenv("LEASTWISE_KEY_FILE", str(tmp_path / "records.key"))
    records(url, tmp_path / "out.csv")
    found = read_frame(tmp_path / "out.csv").sort("age", "school", "income")
    assert found.height == 2 * len(RECORDS) + 2
    assert found["income"].null_count() == 2
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o600
    keys(tmp_path / "other.key")
    monkeypatch.setenv("LEASTWISE_KEY_FILE", str(tmp_path / "other.key"))
    with pytest.raises(DataError, match="another key"):
        read_records(url)
    monkeypatch.setenv("LEASTWISE_KEY_FILE", str(tmp_path / "other.pub"))
    with pytest.raises(ParameterError, match="private key"):
        read_records(url)


def test_the_server_has_ciphertext(tmp_path: Path, public: bytes) -> None:
    plain = RecordFormat(G).read(RECORD).answers
    with client(sqlite_url(tmp_path), model=trained(), public=public) as made:
        assert made.post("/records", json=[RECORD] * 50).status_code == 201
        assert made.post("/predict", json=RECORD).json()["prediction"] == ">50K", "on the request, in memory"
        assert made.get("/records", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 409
    rows = (
        sqlite3.connect(tmp_path / "records.db").execute("SELECT answers, label FROM leastwise_records").fetchall()
    )
    assert len({answers for answers, _ in rows}) == 50, "equal records are not equal"
    assert all(label is None and not answers.endswith(plain) for answers, label in rows)
    assert {len(answers) for answers, _ in rows} == {4 + 24 + 16 + 2 + len(plain)}


def test_records_cannot_be_exchanged(tmp_path: Path, public: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    url = sqlite_url(tmp_path)
    fill(url, public)
    database = databases.open_database(url)
    with database.writing() as connection:
        first, second = connection.execute(sa.select(table.c.receipt, table.c.answers).limit(2)).all()
        connection.execute(sa.update(table).where(table.c.receipt == first.receipt).values(answers=second.answers))
    database.close()
    monkeypatch.setenv("LEASTWISE_KEY_FILE", str(tmp_path / "records.key"))
    with pytest.raises(DataError, match="the place of another"):
        read_records(url)


def test_a_database_is_sealed_from_its_beginning_or_not(tmp_path: Path, public: bytes) -> None:
    Store.open(sqlite_url(tmp_path), public=public).close()
    for other in (b"", bytes(32)):
        with pytest.raises(DataError, match="another public key"):
            Store.open(sqlite_url(tmp_path), public=other)


def test_a_new_day_has_a_new_key(tmp_path: Path, public: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, day = Store.open(sqlite_url(tmp_path), public=public), 20_000
    monkeypatch.setattr(store, "today", lambda: day)
    for day in (20_000, 20_000, 20_001, 20_000):  # noqa: B007 - a clock that goes back, too
        opened.write([Submission(opened.register(G), [Row(b"\0\0", None)])])
    opened.close()
    connection = sqlite3.connect(tmp_path / "records.db")
    assert connection.execute("SELECT count(*) FROM leastwise_seals").fetchone() == (3,)
    connection.close()


def test_without_the_library_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nacl.public", None)
    with pytest.raises(MissingExtraError, match="sealed"):
        keys(tmp_path / "records.key")
