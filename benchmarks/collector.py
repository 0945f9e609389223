"""The collector beside a bare FastAPI endpoint, and the exported SQL beside a hand-written query.

Each server is a process of its own that listens on this machine; this process sends requests over 16 connections
and waits for every answer. Both store durably: SQLite with WAL and synchronous=FULL, PostgreSQL with its defaults.
The bare endpoint is run as `def` and as `async def`; the faster of the two is the peer. "sealed" is the collector
with --seal-to; p99_beside_hostile is by how much one client with large nonsense slows others down.

    python benchmarks/collector.py --json
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parent.parent))
from common import parser, report

CONNECTIONS = 16
BATCHES = (1, 1000)
HOST = "127.0.0.1"


def adult() -> tuple[Any, Any]:
    """Return a generalization of Adult, and its records generalized."""
    from leastwise import Generalization, PATMinimizer, Table
    from leastwise.datasets import load_adult

    data = load_adult()
    table = Table.from_frame(data.frame, data.schema)
    found = PATMinimizer(alpha=0.7, max_leaves=20).propose(table.split(seed=0)[0])
    g = Generalization(found.partitions, found.label)
    return g, g.transform(data.frame).drop(g.label.name)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(command: Sequence[str], port: int, **environment: str) -> Iterator[None]:
    """Run a server until the end of the block."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection((HOST, port), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise SystemExit(f"{' '.join(command)} did not start") from None
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


class Server(NamedTuple):
    port: int
    paths: dict[int, str]
    rows: Sequence[dict[str, str]]


@contextmanager
def ours(artefact: Path, url: str, rows: Sequence[dict[str, str]], *options: str) -> Iterator[Server]:
    port = free_port()
    words = ["collect", str(artefact), "--db", url, "--port", str(port), "--rate", "0", "--quiet", *options]
    command = [sys.executable, "-c", "from leastwise.cli.main import main; main()", *words]
    with serving(command, port, LEASTWISE_SECRET="0" * 64):
        yield Server(port, dict.fromkeys(BATCHES, "/records"), rows)


@contextmanager
def bare(answers: Path, url: str, mode: str, rows: Sequence[dict[str, str]]) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, str(Path(__file__).parent / "bare_collector.py")]
    with serving(command, port, PORT=str(port), DATABASE=url, ANSWERS=str(answers), MODE=mode):
        yield Server(port, {1: "/records", 1000: "/batches"}, rows)


def request(path: str, content: Any) -> bytes:
    body = json.dumps(content).encode()
    lines = [
        f"POST {path} HTTP/1.1",
        f"host: {HOST}",
        "content-type: application/json",
        f"content-length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _client(port: int, requests: Sequence[bytes], start: int, until: float, seconds: list[float]) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    place = start
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(requests[place % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        assert head.startswith(b"HTTP/1.1 201"), head
        seconds.append(time.perf_counter() - began)
        place += CONNECTIONS
    writer.close()


def load(port: int, requests: Sequence[bytes], duration: float) -> tuple[float, float]:
    """Return requests a second, and the 99th percentile of their times in milliseconds."""

    async def all_clients() -> list[float]:
        seconds: list[float] = []
        until = time.perf_counter() + duration
        clients = (_client(port, requests, number, until, seconds) for number in range(CONNECTIONS))
        await asyncio.gather(*clients)
        return seconds

    start = time.perf_counter()
    seconds = asyncio.run(all_clients())
    return len(seconds) / (time.perf_counter() - start), float(np.quantile(seconds, 0.99)) * 1000


async def _hostile(port: int, until: float) -> None:
    """Send a megabyte of nothing ten times a second, as one client within its rate may."""
    body = b"[" + b",".join([b"{}"] * 333_000) + b"]"
    head = f"POST /records HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    while time.perf_counter() < until:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(head.encode() + body)
        assert (await reader.read()).startswith(b"HTTP/1.1 413")
        writer.close()
        await asyncio.sleep(0.1)


def beside_a_hostile_client(server: Server, duration: float) -> float:
    """Return how many times longer the 99th percentile of others is beside a hostile client."""
    requests = [request("/records", row) for row in server.rows[:64]]
    _, alone = load(server.port, requests, duration)
    hostile = threading.Thread(target=asyncio.run, args=[_hostile(server.port, time.perf_counter() + duration)])
    hostile.start()
    _, beside = load(server.port, requests, duration)
    hostile.join()
    return beside / alone


def measure(servers: Mapping[str, Server], duration: float) -> dict[tuple[str, int], tuple[float, float]]:
    """Return records a second and p99 by server and size of a batch: the best of three rounds, taken in turns."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for round_, batch, (who, server) in itertools.product(range(4), BATCHES, servers.items()):
        parts = [server.rows[i : i + batch] for i in range(0, 64 * batch, batch)]
        path = server.paths[batch]
        requests = [request(path, part if batch > 1 else part[0]) for part in parts if part]
        each, p99 = load(server.port, requests, duration / 4)
        if round_:  # the first warms up
            found.setdefault((who, batch), []).append((each * batch, p99))
    return {key: (max(each for each, _ in rounds), min(p99 for _, p99 in rounds)) for key, rounds in found.items()}


def compare(g: Any, records: Any, duration: float, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Measure all servers on both stores."""
    from tests.postgres import running_server, why_not

    from leastwise.collector.sealing import make_keys

    rows = records.head(64_000).to_dicts()
    plain = [dict(zip((f"a{j}" for j in range(len(row))), row.values(), strict=True)) for row in rows]
    artefact, answers = folder / "g.json", folder / "answers.json"
    g.save(artefact)
    answers.write_text(json.dumps({name: g[name].labels for name in g.collected}), encoding="utf-8")
    table: list[dict[str, Any]] = []
    figures: dict[str, Any] = {"vs_bare_fastapi": {}, "sealed_vs_bare_fastapi": {}, "p99_ms": {}}
    public = folder / "records.pub"
    make_keys(folder / "records.key", public)
    for store in ("sqlite", "postgresql"):
        if store == "postgresql" and why_not():
            print(f"postgresql is left out: {why_not()}", file=sys.stderr)
            continue
        with ExitStack() as stack:
            postgres = stack.enter_context(running_server(durable=True)) if store == "postgresql" else None

            def url(name: str, postgres: Any = postgres) -> str:
                return (
                    f"sqlite:///{folder}/{name}.db" if postgres is None else postgres.url(postgres.new_database())
                )

            servers = {
                "leastwise": stack.enter_context(ours(artefact, url("ours"), rows)),
                "sealed": stack.enter_context(ours(artefact, url("sealed"), rows, "--seal-to", str(public))),
                "bare, def": stack.enter_context(bare(answers, url("def"), "def", plain)),
                "bare, async def": stack.enter_context(bare(answers, url("async"), "async", plain)),
            }
            found = measure(servers, duration)
            if store == "sqlite":
                figures["p99_beside_hostile"] = beside_a_hostile_client(servers["leastwise"], duration / 2)
        table += [
            {"store": store, "batch": batch, "who": who, "records/s": each, "p99 ms": p99}
            for (who, batch), (each, p99) in sorted(found.items(), key=lambda item: item[0][1])
        ]
        peer = {b: max(found["bare, def", b][0], found["bare, async def", b][0]) for b in BATCHES}
        figures["vs_bare_fastapi"][store] = {str(b): found["leastwise", b][0] / peer[b] for b in BATCHES}
        figures["sealed_vs_bare_fastapi"][store] = {str(b): found["sealed", b][0] / peer[b] for b in BATCHES}
        figures["p99_ms"][store] = {str(b): found["leastwise", b][1] for b in BATCHES}
    return table, figures


def main() -> None:
    made = parser(__doc__ or "")
    made.add_argument("--seconds", type=float, default=8.0, help="how long each server is loaded")
    made.add_argument("--rows", type=int, default=10_000_000, help="rows for the exported SQL; 0 leaves it out")
    arguments = made.parse_args()
    g, records = adult()
    with tempfile.TemporaryDirectory() as folder:
        table, figures = compare(g, records, arguments.seconds, Path(folder))
    if arguments.rows:
        from sql import measure as measure_sql

        figures["sql_vs_handwritten"] = measure_sql(arguments.rows, 3)[1]["sql_vs_handwritten"]
    report(table, figures, arguments.json)


if __name__ == "__main__":
    main()
