"""Backward coarsening: merge two buckets at a time, as long as anything is asked."""

from leastwise.minimizers.coarsening.minimizer import CoarseningMinimizer, restarted_paths
from leastwise.minimizers.coarsening.path import coarsening_path, coarsening_steps

__all__ = ["CoarseningMinimizer", "coarsening_path", "coarsening_steps", "restarted_paths"]
