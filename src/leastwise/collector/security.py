"""What every request passes: the operator's limits, headers, and logs without any value, address or receipt."""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leastwise.collector.connections import network_of
from leastwise.documents.pages import SAFE_HEADERS, hash_sources
from leastwise.errors import ParameterError
from leastwise.exports import FormTexts, Notice
from leastwise.validation import check_between

log = logging.getLogger("leastwise.collector")
MOST_CLIENTS = 50_000  # addresses remembered, in memory only
HEADERS = {
    **SAFE_HEADERS,
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
_INLINE = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
TOKEN_VARIABLE = "LEASTWISE_TOKEN"  # noqa: S105 - the name of a variable, not a token
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Settings:
    """The limits of a collector, and the token that opens its export.

    Parameters
    ----------
    with_label
        Whether a record may carry the label of the artefact.
    body_limit
        The largest request in bytes; a larger one is answered 413.
    batch_limit
        The most records in one request; more are answered 413.
    rate
        Requests a minute that one client address may make on average, with bursts of as many; 0 is no limit.
    body_seconds
        How long a client may take to send its request.
    waiting
        How many requests may wait for the store before others are answered 503.
    keep_days
        Records older than so many days are erased; None keeps them.
    notice, form
        What the form tells people before they answer, and its texts and languages.
    token
        Opens ``GET /records``. Never shown: not in its ``repr``, not in a log.
    """

    with_label: bool = False
    body_limit: int = 1_000_000
    batch_limit: int = 1_000
    rate: float = 600.0
    body_seconds: float = 30.0
    waiting: int = 10_000
    keep_days: int | None = None
    notice: Notice | None = None
    form: FormTexts = field(default_factory=FormTexts)
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_between("the body limit", self.body_limit, 1_000)
        check_between("the batch limit", self.batch_limit, 1)
        check_between("the rate", float(self.rate), 0.0)
        check_between("the seconds for a body", float(self.body_seconds), 0.1)
        check_between("the waiting requests", self.waiting, 1)
        if self.keep_days is not None:
            check_between("the days to keep records", self.keep_days, 1)
        if self.token is not None and (len(self.token) < SHORTEST_TOKEN or not self.token.isascii()):
            raise ParameterError(
                f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} ASCII characters, so that nobody guesses it"
            )


def token_from_environment() -> str | None:
    """Return the token; an empty variable is none."""
    return os.environ.get(TOKEN_VARIABLE) or None


def page_policy(html: str) -> str:
    """Return the content security policy of a page: exactly its own inline scripts and styles may run.

    >>> page_policy("<style>p {}</style>")[:60]
    "default-src 'none'; script-src 'none'; style-src 'sha256-SNJ"
    """
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, _, content in _INLINE.findall(html):
        allowed[kind.lower()].append(content)
    sources = {kind: hash_sources(texts) for kind, texts in allowed.items()}
    return (
        f"default-src 'none'; script-src {sources['script']}; style-src {sources['style']}; img-src data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def token_matches(authorization: str | None, token: str) -> bool:
    """Return whether a header brings the token; takes as long for a near miss as for nonsense."""
    scheme, _, given = (authorization or "").partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "surrogatepass"), token.encode())
    return right and scheme.lower() == "bearer"


class RateLimit:
    """A bucket of tokens per client (``network_of``): ``rate`` a minute on average, and a burst of as many."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take one token; return 0, or after how many seconds there will be one."""
        if not self._rate:
            return 0.0
        name, now = network_of(client), self._clock()
        tokens, then = self._buckets.pop(name, (self._rate, now))
        tokens = min(self._rate, tokens + (now - then) * self._rate / 60)
        allowed = tokens >= 1
        self._buckets[name] = (tokens - allowed, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) * 60 / self._rate


Refuse = Callable[[Request, int, str, dict[str, str]], Response]
CLOSE = {"connection": "close"}


class BodyTooLargeError(Exception):
    """A body beyond the limit."""


class Gate:
    """The middleware around everything: refuses early, adds headers, logs without values.

    Whatever goes wrong behind it is answered 500 and logged by the kind of error and its line in the code only:
    the text of an exception may quote what a client sent.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refuse: Refuse | None = None) -> None:
        self._app, self._settings = app, settings
        self._limit = RateLimit(settings.rate)
        self._refuse: Refuse = refuse or (lambda _, *words: problem(*words))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, answered = time.perf_counter(), _Answered(send)
        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, self._limited(receive), answered)
            else:
                await refusal(scope, receive, answered)
        except BodyTooLargeError:
            await self._answer_late(self._too_large(scope), scope, receive, answered)
        except TimeoutError:
            late = self._refuse(Request(scope), 408, "the request took too long to arrive", CLOSE)
            await self._answer_late(late, scope, receive, answered)
        except Exception as error:
            log.error("%s at %s", type(error).__name__, _place(error))
            failed = self._refuse(Request(scope), 500, "something failed here", {})
            await self._answer_late(failed, scope, receive, answered)
        finally:
            milliseconds = 1000 * (time.perf_counter() - start)
            log.info("%s %s %d %.1f ms", _method(scope), _route(scope), answered.status, milliseconds)

    def _refusal(self, scope: Scope) -> Response | None:
        client = scope.get("client")
        wait = self._limit.wait(client[0] if client else "")
        if wait:
            headers = {"retry-after": str(int(wait) + 1)}
            text = "too many requests from this address; wait as long as Retry-After says"
            return self._refuse(Request(scope), 429, text, headers)
        lengths = dict(scope["headers"])
        if b"transfer-encoding" in lengths and b"content-length" in lengths:
            # Whoever stands in front may have believed the other one, and taken the rest for another's request.
            return problem(400, "a body has a length or is sent in chunks, not both", CLOSE)
        length = lengths.get(b"content-length", b"0")
        too_long = length.isdigit() and (len(length) > 18 or int(length) > self._settings.body_limit)
        return self._too_large(scope) if too_long else None

    def _too_large(self, scope: Scope) -> Response:
        text = f"a request may have {self._settings.body_limit:,} bytes; send fewer records at a time"
        return self._refuse(Request(scope), 413, text, CLOSE)

    def _limited(self, receive: Receive) -> Receive:
        """Count what arrives: a body may come without saying how long it is."""
        seen, end = 0, time.monotonic() + self._settings.body_seconds
        whole = False

        async def limited() -> Message:
            nonlocal seen, whole
            if whole:  # from here on only "the client has gone" is waited for
                return await receive()
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                message = await receive()
            seen += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if seen > self._settings.body_limit:
                raise BodyTooLargeError
            return message

        return limited

    @staticmethod
    async def _answer_late(response: Response, scope: Scope, receive: Receive, answered: _Answered) -> None:
        if not answered.status:
            await response(scope, receive, answered)


class _Answered:
    """Sends on, with our headers, and remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send, self.status = send, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            present = {name.lower() for name, _ in message["headers"]}
            added = [(name, value) for name, value in _HEADERS if name not in present]
            message["headers"] = [*message["headers"], *added]
        await self._send(message)


_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def problem(status: int, text: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """Return an answer that says what is wrong."""
    return JSONResponse({"problem": text, **more}, status, headers)


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def _route(scope: Scope) -> str:
    """Return the route, not the path: a path may hold a receipt, or whatever a stranger wrote."""
    return str(scope.get("leastwise.route", "unknown"))


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "an unknown line"
