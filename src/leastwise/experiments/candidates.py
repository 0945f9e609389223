"""The candidates of the paper's experiments: each minimizer at the paper's settings, from training records."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from leastwise.errors import MissingExtraError, PrivacyLeakWarning
from leastwise.experiments.judging import Laboratory
from leastwise.generalization import Generalization
from leastwise.minimizers import (
    AdvTrainMinimizer,
    AptMinimizer,
    FeatureSelectionMinimizer,
    Minimizer,
    MutualInfMinimizer,
    OptimalMinimizer,
    UniformMinimizer,
    iterative_path,
    pat_grid,
)
from leastwise.minimizers.pat.minimizer import ALPHAS, LEAVES
from leastwise.records.table import Table
from leastwise.runs.grid import Grid

UNIFORM = (1, 2, 3, 4, 5)
SELECTED = (2, 4, 8, 10, 20)
TARGETS = (0.9, 0.92, 0.94, 0.96, 0.97, 0.98, 0.99)
LAMBDAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
INFORMATION_LAMBDAS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
QUICK_ALPHAS, QUICK_LEAVES = (0.3, 0.7), (2, 4, 10, 20, 50)


class Candidate(NamedTuple):
    """A generalization, who found it, and with which settings."""

    minimizer: str
    setting: str
    generalization: Generalization


def found_by(minimizer: Minimizer, setting: str, laboratory: Laboratory) -> Candidate:
    """Return what one minimizer finds on the training part."""
    laboratory.progress.begin(f"{minimizer.name} {setting}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # candidates are judged here, not published
        return Candidate(minimizer.name, setting, minimizer.propose(laboratory.train))


def pat(laboratory: Laboratory, alphas: Sequence[float] = (), leaves: Sequence[int] = ()) -> list[Candidate]:
    """Return the paper's grid of privacy-aware trees, or a part of it."""
    alphas = alphas or (QUICK_ALPHAS if laboratory.quick else ALPHAS)
    leaves = leaves or (QUICK_LEAVES if laboratory.quick else LEAVES)
    laboratory.progress.begin(f"growing {len(alphas)} privacy-aware trees")
    grid = pat_grid(laboratory.train, alphas, leaves)
    return [
        Candidate("pat", f"alpha={alpha:g} leaves={count}", generalization)
        for alpha, row in zip(alphas, grid, strict=True)
        for count, generalization in zip(leaves, row, strict=True)
    ]


def uniform(laboratory: Laboratory, sizes: Sequence[int] = UNIFORM) -> list[Candidate]:
    """Return the uniform baseline."""
    return [found_by(UniformMinimizer(k, random_state=laboratory.seed), f"k={k}", laboratory) for k in sizes]


def feature_selection(laboratory: Laboratory, method: str = "anova") -> list[Candidate]:
    """Return k attributes untouched and the others suppressed, chosen in one of four ways."""
    sizes = [k for k in SELECTED if k < len(laboratory.train.schema)]
    candidates = [
        found_by(FeatureSelectionMinimizer(k, method), f"k={k}", laboratory)  # type: ignore[arg-type]
        for k in (*sizes, "all")
    ]
    return [candidate._replace(minimizer=f"feature-selection ({method})") for candidate in candidates]


def iterative(laboratory: Laboratory) -> list[Candidate]:
    """Return a walk along the iterative minimizer's path, from four buckets each to nothing."""
    laboratory.progress.begin("iterative path")
    steps = iterative_path(laboratory.train, 1.0, random_state=laboratory.seed)
    kept = steps[:: max(1, len(steps) // (4 if laboratory.quick else 10))]
    return [Candidate("iterative", f"error<={step.error:.3f}", step.generalization) for step in kept]


def apt(laboratory: Laboratory) -> list[Candidate]:
    """Return the model-guided trees for several targets of relative accuracy."""
    targets = TARGETS[::3] if laboratory.quick else TARGETS
    return [found_by(AptMinimizer(t, random_state=laboratory.seed), f"target={t:g}", laboratory) for t in targets]


def advtrain(laboratory: Laboratory, lambdas: Sequence[float] = ()) -> list[Candidate]:
    """Return the adversarially trained networks' buckets."""
    chosen = lambdas or (LAMBDAS[::4] if laboratory.quick else LAMBDAS)
    return [
        found_by(AdvTrainMinimizer(x, random_state=laboratory.seed), f"lambda={x:g}", laboratory) for x in chosen
    ]


def mutual_information(laboratory: Laboratory) -> list[Candidate]:
    """Return the buckets of networks that tell little of the record."""
    chosen = INFORMATION_LAMBDAS[::4] if laboratory.quick else INFORMATION_LAMBDAS
    return [
        found_by(MutualInfMinimizer(x, random_state=laboratory.seed), f"lambda={x:g}", laboratory) for x in chosen
    ]


def optimal(laboratory: Laboratory) -> list[Candidate]:
    """Return the exact partition for several Lagrange multipliers of what is told; not in the paper."""
    multipliers = (0.3, 3.0) if laboratory.quick else (0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0)
    return [
        found_by(OptimalMinimizer(x, random_state=laboratory.seed), f"lambda={x:g}", laboratory)
        for x in multipliers
    ]


def own(laboratory: Laboratory, train: Table | None = None) -> list[Candidate]:
    """Return what the minimizers propose that somebody brought, from these records or the training part."""
    if not laboratory.minimizers:
        return []
    grid = Grid.of(*laboratory.minimizers, seeds=(laboratory.seed,))
    grid.check()
    candidates: list[Candidate] = []
    for source in grid.sources():
        laboratory.progress.begin(source.minimizer)
        for parameters, generalization in source.propose(train or laboratory.train):
            setting = " ".join(f"{name}={value}" for name, value in parameters.items() if value is not None)
            candidates.append(Candidate(source.minimizer, setting, generalization))
    return candidates


def on_frontier(laboratory: Laboratory, most: int = 12) -> list[Candidate]:
    """Return the frontier of PAT, or of the minimizers that somebody brought instead."""
    candidates = own(laboratory) or pat(laboratory)
    first = {candidate.generalization.fingerprint: candidate for candidate in reversed(candidates)}
    return [first[g.fingerprint] for g in laboratory.front([c.generalization for c in candidates], most)]


BASELINES = (uniform, feature_selection, iterative, apt)
NEURAL = (advtrain, mutual_information)


def every_minimizer(laboratory: Laboratory) -> list[Candidate]:
    """Return the candidates of all minimizers, also those brought; the neural ones where PyTorch is installed."""
    makers = (pat, *BASELINES, optimal, own)
    candidates = [*itertools.chain.from_iterable(make(laboratory) for make in makers)]
    try:
        candidates += itertools.chain.from_iterable([make(laboratory) for make in NEURAL])
    except MissingExtraError as error:
        laboratory.progress.begin(f"left out advtrain and mutualinf: {error}")
    return candidates
