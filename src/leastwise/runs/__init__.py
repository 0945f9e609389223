"""From records to a decision: a sweep over minimizers, the frontier of its candidates, and a choice."""

from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import Candidate, Failure
from leastwise.runs.choice import DEFAULT, Choice, choose
from leastwise.runs.figures import Figures
from leastwise.runs.folder import Run, RunTask
from leastwise.runs.frontier import Frontier, FrontierPoint
from leastwise.runs.grid import Entry, Grid, default_grid, load_grid
from leastwise.runs.run import Options, choose_again, run
from leastwise.runs.stages import Watcher
from leastwise.runs.sweeping import Sweep, sweep
from leastwise.runs.workers import Workers

__all__ = [
    "DEFAULT",
    "Budget",
    "Candidate",
    "Choice",
    "Entry",
    "Failure",
    "Figures",
    "Frontier",
    "FrontierPoint",
    "Grid",
    "Options",
    "Run",
    "RunTask",
    "Size",
    "Sweep",
    "Watcher",
    "Workers",
    "choose",
    "choose_again",
    "default_grid",
    "load_grid",
    "run",
    "sweep",
]
