"""The audit log tells what happened without a value, and whether it was changed; old records go by themselves."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import typer

from leastwise.cli.collect import audit, collect
from leastwise.collector import store
from leastwise.collector.records import Row
from leastwise.collector.store import Store, Submission, read_audit, read_records
from tests.collector.asgi import Client
from tests.collector.examples import RECORD, G, client, exported, sqlite_url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_what_is_noted(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with client(url) as made:
        receipt = made.post("/records", json=RECORD).json()["receipt"]
        exported(made)
        assert made.delete(f"/records/{receipt}").status_code in (202, 204)
    found = read_audit(url)
    assert [entry.event for entry, _ in found] == ["artefact", "started", "exported", "erased", "stopped"]
    assert all(unchanged for _, unchanged in found)
    assert json.loads(found[2][0].details) == {"generalization": G.fingerprint}
    assert [len(entry.time) for entry, _ in found] == [20, 20, 20, 10, 20], "an erasure is noted by its day"
    audit(url)
    said = capsys.readouterr().out
    assert "erased" in said
    assert not any(secret in said for secret in (receipt, "20 to 63"))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE leastwise_audit SET event = 'nothing' WHERE number = 2",
        "DELETE FROM leastwise_audit WHERE number = 3",
        "UPDATE leastwise_audit SET number = number + 10 WHERE number = 5",
    ],
)
def test_changes_are_noticed(tmp_path: Path, change: str) -> None:
    with client(sqlite_url(tmp_path)) as made:
        exported(made)
        exported(made)
    connection = sqlite3.connect(tmp_path / "records.db", isolation_level=None)
    connection.execute(change)
    connection.close()
    assert not all(unchanged for _, unchanged in read_audit(sqlite_url(tmp_path)))
    with pytest.raises(typer.Exit):
        audit(sqlite_url(tmp_path))


def test_an_entry_of_another_log_does_not_fit(tmp_path: Path) -> None:
    """Each entry was written with the secret; that one was exchanged for another shows in the chain only."""
    (tmp_path / "other").mkdir()
    with client(sqlite_url(tmp_path / "other")) as made:
        made.delete(f"/records/{made.post('/records', json=RECORD).json()['receipt']}")
    with client(sqlite_url(tmp_path)) as made:
        exported(made)
        exported(made)
    connection = sqlite3.connect(tmp_path / "records.db", isolation_level=None)
    connection.execute("ATTACH ? AS other", (str(tmp_path / "other" / "records.db"),))
    connection.execute("DELETE FROM leastwise_audit WHERE number = 3")
    connection.execute("INSERT INTO leastwise_audit SELECT * FROM other.leastwise_audit WHERE number = 3")
    connection.close()
    found = read_audit(sqlite_url(tmp_path))
    assert [entry.event for entry, _ in found] == ["artefact", "started", "erased", "exported", "stopped"]
    assert not all(unchanged for _, unchanged in found)


def test_old_records_are_erased(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, day = Store.open(url), 20_000
    monkeypatch.setattr(store, "today", lambda: day)
    monkeypatch.setattr(store, "CHUNK", 4)
    for day in (20_000, 20_001, 20_030):  # noqa: B007 - the clock
        opened.write([Submission(opened.register(G), [Row(b"\0\0", None)] * 5)])
    assert opened.expire(30) == 0
    day = 20_031
    assert opened.expire(30) == 5
    assert read_records(url).height == 10
    opened.close()


def test_the_service_erases_old_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with client(sqlite_url(tmp_path)) as made:
        made.post("/records", json=RECORD)
    later = store.today() + 8
    for name in ("store", "service"):
        monkeypatch.setattr(f"leastwise.collector.{name}.today", lambda: later)
    for days, left in ((8, 1), (7, 0)):
        with client(sqlite_url(tmp_path), keep_days=days) as made:
            for _ in range(100):
                if len(exported(made)) == left:
                    break
            assert len(exported(made)) == left
    assert "expired" in {entry.event for entry, _ in read_audit(sqlite_url(tmp_path))}


def test_a_person_erases_a_record(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path)) as made:
        receipt = made.post("/records", json=RECORD).json()["receipt"]
        page = made.get("/erase")
        assert page.status_code == 200
        assert 'name="receipt"' in page.text
        foreign = made.post("/erase", data={"receipt": receipt}, headers={"sec-fetch-site": "cross-site"})
        assert foreign.status_code == 403
        gone = made.post("/erase", data={"receipt": f" {receipt} "})
        assert (gone.status_code, "is erased" in gone.text) == (200, True)
        assert receipt not in gone.text
        assert exported(made) == []
        again = made.post("/erase", data={"receipt": receipt})
        assert (again.status_code, "no record" in again.text) == (404, True)
        assert made.post("/erase", json={"receipt": receipt}).status_code == 415


def test_the_policy_says_who_asks_and_for_how_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    G.save(tmp_path / "g.json")
    (tmp_path / "leastwise.yaml").write_text(
        "format: leastwise-policy\nversion: 1\nnotice: {controller: Example Ltd, keep_days: 30}\n"
    )
    pages: list[str] = []

    def serve(app: Any, *_: Any, **__: Any) -> None:
        with Client(app) as made:
            pages.append(made.get("/").text)

    monkeypatch.setattr("leastwise.collector.app.serve", serve)
    for days, said in ((None, "30 days"), (7, "7 days")):
        collect(
            [tmp_path / "g.json"], sqlite_url(tmp_path), port=0, policy=tmp_path / "leastwise.yaml", keep_days=days
        )
        assert "Example Ltd" in pages[-1]
        assert said in pages[-1]
