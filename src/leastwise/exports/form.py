"""The form: one HTML file that asks buckets, works offline and without JavaScript, and sends nothing else.

In bucket mode each attribute is asked as its buckets, by plain HTML controls whose values are the labels of the
buckets; a browser without JavaScript posts them as they are (urlencoded). With JavaScript a person can turn on the
helper: an exact value is typed into a field that has no name, the page shows the bucket it becomes, and the field
is cleared. The page loads nothing and may talk to the form's action only; its content security policy says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from leastwise.documents.pages import hash_sources, script_json
from leastwise.errors import ParameterError, shorten
from leastwise.exports.javascript import asset, plan
from leastwise.exports.languages import ENGLISH, Notice, Translation, direction, language_name, sentences, speaker
from leastwise.exports.questionnaire import Question, label_question, questions
from leastwise.generalization import Generalization

TITLE, OF_ONE = "A few questions", "One question"
_NUMBER = r"\s*[+\-]?[0-9][0-9.,'’\s]*"  # what form.js and plain_number may read


def form_html(
    generalization: Generalization,
    action: str | None = None,
    *,
    helper: bool = False,
    title: str = "",
    introduction: str = "",
    label: bool = False,
    language: str = ENGLISH,
    translation: Translation | None = None,
    languages: Mapping[str, Translation] | None = None,
    prefer_not_to_say: Collection[str] = (),
    hidden: Mapping[str, str] | None = None,
    why: Mapping[str, str] | None = None,
    notice: Notice | None = None,
    answers: Mapping[str, str] | None = None,
    problems: Collection[str] = (),
) -> str:
    """Return the form as one HTML document.

    Parameters
    ----------
    generalization
        What is asked; suppressed attributes are not.
    action
        Where the answers are posted to, such as ``/records``; None shows them in the page and offers them as a
        JSON file.
    helper
        Whether the helper, which finds the bucket of an exact value in the page, is on from the start.
    title, introduction
        Texts at the top.
    label
        Whether the label is asked too, as the training phase needs it.
    language
        The language of the page: of our own sentences where we have them (English, German, French).
    translation
        Its texts in that language; what it leaves out is said as it is.
    languages
        All languages that the page is served in; it then links to itself with ``?lang=``.
    prefer_not_to_say
        The attributes for which that is an answer of its own; it is sent as a missing one.
    hidden
        Fields that are posted beside the answers, such as which generalization this is.
    why
        By attribute, why it is asked: see ``Necessity.reasons``.
    notice
        Who asks, why, on what legal basis, for how long, and whom to ask.
    answers, problems
        What was answered before, and the attributes whose answer was not accepted.
    """
    say, told = speaker(language, translation), translation or Translation()
    told.check(generalization)
    asked = questions(generalization, told, say, prefer_not_to_say)
    asked += [label_question(each, told) for each in generalization.schema.labels if label]
    _check_texts(asked)
    if not asked:
        raise ParameterError(
            "a form must ask something, and here nothing is asked; what is not asked is told to people by: "
            "leastwise export --to questionnaire"
        )
    taken = [question.name for question in asked if question.name in (hidden or {})]
    if taken:
        raise ParameterError(f"a hidden field must not have the name of a question; got {shorten(taken[0])}")
    text: str = _template().render(
        say=say,
        title=told.title or title or say(TITLE if len(asked) > 1 else OF_ONE),
        introduction=told.introduction or introduction,
        notice=told.of_notice(notice).lines(say) if notice else [],
        language=language,
        direction=direction(language),
        languages=[(tag, language_name(tag, each)) for tag, each in (languages or {}).items()],
        number=_NUMBER,
        answers=answers or {},
        problems=problems,
        action=_checked_action(action),
        helper=helper,
        hidden=hidden or {},
        why=why or {},
        questions=asked,
        coarse=all(question.typed for question in asked),
        not_asked=generalization.not_collected,
        policy=content_policy(action),
        style=asset("form.css"),
        script=_script(),
        plan=script_json(plan(generalization)),
        sentences=script_json(sentences(language, translation)),
    )
    return text


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("leastwise.exports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("form.html")


def _script() -> str:
    return f'(() => {{\n"use strict";\n{asset("apply.js")}\n{asset("form.js")}\n}})();'


def content_policy(action: str | None = None) -> str:
    """Return the form's content security policy; a service that serves the form can send it as a header, too.

    >>> content_policy("https://example.org/records").split("; ")[-1]
    'connect-src https://example.org'
    """
    target = _source(action)
    rules = {
        "default-src": "'none'",
        "base-uri": "'none'",
        "style-src": hash_sources([asset("form.css")]),
        "script-src": hash_sources([_script()]),
        "form-action": target,
        "connect-src": target,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _source(action: str | None) -> str:
    if action is None:
        return "'none'"
    parts = urlsplit(_checked_action(action) or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self'"


def _checked_action(action: str | None) -> str | None:
    """Return the action if it is a path or an http address; anything else could run or lead somewhere strange."""
    if action is None:
        return None
    parts = urlsplit(action)
    plain = action.isascii() and action.isprintable() and not set(action) & set(" ;,\"'\\<>`")
    local = not parts.scheme and not parts.netloc and action.startswith("/") and not action.startswith("//")
    if not plain or not (local or (parts.scheme in ("http", "https") and parts.netloc)):
        raise ParameterError(
            "action must be a path that begins with one slash or an http(s) address, without blanks and quotes; "
            f"got {shorten(action)}"
        )
    return action


def _check_texts(asked: list[Question]) -> None:
    """Refuse names and labels that a form would not send back as they are: HTML changes line breaks and NUL."""
    for question in asked:
        sent = [question.name, *(choice.value for choice in question.choices)]
        bad = next((text for text in sent if set(text) & set("\0\r\n")), None)
        if bad is not None:
            raise ParameterError(f"a form cannot send texts with line breaks or NUL; got {shorten(bad)}")
