"""
A policy, and two checks a year later
=====================================

A policy, what the sample promised, and two checks a year later: one is fine, one is not::

    python examples/05_policy_and_check.py
"""

import warnings

import polars as pl

from leastwise import PATMinimizer, PrivacyLeakWarning, Table
from leastwise.checks import Check, Promise, check, read_new
from leastwise.datasets import load_adult
from leastwise.evaluation import evaluate
from leastwise.policy import Policy

warnings.simplefilter("ignore", PrivacyLeakWarning)

POLICY = """\
format: leastwise-policy
version: 1
label: income
quick: true
budget:
  max_error_increase: 0.06
  min_adversary_error: {mean: 0.3, sex: 0.25}
"""

# %%
# The policy is reviewed like code: ``Policy.load("leastwise.yaml")`` lists every mistake in it with its line.

adult = load_adult()
people = adult.frame.sample(fraction=1.0, shuffle=True, seed=0)
sample, later = people[:24_000], people[24_000:]

policy = Policy.from_yaml(POLICY)

# %%
# Once: choose on the training part of the sample, and note what its test part promises.

split = Table.from_frame(sample, adult.schema).split(policy.seed)
g = PATMinimizer(alpha=0.7, max_leaves=12, random_state=0).propose(split.train)
promise = Promise.of(g, split.test, evaluate(g, split, ["A1", "A8"], policy.seed, policy.quick))
print(f"{promise.people:,} people promise; their counts are rounded to {promise.rounded_to}.")


def judge(records: pl.DataFrame) -> Check:
    new = read_new(records, adult.schema)  # values that nobody declared are counted, not fatal
    return check(g, new, budget=policy.budget, promise=promise, limits=policy.drift, quick=policy.quick)


# %%
# From then on: the same people drawn again, and only those who are 40 or older.

for who, records in (("the same people", later), ("40 or older", later.filter(pl.col("age") >= 40))):
    found = judge(records)
    print(f"\n{who}: {'broken' if found.broken else 'fine'} ({len(found.comparisons)} questions)")
    for reason in found.reasons[:4]:
        print(f"  - {reason}")
