"""From records to a decision: ``leastwise run``, ``leastwise demo`` and ``leastwise choose``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import (
    Fresh,
    PolicyFile,
    Quick,
    SeedOrPolicy,
    app,
    grouped,
    load,
    tell_missed,
    tell_not_decided,
)
from leastwise.cli.output import print_lines, print_table
from leastwise.cli.progress import stoppable
from leastwise.cli.settings import numbers_by_name, set_option, settings, settings_of
from leastwise.cli.sources import (
    SourceOptions,
    described_source,
    engine_of,
    name_of,
    opened,
    print_queries,
    refuse_person,
    stays,
)
from leastwise.cli.task import (
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
from leastwise.errors import ParameterError
from leastwise.progress import Lines, watching

if TYPE_CHECKING:
    from leastwise.generalization import Generalization
    from leastwise.policy import Policy
    from leastwise.records.sources import Source
    from leastwise.runs import Budget, Options, Run, Stages, Workers


NOTHING_FITS = 1  # the exit code
MOST = 8  # candidates that the demo attacks in full
Output = Annotated[Path, typer.Option("--output", "-o", help="The folder of the run; resumed if it holds one.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="How many tasks at once; -1: one per core.")]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that most people state."""

    max_error_increase: Annotated[
        float | None,
        typer.Option("--max-error-increase", metavar="0..1", help="By how much the model may err more: 0.01."),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", metavar="0.5..1", help="How sure that limit must be kept. Default: 0.9."),
    ] = None
    min_adversary_error: Annotated[
        list[str] | None,
        typer.Option(
            "--min-adversary-error",
            metavar="NAME=0..1",
            help="How often A1 must be wrong: sex=0.3, or mean=0.4. Can be repeated.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MoreLimits:
    """The other limits: flags of ``choose``, settings of ``run``."""

    max_error: Annotated[
        float | None, typer.Option("--max-error", metavar="0..1", help="How often the model may err.")
    ] = None
    max_unique: Annotated[
        int | None,
        typer.Option("--max-unique", metavar="N", help="How many people may be alone with their record."),
    ] = None
    max_unique_share: Annotated[
        float | None, typer.Option("--max-unique-share", metavar="0..1", help="The same as a share of all people.")
    ] = None
    max_buckets: Annotated[
        int | None, typer.Option("--max-buckets", metavar="N", help="How many answers there may be in all.")
    ] = None
    max_asked: Annotated[
        int | None, typer.Option("--max-asked", metavar="N", help="How many questions there may be.")
    ] = None
    max_group_gap: Annotated[
        float | None,
        typer.Option("--max-group-gap", metavar="0..1", help="How much more one group may pay than another."),
    ] = None
    max_group_error: Annotated[
        float | None, typer.Option("--max-group-error", metavar="0..1", help="How often it may err in any group.")
    ] = None
    labels_by: Annotated[
        str | None,
        typer.Option(
            "--labels-by",
            metavar="worst|weighted",
            help="Several labels: limits hold for every one, the worst decides; or for the weighted mean.",
        ),
    ] = None


def budget_of(limits: Limits, more: Mapping[str, Any]) -> Budget | None:
    """Return the budget that the options state; None where they state nothing."""
    from leastwise.runs import Budget
    from leastwise.runs.choice import DEFAULT

    errors = numbers_by_name("--min-adversary-error", limits.min_adversary_error or ())
    given = {name: value for name, value in more.items() if value is not None}
    budget = Budget(max_error_increase=limits.max_error_increase, min_adversary_error=errors, **given)
    if limits.confidence is None:
        return budget if budget else None
    stated = budget if budget.states_limits else replace(DEFAULT, labels_by=budget.labels_by)
    return replace(stated, confidence=limits.confidence)


@dataclass(frozen=True, kw_only=True)
class Work:
    """How much is attacked, and who works."""

    most: Annotated[
        int, typer.Option("--most", min=1, help="How many candidates of the screened frontier go on.")
    ] = 12
    adversaries: Annotated[
        list[str] | None, typer.Option("--adversaries", help="Who attacks beside A1 to A8, of other packages.")
    ] = None
    learn_from: Annotated[
        int,
        typer.Option("--learn-from", min=1, help="Training records that proposals and screening use, at most."),
    ] = 50_000
    backend: Annotated[
        str, typer.Option("--backend", help="Who works: loky (processes), threading, dask or ray (clusters).")
    ] = "loky"
    learn_all: Annotated[
        bool,
        typer.Option("--learn-all", help="Where records stay: A1 and A2 also learn from everybody else there."),
    ] = False
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="A running Dask or Ray cluster. Default: a local one.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Served:
    """Whom an answer must serve, and what it must keep to."""

    groups: Annotated[
        list[str] | None, typer.Option("--groups", help="Who pays: sex, 'age[25,45,65]', 'sex & race'.")
    ] = None
    nested_in: Annotated[
        list[Path] | None, typer.Option("--nested-in", help="Ask nothing that this artefact did not tell.")
    ] = None


RARE = (MoreLimits, Served, Inference, Work)
RARE_NAMES = ", ".join(each.name for group in RARE for each in fields(group))


@app.command()
@grouped
def run(
    task: TaskOptions,
    limits: Limits,
    at: SourceOptions,
    data: DataOrPolicy = None,
    schema: SchemaFile = None,
    policy: PolicyFile = None,
    grid: Annotated[
        Path | None,
        typer.Option("--grid", "-g", help="Who proposes (YAML). Default: trees, exact partitions, ..."),
    ] = None,
    more: Annotated[list[str] | None, set_option(f"What few need: {RARE_NAMES}.")] = None,
    jobs: Jobs = -1,
    seed: SeedOrPolicy = None,
    quick: Quick = False,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Recommend under N seeds: is the answer the same?")
    ] = 1,
    fresh: Fresh = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Say at the end which stage took how many processor seconds.")
    ] = False,
    output: Output = Path("run"),
) -> None:
    """Do the whole job: propose candidates, judge them, find the frontier, recommend one, write the report.

    Without a budget, the safest candidate is recommended whose model errs at most one point more than with
    everything asked; where a number is predicted, by at most 3 % of the error of guessing. A run that was stopped
    is resumed by the same command. Exit code 1: no candidate keeps the limits that were stated.

    Of several labels (--label again) every one is held to the limits, so that the worst decides; by --set
    labels_by=weighted their weighted mean is.

    Example: `leastwise run adult.csv --label income --personal sex,race --max-error-increase 0.01 -o run/`
    """
    from leastwise.runs import Options, Workers, load_grid, repeat

    given = settings(more, {name: each for group in RARE for name, each in settings_of(group).items()}, "run")
    taken = {kind: {f.name: given[f.name] for f in fields(kind) if f.name in given} for kind in RARE}
    work, served = Work(**taken[Work]), Served(**taken[Served])
    workers = Workers(jobs, work.backend, work.cluster)
    stated = budget_of(limits, taken[MoreLimits])
    known = policy_of(policy)
    grid_file = grid or (known.grid if known else None)
    options = Options(
        grid=None if grid_file is None else load_grid(grid_file),
        budget=stated or (known.budget if known else None),
        constraints=constraints_of(known),
        seed=seed_of(seed, known),
        quick=quick or bool(known and known.quick),
        most=work.most,
        sample=work.learn_from,
        adversaries=names(work.adversaries, ()),
        groups=tuple(served.groups or (known.groups if known else ())),
    )
    described, at = Task.of(data, task, schema, taken[Inference], known), at.or_of(known, data)
    earlier = told_before(served.nested_in, known, policy)
    if stays(described.data, at):
        _run_at_source(described, at, output, options, workers, fresh, repeats, earlier, profile, work.learn_all)
        return
    if work.learn_all:
        raise ParameterError("learn_all is for records that stay where they are; leave it out, or name a --key")
    records = described.records()
    options = replace(options, person=described.person, survey_weights=described.survey_weights)
    options = _nested_in(earlier, options, records)
    finished = make(records, output, options, workers, Path(described.data).name, fresh, profile=profile)
    if repeats > 1:
        with watching(Lines()) as watcher:
            told = repeat(records.table, finished, options, repeats, workers=workers, progress=watcher)
        print_lines("\n".join(told.sentences()))
    raise typer.Exit(_exit_code(finished))


def _exit_code(finished: Run) -> int:
    """Return 1 where no candidate keeps the stated limits, whatever a person chose in the folder since."""
    from leastwise.runs.choice import choose as choose_under

    own = choose_under(finished.frontier, finished.task.budget)
    return 0 if own.candidate is not None else NOTHING_FITS


def told_before(given: list[Path] | None, policy: Policy | None, file: Path | None) -> list[Generalization]:
    """Return what candidates must stay nested in: named files, or, where the policy says so, all ever in use."""
    from leastwise.decisions import History

    if given or policy is None or not policy.nested:
        return [load(Path(path)) for path in given or ()]
    earlier = [load(path) for path in policy.previous]
    earlier += History.of((file or Path()).parent).artefacts(earlier)
    if not earlier:
        raise ParameterError(
            "the policy says nested, and there is neither previous nor a decision to stay nested in"
        )
    return earlier


def _nested_in(earlier: list[Generalization], options: Options, records: Records) -> Options:
    """Hold candidates to what earlier artefacts told."""
    from leastwise.minimizers import nested

    if not earlier:
        return options
    return replace(options, constraints=nested(options.constraints, earlier, records.table))


def _run_at_source(
    task: Task,
    at: SourceOptions,
    folder: Path,
    options: Options,
    workers: Workers,
    fresh: bool,
    repeats: int,
    earlier: list[Generalization],
    profile: bool,
    learned: bool,
) -> None:
    """Fit on a sample, judge on everything."""
    from leastwise.records.sources import SAMPLE

    refuse_person(task)
    if repeats > 1:
        raise ParameterError("--repeats splits records in memory; leave it out where they stay where they are")
    with watching(Lines()) as watcher, engine_of(task.data, at) as engine:
        if at.explain:
            print_queries(described_source(task, at, engine, options.seed, watcher), (), at.sample or SAMPLE)
            return
        source, records = opened(task, at, engine, options.seed, watcher, learned)
        options = _nested_in(earlier, options, records)
        finished = make(records, folder, options, workers, name_of(task.data, at), fresh, source, profile)
    raise typer.Exit(_exit_code(finished))


def make(
    records: Records,
    folder: Path,
    options: Options,
    workers: Workers,
    name: str,
    fresh: bool = False,
    source: Source | None = None,
    profile: bool = False,
) -> Run:
    """Do the run, write its report, and say what came out; when it is stopped, say how it goes on."""
    from leastwise.report import write_report
    from leastwise.runs import Stages
    from leastwise.runs import run as whole_job

    try:
        with watching(Lines()) as watcher, stoppable(watcher) as heard:
            stages = Stages(heard, workers)
            finished = whole_job(
                records.table,
                folder,
                options,
                name=name,
                workers=workers,
                progress=stages,
                fresh=fresh,
                source=source,
                told=_tell_first,
            )
            stages.begin("writing the report", 1)
            write_report(finished, table=records.table.split(options.seed).test)
            stages.advance()
    except KeyboardInterrupt:
        _tell_so_far(folder)
        typer.echo(f"\nwhat is finished is kept in {folder}; the same command resumes the run", err=True)
        raise
    _warn(records, finished)
    print_lines(str(finished))
    tell_missed(finished.choice, folder, read=sys.stdout.isatty())
    if profile:
        _print_stages(stages, workers)
    return finished


def _tell_first(first: Run) -> None:
    """Say the first answer on the terminal, while the run goes on."""
    from leastwise.runs import showing

    typer.echo("\nA first answer; better ones follow. To stop here: Ctrl-C.", err=True)
    typer.echo("\n".join([*showing.answer(first), *first.unfinished, ""]), err=True)


def _tell_so_far(folder: Path) -> None:
    """Write the report of what a stopped run has found so far, if that is an answer, and say it."""
    from leastwise.report import write_report
    from leastwise.runs import Run
    from leastwise.runs.folder import CHOICE, SO_FAR

    if (folder / SO_FAR / CHOICE).is_file():
        so_far = Run.load(folder / SO_FAR)
        write_report(so_far)
        print_lines(str(so_far))


def _print_stages(stages: Stages, workers: Workers) -> None:
    from leastwise.runs import stage_table

    rows = stage_table(stages.ended(), workers.at_once)
    right = ("CPU s", "share", "seconds", "utilisation")
    print_table("Where the time went", [*rows[0]], [[*row.values()] for row in rows], right=right)


def _warn(records: Records, finished: Run) -> None:
    """Tell what in the recommended artefact can be traced to one person, and what was left out or failed."""
    from leastwise.generalization.leaks import warn_of_leaks

    records.tell_left_out()
    for failure in finished.failures:
        typer.echo(f"failed: {failure.words}: {failure.reason}", err=True)
    if finished.choice.candidate is not None:
        train = records.table.split(finished.task.seed).train
        warn_of_leaks(finished.generalization(finished.choice.candidate), train, records.inferred, records.table)


@app.command()
def demo(output: Output = Path("demo"), jobs: Jobs = -1, fresh: Fresh = False) -> None:
    """Do the whole job on the bundled Adult data, quickly: candidates, frontier, choice and report.

    Example: `leastwise demo -o demo`
    """
    from leastwise.datasets import load_adult
    from leastwise.records.table import Table
    from leastwise.runs import Options, Workers

    adult = load_adult()
    records = Records(Table.from_frame(adult.frame, adult.schema))
    options = Options(seed=0, quick=True, most=MOST)
    make(records, output, options, Workers(jobs), "adult.parquet", fresh)


@app.command()
@grouped
def choose(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    limits: Limits,
    more: MoreLimits,
    candidate: Annotated[
        str | None,
        typer.Option("--candidate", metavar="ID", help="Your own pick instead: any candidate that was attacked."),
    ] = None,
    surely: Annotated[
        bool,
        typer.Option("--surely", help="Only what the test part confirms to keep --max-error-increase."),
    ] = False,
) -> None:
    """Choose the best candidate under a budget, or your own; rewrites the choice, recommended.json and the report.

    With a limit on the model's error the safest candidate wins, otherwise the most accurate one. Exit code 1: none
    fits; it says which limit binds and what comes nearest. Your own pick may break limits: it is held against
    those that are stated with it, else against those of the choice before. With --surely a candidate counts only
    where the test part confirms, at the confidence, that it keeps the limit on the error.

    Example: `leastwise choose run/ --max-error-increase 0.01 --min-adversary-error sex=0.3 --max-buckets 40`
    """
    from leastwise.report import write_report
    from leastwise.runs import choose_again, pick

    budget = budget_of(limits, vars(more))
    if candidate is not None and surely:
        raise ParameterError("--candidate is your own pick, --surely the program's: state one of them")
    if candidate is not None:
        stored = pick(run, candidate, budget)
    elif budget is not None or surely:
        stored = choose_again(run, budget, surely)
    else:
        what = "a budget to choose under, such as --max-error-increase 0.01, or your own pick by --candidate"
        raise ParameterError(f"state {what}; see --help")
    if stored.choice.candidate is None:
        _tell_nothing_fits(stored)
        raise typer.Exit(NOTHING_FITS)
    print_lines(stored.choice.sentence)
    write_report(stored)
    print_lines(str(stored))
    if not sys.stdout.isatty():  # else the sentence and the answer, which say all of it, have just been read
        tell_missed(stored.choice, run)
    tell_not_decided(stored.choice, run)


def _tell_nothing_fits(stored: Run) -> None:
    """Say why nothing fits and what can be done; and that what was chosen before is still, if anything was."""
    from leastwise.runs import Run as StoredRun
    from leastwise.runs.nearest import NOTHING
    from leastwise.runs.showing import nothing_fits

    said = nothing_fits(stored, shlex.quote(str(stored.folder)))
    if StoredRun.load(stored.folder).choice.candidate is not None:
        said = [said[0].removeprefix(f"{NOTHING} "), *said[1:], "What was recommended before stays as it was."]
    print_lines("\n".join(said))
