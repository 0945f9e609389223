"""What the OpenAPI document says about each route."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from leastwise import __version__
from leastwise.collector.requests import FORM, GENERALIZATION_HEADER, JSON, KEY_HEADER, LONGEST_KEY, SHORTEST_KEY
from leastwise.exports import record_schema

if TYPE_CHECKING:
    from leastwise.collector.service import Service

_TEXT = {"type": "string"}
_PROBLEM = {
    "type": "object",
    "required": ["problem"],
    "properties": {
        "problem": _TEXT,
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["record", "field", "problem"],
                "properties": {
                    "record": {"type": ["integer", "null"]},
                    "field": {"type": ["string", "null"]},
                    "problem": _TEXT,
                },
            },
        },
    },
}
_WORDS = {
    400: "The Idempotency-Key or a parameter cannot be used.",
    401: "The token is missing or wrong.",
    403: "The export is closed, or a form came from another site.",
    404: "No record belongs to this receipt.",
    408: "The request took too long to arrive.",
    409: "The key came with another body, or the generalization is not accepted here.",
    413: "Too many bytes or records.",
    415: "Neither JSON nor a form, or compressed.",
    422: "Not generalized records: each field that is wrong is named, no value is repeated.",
    429: "Too many requests from this address.",
    503: "The store is busy or does not answer.",
}


def describe(service: Service, routes: Sequence[tuple[str, str, Callable[..., Any]]]) -> dict[str, Any]:
    """Return the OpenAPI document of some routes: method, path and who answers."""
    paths: dict[str, dict[str, Any]] = {}
    for method, path, endpoint in routes:
        told = _ROUTES[method, path]
        good, refusals, extra = told(service) if callable(told) else told
        words = {status: _WORDS[status] for status in (*refusals, 408, 413, 429)}
        refused = {status: _answer(text, _PROBLEM) for status, text in words.items()}
        paths.setdefault(path, {})[method.lower()] = {
            "operationId": endpoint.__name__,
            "description": inspect.getdoc(endpoint),
            "responses": {str(status): each for status, each in (refused | good).items()},
            **extra,
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "leastwise collector", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _answer(text: str, schema: dict[str, Any], *kinds: str) -> dict[str, Any]:
    return {"description": text, "content": {kind: {"schema": schema} for kind in kinds or (JSON,)}}


def _parameter(name: str, place: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema, "description": text}


def _which(service: Service, place: str, name: str = "generalization") -> dict[str, Any]:
    schema = {"enum": [form.generalization.fingerprint for form in service.formats]}
    return _parameter(name, place, schema, "The fingerprint of a generalization; the newest by default.")


def _page(service: Service) -> Any:
    return {200: _answer("A page.", _TEXT, "text/html")}, (), {"parameters": [_lang(service)]}


def _lang(service: Service) -> dict[str, Any]:
    languages = {"enum": list(service.settings.form.offered)}
    return _parameter("lang", "query", languages, "The language; otherwise the browser's, where it is there.")


def _bodies(service: Service) -> dict[str, Any]:
    known = [record_schema(form.generalization, label=form.label is not None) for form in service.formats]
    for schema in known:
        del schema["$schema"]
    record = known[0] if len(known) == 1 else {"anyOf": known}
    limit = service.settings.batch_limit
    either = {"anyOf": [record, {"type": "array", "items": record, "minItems": 1, "maxItems": limit}]}
    return {"required": True, "content": {JSON: {"schema": either}, FORM: {"schema": record}}}


def _collect(service: Service) -> Any:
    key = {"type": "string", "minLength": SHORTEST_KEY, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"}
    receipt = {
        "type": "object",
        "required": ["generalization"],
        "properties": {
            "generalization": _TEXT,
            "receipt": _TEXT,
            "prediction": _TEXT,
            "receipts": {"type": "array", "items": _TEXT},
        },
    }
    content = {"content": {JSON: {"schema": receipt}, "text/html": {"schema": _TEXT}}}
    parameters = [
        _which(service, "header", GENERALIZATION_HEADER),
        _parameter(KEY_HEADER, "header", key, "Unguessable; a request repeated with it is stored once."),
    ]
    good = {
        201: {"description": "Stored, and on disk.", **content},
        200: {"description": "Stored before, by the same request.", **content},
    }
    return good, (400, 403, 409, 415, 422, 503), {"requestBody": _bodies(service), "parameters": parameters}


def _predict(service: Service) -> Any:
    answer = {
        "type": "object",
        "required": ["prediction"],
        "properties": {
            "prediction": _TEXT,
            "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
        },
    }
    either = {"anyOf": [answer, {"type": "array", "items": answer}]}
    parameters = [_which(service, "header", GENERALIZATION_HEADER)]
    good = {200: _answer("The model's answers.", either)}
    return good, (400, 403, 409, 415, 422), {"requestBody": _bodies(service), "parameters": parameters}


def _export(service: Service) -> Any:
    parameters = [
        _parameter("format", "query", {"enum": ["ndjson", "csv"]}, "How the records are written."),
        _which(service, "query"),
    ]
    good = {200: _answer("The records, streamed.", _TEXT, "application/x-ndjson", "text/csv")}
    return good, (400, 401, 403, 409), {"parameters": parameters, "security": [{"token": []}]}


_STATUS = {"type": "object", "required": ["status"], "properties": {"status": _TEXT}}
_RECEIPT = {"parameters": [_parameter("receipt", "path", _TEXT, "What the sender of a record was given.")]}
_GONE, _GOING = "Erased, and its bytes are gone.", "Erased; its bytes are not gone from everywhere yet."
_STORED = {200: _answer("It is stored.", _STATUS), 202: _answer(_GOING, _STATUS)}


def _erase_by_form(service: Service) -> Any:
    form = {"type": "object", "required": ["receipt"], "properties": {"receipt": _TEXT}}
    words = {200: _GONE, 202: _GOING, 404: "There is no such record."}
    good = {status: _answer(text, _TEXT, "text/html") for status, text in words.items()}
    body = {"required": True, "content": {FORM: {"schema": form}}}
    return good, (403, 415, 422, 503), {"requestBody": body, "parameters": [_lang(service)]}


def _schema(service: Service) -> Any:
    parameters = [_which(service, "query")]
    return {200: _answer("The JSON Schema.", {"type": "object"})}, (409,), {"parameters": parameters}


# Of each route what it answers, which refusals it has, and what else the document says; of some it depends on the
# service.
_ROUTES: dict[tuple[str, str], Any] = {
    ("GET", "/"): _page,
    ("GET", "/docs"): ({200: _answer("A page.", _TEXT, "text/html")}, (), {}),
    ("GET", "/openapi.json"): ({200: _answer("This document.", {"type": "object"})}, (), {}),
    ("POST", "/records"): _collect,
    ("GET", "/records"): _export,
    ("DELETE", "/records/{receipt}"): (
        {**_STORED, 204: {"description": _GONE}, 200: _answer("Still stored; ask again.", _STATUS)},
        (404, 503),
        _RECEIPT,
    ),
    ("GET", "/records/{receipt}"): (_STORED, (404, 503), _RECEIPT),
    ("GET", "/erase"): _page,
    ("POST", "/erase"): _erase_by_form,
    ("GET", "/schema"): _schema,
    ("GET", "/health"): ({200: _answer("The process answers.", _STATUS)}, (), {}),
    ("GET", "/ready"): ({200: _answer("Records can be stored.", _STATUS)}, (503,), {}),
    ("POST", "/predict"): _predict,
}
