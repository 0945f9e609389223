"""The door and what it answers: a token once, a cookie then, one host, and never a record."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from leastwise.runs import Budget
from leastwise.studio import Room
from leastwise.studio.app import make_app
from leastwise.studio.security import Door
from tests.report.hand_made import write_run
from tests.runs.small import SCHEMA
from tests.studio.conftest import ground

PORT = 4321
HERE = f"http://127.0.0.1:{PORT}"


class Page:
    """A browser with cookies, as far as a server can tell."""

    def __init__(self, door: Door) -> None:
        self.door, self.cookies = door, httpx.Cookies()

    def request(self, method: str, path: str, **words: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.door)
            async with httpx.AsyncClient(transport=transport, base_url=HERE, cookies=self.cookies) as client:
                answer = await client.request(method, path, **words)
                self.cookies = client.cookies
                return answer

        with ThreadPoolExecutor(1) as thread:  # in this one a browser's loop may be running
            return thread.submit(lambda: asyncio.run(asked())).result()

    def ask(self, name: str, **body: Any) -> Any:
        return self.request("POST", f"/api/{name}", json=body).json()


@pytest.fixture
def page(room: Room) -> Page:
    made = Page(make_app(room, PORT))
    assert made.request("GET", f"/?token={made.door.token}").status_code == 303
    return made


def test_the_token_is_good_once(room: Room) -> None:
    door = make_app(room, PORT)
    token = door.token
    first, second = Page(door), Page(door)
    assert second.request("GET", "/?token=guess").status_code == 401
    assert second.request("POST", "/api/now", json={}).status_code == 401
    welcome = first.request("GET", f"/?token={token}")
    cookie = welcome.headers["set-cookie"]
    assert welcome.headers["location"] == "/"
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert second.request("GET", f"/?token={token}").status_code == 401
    assert first.request("GET", "/").status_code == 200


def test_other_hosts_and_other_sites_are_refused(page: Page) -> None:
    assert page.request("GET", "/", headers={"host": "evil.example"}).status_code == 421
    assert page.request("POST", "/api/now", json={}, headers={"origin": "http://evil.example"}).status_code == 403
    assert page.request("POST", "/api/now", json={}, headers={"origin": HERE}).status_code == 200


def test_only_its_own_scripts_run(page: Page) -> None:
    policy = page.request("GET", "/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"script-src 'self' 'sha256-[^']+';", policy)
    for path in ("/assets/app.js", "/assets/vendor/preact.mjs", "/assets/studio.css"):
        assert page.request("GET", path).status_code == 200
    for path in ("/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/vendor", "/assets/nothing.js", "/app.py"):
        assert page.request("GET", path).status_code == 404


def test_what_a_page_does(page: Page, room: Room) -> None:
    state = page.ask("now")
    assert state["version"] == 0
    drop = {"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}
    after = page.ask("do", event=drop, version=0)
    assert after["version"] == 1
    assert after["cards"][0]["asked"] == "dropped"
    assert after["figures"]["model"]["error"] != state["figures"]["model"]["error"]
    answer = page.request("POST", "/api/do", json={"event": drop, "version": 0})
    assert answer.status_code == 409
    assert answer.json()["conflict"]
    assert page.ask("do", event={"do": "undo"}, version=1)["cards"] == state["cards"]
    looked = page.ask("preview", edit={"kind": "drop", "attribute": "age"})
    assert looked["card"]["asked"] == "dropped"
    assert room.state.version == 2


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("do", b"", 400),
        ("do", b"[]", 400),
        ("do", b"{", 400),
        ("do", b"[" * 100_000, 400),
        ("do", json.dumps({"event": {"do": "approved"}, "version": 0}).encode(), 400),
        ("do", json.dumps({"event": {"do": "opened"}, "version": 0}).encode(), 400),
        ("do", json.dumps({"event": {"do": "undo"}, "version": 0}).encode(), 422),
        ("preview", b'{"edit": 5}', 400),
        ("compare", b'{"ids": [0, 77]}', 422),
        ("candidate", b'{"id": "nobody", "version": 0}', 422),
        ("job", b'{"kind": "mine bitcoin"}', 422),
        ("job", b'{"kind": "fill", "fewest": 1}', 422),
        ("why", b'{"attribute": "shoe", "bucket": 0}', 422),
        ("approve", b'{"version": 0}', 422),
        ("do", b"x" * 1_100_000, 413),
    ],
)  # fmt: skip
def test_nonsense_is_refused(page: Page, name: str, body: bytes, status: int) -> None:
    answer = page.request("POST", f"/api/{name}", content=body)
    assert answer.status_code == status
    assert answer.json()["problem"]


def test_no_answer_holds_a_record_or_somebody_s_number(page: Page, room: Room) -> None:
    """Shares are told of round steps and of values; a count below five is not told at all."""
    answers = [page.ask(name) for name in ("room", "now", "worth", "scripts")]
    opened = answers[0]
    assert "rows" not in json.dumps(answers)
    for question in opened["questions"]:
        for shares in question["shares"]:
            people = sum(shares) * len(room.live.pool)
            assert people == 0 or people >= 4.5
    age = opened["questions"][0]
    steps = {round(edge / age["step"], 6) % 1 for edge in (*age["grid"], *age["ends"])}
    assert steps == {0}
    assert age["ends"][0] <= room.live.pool.levels[0].min()
    assert len(json.dumps(answers)) < 60_000


def test_a_rare_answer_is_not_counted_out(page: Page) -> None:
    """Ages below 19 are few: an edge there says so, and nothing more."""
    found = page.ask("preview", edit={"kind": "divide", "attribute": "age"})
    assert found["card"]["asked"] == "buckets"
    found = page.ask("do", event={"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}, version=0)
    split = page.ask("preview", edit={"kind": "split", "attribute": "age", "bucket": 0, "at": 10})
    first = split["card"]["buckets"][0]
    assert first["few"]
    assert first["share"] == 0
    assert first["classes"] == []


def test_where_nothing_fits_the_page_is_told_so(tmp_path: Path) -> None:
    nearest = write_run(tmp_path / "first", SCHEMA).frontier.points[1].id
    unchosen = {"candidate": None, "nearest": nearest, "sentence": "None fits.", "fits": False, "verdicts": ()}
    folder = tmp_path / "run"
    write_run(folder, SCHEMA, choice={**unchosen, "budget": Budget(max_error_increase=0.001)})
    room = Room(ground(folder))
    told = room.opening()
    room.close()
    assert told["unchosen"].startswith("Nothing is recommended. No candidate of the run keeps its limits.")
    assert f"the nearest, {nearest}, which does not: the model errs 8.5 points more" in told["unchosen"]
    assert [each["id"] for each in told["frontier"] if each["nearest"]] == [nearest]
    assert not any(each["chosen"] for each in told["frontier"])


def test_what_is_only_the_nearest_is_not_called_recommended(tmp_path: Path) -> None:
    nearest = write_run(tmp_path / "first", SCHEMA).frontier.points[1].id
    folder = tmp_path / "run"
    write_run(folder, SCHEMA, choice={"candidate": nearest, "nearest": nearest, "stated": False})
    room = Room(ground(folder))
    told = room.opening()
    room.close()
    assert told["unchosen"].startswith("No candidate keeps the limit that holds when none is stated: ")
    assert told["unchosen"].endswith(f"A new studio begins with it: {nearest}.")
    assert [each["id"] for each in told["frontier"] if each["nearest"]] == [nearest]
    assert not any(each["chosen"] for each in told["frontier"])


def test_where_something_fits_nothing_is_said_of_it(room: Room) -> None:
    assert room.opening()["unchosen"] == ""
