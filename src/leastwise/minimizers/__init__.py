"""Minimizers: what proposes a generalization from training records."""

from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.feature_selection import FeatureSelectionMinimizer
from leastwise.minimizers.uniform import UniformMinimizer

MINIMIZERS: dict[str, type[Minimizer]] = {
    minimizer.name: minimizer for minimizer in (UniformMinimizer, FeatureSelectionMinimizer)
}

__all__ = ["MINIMIZERS", "FeatureSelectionMinimizer", "Minimizer", "UniformMinimizer"]
