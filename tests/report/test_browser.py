"""The report in a real browser, without network: what people see, click, type and print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leastwise import Attribute, Schema, Table
from leastwise.datasets import load_adult
from leastwise.report import render_check, render_html, summarize, write_report
from leastwise.runs import Entry, Grid, Options, Run
from leastwise.runs import run as whole_job
from tests.report.hand_made import AGE, write_run
from tests.report.test_html import HOSTILE, hostile_schema

TEXT_CONTRAST, GRAPHICS_CONTRAST = 4.5, 3.0  # WCAG AA


@pytest.fixture(scope="module")
def report(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(summarize(run)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(chromium: Any, report: Path) -> Iterator[Visit]:
    with Visit(chromium, report, color_scheme="light") as visit:
        yield visit


@pytest.fixture
def visit(opened: Visit) -> Visit:
    """The opened report, as it was when it was opened."""
    opened.page.set_viewport_size({"width": 1280, "height": 900})
    opened.page.emulate_media(color_scheme="light")
    opened.page.evaluate("delete document.documentElement.dataset.theme")
    opened.page.click("#back")
    return opened


class Visit:
    """One opened page, with everything that it complained about and asked for."""

    def __init__(self, chromium: Any, path: Path, **options: Any) -> None:
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}") or dialog.dismiss()
        )
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def panel(self) -> str:
        return str(self.page.inner_text("#panel"))

    def dots(self, trace: int) -> Any:
        return self.page.locator("#frontier .scatterlayer .trace").nth(trace).locator(".points path")

    def click(self, dot: Any) -> None:
        dot.scroll_into_view_if_needed()
        box = dot.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_the_frontier_is_shown_and_nothing_is_asked_of_the_network(visit: Visit, report: Path) -> None:
    visit.page.wait_for_selector("#frontier .scatterlayer .points path")
    assert visit.dots(3).count() == 3
    for name in ("A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "certificate"):
        assert visit.page.locator(f"#picture-{name} .main-svg").count() > 0, name
    assert visit.page.is_visible("text=Ask 2 of 3 questions")
    visit.page.screenshot()
    assert visit.complaints == []
    assert visit.requests == [report.as_uri()]


def test_a_click_selects_a_candidate_and_the_panel_changes(visit: Visit) -> None:
    before = visit.panel()
    assert "knee" in before
    assert "34 to 99" in before
    visit.click(visit.dots(3).nth(0))
    visit.page.wait_for_function("text => document.getElementById('panel').innerText !== text", arg=before)
    assert "uniform (k 4)" in visit.panel()
    assert "clerk, cook, driver or farmer" in visit.panel()
    assert visit.complaints == []


def test_a_screened_candidate_shows_its_validation_figures_only(visit: Visit) -> None:
    visit.click(visit.dots(0).nth(0))
    visit.page.wait_for_selector("#panel >> text=screened only")
    assert "validation part" in visit.panel()
    assert "test part" not in visit.panel()


def test_the_keyboard_walks_along_the_frontier(visit: Visit) -> None:
    for _ in range(2):  # from the button that the fixture has clicked
        visit.page.keyboard.press("Shift+Tab")
    assert visit.page.evaluate("document.activeElement.id") == "candidates"
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    visit.page.keyboard.press("Home")
    assert "everything asked in full" in visit.panel()
    assert visit.page.is_disabled("#previous")
    visit.page.keyboard.press("ArrowRight")
    assert "uniform (k 4)" in visit.panel()
    assert visit.page.get_attribute("#candidates", "aria-activedescendant") == "candidate-1"
    assert visit.page.get_attribute("#candidate-1", "aria-selected") == "true"
    assert "model wrong" in visit.page.inner_text("#said")
    visit.page.keyboard.press("End")
    assert "nothing asked" in visit.panel()
    visit.page.click("#back")
    assert "knee" in visit.panel()
    assert visit.complaints == []


def test_hovering_tells_the_candidate(visit: Visit) -> None:
    visit.dots(3).nth(0).hover(force=True)
    label = visit.page.wait_for_selector("#frontier .hoverlayer .hovertext")
    assert "uniform (k 4)" in label.text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_have_enough_contrast(visit: Visit, scheme: str) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    colours = visit.page.evaluate(CONTRASTS)
    for pair, contrast in colours.items():
        least = GRAPHICS_CONTRAST if pair.startswith("faint") else TEXT_CONTRAST
        assert contrast >= least, (scheme, pair, contrast)


def test_the_toggle_changes_page_and_pictures(visit: Visit) -> None:
    look = "[getComputedStyle(document.documentElement).backgroundColor, " + TICK_COLOUR + "]"
    light = visit.page.evaluate(look)
    visit.page.click("#theme")
    dark = visit.page.evaluate(look)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    visit.page.click("#theme")
    assert visit.page.evaluate(look) == light
    visit.page.emulate_media(color_scheme="dark")
    assert visit.page.evaluate(look)[0] == light[0]  # a choice of one's own outlasts the system's


def test_dark_systems_get_a_dark_page(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_selector("#theme >> text=Light theme")
    shade = visit.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert sum(int(part) for part in shade.strip("rgb()").split(",")) < 150


def test_hostile_names_stay_text(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(summarize(write_run(tmp_path / "run", hostile_schema()))), encoding="utf-8")
    with Visit(chromium, path) as visit:
        visit.page.focus("#candidates")
        visit.page.keyboard.press("Home")
        assert HOSTILE[0] in visit.panel()
        assert HOSTILE[1] in visit.panel()
        ticks = visit.page.locator("#picture-A1 .ytick text").all_text_contents()
        assert [tick.strip() for tick in ticks] == [HOSTILE[0][:19] + "…" + HOSTILE[0][-10:], HOSTILE[2]]
        visit.page.locator("#picture-A1 .scatterlayer .trace").last.locator(".points path").nth(1).hover(
            force=True
        )
        label = visit.page.wait_for_selector("#picture-A1 .hoverlayer .hovertext")
        assert HOSTILE[2] in label.text_content()
        assert visit.page.locator("img, #picture-A1 a, #frontier a").count() == 0
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]


def test_without_javascript_the_answer_and_the_tables_are_there(chromium: Any, report: Path) -> None:
    with Visit(chromium, report, java_script_enabled=False) as visit:
        assert visit.page.is_visible("text=Ask 2 of 3 questions")
        assert visit.page.is_visible("text=Without JavaScript there are no pictures")
        visit.page.click("text=The frontier as a table")
        assert visit.page.is_visible("tr.chosen >> text=candidate 2 · knee · chosen")
        assert not visit.page.is_visible("#theme")
        assert not visit.page.is_visible("#frontier")


@pytest.mark.parametrize("width", [360, 500, 768, 1280])
def test_the_headline_figures_leave_no_empty_cell(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    whole, cells = visit.page.evaluate(
        """() => {
            const area = box => box.width * box.height, list = document.querySelector(".figures");
            return [area(list.getBoundingClientRect()),
                    [...list.children].map(cell => area(cell.getBoundingClientRect()))];
        }"""
    )
    assert len(cells) == 4
    assert sum(cells) > 0.97 * whole  # the rest is the lines between them


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.page.wait_for_function("() => document.documentElement.scrollWidth <= window.innerWidth", timeout=3000)
    assert visit.page.evaluate("window.innerWidth") == width
    assert visit.complaints == []


def test_many_long_names_fit_a_phone(chromium: Any, tmp_path: Path) -> None:
    long = "a name that somebody found clear and that is longer than any screen is wide, number"
    attributes = [Attribute(f"{long} {i}", values=(f"{long} a", f"{long} b"), personal=True) for i in range(39)]
    wide = Attribute("w" * 80, values=tuple(f"{i:03d}" + "x" * 60 for i in range(522)), personal=True)
    schema = Schema((AGE, wide, *attributes), Attribute("class", values=tuple("abcdefghijklmno")))
    path = tmp_path / "report.html"
    path.write_text(render_html(summarize(write_run(tmp_path / "run", schema))), encoding="utf-8")
    with Visit(chromium, path, viewport={"width": 360, "height": 700}) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
        ticks = visit.page.locator("#picture-A1 .ytick text").all_text_contents()
        assert len(set(ticks)) == 40  # cut, and yet no two are the same
        assert visit.complaints == []


def test_it_prints_light_and_within_the_paper(chromium: Any, report: Path) -> None:
    with Visit(chromium, report, color_scheme="dark") as visit:
        visit.page.evaluate("window.addEventListener('beforeprint', () => { window.printed = " + PRINTED + "; })")
        pdf = visit.page.pdf(format="A4")
        ink, width = visit.page.evaluate("window.printed")
        assert pdf.startswith(b"%PDF")
        assert ink == "rgb(89, 96, 107)"
        assert width <= 680
        assert visit.page.evaluate("document.documentElement.dataset.theme") is None


def test_paper_holds_everything_and_says_what_it_is_of(visit: Visit) -> None:
    """Nothing stays folded, every sheet has a number, the date and the fingerprint; afterwards it is as before."""
    folded = visit.page.locator("details:not([open])").count()
    assert folded > 5
    visit.page.evaluate("window.addEventListener('beforeprint', () => { window.paper = " + PAPER + "; })")
    pdf = visit.page.pdf(format="A4")
    closed, rules, hidden = visit.page.evaluate("window.paper")
    assert pdf.startswith(b"%PDF")
    assert (closed, hidden) == (0, [])
    fingerprint = json.loads(visit.page.text_content("#data"))["fingerprint"][:12]
    assert re.search(rf"generalization {fingerprint} · printed \d{{4}}-\d\d-\d\d", rules)
    assert "counter(page)" in rules
    assert visit.page.locator("details:not([open])").count() == folded
    assert visit.complaints == []


def test_a_dot_shows_the_command_that_chooses_it(visit: Visit, run: Run) -> None:
    visit.page.focus("#candidates")
    visit.page.keyboard.press("Home")
    assert visit.page.locator("#panel code").count() == 0  # a limit point is no candidate
    visit.page.keyboard.press("ArrowRight")
    attacked = {point.id for point in run.frontier.points}
    command = visit.page.inner_text("#panel code").split()
    assert command[:-1] == ["leastwise", "choose", "run", "--candidate"]
    assert command[-1] in attacked
    visit.click(visit.dots(0).nth(0))
    assert visit.page.inner_text("#panel code") not in attacked  # screened only


def test_what_is_beaten_on_test_is_said_and_not_joined(chromium: Any, run: Run, tmp_path: Path) -> None:
    first, middle, last = run.frontier.points
    beaten = replace(middle, tested=replace(last.test, adversary_error=0.0))
    shown = replace(run, frontier=replace(run.frontier, points=(first, beaten, last)))
    path = tmp_path / "report.html"
    path.write_text(render_html(summarize(shown)), encoding="utf-8")
    with Visit(chromium, path) as visit:
        joined = visit.page.evaluate("document.getElementById('frontier').data[2].x")
        assert joined == [first.test.utility_risk, last.test.utility_risk]
        assert visit.dots(3).count() == 3
        assert "beaten on the test part" in visit.panel()  # the chosen one is the middle one
        assert visit.complaints == []


def test_pictures_and_landmarks_have_names(visit: Visit) -> None:
    assert visit.page.locator("[role=img]:not([aria-label])").count() == 0
    assert visit.page.locator("[role=img]").count() == 9
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert visit.page.locator(landmark).count() == 1
    assert visit.page.locator("figure:not(:has(details table))").count() == 0
    assert visit.page.evaluate("document.querySelectorAll('h1').length") == 1


def test_a_check_is_drawn_too(chromium: Any, tmp_path: Path) -> None:
    bars = [
        {"label": name, "then": 0.2, "now": 0.4, "now_interval": [0.3, 0.5], "then_interval": None}
        for name in HOSTILE
    ]
    single = [{"label": "model wrong", "value": 0.2, "low": 0.1, "high": 0.3, "baseline": 0.25}]
    table = {"columns": ["answer"], "rows": [["x"]]}
    sections = [
        {"title": "Use", "text": "then and now", "table": table, "bars": bars},
        {"title": "Errors", "text": "", "bars": single},
        {"title": "Only text", "text": "nothing to draw"},
    ]
    path = tmp_path / "check.html"
    path.write_text(render_check({"title": "Check", "verdict": "fine", "sections": sections}), encoding="utf-8")
    with Visit(chromium, path) as visit:
        assert visit.page.locator("#picture-section-1 .barlayer .point").count() == 2 * len(HOSTILE)
        assert visit.page.locator("#picture-section-2 .barlayer .point").count() == 1
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]


@pytest.mark.slow
def test_a_real_run_is_shown_without_a_complaint(chromium: Any, tmp_path: Path) -> None:
    adult = load_adult()
    table = Table.from_frame(adult.frame.sample(1500, seed=1), adult.schema)
    entries = (
        Entry(minimizer="uniform", parameters={"k": [2, 3]}),
        Entry(minimizer="pat", parameters={"alpha": [0.3]}),
    )
    found = whole_job(table, tmp_path / "run", Options(grid=Grid(entries=entries), quick=True, most=3))
    path = write_report(found, table=table.split(0).test)
    with Visit(chromium, path) as visit:
        for _ in found.frontier.points:
            visit.page.focus("#candidates")
            visit.page.keyboard.press("ArrowRight")
        assert visit.dots(3).count() == len(found.frontier.points)
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]


TICK_COLOUR = "getComputedStyle(document.querySelector('#frontier .xtick text')).fill"
PRINTED = f"[{TICK_COLOUR}, document.querySelector('#frontier .main-svg').getBoundingClientRect().width]"
PAPER = """[
  document.querySelectorAll("details:not([open])").length,
  [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).join(" "),
  [...document.querySelectorAll("main table")].filter((table) => !table.closest("#panel") && !table.offsetHeight)
    .map((table) => table.innerText)
]"""
CONTRASTS = """() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const hex = style.getPropertyValue('--' + name).trim().slice(1);
    const parts = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
    const linear = parts.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const pairs = [['ink', 'paper'], ['ink', 'card'], ['ink', 'wash'], ['soft', 'paper'], ['soft', 'card'],
    ['soft', 'wash'], ['accent', 'paper'], ['accent', 'card'], ['accent', 'accent-wash'], ['mark', 'card'],
    ['mark', 'mark-wash'], ['ink', 'mark-wash'], ['faint', 'card'], ['faint', 'paper']];
  return Object.fromEntries(pairs.map(([a, b]) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return [a + ' on ' + b, (high + 0.05) / (low + 0.05)];
  }));
}"""


def test_the_picture_says_that_what_is_chosen_is_only_the_nearest(chromium: Any, tmp_path: Path) -> None:
    nearest = write_run(tmp_path / "first").frontier.points[0].id
    run = write_run(tmp_path / "run", choice={"candidate": nearest, "nearest": nearest, "stated": False})
    path = tmp_path / "report.html"
    path.write_text(render_html(summarize(run)), encoding="utf-8")
    with Visit(chromium, path) as visit:
        names = visit.page.evaluate("document.getElementById('frontier').data.map((each) => each.name)")
        assert "chosen" not in names
        assert "chosen as the nearest, does not fit" in names
        panel = visit.panel()
        assert "This one is chosen as the nearest; it does not fit. By its id: leastwise choose run" in panel
        assert visit.page.inner_text("#back") == "nearest"
        assert visit.complaints == []


def test_where_nothing_fits_the_picture_calls_nothing_chosen(chromium: Any, nothing: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_html(summarize(nothing)), encoding="utf-8")
    with Visit(chromium, path) as visit:
        names = visit.page.evaluate("document.getElementById('frontier').data.map((each) => each.name)")
        assert "chosen" not in names
        assert "nearest, does not fit" in names
        panel = visit.panel()
        assert "nearest, does not fit" in panel
        assert "Would ask 2 of 3 questions" in panel
        assert f"To take this one all the same: leastwise choose run --candidate {nothing.choice.nearest}" in panel
        assert visit.page.inner_text("#back") == "nearest"
        visit.page.focus("#candidates")
        visit.page.keyboard.press("Home")
        visit.page.click("#back")
        assert "nearest, does not fit" in visit.panel()
        visit.page.evaluate("window.addEventListener('beforeprint', () => { window.paper = " + PAPER + "; })")
        visit.page.pdf(format="A4")
        assert "leastwise · not chosen, the nearest: " in visit.page.evaluate("window.paper")[1]
        assert visit.complaints == []
