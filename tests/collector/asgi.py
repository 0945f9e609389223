"""A client that speaks to an ASGI application in this process: no socket, and any bytes a stranger may send."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json_module.loads(self.content)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: a browser that another test drives occupies this one's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Client:
    """Sends requests one after the other, or several at once (``together``)."""

    def __init__(self, app: Any, address: str = "127.0.0.1") -> None:
        self._app, self._address = app, address
        self._loop, self._thread = asyncio.new_event_loop(), ThreadPoolExecutor(1)
        self._lifespan: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def __enter__(self) -> Client:
        self._run(self._start())
        return self

    async def _start(self) -> None:
        self._started = self._loop.create_future()
        self._task = self._loop.create_task(self._app({"type": "lifespan"}, self._lifespan.get, self._told))
        self._lifespan.put_nowait({"type": "lifespan.startup"})
        await self._started

    async def _stop(self) -> None:
        self._lifespan.put_nowait({"type": "lifespan.shutdown"})
        await self._task
        await self._loop.shutdown_default_executor()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._thread.submit(self._loop.run_until_complete, work).result()

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self._run(self._stop())
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()

    async def _told(self, message: dict[str, Any]) -> None:
        assert "failed" not in message["type"], message
        if not self._started.done():
            self._started.set_result(None)

    def request(self, method: str, url: str, **rest: Any) -> Answer:
        return self._run(self.ask(method, url, **rest))

    def together(self, *requests: tuple[str, str, dict[str, Any]]) -> list[Answer]:
        async def all_of_them() -> list[Answer]:
            return await asyncio.gather(*(self.ask(method, url, **rest) for method, url, rest in requests))

        return self._run(all_of_them())

    def get(self, url: str, **rest: Any) -> Answer:
        return self.request("GET", url, **rest)

    def post(self, url: str, **rest: Any) -> Answer:
        return self.request("POST", url, **rest)

    def delete(self, url: str, **rest: Any) -> Answer:
        return self.request("DELETE", url, **rest)

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[Any, Any] | None = None,
        json: Any = None,
        data: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        params: Mapping[str, str] | None = None,
        length: bool = True,
        chunks: int = 1,
    ) -> Answer:
        body, kind = _body(json, data, content)
        sent = {_bytes(name).lower(): _bytes(value) for name, value in (headers or {}).items()}
        sent |= {b"content-type": kind} if kind and b"content-type" not in sent else {}
        sent |= {b"content-length": str(len(body)).encode()} if length and method != "GET" else {}
        path, _, query = url.partition("?")
        query = "&".join(filter(None, [query, urlencode(params or {})]))
        scope = {
            "type": "http", "http_version": "1.1", "asgi": {"version": "3.0"}, "method": method, "scheme": "http",
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(b"host", b"127.0.0.1:8000"), *sent.items()], "client": (self._address, 5), "server": None,
        }  # fmt: skip
        exchange = _Exchange(body, chunks)
        await self._app(scope, exchange.receive, exchange.send)
        return exchange.answer()


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("latin-1")


def _body(json: Any, data: Mapping[str, str] | None, content: bytes | str | None) -> tuple[bytes, bytes]:
    if content is not None:
        return (content if isinstance(content, bytes) else content.encode()), b""
    if data is not None:
        return urlencode(data).encode(), b"application/x-www-form-urlencoded"
    return (json_module.dumps(json).encode() if json is not None else b""), b"application/json"


class _Exchange:
    def __init__(self, body: bytes, chunks: int) -> None:
        size = max(1, -(-len(body) // chunks))
        self._parts = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
        self._sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        if not self._parts:
            await asyncio.sleep(3600)
        part = self._parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self._parts)}

    async def send(self, message: dict[str, Any]) -> None:
        self._sent.append(message)

    def answer(self) -> Answer:
        start, *parts = self._sent
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        return Answer(start["status"], headers, b"".join(part.get("body", b"") for part in parts))
