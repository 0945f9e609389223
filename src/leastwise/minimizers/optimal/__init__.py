"""The exact partition: a dynamic program per attribute."""

from leastwise.minimizers.optimal.minimizer import OptimalMinimizer, optimal_path
from leastwise.minimizers.optimal.program import Program, make_program

__all__ = ["OptimalMinimizer", "Program", "make_program", "optimal_path"]
