"""People are asked in their language, may keep a thing to themselves, and type numbers as they are used to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Untouched
from leastwise.collector.databases import StoreError
from leastwise.collector.store import read_records
from leastwise.exports import FormTexts, Notice, Translation
from tests.collector.asgi import Client
from tests.collector.examples import SCHOOL, client, exported, sqlite_url
from tests.collector.process import running
from tests.collector.test_end_to_end import Traffic

AGE = Attribute("age", "continuous", lower=0, integer=True, missing=True, question="How old are you?")
PAY = Attribute("pay", "continuous", lower=0, upper=100_000)
MIXED = Generalization(
    (
        Intervals(AGE, (19, 63), (1,)),  # missing lies with the middle
        Groups.of(SCHOOL, [["none", "primary"], ["secondary", "high"]]),
        Untouched(PAY),
    )
)
GERMAN = Translation(title="Drei Fragen", questions={"age": "Wie alt sind Sie?", "pay": "Was verdienen Sie?"})
FORM = FormTexts(prefer_not_to_say=("age",), languages={"de": GERMAN, "fr": Translation()})
MIDDLE = "20 to 63 or missing"
GOOD = {"age": MIDDLE, "school": "secondary or high", "pay": "1234.5"}
PAGE = {"accept": "text/html,*/*"}
FORM_TYPE = "application/x-www-form-urlencoded"
POLICY = """
format: leastwise-policy
version: 1
notice: {controller: Example Ltd, purpose: to help, keep_days: 30}
form:
  prefer_not_to_say: [age]
  languages:
    de:
      title: Drei Fragen
      notice: {purpose: um zu helfen}
      questions: {age: Wie alt sind Sie?, school: Welche Schule?, pay: Was verdienen Sie?}
      units: {pay: Euro}
      answers: {school: {none: keine, primary: Grundschule, secondary: Mittelschule, high: Gymnasium}}
    fr: {}
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Client]:
    with client(sqlite_url(tmp_path), MIXED, form=FORM, notice=Notice("Example Ltd")) as given:
        yield given


@pytest.mark.parametrize(
    ("query", "liked", "language", "button"),
    [
        ("", "", "en", "Send my answers"),
        ("?lang=de", "", "de", "Antworten senden"),
        ("", "it, fr-CH;q=0.8, en;q=0.5", "fr", "Envoyer mes réponses"),
        ("?lang=de", "fr", "de", "Antworten senden"),
        ("?lang=xx%22%3E", "xx;q=x, *", "en", "Send my answers"),
    ],
)
def test_the_language_is_chosen(made: Client, query: str, liked: str, language: str, button: str) -> None:
    page = made.get(f"/{query}", headers={"accept-language": liked})
    assert f'<html lang="{language}"' in page.text
    assert button in page.text
    assert "set-cookie" not in page.headers
    erase = made.get(f"/erase{query}", headers={"accept-language": liked})
    assert f'<html lang="{language}"' in erase.text


def test_the_pages_after_the_form_speak_the_same_language(made: Client) -> None:
    sent = {**GOOD, "pay": "1.234,5", "leastwise-language": "de"}
    thanks = made.post("/records", data=sent, headers=PAGE)
    assert thanks.status_code == 201
    assert '<html lang="de"' in thanks.text
    assert "Vielen Dank" in thanks.text
    receipt = thanks.text.split('<code id="receipt">')[1].split("<")[0]
    gone = made.post("/erase?lang=de", data={"receipt": receipt}, headers=PAGE)
    assert "Ihr Datensatz ist gelöscht." in gone.text
    refused = made.post("/records", data={**sent, "name": "Jo"}, headers=PAGE)
    assert (refused.status_code, "Zurück zum Formular" in refused.text) == (422, True)
    assert "Einige Antworten passen nicht zum Formular." in refused.text


@pytest.mark.parametrize(
    ("change", "headers", "status", "why"),
    [
        ({"leastwise-generalization": "0" * 64}, {}, 409, "Das Formular hat sich geändert"),
        ({"name": "x" * 100_000}, {}, 413, "Das ist mehr, als das Formular senden darf."),
        ({}, {"sec-fetch-site": "cross-site"}, 403, "Das kam von einer fremden Seite."),
    ],
)
def test_a_person_is_refused_in_the_language_of_the_form(
    made: Client, change: dict[str, str], headers: dict[str, str], status: int, why: str
) -> None:
    sent = {**GOOD, "leastwise-language": "de", **change}
    refused = made.post("/records", data=sent, headers={**PAGE, "accept-language": "de", **headers})
    assert (refused.status_code, '<html lang="de"' in refused.text) == (status, True)
    assert why in refused.text
    assert "Es wurde nichts gespeichert." in refused.text
    assert exported(made) == []


def test_a_database_that_fails_is_told_to_a_person_without_a_promise(
    made: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise StoreError("lost")

    monkeypatch.setattr("leastwise.collector.store.Store.write", fail)
    page = made.post("/records", data={**GOOD, "leastwise-language": "fr"}, headers=PAGE)
    assert page.status_code == 503
    assert "Il n’est pas certain que vos réponses aient été enregistrées." in page.text
    assert "Rien n’a été enregistré" not in page.text


def test_whoever_asks_too_often_is_told_on_a_page(tmp_path: Path) -> None:
    german = {**PAGE, "accept-language": "de"}
    with client(sqlite_url(tmp_path), MIXED, form=FORM, rate=1) as made:
        assert made.get("/", headers=german).status_code == 200
        for answer in (
            made.get("/", headers=german),
            made.post("/records", data=GOOD, headers=german),
            made.post("/erase?lang=de", data={"receipt": "x"}, headers=PAGE),
        ):
            assert (answer.status_code, '<html lang="de"' in answer.text) == (429, True)
            assert "Aus Ihrem Netz kam in kurzer Zeit zu viel." in answer.text
            assert int(answer.headers["retry-after"]) >= 1
            assert "'none'" in answer.headers["content-security-policy"]
        program = made.post("/records", json=GOOD)
        assert (program.status_code, program.json()["problem"][:8]) == (429, "too many")


def test_a_browser_that_is_lost_gets_a_page_and_a_program_does_not(made: Client) -> None:
    for method, path, status in (("GET", "/nowhere", 404), ("GET", "/predict", 404), ("PUT", "/", 405)):
        page = made.request(method, path, headers=PAGE)
        assert (page.status_code, "There is nothing at this address." in page.text) == (status, True)
        assert "Nothing was stored" not in page.text
        assert made.request(method, path).json()["problem"]
    assert made.get("/records", headers=PAGE).status_code == 401
    large = made.post("/records", content="a" * 1_000_001, headers={**PAGE, "content-type": FORM_TYPE})
    assert (large.status_code, "This is more than the form may send." in large.text) == (413, True)


def test_an_erasure_that_fails_is_told_on_the_page(made: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise StoreError("lost")

    monkeypatch.setattr("leastwise.collector.store.Store.erase", fail)
    page = made.post("/erase?lang=de", data={"receipt": "A" * 24}, headers=PAGE)
    assert page.status_code == 503
    assert "Es ist nicht sicher, dass Ihr Datensatz gelöscht wurde." in page.text
    assert 'name="receipt"' in page.text, "to be tried again"
    foreign = made.post("/erase", data={"receipt": "x"}, headers={**PAGE, "sec-fetch-site": "cross-site"})
    assert (foreign.status_code, "by a page from elsewhere" in foreign.text) == (403, True)


@pytest.mark.parametrize(
    ("language", "typed", "number"),
    [
        ("en", "1,200", "1200"), ("en", "45.5", "45.5"), ("en", "1.234,5", "1234.5"), ("en", " 1 200 ", "1200"),
        ("de", "1.200", "1200"), ("de", "45,5", "45.5"), ("de", "1.234,5", "1234.5"), ("de", "45.5", "45.5"),
        ("fr", "1\u202f234,5", "1234.5"), (None, "1.234", "1.234"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(made: Client, language: str | None, typed: str, number: str) -> None:
    """Without a language a program speaks, or our script, which has read the number already."""
    sent = {**GOOD, "pay": typed} | ({"leastwise-language": language} if language else {})
    assert made.post("/records", data=sent).status_code == 201
    assert exported(made)[0]["pay"] == number


def test_a_form_that_is_wrong_comes_back_with_what_was_right(made: Client) -> None:
    sent = {**GOOD, "pay": "777777777", "leastwise-language": "de"}
    page = made.post("/records", data=sent, headers=PAGE)
    assert page.status_code == 422
    assert "Das passt nicht: Zahlen von 0 bis 100000." in page.text
    assert page.text.count(" checked>") == 3  # of age both that are kept alike: the browser takes the last
    assert "777777777" not in page.text, "what is no answer is not repeated"
    assert made.get("/?lang=de").text.count(" checked>") == 0
    right = made.post("/records", data={**GOOD, "school": "high", "leastwise-language": "en"}, headers=PAGE)
    assert 'value="1234.5"' in right.text
    assert "Please choose one of the answers." in right.text.split("<script")[0]
    assert exported(made) == []


def test_a_question_that_cannot_be_left_open(tmp_path: Path) -> None:
    wish = FormTexts(prefer_not_to_say=("school",))
    with (
        pytest.raises(ParameterError, match="school cannot offer"),
        client(sqlite_url(tmp_path), MIXED, form=wish),
    ):
        pass


def test_a_person_who_speaks_german(chromium: Any, tmp_path: Path) -> None:
    """With scripts and without, at one collector."""
    (tmp_path / "leastwise.yaml").write_text(POLICY, encoding="utf-8")
    url = sqlite_url(tmp_path)
    with running(tmp_path, url, [MIXED], "--policy", tmp_path / "leastwise.yaml") as collector:
        for scripts in (True, False):
            context = chromium.new_context(java_script_enabled=scripts, locale="en-US")
            answer_in_german(context, collector.address)
            context.close()
        collector.stop()
    assert read_records(url).to_dicts() == [{**GOOD, "pay": "1234"}] * 2


def answer_in_german(context: Any, address: str) -> None:
    page = context.new_page()
    traffic = Traffic(page)
    page.goto(address)
    page.get_by_role("link", name="Deutsch").click()
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.get_by_text("um zu helfen").is_visible()
    page.get_by_label("Das möchte ich nicht sagen").check()
    page.get_by_label("Mittelschule oder Gymnasium").check()
    number = page.locator('input[name="pay"]')
    number.fill("eintausend")
    page.get_by_role("button", name="Antworten senden").click()
    assert number.input_value() == "eintausend", "it stays, to be corrected"
    assert page.get_by_label("Mittelschule oder Gymnasium").is_checked()
    number.fill("1.234")
    page.get_by_role("button", name="Antworten senden").click()
    page.get_by_role("heading", name="Vielen Dank").wait_for()
    assert traffic.problems == []
    assert context.cookies() == []
