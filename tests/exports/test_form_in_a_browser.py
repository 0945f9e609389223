"""The form in a real browser: filled in by both ways, every request intercepted, no exact value in any of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, Untouched
from leastwise.exports import form_html
from leastwise.partition import suppress

age = Attribute("age", "continuous", lower=0, upper=120, integer=True, question="How old are you?")
pay = Attribute("pay", "continuous", lower=0, missing=True)
jobs = tuple(f"job{i}" for i in range(40, 60))
G = Generalization(
    (
        Intervals(age, (19, 63)),
        Intervals(pay, (1000.5, 2000), (0,)),
        Groups(Attribute("job", values=jobs), tuple(i % 2 for i in range(20))),
        Groups(Attribute("state", values=tuple(f"state {i}" for i in range(12))), tuple(range(12))),
        Untouched(Attribute("children", "continuous", lower=0, upper=20, integer=True, missing=True)),
        suppress(Attribute("sex", values=("f", "m"))),
    )
)
RECORD = {
    "age": "20 to 63",
    "pay": "above 1000.5, up to 2000",
    "job": G["job"].labels[1],
    "state": "state 3",
    "children": "2",
}
HOME = "http://form.test/"


# Run in the page.
UNNAMED_CONTROLS = """() => {
    const named = (control) => control.getAttribute("aria-label") || (control.labels && control.labels.length)
        || control.textContent.trim();
    const controls = [...document.querySelectorAll("input:not([type=hidden]), select, button")];
    return controls.filter((control) => !named(control)).map((control) => control.outerHTML);
}"""
DANGLING_REFERENCES = """() => ["aria-describedby", "aria-labelledby", "for"].flatMap((name) =>
    [...document.querySelectorAll(`[${name}]`)].flatMap((element) => element.getAttribute(name).split(" "))
).filter((id) => id && !document.getElementById(id))"""
CONTRASTS = """() => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const shade = (text) => {
        const [r, g, b] = text.match(/[0-9.]+/g).slice(0, 3).map((v) => linear(v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const clear = (colour) => colour.startsWith("rgba(") && colour.endsWith(" 0)");
    const ground = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return clear(colour) && element.parentElement ? ground(element.parentElement) : colour;
    };
    const seen = [...document.querySelectorAll("h1, p, legend, label, small, summary, button, span")]
        .filter((element) => element.offsetParent && !element.matches(".unseen"));
    return seen.map((element) => {
        const shades = [shade(getComputedStyle(element).color), shade(ground(element))].sort((x, y) => y - x);
        return (shades[0] + 0.05) / (shades[1] + 0.05);
    });
}"""
IS_BLOCKED = """async (url) => {
    try { await fetch(url, { mode: "no-cors" }); return false; } catch { return true; }
}"""
ADD_SCRIPT = """() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
}"""


@dataclass
class Site:
    """A page and everything that it asked the network for."""

    page: Any
    requests: list[Any] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=lambda: {"status": 201, "json": {"receipt": "r-1"}})

    def open(self, html: str) -> Any:
        self.html = html
        self.page.route("**/*", self._serve)
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.goto(HOME)
        return self.page

    def _serve(self, route: Any) -> None:
        self.served.append(route.request.url)
        if route.request.method == "POST":
            route.fulfill(**self.answer)
        else:
            route.fulfill(body=self.html, content_type="text/html; charset=utf-8")

    def posted(self) -> list[dict[str, str]]:
        posts = [request for request in self.requests if request.method == "POST"]
        return [dict(parse_qsl(post.post_data, keep_blank_values=True, strict_parsing=True)) for post in posts]

    def traffic(self) -> str:
        """Return all that left the page, as one text; but not what the browser and chance put into its headers."""
        parts, uninteresting = [], ("user-agent", "idempotency-key")
        for request in self.requests:
            headers = {k: v for k, v in request.all_headers().items() if k not in uninteresting}
            parts += [request.url, json.dumps(headers), request.post_data or ""]
        return "\n".join(parts)


@pytest.fixture
def site(chromium: Any) -> Iterator[Site]:
    context = chromium.new_context()
    made = Site(context.new_page())
    yield made
    context.close()
    assert made.problems == []


@pytest.fixture
def site_without_scripts(chromium: Any) -> Iterator[Site]:
    context = chromium.new_context(java_script_enabled=False)
    yield Site(context.new_page())
    context.close()


def choose_buckets(page: Any) -> None:
    for name in ("age", "pay", "job"):
        page.locator(f'input[name="{name}"][value="{RECORD[name]}"]').check()
    page.locator('select[name="state"]').select_option("state 3")
    page.locator('input[name="children"]').fill("2")


def type_exactly(page: Any) -> None:
    page.get_by_label("Your exact number").nth(0).fill("37")
    page.get_by_label("Your exact number").nth(1).fill("1234.75")
    page.get_by_label("Your exact answer").select_option(label="job57")
    page.locator('select[name="state"]').select_option("state 3")
    page.locator('input[name="children"]').fill("2")


def test_bucket_mode(site: Site) -> None:
    page = site.open(form_html(G, "/records"))
    choose_buckets(page)
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_text("Thank you").wait_for()
    assert page.get_by_text("r-1").is_visible()
    assert site.posted() == [RECORD]
    assert site.served == [request.url for request in site.requests] == [HOME, HOME + "records"]


def test_the_page_shows_what_it_will_send(site: Site) -> None:
    page = site.open(form_html(G, "/records", helper=True))
    preview = page.locator("#preview")
    assert json.loads(preview.text_content()) == {"children": "missing"}
    type_exactly(page)
    assert json.loads(preview.text_content()) == RECORD
    page.locator(f'input[name="age"][value="{G["age"].labels[0]}"]').check()
    assert json.loads(preview.text_content()) == {**RECORD, "age": "0 to 19"}


def test_helper_mode_sends_buckets_only(site: Site) -> None:
    page = site.open(form_html(G, "/records", helper=True))
    type_exactly(page)
    assert page.locator("#q0-typed").input_value() == ""  # left, and cleared
    assert "becomes “20 to 63” · your entry is cleared" in page.locator("#q0-becomes").text_content()
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_text("Thank you").wait_for()
    assert site.posted() == [RECORD]
    traffic = site.traffic()
    for exact in ("37", "1234", "job57"):
        assert exact not in traffic
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, name])")
    assert json.loads(kept) == [{}, {}, "", None, ""]
    assert page.evaluate("[...document.querySelectorAll('.typed')].every((typed) => typed.value === '')")


def test_what_is_still_being_typed_does_not_leave_either(site: Site) -> None:
    page = site.open(form_html(G, "/records", helper=True))
    choose_buckets(page)
    page.locator("#q0-typed").fill("17")
    page.keyboard.press("Enter")  # sends the form while the field has the focus
    page.get_by_text("Thank you").wait_for()
    assert site.posted() == [{**RECORD, "age": "0 to 19"}]
    assert "17" not in (site.requests[-1].post_data or "")


def test_the_helper_shows_the_bucket_while_one_types(site: Site) -> None:
    page = site.open(form_html(G, "/records"))
    assert page.locator("#q0-typed").is_hidden()
    page.get_by_label("Help me find my answers").check()
    for text, shown in (("1", "0 to 19"), ("19", "0 to 19"), ("20", "20 to 63"), ("64", "64 to 120")):
        page.locator("#q0-typed").fill(text)
        assert page.locator("#q0-becomes").text_content() == f"becomes “{shown}”"
        assert page.locator(f'input[name="age"][value="{shown}"]').is_checked()
    page.get_by_label("Help me find my answers").uncheck()
    assert page.locator("#q0-typed").input_value() == ""
    assert len(site.requests) == 1


@pytest.mark.parametrize("text", ["200", "-1", "19.5", "old", "0x10"])
def test_a_value_that_does_not_fit_is_said_beside_its_question(site: Site, text: str) -> None:
    page = site.open(form_html(G, "/records", helper=True))
    page.locator("#q0-typed").fill(text)
    page.keyboard.press("Tab")
    error = page.locator("#q0-error")
    assert error.is_visible()
    assert "whole numbers from 0 to 120" in error.text_content()
    assert text not in error.text_content().replace("120", "")
    assert "q0-error" in page.locator("#q0-typed").get_attribute("aria-describedby")
    assert page.locator("#q0-typed").get_attribute("aria-invalid") == "true"
    assert page.locator('input[name="age"]:checked').count() == 0


def test_nothing_is_sent_before_every_question_is_answered(site: Site) -> None:
    page = site.open(form_html(G, "/records"))
    page.get_by_role("button", name="Send my answers").click()
    assert page.locator("#q0-error").text_content() == "Please choose one of the answers."
    assert page.locator("#q4-error").is_hidden()  # it may be left empty
    assert page.evaluate("document.activeElement.name") == "age"
    choose_buckets(page)
    page.locator('input[name="children"]').fill("99")
    page.get_by_role("button", name="Send my answers").click()
    assert "whole numbers from 0 to 20" in page.locator("#q4-error").text_content()
    assert site.posted() == []
    page.locator('input[name="children"]').fill("")
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_text("Thank you").wait_for()
    assert site.posted() == [{**RECORD, "children": "missing"}]


def test_a_refusal_names_its_question_and_keeps_the_answers(site: Site) -> None:
    site.answer = {"status": 422, "json": {"problems": [{"record": 0, "field": "pay", "problem": "no"}]}}
    page = site.open(form_html(G, "/records"))
    choose_buckets(page)
    page.get_by_role("button", name="Send my answers").click()
    page.locator("#form-error").wait_for()
    assert page.locator("#q1-error").text_content() == "This answer was not accepted."
    first = site.requests[-1].all_headers()["idempotency-key"]
    site.answer = {"status": 201, "json": {"receipt": "r-2", "prediction": "<b>yes</b>"}}
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_text("<b>yes</b>").wait_for()
    assert site.requests[-1].all_headers()["idempotency-key"] == first  # the same answers, tried again
    assert site.problems.pop().startswith("Failed to load resource")  # the browser notes the 422


def test_without_javascript(site_without_scripts: Site) -> None:
    site = site_without_scripts
    page = site.open(form_html(G, "/records", helper=True))
    assert page.locator(".helper:visible").count() == 0
    assert page.get_by_text("Help me find my answers").is_hidden()
    page.get_by_role("button", name="Send my answers").click()
    assert site.posted() == []  # the browser itself asks for an answer
    choose_buckets(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Send my answers").click()
    assert site.posted() == [RECORD]
    assert site.requests[-1].all_headers()["content-type"] == "application/x-www-form-urlencoded"


def test_by_keyboard_alone(site: Site) -> None:
    page = site.open(form_html(Generalization(G.partitions[:2]), "/records", helper=True))
    press = page.keyboard.press
    press("Tab")  # the switch
    press("Tab")
    page.keyboard.type("37")
    press("Tab")
    press("Tab")  # past the answers, to the second question
    page.keyboard.type("3000")
    press("Tab")
    press("ArrowUp")  # one answer back
    press("Tab")
    press("Tab")
    press("Enter")
    page.get_by_text("Thank you").wait_for()
    assert site.posted() == [{"age": "20 to 63", "pay": "above 1000.5, up to 2000"}]


def test_every_control_has_a_name_that_is_read_out(site: Site) -> None:
    page = site.open(form_html(G, "/records", helper=True))
    assert page.evaluate(UNNAMED_CONTROLS) == []
    assert page.evaluate(DANGLING_REFERENCES) == []
    assert page.get_by_role("group").filter(has=page.locator("legend")).count() == 5
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_and_small_screens_do_not_scroll_sideways(chromium: Any, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": 320, "height": 640}, color_scheme=scheme)
    page = Site(context.new_page()).open(form_html(G, "/records", helper=True))
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    ratios = page.evaluate(CONTRASTS)
    assert len(ratios) > 30
    assert min(ratios) >= 4.5  # what WCAG asks of normal text
    context.close()


def test_on_paper_it_is_black_on_white_and_lists_are_unfolded(chromium: Any) -> None:
    context = chromium.new_context(color_scheme="dark")
    page = Site(context.new_page()).open(form_html(G, "/records"))
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert min(page.evaluate(CONTRASTS)) >= 4.5
    states = page.locator('select[name="state"]')
    for event, size in (("beforeprint", len(G["state"].labels) + 1), ("afterprint", 0)):
        page.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        assert states.evaluate("select => select.size") == size
    context.close()


HOSTILE = [
    '"><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "submit", "action", "elements", "__proto__",
    "constructor", "{{ 7*7 }}", "</script><script>alert(1)</script>", "&amp;", "  a  ", "ünïcode 漢字 🙂",
]  # fmt: skip


@pytest.mark.parametrize("helper", [False, True])
def test_hostile_names_stay_text(site: Site, helper: bool) -> None:
    attributes = [Attribute(name, values=tuple(HOSTILE)) for name in HOSTILE]
    g = Generalization(tuple(Groups(a, tuple(i // 2 for i in range(len(HOSTILE)))) for a in attributes))
    page = site.open(form_html(g, "/records", helper=helper, title=HOSTILE[0], introduction=HOSTILE[1]))
    for i in range(len(HOSTILE)):
        if helper:
            page.locator(f"#q{i}-typed").select_option(index=i + 1)
        else:
            page.locator(f"#q{i} .choices input").nth(i // 2).check()
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_text("Thank you").wait_for()
    assert page.title() == HOSTILE[0]
    assert site.posted() == [{name: g[name].labels[i // 2] for i, name in enumerate(HOSTILE)}]
    assert page.locator("main img, main script").count() == 0


def test_without_an_action_nothing_is_sent_at_all(chromium: Any, tmp_path: Path) -> None:
    """As a file on a disk, offline."""
    path = tmp_path / "form.html"
    path.write_text(form_html(G, helper=True), encoding="utf-8")
    context = chromium.new_context(offline=True)
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    type_exactly(page)
    page.get_by_role("button", name="Show my answers").click()
    assert json.loads(page.locator("#done-record").text_content()) == RECORD
    with page.expect_download() as download:
        page.get_by_text("Save as a file").click()
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8")) == RECORD
    assert [url for url in requests if not url.startswith(("file:", "blob:"))] == []
    page.get_by_role("button", name="Change my answers").click()
    assert page.locator('input[name="age"]:checked').input_value() == "20 to 63"
    context.close()


def test_the_policy_holds(site: Site) -> None:
    page = site.open(form_html(G, "/records"))
    assert page.evaluate(IS_BLOCKED, "http://elsewhere.test/?age=37")
    page.evaluate("""document.body.insertAdjacentHTML("beforeend", "<img src='http://elsewhere.test/37'>")""")
    page.evaluate(ADD_SCRIPT)
    assert page.evaluate("window.ran") is None
    page.wait_for_timeout(100)
    assert site.served == [HOME]
    assert len(site.problems) >= 3
    site.problems.clear()


def test_an_address_elsewhere_is_posted_to_by_the_browser_itself(site: Site) -> None:
    page = site.open(form_html(G, "http://elsewhere.test/records", helper=True))
    type_exactly(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Send my answers").click()
    assert site.posted() == [RECORD]
    assert "37" not in site.traffic()


@pytest.mark.parametrize(
    ("locale", "typed"),
    [
        ("en-US", {"1,200": "1200", "45.5": "45.5", "1.234,5": "1234.5", "1 200": "1200", "0,5": "0.5"}),
        ("de-DE", {"1.200": "1200", "45,5": "45.5", "1.234,5": "1234.5", "1,234.5": "1234.5", "45.5": "45.5"}),
    ],
)
def test_numbers_as_people_write_them(chromium: Any, locale: str, typed: dict[str, str]) -> None:
    exact = Generalization((Untouched(pay), Intervals(Attribute("rent", "continuous", lower=0), (1000, 2000))))
    context = chromium.new_context(locale=locale)
    page = Site(context.new_page()).open(form_html(exact, "/records", helper=True))
    for text, number in typed.items():
        page.locator('input[name="pay"]').fill(text)
        assert json.loads(page.locator("#preview").text_content())["pay"] == number, (locale, text)
    page.locator("#q1-typed").fill("1.234,5")
    assert "becomes “above 1000, up to 2000”" in page.locator("#q1-becomes").text_content()
    page.locator("#q1-typed").fill("12,34,56 euro")
    page.locator('input[name="pay"]').focus()
    assert page.locator("#q1-typed").input_value() == "12,34,56 euro", "it stays, to be corrected"
    assert page.locator("#q1-error").is_visible()
    context.close()
