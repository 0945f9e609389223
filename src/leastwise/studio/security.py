"""Who may talk to the studio: whoever holds its address, from this machine, under its own name.

The address carries a token that is good once: it is exchanged for a cookie that no script can read and no other
site can send. Requests under another host name are refused (DNS rebinding), and so are writes from elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import SimpleCookie

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leastwise.documents.pages import SAFE_HEADERS

LARGEST_BODY = 1_000_000
LOCAL = ("127.0.0.1", "localhost")
SIGNED_OUT = (
    "This address was used already, or the studio was started again. Use the address that it printed last; "
    "in another browser, start the studio again."
)


def headers(scripts: str) -> dict[str, str]:
    """Return the headers of every answer; only the studio's own scripts and the import map may run."""
    return {
        "content-security-policy": (
            f"default-src 'none'; script-src 'self' {scripts}; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        ),
        **SAFE_HEADERS,
    }


class Door:
    """The middleware around everything."""

    def __init__(self, app: ASGIApp, port: int, scripts: str) -> None:
        self._app, self._session = app, secrets.token_urlsafe(32)
        self.token: str | None = secrets.token_urlsafe(24)
        self._hosts = {f"{name}:{port}" for name in LOCAL}
        self._cookie = f"leastwise-studio-{port}"
        self._headers = [(name.encode(), value.encode()) for name, value in headers(scripts).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if given.get("host") not in self._hosts:
            return PlainTextResponse("the studio answers on 127.0.0.1 only", 421)
        origin = given.get("origin")
        if origin is not None and origin.removeprefix("http://") != given["host"]:
            return PlainTextResponse("the studio is not for other sites", 403)
        if int(given.get("content-length", "0") or 0) > LARGEST_BODY:
            return JSONResponse({"problem": f"a request may have {LARGEST_BODY:,} bytes"}, 413)
        if self._is_known(given.get("cookie", "")):
            return None
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        if path == "/" and self.token and hmac.compare_digest(query.encode(), f"token={self.token}".encode()):
            self.token = None
            response = RedirectResponse("/", 303)
            response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
            return response
        if path.startswith("/api/"):
            return JSONResponse({"problem": SIGNED_OUT}, 401)
        return PlainTextResponse(SIGNED_OUT, 401)

    def _is_known(self, cookie: str) -> bool:
        morsel = SimpleCookie(cookie).get(self._cookie)
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self._session.encode())
