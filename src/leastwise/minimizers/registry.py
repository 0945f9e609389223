"""All minimizers by name: ours, and those that other packages announce."""

from __future__ import annotations

from typing import Any

from leastwise.minimizers.apt import AptMinimizer
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening import CoarseningMinimizer
from leastwise.minimizers.feature_selection import FeatureSelectionMinimizer
from leastwise.minimizers.iterative import IterativeMinimizer
from leastwise.minimizers.neural import AdvTrainMinimizer, MutualInfMinimizer
from leastwise.minimizers.optimal import OptimalMinimizer
from leastwise.minimizers.pat import PATMinimizer
from leastwise.minimizers.uniform import UniformMinimizer
from leastwise.plugins import MINIMIZERS as GROUP
from leastwise.plugins import plugins

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
