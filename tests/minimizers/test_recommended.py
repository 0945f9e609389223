"""The recommended candidates: all of them, each once, saying where they come from."""

from __future__ import annotations

from leastwise import Generalization
from leastwise.minimizers import Constraints, optimal_path, recommended_paths
from tests.minimizers.test_coarsening import example


def test_both_ends_and_both_minimizers_are_among_them_each_once():
    table = example(800)
    found = recommended_paths(table, steps=10)
    assert found[0] == Generalization.untouched(table.schema)
    assert Generalization.suppressed(table.schema) in found
    assert len({g.fingerprint for g in found}) == len(found)
    assert {g.origin["minimizer"] for g in found} == {"optimal", "coarsening"}
    assert all(candidate in found for candidate in optimal_path(table, 10))


def test_every_candidate_says_what_it_was_chosen_on():
    split = example(900).split(3)
    for candidate in recommended_paths(split.train, steps=6):
        assert candidate.origin["chosen_on"] == "train"
        assert candidate.origin["split_seed"] == 3


def test_candidates_hold_to_the_constraints():
    table = example(800)
    for candidate in recommended_paths(table, constraints=Constraints(suppressed=["twin"])):
        assert "twin" in candidate.not_collected
