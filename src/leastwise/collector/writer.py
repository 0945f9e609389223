"""All requests that wait share one transaction, and its wait for the disk."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from leastwise.collector.databases import ANSWER, SilentError
from leastwise.collector.store import KeyUsedError, Outcome, Store, Stored, Submission

MOST_ROWS = 20_000  # in one transaction


class BusyError(Exception):
    """More requests wait for the store than may."""


class Writer:
    """Stores submissions for an event loop; each is answered when it is on disk."""

    def __init__(self, store: Store, waiting: int) -> None:
        self._store, self._limit = store, waiting
        self._pending: list[tuple[Submission, asyncio.Future[Outcome]]] = []
        self._running: set[asyncio.Task[None]] = set()
        self._free = store.writers
        self._threads = ThreadPoolExecutor(store.writers, "leastwise-writer")

    async def submit(self, submission: Submission) -> Stored:
        """Return the receipts once the records are durable."""
        if len(self._pending) >= self._limit:
            raise BusyError
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._pending.append((submission, future))
        if self._free:
            self._free -= 1
            task = asyncio.create_task(self._run())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        try:
            async with asyncio.timeout(ANSWER):
                outcome = await future
        except TimeoutError:
            raise SilentError(f"the store was silent for {ANSWER} seconds") from None
        if isinstance(outcome, KeyUsedError):
            raise outcome
        return outcome

    async def _run(self) -> None:
        while group := self._next_group():
            await self._store_group(group)
        # In the same step as the last look at what waits: whoever comes next starts another.
        self._free += 1

    def _next_group(self) -> list[tuple[Submission, asyncio.Future[Outcome]]]:
        # Whoever was told that it took too long is not stored any more.
        self._pending = [waiting for waiting in self._pending if not waiting[1].done()]
        rows = end = 0
        while end < len(self._pending) and (not end or rows < MOST_ROWS):
            rows += len(self._pending[end][0].rows)
            end += 1
        group, self._pending = self._pending[:end], self._pending[end:]
        return group

    async def _store_group(self, group: list[tuple[Submission, asyncio.Future[Outcome]]]) -> None:
        loop = asyncio.get_running_loop()
        try:
            asked = [submission for submission, _ in group]
            outcomes = await loop.run_in_executor(self._threads, self._store.write, asked)
        except Exception as error:  # handed to everyone who waits for it
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), outcome in zip(group, outcomes, strict=True):
            if not future.done():  # the client has gone
                future.set_result(outcome)

    async def close(self) -> None:
        """Finish what waits."""
        while self._running:
            await asyncio.gather(*self._running)
        self._threads.shutdown()
