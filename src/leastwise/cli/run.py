"""``leastwise run``: from records to a frontier, a recommended generalization and a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.budget import (
    MaxAsked,
    MaxBuckets,
    MaxError,
    MaxErrorIncrease,
    MaxUnique,
    MinAdversaryError,
    budget_of,
)
from leastwise.cli.policy_options import DataOrPolicy, constraints_of, policy_of, seed_of, task_of
from leastwise.cli.printing import print_lines
from leastwise.cli.progress import watching
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

if TYPE_CHECKING:
    from leastwise.runs import Options, Run, Workers

NOTHING_FITS = 1
Output = Annotated[Path, typer.Option("--output", "-o", help="The folder of the run; resumed if it holds one.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="How many tasks at once; -1: one per core.")]
Backend = Annotated[
    str, typer.Option("--backend", help="Who works: loky (processes), threading, dask or ray (clusters).")
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="A running Dask or Ray cluster. Default: a local one."),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Same seed, same split, same bytes. Default: 0.")]


@app.command()
def run(
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
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="A leastwise.yaml with task, budget and constraints; options win over it."),
    ] = None,
    grid: Annotated[
        Path | None,
        typer.Option("--grid", "-g", help="Who proposes (YAML). Default: trees, exact partitions, ..."),
    ] = None,
    max_error_increase: MaxErrorIncrease = None,
    max_error: MaxError = None,
    min_adversary_error: MinAdversaryError = None,
    max_unique: MaxUnique = None,
    max_buckets: MaxBuckets = None,
    max_asked: MaxAsked = None,
    most: Annotated[
        int, typer.Option("--most", min=1, help="How many candidates of the frontier are attacked in full.")
    ] = 12,
    jobs: Jobs = -1,
    backend: Backend = "loky",
    cluster: Cluster = None,
    seed: Seed = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Propose, train and attack less, for a first look.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever run the folder holds.")] = False,
    output: Output = Path("run"),
) -> None:
    """Do the whole job: propose candidates, judge them, find the frontier, recommend one, write the report.

    Without a budget, the safest candidate is recommended whose model errs at most one point more than with
    everything asked. A run that was stopped is resumed by the same command. Exit code 1: no candidate fits.

    Example: `leastwise run adult.csv --label income --personal sex,race --max-error-increase 0.01 -o run/`
    """
    from leastwise.runs import Options, Workers, load_grid

    stated = budget_of(max_error_increase, max_error, min_adversary_error, max_unique, max_buckets, max_asked)
    workers = Workers(jobs, backend, cluster)
    known = policy_of(policy)
    grid_file = grid or (known.grid if known else None)
    options = Options(
        grid=None if grid_file is None else load_grid(grid_file),
        budget=stated or (known.budget if known else None),
        constraints=constraints_of(known),
        seed=seed_of(seed, known),
        quick=quick or bool(known and known.quick),
        most=most,
    )
    task = task_of(context, known)
    finished = make(task.records(), output, options, workers, Path(task.data).name, fresh)
    raise typer.Exit(0 if finished.choice.candidate is not None else NOTHING_FITS)


def make(
    records: Records, folder: Path, options: Options, workers: Workers, name: str, fresh: bool = False
) -> Run:
    """Do the run, write its report, and say what came out."""
    finished = execute(records, folder, options, workers, name, fresh)
    _warn(records, finished)
    for line in conclusion(finished):
        print_lines(line)
    return finished


def execute(
    records: Records, folder: Path, options: Options, workers: Workers, name: str, fresh: bool = False
) -> Run:
    """Do the run and write its report; when it is stopped, say how it goes on."""
    from leastwise.report import write_report
    from leastwise.runs import run as whole_job

    try:
        with watching() as watcher:
            found = whole_job(
                records.table, folder, options, name=name, workers=workers, progress=watcher, fresh=fresh
            )
    except KeyboardInterrupt:
        typer.echo(f"\nwhat is finished is kept in {folder}; the same command resumes the run", err=True)
        raise
    write_report(found, table=records.table.split(options.seed).test)
    return found


def _warn(records: Records, finished: Run) -> None:
    """Tell what in the recommended artefact can be traced to one person, and what was left out or failed."""
    from leastwise.generalization.leaks import warn_of_leaks

    for column in records.left_out:
        typer.echo(f"left out: {column}; --keep makes it an attribute", err=True)
    for failure in finished.failures:
        typer.echo(f"failed: {failure.words}: {failure.reason}", err=True)
    if finished.choice.candidate is not None:
        train = records.table.split(finished.task.seed).train
        warn_of_leaks(finished.generalization(finished.choice.candidate), train, records.inferred)


@dataclass(frozen=True)
class _Words:
    """The figures of one candidate in words."""

    run: Run
    candidate: str

    def lines(self) -> list[str]:
        point, frontier = self.run.frontier[self.candidate], self.run.frontier
        found = self.run.candidate(self.candidate)
        more = (point.test.utility_risk - frontier.untouched.utility_risk) * 100
        return [
            f"Ask {found.asked} of {len(self.run.schema)} questions, with {found.answers:,} answers in all.",
            f"The model errs {abs(more):.1f} points {'more' if more >= 0 else 'less'} than with everything asked "
            f"({point.test.utility_risk:.3f} against {frontier.untouched.utility_risk:.3f}).",
            f"Whoever steals the records gets {point.test.adversary_error:.0%} of the personal answers wrong "
            f"(guessing: {frontier.suppressed.adversary_error:.0%}; asking everything: "
            f"{frontier.untouched.adversary_error:.0%}).",
            self._certified(),
        ]

    def _certified(self) -> str:
        certified = self.run.frontier[self.candidate].test.certified
        if not certified:
            return "Nothing can be promised about every adversary: too many people are alone with their record."
        return f"However clever, nobody gets fewer than {int(certified * 100)} % wrong (95 % confidence)."


def conclusion(run: Run) -> list[str]:
    """Say the answer in five lines: what to ask, what it costs, what it protects, and where the report is."""
    choice = run.choice
    if choice.candidate is None:
        return [choice.sentence, f"Report: {run.folder / 'report.html'}"]
    lines = _Words(run, choice.candidate).lines()
    for miss in choice.misses_on_test:
        lines.append(f"Chosen by the validation part; on the test part a limit is missed: {miss}.")
    return [*lines, f"Report: {run.folder / 'report.html'}"]
