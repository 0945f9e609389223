"""The studio in a real browser: merging by click and by keyboard, dragging, undoing, locking, deciding."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leastwise import Generalization
from leastwise.datasets import load_adult
from leastwise.decisions import Decision, load_decision, verify
from leastwise.evaluation import Evaluation
from leastwise.runs.folder import read_task
from tests.browser import ELEMENT, Firefox, npm_file
from tests.runs.small import records, write_csv
from tests.studio.serving import serving, serving_demo

WAIT = 30_000
MOVED = "svg .edge"


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    with serving(tmp_path / "run") as (address, _):
        made = opened(chromium, address)
        yield made
        made.context.close()


def opened(browser: Any, address: str, **words: Any) -> Any:
    """Open the studio; whatever it answers, and whatever goes wrong, is remembered."""
    made = browser.new_context(viewport={"width": 1440, "height": 900}, **words).new_page()
    made.set_default_timeout(WAIT)
    made.wrong, made.answers, made.addresses = [], [], []
    made.on("pageerror", lambda error: made.wrong.append(str(error)))
    made.on("console", lambda said: made.wrong.append(said.text) if said.type == "error" else None)
    made.on("request", lambda request: made.addresses.append(request.url))
    made.route("**/api/**", lambda route: passed_on(made, route))
    made.goto(address)
    made.locator(".card").first.wait_for()
    return made


def passed_on(page: Any, route: Any) -> None:
    """Let an answer through, and keep its text."""
    try:
        answer = route.fetch()
    except Exception:  # the server was killed meanwhile
        route.abort()
        return
    page.answers.append(answer.text())
    route.fulfill(response=answer)


def card(page: Any, name: str) -> Any:
    return page.locator("article", has=page.get_by_role("heading", name=name, exact=True))


def standing(page: Any, name: str) -> str:
    return str(card(page, name).locator(".sub b").inner_text())


def figures(page: Any) -> str:
    return str(page.locator(".figures .big").first.inner_text())


def until(page: Any, name: str, text: str) -> None:
    card(page, name).locator(".sub b", has_text=text).wait_for()


def ask_age(page: Any) -> None:
    """Ask the age in four groups."""
    card(page, "age").get_by_role("button", name="In full").click()
    until(page, "age", "in full")
    card(page, "age").get_by_role("button", name="Groups").click()
    until(page, "age", "4 answers")


def test_a_person_draws(page: Any) -> None:
    ask_age(page)
    before = figures(page)
    card(page, "age").locator(".merge").first.click()  # by click
    until(page, "age", "3 answers")
    card(page, "age").locator(".edge").first.focus()
    page.keyboard.press("Delete")  # by keyboard
    until(page, "age", "2 answers")
    assert figures(page) != before
    edge = card(page, "age").get_by_role("slider")
    told = float(edge.get_attribute("aria-valuenow"))
    box = edge.locator(".knob").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] - 80, box["y"] + 8, steps=4)
    card(page, "age").locator(".edge.dragged").wait_for()
    page.locator(".stand", has_text="while you drag").first.wait_for()
    page.mouse.up()
    page.locator(".foot", has_text="the edge is at").wait_for()
    moved = float(edge.get_attribute("aria-valuenow"))
    assert moved < told
    edge.focus()
    page.keyboard.press("ArrowRight")
    card(page, "age").locator(f'.edge:not([aria-valuenow="{moved:g}"])').wait_for()
    page.keyboard.press("Control+z")
    card(page, "age").locator(f'.edge[aria-valuenow="{moved:g}"]').wait_for()
    for _ in range(3):
        page.get_by_role("button", name="Undo").click()
        page.wait_for_timeout(150)
    until(page, "age", "4 answers")
    page.get_by_role("button", name="Redo").click()
    until(page, "age", "3 answers")
    # values, from group to group
    card(page, "job").get_by_role("button", name="In full").click()
    until(page, "job", "in full")
    card(page, "job").locator(".value").nth(0).focus()
    page.keyboard.press("ArrowRight")
    until(page, "job", "4 answers")
    card(page, "job").locator(".value").nth(3).click()
    card(page, "job").locator(".value").nth(4).click()
    card(page, "job").get_by_role("button", name="Group these").click()
    until(page, "job", "3 answers")
    # a lock, and what it refuses
    card(page, "job").get_by_role("button", name="Lock job: this stays").click()
    card(page, "job").get_by_role("button", name="Unlock job").wait_for()
    card(page, "job").locator(".merge").first.click()
    page.get_by_role("alert").filter(has_text="locked").wait_for()
    # the shelf
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Keep this draft").click()
    page.locator(".kept li").nth(1).wait_for()
    page.locator(".kept input[type=checkbox]").nth(1).check()
    page.locator(".comparison").wait_for()
    page.reload()  # and nothing is lost
    page.locator(".card").first.wait_for()
    assert standing(page, "age") == "3 answers"
    assert standing(page, "job") == "3 answers"
    check_traffic(page)
    assert [text for text in page.wrong if "422" not in text] == []


def test_a_group_is_called_by_its_name(page: Any) -> None:
    """A name is text, is in the script, stays after a reload, and what is wrong with it is said."""
    ask_age(page)
    age = card(page, "age")
    named(age, "<img src=x onerror=alert(1)>")
    age.locator(".label", has_text="<img src=x onerror=alert(1)>").wait_for()
    named(age, "young")
    age.locator(".bucket .label").first.locator("text=young").wait_for()
    label = age.locator(".bucket .label").first
    assert label.locator("small").inner_text() == label.get_attribute("title")
    age.locator(".dots").nth(1).click()
    age.get_by_label("Name").fill("Young")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="given once").wait_for()
    page.reload()
    age.locator(".bucket .label").first.locator("text=young").wait_for()
    page.get_by_role("button", name="Decide").click()
    page.get_by_role("button", name="As Python").click()
    page.locator(".code").wait_for()
    assert "Named('young', Content(up_to=" in page.locator(".code").input_value()
    assert [text for text in page.wrong if "422" not in text] == []


def named(card: Any, name: str) -> None:
    """Give the first bucket of a card a name."""
    card.locator(".dots").first.click()
    card.get_by_label("Name").fill(name)
    card.page.keyboard.press("Enter")


@pytest.mark.slow
def test_fingers_draw_too(chromium: Any, tmp_path: Path) -> None:
    """On a tablet: tap to merge, drag an edge with a finger, choose values by tapping, and move them."""
    with serving(tmp_path / "run") as (address, _):
        page = opened(chromium, address, has_touch=True, is_mobile=True)
        page.set_viewport_size({"width": 820, "height": 1180})
        age, job = card(page, "age"), card(page, "job")
        age.get_by_role("button", name="In full").tap()
        until(page, "age", "in full")
        age.get_by_role("button", name="Groups").tap()
        until(page, "age", "4 answers")
        age.locator(".merge").first.tap()
        until(page, "age", "3 answers")
        edge = age.get_by_role("slider").first
        edge.scroll_into_view_if_needed()
        told, box = edge.get_attribute("aria-valuenow"), edge.locator(".knob").bounding_box()
        fingers = page.context.new_cdp_session(page)
        x, y = box["x"] + 4, box["y"] + 8
        for kind, way in (("touchStart", 0), ("touchMove", 20), ("touchMove", 60), ("touchEnd", None)):
            points = [] if way is None else [{"x": x + way, "y": y}]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.locator(".foot", has_text="the edge is at").wait_for()
        assert float(edge.get_attribute("aria-valuenow")) > float(told)
        page.locator(".worth.waiting").first.wait_for(state="detached")
        job.get_by_role("button", name="In full").tap()
        until(page, "job", "in full")
        job.locator(".value").nth(0).tap()
        job.locator(".value").nth(2).tap()
        job.get_by_role("button", name="Group these").tap()
        until(page, "job", "4 answers")
        assert page.wrong == []
        page.context.close()


def check_traffic(page: Any) -> None:
    """Nothing was asked of elsewhere, and no answer holds a column of people or a count of few."""
    home = page.url.split("?")[0]
    assert all(address.startswith((home, "data:")) for address in page.addresses)
    assert page.answers
    for text in page.answers:
        assert len(text) < 80_000
        for row in _lists(json.loads(text)):
            assert len(row) < 60 or not all(isinstance(each, (int, float)) for each in row)


def _lists(content: Any) -> Iterator[list[Any]]:
    if isinstance(content, list):
        yield content
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    for part in parts:
        yield from _lists(part)


@pytest.fixture
def axe() -> str:
    return npm_file("axe-core/axe.min.js").read_text(encoding="utf-8")


def test_it_is_accessible(axe: str, page: Any) -> None:
    """axe-core finds nothing in any view, light or dark."""
    ask_age(page)
    session = page.context.new_cdp_session(page)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for view in ("Draw", "Compare", "Decide"):
            page.get_by_role("button", name=view, exact=True).click()
            page.wait_for_timeout(300)
            session.send("Runtime.evaluate", {"expression": axe})
            found = session.send(
                "Runtime.evaluate",
                {"expression": "axe.run().then(r => JSON.stringify(r.violations))", "awaitPromise": True},
            )
            violations = json.loads(found["result"]["value"])
            told = [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in violations]
            assert told == [], (theme, view)


@pytest.mark.slow
def test_hostile_names_many_questions_and_many_values(chromium: Any, tmp_path: Path) -> None:
    with serving(tmp_path / "run", "tests.studio.large") as (address, _):
        page = opened(chromium, address)
        page.on("dialog", lambda dialog: page.wrong.append(dialog.message))
        assert page.locator(".part span").all_inner_texts() != []
        page.get_by_label("Find a question").fill("<img")
        hostile = page.locator("article").first
        assert "<img src=x onerror=alert(1)>" in hostile.locator("h2").inner_text()
        hostile.get_by_role("button", name="In full").click()
        page.locator(".foot", has_text="in full").wait_for()
        page.get_by_label("Find a question").fill("town")
        page.locator("article").first.get_by_role("button", name="In full").click()
        page.get_by_role("button", name="more groups").wait_for()
        assert page.locator(".value").count() < 100
        assert page.wrong == []
        page.context.close()


@dataclass(frozen=True)
class Scene:
    """Where the story plays: how the studio is started, its records, and a question beside the age."""

    serving: Callable[[Path], AbstractContextManager[tuple[str, subprocess.Popen[str]]]]
    write: Callable[[Path], None]
    beside: str


SMALL = Scene(serving, lambda path: write_csv(path, records(3000, seed=100)), "town")
ADULT = Scene(serving_demo, lambda path: load_adult().frame.write_csv(path), "workclass")


@pytest.mark.slow
@pytest.mark.parametrize("scene", [SMALL, ADULT], ids=["small", "adult"])
def test_the_whole_story(scene: Scene, chromium: Any, tmp_path: Path) -> None:
    """Draw, lock, improve, compare, write, kill the server, open the test part, approve, and judge it again."""
    folder = tmp_path / "run"
    with scene.serving(folder) as (address, process):
        page = opened(chromium, address)
        if page.get_by_role("button", name="Skip", exact=True).count():  # the tour
            page.get_by_role("button", name="Skip", exact=True).click()
        drawn(page, scene)
        improved(page)
        compared(page)
        words_written(page, folder)
        page.locator(".going").wait_for(state="detached", timeout=500_000)  # a run in the background
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        page.context.close()
    with scene.serving(folder) as (address, _):
        page = opened(chromium, address)
        if page.get_by_role("button", name="Skip", exact=True).count():
            page.get_by_role("button", name="Skip", exact=True).click()
        assert standing(page, "age") == "3 answers"
        page.reload()
        page.get_by_role("button", name="Decide").click()
        assert page.get_by_label("Because").input_value() == "It is the least that works."
        page.get_by_role("button", name="As Python").click()
        page.locator(".code").wait_for()
        script = page.locator(".code").input_value()
        page.get_by_label("This is the draft that I would decide for").check()
        page.get_by_role("button", name="Open the test part").click()
        page.locator(".progress").first.wait_for()
        page.get_by_label("Reviewer").fill("Grace")  # what is written meanwhile is kept
        page.get_by_label("Author").focus()
        page.locator(".test.opened").wait_for(timeout=500_000)
        page.get_by_role("button", name="Approve this draft").click()
        page.locator(".approved").wait_for()
        check_traffic(page)
        page.context.close()
    (tmp_path / "draft.py").write_text(script)
    subprocess.run([sys.executable, "draft.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "draft.json").read_bytes() == (folder / "decided.json").read_bytes()
    decision = load_decision(folder)
    assert decision.rationale["age"] == "The age decides most."
    assert (decision.roles.author, decision.roles.reviewer) == ("Ada", "Grace")
    assert verify(folder) == []
    check_judged_alike(scene, folder, decision)


def drawn(page: Any, scene: Scene) -> None:
    """Merge by click and by keyboard, drag an edge, see the figures change, undo, and lock."""
    ask_age(page)
    before, age = figures(page), card(page, "age")
    age.locator(".merge").first.click()
    until(page, "age", "3 answers")
    age.locator(".edge").first.focus()
    page.keyboard.press("Delete")
    until(page, "age", "2 answers")
    assert figures(page) != before
    page.get_by_role("button", name="Undo").click()
    until(page, "age", "3 answers")
    edge = age.get_by_role("slider").first
    told, box = edge.get_attribute("aria-valuenow"), edge.locator(".knob").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] - 40, box["y"] + 8, steps=4)
    page.locator(".stand", has_text="while you drag").first.wait_for()
    page.mouse.up()
    page.locator(".foot", has_text="the edge is at").wait_for()
    assert edge.get_attribute("aria-valuenow") != told
    card(page, scene.beside).get_by_role("button", name="In full").click()
    until(page, scene.beside, "in full")
    age.get_by_role("button", name="Lock age: this stays").click()
    age.get_by_role("button", name="Unlock age").wait_for()


def improved(page: Any) -> None:
    page.get_by_role("button", name="Improve the rest").click()
    page.locator(".proposals li").first.wait_for(timeout=300_000)
    page.get_by_role("button", name="Look at it").first.click()
    page.locator(".card.changed").first.wait_for()


def compared(page: Any) -> None:
    """Keep the draft, take the proposal, and see both side by side."""
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Keep this draft").click()
    page.locator(".kept li").nth(1).wait_for()
    page.get_by_role("button", name="Draw").click()
    page.get_by_role("button", name="Take it").first.click()
    page.locator(".foot", has_text="the draft now").wait_for()
    assert standing(page, "age") == "3 answers"
    page.get_by_role("button", name="Compare").click()
    page.locator(".kept input[type=checkbox]").nth(1).check()
    page.locator(".comparison .differs").first.wait_for()


def words_written(page: Any, folder: Path) -> None:
    page.get_by_role("button", name="Decide").click()
    page.get_by_label("age", exact=False).first.fill("The age decides most.")
    page.get_by_label("Author").fill("Ada")
    page.get_by_label("If a limit is broken").fill("This is a test.")
    page.get_by_label("Because").fill("It is the least that works.")  # nobody leaves the field: a pause is enough
    journal = folder / "studio" / "journal.jsonl"
    for _ in range(600):
        if "It is the least that works." in journal.read_text(encoding="utf-8"):
            break
        page.wait_for_timeout(100)


def check_judged_alike(scene: Scene, folder: Path, decision: Decision) -> None:
    """``leastwise evaluate`` finds the figures that were approved."""
    judged = Evaluation.load(folder / "decided-evaluation.json")
    assert judged.certificate is not None
    scene.write(folder.parent / "people.csv")
    task = read_task(folder)
    command = [sys.executable, "-m", "leastwise", "evaluate", str(folder / "decided.json"), "people.csv"]
    command += ["--json", "--set", f"candidates={judged.certificate.candidates}", *["--quick"] * task.quick]
    again = subprocess.run(command, cwd=folder.parent, check=True, capture_output=True, text=True).stdout
    found = Evaluation.from_json(again)
    assert found.utility == judged.utility
    assert found["A1"] == judged["A1"]
    assert found.certificate == judged.certificate
    assert Generalization.load(folder / "decided.json").fingerprint == decision.generalization.fingerprint


@pytest.mark.slow
def test_firefox_draws_too(firefox: Firefox, tmp_path: Path) -> None:
    """Merge by click, drag an edge, merge and undo by keyboard, in another engine."""
    with serving(tmp_path / "run") as (address, _):
        firefox.ask("WebDriver:Navigate", url=address)
        named = "(each) => each.querySelector('h2').textContent === 'age'"
        card = f"[...document.querySelectorAll('article')].find({named})"
        standing = f"{card}?.querySelector('.sub b').textContent"

        def stands(text: str) -> None:
            firefox.until(f"{standing} === '{text}'")

        def pressed(words: str, text: str) -> None:
            firefox.run(f"{card}.querySelector('{words}').click()")
            stands(text)

        firefox.until(card)
        pressed(".switch button:nth-child(3)", "asked in full")
        pressed(".switch button:nth-child(2)", "4 answers")
        pressed(".merge", "3 answers")
        before = firefox.run(f"return {card}.querySelector('.edge').getAttribute('aria-valuenow')")
        firefox.run(f"{card}.querySelector('.edge').id = 'mine'; {card}.scrollIntoView({{block: 'center'}})")
        edge = {ELEMENT: firefox.find("#mine .knob")}
        firefox.act(
            {
                "type": "pointer",
                "id": "mouse",
                "actions": [
                    {"type": "pointerMove", "x": 0, "y": 0, "origin": edge},
                    {"type": "pointerDown", "button": 0},
                    {"type": "pointerMove", "x": 60, "y": 0, "duration": 100, "origin": "pointer"},
                    {"type": "pointerUp", "button": 0},
                ],
            }
        )
        firefox.until(f"{card}.querySelector('.edge').getAttribute('aria-valuenow') !== '{before}'")
        firefox.until("document.querySelector('.foot').textContent.includes('the edge is at')")
        firefox.run(f"{card}.querySelector('.edge').focus()")
        keys = [{"type": what, "value": "\ue017"} for what in ("keyDown", "keyUp")]
        firefox.act({"type": "key", "id": "keys", "actions": keys})
        stands("2 answers")
        held = [("keyDown", "\ue009"), ("keyDown", "z"), ("keyUp", "z"), ("keyUp", "\ue009")]
        firefox.act({"type": "key", "id": "keys", "actions": [{"type": t, "value": v} for t, v in held]})
        stands("3 answers")


def test_the_map_joins_only_what_no_candidate_beats(page: Any) -> None:
    joined = page.evaluate(
        """async () => {
            const { unbeaten } = await import("/assets/map.js");
            const at = (id, error, safety) => ({ id, error, safety });
            const some = [at("d", 0.3, 0.4), at("beaten", 0.2, 0.1), at("a", 0.1, 0.2), at("b", 0.2, 0.3)];
            return unbeaten([...some, at("same", 0.3, 0.3)]).map((each) => each.id);
        }"""
    )
    assert joined == ["a", "b", "d"]
