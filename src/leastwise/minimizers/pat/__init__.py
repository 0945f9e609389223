"""PAT, the privacy-aware tree: criterion, split candidates (kernels), growth order, tree, export and drawing."""

from leastwise.minimizers.pat.minimizer import ALPHAS, LEAVES, PATMinimizer, grow_tree, pat_grid, pat_path
from leastwise.minimizers.pat.tree import PATTree, Split

__all__ = ["ALPHAS", "LEAVES", "PATMinimizer", "PATTree", "Split", "grow_tree", "pat_grid", "pat_path"]
