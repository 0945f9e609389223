"""What the form says, and in which languages.

Our own sentences are their own keys: what a language does not have is said in English. ``assets/sentences.json``
brings German and French; a policy gives other languages, and the texts of its own questions in each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from leastwise.errors import ParameterError, shorten
from leastwise.exports.javascript import asset
from leastwise.generalization import Generalization
from leastwise.partition import Partition
from leastwise.schema import Attribute
from leastwise.schema.values import Say
from leastwise.validation import check_between, did_you_mean

ENGLISH = "en"
_NAMES = {"en": "English", "de": "Deutsch", "fr": "Français"}
_RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "yi")
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Notice:
    """What people must be told before they answer; what is empty is left out.

    Parameters
    ----------
    controller
        Who asks.
    purpose
        Why.
    legal_basis
        On what legal basis.
    keep_days
        For how many days the answers are kept.
    contact
        Whom to ask, and to complain to.
    """

    controller: str = ""
    purpose: str = ""
    legal_basis: str = ""
    keep_days: int | None = None
    contact: str = ""

    def __post_init__(self) -> None:
        if self.keep_days is not None:
            check_between("keep_days", self.keep_days, 1)

    def lines(self, say: Say = str) -> list[tuple[str, str]]:
        """Return each heading with its text, as the form shows them."""
        days = self.keep_days
        said = {
            "Who asks": self.controller,
            "Why": self.purpose,
            "Legal basis": self.legal_basis,
            "Kept for": "" if days is None else say("{} days; then the answers are erased").format(days),
            "Whom to ask": self.contact,
        }
        return [(say(heading), text) for heading, text in said.items() if text]


@dataclass(frozen=True)
class Translation:
    """The texts of a form in one language; what is left out is said as it is elsewhere.

    Parameters
    ----------
    name
        What the language calls itself; people choose by it.
    title, introduction
        Texts at the top.
    notice
        What people are told before they answer.
    questions, units
        By attribute.
    answers
        By attribute, what people read for a value of its domain, or for the name of a bucket.
    sentences
        By our English sentence, the same in this language; German and French are there already.
    """

    name: str = ""
    title: str = ""
    introduction: str = ""
    notice: Notice = field(default_factory=Notice)
    questions: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.notice.keep_days is not None:
            raise ParameterError("keep_days is the same in all languages; say it in the notice itself")
        known = _sentences()["de"]
        for sentence, text in self.sentences.items():
            if sentence not in known:
                raise ParameterError(
                    f"the form has no sentence {shorten(sentence)}; {did_you_mean(sentence, known)}"
                )
            places = sentence.count("{}")
            if text.count("{}") != places or set(text.replace("{}", "")) & set("{}"):
                raise ParameterError(f"{shorten(text)} must have {places} times {{}}, as {shorten(sentence)} has")

    def of_notice(self, notice: Notice) -> Notice:
        """Return a notice with the texts that this language has for it."""
        texts = {name: text for name, text in vars(self.notice).items() if text}
        return replace(notice, **texts)

    def of_partition(self, partition: Partition) -> Partition:
        """Return a partition whose attribute is called as people call it in this language."""
        return partition.of_attribute(self.of_attribute(partition.attribute))

    def of_attribute(self, attribute: Attribute) -> Attribute:
        """Return an attribute with the texts that this language has for it."""
        answers = self.answers.get(attribute.name, {})
        labels = tuple(answers.get(value, attribute.label_of(value)) for value in attribute.values)
        names = tuple(replace(each, name=answers.get(each.name, each.name)) for each in attribute.names)
        return replace(
            attribute,
            question=self.questions.get(attribute.name, attribute.question),
            unit=self.units.get(attribute.name, attribute.unit),
            labels=labels if answers else attribute.labels,
            names=names,
        )

    def check(self, generalization: Generalization) -> None:
        """Refuse texts for attributes and values that a generalization does not know; asked or not."""
        attributes = {p.attribute.name: p.attribute for p in generalization.partitions if not p.suppressed}
        attributes |= {label.name: label for label in generalization.schema.labels}
        known = [*generalization.schema.names, *attributes]
        for what, texts in (("question", self.questions), ("unit", self.units), ("answers", self.answers)):
            check_names(f"a translation has a text ({what})", texts, known)
        for name, texts in self.answers.items():
            if name in attributes:
                named = [each.name for each in attributes[name].names]
                known = [*attributes[name].values, *named]
                check_names(f"a translation has a text for a value of {name}", texts, known)


@dataclass(frozen=True)
class FormTexts:
    """How people are asked: the texts of the form, its languages, and which questions need no answer.

    Parameters
    ----------
    title, introduction
        Texts at the top.
    language
        The language of these, of the schema and of the notice.
    prefer_not_to_say
        The attributes for which that is an answer of its own. It is kept as a missing one.
    languages
        Further languages, by their tag (``de``, ``pt-BR``).
    """

    title: str = ""
    introduction: str = ""
    language: str = ENGLISH
    prefer_not_to_say: tuple[str, ...] = ()
    languages: Mapping[str, Translation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for tag in (self.language, *self.languages):
            if not _TAG.fullmatch(tag):
                raise ParameterError(f"a language must be a tag such as de or pt-BR; got {shorten(tag)}")

    @property
    def offered(self) -> dict[str, Translation]:
        """All languages, the form's own first."""
        return {self.language: Translation(), **self.languages}

    def speeches(self) -> dict[str, Speech]:
        """Return what says our own sentences, by language."""
        return {tag: Speech(tag, speaker(tag, translation)) for tag, translation in self.offered.items()}


def check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a name that is not known."""
    options = list(known)
    for name in names:
        if name not in options:
            raise ParameterError(f"{what} {shorten(name)}, which is not there; {did_you_mean(name, options)}")


@cache
def _sentences() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = json.loads(asset("sentences.json"))
    return texts


def sentences(language: str, translation: Translation | None = None) -> dict[str, str]:
    """Return our own sentences in a language, by the English ones; those that it does not have are left out."""
    ours = _sentences().get(_base(language), {})
    return {**ours, **(translation.sentences if translation else {})}


def speaker(language: str, translation: Translation | None = None) -> Say:
    """Return what says our own sentences in a language.

    >>> speaker("de")("Send my answers"), speaker("it")("Send my answers")
    ('Antworten senden', 'Send my answers')
    """
    known = sentences(language, translation)
    return lambda sentence: known.get(sentence, sentence)


@dataclass(frozen=True)
class Speech:
    """The language of a page, and what says our own sentences in it."""

    language: str = ENGLISH
    say: Say = str


def language_name(tag: str, translation: Translation | None = None) -> str:
    """Return what a language calls itself, its tag where nobody said so."""
    return (translation.name if translation else "") or _NAMES.get(_base(tag), tag)


def direction(tag: str) -> str:
    """Return in which direction a language is written."""
    return "rtl" if _base(tag) in _RIGHT_TO_LEFT else "ltr"


def _base(tag: str) -> str:
    return tag.partition("-")[0].lower()


def choose_language(asked: str, header: str, offered: Iterable[str]) -> str:
    """Return the language to answer in: that which is asked for, or what a browser likes best, or the first.

    >>> choose_language("", "it, fr-CH;q=0.9, de;q=0.95, en;q=0.5", ["en", "de", "fr"])
    'de'
    >>> choose_language("fr", "de", ["en", "de", "fr"]), choose_language("xx", "", ["en", "de"])
    ('fr', 'en')
    >>> choose_language("", "fr-CH; q=0.1, de; q=0.9", ["en", "de", "fr"])
    'de'
    """
    tags = list(offered)
    if asked in tags:
        return asked
    liked = ["".join(part.split()).partition(";q=") for part in header.split(",")[:20]]
    best = sorted(((_quality(quality), tag.strip()) for tag, _, quality in liked), key=lambda pair: -pair[0])
    for quality, tag in best:
        for fits in (str.lower, _base):
            fitting = [one for one in tags if fits(one) == fits(tag)]
            if fitting and quality > 0:
                return fitting[0]
    return tags[0]


def _quality(text: str) -> float:
    return float(text) if re.fullmatch(r"[01](\.[0-9]{1,3})?", text) else 1.0 if text == "" else 0.0


def plain_number(text: str, say: Say) -> str:
    """Return what a person typed as a plain number, read as its language writes numbers; form.js does the same.

    What is no number stays as it is.

    >>> [plain_number(text, str) for text in ("1,200", "45.5", "1.234,5", "1 200", "0,5", "12,34,56", "abc")]
    ['1200', '45.5', '1234.5', '1200', '0.5', '12,34,56', 'abc']
    >>> [plain_number(text, speaker("de")) for text in ("1.200", "45,5", "1,234.5", "45.5")]
    ['1200', '45.5', '1234.5', '45.5']
    """
    bare = re.sub(r"[\s'’]", "", text)
    if len(text) > 40 or not re.fullmatch(r"[+-]?[0-9][0-9.,]*", bare):
        return text
    both = "," in bare and "." in bare
    comma = bare.rindex(",") > bare.rindex(".") if both else say(".") == ","
    decimal, group = (",", ".") if comma else (".", ",")
    if re.fullmatch(rf"[+-]?[0-9]{{1,3}}([{group}][0-9]{{3}})+([{decimal}][0-9]+)?", bare):
        return bare.replace(group, "").replace(decimal, ".")
    return bare.replace(",", ".") if len(re.findall("[.,]", bare)) <= 1 else text
