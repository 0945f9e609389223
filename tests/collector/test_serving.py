"""A collector as an operator starts it: who counts as a client, and how it stops."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from leastwise.cli.collect import collect
from leastwise.collector.store import read_records
from leastwise.errors import ParameterError
from tests.collector.examples import RECORD, TOKEN, G, sqlite_url
from tests.collector.faults import ask
from tests.collector.process import HOST, running


@pytest.mark.parametrize("proxy", [False, True], ids=["alone", "behind a proxy"])
def test_a_client_cannot_choose_its_address(tmp_path: Path, proxy: bool) -> None:
    options = ["--rate", 12, *(["--proxy", HOST] if proxy else [])]
    with running(tmp_path, sqlite_url(tmp_path), [G], *options) as collector:
        statuses = [ask(collector, "GET", "/schema", x_forwarded_for=f"10.0.0.{i}")[0] for i in range(40)]
    assert (429 in statuses) is (not proxy), "its header is believed only when a proxy wrote it"


THEN_TELL = """
import sys
from leastwise.cli.main import main
try: main()
finally: print("loaded:", {"sklearn", "scipy", "numba", "leastwise.runs"} & {*sys.modules} or "nothing heavy")
"""


def test_it_stores_and_stops(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    with running(tmp_path, url, [G], script=THEN_TELL) as collector:
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
    assert "loaded: nothing heavy" in log, "who only collects starts in a second and keeps little in memory"
    assert not list(tmp_path.glob("*-wal")), "the log is written back when it stops"


POST = b"POST /records HTTP/1.1\r\nhost: x\r\n"
SECOND = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
# Requests that a proxy and a server may read differently: none may be taken for two.
TWO_FACED = [
    POST + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    POST + b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    POST + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    POST + b"transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    POST + b"content-length: 0\r\ncontent-length: 5\r\n\r\n",
    POST + b"content-length: +0\r\n\r\n",
    POST + b"host: y\r\ncontent-length: 0\r\n\r\n",
    POST + b"x: " + b"y" * 300_000 + b"\r\n\r\n",
]


def test_a_request_is_one_request(tmp_path: Path) -> None:
    with running(tmp_path, sqlite_url(tmp_path), [G]) as collector:
        for sent in TWO_FACED:
            with socket.create_connection((HOST, collector.port), 30) as connection:
                connection.sendall(sent + SECOND)
                found = b""
                with suppress(ConnectionResetError):  # it did not read to the end
                    while part := connection.recv(65_536):
                        found += part
            assert found.startswith(b"HTTP/1.1 400"), sent[:99]
            assert found.count(b"HTTP/1.1 ") == 1, sent[:99]
        assert ask(collector, "TRACE", "/", cookie="secret")[0] == 405
        assert ask(collector, "GET", f"/records/{'%EF%BC%A1' * 24}")[0] == 404
        assert ask(collector, "POST", "/records", RECORD)[0] == 201
        collector.stop()
        assert "ERROR" not in collector.log.read_text()


def test_two_collectors_share_a_file(tmp_path: Path) -> None:
    """What one stores the other erases; the one that stops takes nothing from the one that goes on."""
    url, other = sqlite_url(tmp_path), tmp_path / "other"
    other.mkdir()
    with running(tmp_path, url, [G]) as first, running(other, url, [G]) as second:
        made = [ask(each, "POST", "/records", RECORD) for each in (first, second) * 5]
        assert {status for status, _ in made} == {201}
        told = [json.loads(body)["receipt"] for _, body in made]
        assert {ask(second, "DELETE", f"/records/{receipt}")[0] for receipt in told[::2]} == {204}
        assert second.stop() == 0
        assert ask(first, "POST", "/records", RECORD)[0] == 201
        assert ask(first, "GET", "/ready")[0] == 200
        assert first.stop() == 0
    assert read_records(url).height == 6


@pytest.mark.parametrize("proxy", ["*", "0.0.0.0/0", "", "example.org"])
def test_nobody_may_be_everybodys_proxy(tmp_path: Path, proxy: str) -> None:
    G.save(tmp_path / "g.json")
    with pytest.raises(ParameterError, match="one address"):
        collect([tmp_path / "g.json"], f"{sqlite_url(tmp_path)}", port=0, proxy=proxy)
