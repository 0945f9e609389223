"""Requests that come together share a transaction, and none is forgotten."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from leastwise.collector.records import Row
from leastwise.collector.store import KeyUsedError, Outcome, Stored, Submission
from leastwise.collector.writer import BusyError, Writer
from tests.collector.asgi import run as in_thread

ONE = Submission(1, [Row(b"", None)])


class FakeStore:
    """Takes a moment for each transaction, and remembers how many requests each had."""

    def __init__(self, writers: int = 1, seconds: float = 0.002) -> None:
        self.writers, self.groups, self._seconds = writers, list[int](), seconds
        self.fails = False
        self.gate: threading.Event | None = None
        self._lock = threading.Lock()

    def write(self, submissions: Sequence[Submission]) -> list[Outcome]:
        with self._lock:
            self.groups.append(len(submissions))
        if self.gate is not None:
            assert self.gate.wait(60)
        time.sleep(self._seconds)
        if self.fails:
            raise OSError("the disk is full")
        return [KeyUsedError() if s.key == "used" else Stored([str(len(s.rows))]) for s in submissions]


def run(store: FakeStore, work: Any, waiting: int = 10_000) -> Any:
    async def main() -> Any:
        writer = Writer(store, waiting)  # type: ignore[arg-type]
        try:
            return await asyncio.wait_for(work(writer), 60)
        finally:
            await writer.close()

    return in_thread(main())


@pytest.mark.parametrize("writers", [1, 3])
def test_nobody_is_forgotten(writers: int) -> None:
    store = FakeStore(writers, 0.0)

    async def bursts(writer: Writer) -> int:
        answered = 0
        for burst in range(300):
            answered += len(await asyncio.gather(*(writer.submit(ONE) for _ in range(1 + burst % 4))))
        return answered

    assert run(store, bursts) == sum(store.groups) == 750


def test_those_who_wait_share_a_transaction() -> None:
    store = FakeStore()
    store.gate = threading.Event()  # the first transaction lasts until everybody else waits

    async def work(writer: Writer) -> None:
        first = asyncio.create_task(writer.submit(ONE))
        while not store.groups:
            await asyncio.sleep(0)
        others = [asyncio.create_task(writer.submit(ONE)) for _ in range(99)]
        await asyncio.sleep(0)
        store.gate.set()
        await asyncio.gather(first, *others)

    run(store, work)
    assert store.groups == [1, 99]


def test_a_transaction_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leastwise.collector.writer.MOST_ROWS", 10)
    store = FakeStore()
    run(store, lambda writer: asyncio.gather(*(writer.submit(ONE) for _ in range(95))))
    assert max(store.groups) == 10
    assert sum(store.groups) == 95


def test_a_failure_reaches_everyone_who_waits_and_nobody_else() -> None:
    store = FakeStore()

    async def work(writer: Writer) -> None:
        store.fails = True
        failed = await asyncio.gather(*(writer.submit(ONE) for _ in range(9)), return_exceptions=True)
        assert all(isinstance(each, OSError) for each in failed)
        store.fails = False
        assert (await writer.submit(ONE)).receipts == ["1"]

    run(store, work)


def test_a_used_key_is_its_senders_problem_only() -> None:
    used = Submission(1, ONE.rows, "used")

    async def work(writer: Writer) -> Any:
        return await asyncio.gather(writer.submit(ONE), writer.submit(used), return_exceptions=True)

    first, second = run(FakeStore(), work)
    assert isinstance(first, Stored)
    assert isinstance(second, KeyUsedError)


def test_a_client_that_leaves_does_not_disturb_the_others() -> None:
    store = FakeStore()
    store.gate = threading.Event()  # nobody is answered before one has left

    async def work(writer: Writer) -> Any:
        tasks = [asyncio.create_task(writer.submit(ONE)) for _ in range(5)]
        while not store.groups:
            await asyncio.sleep(0)
        tasks[2].cancel()
        store.gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = run(store, work)
    assert [isinstance(answer, Stored) for answer in answers] == [True, True, False, True, True]


def test_too_many_are_sent_away() -> None:
    async def work(writer: Writer) -> Any:
        return await asyncio.gather(*(writer.submit(ONE) for _ in range(20)), return_exceptions=True)

    answers = run(FakeStore(seconds=0.02), work, waiting=5)
    assert sum(isinstance(answer, BusyError) for answer in answers) == 15
