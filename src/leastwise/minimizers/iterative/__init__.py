"""Iterative: k buckets per attribute, taken away one by one while the classifier still errs little enough."""

from leastwise.minimizers.iterative.minimizer import IterativeMinimizer, Step, iterative_path

__all__ = ["IterativeMinimizer", "Step", "iterative_path"]
