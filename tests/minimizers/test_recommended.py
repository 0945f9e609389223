"""The recommended candidates: all of them, each once, saying where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from leastwise import Attribute, Generalization, Groups, Schema, Table
from leastwise.errors import DataError, SchemaError
from leastwise.minimizers import (
    Constraints,
    OptimalMinimizer,
    optimal_path,
    recommended,
    recommended_paths,
    restarted_paths,
)
from leastwise.minimizers.coarsening.minimizer import fine_starts
from leastwise.minimizers.coarsening.path import Step, coarsening_steps
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.optimal.surrogate import effects_of
from leastwise.minimizers.recommended import estimate, unbeaten
from tests.samples import LABEL, a_secret_and_its_twin, coded, long_row


def test_both_ends_and_both_minimizers_are_among_them_each_once():
    table = a_secret_and_its_twin(800)
    found = recommended_paths(table, steps=10)
    assert found[0] == Generalization.untouched(table.schema)
    assert Generalization.suppressed(table.schema) in found
    assert len({g.fingerprint for g in found}) == len(found)
    assert {g.origin["minimizer"] for g in found} <= {"optimal", "joint", "coarsening", "pat"}  # records are few


def test_trees_propose_where_records_are_few(monkeypatch):
    table = long_row()
    found = [g for g in recommended_paths(table, steps=8) if g.origin["minimizer"] == "pat"]
    assert found
    rare = table.people - np.bincount(table.y, weights=table.counts).max()
    monkeypatch.setattr(recommended, "_FEW", table.people)
    monkeypatch.setattr(recommended, "_FEW_RARE", rare + 1)  # many people, but few of the rarer class
    assert found == [g for g in recommended_paths(table, steps=8) if g.origin["minimizer"] == "pat"]
    monkeypatch.setattr(recommended, "_FEW_RARE", rare)
    assert not [g for g in recommended_paths(table, steps=8) if g.origin["minimizer"] == "pat"]


def test_trees_propose_where_attributes_are_many_and_all_effort_is_made(monkeypatch):
    table = a_secret_and_its_twin(600)
    monkeypatch.setattr(recommended, "_FEW", 0)
    monkeypatch.setattr(recommended, "_FEW_RARE", 0)

    def minimizers(steps):
        return {g.origin["minimizer"] for g in recommended_paths(table, steps=steps)}

    assert "pat" not in minimizers(40)
    monkeypatch.setattr(recommended, "_Effort", partial(recommended._Effort, many=len(table.schema) - 1))
    assert "pat" in minimizers(40)
    assert "pat" not in minimizers(24)


def test_what_is_beaten_on_the_training_records_is_left_out():
    table = a_secret_and_its_twin(2000)
    kept = recommended_paths(table, steps=10)
    records, weights = Records.of(table), np.ones(1)
    safe, fine = (estimate(records, g, weights) for g in (kept[1], optimal_path(table, 10)[2]))
    assert safe.adversary_error > fine.adversary_error
    estimates = [estimate(records, g, weights) for g in kept[2:]]
    assert unbeaten(estimates, people=1000) == [*range(len(estimates))]


def test_estimates_are_those_of_a_path():
    table = a_secret_and_its_twin(600)
    for step in coarsening_steps(table, Generalization.untouched(table.schema))[-3:]:
        found = estimate(Records.of(table), step.generalization, np.ones(1))
        assert found.adversary_error == pytest.approx(step.adversary_error, abs=0.02)
        assert found.utility_risk == pytest.approx(step.utility_risk, abs=0.02)


def test_every_candidate_says_what_it_was_chosen_on():
    split = a_secret_and_its_twin(900).split(3)
    for candidate in recommended_paths(split.train, steps=6):
        assert candidate.origin["chosen_on"] == "train"
        assert candidate.origin["split_seed"] == 3


def test_candidates_hold_to_the_constraints():
    table = a_secret_and_its_twin(800)
    for candidate in recommended_paths(table, constraints=Constraints(suppressed=["twin"])):
        assert "twin" in candidate.not_collected


def with_a_copy(rows: int = 2000) -> Table:
    """The example, in which ``twin`` repeats ``useful`` and so takes some of its effect."""
    table = a_secret_and_its_twin(rows)
    codes = table.codes.copy(order="F")
    codes[:, 2] = codes[:, 0] // 2
    return replace(table, codes=codes)


def test_what_may_not_be_collected_does_not_teach():
    table, surrogate = with_a_copy(), "one_hot_logistic"  # shares an effect between two that tell the same
    beside_all, beside_one = effects_of(table, surrogate), effects_of(table, surrogate, unseen=["twin"])
    assert np.ptp(beside_one[0]) > np.ptp(beside_all[0])
    assert not beside_one[2].any()


def optima(table: Table, **asked: Any) -> list[Generalization]:
    return [OptimalMinimizer(lam, **asked).minimize(table) for lam in (0.01, 0.1, 0.3, 1.0, 3.0)]


@pytest.mark.parametrize("candidates", [recommended_paths, optimal_path, restarted_paths, optima])
def test_a_suppressed_attribute_changes_nothing_for_the_others(candidates):
    table, wide = with_a_copy(), {"useful": 6}  # a limit that limits nothing: no path begins with the untouched
    held = Constraints(suppressed=["twin", "twin"], max_buckets=wide)
    without = candidates(table, surrogate="one_hot_logistic", constraints=held)
    schema = Schema(table.schema.attributes[:2], table.schema.label)
    narrow = Table(schema, table.codes[:, :2], table.levels[:2], table.y)
    alone = candidates(narrow, surrogate="one_hot_logistic", constraints=Constraints(max_buckets=wide))
    assert [g.partitions[:2] for g in flat(without)] == [g.partitions for g in flat(alone)]


def flat(found: Sequence[Any]) -> list[Generalization]:
    return [g for each in found for g in (each if isinstance(each, tuple) else (each,))]


def test_all_parts_are_judged(monkeypatch):
    """Each part hands in what no other would: it must reach the judging, the ends first."""
    table = long_row()
    (row, *_), untouched = table.schema.attributes, Generalization.untouched(table.schema)
    others = untouched.partitions[1:]
    cut = [replace(untouched, partitions=(Groups(row, halves(at)), *others)) for at in range(1, 10)]
    priced, unpriced, from_start, first, second, of_first, of_second, of_descent, of_trees = cut
    program = {recommended.BUCKET_PENALTY: [untouched, priced, Generalization.suppressed(table.schema)]}
    nested = {
        start.fingerprint: found
        for start, found in ((first, of_first), (second, of_second), (from_start, of_descent))
    }
    judged: list[Generalization] = []
    stubs = {
        "optimal_path": lambda *_, bucket_penalty=0.0, **__: program.get(bucket_penalty, [unpriced]),
        "fine_starts": lambda *_, **__: [first, second],
        "joint_path": lambda _, fine, **__: [replace(from_start, origin={"mu": 1.0})] if fine is first else [],
        "coarsening_steps": lambda _, start, **__: [Step(nested[start.fingerprint], 0.1, 0.5)],
        "_trees": lambda *_: [of_trees],
        "_worth_judging": lambda found, *_: judged.extend(found) or [],
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(recommended, name, stub)
    recommended_paths(table, steps=12)
    ends = [untouched, program[recommended.BUCKET_PENALTY][-1]]
    assert [g.partitions for g in judged] == [
        g.partitions for g in (*ends, priced, unpriced, from_start, of_first, of_second, of_descent, of_trees)
    ]


def halves(at: int) -> tuple[int, ...]:
    return (0,) * at + (1,) * (200 - at)


def test_fine_starts_lie_on_one_path_in_few_buckets():
    table = long_row()
    first, middle, last = fine_starts(table, (0.0, 0.5, 1.0), effects=effects_of(table))
    assert first["number"].size == 32
    assert first["number"].size >= middle["number"].size > last["number"].size == 1


def test_what_leaves_nothing_to_choose_from_is_no_accident():
    table = a_secret_and_its_twin(300)
    nothing = recommended_paths(table, steps=4, constraints=Constraints(suppressed=table.schema.names))
    assert nothing == [Generalization.suppressed(table.schema)]
    with pytest.raises(DataError, match="training records, and there are none"):
        recommended_paths(table.take(np.arange(0)), steps=4)
    bare = Table(Schema((), table.schema.label), table.codes[:, :0], (), table.y)
    for candidates in (recommended_paths, restarted_paths):
        with pytest.raises(SchemaError, match="no attributes"):
            candidates(bare)


def test_a_number_that_nobody_gave_is_not_asked():
    schema = Schema(
        (Attribute("age", "continuous", missing=True, personal=True), Attribute("a", values=("0", "1"))), LABEL
    )
    half = np.arange(200) % 2
    table = coded(schema, np.zeros(200), half, labels=half, numbers={"age": []})
    assert all(g["age"].suppressed for g in recommended_paths(table, steps=4)[1:])
