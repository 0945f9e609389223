"""A person at a real browser, a real collector and database: only buckets travel, the prediction comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from leastwise.collector.store import read_records
from tests.collector.examples import RECORD, G, sqlite_url, trained
from tests.collector.process import Collector, running

EXACT_AGE, EXACT_SCHOOL = "37", "high"


class Traffic:
    """All that a page sends, read as bytes."""

    def __init__(self, page: Any) -> None:
        self.requests: list[Any] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("websocket", lambda socket: self.problems.append(f"opened {socket.url}"))

    def hosts(self) -> set[str]:
        return {request.url.split("/")[2] for request in self.requests}

    def fields(self) -> list[tuple[str, str]]:
        """Return every name and value of every form that left."""
        posts = [request for request in self.requests if request.method == "POST"]
        return [pair for post in posts for pair in parse_qsl(post.post_data, keep_blank_values=True)]

    def everything(self) -> str:
        """Return addresses, headers and bodies; but not random keys and the browser's own version."""
        random = ("user-agent", "idempotency-key", "sec-ch-ua", "content-length", "host", "origin", "referer")
        parts = []
        for request in self.requests:
            parts += [request.url.split("/", 3)[3], request.method]
            parts += [f"{k}={v}" for k, v in request.all_headers().items() if k not in random]
        parts += [f"{name}={value}" for name, value in self.fields() if not name.startswith("leastwise-")]
        return "\n".join(parts)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def collector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Collector, str]]:
    url = sqlite_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    trained().save(tmp_path / "model.skops")
    with running(tmp_path, url, [G], "--model", tmp_path / "model.skops") as made:
        yield made, url


def choose(page: Any) -> None:
    for name, value in RECORD.items():
        page.locator(f'input[name="{name}"][value="{value}"]').check()


def type_exactly(page: Any) -> None:
    page.locator("#helper").check()
    page.get_by_label("Your exact number").fill(EXACT_AGE)
    page.get_by_label("Your exact answer").select_option(label=EXACT_SCHOOL)


def finish(page: Any, scripts: bool) -> str:
    page.locator("button[type=submit]").click()
    if scripts:
        page.locator("#done").wait_for()
        return str(page.locator("#done").inner_text())
    page.locator("#receipt").wait_for()
    return str(page.locator("main").inner_text())


def test_a_person_at_a_browser(chromium: Any, collector: tuple[Collector, str]) -> None:
    made, url = collector
    for fill, scripts in ((choose, True), (type_exactly, True), (choose, False)):
        context = chromium.new_context(java_script_enabled=scripts)
        page = context.new_page()
        traffic = Traffic(page)
        page.goto(made.address)
        fill(page)
        shown = finish(page, scripts)
        assert ">50K" in shown, "the prediction comes back"
        assert "eceipt" in shown
        check_traffic(traffic, made)
        context.close()
    assert read_records(url).to_dicts() == [{**RECORD, "income": None}] * 3
    made.stop()
    assert "127.0.0.1 " not in made.log.read_text()


def check_traffic(traffic: Traffic, made: Collector) -> None:
    assert traffic.problems == []
    assert traffic.hosts() == {f"127.0.0.1:{made.port}"}
    sent = {name: value for name, value in traffic.fields() if not name.startswith("leastwise-")}
    assert sent == RECORD
    everything = traffic.everything()
    assert EXACT_AGE not in everything
    assert everything.count(EXACT_SCHOOL) == everything.count(RECORD["school"]), "only inside the bucket's label"


def test_a_form_that_is_sent_again_is_one_record(chromium: Any, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    with running(tmp_path, url, [G]) as made:
        context = chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(made.address)
        choose(page)
        page.locator("button[type=submit]").click()
        page.locator("#receipt").wait_for()
        first = page.locator("#receipt").inner_text()
        page.reload()  # sends the form again
        page.locator("#receipt").wait_for()
        assert page.locator("#receipt").inner_text() == first
        context.close()
        assert read_records(url).height == 1
        made.stop()
        assert "POST /records 200" in made.log.read_text(), "it was sent twice"
