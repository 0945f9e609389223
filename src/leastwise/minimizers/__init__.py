"""Minimizers: what proposes a generalization from training records."""

from leastwise.minimizers.apt import AptMinimizer
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening import coarsening_path
from leastwise.minimizers.coarsening.minimizer import CoarseningMinimizer
from leastwise.minimizers.coarsening.restarts import restarted_paths
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.constraints.floor import at_least
from leastwise.minimizers.descent.descent import joint_path
from leastwise.minimizers.feature_selection import FeatureSelectionMinimizer
from leastwise.minimizers.iterative import IterativeMinimizer, iterative_path
from leastwise.minimizers.neural import AdvTrainMinimizer, MutualInfMinimizer, watched
from leastwise.minimizers.optimal import OptimalMinimizer, optimal_path
from leastwise.minimizers.pat import PATMinimizer, draw_svg, draw_text, explain, pat_grid, pat_path
from leastwise.minimizers.recommended import recommended_paths
from leastwise.minimizers.registry import MINIMIZERS, known_minimizers
from leastwise.minimizers.uniform import UniformMinimizer

__all__ = [
    "MINIMIZERS",
    "AdvTrainMinimizer",
    "AptMinimizer",
    "CoarseningMinimizer",
    "Constraints",
    "FeatureSelectionMinimizer",
    "IterativeMinimizer",
    "Minimizer",
    "MutualInfMinimizer",
    "OptimalMinimizer",
    "PATMinimizer",
    "UniformMinimizer",
    "at_least",
    "coarsening_path",
    "draw_svg",
    "draw_text",
    "explain",
    "iterative_path",
    "joint_path",
    "known_minimizers",
    "optimal_path",
    "pat_grid",
    "pat_path",
    "recommended_paths",
    "restarted_paths",
    "watched",
]
