"""From records to a generalization, its price and its protection, in about twenty lines.

python examples/01_getting_started.py
"""

import warnings

from leastwise import Generalization, PATMinimizer, PrivacyLeakWarning, Table, evaluate
from leastwise.datasets import load_adult

warnings.simplefilter(
    "ignore", PrivacyLeakWarning
)  # a sample edge that one person explains; see docs/minimizers.md

adult = load_adult()  # 48,842 records, comes with the package
table = Table.from_frame(adult.frame, adult.schema)
train, validation, test = split = table.split(seed=0)  # 60 / 10 / 30, every value in training

g = PATMinimizer(alpha=0.7, max_leaves=20).propose(train)
print(g)

judged = evaluate(g, split, ["A1", "A8"], quick=True)
assert judged.utility is not None
assert judged.everything is not None
print(f"\nThe classifier errs {judged.utility.error:.3f}; with everything asked {judged.everything.error:.3f}.")
print(f"A thief errs {judged['A1'].adversary_error:.3f}; guessing errs {judged['A1'].baseline:.3f}.")

assert judged.certificate is not None
print(judged.certificate.sentences()[6])

again = Generalization.from_json(g.to_json())  # a person can read the file; it holds nothing counted from data
print(again.transform(adult.frame).head())
