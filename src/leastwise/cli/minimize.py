"""``leastwise minimize``: propose a generalization; ``leastwise minimizers``: what can propose one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli import app
from leastwise.cli.printing import print_json, print_lines, print_table
from leastwise.cli.task import (
    AtLeast,
    Continuous,
    Data,
    Discrete,
    Drop,
    Keep,
    Label,
    Missing,
    Personal,
    Records,
    SchemaFile,
    Task,
)
from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.validation import check_choice

if TYPE_CHECKING:
    from leastwise.generalization import Generalization
    from leastwise.minimizers import Minimizer

# What the command line calls a constructor's parameter, where that is not its own name.
SHORTER = {"max_leaves": "leaves", "random_state": "seed"}
# The parameters that have an option of their own; all others are given by --set.
DEDICATED = frozenset(
    {"k", "method", "alpha", "leaves", "min_leaf", "min_bucket", "min_joint", "weights", "seed"}
    | {"threshold", "target_accuracy", "lam"}
)
# These come from the data and the schema options, or are objects that only a program has.
GIVEN = frozenset({"schema", "personal", "model"})


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
    at_least: AtLeast = 1,
    minimizer: Annotated[str, typer.Option("--minimizer", "-m", help="See: leastwise minimizers.")] = "uniform",
    k: Annotated[str | None, typer.Option("--k", metavar="N", help="How many buckets, or attributes.")] = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help="How attributes are scored.")
    ] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", metavar="0..1", help="Weight of privacy.")] = None,
    lam: Annotated[
        str | None, typer.Option("--lam", metavar="X", help="Weight of privacy (λ of the neural ones, optimal).")
    ] = None,
    threshold: Annotated[
        str | None, typer.Option("--threshold", metavar="0..1", help="Classifier error that iterative may reach.")
    ] = None,
    target_accuracy: Annotated[
        str | None,
        typer.Option("--target-accuracy", metavar="0..1", help="Accuracy relative to a classifier's (apt)."),
    ] = None,
    leaves: Annotated[str | None, typer.Option("--leaves", metavar="N", help="Most leaves of the tree.")] = None,
    min_leaf: Annotated[
        str | None, typer.Option("--min-leaf", metavar="N", help="Fewest records in a leaf.")
    ] = None,
    min_bucket: Annotated[
        str | None, typer.Option("--min-bucket", metavar="N", help="Fewest records in a bucket, or their share.")
    ] = None,
    min_joint: Annotated[
        str | None,
        typer.Option("--min-joint", metavar="N", help="Fewest records in a joint bucket, or their share."),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="NAME=W", help="Weight of a personal attribute. Can be repeated."),
    ] = None,
    more: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter. Can be repeated.")
    ] = None,
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
    given: dict[str, Any] = {"k": k, "method": method, "alpha": alpha, "leaves": leaves, "min_leaf": min_leaf}
    given |= {"weights": _weights(weight)}
    given |= {"lam": lam, "threshold": threshold, "target_accuracy": target_accuracy}
    given |= pairs("--set", more or [])
    floor: dict[str, Any] = {"min_bucket": min_bucket, "min_joint": min_joint}
    if _has_floor(minimizer):
        given, floor = given | floor, {}
    chosen = build(minimizer, {name: value for name, value in given.items() if value is not None}, seed)
    if output is not None and not output.parent.is_dir():
        raise ParameterError(f"{output.parent} is no folder; make it first")
    task = Task(data, label, personal, missing, schema, drop, keep, discrete, continuous, at_least)
    records = task.records()
    floor = {name: _value(value) for name, value in floor.items() if value is not None}
    found = propose(chosen, records, seed, all_records, floor)
    if not found.collected:
        typer.echo("nothing is asked: nothing gained enough. Are there too few records? See --help", err=True)
    if output is not None:
        found.save(output)
    if as_json:
        typer.echo(found.to_json(), nl=False)
    else:
        print_lines(found.describe())
    for column in records.left_out:
        typer.echo(f"left out: {column}; --keep makes it an attribute", err=True)
    if output is not None:
        typer.echo(f"wrote {output}; apply it with: leastwise apply {output} {data} out.parquet", err=True)


def _has_floor(minimizer: str) -> bool:
    from leastwise.minimizers import MINIMIZERS

    return minimizer in MINIMIZERS and "min_bucket" in parameters(MINIMIZERS[minimizer])


def propose(
    minimizer: Minimizer, records: Records, seed: int, all_records: bool, floor: Mapping[str, Any]
) -> Generalization:
    """Let a minimizer see the training records of a task; bring its result to the floor."""
    from leastwise.minimizers import at_least

    if not len(records.table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    table = records.table if all_records else records.table.split(seed).train
    found = minimizer.propose(table, records.inferred)
    if not floor:
        return found
    merged = at_least(found, table, bucket=floor.get("min_bucket"), joint=floor.get("min_joint"))
    return replace(merged, origin={**found.origin, **floor})


def _weights(texts: list[str] | None) -> dict[str, Any] | None:
    return pairs("--weight", texts) if texts else None


def pairs(option: str, texts: list[str]) -> dict[str, Any]:
    """Read name=value texts."""
    parted = [text.rpartition("=") for text in texts]
    for text, (name, _, value) in zip(texts, parted, strict=True):
        if not name or not value:
            raise ParameterError(f"{option} must be name=value; got {shorten(text)}")
    return {name: _value(value) for name, _, value in parted}


def build(name: str, given: Mapping[str, Any], seed: int) -> Minimizer:
    """Make a minimizer of that name with the parameters that were typed."""
    from leastwise.minimizers import MINIMIZERS

    kind = MINIMIZERS[check_choice("--minimizer", name, MINIMIZERS)]
    parameter_of = {
        option: parameter for parameter in parameters(kind) for option in (parameter, _short(parameter))
    }
    arguments: dict[str, Any] = {"random_state": seed}
    for option, value in given.items():
        parameter = parameter_of.get(option.replace("-", "_"))
        if parameter is None:
            taken = ", ".join(option_of(parameter) for parameter in parameters(kind))
            raise ParameterError(f"minimizer {name} takes {taken}; got {_given_as(option)}")
        if parameter in arguments:
            raise ParameterError(f"give {parameter} once only, by {option_of(parameter)}")
        arguments[parameter] = _value(value) if isinstance(value, str) else value
    return kind(**arguments)


def _given_as(option: str) -> str:
    return option_of(option) if option in DEDICATED else f"--set {shorten(option)[1:-1]}=..."


def parameters(kind: type[Minimizer]) -> dict[str, Any]:
    """Return the parameters of a minimizer's constructor with their defaults."""
    found = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in found if parameter.name not in GIVEN}


def _short(parameter: str) -> str:
    return SHORTER.get(parameter, parameter)


def option_of(parameter: str) -> str:
    """Return how a parameter is given on the command line.

    >>> option_of("max_leaves"), option_of("min_leaf"), option_of("patience")
    ('--leaves', '--min-leaf', '--set patience=...')
    """
    short = _short(parameter)
    if short not in DEDICATED:
        return f"--set {short}=..."
    return "--weight" if short == "weights" else f"--{short}".replace("_", "-")


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

    rows = [(name, _first_line(kind), _options_text(kind), kind.reference) for name, kind in MINIMIZERS.items()]
    if as_json:
        print_json([dict(zip(("name", "does", "options", "reference"), row, strict=True)) for row in rows])
    else:
        print_table("Minimizers", ("name", "what it does", "options (default)", "reference"), rows)


def _first_line(kind: type[Minimizer]) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _options_text(kind: type[Minimizer]) -> str:
    return ", ".join(f"{option_of(name)}{_default_text(default)}" for name, default in parameters(kind).items())


def _default_text(default: Any) -> str:
    return "" if default is None else f" ({default})"
