"""Generalizations that are judged together: who sees more can coarsen."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.evaluation.utility import LabelGuesses, label_guesses, utilities_together
from leastwise.minimizers import coarsening_path
from leastwise.partition import suppress
from leastwise.predictors import JointBuckets, Logistic
from tests.samples import a_secret_and_its_twin

TABLE = a_secret_and_its_twin(1200)
SPLIT = TABLE.split(0, (0.45, 0.25, 0.3))
EVERYTHING, NOTHING = Generalization.untouched(TABLE.schema), Generalization.suppressed(TABLE.schema)


def guessed(share: float, seed: int, right: np.ndarray | None = None) -> LabelGuesses:
    """Return guesses that are wrong about a share of the people."""
    random = np.random.default_rng(seed)
    bits = {
        part: np.packbits(random.random(len(getattr(SPLIT, part))) < share).tobytes().hex()
        for part in ("validation", "test")
    }
    return LabelGuesses(predictor=f"p{seed}", **bits)


def test_bits_come_back_as_they_were():
    found = label_guesses(EVERYTHING, SPLIT, (JointBuckets(), Logistic()))
    for part in ("validation", "test"):
        assert found.wrong(part, len(getattr(SPLIT, part))).shape == (len(getattr(SPLIT, part)),)
    assert 0.05 < found.wrong("test", SPLIT.test).mean() < 0.15


def test_a_finer_one_never_judges_worse_than_validation_can_tell():
    path = [EVERYTHING, NOTHING, *coarsening_path(SPLIT.train, EVERYTHING, steps=6)]
    told = [guessed(share, i) for i, share in enumerate(np.linspace(0.4, 0.2, len(path)))]  # the finer the worse
    found = utilities_together(path, told, SPLIT)
    for g, mine in zip(path, found, strict=True):
        for h, theirs in zip(path, found, strict=True):
            if h.is_coarser_than(g):
                people = len(SPLIT.validation)
                chance = (mine.validation.error + theirs.validation.error) ** 0.5 / people**0.5
                assert mine.validation.error <= theirs.validation.error + chance


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
