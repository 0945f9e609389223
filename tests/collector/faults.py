"""What every fault is judged by: what was acknowledged is there, what was erased is not, and how long it took."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from leastwise.collector import receipts
from leastwise.collector.records import RecordFormat
from leastwise.collector.store import Store, Submission, read_records
from tests.collector.examples import RECORD, RECORDS, G
from tests.collector.process import HOST, Collector

TABLE: list[Fault] = []  # printed at the end by `make test-faults`


@dataclass
class Fault:
    """One row of the table."""

    name: str
    tried: int = 1
    acknowledged: int = 0
    lost: int = 0
    leaked: int = 0
    seconds: float | None = None  # until it worked again
    receipts: list[str] = field(default_factory=list)

    def post(self, collector: Collector, count: int = 1) -> int:
        """Send a request, and remember the receipts if it was acknowledged."""
        status, body = ask(collector, "POST", "/records", [RECORD] * count)
        if status == 201:
            self.receipts += json.loads(body)["receipts"]
            self.acknowledged += count
        return status

    def recovers(self, works: Callable[[], bool], within: float = 20) -> None:
        """Measure how long it takes until something works again."""
        start = time.monotonic()
        while not works():
            assert time.monotonic() - start < within, f"{self.name}: not recovered after {within} s"
            time.sleep(0.05)
        self.seconds = time.monotonic() - start

    def check_kept(self, url: str) -> None:
        """Count acknowledged records that are not there; a receipt is there when its record can be erased."""
        store = Store.open(url)
        try:
            self.lost = sum(not store.holds(receipt) for receipt in self.receipts)
        finally:
            store.close()
        assert self.lost == 0, f"{self.name}: {self.lost} acknowledged records are lost"

    def check_erased(self, receipt: str, folder: Path) -> None:
        self.leaked += sum(trace(receipt) in path.read_bytes() for path in folder.rglob("records.db*"))
        assert self.leaked == 0, f"{self.name}: the bytes of an erased record are still there"


@contextmanager
def fault(name: str) -> Iterator[Fault]:
    """Give the row of a fault; it counts when its test went well."""
    row = Fault(name)
    yield row
    TABLE.append(row)


def ask(
    collector: Collector, method: str, path: str, body: object = None, timeout: float = 30, **headers: str
) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection(HOST, collector.port, timeout=timeout)) as connection:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


def status(collector: Collector, path: str) -> int:
    return ask(collector, "GET", path)[0]


def trace(receipt: str) -> bytes:
    """Return the bytes by which a record can be found in a file."""
    raw = receipts.read(receipt)
    assert raw is not None
    return receipts.kept(raw)


def fill(url: str, count: int) -> None:
    """Store many records without a server."""
    store = Store.open(url)
    rows = RecordFormat(G).read_many(RECORDS * (count // len(RECORDS) + 1))[:count]
    store.write([Submission(store.register(G), rows)])
    store.close()
    assert read_records(url).height == count


def render(rows: list[Fault]) -> list[str]:
    head = f"{'fault':<42} {'tried':>6} {'acknowledged':>13} {'lost':>5} {'leaked':>7} {'recovered in':>13}"
    lines = [
        f"{row.name:<42} {row.tried:>6} {row.acknowledged:>13} {row.lost:>5} {row.leaked:>7} "
        f"{'' if row.seconds is None else f'{row.seconds:.1f} s':>13}"
        for row in rows
    ]
    return [head, *lines]
