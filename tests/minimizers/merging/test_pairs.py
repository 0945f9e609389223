"""Which two buckets are merged first: the cheapest, or those whose merge makes an attacker err most for it."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization, Schema, Table
from leastwise.minimizers import Constraints
from leastwise.minimizers.coarsening.gains import gains_of
from leastwise.minimizers.constraints.constraints import MergeRules
from leastwise.minimizers.merging.pairs import Pair, costs_of, pairs_of, worth_their_cost
from leastwise.minimizers.merging.search import Search
from leastwise.partition import keep
from leastwise.predictors.held_out import held_out
from tests.samples import LABEL, coded, named


def telling(rows: int = 6000, seed: int = 0) -> Table:
    """``job`` tells the label; its first two groups tell the secret apart, and nothing else."""
    random = np.random.default_rng(seed)
    secret, job = random.integers(0, 2, rows), random.integers(0, 4, rows)
    job = np.where(job < 2, secret, job)
    labels = (job >= 2) ^ (random.random(rows) < 0.1)
    schema = Schema((named("job", 4), named("secret", 2, personal=True)), LABEL)
    return coded(schema, job, secret, labels=labels)


def asking(table: Table, *names: str) -> Generalization:
    """Return the form that asks these in full, and nothing else."""
    none = Generalization.suppressed(table.schema)
    for name in names:
        none = none.replacing(keep(table.schema[name]))
    return none


def test_a_merge_gains_what_an_attacker_who_counts_errs_more():
    table = telling()
    gains = gains_of(table, asking(table, "job"), [(0, (0, 1)), (0, (2, 3)), (0, (0, 1, 2, 3))])
    # Half of the people have the first two jobs; who knows which is never wrong, else half of the time.
    assert gains[0] == pytest.approx(0.25, abs=0.02)
    assert gains[1] == pytest.approx(0.0, abs=0.02)
    assert gains[2] == pytest.approx(0.25, abs=0.02)
    assert gains_of(table, asking(table, "job"), []) == []


def test_of_merges_that_cost_nothing_the_safest_comes_first():
    table = telling()
    split, form = table.split(0), asking(table, "job")
    _, classifier = held_out(form, split.train, split.validation)
    rules = MergeRules.of(Constraints(), form.partitions)
    every = pairs_of(form, split.train, rules)
    costs = dict(zip(every, costs_of(every, form, classifier, split.train, split.validation), strict=True))
    assert costs[Pair(0, (0, 1))] < 0.01 < 0.1 < costs[Pair(0, (0, 2))]  # as shares of the people
    pairs = worth_their_cost(form, classifier, split.train, split.validation, rules, split.train, most=0.02)
    assert [pair.buckets for pair in pairs] == [(0, 1)]  # the others cost too much, or gain nothing


def test_before_a_loss_goes_to_fewer_answers_it_goes_to_safer_ones():
    table = telling()
    split, form = table.split(0), asking(table, "job")
    search = Search(split.train, split.validation, Constraints(), split.train)
    search.begin(form)
    safer = search.with_safer_answers(form)
    first, second, *others = safer["job"].assignment[:4]
    assert first == second not in others
    assert len({*others}) == 2  # to ask these apart tells an attacker nothing
