"""What a studio is opened on: records and how they are split, and the run of them, which may still be going on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from leastwise.documents.wording import counted
from leastwise.errors import LeastwiseError, ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints, PATMinimizer
from leastwise.records.table import Split, Table
from leastwise.runs import DEFAULT, Budget, Candidate, Run
from leastwise.runs.folder import CHOICE, SCHEMA, TASK, TIMING, check_run, read_task
from leastwise.runs.task import SHARES, RunTask, fingerprint
from leastwise.schema import Schema
from leastwise.schema.file import load_schema
from leastwise.schema.names import Names

# Of the tree that a studio without a run begins with: it leans towards the model, so that there is room to merge.
_ALPHA, _LEAVES = 0.3, 24


@dataclass(eq=False)
class Ground:
    """Records, split as the run splits them, and the run.

    Attributes
    ----------
    folder
        Of the run; the studio's work lies in it.
    run
        None until it is finished.
    limits, rules, names
        What a policy says must be kept, in place of what the run was asked; what every draft must hold to; and
        what buckets are called.
    going, said
        The process that makes the run, where the studio started one, and what it says.
    """

    folder: Path
    table: Table
    name: str
    seed: int
    quick: bool
    run: Run | None = None
    limits: Budget | None = None
    rules: Constraints | None = None
    names: Names = field(default_factory=dict)
    going: Any = field(default=None, repr=False)
    said: IO[bytes] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, folder: Path, task: RunTask, table: Table) -> Ground:
        """Return the ground of a run; other records than its own are refused. It may still be going on."""
        if fingerprint(table) != task.fingerprint:
            same = "--missing, --person and --survey-weights"
            if task.source is not None:
                same = "--table, --key, --sample and --missing"
            raise ParameterError(
                f"these must be the records of the run ({task.data}); their fingerprint differs: give the same "
                f"file, with the same {same}"
            )
        ground = cls(folder, table, task.data, task.seed, task.quick)
        if (folder / CHOICE).is_file():
            ground.run = Run.load(folder)
        return ground

    @classmethod
    def begin(cls, folder: Path, table: Table, name: str, arguments: Sequence[str]) -> Ground:
        """Return the ground of records, with a run of them in the background unless the folder holds it."""
        if (folder / TASK).is_file():
            ground = cls.of(folder, read_task(folder), table)
            if ground.run is not None:
                return ground
        said = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody empties would stop the run
        going = _begin_run(arguments, folder, said)
        return replace(cls.of(folder, read_task(folder), table), name=name, going=going, said=said)

    @property
    def schema(self) -> Schema:
        """The attributes and the label."""
        return self.table.schema

    def split(self) -> Split:
        """Return the parts of the run."""
        return self.table.split(self.seed, SHARES)

    @property
    def budget(self) -> Budget:
        """The limits that the run was asked to keep."""
        asked = None if self.run is None else self.run.choice.budget or self.run.task.budget
        return self.limits or asked or DEFAULT

    @property
    def best(self) -> Candidate | None:
        """The candidate that the run recommends, or what comes nearest."""
        if self.run is None:
            return None
        name = self.run.choice.candidate or self.run.choice.nearest
        return next((point for point in self.run.frontier.points if point.id == name), None)

    def start(self) -> Generalization:
        """Return the draft that a new studio begins with."""
        if self.best is not None:
            return self.best.generalization
        with warnings.catch_warnings():  # it is a draft: what it tells of single people is seen in the figures
            warnings.simplefilter("ignore")
            return PATMinimizer(alpha=_ALPHA, max_leaves=_LEAVES).propose(self.split().train)

    def look(self) -> bool:
        """Take in the run once it is finished; return whether it was just now."""
        if self.run is not None or not (self.folder / CHOICE).is_file():
            return False
        try:
            self.run = Run.load(self.folder)
        except LeastwiseError:  # its last files are being written
            return False
        return True

    def words(self) -> str:
        """Say how far the run is; empty where it is finished."""
        if self.run is not None:
            return ""
        if self.going is not None and self.going.poll() not in (None, 0, 1):
            why = _last_line(self.said)
            return f"The run in the background has failed: {why}. You can draw; to decide, make the run by hand."
        path = self.folder / TIMING
        steps = len(path.read_bytes().splitlines()) if path.is_file() else 0
        told = counted(steps, "step")
        if self.going is None:  # in another window, or stopped
            return f"The run is not finished ({told} so far); leastwise run goes on with it. You can draw."
        return f"A run goes on in the background ({told} so far). You can draw meanwhile."

    def close(self) -> None:
        """End the run in the background; the same command resumes it."""
        if self.going is not None and self.going.poll() is None:
            self.going.terminate()


def _begin_run(arguments: Sequence[str], folder: Path, said: IO[bytes]) -> Any:
    """Start ``leastwise`` with these arguments in the background; wait until the folder is a run's."""
    command = [sys.executable, "-m", "leastwise", *arguments, "--output", str(folder)]
    going = subprocess.Popen(  # noqa: S603 - our own command line
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
    )
    while not (folder / TASK).is_file():
        if going.poll() is not None:
            raise ParameterError(_last_line(said))
        try:
            going.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    return going


def _last_line(said: IO[bytes] | None) -> str:
    """Return why a run ended, in its own words."""
    if said is None:
        return "it ended"
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("leastwise: ") if lines else "it could not begin"


def read_run(folder: Path) -> tuple[RunTask, Schema]:
    """Return what a run was asked and its attributes, whether it is finished or not."""
    check_run(folder)
    if not (folder / SCHEMA).is_file():
        raise ParameterError(f"the run in {folder} has only just begun; open the studio in a minute")
    return read_task(folder), load_schema(folder / SCHEMA)


def find_records(folder: Path, name: str, given: str | None) -> str | Path:
    """Return where the records of a run are: as given, or by their name here or beside the run."""
    if given is not None:
        return given
    for place in (Path.cwd(), folder, folder.parent):
        if (place / name).is_file():
            return place / name
    raise ParameterError(f"the run's folder holds no records; name their file ({name}) after it")
