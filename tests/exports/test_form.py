"""The form as a text: what is in it, and what is refused."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Untouched
from leastwise.exports import Notice, form_html
from leastwise.exports.form import content_policy
from leastwise.exports.questionnaire import questions
from leastwise.partition import suppress

age = Attribute("age", "continuous", lower=0, integer=True, unit="years", question="How old are you?")
jobs = tuple(f"job {i}" for i in range(20))
G = Generalization(
    (
        Intervals(age, (19, 63)),
        Groups(Attribute("job", values=jobs, missing=True, other=True), (*(i % 2 for i in range(20)), 2, 0)),
        Groups(Attribute("state", values=tuple(f"state {i}" for i in range(12))), tuple(range(12))),
        Untouched(Attribute("children", "continuous", lower=0, upper=20, integer=True, missing=True)),
        suppress(Attribute("sex", values=("f", "m"), question="What is your sex?")),
    ),
    Attribute("rich", values=("0", "1"), labels=("no", "yes"), question="Are you rich?"),
)


class Fields(HTMLParser):
    """Collects what a browser would send: (name, type, value) of each control, and all ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.controls: list[tuple[str, str, str | None]] = []
        self.ids: list[str] = []
        self.select: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids += [str(given["id"])] if "id" in given else []
        if tag == "select":
            self.select = given.get("name")
        if tag == "option" and self.select is not None:
            self.controls.append((self.select, "option", given["value"]))
        if tag == "input" and given.get("name") is not None:
            self.controls.append((str(given["name"]), str(given["type"]), given.get("value")))


def test_values_are_the_labels_and_nothing_else_is_asked() -> None:
    fields = Fields(form_html(G, "/records")).controls
    offered: dict[str, list[Any]] = {}
    for name, _, value in fields:
        offered.setdefault(name, []).append(value)
    assert list(offered) == list(G.collected)
    assert offered["age"] == list(G["age"].labels)
    assert sorted(offered["job"]) == sorted(G["job"].labels)
    assert offered["state"] == ["", *G["state"].labels]
    assert offered["children"] == [None]
    assert {kind for name, kind, _ in fields if name == "age"} == {"radio"}
    assert {kind for name, kind, _ in fields if name == "state"} == {"option"}


def test_people_read_their_own_words() -> None:
    age_question, job, state, children = questions(G)
    assert [choice.text for choice in age_question.choices] == ["0 to 19", "20 to 63", "64 or more"]
    texts = [choice.text for choice in job.choices]
    assert texts[1:] == ["job 1, job 3, job 5, job 7, job 9 or 5 others", "No answer"]
    assert texts[0].endswith("5 others, or something else")
    assert job.choices[1].members == jobs[1::2]
    assert (age_question.typed, job.typed, state.typed, children.typed) == ("number", "choice", "", "")
    text = form_html(G)
    assert "How old are you?" in text
    assert "in years" in text
    assert "What is your sex?" not in text


def test_the_label_is_asked_only_on_demand() -> None:
    assert "Are you rich?" not in form_html(G)
    fields = Fields(form_html(G, label=True)).controls
    assert [value for name, _, value in fields if name == "rich"] == ["0", "1"]


def test_the_typed_fields_have_no_name_and_ids_are_unique() -> None:
    text = form_html(G, helper=True)
    typed = re.findall(r"<(?:input|select)[^>]*class=\"typed\"[^>]*>", text)
    assert len(typed) == 2
    assert all(" name=" not in tag and 'autocomplete="off"' in tag for tag in typed)
    ids = Fields(text).ids
    assert len(ids) == len(set(ids))


def test_it_is_one_file_and_loads_nothing() -> None:
    text = form_html(G, "/records")
    assert not re.search(r"(?:src|href)=", text)
    assert "url(" not in text
    assert "http:" not in text
    assert "https:" not in text


def test_hidden_fields() -> None:
    text = form_html(G, "/records", hidden={"_g": '"><b>'})
    assert ("_g", "hidden", '"><b>') in Fields(text).controls
    with pytest.raises(ParameterError, match="the name of a question"):
        form_html(G, "/records", hidden={"age": "x"})


def test_the_policy_names_the_script_and_the_target_only() -> None:
    policy = content_policy("https://example.org:8443/records?x=1")
    assert policy.startswith("default-src 'none'; base-uri 'none'; style-src 'sha256-")
    assert policy.endswith("form-action https://example.org:8443; connect-src https://example.org:8443")
    assert content_policy("/records").endswith("form-action 'self'; connect-src 'self'")
    assert content_policy().endswith("form-action 'none'; connect-src 'none'")
    assert "unsafe" not in policy
    assert html.escape(policy).replace("&#x27;", "&#39;") in form_html(G, "https://example.org:8443/records?x=1")


@pytest.mark.parametrize(
    "action",
    [
        "javascript:alert(1)",
        "records",
        "//evil.test/x",
        "data:text/html,x",
        "/a b",
        '/a"b',
        "/a;b",
        "file:///etc",
        "",
    ],
)
def test_strange_actions_are_refused(action: str) -> None:
    with pytest.raises(ParameterError, match="action must be a path"):
        form_html(G, action)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b"])
def test_texts_that_a_form_would_change_are_refused(text: str) -> None:
    for attribute in (Attribute(text, values=("x", "y")), Attribute("a", values=(text, "y"))):
        with pytest.raises(ParameterError, match="cannot send texts with line breaks"):
            form_html(Generalization((Groups(attribute, (0, 1)),)))


def test_the_same_generalization_gives_the_same_bytes() -> None:
    assert form_html(G) == form_html(Generalization.from_json(G.to_json()))


def test_the_notice_comes_before_the_questions() -> None:
    notice = Notice("Example <Ltd>", "to help", "consent", 365, "privacy@example.org")
    page = form_html(G, "/records", notice=notice)
    head = page.split("<form", 1)[0]
    for text in ("Example &lt;Ltd&gt;", "to help", "consent", "365 days", "privacy@example.org"):
        assert text in head
    assert "Who asks" not in form_html(G, "/records", notice=Notice())
    with pytest.raises(ParameterError, match="keep_days"):
        Notice(keep_days=0)


def test_one_question_is_not_called_a_few() -> None:
    one = Generalization((Groups(Attribute("smokes", values=("no", "yes")), (0, 1)),))
    assert "<title>One question</title>" in form_html(one)
    assert "<title>Eine Frage</title>" in form_html(one, language="de")


def test_a_form_without_a_question_is_refused() -> None:
    with pytest.raises(ParameterError, match="must ask something, and here nothing is asked"):
        form_html(Generalization.suppressed(G.schema))
