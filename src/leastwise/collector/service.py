"""What the collector answers, route by route."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from leastwise.collector.databases import ANSWER, SilentError, StoreError
from leastwise.collector.openapi import describe
from leastwise.collector.pages import docs_page, erase_page, receipt_page
from leastwise.collector.records import InvalidRecordsError, RecordFormat
from leastwise.collector.requests import (
    GENERALIZATION_FIELD,
    GENERALIZATION_HEADER,
    KEY_FIELD,
    LANGUAGE_FIELD,
    Asked,
    RefusedError,
    RequestReader,
    read_receipt,
    speech_of,
    wants_page,
)
from leastwise.collector.security import TOKEN_VARIABLE, Settings, log, page_policy, token_matches
from leastwise.collector.store import Store, Submission, today
from leastwise.collector.writer import Writer
from leastwise.errors import ParameterError
from leastwise.exports import form_html, record_schema
from leastwise.generalization import Generalization

if TYPE_CHECKING:
    import polars as pl

    from leastwise.models import Model

KEY_PLACE = "a-fresh-key-for-each-page"
TIDY = 5.0  # seconds between two times that the log is emptied: it tells the order of arrival until then
ERASING = 3.0  # seconds that an erasure waits for the log to be emptied


Result = TypeVar("Result")


class Service:
    """The answers of a collector; one method for each route."""

    def __init__(
        self, generalizations: Sequence[Generalization], store: Store, settings: Settings, model: Model | None
    ) -> None:
        self.formats = [RecordFormat(g, settings.with_label) for g in generalizations]
        self.newest = self.formats[-1].generalization
        self._store, self.settings = store, settings
        self._numbers = {g.fingerprint: store.register(g) for g in generalizations}
        self.reader = RequestReader(self.formats, settings.batch_limit, settings.form)
        self.writer = Writer(store, settings.waiting)
        self._clearing = asyncio.Lock()
        self.model = model
        self._speeches = settings.form.speeches()
        self._forms = {language: self._make_form(language) for language in self._speeches}
        self.routes: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "/", self.form),
            ("POST", "/records", self.collect),
            ("GET", "/records", self.export),
            ("DELETE", "/records/{receipt}", self.erase),
            ("GET", "/records/{receipt}", self.stored),
            ("GET", "/erase", self.erase_page),
            ("POST", "/erase", self.erase_by_form),
            ("GET", "/schema", self.schema),
            ("GET", "/health", self.health),
            ("GET", "/ready", self.ready),
            ("GET", "/docs", self.docs),
            ("GET", "/openapi.json", self.openapi),
        ]
        if model is not None:
            self.routes.append(("POST", "/predict", self.predict))
        self._document = describe(self, self.routes)

    def _make_form(self, language: str, **shown: Any) -> tuple[str, str]:
        """Return the form in a language, and its content security policy."""
        taken = {GENERALIZATION_FIELD, KEY_FIELD, LANGUAGE_FIELD} & {*self.newest.schema.names}
        if taken:
            raise ParameterError(f"an attribute must not be called {', '.join(sorted(taken))}; rename it")
        texts = self.settings.form
        html = form_html(
            self.newest,
            action="/records",
            title=texts.title,
            introduction=texts.introduction,
            label=self.settings.with_label,
            language=language,
            translation=texts.offered[language],
            languages=texts.offered,
            prefer_not_to_say=texts.prefer_not_to_say,
            hidden={GENERALIZATION_FIELD: self.newest.fingerprint, KEY_FIELD: KEY_PLACE, LANGUAGE_FIELD: language},
            notice=self.settings.notice,
            **shown,
        )
        return html, page_policy(html)

    async def form(self, request: Request) -> Response:
        """Show the form, in the language that ``lang`` or the browser asks for."""
        return _fresh(*self._forms[self.reader.speech(request).language])

    async def _form_again(self, request: Request, error: InvalidRecordsError) -> Response:
        """Show the form with the answers that were right; what was wrong is not repeated, be it a person's own."""
        wrong = {problem.field for problem in error.problems if problem.field is not None}
        right = getattr(request.state, "right", None)
        if right is None or not wrong or len(wrong) < len(error.problems):
            raise error
        again = partial(self._make_form, speech_of(request).language, answers=right, problems=wrong)
        return _fresh(*await run_in_threadpool(again), 422)

    async def collect(self, request: Request) -> Response:
        """Store one generalized record, or a list of them."""
        try:
            asked = await self.reader.read(request)
        except InvalidRecordsError as error:
            if wants_page(request):
                return await self._form_again(request, error)
            raise
        number = self._numbers[asked.format.generalization.fingerprint]
        stored = await self.writer.submit(Submission(number, asked.rows, asked.key, asked.body))
        said = await self._sentence(asked) if asked.form else None
        if asked.form and "text/html" in request.headers.get("accept", ""):
            return receipt_page(stored.receipts[0], said, stored.repeated, speech_of(request))
        content: dict[str, Any] = {"receipts": stored.receipts} if asked.batch else {"receipt": stored.receipts[0]}
        content |= {"prediction": said} if said is not None else {}
        content["generalization"] = asked.format.generalization.fingerprint
        return JSONResponse(content, 200 if stored.repeated else 201)

    async def _sentence(self, asked: Asked) -> str | None:
        if self.model is None or asked.format.generalization.fingerprint != self.model.fingerprint:
            return None
        [answer] = await self._predictions(asked)
        return str(answer["prediction"])

    async def predict(self, request: Request) -> Response:
        """Return the model's answer for one generalized record or a list of them; nothing is stored."""
        asked = await self.reader.read(request)
        assert self.model is not None
        if asked.format.generalization.fingerprint != self.model.fingerprint:
            raise RefusedError(409, f"the model was trained under generalization {self.model.fingerprint[:12]}")
        answers = await self._predictions(asked)
        return JSONResponse(answers if asked.batch else answers[0])

    async def _predictions(self, asked: Asked) -> list[dict[str, Any]]:
        assert self.model is not None
        frame = asked.format.frame([row.answers for row in asked.rows])
        predictions = await run_in_threadpool(self.model.predict, frame)
        return [_prediction(row) for row in predictions.iter_rows(named=True)]

    async def schema(self, request: Request) -> Response:
        """Return the JSON Schema of a record; ``generalization`` names another than the newest."""
        form = self.reader.format_of(request.query_params.get("generalization"))
        document = record_schema(form.generalization, label=form.label is not None)
        return JSONResponse(document, headers={GENERALIZATION_HEADER: form.generalization.fingerprint})

    async def health(self, _: Request) -> Response:
        """Say that the process answers, and which generalizations are accepted, the newest last."""
        fingerprints = [form.generalization.fingerprint for form in self.formats]
        predicts = self.model is not None
        return JSONResponse({"status": "ok", "generalizations": fingerprints, "predicts": predicts})

    async def ready(self, _: Request) -> Response:
        """Say whether records can be stored: one is, and taken out again."""
        await self._ask(self._store.check, self._numbers[self.newest.fingerprint])
        return JSONResponse({"status": "ok"})

    async def _ask(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Ask the store in a thread, and wait for as long as a client may be kept waiting."""
        try:
            async with asyncio.timeout(ANSWER):
                return await run_sync(function, *arguments, abandon_on_cancel=True)
        except TimeoutError:
            raise SilentError(f"the store was silent for {ANSWER} seconds") from None

    async def start(self) -> None:
        """Note the start in the audit log."""
        accepted = [form.generalization.fingerprint for form in self.formats]
        await self._ask(partial(self._store.note, "started", generalizations=accepted))

    async def tidy(self) -> None:
        """Empty the log of the store every few seconds, until cancelled."""
        expired = None
        while True:
            if expired != today():
                expired = await self._expire()
            await asyncio.sleep(TIDY)
            await self._forget()

    async def _expire(self) -> int | None:
        """Erase what is too old; return the day, None when it must be tried again."""
        day = today()
        try:
            await run_in_threadpool(self._store.expire, self.settings.keep_days)
        except (SQLAlchemyError, StoreError) as error:
            log.error("old records were not erased: %s", type(error).__name__)
            return None
        return day

    async def _forget(self) -> bool:
        try:
            return await self._ask(self._store.forget)
        except (SQLAlchemyError, StoreError) as error:
            log.error("the log of the database was not emptied: %s", type(error).__name__)
            return False

    async def close(self) -> None:
        """Store what was accepted, and leave no order of arrival."""
        await self.writer.close()
        try:
            await self._ask(self._store.note, "stopped")
        except (SQLAlchemyError, StoreError) as error:
            log.error("the stop was not noted: %s", type(error).__name__)
        await self._forget()

    async def export(self, request: Request) -> Response:
        """Stream the records of a generalization as NDJSON or CSV; a bearer token opens it."""
        self._check_token(request)
        kind = request.query_params.get("format", "ndjson")
        if kind not in _WRITERS:
            raise RefusedError(400, f"format must be one of {', '.join(_WRITERS)}")
        form = self.reader.format_of(request.query_params.get("generalization"))
        if self._store.sealed:
            raise RefusedError(409, "the records are sealed; read the database where the private key is")
        await self._ask(partial(self._store.note, "exported", generalization=form.generalization.fingerprint))
        write, media_type = _WRITERS[kind]
        headers = {GENERALIZATION_HEADER: form.generalization.fingerprint}
        header = form.frame([], [])  # where there are no records, what they would be called
        return StreamingResponse(
            write(chain([header], self._store.frames(form.generalization))), 200, headers, media_type
        )

    def _check_token(self, request: Request) -> None:
        token = self.settings.token
        if token is None:
            raise RefusedError(
                403, f"the export is closed; start the collector with {TOKEN_VARIABLE} set to open it"
            )
        if not token_matches(request.headers.get("authorization"), token):
            raise RefusedError(
                401, "send the header Authorization: Bearer <token>", {"www-authenticate": "Bearer"}
            )

    async def erase(self, request: Request) -> Response:
        """Erase the record that belongs to a receipt: 204 when its bytes are gone, 202 when they soon will be."""
        receipt = request.path_params["receipt"]
        if not await self._ask(self._store.erase, receipt):
            return await self.stored(request)
        if await self._gone():
            return Response(status_code=204)
        return JSONResponse({"status": self._store.remains}, 202, {"location": f"/records/{receipt}"})

    async def _gone(self) -> bool:
        """Wait a little for the bytes of what was erased to go; return whether they have."""
        if not self._store.forgets:
            return False
        end = time.monotonic() + ERASING
        async with self._clearing:  # one tries for all: each time writers have to wait a little
            while not await self._forget():
                if time.monotonic() > end:
                    return False
                await asyncio.sleep(0.1)
        return True

    async def erase_page(self, request: Request) -> Response:
        """Show a page on which a person enters a receipt, to have the record erased."""
        return erase_page(None, self.reader.speech(request))

    async def erase_by_form(self, request: Request) -> Response:
        """Erase the record of a receipt that a person entered, and say what became of it."""
        receipt, speech = await read_receipt(request), self.reader.speech(request)
        if not await self._ask(self._store.erase, receipt):
            return erase_page("There is no record of this receipt. It may have been erased already.", speech, 404)
        if await self._gone():
            return erase_page("Your record is erased. Nothing of it is left in the database.", speech)
        return erase_page(f"Your record is {self._store.remains}.", speech, 202)

    async def stored(self, request: Request) -> Response:
        """Say whether a receipt's record is stored; 202 while the bytes of erased ones still lie in the log."""
        if await self._ask(self._store.holds, request.path_params["receipt"]):
            return JSONResponse({"status": "stored"})
        if self._store.left:
            return JSONResponse({"status": self._store.remains}, 202)
        raise RefusedError(404, "no record belongs to this receipt; it may have been erased already")

    async def docs(self, _: Request) -> Response:
        """List what the service answers."""
        return docs_page(self._document)

    async def openapi(self, _: Request) -> Response:
        """List it for machines."""
        return JSONResponse(self._document)


def _fresh(html: str, policy: str, status: int = 200) -> Response:
    """Return a form with a key of its own: the same form sent twice is one record."""
    text = html.replace(KEY_PLACE, secrets.token_urlsafe(24))
    return HTMLResponse(text, status, {"content-security-policy": policy})


def _prediction(row: dict[str, Any]) -> dict[str, Any]:
    chances = {name.removeprefix("p:"): value for name, value in row.items() if name.startswith("p:")}
    return {"prediction": row["prediction"], **({"probabilities": chances} if chances else {})}


def _ndjson(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    for frame in frames:
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in frame.iter_rows(named=True))


def _csv(frames: Iterator[pl.DataFrame]) -> Iterator[str]:
    for number, frame in enumerate(frames):
        text = io.StringIO()
        writer = csv.writer(text)
        if number == 0:
            writer.writerow(frame.columns)
        writer.writerows(frame.iter_rows())
        yield text.getvalue()


_WRITERS: dict[str, tuple[Callable[[Iterator[pl.DataFrame]], Iterator[str]], str]] = {
    "ndjson": (_ndjson, "application/x-ndjson"),
    "csv": (_csv, "text/csv; charset=utf-8"),
}
