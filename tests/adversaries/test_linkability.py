"""A7: tables computed by hand, and what must hold for any breach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.linkability import Linkability, assigned_hits, expected_hits
from leastwise.errors import ParameterError, SchemaError
from tests.adversaries.populations import grouping, population, populations, table_of

A, B = ("a",), ("b",)


def breach_of(rows: list[tuple[int, int]], **rest: object) -> Breach:
    table = table_of(rows, [3, 3], {1}, **rest)
    return Breach.of(Generalization.untouched(table.schema), population(table))


def test_one_to_one_answers_link_everybody() -> None:
    result = Linkability(A, B, records=3, draws=5).attack(breach_of([(0, 2), (1, 0), (2, 1)]))
    assert result.linked_by_guess == result.linked_by_balance == result.linked_by_assignment == 1
    assert (result.adversary_error, result.baseline) == (0, pytest.approx(2 / 3))


def test_six_people_by_hand() -> None:
    # pairs: (0,0) x 3, (0,1) x 1, (1,1) x 2; all six people are to be linked
    breach = breach_of([(0, 0), (0, 0), (0, 0), (0, 1), (1, 1), (1, 1)])
    result = Linkability(A, B, records=6, draws=300).attack(breach)
    # guess: a=0 prefers b=0 (3 against 1): three people find one of three, the fourth is never found;
    # a=1 goes only with b=1, whose bearers are three: two people find one of three.
    assert result.linked_by_guess == pytest.approx((3 * 1 / 3 + 0 + 2 * 1 / 3) / 6)
    # balance: a=1 takes 2/3 of each b=1; the four a=0 share the rest, 1/12 of each b=1 and 1/4 of each b=0: the
    # same choices here.
    assert result.linked_by_balance == pytest.approx(result.linked_by_guess)
    # assignment: only (0,0) x 3, (0,1) x 1, (1,1) x 2 is possible, but which a=0 gets the b=1 is a draw of four,
    # which b=0 the other three get a draw too: each a=0 and b=0 is right with 3/4 * 1/3 = 1/4; the person (0,1)
    # is right with 1/4 * 1/3 (one of three b=1); each a=1 with 1/3.
    assert result.linked_by_assignment == pytest.approx((3 / 4 + 1 / 12 + 2 / 3) / 6, abs=0.03)


def test_balance_sees_what_the_conditional_frequency_misses() -> None:
    # b=0 is common everywhere, b=1 only beside a=1: for a=1 the common answer is no evidence, the rare one is.
    breach = breach_of([(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (1, 1)])
    result = Linkability(A, B, records=6, draws=1).attack(breach)
    assert result.linked_by_guess == pytest.approx((3 / 5 + 2 / 5 + 0) / 6)
    assert result.linked_by_balance == pytest.approx((3 / 5 + 0 + 1) / 6)


def test_suppressed_records_link_at_random() -> None:
    table = table_of([(i % 3, i % 2) for i in range(60)], [3, 2], {1})
    breach = Breach.of(Generalization.suppressed(table.schema), population(table))
    result = Linkability(A, B, records=10, draws=400).attack(breach)
    assert result.linked_by_guess == pytest.approx(0.1)
    assert result.linked_by_assignment == pytest.approx(0.1, abs=0.02)
    assert result.interval is not None
    assert result.interval.low <= 0.9 <= result.interval.high


def test_multiplicities_are_people() -> None:
    rows, weights = [(0, 0), (0, 1), (1, 1)], np.array([3.0, 1.0, 2.0])
    heavy = Linkability(A, B, records=6, draws=40).attack(breach_of(rows, weights=weights))
    plain = Linkability(A, B, records=6, draws=40).attack(
        breach_of([row for row, weight in zip(rows, weights, strict=True) for _ in range(int(weight))])
    )
    assert heavy.linked_by_guess == pytest.approx(plain.linked_by_guess)
    assert heavy.people == plain.people == 6


def test_same_seed_same_links() -> None:
    breach = breach_of([(0, 0), (0, 1), (1, 1), (2, 1), (2, 2), (1, 0)])
    attack = Linkability(A, B, records=3, draws=7)
    assert attack.attack(breach) == attack.attack(breach)


def test_default_sets_are_non_personal_and_personal() -> None:
    table = table_of([(0, 0, 0, 0)] * 3, [2, 2, 2, 2], {1, 2})
    result = Linkability(records=2, draws=1).attack(
        Breach.of(Generalization.untouched(table.schema), population(table))
    )
    assert (result.known_a, result.known_b) == (("a", "d"), ("b", "c"))


@pytest.mark.parametrize(("a", "b"), [(("a",), ("a", "b")), (("a",), ()), ((), ("b",))])
def test_sets_must_be_disjoint_and_not_empty(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="disjoint"):
        Linkability(a, b).attack(breach_of([(0, 0), (1, 1)]))


def test_an_unknown_attribute_is_named() -> None:
    with pytest.raises(SchemaError, match="'z'"):
        Linkability(("z",), B).attack(breach_of([(0, 0), (1, 1)]))


@settings(max_examples=40, deadline=None)
@given(populations(), st.integers(0, 3))
def test_shares_are_shares_and_the_best_is_reported(table: Table, seed: int) -> None:
    breach = Breach.of(Generalization.untouched(table.schema), population(table), seed=seed)
    result = Linkability(records=5, draws=3).attack(breach)
    shares = (result.linked_by_guess, result.linked_by_balance, result.linked_by_assignment)
    shares += (result.linked_with_knowledge, result.linked_without_breach)
    assert all(0 <= share <= 1 for share in shares)
    assert result.share_linked == pytest.approx(max(*shares, 1 - result.baseline))
    assert result.adversary_error <= min(result.baseline, result.without_breach) + 1e-12
    assert result.interval is not None
    assert result.interval.low <= result.adversary_error <= result.interval.high


def test_full_records_of_other_people_are_used_and_what_they_tell_alone_is_said() -> None:
    """The stolen records tell a from b in halves; other people's records tell it exactly."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 8, 3000)
    table = table_of(np.column_stack([a, a]), [8, 8], {1})
    halves = grouping(table, [[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    result = Linkability(A, B, records=20, draws=20).attack(Breach.of(halves, table.split(0)))
    told = max(result.linked_by_guess, result.linked_by_balance, result.linked_by_assignment)
    assert told < 0.16, "of two groups of ten one knows which"
    assert result.linked_without_breach > 0.3, "of eight groups of two or three one knows which"
    assert result.share_linked >= max(result.linked_without_breach, told) - 1e-12
    assert result.without_breach == pytest.approx(1 - result.linked_without_breach)
    nothing = Linkability(A, B, records=20, draws=20).attack(
        Breach.of(Generalization.suppressed(table.schema), table.split(0))
    )
    assert nothing.share_linked == pytest.approx(nothing.linked_without_breach), "nothing was stolen"


def test_the_papers_quantity_by_hand() -> None:
    """The value of a from b: beside b=0 the bucket {0, 1} is the commonest, beside b=1 the bucket {2}."""
    table = table_of([(0, 0), (0, 0), (1, 0), (2, 0), (2, 1), (2, 1)], [3, 2], {1})
    result = Linkability(A, B, records=2, draws=1).attack(
        Breach.of(grouping(table, [[0, 0, 1], [0, 1]]), population(table))
    )
    # Three of the first four are in the bucket, one of its two values is drawn; the last two are told.
    assert result.value_told == pytest.approx((3 / 2 + 0 + 2) / 6)
    assert result.value_by_chance == pytest.approx(1 / 3)


def test_ties_are_counted_by_their_chance() -> None:
    assert expected_hits(np.ones((4, 4))) == 0.25
    assert expected_hits(np.array([[1.0, 2.0], [1.0, 2.0]])) == 0.5


def test_an_impossible_pair_is_never_assigned() -> None:
    together = np.array([[5.0, 9.0, 9.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert assigned_hits(together, np.random.default_rng(0)) == 1
