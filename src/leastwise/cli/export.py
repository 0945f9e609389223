"""``leastwise export``: a generalization as SQL, JavaScript, JSON Schema, a form or a questionnaire."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Artefact, Force, app, grouped, load, put_to_use
from leastwise.cli.output import check_output
from leastwise.cli.task import names
from leastwise.documents import write_whole
from leastwise.errors import ParameterError
from leastwise.validation import check_choice

if TYPE_CHECKING:
    from leastwise.generalization import Generalization

# Which options mean something to which format.
MEANT = {
    "sql": ("answers", "label", "dialect", "table", "view", "unknown", "texts", "numbers", "keep"),
    "js": (),
    "json-schema": ("answers",),
    "form": ("label", "action", "helper", "title", "why", "policy", "language"),
    "questionnaire": ("label", "title", "why"),
    "code-book": (),
}


@dataclass(frozen=True)
class Form:
    """How it is written; each option says for which targets it is."""

    answers: Annotated[
        str | None, typer.Option("--answers", help="sql, json-schema: labels (for people; the default) or codes.")
    ] = None
    label: Annotated[
        bool,
        typer.Option("--label", help="sql, form, questionnaire: the label too, as the training phase needs it."),
    ] = False
    dialect: Annotated[
        str | None,
        typer.Option("--dialect", help="sql: duckdb (the default), postgresql, sqlite, bigquery or spark."),
    ] = None
    table: Annotated[str | None, typer.Option("--table", help="sql: the table of full records.")] = None
    view: Annotated[str | None, typer.Option("--view", help="sql: create a view of this name.")] = None
    unknown: Annotated[
        str | None,
        typer.Option(
            "--unknown", help="sql: error stops at a value outside the domain, even where 'other' is declared."
        ),
    ] = None
    texts: Annotated[
        list[str] | None,
        typer.Option("--texts", metavar="A,B", help="sql: continuous attributes whose column holds texts: a,b."),
    ] = None
    numbers: Annotated[
        list[str] | None,
        typer.Option("--numbers", metavar="A,B", help="sql: other attributes whose column holds numbers: a,b."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="A,B", help="sql: other columns that leave as they are: a,b."),
    ] = None
    action: Annotated[
        str | None,
        typer.Option("--action", help="form: where the answers are posted to; default: shown in the page."),
    ] = None
    helper: Annotated[
        bool, typer.Option("--helper", help="form: begin with the helper on, which finds buckets in the page.")
    ] = False
    title: Annotated[str | None, typer.Option("--title", help="form, questionnaire: the heading.")] = None
    why: Annotated[
        Path | None,
        typer.Option("--why", help="form, questionnaire: what leastwise necessity wrote, or the run that has it."),
    ] = None
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="form: a leastwise.yaml whose notice, texts and languages it has."),
    ] = None
    language: Annotated[
        str | None,
        typer.Option("--language", help="form: de, fr, or one of the policy; default: the policy's own."),
    ] = None


@app.command()
@grouped
def export(
    generalization: Artefact,
    form: Form,
    to: Annotated[str, typer.Option("--to", help="sql, js, json-schema, form, questionnaire or code-book.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; default: standard output.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a generalization as something that collects or applies it elsewhere.

    Examples:

    `leastwise export g.json --to sql --dialect postgresql --table people --view coarse`

    `leastwise export run/ --to form --action /records -o form.html`

    `leastwise export g.json --to js -o generalize.js`

    `leastwise export g.json --to json-schema -o record.schema.json`

    `leastwise export run/ --to questionnaire --why run/ -o questions.md`

    `leastwise export g.json --to code-book -o codes.csv`
    """
    check_choice("--to", to, MEANT)
    asked = load(generalization)
    declared = asked.schema.names
    lists = {
        "texts": names(form.texts, declared),
        "numbers": names(form.numbers, declared),
        "keep": names(form.keep, ()),
    }
    given = asdict(form) | lists | {"why": None if form.why is None else _reasons(form.why, asked)}
    chosen = {name: value for name, value in given.items() if value not in (None, False, [])}
    for name in chosen:
        if name not in MEANT[to]:
            kinds = [kind for kind, options in MEANT.items() if name in options]
            raise ParameterError(f"--{name} is for --to {' and '.join(kinds)}; it means nothing for {to}")
    check_output(output, force)
    text = _written(to, asked, chosen)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
        typer.echo(f"wrote {output}", err=True)
    put_to_use(generalization)


def _reasons(path: Path, asked: Generalization) -> dict[str, str]:
    """Return why each question is asked, as it was found for this artefact and no other."""
    from leastwise.evaluation import Necessity

    file = path / "necessity.json" if path.is_dir() else path
    necessity = Necessity.load(file)
    if necessity.fingerprint != asked.fingerprint:
        raise ParameterError(
            f"{file}: it tells of another generalization; ask for the necessity of this one: leastwise necessity"
        )
    return necessity.reasons()


def _as_agreed(path: Path, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a form with what a policy says of it, in the language that was chosen."""
    from leastwise.policy import Policy

    policy = Policy.load(path)
    texts, language = policy.form, chosen.get("language", policy.form.language)
    check_choice("--language", language, texts.offered)
    translation = texts.offered[language]
    return {
        "title": texts.title,
        "introduction": texts.introduction,
        "notice": policy.notice,
        "prefer_not_to_say": texts.prefer_not_to_say,
        "translation": replace(translation, title=chosen.get("title", translation.title)),
        "language": language,
        **chosen,
    }


def _written(to: str, asked: Generalization, chosen: dict[str, Any]) -> str:
    from leastwise import exports

    if "answers" in chosen:  # --output is a file on the command line
        chosen["output"] = chosen.pop("answers")
    if to == "sql":
        holds: dict[str, Any] = dict.fromkeys(chosen.pop("texts", ()), "text")
        holds |= dict.fromkeys(chosen.pop("numbers", ()), "number")
        return exports.to_sql(asked, **chosen, holds=holds)
    if to == "json-schema":
        check_choice("--answers", chosen.get("output", "labels"), ("labels", "codes"))
        return json.dumps(exports.record_schema(asked, **chosen), ensure_ascii=False, indent=1) + "\n"
    if "policy" in chosen:
        chosen = _as_agreed(chosen.pop("policy"), chosen)
    write: dict[str, Callable[..., str]] = {
        "js": exports.to_javascript,
        "form": exports.form_html,
        "questionnaire": exports.questionnaire,
        "code-book": exports.code_book,
    }
    return write[to](asked, **chosen)
