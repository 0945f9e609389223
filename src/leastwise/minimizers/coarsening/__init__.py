"""Backward coarsening: merge two buckets at a time, as long as anything is asked."""

from leastwise.minimizers.coarsening.minimizer import CoarseningMinimizer
from leastwise.minimizers.coarsening.path import coarsening_path, coarsening_steps
from leastwise.minimizers.coarsening.restarts import restarted_paths

__all__ = ["CoarseningMinimizer", "coarsening_path", "coarsening_steps", "restarted_paths"]
