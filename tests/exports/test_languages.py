"""The form in several languages: our own sentences, the texts of a policy, and English for what nobody said."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import leastwise
from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Untouched
from leastwise.exports import FormTexts, Notice, Translation, form_html
from leastwise.exports.languages import sentences, speaker
from leastwise.exports.questionnaire import questions
from leastwise.partition import suppress

AGE = Attribute(
    "age", "continuous", lower=0, integer=True, missing=True, unit="years", question="How old are you?"
)
PAY = Attribute("pay", "continuous", lower=0, missing=True)
SCHOOL = Attribute("school", "ordinal", values=("none", "primary", "high"))
COLOUR = Attribute("colour", values=("red", "green", "blue"), missing=True, other=True)
G = Generalization(
    (
        Intervals(AGE, (19, 63)),
        Intervals(PAY, (1000.5, 2000), (1,)),  # missing lies with the middle
        Groups.of(SCHOOL, [["none"], ["primary", "high"]]),
        Groups(COLOUR, (0, 0, 1, 2, 3)),
        Untouched(Attribute("children", "continuous", lower=0, upper=20, integer=True, missing=True)),
        suppress(Attribute("sex", values=("f", "m"))),
    ),
    Attribute("rich", values=("0", "1"), labels=("no", "yes")),
)
GERMAN = Translation(
    title="Zwei Fragen",
    notice=Notice(purpose="um zu helfen"),
    questions={"age": "Wie alt sind Sie?", "sex": "Welches Geschlecht?"},
    units={"age": "Jahren"},
    answers={"school": {"none": "keine", "high": "Gymnasium"}, "rich": {"1": "ja"}},
)
PREFER = "I prefer not to say"


class Page(HTMLParser):
    """Collects what is on a page: the texts, and the value of each radio button with what stands beside it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.radios: list[tuple[str, str]] = []
        self._tag, self._radio = "", ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._tag, given = tag, dict(attributes)
        self._radio = str(given["value"]) if given.get("type") == "radio" else self._radio

    def handle_data(self, data: str) -> None:
        if data.strip() and self._tag not in ("script", "style"):
            self.texts.append(data.strip())
            if self._tag == "span" and self._radio:
                self.radios.append((self._radio, data.strip()))
                self._radio = ""


def answers(name: str, **asked: Any) -> list[tuple[str, str]]:
    [found] = [each for each in questions(G, **asked) if each.name == name]
    return [(choice.value, choice.text) for choice in found.choices]


def test_prefer_not_to_say_is_kept_as_missing() -> None:
    assert answers("age")[-1] == ("missing", "No answer")
    assert answers("age", prefer_not_to_say=["age"])[-1] == ("missing", PREFER)
    assert answers("colour", prefer_not_to_say=["colour"])[-2:] == [
        ("other", "Something else"),
        ("missing", PREFER),
    ]


def test_prefer_not_to_say_that_shares_a_bucket_says_so() -> None:
    label = "above 1000.5, up to 2000 or missing"
    assert answers("pay")[1] == (label, "above 1000.5, up to 2000, or no answer")
    assert answers("pay", prefer_not_to_say=["pay"])[1:] == [
        (label, "above 1000.5, up to 2000"),
        ("above 2000", "above 2000"),
        (label, f"{PREFER} (kept with “above 1000.5, up to 2000”)"),
    ]


def test_prefer_not_to_say_needs_a_bucket_for_missing_answers() -> None:
    with pytest.raises(ParameterError, match=r"school cannot offer “prefer not to say”.*declare missing: true"):
        form_html(G, prefer_not_to_say=["school"])
    with pytest.raises(ParameterError, match="did you mean 'age'"):
        form_html(G, prefer_not_to_say=["agee"])
    assert form_html(G, prefer_not_to_say=["sex"]) == form_html(G), "it is not asked"
    assert "If you prefer not to say, leave it empty." in form_html(G, prefer_not_to_say=["children"])


def test_a_page_in_german() -> None:
    html = form_html(
        G, "/records", language="de", translation=GERMAN, notice=Notice("Example Ltd", "to help", "", 30)
    )
    page = Page(html)
    assert '<html lang="de" dir="ltr">' in html
    for text in ("Zwei Fragen", "Wie alt sind Sie?", "in Jahren", "Antworten senden", "Example Ltd",
                 "um zu helfen", "30 Tage; dann werden die Antworten gelöscht", "Ihre genaue Zahl"):  # fmt: skip
        assert text in page.texts, text
    assert page.radios == [
        ("0 to 19", "0 bis 19"),
        ("20 to 63", "20 bis 63"),
        ("64 or more", "64 oder mehr"),
        ("missing", "Keine Angabe"),
        ("0 to 1000.5", "0 bis 1000,5"),
        ("above 1000.5, up to 2000 or missing", "über 1000,5 bis 2000, oder keine Angabe"),
        ("above 2000", "über 2000"),
        ("none", "keine"),
        ("primary or high", "primary oder Gymnasium"),
        ("red or green", "red oder green"),
        ("blue", "blue"),
        ("other", "Etwas anderes"),
        ("missing", "Keine Angabe"),
    ], "the values are the artefact's own"
    assert "ganze Zahlen von 0 bis 20" in html
    assert ("1", "ja") in Page(form_html(G, label=True, language="de", translation=GERMAN)).radios


def test_no_english_is_left_where_everything_is_translated() -> None:
    """Only the texts of the schema are not in our hands."""
    schema = {"age", "pay", "school", "colour", "children", "sex", "How old are you?", "in years"}
    own = schema | {*SCHOOL.values, *COLOUR.values}
    english = {text for text in Page(form_html(G, "/records", helper=True)).texts if text[0].isalpha()}
    for language in ("de", "fr"):
        texts = Page(form_html(G, "/records", helper=True, language=language)).texts
        assert not {text for text in english & {*texts} if text not in own}, language


def test_languages_that_we_do_not_have() -> None:
    italian = Translation(name="Italiano", sentences={"Send my answers": "Invia", "{} to {}": "da {} a {}"})
    page = Page(form_html(G, "/records", language="it", translation=italian))
    assert "Invia" in page.texts
    assert ("20 to 63", "da 20 a 63") in page.radios
    assert "What is not asked" in page.texts, "English, where nothing is given"
    assert 'dir="rtl"' in form_html(G, language="ar")


def test_the_chooser_links_to_the_same_page() -> None:
    offered = FormTexts(languages={"de": GERMAN, "pt-BR": Translation(name="Português")}).offered
    html = form_html(G, "/records", language="de", translation=GERMAN, languages=offered)
    links = re.findall(r'<a href="([^"]*)" lang="([^"]*)" hreflang="[^"]*">([^<]*)</a>', html)
    assert links == [("?lang=en", "en", "English"), ("?lang=pt-BR", "pt-BR", "Português")]
    assert '<span lang="de" aria-current="true">Deutsch</span>' in html
    assert "<nav" not in form_html(G, "/records", languages=FormTexts().offered)


@pytest.mark.parametrize(
    ("translation", "match"),
    [
        ({"questions": {"agee": "x"}}, "did you mean 'age'"),
        ({"answers": {"school": {"hihg": "x"}}}, "did you mean 'high'"),
        ({"answers": {"age": {"1": "x"}}}, "value of age '1'"),
        ({"sentences": {"Send my answer": "x"}}, "did you mean 'Send my answers'"),
        ({"sentences": {"{} to {}": "{} bis"}}, "2 times {}"),
        ({"sentences": {"or": "{0.__class__}"}}, "0 times {}"),
        ({"notice": Notice(keep_days=3)}, "the same in all languages"),
    ],
)
def test_texts_for_nothing_are_refused(translation: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(match)):
        form_html(G, language="de", translation=Translation(**translation))


@pytest.mark.parametrize("tag", ["", "d", "de_DE", 'de"><b>', "deutsch"])
def test_strange_languages_are_refused(tag: str) -> None:
    with pytest.raises(ParameterError, match="a tag such as de"):
        FormTexts(languages={tag: Translation()})


SOURCES = [
    Path(leastwise.__file__).parent / name
    for name in (
        "exports/templates/form.html", "exports/assets/form.js", "exports/form.py", "exports/questionnaire.py",
        "exports/languages.py", "collector/pages.py", "collector/service.py", "partition/labels.py",
        "schema/attribute.py",
    )
]  # fmt: skip


def test_every_sentence_is_there_in_german_and_french() -> None:
    german, french = sentences("de"), sentences("fr")
    assert german.keys() == french.keys()
    texts = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    said = re.findall(r'\bsay\((?:"([^"]+)"|\'([^\']+)\')', texts)
    said += [(text, "") for text in re.findall(r'\bsay\("[^"]+" if [^()]*? else "([^"]+)"', texts)]
    found = {one or other for one, other in said}
    assert len(found) > 50
    assert found <= german.keys()
    unused = {sentence for sentence in german if sentence not in texts}
    assert {text for text in unused if not text.startswith("Your record is erased; its bytes")} == set()
    for language in (german, french):
        assert all(text.count("{}") == sentence.count("{}") for sentence, text in language.items())


def test_what_a_language_does_not_have_is_english() -> None:
    assert speaker("de-AT")("Thank you") == "Vielen Dank"
    assert speaker("xx")("Thank you") == "Thank you"
