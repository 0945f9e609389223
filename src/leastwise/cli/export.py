"""``leastwise export``: a generalization as SQL, JavaScript, JSON Schema, a form or a questionnaire."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.options import Force
from leastwise.cli.output import check_output
from leastwise.cli.task import names
from leastwise.documents import write_whole
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.validation import check_choice

To = Annotated[str, typer.Option("--to", help="sql, js, json-schema, form or questionnaire.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write; default: standard output.")]
Answers = Annotated[
    str | None, typer.Option("--answers", help="sql, json-schema: labels (for people; the default) or codes.")
]
WithLabel = Annotated[
    bool, typer.Option("--label", help="sql, form, questionnaire: the label too, as the training phase needs it.")
]
Dialect = Annotated[
    str | None, typer.Option("--dialect", help="sql: duckdb (the default), postgresql, sqlite, bigquery or spark.")
]
Source = Annotated[str | None, typer.Option("--table", help="sql: the table of full records.")]
View = Annotated[str | None, typer.Option("--view", help="sql: create a view of this name.")]
UnknownValues = Annotated[
    str | None,
    typer.Option("--unknown", help="sql: a value outside the domain is an error, or goes to 'other' if declared."),
]
Texts = Annotated[
    list[str] | None, typer.Option("--texts", help="sql: continuous attributes whose column holds texts: a,b.")
]
Numbers = Annotated[
    list[str] | None, typer.Option("--numbers", help="sql: other attributes whose column holds numbers: a,b.")
]
Keep = Annotated[list[str] | None, typer.Option("--keep", help="sql: other columns that leave as they are: a,b.")]
Action = Annotated[
    str | None, typer.Option("--action", help="form: where the answers are posted to; default: shown in the page.")
]
Helper = Annotated[
    bool, typer.Option("--helper", help="form: begin with the helper on, which finds buckets in the page.")
]
Title = Annotated[str | None, typer.Option("--title", help="form, questionnaire: the heading.")]


@app.command()
def export(
    generalization: Artefact,
    to: To,
    output: Out = None,
    force: Force = False,
    answers: Answers = None,
    label: WithLabel = False,
    dialect: Dialect = None,
    table: Source = None,
    view: View = None,
    unknown: UnknownValues = None,
    texts: Texts = None,
    numbers: Numbers = None,
    keep: Keep = None,
    action: Action = None,
    helper: Helper = False,
    title: Title = None,
) -> None:
    """Write a generalization as something that collects or applies it elsewhere.

    Examples:

    `leastwise export g.json --to sql --dialect postgresql --table people --view coarse`

    `leastwise export run/ --to form --action /records -o form.html`

    `leastwise export g.json --to js -o generalize.js`

    `leastwise export g.json --to json-schema -o record.schema.json`

    `leastwise export g.json --to questionnaire -o questions.md`
    """
    check_choice("--to", to, WRITERS)
    found = load(generalization)
    declared = found.schema.names
    given: dict[str, Any] = {
        "answers": answers, "label": label, "dialect": dialect, "table": table, "view": view, "unknown": unknown,
        "texts": names(texts, declared), "numbers": names(numbers, declared), "keep": names(keep, ()),
        "action": action, "helper": helper, "title": title,
    }  # fmt: skip
    writer, meant = WRITERS[to]
    chosen = {name: value for name, value in given.items() if value not in (None, False, [])}
    _check_meant(to, chosen, meant)
    check_output(output, force)
    _write(writer(found, **chosen), output)


def _check_meant(to: str, chosen: dict[str, Any], meant: tuple[str, ...]) -> None:
    for name in chosen:
        if name not in meant:
            kinds = [kind for kind, (_, options) in WRITERS.items() if name in options]
            raise ParameterError(f"--{name} is for --to {' and '.join(kinds)}; it means nothing for {to}")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    typer.echo(f"wrote {output}", err=True)


def _sql(found: Generalization, **rest: Any) -> str:
    from leastwise.exports import to_sql
    from leastwise.exports.sql_cases import Holds

    kinds: dict[str, Holds] = dict.fromkeys(rest.pop("texts", ()), "text")
    kinds |= dict.fromkeys(rest.pop("numbers", ()), "number")
    return to_sql(found, **_renamed(rest), holds=kinds)


def _javascript(found: Generalization) -> str:
    from leastwise.exports import to_javascript

    return to_javascript(found)


def _json_schema(found: Generalization, **rest: Any) -> str:
    from leastwise.exports import record_schema

    check_choice("--answers", rest.get("answers", "labels"), ("labels", "codes"))
    return json.dumps(record_schema(found, **_renamed(rest)), ensure_ascii=False, indent=1) + "\n"


def _form(found: Generalization, **rest: Any) -> str:
    from leastwise.exports import form_html

    return form_html(found, **rest)


def _questionnaire(found: Generalization, **rest: Any) -> str:
    from leastwise.exports import questionnaire

    return questionnaire(found, **rest)


def _renamed(rest: dict[str, Any]) -> dict[str, Any]:
    """Say "output", which is a file on the command line, for the answers."""
    return {"output" if name == "answers" else name: value for name, value in rest.items()}


WRITERS: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "sql": (
        _sql,
        ("answers", "label", "dialect", "table", "view", "unknown", "texts", "numbers", "keep"),
    ),
    "js": (_javascript, ()),
    "json-schema": (_json_schema, ("answers",)),
    "form": (_form, ("label", "action", "helper", "title")),
    "questionnaire": (_questionnaire, ("label", "title")),
}
