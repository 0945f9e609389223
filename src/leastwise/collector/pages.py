"""The pages that people see beside the form; no script, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, Template
from starlette.requests import Request
from starlette.responses import HTMLResponse

from leastwise.collector.records import Problem
from leastwise.collector.security import page_policy
from leastwise.exports.languages import Speech, direction

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
code { overflow-wrap: anywhere; } table { border-collapse: collapse; }
td, th { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; }
"""
_ENGLISH = Speech()
_ENVIRONMENT = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
_LAYOUT = """<!doctype html>
<html lang="{{ language }}" dir="{{ direction }}"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{ style|safe }}</style></head>
<body><main><h1>{{ title }}</h1>
%s
</main></body></html>
"""
_RECEIPT = _ENVIRONMENT.from_string(
    _LAYOUT
    % """
<p>{{ say("Your answers are stored. Only the coarse answers that the form showed were sent.") }}</p>
{% if prediction %}<p id="prediction">{{ say("The prediction:") }} <strong>{{ prediction }}</strong></p>{% endif %}
<p>{{ say("Your receipt, the only way to have your record erased later; nobody else holds it:") }}</p>
<p><code id="receipt">{{ receipt }}</code></p>
<p><a href="/erase?lang={{ language }}">{{ say("Erase a record") }}</a></p>
"""
)
_REFUSED = _ENVIRONMENT.from_string(
    _LAYOUT
    % """
{% if nothing_stored %}
<p>{{ say("Nothing was stored.") }}</p>
{% endif %}
<p id="why">{{ say(why) }}</p>
{% if fields %}
<p>{{ say("Please look at these again:") }} <strong>{{ fields|join(", ") }}</strong></p>
{% endif %}
<p><a href="/?lang={{ language }}">{{ say("Back to the form") }}</a></p>
"""
)
_ERASE = _ENVIRONMENT.from_string(
    _LAYOUT
    % """
{% if outcome %}<p id="outcome" role="status"><strong>{{ say(outcome) }}</strong></p>{% endif %}
<form method="post" action="/erase?lang={{ language }}" autocomplete="off">
<p><label for="receipt">{{ say("The receipt that you were given") }}</label></p>
<p><input id="receipt" name="receipt" size="30" maxlength="60" required spellcheck="false"></p>
<p><button type="submit">{{ say("Erase my record") }}</button></p>
</form>
<p>
{{ say("Who has no receipt any more cannot have a record erased: nothing in the database says whose it is.") }}
</p>
"""
)
_DOCS = _ENVIRONMENT.from_string(
    _LAYOUT
    % """
<p>The machine-readable description is <a href="/openapi.json">openapi.json</a>.</p>
<table><thead><tr><th>Request</th><th>What it does</th></tr></thead><tbody>
{% for method, path, text in routes %}<tr><td><code>{{ method }} {{ path }}</code></td><td>{{ text }}</td></tr>
{% endfor %}
</tbody></table>
"""
)


_UNSURE = "It is not sure that your answers were stored. Please send them again in a minute."
_NOT_ERASED = "It is not sure that your record was erased. Please try again in a minute."
# What a refusal means to a person; programs get the exact words.
_WHY = {
    403: "This was sent by a page from elsewhere. Please use the form that is shown here.",
    404: "There is nothing at this address.",
    405: "There is nothing at this address.",
    408: "It took too long to arrive. Please try again.",
    409: "The form has changed, or it was sent before with other answers. Please open it again.",
    413: "This is more than the form may send.",
    429: "Too much came from your network in a short time. Please try again in a minute.",
    500: _UNSURE,
    503: _UNSURE,
}
_MISFIT = "Some answers do not fit the form."
ANYWHERE = (404, 405, 408, 429, 500)  # what a browser may be told wherever it is


def page(html: str, status: int = 200) -> HTMLResponse:
    """Return a page that may run exactly what it brings itself."""
    return HTMLResponse(html, status, {"content-security-policy": page_policy(html)})


def _written(template: Template, title: str, speech: Speech = _ENGLISH, **facts: Any) -> str:
    said = {"say": speech.say, "language": speech.language, "direction": direction(speech.language)}
    return template.render(title=speech.say(title), style=_STYLE, **said, **facts)


def receipt_page(receipt: str, prediction: str | None, repeated: bool, speech: Speech) -> HTMLResponse:
    """Return the page after the form: the receipt, and the prediction if there is one."""
    html = _written(_RECEIPT, "Thank you", speech, receipt=receipt, prediction=prediction)
    return page(html, 200 if repeated else 201)


def refused_page(request: Request, status: int, problems: Sequence[Problem], speech: Speech) -> HTMLResponse:
    """Return the page for what was not right, in the language of the form that was filled in."""
    why = _WHY.get(status, _MISFIT)
    if request.url.path == "/erase":
        return erase_page(_NOT_ERASED if why is _UNSURE else why, speech, status)
    fields = [*dict.fromkeys(each.field for each in problems if each.field)]
    nothing = request.method == "POST" and why is not _UNSURE
    facts = {"nothing_stored": nothing, "why": why, "fields": fields}
    return page(_written(_REFUSED, "That did not work", speech, **facts), status)


def erase_page(outcome: str | None, speech: Speech, status: int = 200) -> HTMLResponse:
    """Return the page on which a person erases a record, and what became of it."""
    return page(_written(_ERASE, "Erase a record", speech, outcome=outcome), status)


def docs_page(document: dict[str, Any]) -> HTMLResponse:
    """Return a short listing of what the service answers."""
    routes = [
        (method.upper(), path, what.get("description", ""))
        for path, methods in document["paths"].items()
        for method, what in methods.items()
    ]
    return page(_written(_DOCS, document["info"]["title"], routes=routes))
