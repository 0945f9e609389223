"""
Your own adversary
==================

A complete adversary in thirty lines, judged on the same breach as ours::

    python examples/08_your_own_adversary.py
"""

import warnings

import numpy as np

from leastwise import PATMinimizer, PrivacyLeakWarning, Table, evaluate
from leastwise.adversaries import Breach, ReconstructionResult, scored
from leastwise.datasets import load_adult

warnings.simplefilter("ignore", PrivacyLeakWarning)


class Neighbours:
    """Look up the known people who gave most of the same answers, and guess what most of them have."""

    name = "neighbours"
    title = "Who answers alike, is alike"
    scenario = (
        "Somebody steals the generalized records and has full records of other people. For each stolen record it "
        "looks up the known people with the most equal answers, and guesses what most of them have."
    )

    def __init__(self, few: int = 25):
        self.few = few

    def attack(self, breach: Breach) -> ReconstructionResult:
        known = breach.train.generalize(breach.generalization)
        stolen, record_of = np.unique(breach.records, axis=0, return_inverse=True)
        alike = np.array([(known == z).sum(axis=1).argpartition(-self.few)[-self.few :] for z in stolen])
        return scored(
            self.name, breach, {p: self._guess(breach, p, alike)[record_of.ravel()] for p in breach.targets}
        )

    def _guess(self, breach: Breach, p: int, alike: np.ndarray) -> np.ndarray:
        values = breach.train.codes[:, p][alike]  # what the neighbours of each distinct stolen record have
        return np.array([np.bincount(row, minlength=breach.train.sizes[p]).argmax() for row in values])


# %%
# Both attack the same stolen records.

adult = load_adult()
split = Table.from_frame(adult.frame, adult.schema).split(seed=0)
g = PATMinimizer(alpha=0.7, max_leaves=12, random_state=0).propose(split.train)
judged = evaluate(g, split, [Neighbours(), "A1"], quick=True)

for name in ("neighbours", "A1"):
    found = judged[name]
    low, high = found.interval
    print(f"{name}: wrong {found.adversary_error:.3f} of the time ({low:.3f} to {high:.3f}); ", end="")
    print(f"guessing errs {found.baseline:.3f}.")
