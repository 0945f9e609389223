"""Power cuts, played: of what was written, only what was synced is there; what was acknowledged must be."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leastwise.collector.store import Store
from tests.collector.examples import G, sqlite_url
from tests.collector.faults import Fault, ask, fault, status
from tests.collector.process import running

GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc, which builds the layer that notes writes, is missing")
HEAD = struct.Struct("<cIqI")
SECTOR = 512
# The log is emptied all the time, so that cuts fall into that, too.
SCRIPT = "from leastwise.collector import service\nservice.TIDY = .2\nfrom leastwise.cli.main import main\nmain()"


def steps(log: bytes) -> Iterator[tuple[bytes, str, int, bytes]]:
    """Yield what was done: write, truncate or sync, to which file, where, and the data."""
    place = 0
    while place + HEAD.size <= len(log):
        what, name, offset, length = HEAD.unpack_from(log, place)
        start = place + HEAD.size + name
        data = log[start : start + length] if what == b"w" else b""
        place = start + len(data)
        if place > len(log):
            return
        yield what, log[start - name : start].decode(), offset, data


def after_a_cut(log: bytes, chance: random.Random) -> dict[str, bytes]:
    """Return the files after a power cut: all that was synced, and some sectors of what was not.

    A name that was removed is gone for sure when its folder was synced.
    """
    now: dict[str, bytearray] = {}
    synced: dict[str, bytes] = {}
    open_writes: dict[str, list[tuple[int, bytes]]] = {}
    removed: set[str] = set()
    for what, path, offset, data in steps(log):
        if what == b"u":
            now.pop(path, None)
            removed.add(path)
            continue
        if any(Path(each).parent == Path(path) for each in (*now, *removed)):  # a folder, synced
            for each in removed - now.keys():
                synced.pop(each, None)
            removed.clear()
            continue
        file = now.setdefault(path, bytearray())
        if what == b"w":
            file.extend(bytes(max(0, offset + len(data) - len(file))))
            file[offset : offset + len(data)] = data
            open_writes.setdefault(path, []).append((offset, data))
        elif what == b"t":
            del file[offset:]
            file.extend(bytes(offset - len(file)))
        else:
            synced[path] = bytes(file)
            open_writes[path] = []
    share = chance.choice([0.0, 0.0, 0.5, 1.0])
    for path, writes in open_writes.items():
        if path in synced:
            synced[path] = with_some(synced[path], writes, share, chance)
    return synced


def with_some(content: bytes, writes: list[tuple[int, bytes]], share: float, chance: random.Random) -> bytes:
    file = bytearray(content)
    for offset, data in writes:
        for start in range(0, len(data), SECTOR):
            if chance.random() < share:
                part = data[start : start + SECTOR]
                file.extend(bytes(max(0, offset + start + len(part) - len(file))))
                file[offset + start : offset + start + len(part)] = part
    return bytes(file)


def load(row: Fault, collector: object, log: Path, until: float, seen: list[tuple[int, str]]) -> None:
    while time.monotonic() < until:
        own = Fault("one client")
        if own.post(collector) == 201:  # type: ignore[arg-type]
            seen.append((log.stat().st_size, own.receipts[0]))


def layer(folder: Path, **more: str) -> dict[str, str]:
    """Build the layer that notes writes; return the environment of a program that has it."""
    shim, source = folder / "powercut.so", Path(__file__).with_name("powercut.c")
    subprocess.run([str(GCC), "-shared", "-fPIC", "-O2", "-o", str(shim), str(source), "-ldl"], check=True)
    data = folder / "data"
    data.mkdir()
    return {"LD_PRELOAD": str(shim), "POWERCUT_LOG": str(folder / "log"), "POWERCUT_FOLDER": str(data), **more}


@pytest.mark.slow
@needs_gcc
def test_a_disk_that_becomes_read_only(tmp_path: Path) -> None:
    flag, url = tmp_path / "flag", sqlite_url(tmp_path / "data")
    environment = layer(tmp_path, POWERCUT_READONLY=str(flag))
    with (
        fault("disk becomes read-only") as row,
        running(tmp_path, url, [G], script=SCRIPT, **environment) as collector,
    ):
        assert row.post(collector, 5) == 201
        flag.touch()
        row.tried = 10
        assert {row.post(collector) for _ in range(row.tried)} == {503}
        assert ask(collector, "DELETE", f"/records/{row.receipts[0]}")[0] == 503
        assert (status(collector, "/ready"), status(collector, "/health")) == (503, 200)
        flag.unlink()
        row.recovers(lambda: row.post(collector) == 201)
        assert status(collector, "/ready") == 200
        collector.stop()
        row.check_kept(url)


@pytest.mark.slow
@needs_gcc
def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    log, folder, environment = tmp_path / "log", tmp_path / "data", layer(tmp_path)
    seen: list[tuple[int, str]] = []
    with (
        fault("power cut (what was not synced is lost)") as row,
        running(tmp_path, sqlite_url(folder), [G], "--quiet", script=SCRIPT, **environment) as collector,
    ):
        until = time.monotonic() + 4
        arguments = (row, collector, log, until, seen)
        clients = [threading.Thread(target=load, args=arguments) for _ in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        collector.kill()
        row.acknowledged, row.tried = len(seen), 60
        written, chance = log.read_bytes(), random.Random(0)
        assert {what for what, *_ in steps(written)} == {b"w", b"t", b"s", b"u"}, "it was looked at"
        for cut in range(row.tried):
            at = chance.randrange(min(size for size, _ in seen), len(written))
            row.lost += lost(tmp_path / f"cut{cut}", after_a_cut(written[:at], chance), at, seen)
    assert row.acknowledged > 50
    assert row.lost == 0


def lost(folder: Path, files: dict[str, bytes], at: int, seen: list[tuple[int, str]]) -> int:
    """Return how many records that were acknowledged before the cut are not there after it."""
    folder.mkdir()
    for path, content in files.items():
        (folder / Path(path).name).write_bytes(content)
    store = Store.open(sqlite_url(folder))
    found = sum(not store.holds(receipt) for size, receipt in seen if size <= at)
    store.close()
    connection = sqlite3.connect(folder / "records.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    shutil.rmtree(folder)
    return found
