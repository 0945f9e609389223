"""PAT, the privacy-aware tree: split candidates (kernels), growth order, tree, export, words and drawing."""

from leastwise.minimizers.pat.drawing import BucketStory, bucket_stories, draw_svg, draw_text, explain
from leastwise.minimizers.pat.minimizer import (
    ALPHAS,
    LEAVES,
    PATMinimizer,
    fitting_min_leaf,
    grow_tree,
    pat_grid,
    pat_path,
)
from leastwise.minimizers.pat.tree import PATTree, Split

__all__ = [
    "ALPHAS",
    "LEAVES",
    "BucketStory",
    "PATMinimizer",
    "PATTree",
    "Split",
    "bucket_stories",
    "draw_svg",
    "draw_text",
    "explain",
    "fitting_min_leaf",
    "grow_tree",
    "pat_grid",
    "pat_path",
]
