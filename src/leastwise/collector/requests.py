"""What a client asked for, read from its headers and body without ever quoting them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl

from starlette.requests import Request

from leastwise.collector.records import InvalidRecordsError, Problem, RecordFormat, Row, TooManyError, read_json
from leastwise.exports import FormTexts
from leastwise.exports.languages import Speech, choose_language, plain_number

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
GENERALIZATION_HEADER, KEY_HEADER = "leastwise-generalization", "idempotency-key"
# Fields of the form beside the attributes; a page without JavaScript cannot set headers.
GENERALIZATION_FIELD, KEY_FIELD = "leastwise-generalization", "leastwise-key"
LANGUAGE_FIELD = "leastwise-language"  # sent without JavaScript only: numbers are as the person typed them
SHORTEST_KEY, LONGEST_KEY = 16, 200
# Whoever guesses a key and its body gets the receipts: an address, and digits alone, are too easy.
_GUESSABLE = re.compile(r"@|^[\d\W_]*$")
SHORTEST_FINGERPRINT = 8
LARGEST_FORM = 100_000  # bytes: one record; what is percent-encoded takes long to read


class RefusedError(Exception):
    """A request that is answered with this status; the text holds nothing of the client's."""

    def __init__(self, status: int, problem: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.problem, self.headers = status, problem, dict(headers or {})
        super().__init__(problem)


@dataclass(frozen=True)
class Asked:
    """A request whose records were checked."""

    format: RecordFormat
    rows: Sequence[Row]
    batch: bool
    form: bool
    key: str | None
    body: bytes


class RequestReader:
    """Reads requests for the generalizations that a collector accepts, the newest last."""

    def __init__(self, formats: Sequence[RecordFormat], batch_limit: int, texts: FormTexts) -> None:
        self._formats = {form.generalization.fingerprint: form for form in formats}
        self.default = formats[-1]
        self._batch_limit = batch_limit
        self._speeches = texts.speeches()

    async def read(self, request: Request) -> Asked:
        """Return the records of a request, packed; nothing but generalized records passes."""
        _check_own_page(request)
        kind = _media_type(request)
        body = await request.body()
        if kind == FORM:
            return self._from_form(request, body)
        form = self.format_of(request.headers.get(GENERALIZATION_HEADER))
        try:
            content = read_json(body, self._batch_limit)
        except TooManyError:
            raise self._too_many() from None
        batch = isinstance(content, list)
        if batch:
            if not content:
                raise InvalidRecordsError([Problem(None, None, "a batch must hold at least one record")])
            if len(content) > self._batch_limit:
                raise self._too_many()
        rows = form.read_many(content) if batch else [form.read(content)]
        return Asked(form, rows, batch, False, _key(request.headers.get(KEY_HEADER)), _marked(form, body))

    def speech(self, request: Request) -> Speech:
        """Return the language that a person chose, or that the browser prefers."""
        chosen, liked = request.query_params.get("lang", ""), request.headers.get("accept-language", "")
        return self._speeches[choose_language(chosen, liked, self._speeches)]

    def _from_form(self, request: Request, body: bytes) -> Asked:
        if len(body) > LARGEST_FORM:
            raise RefusedError(413, f"a form may have {LARGEST_FORM:,} bytes")
        fields = _fields(body)
        speech = self._speeches.get(fields.pop(LANGUAGE_FIELD, ""))
        if speech is not None:
            request.state.speech = speech
        form = self.format_of(fields.pop(GENERALIZATION_FIELD, None) or request.headers.get(GENERALIZATION_HEADER))
        page_key = fields.pop(KEY_FIELD, None)  # a script may send several sets of answers from one page
        key = _key(request.headers.get(KEY_HEADER) or page_key)
        for label in form.generalization.schema.labels:
            if fields.get(label.name) == "":
                del fields[label.name]
        fields = form.typed(fields, partial(plain_number, say=speech.say) if speech else str)
        if speech is not None and form is self.default:
            request.state.right = form.right(fields)  # for the form that is shown again where something is wrong
        return Asked(form, [form.read(fields)], False, True, key, _marked(form, body))

    def _too_many(self) -> RefusedError:
        return RefusedError(413, f"a batch may have {self._batch_limit:,} records; send them in several")

    def format_of(self, fingerprint: str | None) -> RecordFormat:
        """Return the format of a fingerprint or its beginning, by default that of the newest generalization."""
        if fingerprint is None:
            return self.default
        exact = self._formats.get(fingerprint)
        if exact is not None:
            return exact
        matching = [form for name, form in self._formats.items() if name.startswith(fingerprint)]
        if len(matching) != 1 or len(fingerprint) < SHORTEST_FINGERPRINT:
            there = ", ".join(name[:12] for name in self._formats)
            raise RefusedError(409, f"records of this generalization are not accepted here; accepted are: {there}")
        return matching[0]


def wants_page(request: Request) -> bool:
    """Return whether a browser sent a form and waits for a page."""
    sent_form = request.headers.get("content-type", "").startswith(FORM)
    return sent_form and reads_pages(request)


def reads_pages(request: Request) -> bool:
    """Return whether a browser asks, not a program."""
    return "text/html" in request.headers.get("accept", "")


def speech_of(request: Request) -> Speech:
    """Return the language of the form that was sent, or that the browser prefers."""
    speech: Speech = getattr(request.state, "speech", None) or request.app.state.reader.speech(request)
    return speech


async def read_receipt(request: Request) -> str:
    """Return the receipt that a person entered, without the spaces that come with copying."""
    _check_own_page(request)
    if _media_type(request) != FORM:
        raise RefusedError(415, f"the body must be {FORM}")
    body = await request.body()
    fields = _fields(body) if len(body) <= LARGEST_FORM else {}
    return fields.get("receipt", "").strip()


def _media_type(request: Request) -> str:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if encoding != "identity" or kind not in (JSON, FORM):
        raise RefusedError(415, f"the body must be {JSON} or {FORM}, not compressed")
    return kind


def _check_own_page(request: Request) -> None:
    """Refuse what a page of another origin sent through somebody's browser, be it of the same site."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None:  # an old browser, or a program
        own = origin is None or origin.partition("://")[2] == request.headers.get("host")
    else:
        own = site in ("same-origin", "none")
    if not own:
        raise RefusedError(403, "this was sent by a page from elsewhere; use the form that is served here")


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=True, errors="strict",
                          max_num_fields=10_000)  # fmt: skip
    except ValueError:  # it quotes the body
        pairs = []
    fields = dict(pairs)
    if not pairs or len(fields) < len(pairs):
        raise InvalidRecordsError([Problem(None, None, "the form must be urlencoded UTF-8 with each field once")])
    return fields


def _key(key: str | None) -> str | None:
    if key is None:
        return None
    sized = SHORTEST_KEY <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
    if not sized or _GUESSABLE.search(key) or len({*key.lower()}) < SHORTEST_KEY // 2:
        raise RefusedError(
            400,
            f"an Idempotency-Key must be {SHORTEST_KEY} to {LONGEST_KEY} printable characters that nobody can "
            "guess, such as a random UUID: no address, no number",
        )
    return key


def _marked(form: RecordFormat, body: bytes) -> bytes:
    return form.generalization.fingerprint.encode() + body
