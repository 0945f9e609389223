"""
Your own minimizer
==================

A complete minimizer in thirty lines: it then works in Python, in scikit-learn and beside all others::

    python examples/07_your_own_minimizer.py
"""

import warnings

import numpy as np

from leastwise import Generalization, PrivacyLeakWarning, Table, evaluate
from leastwise.datasets import load_adult
from leastwise.minimizers import Minimizer

warnings.simplefilter("ignore", PrivacyLeakWarning)


class HalvesMinimizer(Minimizer):
    """Ask the k attributes whose two halves differ most in the label; each of them in two halves."""

    name = "halves"
    reference = "examples/07_your_own_minimizer.py"

    def __init__(self, k=3, *, schema=None, personal=None, random_state=None):
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.k = k

    def minimize(self, table: Table) -> Generalization:
        halves = [self._halves(table, j) for j in range(len(table.schema))]
        gaps = [self._gap(table, j, half) for j, half in enumerate(halves)]
        asked = set(np.argsort(gaps)[-self.k :].tolist())
        # One bucket for every code of an attribute means that it is not asked.
        return table.generalization([half if j in asked else 0 * half for j, half in enumerate(halves)])

    def _halves(self, table: Table, j: int) -> np.ndarray:
        """Say for each code of an attribute in which of two buckets it goes."""
        codes, use = table.codes[:, j], table.use(j)
        if table.schema.attributes[j].kind == "discrete":  # values without an order: by the share of label 1
            ones = np.bincount(codes, weights=table.y == 1, minlength=len(use))
            return (ones > table.y.mean() * use).astype(int)
        return (np.cumsum(use) > use.sum() / 2).astype(int)  # numbers and ordered values: at the median

    def _gap(self, table: Table, j: int, half: np.ndarray) -> float:
        upper = half[table.codes[:, j]] == 1
        return abs(table.y[upper].mean() - table.y[~upper].mean()) if upper.any() and not upper.all() else 0.0


# %%
# It is judged like any other.

adult = load_adult()
split = Table.from_frame(adult.frame, adult.schema).split(seed=0)
g = HalvesMinimizer(k=3).propose(split.train)  # warns of what could be traced to one person, and signs its work
print(g)

judged = evaluate(g, split, ["A1"], quick=True)
assert judged.utility is not None
print(f"The classifier errs {judged.utility.error:.3f}, a thief {judged['A1'].adversary_error:.3f}.")

# %%
# It is a scikit-learn transformer, too.

features = adult.frame.select(adult.schema.names)
labels = adult.frame["income"].to_list()
fitted = HalvesMinimizer(k=2, schema=adult.schema).fit(features, labels)
print(f"transform gives {fitted.transform(features).shape[1]} columns of buckets.")
