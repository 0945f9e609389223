"""Minimizers: what proposes a generalization from training records."""

from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.feature_selection import FeatureSelectionMinimizer
from leastwise.minimizers.floor import at_least
from leastwise.minimizers.iterative import IterativeMinimizer, iterative_path
from leastwise.minimizers.pat import PATMinimizer, pat_grid, pat_path
from leastwise.minimizers.uniform import UniformMinimizer

MINIMIZERS: dict[str, type[Minimizer]] = {
    minimizer.name: minimizer
    for minimizer in (UniformMinimizer, FeatureSelectionMinimizer, IterativeMinimizer, PATMinimizer)
}

__all__ = [
    "MINIMIZERS",
    "FeatureSelectionMinimizer",
    "IterativeMinimizer",
    "Minimizer",
    "PATMinimizer",
    "UniformMinimizer",
    "at_least",
    "iterative_path",
    "pat_grid",
    "pat_path",
]
