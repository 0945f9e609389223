"""``leastwise minimize``: propose a generalization; ``leastwise minimizers``: what can propose one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.minimizer_options import (
    Alpha,
    Epochs,
    K,
    Lam,
    Leaves,
    MaxErrorIncrease,
    Method,
    MinBucket,
    MinJoint,
    MinLeaf,
    More,
    Mu,
    Retrain,
    SurrogateName,
    TargetAccuracy,
    Threshold,
    Weights,
    from_options,
    option_of,
    parameters,
)
from leastwise.cli.output import Force, check_output
from leastwise.cli.policy_options import DataOrPolicy, constraints_of, policy_of, seed_of, task_of
from leastwise.cli.printing import print_json, print_lines, print_table
from leastwise.cli.task import (
    AtLeast,
    Continuous,
    Discrete,
    Drop,
    Keep,
    Label,
    Missing,
    Personal,
    Records,
    SchemaFile,
)
from leastwise.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from rich.console import Console

    from leastwise.generalization import Generalization
    from leastwise.minimizers import Constraints, Minimizer
    from leastwise.records.table import Table

# The recommended one; written out so that --help need not import it.
DEFAULT = "coarsening"
Name = Annotated[str, typer.Option("--minimizer", "-m", help="See: leastwise minimizers.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Same seed, same result. Default: 0.")]
AllRecords = Annotated[
    bool, typer.Option("--all-records", help="Use every record, not only the 60 % for training.")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the generalization here.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the generalization as JSON.")]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="A leastwise.yaml with task and constraints; options win over it.")
]


@app.command()
def minimize(
    context: typer.Context,
    data: DataOrPolicy = None,
    label: Label = None,
    personal: Personal = None,
    schema: SchemaFile = None,
    missing: Missing = None,
    drop: Drop = None,
    keep: Keep = None,
    discrete: Discrete = None,
    continuous: Continuous = None,
    at_least: AtLeast = 1,
    policy: PolicyFile = None,
    minimizer: Name = DEFAULT,
    k: K = None,
    method: Method = None,
    alpha: Alpha = None,
    lam: Lam = None,
    epochs: Epochs = None,
    threshold: Threshold = None,
    target_accuracy: TargetAccuracy = None,
    retrain: Retrain = None,
    max_error_increase: MaxErrorIncrease = None,
    mu: Mu = None,
    surrogate: SurrogateName = None,
    leaves: Leaves = None,
    min_leaf: MinLeaf = None,
    min_bucket: MinBucket = None,
    min_joint: MinJoint = None,
    weight: Weights = None,
    more: More = None,
    seed: Seed = None,
    all_records: AllRecords = False,
    output: Output = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Propose a generalization: what to ask, and how coarsely.

    Examples: `leastwise minimize adult.csv --label income -p sex,race --max-error-increase 0.01 -o g.json`,
    `leastwise minimize adult.csv --label income -m pat --alpha 0.7 --leaves 20`
    """
    known = policy_of(policy)
    seed = seed_of(seed, known)
    # The parameters of minimizers are taken from the context: naming each of them a second time adds nothing.
    chosen, floor = from_options(minimizer, {**context.params, "seed": seed})
    check_output(output, force)
    task = task_of(context, known)
    records = task.records()
    with working():
        found = propose(chosen, records, seed, all_records, floor, constraints_of(known))
    _hand_over(found, records, task.data, output, as_json)


def propose(
    minimizer: Minimizer,
    records: Records,
    seed: int,
    all_records: bool,
    floor: Mapping[str, Any],
    constraints: Constraints | None = None,
) -> Generalization:
    """Let a minimizer see the training records of a task; bring its result to the floor and the constraints."""
    if not len(records.table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    table = records.table if all_records else records.table.split(seed).train
    searches = "constraints" in minimizer.get_params()
    if constraints is not None and searches:
        minimizer.set_params(constraints=constraints)
    found = minimizer.propose(table, records.inferred)
    if floor:
        from leastwise.minimizers import at_least

        merged = at_least(found, table, bucket=floor.get("min_bucket"), joint=floor.get("min_joint"))
        found = replace(merged, origin={**found.origin, **floor})
    if constraints is None:
        return found
    advice = "leave out --min-bucket and --min-joint" if searches else f"-m {DEFAULT} searches under them"
    return _held(found, constraints, table, advice)


def _held(found: Generalization, constraints: Constraints, table: Table, advice: str) -> Generalization:
    """Suppress and merge what was found without constraints; refuse what still breaks them."""
    from leastwise.minimizers.constraints.checks import broken
    from leastwise.minimizers.constraints.floor import brought_to

    constraints.check(table.schema)
    mended = brought_to(constraints, found, table)
    if problems := broken(constraints, mended, table):
        raise ParameterError(f"the result breaks the constraints ({'; '.join(problems)}); {advice}")
    return mended


@contextmanager
def working(console: Console | None = None) -> Iterator[None]:
    """Show on a terminal that work goes on, and how far a training has come.

    Parameters
    ----------
    console
        Where; None: the standard error stream.
    """
    if console is None and not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from leastwise.minimizers import watched

    columns = (TextColumn("minimizing"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as shown:
        bar = shown.add_task("", total=None, told="")

        def advance(done: int, total: int) -> None:
            shown.update(bar, completed=done, total=total, told=f"epoch {done} of {total}")

        with watched(advance):
            yield


def _hand_over(found: Generalization, records: Records, data: str, output: Path | None, as_json: bool) -> None:
    if not found.collected:
        typer.echo("nothing is asked. Not wanted? Give more records, or allow less loss; see --help", err=True)
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


@app.command()
def minimizers(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the minimizers and their options.

    Example: `leastwise minimizers`
    """
    from leastwise.minimizers import known_minimizers

    kinds = known_minimizers()
    rows = [(name, _first_line(kind), _options_text(kind), kind.reference) for name, kind in kinds.items()]
    if as_json:
        plain = [dict(zip(("name", "does", "options", "reference"), row, strict=True)) for row in rows]
        print_json([{**row, "recommended": row["name"] == DEFAULT} for row in plain])
    else:
        marked = [(f"{name} (recommended)" if name == DEFAULT else name, *rest) for name, *rest in rows]
        print_table("Minimizers", ("name", "what it does", "options (default)", "reference"), marked)


def _first_line(kind: type[Minimizer]) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _options_text(kind: type[Minimizer]) -> str:
    return ", ".join(f"{option_of(name)}{_default_text(default)}" for name, default in parameters(kind).items())


def _default_text(default: Any) -> str:
    return "" if default is None else f" ({default})"
