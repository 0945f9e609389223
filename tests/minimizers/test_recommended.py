"""The recommended candidates: all of them, each once, saying where they come from."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.minimizers import Constraints, optimal_path, recommended_paths
from leastwise.minimizers.coarsening import coarsening_steps
from leastwise.minimizers.joint_state import Records
from leastwise.minimizers.training_estimates import estimate, unbeaten
from tests.minimizers.test_coarsening import example


def test_both_ends_and_both_minimizers_are_among_them_each_once():
    table = example(800)
    found = recommended_paths(table, steps=10)
    assert found[0] == Generalization.untouched(table.schema)
    assert Generalization.suppressed(table.schema) in found
    assert len({g.fingerprint for g in found}) == len(found)
    assert {g.origin["minimizer"] for g in found} <= {"optimal", "joint", "coarsening"}


def test_what_is_beaten_on_the_training_records_is_left_out():
    table = example(2000)
    kept = recommended_paths(table, steps=10)
    records, weights = Records.of(table), np.ones(1)
    safe, fine = (estimate(records, g, weights) for g in (kept[1], optimal_path(table, 10)[2]))
    assert safe.adversary_error > fine.adversary_error
    estimates = [estimate(records, g, weights) for g in kept[2:]]
    assert unbeaten(estimates, people=1000) == [*range(len(estimates))]


def test_estimates_are_those_of_a_path():
    table = example(600)
    for step in coarsening_steps(table, Generalization.untouched(table.schema))[-3:]:
        found = estimate(Records.of(table), step.generalization, np.ones(1))
        assert found.adversary_error == pytest.approx(step.adversary_error, abs=0.02)
        assert found.utility_risk == pytest.approx(step.utility_risk, abs=0.02)


def test_every_candidate_says_what_it_was_chosen_on():
    split = example(900).split(3)
    for candidate in recommended_paths(split.train, steps=6):
        assert candidate.origin["chosen_on"] == "train"
        assert candidate.origin["split_seed"] == 3


def test_candidates_hold_to_the_constraints():
    table = example(800)
    for candidate in recommended_paths(table, constraints=Constraints(suppressed=["twin"])):
        assert "twin" in candidate.not_collected
