"""
A new generalization after a leak
=================================

Adopting a new generalization while the records under the old one leaked: what do both tell together (A6)? ::

    python examples/06_re_release.py
"""

import warnings

from leastwise import Generalization, PATMinimizer, PrivacyLeakWarning, Table
from leastwise.checks import check
from leastwise.datasets import load_adult
from leastwise.partition import suppress
from leastwise.runs import Budget

warnings.simplefilter("ignore", PrivacyLeakWarning)

adult = load_adult()
table = Table.from_frame(adult.frame, adult.schema)
train = table.split(seed=0).train

old = PATMinimizer(alpha=0.7, max_leaves=12, random_state=0).propose(train)
coarser = old.replacing(suppress(adult.schema[old.collected[-1]]))  # one question less: nested in the old one
other = PATMinimizer(alpha=0.1, max_leaves=12, random_state=0).propose(train)  # other questions, other edges


# %%
# What a thief of both tells, beside what the new records tell alone.


def together(new: Generalization) -> None:
    budget = Budget(min_adversary_error={"mean": 0.3})
    # The sample itself: its test part had no say in choosing, as long as it is split as it was.
    found = check(new, table, budget=budget, previous=[old], seed=0, held_out=False, quick=True)
    assert found.evaluation is not None
    alone, both = found.evaluation["A1"].adversary_error, found.evaluation["A6"].adversary_error
    print(f"A thief errs {alone:.3f} with the new records alone, {both:.3f} with the old ones beside them.")
    print(found.notes[0])
    print("The budget is broken." if found.broken else "The budget is kept.", *found.reasons, sep="\n  - ")


# %%
# A nested one adds nothing to what leaked; another one does.

for name, new in (("A coarser one", coarser), ("Another one", other)):
    print(f"\n{name}: asks {len(new.collected)} attributes.")
    together(new)
