"""Faults, and what they must not cost: no acknowledged record, no erased byte, no answer that never comes.

``make test-faults`` runs all of them, the slow ones too, and prints a table.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from leastwise.collector.connections import IDLE
from leastwise.collector.databases import ANSWER, LOCKED
from leastwise.collector.records import RecordFormat
from leastwise.collector.store import Store, Stored, Submission, read_records
from tests.collector.examples import RECORD, TOKEN, G, sqlite_url
from tests.collector.faults import Fault, ask, fault, fill, status, trace
from tests.collector.process import HOST, Collector, running
from tests.postgres import running_server, why_not


def stalled_export(port: int) -> socket.socket:
    """Ask for all records, read a little, and stop reading."""
    reader = socket.create_connection((HOST, port), 10)
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.sendall(f"GET /records HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())
    assert reader.recv(1000).startswith(b"HTTP/1.1 200")
    return reader


@contextmanager
def struck(name: str, folder: Path) -> Iterator[tuple[Fault, Collector]]:
    """Give a collector that something happens to; at its end all that it acknowledged must be there."""
    url = sqlite_url(folder)
    with fault(name) as row, running(folder, url, [G]) as collector:
        yield row, collector
        collector.stop()
        row.check_kept(url)


def test_erasing_beside_a_slow_reader(tmp_path: Path) -> None:
    fill(sqlite_url(tmp_path), 100_000)
    with struck("slow reader of the export, erasure", tmp_path) as (row, collector):
        with stalled_export(collector.port):
            assert row.post(collector) == 201
            receipt = row.receipts.pop()
            start = time.monotonic()
            assert ask(collector, "DELETE", f"/records/{receipt}")[0] == 204
            row.seconds = time.monotonic() - start
            assert row.seconds < LOCKED, "nobody waited for the reader"
            row.check_erased(receipt, tmp_path)
            assert row.post(collector) == 201
        assert ask(collector, "DELETE", f"/records/{receipt}")[0] == 404


def test_erasing_beside_another_reader_of_the_file(tmp_path: Path) -> None:
    """A backup, or somebody at a prompt: the log cannot be emptied, nobody waits, and 204 is not said."""
    with struck("reader of the file, erasure", tmp_path) as (row, collector):
        assert row.post(collector) == 201
        reader = sqlite3.connect(tmp_path / "records.db", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM leastwise_records").fetchone() == (1,)
        assert row.post(collector) == 201
        receipt = row.receipts.pop()
        answer, body = ask(collector, "DELETE", f"/records/{receipt}")
        assert answer == 202
        assert "log" in json.loads(body)["status"]
        assert ask(collector, "GET", f"/records/{receipt}")[0] == 202
        start = time.monotonic()
        assert row.post(collector) == 201
        assert time.monotonic() - start < LOCKED, "writers are not kept waiting"
        reader.close()
        row.recovers(lambda: ask(collector, "GET", f"/records/{receipt}")[0] == 404)
        row.check_erased(receipt, tmp_path)


@pytest.mark.slow
def test_erasing_is_honest_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    with fault("erasure on PostgreSQL") as row, running(tmp_path, postgres_url, [G]) as collector:
        row.post(collector)
        answer, body = ask(collector, "DELETE", f"/records/{row.receipts.pop()}")
        assert (answer, "PostgreSQL" in json.loads(body)["status"]) == (202, True)
        assert read_records(postgres_url).height == 0


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGINT, signal.SIGHUP))],
    ids=lambda each: each.name,
)
def test_a_clean_stop_leaves_one_file_without_order(tmp_path: Path, number: signal.Signals) -> None:
    url = sqlite_url(tmp_path)
    with fault(f"{number.name}") as row, running(tmp_path, url, [G]) as collector:
        for _ in range(20):
            assert row.post(collector) == 201
        assert collector.process is not None
        collector.process.send_signal(number)
        assert collector.process.wait(20) == 0
        assert sorted(path.name for path in tmp_path.glob("records.db*")) == ["records.db"]
        (tmp_path / "alone").mkdir()
        alone = tmp_path / "alone" / "records.db"
        alone.write_bytes((tmp_path / "records.db").read_bytes())
        assert read_records(f"sqlite:///{alone}").height == 20
        row.check_kept(url)


@pytest.mark.slow
def test_the_log_is_emptied_while_it_runs(tmp_path: Path) -> None:
    with fault("order of arrival in the log") as row, running(tmp_path, sqlite_url(tmp_path), [G]) as collector:
        row.post(collector)
        assert trace(row.receipts[0]) in (tmp_path / "records.db-wal").read_bytes()
        row.recovers(lambda: (tmp_path / "records.db-wal").stat().st_size == 0, within=7)


def test_a_lost_file_is_noticed(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    with struck("database file moved away", tmp_path) as (row, collector):
        assert row.post(collector) == 201
        for path in tmp_path.glob("records.db*"):
            path.rename(away / path.name)
        assert row.post(collector) == 503
        assert (status(collector, "/ready"), status(collector, "/health")) == (503, 200)
        assert not (tmp_path / "records.db").exists(), "an empty one is not made"
        for path in away.iterdir():
            path.rename(tmp_path / path.name)
        row.recovers(lambda: row.post(collector) == 201)


@pytest.mark.slow
def test_a_lost_log_is_noticed(tmp_path: Path) -> None:
    with struck("log of the database deleted", tmp_path) as (row, collector):
        assert row.post(collector, 5) == 201
        (tmp_path / "records.db-wal").unlink()
        assert row.post(collector) == 503
        collector.stop()
        row.recovers(lambda: collector.start() is None)
        assert row.post(collector) == 201


@pytest.mark.slow
def test_a_locked_file(tmp_path: Path) -> None:
    with struck("database file locked", tmp_path) as (row, collector):
        assert row.post(collector) == 201
        other = sqlite3.connect(tmp_path / "records.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        assert row.post(collector) == 503
        assert time.monotonic() - start < LOCKED + 2
        assert status(collector, "/health") == 200
        other.close()
        row.recovers(lambda: row.post(collector) == 201)


@pytest.mark.slow
def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    fill(sqlite_url(tmp_path), 20_000)
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'leastwise_records'"
    place = (connection.execute(query).fetchone()[0] - 1) * 4096
    assert connection.execute("PRAGMA page_size").fetchone() == (4096,)
    connection.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + b"\xff" * 4096 + whole[place + 4096 :])
    with struck("damaged page", tmp_path) as (row, collector):
        assert row.post(collector) == 503
        assert (status(collector, "/ready"), status(collector, "/health")) == (503, 200)
        collector.stop()
        path.write_bytes(whole)
        row.recovers(lambda: collector.start() is None)
        assert row.post(collector) == 201


def full(process: subprocess.Popen[bytes], size: int) -> None:
    """Let a process's files grow no more: what a full disk is to it."""
    import resource

    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk(tmp_path: Path) -> None:
    with struck("full disk", tmp_path) as (row, collector):
        assert row.post(collector) == 201
        assert collector.process is not None
        full(collector.process, 100)
        assert row.post(collector) == 503
        assert (status(collector, "/ready"), status(collector, "/health")) == (503, 200)
        full(collector.process, 2**40)
        row.recovers(lambda: row.post(collector) == 201)


def impatient(**seconds: float) -> str:
    """Return the program of a collector that waits for less time."""
    changes = "".join(f"connections.{name} = {value}\n" for name, value in seconds.items())
    return f"from leastwise.collector import connections\n{changes}from leastwise.cli.main import main\nmain()"


HALF_A_HEADER = b"POST /records HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize(
    "sent", [pytest.param(b"", marks=pytest.mark.slow), HALF_A_HEADER], ids=["silent", "half a header"]
)
def test_idle_connections_lock_nobody_out(tmp_path: Path, sent: bytes) -> None:
    with fault(f"520 connections, {'half a header' if sent else 'silent'}") as row, ExitStack() as stack:
        collector = stack.enter_context(running(tmp_path, sqlite_url(tmp_path), [G]))
        row.tried = 520
        for _ in range(row.tried):
            stack.enter_context(socket.create_connection((HOST, collector.port), 10)).sendall(sent)
        row.recovers(lambda: row.post(collector) == 201, within=IDLE - 5)  # before any of them is too old
        assert collector.process is not None
        assert len(os.listdir(f"/proc/{collector.process.pid}/fd")) < 200, "they are closed"


def test_an_idle_connection_is_closed(tmp_path: Path) -> None:
    with fault("a header that never ends") as row, ExitStack() as stack:
        collector = stack.enter_context(running(tmp_path, sqlite_url(tmp_path), [G], script=impatient(IDLE=0.5)))
        opened = stack.enter_context(socket.create_connection((HOST, collector.port), 10))
        start = time.monotonic()
        with suppress(OSError):
            for byte in HALF_A_HEADER * 10:
                opened.sendall(bytes([byte]))
                time.sleep(0.05)
        row.seconds = time.monotonic() - start
        assert row.seconds < 10, "each byte does not buy more time"  # all would take 16 seconds
        kept = stack.enter_context(closing(http.client.HTTPConnection(HOST, collector.port)))
        for _ in range(3):  # one that works is kept
            kept.request("GET", "/health")
            assert kept.getresponse().read()
            time.sleep(0.3)


def test_a_stalled_export_is_ended(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    fill(url, 100_000)
    with fault("export that nobody reads") as row, ExitStack() as stack:
        collector = stack.enter_context(running(tmp_path, url, [G], script=impatient(STALLED=1)))
        stack.enter_context(stalled_export(collector.port))
        row.recovers(lambda: "GET /records 200" in collector.log.read_text())


@pytest.mark.slow
def test_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days go back and forth by years: what was acknowledged stays, and a repeated request is stored once."""
    url, now = sqlite_url(tmp_path), 0
    monkeypatch.setattr("leastwise.collector.store.today", lambda: now)
    submission = Submission(1, RecordFormat(G).read_many([RECORD]), "a key that nobody guesses", b"body")
    with fault("clock jumps (days)") as row:
        for now in (20_000, 20_020, 19_000, 20_020):  # noqa: B007 - the clock
            row.tried += 1
            store = Store.open(url)
            store.register(G)
            fresh, again = store.write([replace(submission, key=None), submission])
            assert isinstance(fresh, Stored)
            assert isinstance(again, Stored)
            row.receipts += fresh.receipts + again.receipts
            store.close()
        row.acknowledged = len({*row.receipts})
        row.check_kept(url)
        assert read_records(url).height == 5


WITH_A_CLOCK = """
import time
from pathlib import Path

real = time.time
time.time = lambda: real() + float(Path({path!r}).read_text())
from leastwise.collector import service
service.TIDY = 0.1
from leastwise.cli.main import main
main()
"""


@pytest.mark.parametrize("days", [400, pytest.param(-400, marks=pytest.mark.slow)])
def test_a_clock_that_jumps_while_old_records_are_erased(tmp_path: Path, days: int) -> None:
    """Neither does a clock that is ahead erase what is new, nor is what came under one that is behind soon old."""
    url, clock = sqlite_url(tmp_path), tmp_path / "clock"
    clock.write_text("0")
    with (
        fault(f"clock jumps by {days:+} days, --keep-days") as row,
        running(tmp_path, url, [G], "--keep-days", 30, script=WITH_A_CLOCK.format(path=str(clock))) as collector,
    ):
        for jump in (0, days, 0, days, 0):
            clock.write_text(str(jump * 86_400))
            time.sleep(0.5)  # several times that old records are looked for
            assert row.post(collector) == 201
        row.tried = 4
        time.sleep(0.5)
        assert collector.stop() == 0
        row.check_kept(url)
        collector.start()
        assert row.post(collector) == 201
        collector.stop()
        row.check_kept(url)


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_a_server_that_hangs(tmp_path: Path) -> None:
    with running_server() as server:
        main = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        url = server.url(server.new_database())

        def everyone(number: signal.Signals) -> None:
            children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
            for process in (main, *map(int, children)):
                os.kill(process, number)

        with fault("PostgreSQL hangs (SIGSTOP)") as row, running(tmp_path, url, [G]) as collector:
            try:
                assert row.post(collector) == 201
                everyone(signal.SIGSTOP)
                for path, expected in (("/records", 503), ("/health", 200), ("/ready", 503)):
                    start = time.monotonic()
                    found = row.post(collector) if path == "/records" else status(collector, path)
                    assert (path, found) == (path, expected)
                    assert time.monotonic() - start < (ANSWER + 2 if expected == 503 else 1)
                everyone(signal.SIGCONT)
                row.recovers(lambda: row.post(collector) == 201)
                everyone(signal.SIGSTOP)
                start = time.monotonic()
                assert collector.stop() == 0
                assert time.monotonic() - start < 30
            finally:
                everyone(signal.SIGCONT)
            row.check_kept(url)
