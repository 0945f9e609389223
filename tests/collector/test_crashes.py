"""SIGKILL under load: what was acknowledged is there exactly once, and a repeated request changes nothing."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from leastwise.collector import receipts
from leastwise.collector.databases import open_database
from leastwise.collector.tables import records, requests
from tests.collector.asgi import run
from tests.collector.examples import RECORDS, G, sqlite_url
from tests.collector.faults import fault
from tests.collector.process import HOST, Collector, running

CLIENTS = 8


@dataclass
class Sent:
    """A request that is repeated until somebody acknowledges it."""

    key: str
    body: bytes
    count: int
    receipts: list[str] = field(default_factory=list)


def new_request(source: random.Random) -> Sent:
    count = source.choice([1, 1, 1, 40])
    chosen = [source.choice(RECORDS) for _ in range(count)]
    return Sent(str(uuid.UUID(int=source.getrandbits(128))), json.dumps(chosen).encode(), count)


async def post(port: int, sent: Sent) -> list[str]:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        head = (
            f"POST /records HTTP/1.1\r\nhost: x\r\nidempotency-key: {sent.key}\r\ncontent-length: {len(sent.body)}"
        )
        writer.write(f"{head}\r\nconnection: close\r\n\r\n".encode() + sent.body)
        answer = await reader.read()
    finally:
        writer.close()
    status, _, body = answer.partition(b"\r\n\r\n")
    if not status.startswith((b"HTTP/1.1 201", b"HTTP/1.1 200")):
        raise OSError("not acknowledged")
    told: list[str] = json.loads(body)["receipts"]  # raises when the answer was cut short
    return told


class Load:
    """Clients that send while the collector lives; none gives up a request that was not acknowledged."""

    def __init__(self, port: int, seed: int) -> None:
        self._port, self._random = port, random.Random(seed)
        self.acknowledged: list[Sent] = []
        self.open: list[Sent] = []
        self.repeats = 0

    async def send(self, sent: Sent) -> bool:
        try:
            told = await post(self._port, sent)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            self.open.append(sent)
            return False
        assert len(told) == sent.count
        if not sent.receipts:
            self.acknowledged.append(sent)
        assert sent.receipts in ([], told), "the same request, the same receipts"
        sent.receipts = told
        return True

    async def _client(self) -> None:
        alive = True
        while alive:
            again = self._random.random() < 0.2 and self.acknowledged
            if self.open:
                sent = self.open.pop()
                self.repeats += 1
            else:
                sent = self._random.choice(self.acknowledged) if again else new_request(self._random)
            alive = await self.send(sent)

    async def until_killed(self, collector: Collector, after: int) -> None:
        """Kill the collector when it has acknowledged some more requests, in the middle of others."""
        clients = [asyncio.create_task(self._client()) for _ in range(CLIENTS)]
        enough = len(self.acknowledged) + after
        async with asyncio.timeout(60):
            while len(self.acknowledged) < enough:
                await asyncio.sleep(0.002)
        await asyncio.to_thread(collector.kill)
        await asyncio.gather(*clients)

    async def finish(self) -> None:
        for _ in range(5):
            waiting, self.open = self.open, []
            await asyncio.gather(*(self.send(sent) for sent in waiting))
        assert self.open == []


def survives(folder: Path, url: str, kills: int, seed: int = 0) -> Load:
    """Kill a collector again and again, and compare what is stored with what was acknowledged."""
    source = random.Random(seed)
    with fault(f"SIGKILL under load ({url.partition(':')[0]})") as row:
        row.tried, row.seconds = kills, 0.0
        with running(folder, url, [G], "--quiet") as collector:
            load = Load(collector.port, seed)
            for _ in range(kills):
                run(load.until_killed(collector, source.randint(5, 100)))
                check(url, load, exact=False)
                start = time.monotonic()
                collector.start()
                row.seconds = max(row.seconds, time.monotonic() - start)
            run(load.finish())
            assert collector.stop() == 0
        check(url, load, exact=True)
        row.acknowledged = sum(sent.count for sent in load.acknowledged)
    return load


def check(url: str, load: Load, exact: bool) -> None:
    """Every acknowledged record is there; at the end there is nothing else."""
    database = open_database(url, create=False)
    with database.reading() as connection:
        kept = [bytes(row) for row in connection.execute(sa.select(records.c.receipt)).scalars()]
        keys = connection.execute(sa.select(sa.func.count()).select_from(requests)).scalar_one()
    database.close()
    raw = [receipts.read(text) for sent in load.acknowledged for text in sent.receipts]
    expected = [receipts.kept(receipt) for receipt in raw if receipt is not None]
    assert len(expected) == len({*expected}) == sum(sent.count for sent in load.acknowledged)
    assert {*expected} <= {*kept}
    if exact:
        assert sorted(kept) == sorted(expected)
        assert keys == len(load.acknowledged)


def test_acknowledged_records_survive(tmp_path: Path) -> None:
    survives(tmp_path, sqlite_url(tmp_path), kills=3)


@pytest.mark.slow
def test_acknowledged_records_survive_twenty_times(tmp_path: Path) -> None:
    load = survives(tmp_path, sqlite_url(tmp_path), kills=24, seed=1)
    assert load.repeats > 20, "requests were cut off in the middle"


@pytest.mark.slow
def test_acknowledged_records_survive_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    survives(tmp_path, postgres_url, kills=8, seed=2)
