"""Generalizations that are judged together: who sees more can coarsen."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization, Table, infer_schema
from leastwise.evaluation.declared_groups import GroupErrors, Grouping
from leastwise.evaluation.label_guesses import LabelGuesses, label_guesses, utilities_together
from leastwise.minimizers import coarsening_path
from leastwise.partition import suppress
from leastwise.predictors import Boosting, JointBuckets, Logistic
from leastwise.predictors.held_out import LOOKED_AT, MADE_OF, TOLD, Difference, weighed
from tests.samples import a_secret_and_its_twin

TABLE = a_secret_and_its_twin(1200)
SPLIT = TABLE.split(0, (0.45, 0.25, 0.3))
EVERYTHING, NOTHING = Generalization.untouched(TABLE.schema), Generalization.suppressed(TABLE.schema)


def guessed(share: float, seed: int, **others: float) -> LabelGuesses:
    """Return guesses that are wrong about a share of the people; of some parts about another one."""
    random, codes = np.random.default_rng(seed), {}
    for part, wrong in {"validation": share, "test": share, **others}.items():
        truth = getattr(SPLIT, part).y
        codes[part] = (
            np.where(random.random(len(truth)) < wrong, 1 - truth, truth).astype(np.uint8).tobytes().hex()
        )
    return LabelGuesses(predictor=f"p{seed}", **codes)


def test_guesses_and_beliefs_come_back_as_they_were():
    found = label_guesses(EVERYTHING, SPLIT, (JointBuckets(), Logistic()))
    assert 0.05 < found.wrong("test", SPLIT.test).mean() < 0.15
    for part in ("train", "validation", "test"):
        people = getattr(SPLIT, part)
        beliefs = found.beliefs(part, people)
        assert beliefs.shape == (len(people), 2)
        assert np.allclose(beliefs.sum(axis=1), 1)
        sure = np.abs(beliefs[:, 0] - 0.5) > 0.01  # beliefs are kept in 255ths
        assert np.array_equal(beliefs.argmax(axis=1)[sure], found.guessed(part, people)[sure])
    assert label_guesses(NOTHING, SPLIT, (JointBuckets(),)).believed == {}


def test_on_validation_labels_and_beliefs_are_weighed_and_on_test_labels_alone():
    some = EVERYTHING.replacing(suppress(TABLE.schema.attributes[0]))
    told = [label_guesses(g, SPLIT, (JointBuckets(), Logistic())) for g in (EVERYTHING, some)]
    found = utilities_together([EVERYTHING, some], told, SPLIT)[1]
    everybody = [(told[0].beliefs(p, getattr(SPLIT, p)), p) for p in ("train", "validation")]
    lost = [
        beliefs[row, told[0].guessed(p, getattr(SPLIT, p))[row]]
        - beliefs[row, told[1].guessed(p, getattr(SPLIT, p))[row]]
        for beliefs, p in everybody
        for row in range(len(beliefs))
    ]
    assert found.validation.expected == pytest.approx(np.mean(lost))
    of_train, labels = (  # both were guessed out of fold; of the labels of training candidates are made
        Difference.of(wrong[1] - wrong[0], np.ones(len(wrong[0])))
        for wrong in (
            [each.wrong(part, getattr(SPLIT, part)).astype(float) for each in told]
            for part in ("train", "validation")
        )
    )
    assert found.validation.increase == weighed(labels, found.validation.expected, made_of=of_train)
    assert found.test.increase.mean == pytest.approx(
        told[1].wrong("test", SPLIT.test).mean() - told[0].wrong("test", SPLIT.test).mean()
    )
    assert found.test.expected == pytest.approx(found.test.increase.mean, abs=0.1)


def test_what_nothing_asked_costs_is_told_by_labels_of_all_who_were_not_learned_from():
    told = [label_guesses(g, SPLIT, (JointBuckets(), Logistic())) for g in (EVERYTHING, NOTHING)]
    found = utilities_together([EVERYTHING, NOTHING], told, SPLIT)[1].validation
    people = SPLIT.train.and_also(SPLIT.validation)
    wrong = np.concatenate([told[0].wrong(part, getattr(SPLIT, part)) for part in ("train", "validation")])
    guess = people.y != np.bincount(people.y).argmax()
    assert found.increase == Difference.of(guess.astype(float) - wrong, people.counts)


@pytest.mark.parametrize("yes", [0.5, 0.3])
def test_a_coin_is_seldom_told(yes):
    """Out of fold the rarer side of a coin is guessed, and whoever believes in noise expects to miss it."""
    found = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        table = replace(TABLE, labels=(random.random(len(TABLE)) < yes).astype(TABLE.y.dtype))
        split = table.split(seed, (0.45, 0.25, 0.3))
        judges = JointBuckets(), Logistic(), Boosting(rounds=20)
        told = [label_guesses(g, split, judges) for g in (EVERYTHING, NOTHING)]
        found.append(
            utilities_together([EVERYTHING, NOTHING], told, split)[1].validation.increase.bound(-TOLD) > 0
        )
    assert sum(found) <= 3  # one of twenty is meant


def test_what_nothing_asked_costs_about_each_label_is_told_by_all_who_were_not_learned_from():
    random, sizes = np.random.default_rng(0), {"a": 9, "b": 3, "x": 2, "y": 2}
    frame = pl.DataFrame({name: random.integers(0, size, 700).astype(str) for name, size in sizes.items()})
    table = Table.from_frame(frame, infer_schema(frame, label=["x", "y"], personal=["b"]).schema)
    split = table.split(0, (0.45, 0.25, 0.3))
    limits = [Generalization.untouched(table.schema), Generalization.suppressed(table.schema)]
    told = [label_guesses(g, split, (JointBuckets(), Logistic())) for g in limits]
    found = utilities_together(limits, told, split)[1].validation
    people = split.train.and_also(split.validation)
    for place, label in enumerate(found.labels):
        parts = ("train", "validation")
        wrong = np.concatenate([told[0].wrong(part, getattr(split, part), place) for part in parts])
        own = people.several.exact[:, place]
        guess = own != np.bincount(own).argmax()
        assert label.increase == Difference.of(guess.astype(float) - wrong, people.counts)


@given(st.floats(-0.1, 0.1), st.floats(1e-4, 0.05), st.floats(-0.1, 0.1), st.booleans())
def test_what_is_weighed_lies_between_and_is_surer(mean, error, expected, looked_at):
    found = weighed(Difference(mean, error), expected, looked_at)
    assert min(mean, expected) - 1e-12 <= found.mean <= max(mean, expected) + 1e-12
    assert found.standard_error <= error * (LOOKED_AT if looked_at else 1)
    assert weighed(Difference(mean, error / 100), expected, looked_at).mean == pytest.approx(
        mean, abs=(0.1 if looked_at else 0.03) * abs(mean - expected) + 1e-3
    )


@given(st.floats(0, 0.1), st.floats(1e-4, 0.05), st.floats(0, 0.1))
def test_labels_that_a_search_has_looked_at_count_less(mean, error, expected):
    fresh, used = (weighed(Difference(mean, error), expected, looked_at) for looked_at in (False, True))
    assert abs(used.mean - expected) <= abs(fresh.mean - expected) + 1e-12
    assert used.standard_error >= fresh.standard_error


@given(st.floats(0, 0.05), st.floats(1e-3, 0.02), st.floats(0, 0.05), st.floats(1e-3, 0.02))
def test_labels_that_groups_were_made_of_tell_too_little(mean, error, expected, of_train):
    told, made_of = Difference(mean, error), Difference(mean, of_train)
    without, found = weighed(told, expected), weighed(told, expected, made_of=made_of)
    ends = (mean, expected, mean + MADE_OF * of_train)
    assert min(ends) - 1e-12 <= found.mean <= max(ends) + 1e-12
    assert found.standard_error <= max(of_train + 0.003, without.standard_error)
    agreeing = weighed(told, mean, made_of=made_of)
    assert agreeing.mean > mean  # all say the same, and one of them always says too little


def test_who_guesses_everybody_alike_loses_nothing():
    """The labels of training tell nothing where nobody is guessed otherwise: no error is added to their 0."""
    told = [label_guesses(EVERYTHING, SPLIT, (JointBuckets(), Logistic()))] * 2
    for each in utilities_together([EVERYTHING, EVERYTHING], told, SPLIT):
        assert each.validation.increase.mean == 0


def test_who_is_lucky_on_validation_is_not_taken_for_everything_asked():
    some = EVERYTHING.replacing(suppress(TABLE.schema.attributes[-1]))
    lucky, everything = guessed(0.05, 1, test=0.3, train=0.3), guessed(0.2, 0, train=0.2)
    found = utilities_together([EVERYTHING, some], [everything, lucky], SPLIT)
    wrong = [each.wrong("test", SPLIT.test).mean() for each in (everything, lucky)]
    assert found[0].test.error == pytest.approx(wrong[0])  # the training part speaks against the other one
    assert found[1].test.increase.mean == pytest.approx(wrong[1] - wrong[0])
    # Where nobody of the training part was guessed, only test shows it.
    found = utilities_together(
        [EVERYTHING, some], [replace(each, train="") for each in (everything, lucky)], SPLIT
    )
    assert found[0].validation.predictor == "p1 of a coarser one"
    assert found[0].test.error == pytest.approx(wrong[0])
    assert found[1].test.increase.mean == pytest.approx(wrong[1] - wrong[0])


def test_beliefs_about_a_number_do_not_count():
    told = Difference(0.02, 0.004)
    assert weighed(told, None) == Difference(0.02, LOOKED_AT * 0.004)
    assert weighed(told, None, looked_at=False) == told


def test_groups_are_judged_for_choosing_on_everybody_who_was_not_learned_from():
    """Few records: the training part is guessed out of fold, and its people count, too."""
    grouping = Grouping.parse(TABLE.schema.names[0])
    told = [label_guesses(g, SPLIT, (JointBuckets(),)) for g in (EVERYTHING, NOTHING)]
    everybody = SPLIT.train.and_also(SPLIT.validation)
    wrong = [np.r_[g.wrong("train", SPLIT.train), g.wrong("validation", SPLIT.validation)] for g in told]
    found = utilities_together([EVERYTHING, NOTHING], told, SPLIT, [grouping])[1]
    assert found.validation.groups == GroupErrors.of(wrong[1], wrong[0], everybody, [grouping])
    tested = [g.wrong("test", SPLIT.test) for g in told]
    assert found.test.groups == GroupErrors.of(tested[1], tested[0], SPLIT.test, [grouping])
    many = [replace(g, train="") for g in told]
    alone = utilities_together([EVERYTHING, NOTHING], many, SPLIT, [grouping])[1].validation
    validation = [g.wrong("validation", SPLIT.validation) for g in told]
    assert alone.groups == GroupErrors.of(validation[1], validation[0], SPLIT.validation, [grouping])
    assert alone.error == found.validation.error


def test_nobody_is_learned_from_who_is_guessed():
    """A label that only chance tells is guessed of the training part no better than of anybody else."""
    table = replace(TABLE, labels=np.random.default_rng(7).integers(0, 2, len(TABLE)))
    split = table.split(0, (0.45, 0.25, 0.3))
    found = label_guesses(EVERYTHING, split, (JointBuckets(), Logistic()))
    assert found.wrong("train", split.train).mean() > 0.42


def test_a_finer_one_never_judges_worse_than_validation_can_tell():
    path = [EVERYTHING, NOTHING, *coarsening_path(SPLIT.train, EVERYTHING, steps=6)]
    told = [guessed(share, i) for i, share in enumerate(np.linspace(0.4, 0.2, len(path)))]  # the finer the worse
    found = utilities_together(path, told, SPLIT)
    for g, mine in zip(path, found, strict=True):
        coarser = [theirs for h, theirs in zip(path, found, strict=True) if h is not g and h.is_coarser_than(g)]
        level = NormalDist().inv_cdf(1 - 0.1 / max(len(coarser), 1))  # one in ten that any seems better by luck
        for theirs in coarser:
            people = len(SPLIT.validation)
            chance = (mine.validation.error + theirs.validation.error) ** 0.5 / people**0.5
            assert mine.validation.error <= theirs.validation.error + level * chance


def test_the_luckiest_of_many_does_not_stand_for_everything_asked():
    """Else all that is held against everything asked seems to cost less than it does."""
    coarser = [g for g in coarsening_path(SPLIT.train, EVERYTHING, steps=12) if g.is_coarser_than(EVERYTHING)]
    taken = []
    for seed in range(100, 140):
        told = [guessed(0.3, seed * 100 + i) for i in range(len(coarser) + 2)]
        first, *_ = utilities_together([EVERYTHING, NOTHING, *coarser], told, SPLIT)
        taken.append(first.validation.predictor != "p" + str(seed * 100))
    assert np.mean(taken) <= 0.25


def test_luck_is_not_taken_for_skill():
    """Of coarser classifiers that are as good, the luckiest on validation does not take the place of its own."""
    told = [guessed(0.3, seed) for seed in (0, 1, 4)]
    wrong = [each.wrong("validation", SPLIT.validation).mean() for each in told]
    ways = [EVERYTHING, NOTHING, EVERYTHING.replacing(suppress(TABLE.schema["twin"]))]
    assert min(wrong[1:]) < wrong[0]
    assert utilities_together(ways, told, SPLIT)[0].validation.predictor == "p0"


def test_everything_asked_errs_no_more_than_any_other_and_the_doubt_stays():
    middle = EVERYTHING.replacing(suppress(TABLE.schema["twin"]))
    told = [guessed(0.4, 0), guessed(0.5, 1), guessed(0.2, 2)]
    everything, _, coarse = utilities_together([EVERYTHING, NOTHING, middle], told, SPLIT)
    assert everything.validation.error == coarse.validation.error
    assert everything.validation.predictor == "p2 of a coarser one"
    assert coarse.validation.increase is not None
    assert coarse.validation.increase.mean == 0
    # A better classifier of everything might be learned: its own guesses tell how uncertain that is.
    assert coarse.validation.increase.standard_error > 0.02


def test_the_increase_is_paired():
    told = [guessed(0.1, 0), guessed(0.5, 1)]
    everything, nothing = utilities_together([EVERYTHING, NOTHING], told, SPLIT)
    assert nothing.test.increase is not None
    assert nothing.test.increase.mean == pytest.approx(nothing.test.error - everything.test.error)
