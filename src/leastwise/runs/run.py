"""The whole job: sweep, frontier and choice in a folder, so that a killed run resumes to the same bytes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from leastwise.documents import is_leftover, read_text, remove_leftovers, write_whole
from leastwise.documents.plain import to_plain
from leastwise.errors import ParameterError
from leastwise.minimizers import Constraints
from leastwise.records.table import Split, Table
from leastwise.runs import folder as places
from leastwise.runs.budget import Budget
from leastwise.runs.checking import check_records, check_schema, check_split, fingerprint, versions
from leastwise.runs.choice import Choice, choose
from leastwise.runs.finding import candidates_in, find_frontier, sizes_of
from leastwise.runs.folder import Parts, Run, RunTask
from leastwise.runs.frontier import Frontier
from leastwise.runs.grid import Grid, default_grid
from leastwise.runs.journal import Journal, locked
from leastwise.runs.screening import guessing
from leastwise.runs.stages import Silent, Stages, Watcher
from leastwise.runs.workers import Workers
from leastwise.schema.file import to_yaml

MOST = 12
"""How many candidates of the frontier are attacked in full."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run is made.

    Parameters
    ----------
    grid
        Who proposes; None for the default grid (a smaller one where ``quick``).
    budget
        What the choice is made under; None for the default.
    constraints
        What every candidate must hold to.
    seed, quick
        Of the split and of all that is drawn; ``quick`` trains less, for a first look.
    most
        How many candidates of the frontier are attacked in full.
    """

    grid: Grid | None = None
    budget: Budget | None = None
    constraints: Constraints | None = None
    seed: int = 0
    quick: bool = False
    most: int = MOST

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ParameterError(f"most must be at least 1 candidate of the frontier; got {self.most}")


def run(
    table: Table,
    folder: str | Path,
    options: Options | None = None,
    *,
    name: str = "records",
    workers: Workers | None = None,
    watcher: Watcher | None = None,
    fresh: bool = False,
) -> Run:
    """Do the whole job and return the finished run.

    Parameters
    ----------
    table
        All records; they are split 60/10/30 by the seed.
    folder
        Where everything is written. If it holds a run of the same task, that one is resumed; of another task it
        is refused.
    name
        Of the data, for the report.
    fresh
        Begin anew, whatever run the folder holds.
    """
    options, path = options or Options(), Path(folder)
    grid = options.grid or default_grid(options.quick)
    split = _checked(table, grid, options)
    task = _task(table, split, grid, options, name)
    _check_folder(path)
    path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        _prepare(path, task, fresh)
        write_whole(path / places.SCHEMA, to_yaml(table.schema))
        stages = Stages(path, split, task, options.constraints, workers or Workers(), watcher or Silent())
        if not (path / places.FRONTIER).is_file():
            write_whole(path / places.FRONTIER, find_frontier(stages).to_json())
        frontier = Frontier.from_json(read_text(path / places.FRONTIER), str(path / places.FRONTIER))
        candidates = candidates_in(path)
        write_choice(path, choose(frontier, options.budget, sizes_of(candidates), candidates))
        shutil.rmtree(path / places.WORK, ignore_errors=True)
    return Run.load(path)


def _checked(table: Table, grid: Grid, options: Options) -> Split:
    """Refuse at once what could only fail after hours."""
    check_schema(table.schema)
    check_records(table)
    grid.check()
    if options.constraints is not None:
        options.constraints.check(table.schema)
    split = table.split(options.seed)
    check_split(split)
    if options.budget is not None:
        guess = guessing(split)
        options.budget.check(guess, sum(guess.values()) / len(guess), table.schema.names)
    return split


def _task(table: Table, split: Split, grid: Grid, options: Options, name: str) -> RunTask:
    label = table.schema.label
    assert label is not None
    return RunTask(
        data=Path(name).name,
        fingerprint=fingerprint(table),
        records=Parts(**{part: len(records) for part, records in split._asdict().items()}),
        label=label.name,
        personal=table.schema.personal,
        seed=options.seed,
        quick=options.quick,
        most=options.most,
        grid=grid,
        budget=options.budget if options.budget else None,
        constraints=None if options.constraints is None else to_plain(options.constraints),
        versions=versions(),
    )


def _check_folder(folder: Path) -> None:
    """Refuse a folder that is somebody else's."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file; name a folder for the run")
    if not folder.is_dir() or (folder / places.TASK).is_file():
        return
    if any(not is_leftover(path) for path in folder.iterdir()):
        raise ParameterError(f"{folder} holds other files and no run; name a new or empty folder")


def _prepare(folder: Path, task: RunTask, fresh: bool) -> None:
    """Make the folder ready: new, or as a run of the same task left it."""
    known = folder / places.TASK
    if fresh and known.is_file():
        _clear(folder)
    elif known.is_file():
        _check_same(RunTask.from_json(read_text(known), str(known)), task, folder)
    # The task comes first: by it a broken run is known.
    write_whole(known, task.to_json())
    for sub in (folder, folder / places.GENERALIZATIONS, folder / places.EVALUATIONS, folder / places.WORK):
        sub.mkdir(exist_ok=True)
        remove_leftovers(sub)
    Journal(folder / places.TIMING).lines()  # cuts off a torn line


def _check_same(old: RunTask, new: RunTask, folder: Path) -> None:
    """Refuse another task in the same folder; another budget only chooses anew."""
    before, after = (to_plain(replace(task, budget=None)) for task in (old, new))
    differing = [key for key in before if before[key] != after[key]]
    if differing:
        what = "the data" if differing[0] == "fingerprint" else differing[0].replace("_", " ")
        raise ParameterError(
            f"{folder} holds a run of another task ({what} differs); name another one, or begin anew with --fresh"
        )


def _clear(folder: Path) -> None:
    """Remove the files of a run and only those: first what says that it is finished, last what it is."""
    for name in (places.CHOICE, places.FRONTIER, places.RECOMMENDED, *places.REPORTS):
        (folder / name).unlink(missing_ok=True)
    for name in (places.GENERALIZATIONS, places.EVALUATIONS, places.WORK):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (places.CANDIDATES, places.TIMING, places.SCHEMA, places.TASK):
        (folder / name).unlink(missing_ok=True)


def write_choice(folder: Path, choice: Choice) -> None:
    """Write the choice and the artefact that it recommends; where nothing fits, nothing is recommended."""
    if choice.candidate is None:
        (folder / places.RECOMMENDED).unlink(missing_ok=True)
    else:
        text = read_text(places.artefact_path(folder, choice.candidate))
        write_whole(folder / places.RECOMMENDED, text)
    write_whole(folder / places.CHOICE, choice.to_json())


def choose_again(folder: str | Path, budget: Budget) -> Run:
    """Choose anew in a finished run, and write the choice."""
    found = Run.load(folder)
    budget.check(*_guesses(found.frontier), found.schema.names)
    choice = choose(found.frontier, budget, found.sizes, found.candidates)
    if choice.candidate is not None:
        found.generalization(
            choice.candidate
        )  # complains, before anything is written, if it is not what was judged
    with locked(found.folder):
        write_choice(found.folder, choice)
    return Run.load(folder)


def _guesses(frontier: Frontier) -> tuple[dict[str, float], float]:
    parts = (frontier.suppressed_validation, frontier.suppressed)
    names = parts[0].by_attribute
    return {name: max(p.by_attribute[name] for p in parts) for name in names}, max(
        p.adversary_error for p in parts
    )
