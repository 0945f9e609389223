"""The collector as an ASGI application and as a process: which route answers what, and how mistakes are told."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from leastwise.collector.connections import Connection, Guard
from leastwise.collector.databases import StoreError
from leastwise.collector.pages import ANYWHERE, refused_page
from leastwise.collector.records import InvalidRecordsError, Problem
from leastwise.collector.requests import RefusedError, reads_pages, speech_of, wants_page
from leastwise.collector.security import Gate, Settings, log, problem
from leastwise.collector.service import Service
from leastwise.collector.store import KeyUsedError, Store
from leastwise.collector.writer import BusyError
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization

if TYPE_CHECKING:
    from leastwise.models import Model


def make_app(
    generalizations: Sequence[Generalization],
    store: Store,
    settings: Settings | None = None,
    model: Model | None = None,
) -> Starlette:
    """Return a collector of the records of some generalizations.

    Parameters
    ----------
    generalizations
        All that are accepted, the newest last: it is the form's, and that of records that name none.
    store
        Where records are kept.
    settings
        Limits, and the token of the export.
    model
        Answers ``POST /predict``; trained under one of the generalizations.
    """
    if not generalizations:
        raise ParameterError("a collector needs at least one generalization")
    if len({g.fingerprint for g in generalizations}) < len(generalizations):
        raise ParameterError("a generalization is named twice; name each once, the newest last")
    if model is not None and model.fingerprint not in {g.fingerprint for g in generalizations}:
        raise ParameterError("the model was trained under another generalization than those that are collected")
    settings = settings or Settings()
    service = Service(generalizations, store, settings, model)
    app = Starlette(
        routes=[_Route(path, answer, methods=[method]) for method, path, answer in service.routes],
        exception_handlers={kind: _asynchronous(answer) for kind, answer in _ANSWERS.items()},
        middleware=[Middleware(Gate, settings=settings, refuse=_refuse)],
        lifespan=_closing(service),
    )
    app.router.redirect_slashes = False
    app.state.reader = service.reader  # knows the languages, for those who are refused before they are read
    return app


class _Route(Route):
    """Leaves its path for the log: that of the request may hold a receipt, or whatever a stranger wrote."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return match, {**child, "leastwise.route": self.path}


def _closing(service: Service) -> Any:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        tidying = asyncio.create_task(service.tidy())
        yield
        tidying.cancel()
        await service.close()

    return lifespan


_PHRASES = {404: "there is nothing here; see /docs", 405: "this address answers other methods; see /docs"}


def _asynchronous(answer: Any) -> Any:
    async def handler(request: Request, error: Exception) -> Response:
        response: Response = answer(request, error)
        return response

    return handler


def _refuse(request: Request, status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    if wants_page(request) or (status in ANYWHERE and reads_pages(request)):
        page = refused_page(request, status, [Problem(None, None, text)], speech_of(request))
        page.headers.update(headers or {})
        return page
    return problem(status, text, headers)


def _invalid(request: Request, error: InvalidRecordsError) -> Response:
    if wants_page(request):
        return refused_page(request, 422, error.problems, speech_of(request))
    return problem(422, "these are not generalized records", problems=[asdict(each) for each in error.problems])


def _not_routed(request: Request, error: HTTPException) -> Response:
    phrase = _PHRASES.get(error.status_code, "refused")  # its own text may quote the request
    return _refuse(request, error.status_code, phrase, dict(error.headers or {}))


def _store_failed(request: Request, error: Exception) -> Response:
    log.error("the database failed: %s", type(error).__name__)  # its text may quote a row
    text = "the database failed; it is not sure that the records were kept: repeat with the same Idempotency-Key"
    return _refuse(request, 503, text, {"retry-after": "5"})


# How each mistake is answered. No answer holds anything that the client sent.
_ANSWERS: dict[Any, Any] = {
    InvalidRecordsError: _invalid,
    RefusedError: lambda request, error: _refuse(request, error.status, error.problem, error.headers),
    KeyUsedError: lambda request, _: _refuse(request, 409, "this Idempotency-Key came with another body"),
    BusyError: lambda request, _: _refuse(request, 503, "too many wait; try again", {"retry-after": "1"}),
    SQLAlchemyError: _store_failed,
    StoreError: _store_failed,
    HTTPException: _not_routed,
}


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def prepare_log(quiet: bool) -> None:
    """Write one line per request to standard error: method, route, status and time; nothing of the request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("leastwise.collector", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if quiet or name.startswith("uvicorn") else logging.INFO)


def serve(app: Starlette, host: str, port: int, *, proxy: str | None = None, quiet: bool = False) -> None:
    """Serve until the process is asked to stop; what was accepted is stored first.

    Parameters
    ----------
    proxy
        The address of a reverse proxy whose ``X-Forwarded-For`` tells who the client is; None believes nobody.
    """
    if proxy is not None:
        _check_proxy(proxy)
    prepare_log(quiet)
    _leave_no_core()
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,  # uvicorn's holds addresses, paths and queries
        server_header=False,
        http=partial(Connection, Guard(proxy)),  # type: ignore[arg-type]
        ws="none",
        timeout_keep_alive=60,  # a connection of ours waits for less
        timeout_graceful_shutdown=15,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy,
    )
    _Server(config).run()


def _leave_no_core() -> None:
    """See to it that a crash writes no memory to the disk: people's answers are in it."""
    try:
        import resource
    except ImportError:  # Windows writes none of its own accord
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _check_proxy(address: str) -> None:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise ParameterError(
            "the proxy must be one address, such as 127.0.0.1: a client that may write X-Forwarded-For chooses "
            "who it is"
        ) from None


class _Server(uvicorn.Server):
    """Returns when it was asked to stop; uvicorn's own would die of the signal before the database is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in _STOPS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
