"""
Your own adversary
==================

A complete adversary in thirty lines, judged on the same breach as ours::

    python examples/08_your_own_adversary.py
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np

from leastwise import PATMinimizer, PrivacyLeakWarning, Table
from leastwise.adversaries import (
    Breach,
    Finding,
    Reconstruction,
    ReconstructionResult,
    StrongestOf,
    reconstruction_fields,
)
from leastwise.datasets import load_adult

warnings.simplefilter("ignore", PrivacyLeakWarning)


@dataclass(frozen=True)
class Neighbours:
    """Look up the known people who gave most of the same answers, and guess what most of them have.

    The adversary holds the stolen records, the generalization, and full records of other people. 0: it tells
    every personal attribute of everybody; 1: none of anybody.
    """

    few: int = 25
    name: str = "neighbours"

    def attack(self, breach: Breach) -> ReconstructionResult:
        start = time.perf_counter()
        known = breach.train.generalize(breach.generalization)
        stolen, record_of = np.unique(breach.records, axis=0, return_inverse=True)
        alike = np.array([(known == z).sum(axis=1).argpartition(-self.few)[-self.few :] for z in stolen])
        found = [self._find(breach, p, alike, record_of.ravel()) for p in breach.targets]
        return ReconstructionResult(**reconstruction_fields(self.name, breach, found, start))

    def _find(self, breach: Breach, p: int, alike: np.ndarray, record_of: np.ndarray) -> Finding:
        values = breach.train.codes[:, p][alike]  # what the neighbours of each distinct stolen record have
        votes = np.array([np.bincount(row, minlength=breach.train.sizes[p]) for row in values])
        guess, sure = votes.argmax(axis=1), votes.max(axis=1) / self.few
        wrong = breach.targets[p].wrong(guess[record_of])  # only the scoring looks at the truth
        return Finding(breach.targets[p], wrong, sure[record_of], self.name, doubt=0.0)


# %%
# Both attack the same stolen records.

adult = load_adult()
split = Table.from_frame(adult.frame, adult.schema).split(seed=0)
g = PATMinimizer(alpha=0.7, max_leaves=12, random_state=0).propose(split.train)
breach = Breach.of(g, split)

for adversary in (Neighbours(), Reconstruction(StrongestOf(quick=True))):
    found = adversary.attack(breach)
    low, high = found.interval
    print(f"{found.adversary}: wrong {found.adversary_error:.3f} of the time ({low:.3f} to {high:.3f}); ", end="")
    print(f"guessing errs {found.baseline:.3f}; it tells most about", end=" ")
    print(min(found.attributes, key=lambda each: each.adversary_error - each.baseline).attribute)
