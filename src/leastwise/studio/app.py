"""The studio's web application: the page, its files, and the few questions it asks. Nothing here computes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from leastwise.documents.pages import hash_sources
from leastwise.errors import LeastwiseError
from leastwise.studio.room import Room
from leastwise.studio.security import LARGEST_BODY, Door
from leastwise.studio.tasks import Tasks
from leastwise.studio.workbook import ConflictError

Plain = dict[str, Any]
Ask = Callable[[Plain], Any]
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_MODULES = {
    "preact": "/assets/vendor/preact.mjs",
    "preact/hooks": "/assets/vendor/hooks.mjs",
    "@preact/signals-core": "/assets/vendor/signals-core.mjs",
    "@preact/signals": "/assets/vendor/signals.mjs",
    "htm": "/assets/vendor/htm.mjs",
}


def make_app(room: Room, port: int, tour: bool = False) -> Door:
    """Return the application of one room, behind its door."""
    tasks = Tasks(room)
    asked: dict[str, Ask] = {
        "room": lambda given: {**room.opening(), "tour": tour},
        "now": lambda given: room.now(),
        "do": lambda given: room.do(_page_event(given["event"]), given["version"]),
        "preview": lambda given: room.preview(given["edit"]),
        "compare": lambda given: room.compare([int(each) for each in given["ids"]]),
        "candidate": lambda given: room.do(room.candidate(str(given["id"])), given["version"]),
        "worth": lambda given: room.worth(),
        "why": lambda given: room.why(str(given["attribute"]), int(given["bucket"])),
        "scripts": lambda given: room.scripts(),
        "job": lambda given: tasks.start(str(given["kind"]), given),
        "progress": lambda given: {"job": room.jobs.facts()},
        "cancel": lambda given: tasks.cancel(),
        "policy": lambda given: tasks.write_policy(),
        "approve": lambda given: tasks.approve(given["version"]),
    }
    routes = [Route("/", _page), Route("/assets/{path:path}", _asset)]
    routes += [Route(f"/api/{name}", _answering(ask), methods=["POST"]) for name, ask in asked.items()]
    return Door(Starlette(routes=routes), port, hash_sources([_import_map()]))


def _page_event(event: Any) -> Plain:
    """Return what a page may do by itself; what was opened or approved is noted by the studio only."""
    if not isinstance(event, dict) or event.get("do") in ("opened", "approved", "look", "policy", None):
        raise KeyError("event")
    return {key: value for key, value in event.items() if key != "peeked"}


def _answering(ask: Ask) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            given = await _body(request)
            return JSONResponse(await run_in_threadpool(ask, given))
        except ConflictError as error:
            return JSONResponse({"problem": str(error), "conflict": True}, 409)
        except LeastwiseError as error:
            return JSONResponse({"problem": str(error)}, 422)
        except (AttributeError, KeyError, TypeError, ValueError):
            return JSONResponse({"problem": "the request is not one that the studio knows"}, 400)

    return answer


async def _body(request: Request) -> Plain:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST_BODY:
            raise ValueError
    try:
        body = json.loads(content or b"{}")
    except RecursionError:  # nested as nothing is that a page sends
        raise ValueError from None
    if not isinstance(body, dict):
        raise ValueError
    return body


@cache
def _import_map() -> str:
    return json.dumps({"imports": _MODULES})


def _read(name: str) -> str:
    return (files("leastwise.studio") / "assets" / name).read_text(encoding="utf-8")


async def _page(request: Request) -> Response:
    return Response(_read("index.html").replace("{{ import map }}", _import_map()), media_type="text/html")


async def _asset(request: Request) -> Response:
    path = str(request.path_params["path"])
    known = {f"{sub}{each.name}" for sub in ("", "vendor/") for each in (_folder(sub)).iterdir() if each.is_file()}
    kind = _TYPES.get(path[path.rfind(".") :])
    if path not in known or kind is None:
        return Response("there is no such file", 404, media_type="text/plain")
    return Response(_read(path), media_type=kind)


def _folder(sub: str) -> Any:
    place = files("leastwise.studio") / "assets"
    return place / "vendor" if sub else place
