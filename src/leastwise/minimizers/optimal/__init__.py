"""The exact partition: a dynamic program per attribute."""

from leastwise.minimizers.optimal.minimizer import OptimalMinimizer, Program, make_program
from leastwise.minimizers.optimal.path import optimal_path

__all__ = ["OptimalMinimizer", "Program", "make_program", "optimal_path"]
