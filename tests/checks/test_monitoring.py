"""Collected records against the promise; nothing here has seen a full record."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from leastwise import Generalization
from leastwise.checks import Promise, monitor
from leastwise.errors import DataError, ParameterError
from leastwise.runs.budget import Budget
from tests.checks.people import SCHEMA, G, frame, promise


@pytest.fixture(scope="module")
def promised() -> Promise:
    return promise(4000)


class Always:
    """A model that answers the same to everybody."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def predict(self, records: Any) -> pl.DataFrame:
        return pl.DataFrame({"prediction": [self.answer] * records.height})


def collected(people: int = 3000, **how: float) -> pl.DataFrame:
    return G.transform(frame(people, 7, **how))


def test_as_promised(promised: Promise) -> None:
    found = monitor(G, collected(), promised)
    assert not found.broken
    assert "people are alone" in found.notes[0]
    assert found.evaluation is None


def test_codes_say_the_same(promised: Promise) -> None:
    codes = G.transform(frame(3000, 7), "codes")
    assert monitor(G, codes, promised, codes=True).comparisons == monitor(G, collected(), promised).comparisons


def test_other_people(promised: Promise) -> None:
    found = monitor(G, collected(older=6), promised)
    assert any(reason.startswith("age: ") for reason in found.reasons)
    found = monitor(G, collected(noise=0.3), promised)
    assert any(reason.startswith("works: ") for reason in found.reasons)


def test_a_model_that_no_longer_works(promised: Promise) -> None:
    found = monitor(G, collected(), promised, model=Always("no"), budget=Budget(max_error=0.3))
    assert [reason[:21] for reason in found.reasons] == ["the model in use errs"] * 2


def test_labels_that_have_not_arrived(promised: Promise) -> None:
    coarse = collected(500)
    for later in (coarse.drop("works"), coarse.with_columns(works=pl.lit(None, pl.String))):
        found = monitor(G, later, promised, model=Always("no"))
        assert not found.broken
        assert "No record has a label yet" in found.notes[1]


def test_only_labelled_records_measure_the_model(promised: Promise) -> None:
    coarse = collected(400)
    half = coarse.with_columns(works=pl.when(pl.int_range(pl.len()) % 2 == 0).then("works"))
    found = monitor(G, half, promised, model=Always("yes"))
    error = next(c for c in found.comparisons if c.about == "Accuracy")
    expected = (half["works"].drop_nulls() != "yes").mean()
    assert error.now == pytest.approx(expected)


def test_people_who_are_alone(promised: Promise) -> None:
    found = monitor(G, collected(60), promised, budget=Budget(max_unique=0))
    assert any("are alone with their record" in reason for reason in found.reasons)


def test_nothing_collected_yet(promised: Promise) -> None:
    with pytest.raises(DataError, match="no records of this generalization yet"):
        monitor(G, collected()[:0], promised)


def test_no_label_for_a_model() -> None:
    unlabelled = Generalization(G.partitions)
    made = promise(600)
    other = Promise(**{**made.__dict__, "fingerprint": unlabelled.fingerprint, "label": None})
    with pytest.raises(ParameterError, match="names none"):
        monitor(unlabelled, collected(), other, model=Always("no"))
    assert SCHEMA.label is not None
