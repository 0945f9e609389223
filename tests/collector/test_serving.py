"""A collector as an operator starts it: who counts as a client, and how it stops."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("proxy", ["*", "0.0.0.0/0", "", "example.org"])
def test_nobody_may_be_everybodys_proxy(tmp_path: Path, proxy: str) -> None:
    G.save(tmp_path / "g.json")
    with pytest.raises(ParameterError, match="one address"):
        collect([tmp_path / "g.json"], f"{sqlite_url(tmp_path)}", port=0, proxy=proxy)
