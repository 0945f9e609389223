"""Proposals: ``leastwise minimize``, the ``minimizers`` that make them, and the ``minimum-sample`` they need."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import AsJson, Force, Minimizer, PolicyFile, Seed, SeedOrPolicy, app, grouped
from leastwise.cli.output import check_output, print_json, print_lines, print_table
from leastwise.cli.progress import training
from leastwise.cli.settings import Setting, built, minimizer_settings, set_option, settings, settings_of
from leastwise.cli.sources import SourceOptions, sampled
from leastwise.cli.task import (
    SETTINGS,
    Data,
    DataOrPolicy,
    Inference,
    Records,
    SchemaFile,
    Task,
    TaskOptions,
    constraints_of,
    names,
    policy_of,
    seed_of,
)
from leastwise.documents.wording import counted, percent
from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.progress import Lines
from leastwise.validation import check_choice

if TYPE_CHECKING:
    from leastwise.generalization import Generalization
    from leastwise.minimizers import Constraints
    from leastwise.records.table import Table


# The recommended one; written out so that --help need not import it.
DEFAULT = "coarsening"
COLUMNS = ("records", "frontier lost", "worst", "similarity")  # of minimum-sample


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What the result is brought to, whatever proposed it."""

    min_bucket: Annotated[
        float | None, typer.Option(help="The fewest records in a bucket, or their share if below 1.")
    ] = None
    min_joint: Annotated[
        float | None, typer.Option(help="The fewest records in a joint bucket, or their share if below 1.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Which records the minimizer sees."""

    all_records: Annotated[bool, typer.Option(help="Use every record, not only the 60 % for training.")] = False


FLOOR = tuple(each.name for each in fields(Floor))
OTHERS = ", ".join((*FLOOR, "all_records", *SETTINGS))


@app.command()
@grouped
def minimize(
    task: TaskOptions,
    data: DataOrPolicy = None,
    schema: SchemaFile = None,
    policy: PolicyFile = None,
    minimizer: Minimizer = DEFAULT,
    max_error_increase: Annotated[
        str | None,
        typer.Option(
            "--max-error-increase", metavar="0..1", help="How much more often the classifier may err (coarsening)."
        ),
    ] = None,
    more: Annotated[
        list[str] | None, set_option(f"A parameter of the minimizer (see: leastwise minimizers), or {OTHERS}.")
    ] = None,
    seed: SeedOrPolicy = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the generalization here.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Propose a generalization: what to ask, and how coarsely.

    Examples: `leastwise minimize adult.csv --label income -p sex,race --max-error-increase 0.01 -o g.json`,
    `leastwise minimize adult.csv --label income -m pat --set alpha=0.7 --set max_leaves=20`
    """
    known = policy_of(policy)
    seed = seed_of(seed, known)
    texts = [*(more or ()), *([] if max_error_increase is None else [f"max_error_increase={max_error_increase}"])]
    own = minimizer_settings(minimizer)
    rest = {name: each for group in (Floor, Seen, Inference) for name, each in settings_of(group).items()}
    given = settings(texts, {**rest, **own}, minimizer)
    chosen = built(minimizer, {name: given.pop(name) for name in own if name in given}, seed)
    check_output(output, force)
    inference = {name: given.pop(name) for name in SETTINGS if name in given}
    described = Task.of(data, task, schema, inference, known)
    records = described.records()
    all_records = given.pop("all_records", False)
    with training():
        proposal = propose(chosen, records, seed, all_records, given, constraints_of(known))
    _hand_over(proposal, records, described.data, output, as_json)


def propose(
    minimizer: Any,
    records: Records,
    seed: int,
    all_records: bool,
    floor: Mapping[str, Any],
    constraints: Constraints | None = None,
) -> Generalization:
    """Let a minimizer see the training records of a task; bring its result to the floor and the constraints."""
    if not len(records.table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    from leastwise.generalization.leaks import warn_of_leaks

    table = records.table if all_records else records.table.split(seed).train
    searches = hasattr(minimizer, "constraints")
    if constraints is not None and searches:
        minimizer.constraints = constraints
    proposal: Generalization
    if hasattr(minimizer, "propose"):
        proposal = minimizer.propose(table, records.inferred, records.table)
    else:  # another package's, which need do no more than minimize
        proposal = minimizer.minimize(table.with_own_levels())
        warn_of_leaks(proposal, table, records.inferred, records.table)
    if floor:
        from leastwise.minimizers import at_least

        merged = at_least(proposal, table, bucket=floor.get("min_bucket"), joint=floor.get("min_joint"))
        proposal = replace(merged, origin={**proposal.origin, **floor})
    if constraints is None and not table.schema.has_trees:
        return proposal
    from leastwise.minimizers import Constraints

    advice = "leave out min_bucket and min_joint" if searches else f"-m {DEFAULT} searches under them"
    return _held(proposal, constraints or Constraints(), table, advice)


def _held(proposal: Generalization, constraints: Constraints, table: Table, advice: str) -> Generalization:
    """Suppress and merge what was found without constraints; refuse what still breaks them."""
    from leastwise.minimizers.constraints import broken, brought_to

    constraints.check(table.schema)
    mended = brought_to(constraints, proposal, table)
    if problems := broken(constraints, mended, table):
        raise ParameterError(f"the result breaks the constraints ({'; '.join(problems)}); {advice}")
    return mended


def _hand_over(proposal: Generalization, records: Records, data: str, output: Path | None, as_json: bool) -> None:
    if not proposal.collected:
        typer.echo("nothing is asked. Not wanted? Give more records, or allow less loss; see --help", err=True)
    if output is not None:
        proposal.save(output)
    if as_json:
        typer.echo(proposal.to_json(), nl=False)
    else:
        print_lines(proposal.describe())
    records.tell_left_out()
    if output is not None:
        typer.echo(f"wrote {output}; apply it with: leastwise apply {output} {data} -o out.parquet", err=True)


@app.command()
def minimizers(
    name: Annotated[str | None, typer.Argument(help="Tell about this one only, and more of it.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the minimizers, and what can be set of each: `--set name=value`.

    Example: `leastwise minimizers pat`
    """
    from leastwise.minimizers import known_minimizers

    known_here = known_minimizers()
    if name is not None:
        known_here = {name: known_here[check_choice("the minimizer", name, known_here)]}
    settable = {name: minimizer_settings(name) for name in known_here}
    does = {name: (kind.__doc__ or "").strip().partition("\n")[0] for name, kind in known_here.items()}
    references = {name: str(getattr(kind, "reference", "")) for name, kind in known_here.items()}
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "does": does[name],
                    "reference": references[name],
                    "recommended": name == DEFAULT,
                    "settings": [
                        {"name": each, "default": said.default, "must": said.must, "meaning": said.meaning}
                        for each, said in known.items()
                    ],
                }
                for name, known in settable.items()
            ]
        )
        return
    if name is not None:
        print_lines(f"{_prose(known_here[name])}\n\n{references[name]}".strip().replace("``", ""))
        _print_settings(settable)
        return
    marked = [
        (f"{name} (recommended)" if name == DEFAULT else name, does[name], references[name]) for name in settable
    ]
    print_table("Minimizers", ("name", "what it does", "reference"), marked)
    _print_settings(settable)


def _prose(kind: type[Any]) -> str:
    """Return what a docstring says before its sections."""
    return (inspect.getdoc(kind) or "").partition("\n\nParameters\n---")[0]


def _print_settings(settable: Mapping[str, Mapping[str, Setting]]) -> None:
    rows = [
        ("" if i else name, each, "" if said.default is None else str(said.default), _told(said))
        for name, known in settable.items()
        for i, (each, said) in enumerate(known.items())
    ]
    print_table("\nWhat can be set", ("minimizer", "name", "default", "meaning"), rows)


def _told(said: Setting) -> str:
    """Return what a setting means, and which words it knows."""
    words = f" Must be {said.must}." if said.must.startswith("one of") else ""
    return f"{said.meaning.replace('``', '')}{words}"


@app.command("minimum-sample")
@grouped
def minimum_sample(
    data: Data,
    task: TaskOptions,
    at: SourceOptions,
    schema: SchemaFile = None,
    minimizer: Annotated[
        str | None,
        typer.Option(
            "--minimizer",
            "-m",
            metavar="NAME",
            help="See: leastwise minimizers. Default: trees (pat) at 16 settings.",
        ),
    ] = None,
    more: Annotated[
        list[str] | None, set_option(f"A parameter of the minimizer, or one of {', '.join(SETTINGS)}.")
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("--sizes", metavar="N,N,...", help="Sample sizes. Default: 100, 200, 500 ..."),
    ] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", min=1, help="How many nested samples to draw.")] = 5,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, max=1, help="Share of the frontier that may be lost.")
    ] = 0.05,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find how few full records are enough to find a generalization.

    Samples of growing size are minimized, and each result is judged beside that of all training records: how much
    of the frontier of utility and adversary error is lost, and how alike the partitions are. Of records that stay
    where they are, a sample is drawn, which stands for all.

    Example: `leastwise minimum-sample adult.csv --label income --sizes 500,1000,2000,5000`
    """
    from leastwise.evaluation.minimum_sample import minimum_sample as find
    from leastwise.evaluation.minimum_sample import pat_candidates

    inferring = settings_of(Inference)
    known = inferring if minimizer is None else minimizer_settings(minimizer) | inferring
    given = settings(more, known, minimizer or "minimum-sample without --minimizer")
    inference = {name: given.pop(name) for name in SETTINGS if name in given}
    chosen = None if minimizer is None else built(minimizer, given, seed)
    proposals: Any = pat_candidates if chosen is None else lambda table: [chosen.minimize(table)]
    table = sampled(Task.of(data, task, schema, inference), at, seed, Lines()).table
    if not len(table.schema):
        raise SchemaError("there are no attributes to minimize; see: leastwise inspect")
    minimum = find(
        proposals,
        table,
        sizes=_whole_numbers(sizes),
        repetitions=repetitions,
        tolerance=tolerance,
        seed=seed,
        progress=Lines(),
    )
    if as_json:
        print_json({**asdict(minimum), "sentence": minimum.sentence()})
        return
    rows = [
        (f"{s.size:,}", percent(s.loss, 1), percent(max(s.losses), 1), f"{s.similarity:.2f}")
        for s in minimum.sizes
    ]
    title = f"Samples of the {minimum.records:,} training records (medians of {counted(repetitions, 'drawing')})"
    print_table(title, COLUMNS, rows, COLUMNS)
    typer.echo(minimum.sentence())


def _whole_numbers(texts: list[str] | None) -> list[int] | None:
    if texts is None:
        return None
    parts = names(texts, ())
    for part in parts:
        if not part.isdecimal():
            raise ParameterError(f"--sizes must be whole numbers, as in 500,1000; got {shorten(part)}")
    return [int(part) for part in parts]
