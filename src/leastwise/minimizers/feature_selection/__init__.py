"""Feature selection: ask a few attributes in full, and nothing else."""

from leastwise.minimizers.feature_selection.minimizer import METHODS, FeatureSelectionMinimizer

__all__ = ["METHODS", "FeatureSelectionMinimizer"]
