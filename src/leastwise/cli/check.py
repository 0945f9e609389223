"""Is it still as agreed and promised? ``leastwise check`` asks new records, ``leastwise monitor`` collected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from leastwise.cli.app import Artefact, AsJson, Force, PolicyFile, SeedOrPolicy, Trust, app, grouped, load
from leastwise.cli.domains import tell_unweighted
from leastwise.cli.output import check_output, print_json, print_table, visible
from leastwise.cli.sources import (
    UNWEIGHTED,
    SourceOptions,
    engine_of,
    first_look,
    not_collected,
    refuse_person,
    source_of,
    stays,
)
from leastwise.cli.standing import ever_in_use, reasons_to_reopen
from leastwise.cli.task import Missing, SurveyWeights, Task, policy_of
from leastwise.cli.train import read_answers
from leastwise.documents import write_whole
from leastwise.documents.wording import listed
from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.progress import Lines

if TYPE_CHECKING:
    import polars as pl

    from leastwise.checks import Check, Promise
    from leastwise.checks.use import NewRecords
    from leastwise.generalization import Generalization
    from leastwise.policy import Policy
    from leastwise.records.sources import Source


POLICY_FILE = "leastwise.yaml"
BROKEN = 1  # the exit code, for CI and cron
SUFFIXES = (".html", ".md", ".json")
LONG = 12  # rows; of a longer table only what is not fine is printed
Report = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report here: .html, .md or .json.")]


@dataclass(frozen=True)
class Against:
    """What is checked, and held against what; what is said here goes before the policy."""

    data: Annotated[
        str | None,
        typer.Option(
            "--data", "-d", help="New records (CSV, Parquet, NDJSON; - is stdin). Default: the policy's."
        ),
    ] = None
    generalization: Annotated[
        Path | None,
        typer.Option("--generalization", "-g", help="The generalization, or a run; default: the policy's."),
    ] = None
    promise: Annotated[
        Path | None, typer.Option("--promise", help="What the sample promised; default: the policy's.")
    ] = None
    previous: Annotated[
        list[Path] | None,
        typer.Option(
            "--previous", metavar="FILE", help="A generalization of the same people that leaked. Can be repeated."
        ),
    ] = None
    write_promise: Annotated[
        Path | None,
        typer.Option("--write-promise", help="Write here what these records promise, for later checks."),
    ] = None
    missing: Missing = None
    survey_weights: SurveyWeights = None
    seed: SeedOrPolicy = None
    quick: Annotated[
        bool | None, typer.Option("--quick/--full", help="Train less, for a first look. Default: the policy's.")
    ] = None


@app.command()
@grouped
def check(
    given: Against,
    at: SourceOptions,
    policy: Annotated[
        Path | None, typer.Argument(help=f"The policy; default: {POLICY_FILE}, if it is there.")
    ] = None,
    output: Report = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Judge the chosen generalization again; exit with 1 and the reason when a budget is broken.

    Held against the new records: the budgets of the policy, and what the sample promised (bucket use, label rate,
    the model's error, A1, values outside the domain). Noise does not alarm: see `drift` in the policy.
    A decision that the policy names must stand: fingerprints, signature, policy and date. What was in use
    before is attacked together with what is in use now (A6).
    Exit code 0: fine, 1: broken, 2: a mistake in the command or its files.

    Examples:

    `leastwise check --write-promise promise.json` (on the sample, once)

    `leastwise check --data new.csv -o check.html` (from then on, by cron or CI)

    `leastwise check --data new.csv -g new.json --previous old.json` (before a re-release)
    """
    from leastwise.checks import Promise
    from leastwise.checks import check as judge

    check_output(output, force, SUFFIXES)
    check_output(given.write_promise, force, (".json",))
    agreed = _agreed(policy, given)
    at = at.or_of(agreed, given.data)
    chosen = _chosen(agreed)
    project = (policy or Path(POLICY_FILE)).parent
    earlier = [load(path) for path in (given.previous or agreed.previous)]
    earlier += [each for each in ever_in_use(agreed, project, chosen) if each not in earlier]
    if agreed.task.data is None and agreed.decision is not None:
        alone = replace(_nothing_checked(chosen), reopened=reasons_to_reopen(agreed, chosen, None, None))
        hand_over(alone, f"Check of {agreed.decision}", output, as_json)
        return
    promised = _promised(agreed, given.promise, given.write_promise, given.generalization is not None)
    if agreed.task.data is None:
        raise ParameterError("name the records: data in the policy, or --data new.csv")
    tell_unweighted(agreed.generalization or Path(), agreed.task.survey_weights)
    progress = Lines("judging: ")
    with _new_records(given.data or str(agreed.task.data), agreed, at, [chosen, *earlier], progress) as new:
        records, source, frame = new
        outcome = judge(
            chosen,
            records,
            budget=agreed.budget,
            promise=promised,
            limits=agreed.drift,
            previous=earlier,
            seed=agreed.seed,
            quick=agreed.quick,
            held_out=given.data is not None,
            groups=agreed.groups,
            progress=progress,
            source=source,
        )
    sample = frame if given.data is None else None
    outcome = replace(outcome, reopened=reasons_to_reopen(agreed, chosen, sample, outcome))
    if given.write_promise is not None:
        assert outcome.evaluation is not None
        test = records.table.split(outcome.evaluation.seed).test
        save_promise(Promise.of(chosen, test, outcome.evaluation), given.write_promise)
    hand_over(outcome, f"Check of {agreed.generalization}", output, as_json)


def _nothing_checked(chosen: Generalization) -> Check:
    """Return the check of no records: the decision alone is looked at."""
    from leastwise.checks import Check, DriftLimits

    return Check(generalization=chosen, limits=DriftLimits(), comparisons=(), evaluation=None, people=0)


class _New(NamedTuple):
    """New records: themselves or a sample of them, where they lie, and as they were read."""

    records: NewRecords
    source: Source | None
    frame: pl.DataFrame | None


@contextmanager
def _new_records(
    address: str, agreed: Policy, at: SourceOptions, several: Sequence[Generalization], progress: Lines
) -> Iterator[_New]:
    """Give the new records: read here, or a sample of them where they stay."""
    from leastwise.checks import read_new
    from leastwise.checks.use import NewRecords
    from leastwise.cli.domains import declared_for, known_schema, person_of
    from leastwise.records.files import read_frame
    from leastwise.records.sources import SAMPLE

    if not stays(address, at):
        frame = read_frame(address, agreed.task.missing)
        assert agreed.generalization is not None  # or nothing would have been chosen
        schema = known_schema(several, frame, declared_for(agreed.generalization))
        person = person_of(agreed.generalization, agreed.task.person, frame.columns)
        if person is not None and person not in frame.columns:
            typer.echo(
                f"the records have no column {shorten(person)}: each of them is taken for a person", err=True
            )
            person = None
        yield _New(read_new(frame, schema, agreed.task.survey_weights, person), None, frame)
        return
    if agreed.task.survey_weights is not None:
        raise ParameterError(UNWEIGHTED)
    with _new_source(address, agreed, at, several, progress) as source:
        source.check_key()
        yield _New(NewRecords(source.sample(at.sample or SAMPLE), len(source)), source, None)


@contextmanager
def _new_source(
    address: str, agreed: Policy, at: SourceOptions, several: Sequence[Generalization], progress: Lines
) -> Iterator[Source]:
    """Give the new records where they lie."""
    from leastwise.cli.domains import known_schema

    if at.explain:
        raise ParameterError("check asks what evaluate asks: see leastwise evaluate --explain")
    task = Task(data=address, missing=list(agreed.task.missing), person=agreed.task.person)
    refuse_person(task)
    with engine_of(task.data, at) as engine:
        frame = first_look(task, at, engine, agreed.seed, progress)
        schema = known_schema(several, frame)
        yield source_of(task, at, engine, agreed.seed, progress, schema, not_collected(several))


def _agreed(path: Path | None, given: Against) -> Policy:
    """Return the policy, with what the command line says instead."""
    from leastwise.policy import Policy

    absent = path is None and not Path(POLICY_FILE).exists()
    if absent and (given.data is None or given.generalization is None):
        raise ParameterError(
            f"there is no {POLICY_FILE} here; give --data and --generalization, or write one with: leastwise init"
        )
    agreed = Policy() if absent else Policy.load(path or POLICY_FILE)
    task = agreed.task if given.data is None else replace(agreed.task, data=Path(given.data))
    task = task if given.missing is None else replace(task, missing=tuple(given.missing))
    task = task if given.survey_weights is None else replace(task, survey_weights=given.survey_weights)
    return replace(
        agreed,
        task=task,
        generalization=given.generalization or agreed.generalization,
        seed=agreed.seed if given.seed is None else given.seed,
        quick=agreed.quick if given.quick is None else given.quick,
    )


def _chosen(agreed: Policy) -> Generalization:
    from leastwise.schema.labels import label_names

    if agreed.generalization is None:
        raise ParameterError("name what was chosen: generalization in the policy, or --generalization g.json")
    chosen = load(agreed.generalization)
    label = None if chosen.label is None else chosen.label.name
    named = label_names(agreed.task.label)
    if named and {*named} != {each.name for each in chosen.schema.labels}:
        raise SchemaError(
            f"the policy says label {shorten(listed(named))}, {agreed.generalization} says {shorten(label)}; "
            "they must agree"
        )
    personal = agreed.task.personal
    if personal is not None and set(personal) != set(chosen.schema.personal):
        marked = ", ".join(chosen.schema.personal) or "none"
        raise SchemaError(
            f"the policy says personal: {', '.join(personal) or 'none'}; {agreed.generalization} marks {marked}; "
            "they must agree"
        )
    return chosen


def _promised(agreed: Policy, given: Path | None, written: Path | None, another: bool) -> Promise | None:
    from leastwise.checks import Promise

    if given is not None:
        return Promise.load(given)
    # The policy's promise is of the policy's generalization, and may be about to be written for the first time.
    return None if agreed.promise is None or another or written is not None else Promise.load(agreed.promise)


def save_promise(promise: Promise, path: Path) -> None:
    """Write a promise, and say what is in it."""
    promise.save(path)
    typer.echo(f"wrote {path}: statistics of the records, rounded; keep it where those may be kept", err=True)


@app.command()
@grouped
def monitor(
    generalization: Artefact,
    at: SourceOptions,
    records: Annotated[
        str | None,
        typer.Argument(
            help="Generalized records: CSV, Parquet, NDJSON, the collector's database; big/*.parquet, duckdb:..."
        ),
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", help="The collector's database: sqlite:///records.db, postgresql://...")
    ] = None,
    promise: Annotated[
        Path, typer.Option("--promise", help="What the sample promised (leastwise check --write-promise).")
    ] = Path("promise.json"),
    model: Annotated[
        Path | None, typer.Option("--model", help="The model in use (.skops): its error where labels arrived.")
    ] = None,
    trust: Trust = None,
    policy: PolicyFile = None,
    survey_weights: SurveyWeights = None,
    codes: Annotated[
        bool, typer.Option("--codes", help="The file holds the numbers of the buckets, not their labels.")
    ] = False,
    output: Report = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare what was collected with what the sample promised; exit with 1 when it drifted.

    Bucket use, label rate, the model's error where labels arrived, people who are alone with their record (A8).
    Exit code 0: fine, 1: broken, 2: a mistake in the command or its files.

    Examples:

    `leastwise monitor g.json --db sqlite:///records.db --promise promise.json -o monitor.html`

    `leastwise monitor g.json coarse.parquet --promise promise.json --model model.skops`
    """
    from leastwise.checks import Promise
    from leastwise.checks import monitor as compare
    from leastwise.policy import Policy

    check_output(output, force, SUFFIXES)
    if not promise.is_file():
        raise ParameterError(f"{promise}: there is no such file; leastwise check --write-promise makes one")
    chosen, promised, agreed = load(generalization), Promise.load(promise), policy_of(policy) or Policy()
    promised.check_fits(chosen)
    tell_unweighted(generalization, survey_weights)
    used = None
    if model is not None:
        from leastwise.models import load_model

        used = load_model(model, trust or ())
        used.check_fits(chosen)
    collected, counts = _collected(chosen, records, db, at)
    outcome = compare(
        chosen,
        collected,
        promised,
        budget=agreed.budget,
        limits=agreed.drift,
        model=used,
        codes=codes,
        counts=counts,
        survey_weights=survey_weights,
    )
    hand_over(outcome, f"Monitor of {generalization}", output, as_json)


def _collected(
    chosen: Generalization, records: str | None, db: str | None, at: SourceOptions
) -> tuple[pl.DataFrame, pl.Series | None]:
    """Return the generalized records; with how many people have each, where they are counted instead of read."""
    if records is not None and db is None:
        return read_answers(chosen, records, at, labels=[each.name for each in chosen.schema.labels])
    if records is not None or db is None:
        raise ParameterError("name the records once: a file of generalized records, or --db and the collector's")
    from leastwise.collector import count_records

    return count_records(db, chosen.fingerprint)


def hand_over(outcome: Check, title: str, output: Path | None, as_json: bool) -> None:
    """Write and print what was found; a broken check exits with 1."""
    from leastwise.checks import check_facts

    facts = check_facts(outcome, title)
    if output is not None:
        write_whole(output, _rendered(facts, output.suffix.lower()))
    if as_json:
        print_json(facts)
    else:
        _show(facts)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)
    if outcome.broken:
        raise typer.Exit(BROKEN)


def _rendered(facts: dict[str, Any], suffix: str) -> str:
    from leastwise.checks import facts_as_markdown

    if suffix == ".json":
        return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if suffix == ".md":
        return facts_as_markdown(facts)
    from leastwise.report import render_check

    return render_check(facts)


def _show(facts: dict[str, Any]) -> None:
    """Print the facts for people: the verdict last, where it is read."""
    from leastwise.checks.facts import paragraphs

    for section in facts["sections"][:-1]:
        if section["table"] is not None:
            _show_table(section)
    for sentence in paragraphs(facts["sections"][0]):
        typer.echo(visible(sentence))
    good = facts["verdict"] == "fine"
    typer.secho(f"{visible(facts['title'])}: {facts['verdict']}", fg=None if good else typer.colors.RED)
    for reason in facts["reasons"]:
        typer.echo(f"  - {visible(reason)}")


def _show_table(section: dict[str, Any]) -> None:
    columns, rows = section["table"]["columns"], section["table"]["rows"]
    shown = rows if len(rows) <= LONG else [row for row in rows if row[-1] != "fine"]
    if shown:
        print_table(section["title"], columns, shown, columns[1:-1])
        typer.echo("")
    if len(shown) < len(rows):
        typer.echo(
            f"{section['title']}: {len(rows) - len(shown)} {'more ' if shown else ''}questions, all fine.\n"
        )
