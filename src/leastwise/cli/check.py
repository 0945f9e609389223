"""``leastwise check``: is the chosen generalization still what was agreed and promised, on new data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import load
from leastwise.cli.checked import SUFFIXES, Report, hand_over
from leastwise.cli.options import AsJson, Force, SeedOrPolicy
from leastwise.cli.output import check_output
from leastwise.cli.progress import say
from leastwise.cli.task import Missing
from leastwise.errors import ParameterError, SchemaError, shorten

if TYPE_CHECKING:
    from leastwise.checks import Check, NewRecords, Promise
    from leastwise.generalization import Generalization
    from leastwise.policy import Policy

POLICY_FILE = "leastwise.yaml"


@app.command()
def check(
    policy: Annotated[
        Path | None, typer.Argument(help=f"The policy; default: {POLICY_FILE}, if it is there.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", "-d", help="New records (CSV, Parquet, NDJSON; - is stdin). Default: the policy's."
        ),
    ] = None,
    generalization: Annotated[
        Path | None,
        typer.Option("--generalization", "-g", help="The generalization, or a run; default: the policy's."),
    ] = None,
    promise: Annotated[
        Path | None, typer.Option("--promise", help="What the sample promised; default: the policy's.")
    ] = None,
    previous: Annotated[
        list[Path] | None,
        typer.Option("--previous", help="A generalization of the same people that leaked. Can be repeated."),
    ] = None,
    write_promise: Annotated[
        Path | None,
        typer.Option("--write-promise", help="Write here what these records promise, for later checks."),
    ] = None,
    missing: Missing = None,
    seed: SeedOrPolicy = None,
    quick: Annotated[
        bool | None, typer.Option("--quick/--full", help="Train less, for a first look. Default: the policy's.")
    ] = None,
    output: Report = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Judge the chosen generalization again; exit with 1 and the reason when a budget is broken.

    Held against the new records: the budgets of the policy, and what the sample promised (bucket use, label rate,
    the model's error, A1, values outside the domain). Noise does not alarm: see `drift` in the policy.
    Exit code 0: fine, 1: broken, 2: a mistake in the command or its files.

    Examples:

    `leastwise check --write-promise promise.json` (on the sample, once)

    `leastwise check --data new.csv -o check.html` (from then on, by cron or CI)

    `leastwise check --data new.csv -g new.json --previous old.json` (before a re-release)
    """
    from leastwise.checks import check as judge

    check_output(output, force, SUFFIXES)
    check_output(write_promise, force, (".json",))
    agreed = _agreed(policy, data, generalization, missing, seed, quick)
    chosen = _chosen(agreed)
    earlier = [load(path) for path in (previous or agreed.previous)]
    promised = _promised(agreed, promise, write_promise, generalization is not None)
    records = _records(agreed, chosen)
    found = judge(
        chosen,
        records,
        budget=agreed.budget,
        promise=promised,
        limits=agreed.drift,
        previous=earlier,
        seed=agreed.seed,
        quick=agreed.quick,
        held_out=data is not None,
        progress=say("judging"),
    )
    if write_promise is not None:
        _write(write_promise, chosen, records, found)
    hand_over(found, f"Check of {agreed.generalization}", output, as_json)


def _agreed(
    path: Path | None,
    data: str | None,
    generalization: Path | None,
    missing: Sequence[str] | None,
    seed: int | None,
    quick: bool | None,
) -> Policy:
    """Return the policy, with what the command line says instead."""
    from leastwise.policy import Policy

    absent = path is None and not Path(POLICY_FILE).exists()
    if absent and (data is None or generalization is None):
        raise ParameterError(
            f"there is no {POLICY_FILE} here; give --data and --generalization, or write one with: leastwise init"
        )
    agreed = Policy() if absent else Policy.load(path or POLICY_FILE)
    task = agreed.task if data is None else replace(agreed.task, data=Path(data))
    task = task if missing is None else replace(task, missing=tuple(missing))
    return replace(
        agreed,
        task=task,
        generalization=generalization or agreed.generalization,
        seed=agreed.seed if seed is None else seed,
        quick=agreed.quick if quick is None else quick,
    )


def _chosen(agreed: Policy) -> Generalization:
    if agreed.generalization is None:
        raise ParameterError("name what was chosen: generalization in the policy, or --generalization g.json")
    chosen = load(agreed.generalization)
    label = None if chosen.label is None else chosen.label.name
    if agreed.task.label is not None and agreed.task.label != label:
        raise SchemaError(
            f"the policy says label {shorten(agreed.task.label)}, {agreed.generalization} says {shorten(label)}; "
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


def _records(agreed: Policy, chosen: Generalization) -> NewRecords:
    from leastwise.checks import read_new
    from leastwise.records.files import read_frame

    if agreed.task.data is None:
        raise ParameterError("name the records: data in the policy, or --data new.csv")
    return read_new(read_frame(agreed.task.data, agreed.task.missing), chosen.schema)


def _write(path: Path, chosen: Generalization, records: NewRecords, found: Check) -> None:
    from leastwise.checks import Promise

    assert found.evaluation is not None
    test = records.table.split(found.evaluation.seed).test
    Promise.of(chosen, test, found.evaluation).save(path)
    typer.echo(f"wrote {path}: statistics of the records, rounded; keep it where those may be kept", err=True)
