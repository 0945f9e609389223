"""From records to a decision: what minimizers propose, the frontier of it, and a choice under a budget."""

from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import Candidate, Failure, Figures
from leastwise.runs.choice import DEFAULT, Choice, choose
from leastwise.runs.folder import Run, choose_again, pick
from leastwise.runs.frontier import Areas, Frontier
from leastwise.runs.grid import Entry, Grid, default_grid, load_grid
from leastwise.runs.proposals import Pool
from leastwise.runs.run import run
from leastwise.runs.stability import Repeats, Stability, repeat, stability
from leastwise.runs.task import Options, Parts, RunTask
from leastwise.runs.verdicts import Verdict
from leastwise.runs.workers import Stage, Stages, Workers, stage_table

__all__ = [
    "DEFAULT",
    "Areas",
    "Budget",
    "Candidate",
    "Choice",
    "Entry",
    "Failure",
    "Figures",
    "Frontier",
    "Grid",
    "Options",
    "Parts",
    "Pool",
    "Repeats",
    "Run",
    "RunTask",
    "Size",
    "Stability",
    "Stage",
    "Stages",
    "Verdict",
    "Workers",
    "choose",
    "choose_again",
    "default_grid",
    "load_grid",
    "pick",
    "repeat",
    "run",
    "stability",
    "stage_table",
]
