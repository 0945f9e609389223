"""A collector as an operator starts it: who counts as a client, and how it stops."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from pathlib import Path

import pytest

from leastwise.collector.store import read_records
from tests.collector.examples import RECORD, TOKEN, G, sqlite_url
from tests.collector.process import HOST, Collector, running


def ask(collector: Collector, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection(HOST, collector.port, timeout=20)) as connection:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.mark.parametrize("proxy", [False, True], ids=["alone", "behind a proxy"])
def test_a_client_cannot_choose_its_address(tmp_path: Path, proxy: bool) -> None:
    options = ["--rate", 12, *(["--proxy", HOST] if proxy else [])]
    with running(tmp_path, sqlite_url(tmp_path), [G], *options) as collector:
        statuses = [ask(collector, "GET", "/schema", x_forwarded_for=f"10.0.0.{i}")[0] for i in range(40)]
    assert (429 in statuses) is (not proxy), "its header is believed only when a proxy wrote it"


def test_it_stores_and_stops(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    with running(tmp_path, url, [G]) as collector:
        status, body = ask(collector, "POST", "/records", [RECORD, RECORD])
        assert status == 201
        receipt = json.loads(body)["receipts"][0]
        assert ask(collector, "DELETE", f"/records/{receipt}")[0] == 204
        assert ask(collector, "GET", "/records")[0] == 401
        status, body = ask(collector, "GET", "/records", authorization=f"Bearer {TOKEN}")
        assert (status, json.loads(body)) == (200, {**RECORD, "income": None})
        assert collector.stop() == 0
        log = collector.log.read_text()
    assert read_records(url).height == 1
    assert f"collecting at {collector.address}" in log
    assert "DELETE /records/{receipt} 204" in log
    assert not any(secret in log for secret in (receipt, TOKEN, "20 to 63"))
    assert "Traceback" not in log
    assert not list(tmp_path.glob("*-wal")), "the log is written back when it stops"
