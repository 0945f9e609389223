"""Minimizers: what proposes a generalization from training records."""

from typing import Any

from leastwise.minimizers.apt import AptMinimizer
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening import coarsening_path
from leastwise.minimizers.coarsening.minimizer import CoarseningMinimizer, restarted_paths
from leastwise.minimizers.constraints import Constraints, at_least, nested
from leastwise.minimizers.descent import joint_path
from leastwise.minimizers.feature_selection import FeatureSelectionMinimizer
from leastwise.minimizers.iterative import IterativeMinimizer, iterative_path
from leastwise.minimizers.merging import least, rounded, spend, uninformative
from leastwise.minimizers.neural import AdvTrainMinimizer, MutualInfMinimizer, watched
from leastwise.minimizers.optimal import OptimalMinimizer, optimal_path
from leastwise.minimizers.pat import PATMinimizer, draw_svg, draw_text, explain, pat_grid, pat_path
from leastwise.minimizers.recommended import recommended_paths
from leastwise.minimizers.uniform import UniformMinimizer
from leastwise.plugins import MINIMIZERS as GROUP
from leastwise.plugins import plugins

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
    "least",
    "nested",
    "optimal_path",
    "pat_grid",
    "pat_path",
    "recommended_paths",
    "restarted_paths",
    "rounded",
    "spend",
    "uninformative",
    "watched",
]

MINIMIZERS: dict[str, type[Minimizer]] = {
    minimizer.name: minimizer
    for minimizer in (  # the recommended one, what it is made of, and those of the literature
        CoarseningMinimizer,
        OptimalMinimizer,
        PATMinimizer,
        AptMinimizer,
        IterativeMinimizer,
        FeatureSelectionMinimizer,
        UniformMinimizer,
        AdvTrainMinimizer,
        MutualInfMinimizer,
    )
}
PATHS = ("recommended",)
"""Names that grids know beside: what is no minimizer by itself, but proposes."""


def known_minimizers() -> dict[str, Any]:
    """Return every minimizer that has a name: ours, then what other packages announce."""
    return {**MINIMIZERS, **plugins(GROUP, "minimize", (*MINIMIZERS, *PATHS))}
