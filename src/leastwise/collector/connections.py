"""Connections that cost something: limits of time and number that uvicorn does not have.

A connection without a request (silent, half a header, kept alive) is closed after ``IDLE`` seconds, and earlier
when somebody else needs its place: the one that has waited longest goes first. A client that does not read its
answer is left after ``STALLED`` seconds. Nobody but a trusted proxy holds more than ``PER_ADDRESS`` connections.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

IDLE = 15.0  # seconds without a complete header
STALLED = 30.0  # seconds that an answer may wait for its reader
PER_ADDRESS = 64
MOST = 500  # connections, each with a body in memory at worst


def network_of(client: str) -> str:
    """Return what counts as one client: an address, of IPv6 the network of 64 bits, of which it has every address.

    >>> network_of("::ffff:10.0.0.1"), network_of("2001:db8:1:2::9"), network_of("whatever was sent")
    ('10.0.0.1', '2001:db8:1:2::/64', 'unknown')
    """
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address)


class Guard:
    """Knows all connections of a server: how many each address has, and which wait for a request."""

    def __init__(self, proxy: str | None) -> None:
        self._proxy = None if proxy is None else network_of(proxy)
        self._counts: Counter[str] = Counter()
        self.waiting: dict[Connection, None] = {}  # the longest first

    def admit(self, connection: Connection) -> bool:
        """Count a connection; close one that waits if there are too many, refuse this one if none does."""
        name = connection.name
        self._counts[name] += 1
        crowded = name != self._proxy and self._counts[name] > PER_ADDRESS
        if not crowded and self._counts.total() <= MOST:
            return True
        rivals = (each for each in self.waiting if not crowded or each.name == name)
        victim = next(rivals, None)
        if victim is None:
            return False
        victim.drop()
        return True

    def dismiss(self, connection: Connection) -> None:
        """Forget a connection."""
        self.waiting.pop(connection, None)
        self._counts[connection.name] -= 1
        if not self._counts[connection.name]:
            del self._counts[connection.name]


class Connection(H11Protocol):
    """uvicorn's connection with a guard."""

    def __init__(self, guard: Guard, **words: Any) -> None:
        super().__init__(**words)
        self._guard, self.name = guard, "unknown"
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._counted = False

    def drop(self) -> None:
        """End it without another word."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if self._counted:
            self._counted = False
            self._guard.dismiss(self)

    def _set(self, name: str, seconds: float | None) -> None:
        if name in self._timers:
            self._timers.pop(name).cancel()
        if seconds is not None:
            self._timers[name] = self.loop.call_later(seconds, self.drop)

    def _wait(self) -> None:
        self._guard.waiting[self] = None
        self._set("idle", IDLE)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.name, self._counted = network_of(self.client[0] if self.client else ""), True
        if self._guard.admit(self):
            self._wait()
        else:
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place free."""
        self._leave()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Notice that a request has begun; its body has a limit of its own."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._guard.waiting.pop(self, None)
            self._set("idle", None)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is here."""
        super().on_response_complete()
        if self._counted and self.cycle.response_complete:
            self._wait()

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        super().pause_writing()
        self._set("stalled", STALLED)

    def resume_writing(self) -> None:
        """Forget it: it reads."""
        super().resume_writing()
        self._set("stalled", None)
