"""The certificate: its arithmetic by hand, what it refuses, and that it holds as often as it says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, Schema, Table, UniformMinimizer, evaluate
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.errors import ParameterError
from leastwise.evaluation.certificate import MEAN, certify, told_in_hindsight
from tests.adversaries.populations import Bayes, grouping, maps_of, population, populations, table_of
from tests.samples import LABEL, coded, named


def test_six_people_by_hand() -> None:
    # a=0: b = 0, 0, 1; a=1: b = 1, 1, 0. Only a is collected.
    table = table_of([(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0)], [2, 2], {1}, part="test")
    certificate = certify(grouping(table, [[0, 1], [0, 0]]), table, delta=0.1, candidates=5)
    bound = certificate["b"]
    assert (bound.hindsight, bound.guessing, certificate.people) == (4 / 6, 3 / 6, 6)
    assert bound.bound == min(1, 4 / 6 + math.sqrt(math.log(5 / 0.1) / 12))
    assert certificate.joint_buckets == 2


def many(part: str = "test", people: int = 1000) -> Table:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, people), rng.integers(0, 3, people)])
    return table_of(rows, [2, 3], {0, 1}, part=part)


def test_each_sentence_alone_and_all_together() -> None:
    table = many()
    certificate = certify(grouping(table, [[0, 0], [0, 1, 1]]), table)
    for bound in (*certificate.bounds, certificate.mean):
        assert bound.bound - bound.hindsight == pytest.approx(math.sqrt(math.log(20) / 2000))
        assert bound.bound_all - bound.hindsight == pytest.approx(math.sqrt(math.log(3 * 20) / 2000))
    several = certify(grouping(table, [[0, 0], [0, 1, 1]]), table, candidates=7)
    assert several.mean.bound - several.mean.hindsight == pytest.approx(math.sqrt(math.log(7 * 20) / 2000))
    assert certificate.mean.hindsight == pytest.approx(np.mean([b.hindsight for b in certificate.bounds]))


def test_the_sentence() -> None:
    sex = Attribute("SEX", values=("Female", "Male"), personal=True)
    table = coded(Schema((sex,)), np.repeat([0, 1], [4800, 5200]), part="test")
    first, mean = certify(Generalization.suppressed(table.schema), table).sentences()
    assert first == (
        "With 95 % confidence nobody who sees only these generalized records can tell SEX with accuracy "
        "above 0.54 (guessing gives 0.52)."
    )
    assert "more than 0.54 of the personal attributes, on average over people" in mean


def test_a_promise_is_never_rounded_in_its_own_favour() -> None:
    table = many()
    certificate = certify(grouping(table, [[0, 0], [0, 1, 1]]), table)
    for bound, sentence in zip(certificate.bounds, certificate.sentences(), strict=False):
        assert float(sentence.split("above ")[1][:4]) >= bound.bound


def test_an_accuracy_that_is_written_as_one_is_no_promise() -> None:
    """Nobody is ever right more often than always: who reads "above 1.00" was promised nothing."""
    certificate = certify(grouping(table := many(), [[0, 0], [0, 1, 1]]), table)
    first, *others = certificate.bounds
    nearly = replace(first, bound=0.9991), replace(certificate.mean, bound=0.9999)
    said = replace(certificate, bounds=(nearly[0], *others), mean=nearly[1]).sentences()
    assert said[0].startswith(
        f"About {first.attribute} nothing can be promised of who sees only these generalized"
    )
    assert said[-1].startswith("About the mean over personal attributes nothing can be promised of")
    assert not any("1.00" in sentence for sentence in said)
    something = replace(certificate, bounds=(replace(first, bound=0.991), *others)).sentences()
    assert "with accuracy above 0.991 (guessing" in something[0]
    assert "above 0.99 " in replace(certificate, bounds=(replace(first, bound=0.99),)).sentences()[0]


@pytest.mark.parametrize("part", ["all", "train", "validation"])
def test_refuses_records_that_chose(part: str) -> None:
    table = many(part)
    with pytest.raises(ParameterError, match="did not choose the generalization"):
        certify(Generalization.suppressed(table.schema), table)
    if part == "all":
        assert certify(Generalization.suppressed(table.schema), table, held_out=True).people == 1000
    else:
        with pytest.raises(ParameterError, match=part):
            certify(Generalization.suppressed(table.schema), table, held_out=True)


def test_refuses_test_records_that_are_said_to_have_chosen() -> None:
    table = many()
    with pytest.raises(ParameterError, match="held_out=False"):
        certify(Generalization.suppressed(table.schema), table, held_out=False)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, float("nan")])
def test_refuses_an_impossible_delta(delta: float) -> None:
    with pytest.raises(ParameterError, match="delta"):
        certify(Generalization.suppressed(many().schema), many(), delta=delta)


def test_says_when_it_is_vacuous() -> None:
    table = table_of([(i, i % 2) for i in range(200)], [200, 2], {1}, part="test")
    certificate = certify(grouping(table, [range(200), [0, 0]]), table)
    assert certificate.vacuous
    assert certificate.alone == 1
    (said,) = certificate.sentences()
    assert said.startswith(
        "Nothing can be promised about who sees only these generalized records: 100\xa0% of the 200"
    )


def test_the_reason_why_nothing_is_promised_is_the_reason() -> None:
    """Where the personal answers themselves are asked nobody needs to be alone."""
    table = table_of([(i % 2,) for i in range(200)], [2], {0}, part="test")
    certificate = certify(grouping(table, [[0, 1]]), table)
    assert (certificate.vacuous, certificate.alone) == (True, 0)
    (said,) = certificate.sentences()
    assert "alone" not in said
    assert "with so much asked of 200 people, counting does not tell that anything stays hidden" in said


def test_side_information_is_put_into_z() -> None:
    table = many()
    nothing, everything = Generalization.suppressed(table.schema), Generalization.untouched(table.schema)
    informed = certify(nothing, table, known=["b"])
    assert [bound.attribute for bound in informed.bounds] == ["a"]
    assert informed["a"].hindsight == certify(everything.replacing(nothing["a"]), table)["a"].hindsight
    assert "and knows b can tell a with" in informed.sentences()[0]
    with pytest.raises(ParameterError, match="not known"):
        certify(nothing, table, known=["a", "b"])


def test_multiplicities_are_people() -> None:
    table = many()
    g = grouping(table, [[0, 1], [0, 0, 1]])
    assert certify(g, table.distinct()) == certify(g, table)
    halves = replace(table, weights=np.full(len(table), 0.5))
    with pytest.raises(ParameterError, match="whole numbers"):
        certify(g, halves)


def test_a_number_counts_as_told_within_its_tolerance() -> None:
    age = Attribute("age", "continuous", lower=0, upper=100, integer=True, personal=True)
    table = coded(Schema((age,)), np.arange(4), numbers={"age": [20, 25, 30, 90]}, part="test")
    g = Generalization((Intervals(age, (50,)),))
    assert certify(g, table)["age"].hindsight == 1  # 20, 25 and 30 by one guess, 90 by another
    assert certify(g, table, tolerances={"age": 3})["age"].hindsight == 3 / 4
    assert certify(g, table)["age"].tolerance == 5
    open_ended = Attribute("age", "continuous", personal=True)
    free = replace(table, schema=Schema((open_ended,)))
    with pytest.raises(ParameterError, match="state within what age"):
        certify(Generalization.suppressed(free.schema), free)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_never_below_the_best_adversary_of_these_people(data: st.DataObject) -> None:
    table = data.draw(populations())
    g = grouping(table, maps_of(data.draw, table))
    certificate = certify(g, table, held_out=True)
    attack = Reconstruction(Bayes).attack(Breach.of(g, population(table)))
    for result in attack.attributes:
        assert certificate[result.attribute].hindsight == pytest.approx(1 - result.adversary_error)
        assert certificate[result.attribute].bound >= min(1.0, 1 - result.adversary_error)
        assert certificate[result.attribute].hindsight >= certificate[result.attribute].guessing - 1e-12
    assert certificate[MEAN].hindsight == pytest.approx(1 - attack.adversary_error)


@pytest.mark.parametrize("buckets", [1, 12])
def test_holds_at_the_nominal_rate(buckets: int) -> None:
    """The bound must cover the best accuracy in the population as often as it says, and mean something."""
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(buckets * 3)).reshape(buckets, 3)
    best, delta, people = joint.max(axis=1).sum(), 0.2, 300
    bounds = []
    for _ in range(400):
        drawn = rng.choice(buckets * 3, size=people, p=joint.ravel())
        table = table_of(np.column_stack([drawn // 3, drawn % 3]), [buckets, 3], {1}, part="test")
        bounds.append(certify(grouping(table, [range(buckets), [0, 0, 0]]), table, delta=delta)["b"].bound)
    assert np.mean(np.array(bounds) >= best) >= 1 - delta
    assert np.mean(bounds) <= best + 0.15
    # Without the slack it would not hold where there is nothing to overfit.
    bare = np.array(bounds) - math.sqrt(math.log(1 / delta) / (2 * people))
    assert buckets > 1 or np.mean(bare >= best) < 1 - delta


def test_a_generalization_that_saw_the_test_part_is_refused() -> None:
    codes = np.tile([0, 1], 60)
    table = coded(Schema((named("a", 2, personal=True),), LABEL), codes, labels=codes)
    chosen_on_all = UniformMinimizer(2, random_state=0).propose(table)
    with pytest.raises(ParameterError, match="chosen on 'all'"):
        evaluate(chosen_on_all, table, ["A8"])
    assert evaluate(chosen_on_all, table, ["A8"], held_out=True).certificate is not None
    trained = UniformMinimizer(2, random_state=0).propose(table.split(1).train)
    with pytest.raises(ParameterError, match="with seed 1, not 0"):
        evaluate(trained, table, ["A8"], seed=0)
    assert evaluate(trained, table, ["A8"], seed=1).certificate is not None
    with pytest.raises(ParameterError, match="chosen on 'test'"):
        evaluate(UniformMinimizer(2, random_state=0).propose(table.split(1).test), table, ["A8"], seed=1)
    with pytest.raises(ParameterError, match="'test of train'"):
        evaluate(trained, table.split(1).train, ["A8"], seed=1)


def test_the_bound_holds_where_many_values_are_rare() -> None:
    failures = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rare = rng.random(3000) < 0.3
        job = np.where(rare, 1 + rng.integers(0, 5000, 3000), 0)
        sex = np.where(rare, 1, rng.integers(0, 2, 3000))
        codes = np.asfortranarray(np.column_stack([job, sex]).astype(np.uint16))
        table = replace(table_of(np.zeros((3000, 2)), [5001, 2], {1}), codes=codes)
        certificate = certify(Generalization.suppressed(table.schema), table.split(seed).test)
        failures += certificate["b"].bound < 0.65
        assert certificate["b"].bound < 0.76, "and pays for nothing else"
    assert failures <= 3, "the truth is 0.3 + 0.7 / 2; a bound at 95 % fails once in 20"


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=25)


@given(ROWS)
def test_values(rows: list[tuple[int, int, int]]) -> None:
    z, codes, counts = (np.array(column) for column in zip(*rows, strict=True))
    slow = sum(max(counts[(z == b) & (codes == v)].sum() for v in range(7)) for b in range(4))
    assert told_in_hindsight(z, codes, counts) == slow


@given(ROWS, st.lists(st.integers(-40, 40), min_size=5, max_size=5, unique=True), st.integers(0, 20))
def test_windows(rows: list[tuple[int, int, int]], numbers: list[int], tolerance: int) -> None:
    z, codes, counts = (np.array(column) for column in zip(*rows, strict=True))
    levels = np.sort(np.array(numbers, dtype=float)) / 4
    value = np.concatenate([levels, [1000.0, 2000.0]])[codes]  # the last two codes have no number
    centres = [*(levels + tolerance / 4), 1000.0, 2000.0]
    slow = sum(
        max(counts[(z == b) & (np.abs(value - centre) <= tolerance / 4)].sum() for centre in centres)
        for b in range(4)
    )
    assert told_in_hindsight(z, codes, counts, levels, tolerance / 4) == pytest.approx(slow)


def test_tolerance_of_nothing_is_equality() -> None:
    z, codes, counts = np.zeros(4, dtype=int), np.array([0, 0, 1, 2]), np.ones(4, dtype=int)
    assert told_in_hindsight(z, codes, counts, np.array([1.0, 2.0, 3.0]), 0.0) == told_in_hindsight(
        z, codes, counts
    )


def test_infinite_numbers_are_values() -> None:
    levels = np.array([-np.inf, 0.0, np.inf])
    told = told_in_hindsight(np.zeros(4, dtype=int), np.array([0, 1, 2, 2]), np.ones(4, dtype=int), levels, 1.0)
    assert told == 2
