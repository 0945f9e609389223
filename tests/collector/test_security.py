"""Limits, headers, logs and tokens."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from leastwise.collector.security import Gate, RateLimit, Settings, page_policy, token_matches
from leastwise.errors import ParameterError
from tests.collector.asgi import Client, run
from tests.collector.examples import RECORD, RECORDS, TOKEN, client, exported, sqlite_url

SECRET = "Z3cret-value"


def test_every_answer_has_the_headers(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path)) as made:
        for method, url in (("GET", "/"), ("GET", "/nowhere"), ("POST", "/records"), ("GET", "/docs")):
            headers = made.request(method, url).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert headers["referrer-policy"] == "no-referrer"
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert "server" not in headers


def test_a_page_may_run_its_own_script_only(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path)) as made:
        page = made.get("/")
    assert page.headers["content-security-policy"] == page_policy(page.text)
    assert "'sha256-" in page_policy(page.text)
    assert page_policy("<script>a</script>") != page_policy("<script>b</script>")
    assert not re.search(r'(?:src|href)="(?!data:|#|/)', page.text), "the page loads nothing"
    assert not re.search(r" on\w+=|style=", page.text.split("<script", 1)[0])


@pytest.mark.parametrize("length", [True, False], ids=["declared", "counted"])
def test_large_bodies_are_refused(tmp_path: Path, length: bool) -> None:
    with client(sqlite_url(tmp_path), body_limit=1000) as made:
        body = b" " * 2000 + b"{}"
        assert made.post("/records", content=body, length=length, chunks=5).status_code == 413
        assert (
            made.post("/records", content=b"x", headers={"content-length": "9" * 30}, length=False).status_code
            == 413
        )
        assert made.post("/records", json=RECORD).status_code == 201
        assert len(exported(made)) == 1


def test_a_body_with_two_lengths_is_refused(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path)) as made:
        answer = made.post("/records", json=RECORD, headers={"transfer-encoding": "chunked"})
        assert (answer.status_code, answer.headers["connection"]) == (400, "close")
        assert exported(made) == []


def test_large_batches_are_refused(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path), batch_limit=5) as made:
        assert made.post("/records", json=RECORDS[:5]).status_code == 201
        assert made.post("/records", json=[RECORD] * 6).status_code == 413
        assert len(exported(made)) == 5


@pytest.mark.parametrize(
    "body", ["[" + ",".join(["{}"] * 333_000) + "]", "[" + "1," * 499_000 + "1]", "age=" + "%41" * 300_000],
    ids=["objects", "integers", "form"],
)  # fmt: skip
def test_large_nonsense_is_not_read_to_its_end(tmp_path: Path, body: str) -> None:
    kind = "application/x-www-form-urlencoded" if body.startswith("age") else "application/json"
    with client(sqlite_url(tmp_path)) as made:
        start = time.process_time()
        answers = [made.post("/records", content=body, headers={"content-type": kind}) for _ in range(10)]
        assert time.process_time() - start < 0.5, "at ten a second one client would keep all others out"
    assert {answer.status_code for answer in answers} == {413}


def test_a_slow_client_is_not_waited_for() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.06)
        return {"type": "http.request", "body": b"x", "more_body": True}

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    gate = Gate(app, Settings(body_seconds=0.1))
    scope = {"type": "http", "method": "POST", "headers": [], "client": ("1.2.3.4", 1)}
    run(gate(scope, receive, send))
    assert sent[0]["status"] == 408


def test_the_rate_is_limited_per_address(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path), rate=3) as made:
        answers = [made.get("/health") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 21
        with Client(made._app, "10.0.0.2") as other:
            assert other.get("/health").status_code == 200


def test_tokens_come_back_with_time() -> None:
    now = 0.0
    limit = RateLimit(60, clock=lambda: now)
    assert [limit.wait("10.0.0.1") for _ in range(60)] == [0] * 60
    assert limit.wait("10.0.0.1") == pytest.approx(1)
    assert limit.wait("10.0.0.2") == 0
    now += 1.0
    assert limit.wait("10.0.0.1") == 0
    assert limit.wait("10.0.0.1") > 0
    now += 10_000
    assert sum(limit.wait("10.0.0.1") == 0 for _ in range(100)) == 60, "no more than a burst"


def test_an_ipv6_network_is_one_client() -> None:
    limit = RateLimit(1, clock=lambda: 0.0)
    assert limit.wait("2001:db8:1:2::1") == 0
    assert limit.wait("2001:db8:1:2:ffff::9") > 0
    assert limit.wait("2001:db8:1:3::1") == 0


def test_an_address_has_one_rate_however_it_is_written() -> None:
    limit = RateLimit(1, clock=lambda: 0.0)
    assert limit.wait("10.0.0.1") == 0
    for same in ("::ffff:10.0.0.1", "::ffff:a00:1", "0:0:0:0:0:ffff:10.0.0.1"):
        assert limit.wait(same) > 0
    for number in range(5):
        limit.wait(f"{number}" * 100_000)
    assert sum(map(len, limit._buckets)) < 100, "what is no address is not kept"


def test_the_rate_limit_forgets_old_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leastwise.collector.security.MOST_CLIENTS", 10)
    limit = RateLimit(1, clock=lambda: 0.0)
    for number in range(100):
        limit.wait(f"10.0.0.{number}")
    assert len(limit._buckets) == 10


def test_the_log_holds_routes_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), client(sqlite_url(tmp_path)) as made:
        receipt = made.post("/records", json=RECORD).json()["receipt"]
        made.delete(f"/records/{receipt}")
        made.get(f"/{SECRET}?x={SECRET}", headers={"user-agent": SECRET, "cookie": SECRET})
        made.post(f"/records?{SECRET}", json={SECRET: SECRET}, headers={"idempotency-key": SECRET})
        made.request(SECRET, "/")
        made.get("/records", headers={"authorization": f"Bearer {TOKEN}"})
    text = caplog.text
    assert "POST /records 201" in text
    assert "DELETE /records/{receipt} 204" in text
    assert not any(secret in text for secret in (SECRET, receipt, "20 to 63", TOKEN, "127.0.0.1"))


def test_telemetry_gets_nothing(tmp_path: Path) -> None:
    """A provider that somebody installed for the whole process would pass receipts and queries on."""
    pytest.importorskip("opentelemetry.trace", reason="a provider needs opentelemetry-api")
    script = """
import sys
from pathlib import Path
from opentelemetry import trace

class Provider(trace.TracerProvider):
    def get_tracer(self, *names, **more):
        print("traced by", names)
        return trace.NoOpTracer()

trace.set_tracer_provider(Provider())
from tests.collector.examples import RECORD, TOKEN, client, exported, sqlite_url
with client(sqlite_url(Path(sys.argv[1]))) as made:
    receipt = made.post("/records?secret=1", json=RECORD).json()["receipt"]
    assert len(exported(made)) == 1
    assert made.delete(f"/records/{receipt}").status_code == 204
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_failure_is_answered_and_logged_without_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(SECRET)

    with client(sqlite_url(tmp_path)) as made:
        monkeypatch.setattr("leastwise.collector.store.Store.write", fail)
        answer = made.post("/records", json=RECORD)
    assert answer.status_code == 500
    assert SECRET not in answer.text + caplog.text
    assert "RuntimeError at " in caplog.text


def test_a_database_that_fails_is_answered_503(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    def fail(*_: object) -> None:
        raise OperationalError(SECRET, {}, Exception(SECRET))

    with client(sqlite_url(tmp_path)) as made:
        monkeypatch.setattr("leastwise.collector.store.Store.write", fail)
        answer = made.post("/records", json=RECORD)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        monkeypatch.setattr("leastwise.collector.store.Store.check", fail)
        assert made.get("/ready").status_code == 503
        assert made.get("/health").status_code == 200, "the process lives"
    assert SECRET not in answer.text + caplog.text


def test_tokens() -> None:
    assert token_matches(f"Bearer {TOKEN}", TOKEN)
    assert token_matches(f"bearer {TOKEN}", TOKEN)
    for wrong in (None, "", TOKEN, f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer ü"):
        assert not token_matches(wrong, TOKEN)
    assert TOKEN not in repr(Settings(token=TOKEN))


@pytest.mark.parametrize(
    "settings", [{"token": "short"}, {"token": "ü" * 20}, {"rate": -1}, {"batch_limit": 0}, {"body_limit": 10}]
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Settings(**settings)
