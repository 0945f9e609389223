"""From records to a decision: a sweep over minimizers, the frontier of its candidates, and a choice."""

from leastwise.evaluation.sweep.backends import Workers
from leastwise.evaluation.sweep.budget import Budget, Size
from leastwise.evaluation.sweep.candidates import Candidate, Failure
from leastwise.evaluation.sweep.choice import DEFAULT, Choice, choose
from leastwise.evaluation.sweep.figures import Figures
from leastwise.evaluation.sweep.folder import Run, RunTask
from leastwise.evaluation.sweep.frontier import Frontier, FrontierPoint
from leastwise.evaluation.sweep.grid import Entry, Grid, default_grid, load_grid
from leastwise.evaluation.sweep.running import Options, choose_again, run
from leastwise.evaluation.sweep.stages import Watcher
from leastwise.evaluation.sweep.sweeping import Sweep, sweep

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
