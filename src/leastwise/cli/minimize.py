"""``leastwise minimize``: propose a generalization; ``leastwise minimizers``: what can propose one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli import app
from leastwise.cli.printing import print_json, print_table
from leastwise.cli.task import (
    Continuous,
    Data,
    Discrete,
    Drop,
    Keep,
    Label,
    Missing,
    Personal,
    SchemaFile,
    Task,
)
from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.validation import check_choice, did_you_mean

if TYPE_CHECKING:
    from leastwise.minimizers import Minimizer

# What the command line calls a constructor's parameter, where that is not its own name.
OPTIONS = {"max_leaves": "leaves", "random_state": "seed"}
# These come from the data and the schema options.
GIVEN = frozenset({"schema", "personal"})


@app.command()
def minimize(
    data: Data,
    label: Label = None,
    personal: Personal = None,
    schema: SchemaFile = None,
    missing: Missing = None,
    drop: Drop = None,
    keep: Keep = None,
    discrete: Discrete = None,
    continuous: Continuous = None,
    minimizer: Annotated[str, typer.Option("--minimizer", "-m", help="See: leastwise minimizers.")] = "uniform",
    k: Annotated[str | None, typer.Option("--k", help="Buckets, or attributes, to keep.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="How attributes are scored.")] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", help="Weight of privacy, 0 to 1.")] = None,
    leaves: Annotated[str | None, typer.Option("--leaves", help="Most leaves of the tree.")] = None,
    min_leaf: Annotated[str | None, typer.Option("--min-leaf", help="Fewest records in a leaf.")] = None,
    more: Annotated[list[str] | None, typer.Option("--set", help="Any other parameter: name=value.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")] = 0,
    all_records: Annotated[
        bool, typer.Option("--all-records", help="Use every record, not only the 60 % for training.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the generalization here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the generalization as JSON.")] = False,
) -> None:
    """Propose a generalization: what to ask, and how coarsely.

    Example: `leastwise minimize adult.csv --label income --personal sex,race --minimizer uniform --k 3 -o g.json`
    """
    given = {"k": k, "method": method, "alpha": alpha, "leaves": leaves, "min_leaf": min_leaf} | _pairs(more or [])
    chosen = _build(minimizer, {name: text for name, text in given.items() if text is not None}, seed)
    if output is not None and not output.parent.is_dir():
        raise ParameterError(f"{output.parent} is no folder; make it first")
    task = Task(data, label, personal, missing, schema, drop, keep, discrete, continuous)
    found = propose(chosen, task, seed, all_records)
    if output is not None:
        found.save(output)
    typer.echo(found.to_json() if as_json else found.describe())
    if output is not None:
        typer.echo(f"wrote {output}; apply it with: leastwise apply {output} {data} out.parquet", err=True)


def propose(minimizer: Minimizer, task: Task, seed: int, all_records: bool) -> Any:
    """Let a minimizer see the training records of a task."""
    table, inferred = task.table()
    if not len(table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    records = table if all_records else table.split(seed).train
    return minimizer.propose(records, inferred)


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise ParameterError(f"--set must be name=value; got {shorten(name + equals + value)}")
    return {name.replace("-", "_"): value for name, _, value in pairs}


def _build(name: str, given: Mapping[str, str], seed: int) -> Minimizer:
    from leastwise.minimizers import MINIMIZERS

    kind = MINIMIZERS[check_choice("--minimizer", name, MINIMIZERS)]
    parameter_of = {option_of(parameter): parameter for parameter in parameters(kind)}
    for option in given:
        if option not in parameter_of and option not in parameter_of.values():
            taken = ", ".join(f"--{taken}".replace("_", "-") for taken in parameter_of)
            near = did_you_mean(option, parameter_of) if len(option) > 1 else ""
            hint = f"; {near}" if near.startswith("did") else ""
            raise ParameterError(f"minimizer {name} has no --{option.replace('_', '-')}; it takes {taken}{hint}")
    arguments = {parameter_of.get(option, option): _value(text) for option, text in given.items()}
    return kind(**{"random_state": seed, **arguments})


def parameters(kind: type[Minimizer]) -> dict[str, Any]:
    """Return the parameters of a minimizer's constructor with their defaults."""
    found = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in found if parameter.name not in GIVEN}


def option_of(parameter: str) -> str:
    """Return what the command line calls a parameter."""
    return OPTIONS.get(parameter, parameter)


def _value(text: str) -> Any:
    """Read a number, true or false where one is written; the minimizer checks it."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


@app.command()
def minimizers(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the minimizers and their options."""
    from leastwise.minimizers import MINIMIZERS

    rows = [(name, _first_line(kind), _options_text(kind)) for name, kind in MINIMIZERS.items()]
    if as_json:
        print_json([dict(zip(("name", "does", "options"), row, strict=True)) for row in rows])
    else:
        print_table("Minimizers", ("name", "what it does", "options (default)"), rows)


def _first_line(kind: type[Minimizer]) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _options_text(kind: type[Minimizer]) -> str:
    named = {option_of(name).replace("_", "-"): default for name, default in parameters(kind).items()}
    return ", ".join(f"--{name} ({0 if name == 'seed' else default})" for name, default in named.items())
