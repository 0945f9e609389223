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
        good, refusals, extra = _ROUTES[method, path](service)
        words = {status: _WORDS[status] for status in (*refusals, 408, 413, 429)}
        refused = {status: {"description": text, **_content(_PROBLEM)} for status, text in words.items()}
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


def _content(schema: dict[str, Any], kind: str = JSON) -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


def _parameter(name: str, place: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema, "description": text}


def _which(service: Service, place: str, name: str = "generalization") -> dict[str, Any]:
    schema = {"enum": [form.generalization.fingerprint for form in service.formats]}
    return _parameter(name, place, schema, "The fingerprint of a generalization; the newest by default.")


def _page(service: Service) -> Any:
    return {200: {"description": "A page.", **_content(_TEXT, "text/html")}}, (), {"parameters": [_lang(service)]}


def _lang(service: Service) -> dict[str, Any]:
    languages = {"enum": list(service.settings.form.offered)}
    return _parameter("lang", "query", languages, "The language; otherwise the browser's, where it is there.")


def _docs(service: Service) -> Any:
    return {200: {"description": "A page.", **_content(_TEXT, "text/html")}}, (), {}


def _machines(service: Service) -> Any:
    return {200: {"description": "This document.", **_content({"type": "object"})}}, (), {}


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
    good = {200: {"description": "The model's answers.", **_content(either)}}
    return good, (400, 403, 409, 415, 422), {"requestBody": _bodies(service), "parameters": parameters}


def _export(service: Service) -> Any:
    kinds = {"content": {"application/x-ndjson": {"schema": _TEXT}, "text/csv": {"schema": _TEXT}}}
    parameters = [
        _parameter("format", "query", {"enum": ["ndjson", "csv"]}, "How the records are written."),
        _which(service, "query"),
    ]
    good = {200: {"description": "The records, streamed.", **kinds}}
    return good, (400, 401, 403, 409), {"parameters": parameters, "security": [{"token": []}]}


_STATUS = {"type": "object", "required": ["status"], "properties": {"status": _TEXT}}
_RECEIPT = {"parameters": [_parameter("receipt", "path", _TEXT, "What the sender of a record was given.")]}
_GOING = {"description": "Erased; its bytes are not gone from everywhere yet.", **_content(_STATUS)}


def _erase(service: Service) -> Any:
    stored = {"description": "Still stored; ask again.", **_content(_STATUS)}
    return (
        {204: {"description": "Erased, and its bytes are gone."}, 202: _GOING, 200: stored},
        (404, 503),
        _RECEIPT,
    )


def _stored(service: Service) -> Any:
    return {200: {"description": "It is stored.", **_content(_STATUS)}, 202: _GOING}, (404, 503), _RECEIPT


def _erase_by_form(service: Service) -> Any:
    form = {"type": "object", "required": ["receipt"], "properties": {"receipt": _TEXT}}
    page = _content(_TEXT, "text/html")
    good = {
        200: {"description": "Erased, and its bytes are gone.", **page},
        202: {"description": "Erased; its bytes are not gone from everywhere yet.", **page},
        404: {"description": "There is no such record.", **page},
    }
    return (
        good,
        (403, 415, 422, 503),
        {
            "requestBody": {"required": True, **_content(form, FORM)},
            "parameters": [_lang(service)],
        },
    )


def _schema(service: Service) -> Any:
    good = {200: {"description": "The JSON Schema.", **_content({"type": "object"})}}
    return good, (409,), {"parameters": [_which(service, "query")]}


def _health(service: Service) -> Any:
    return {200: {"description": "The process answers.", **_content(_STATUS)}}, (), {}


def _ready(service: Service) -> Any:
    return {200: {"description": "Records can be stored.", **_content(_STATUS)}}, (503,), {}


_ROUTES = {
    ("GET", "/"): _page,
    ("GET", "/docs"): _docs,
    ("GET", "/openapi.json"): _machines,
    ("POST", "/records"): _collect,
    ("GET", "/records"): _export,
    ("DELETE", "/records/{receipt}"): _erase,
    ("GET", "/records/{receipt}"): _stored,
    ("GET", "/erase"): _page,
    ("POST", "/erase"): _erase_by_form,
    ("GET", "/schema"): _schema,
    ("GET", "/health"): _health,
    ("GET", "/ready"): _ready,
    ("POST", "/predict"): _predict,
}
