"""What is kept, what is not, and that a repeated request is stored once; on SQLite and on PostgreSQL."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.collector import receipts
from leastwise.collector import store as store_module
from leastwise.collector.databases import open_database
from leastwise.collector.records import InvalidRecordsError, RecordFormat, Row
from leastwise.collector.store import (
    KeyUsedError,
    Store,
    Stored,
    Submission,
    count_records,
    read_audit,
    read_records,
)
from leastwise.documents import write_whole
from leastwise.errors import DataError, ParameterError
from tests.collector.examples import FINE, RECORD, RECORDS, G, people, sqlite_url
from tests.strategies import generalizations, values

KEY = "a key that nobody guesses"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store.open(url)
    yield opened
    opened.close()


def rows(records: list[dict[str, str]], generalization: Generalization = G) -> list[Row]:
    return RecordFormat(generalization, True).read_many(records)


def stored(store: Store, submission: Submission) -> Stored:
    [outcome] = store.write([submission])
    assert isinstance(outcome, Stored)
    return outcome


def test_what_was_stored_is_read_back(store: Store, url: str) -> None:
    labelled = [{**record, "income": ">50K"} for record in RECORDS]
    stored(store, Submission(store.register(G), rows(labelled)))
    stored(store, Submission(store.register(FINE), rows(FINE.transform(people(50)).to_dicts(), FINE)))
    assert (
        read_records(url, G.fingerprint).sort("age", "school").equals(pl.DataFrame(labelled).sort("age", "school"))
    )
    fine = read_records(url)
    assert fine.sort(fine.columns).equals(FINE.transform(people(50)).select(fine.columns).sort(fine.columns))


@pytest.mark.parametrize("count", [1, 7, 8, 63, 65, 600, 1100])
def test_any_number_of_records(store: Store, url: str, count: int) -> None:
    many = [RECORDS[i % len(RECORDS)] for i in range(count)]
    assert len({*stored(store, Submission(store.register(G), rows(many))).receipts}) == count
    found = read_records(url).group_by("age", "school").len()
    assert dict(zip(found.select("age", "school").iter_rows(), found["len"], strict=True)) == Counter(
        (record["age"], record["school"]) for record in many
    )


def test_the_database_counts_what_is_read_from_it(store: Store, url: str) -> None:
    many = [{**RECORDS[i % len(RECORDS)], **({"income": ">50K"} if i % 5 else {})} for i in range(90)]
    stored(store, Submission(store.register(G), rows(many)))
    frame, counts = count_records(url)
    read = read_records(url)
    assert frame.height == counts.len() < counts.sum() == read.height
    assert Counter(dict(zip(frame.iter_rows(), counts, strict=True))) == Counter(read.iter_rows())


def test_a_database_remembers_its_generalizations(store: Store, url: str) -> None:
    first = store.register(FINE)
    assert store.register(G) != first == store.register(FINE)
    store.close()
    again = Store.open(url)
    assert again.generalizations() == [FINE, G]
    assert again.register(FINE) == first
    again.close()


def test_a_key_stores_once(store: Store, url: str) -> None:
    number = store.register(G)
    submission = Submission(number, rows(RECORDS), KEY, b"body")
    first, again = stored(store, submission), stored(store, submission)
    assert (first.repeated, again.repeated) == (False, True)
    assert first.receipts == again.receipts
    [other] = store.write([Submission(number, rows(RECORDS), KEY, b"another body")])
    assert isinstance(other, KeyUsedError)
    assert read_records(url).height == len(RECORDS)


def test_a_key_twice_in_one_transaction(store: Store, url: str) -> None:
    submission = Submission(store.register(G), rows([RECORD]), KEY, b"body")
    outcomes = store.write([submission, Submission(1, rows([RECORD]), None), submission])
    assert [outcome.repeated for outcome in outcomes if isinstance(outcome, Stored)] == [False, False, True]
    assert read_records(url).height == 2


def test_several_writers_at_once_store_once(store: Store, url: str) -> None:
    number = store.register(G)
    keys = [f"{KEY} {i}" for i in range(20)]
    problems: list[BaseException] = []

    def write(turn: int) -> None:
        own = Store.open(url)
        try:
            order = keys[turn * 5 :] + keys[: turn * 5]
            for part in (order[:10], order[10:]):
                own.write([Submission(number, rows([RECORD]), key, b"body") for key in part])
        except BaseException as error:
            problems.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=write, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert read_records(url).height == len(keys)


def test_an_erased_record_does_not_come_back(store: Store, url: str) -> None:
    submission = Submission(store.register(G), rows(RECORDS[:2]), KEY, b"body")
    first, second = stored(store, submission).receipts
    assert store.erase(first)
    assert not store.erase(first)
    assert stored(store, submission).receipts == [first, second]
    assert read_records(url).to_dicts() == [{**RECORDS[1], "income": None}]


def test_a_failed_transaction_stores_nothing(store: Store, url: str) -> None:
    good = Submission(store.register(G), rows([RECORD]), KEY, b"body")
    with pytest.raises(sa.exc.IntegrityError) as error:
        store.write([good, Submission(99, rows([RECORD]))])
    assert "20 to 63" not in str(error.value)
    assert read_records(url).height == 0
    assert not stored(store, good).repeated


def test_an_erased_record_leaves_the_file(tmp_path: Path) -> None:
    store = Store.open(sqlite_url(tmp_path))
    [receipt] = stored(store, Submission(store.register(G), rows([RECORD]))).receipts
    raw = receipts.read(receipt)
    assert raw is not None
    kept = receipts.kept(raw)

    def found() -> bool:
        return any(kept in file.read_bytes() for file in tmp_path.iterdir())

    assert found()
    assert store.erase(receipt)
    assert store.forget()
    assert not found()
    store.close()


def test_the_database_tells_no_receipt_and_no_second(tmp_path: Path) -> None:
    store = Store.open(sqlite_url(tmp_path))
    made = stored(store, Submission(store.register(G), rows(RECORDS), KEY, b"body")).receipts
    store.close()
    content = (tmp_path / "records.db").read_bytes()
    for receipt in made:
        raw = receipts.read(receipt)
        assert raw is not None
        assert raw not in content
        assert receipt.encode() not in content
    assert KEY.encode() not in content
    columns = [
        row[1] for row in sqlite3.connect(tmp_path / "records.db").execute("PRAGMA table_info(leastwise_records)")
    ]
    assert columns == ["receipt", "generalization", "day", "label", "answers"]


def test_the_file_alone_does_not_tell_who_sent_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASTWISE_SECRET")
    store = Store.open(sqlite_url(tmp_path))
    stored(store, Submission(store.register(G), rows([RECORD]), KEY, b"body"))
    store.close()
    secret = tmp_path / "records.db.secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    connection = sqlite3.connect(tmp_path / "records.db")
    [(kept,)] = connection.execute("SELECT key FROM leastwise_requests").fetchall()
    held = [bytes(value) for (value,) in connection.execute("SELECT value FROM leastwise_settings")]
    connection.close()
    for guess in (
        *held,
        b"",
        secret.read_bytes().strip(),
    ):  # the file's own content, and the secret as it is written
        assert receipts.key_digest(KEY, guess[:64]) != kept
    opened = Store.open(sqlite_url(tmp_path))
    assert receipts.key_digest(KEY, opened._secret) == kept
    opened.close()


def test_a_lost_secret_is_not_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASTWISE_SECRET")
    url, secret = sqlite_url(tmp_path), tmp_path / "records.db.secret"
    Store.open(url).close()
    secret.rename(tmp_path / "elsewhere")
    for use in (Store.open, read_audit):
        with pytest.raises(DataError, match="is missing; bring it back"):
            use(url)
    assert not secret.exists(), "another one would stand where the right one belongs"
    (tmp_path / "elsewhere").rename(secret)
    Store.open(url).close()


def test_collectors_that_start_together_have_one_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one looks for the file before the first has written it."""
    monkeypatch.delenv("LEASTWISE_SECRET")
    url, path, opened = sqlite_url(tmp_path), tmp_path / "records.db.secret", []

    def first(*words: Any, **more: Any) -> None:
        monkeypatch.setattr("leastwise.collector.receipts.write_whole", write_whole)
        write_whole(*words, **more)
        path.write_text("0123456789abcdef" * 4, encoding="ascii")
        opened.append(path.read_text(encoding="ascii"))

    monkeypatch.setattr("leastwise.collector.receipts.write_whole", first)
    Store.open(url).close()
    assert [path.read_text(encoding="ascii")] == opened, "the one that was there first"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["records.db", "records.db.secret"]
    Store.open(url).close()


def test_keys_are_forgotten_while_it_runs(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, day = Store.open(url), 20_000
    monkeypatch.setattr(store_module, "today", lambda: day)
    submission = Submission(opened.register(G), rows([RECORD]), KEY, b"body")
    first = stored(opened, submission)
    for day, known in ((20_030, True), (20_031, False)):  # noqa: B007 - the clock
        assert opened.expire(None) == 0
        again, beside = opened.write([submission, Submission(1, rows([RECORD]))])
        assert isinstance(beside, Stored), "what comes in the same transaction is stored"
        assert isinstance(again, Stored)
        assert (again.repeated, again.receipts == first.receipts) == (known, known)
    opened.close()
    assert read_records(url).height == 4


def test_what_could_not_be_cleared_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(sqlite_url(tmp_path))
    [receipt] = stored(store, Submission(store.register(G), rows([RECORD]))).receipts
    store.erase(receipt)
    with monkeypatch.context() as patched:
        patched.setattr(store._database, "forget", Mock(side_effect=OSError("disk")))
        with pytest.raises(OSError, match="disk"):
            store.forget()
    assert store.left, "its bytes are still in the log"
    assert store.forget()
    assert not store.left
    store.close()


def test_what_is_being_cleared_still_counts_as_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(sqlite_url(tmp_path))
    [first, second] = stored(store, Submission(store.register(G), rows([RECORD] * 2))).receipts
    store.erase(first)
    clear, seen = store._database.forget, []

    def slowly() -> bool:
        seen.append(store.left)
        cleared = clear()
        store.erase(second)  # after the log was emptied, before that is known
        return cleared

    with monkeypatch.context() as patched:
        patched.setattr(store._database, "forget", slowly)
        assert not store.forget()
    assert (seen, store.left) == ([True], True)
    assert store.forget()
    assert not store.left
    store.close()


def test_what_a_killed_collector_left_is_known_to_the_next(tmp_path: Path) -> None:
    """Somebody reads the file when it starts again: an erased record is still in the log."""
    killed = Store.open(sqlite_url(tmp_path))
    [receipt] = stored(killed, Submission(killed.register(G), rows([RECORD]))).receipts
    reader = sqlite3.connect(tmp_path / "records.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM leastwise_records").fetchone()
    assert killed.erase(receipt)
    again = Store.open(sqlite_url(tmp_path))
    assert again.left
    reader.close()
    assert again.forget()
    assert not again.left
    again.close()
    killed.close()


def test_another_secret_is_noticed(url: str) -> None:
    Store.open(url, b"one secret").close()
    with pytest.raises(DataError, match="another secret"):
        Store.open(url, b"another")


def test_postgresql_needs_a_secret(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("", "too short"):
        monkeypatch.setenv("LEASTWISE_SECRET", wrong)
        with pytest.raises(ParameterError, match="openssl rand"):
            Store.open(postgres_url)


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    store = Store.open(sqlite_url(tmp_path))
    store.register(G)
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    store.close()


def test_it_is_durable(tmp_path: Path) -> None:
    database = open_database(sqlite_url(tmp_path))
    with database.reading() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    assert found == ["wal", 2]
    database.close()


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://root:hunter2@db/x", "sqlite:///records.db or postgresql"),
        ("hunter2", "sqlite:///records.db or postgresql"),
        ("sqlite://", "memory does not last"),
        ("sqlite:///:memory:", "memory does not last"),
        ("sqlite:///no/such/folder/records.db", "make it first"),
        ("postgresql://someone:hunter2@127.0.0.1:1/x", "the database cannot be used"),
    ],
)
def test_databases_that_cannot_be_used(url: str, complaint: str) -> None:
    with pytest.raises((ParameterError, DataError)) as error:
        Store.open(url)
    assert complaint in str(error.value)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_no_databases(tmp_path: Path) -> None:
    (tmp_path / "records.db").write_text("not a database " * 500)
    with pytest.raises(DataError, match="cannot be used"):
        Store.open(sqlite_url(tmp_path))
    with pytest.raises(DataError, match="no such database"):
        read_records(f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").connection.close()
    with pytest.raises(DataError, match="no records of a collector"):
        read_records(f"sqlite:///{tmp_path}/other.db")


def test_a_fingerprint_that_is_not_there(store: Store, url: str) -> None:
    store.register(G)
    with pytest.raises(DataError, match=G.fingerprint[:12]):
        read_records(url, FINE.fingerprint)
    assert read_records(url, G.fingerprint[:10]).height == 0


@given(st.data())
@settings(max_examples=150)
def test_every_generalized_record_survives(data: st.DataObject) -> None:
    g = data.draw(generalizations().filter(lambda g: g.collected))
    record = {p.attribute.name: data.draw(values(p.attribute)) for p in g.partitions}
    coarse = g.transform(record)
    form = RecordFormat(g)
    row = form.read(coarse)
    assert form.frame([row.answers]).to_dicts() == [coarse]


@given(st.data())
@settings(max_examples=150)
def test_nothing_but_generalized_records_is_read(data: st.DataObject) -> None:
    g = data.draw(generalizations().filter(lambda g: g.collected))
    name = data.draw(st.sampled_from(g.collected))
    form = RecordFormat(g)
    coarse = {
        p.attribute.name: "missing" if not p.labels else p.labels[0] for p in g.partitions if not p.suppressed
    }
    value = data.draw(st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.text()))
    allowed = g[name].labels
    if not allowed or value in allowed:
        return
    with pytest.raises(InvalidRecordsError) as error:
        form.read({**coarse, name: value})
    assert any(problem.field == name for problem in error.value.problems)
