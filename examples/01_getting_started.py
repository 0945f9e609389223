"""
Getting started
===============

From records to a generalization, its price and its protection, in about twenty lines::

    python examples/01_getting_started.py
"""

import warnings

from leastwise import Generalization, PATMinimizer, PrivacyLeakWarning, Table, evaluate
from leastwise.datasets import load_adult

# A sample edge that one person explains is told; see docs/minimizers.md.
warnings.simplefilter("ignore", PrivacyLeakWarning)

adult = load_adult()  # 48,842 records, comes with the package
table = Table.from_frame(adult.frame, adult.schema)
train, validation, test = split = table.split(seed=0)  # 60 / 10 / 30, every value in training

g = PATMinimizer(alpha=0.7, max_leaves=20).propose(train)
print(g)

# %%
# What it costs, and what it protects: the error of a classifier that sees only the buckets, and of an adversary
# who stole them (A1), beside guessing.

judged = evaluate(g, split, ["A1", "A8"], quick=True)
assert judged.utility is not None
assert judged.everything is not None
print(f"The classifier errs {judged.utility.error:.3f}; with everything asked {judged.everything.error:.3f}.")
print(f"A thief errs {judged['A1'].adversary_error:.3f}; guessing errs {judged['A1'].baseline:.3f}.")

# %%
# What nobody can do, however clever.

assert judged.certificate is not None
print(judged.certificate.sentences()[6])

# %%
# A person can read the file; it holds nothing counted from data. It is all that is needed to apply it.

again = Generalization.from_json(g.to_json())
print(again.transform(adult.frame).head())
