"""What was collected against what the sample promised: generalized records only, no full record is needed.

Bucket use, label rate, the error of the model in use where labels arrived, and people who are alone with their
record (A8). What an adversary could reconstruct cannot be measured here: nobody holds the full records any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from leastwise.checks.budgets import error_comparison, size_comparisons, unique_comparisons
from leastwise.checks.checking import Check, weight_notes
from leastwise.checks.drifting import DriftLimits, accuracy_comparisons, label_comparisons, use_comparisons
from leastwise.checks.promise import Promise, Share
from leastwise.checks.use import alone, class_use, collected_use, one_each, read_collected_weights
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.runs.budget import Budget
from leastwise.schema import Attribute
from leastwise.schema.values import text_of

if TYPE_CHECKING:
    import polars as pl

WHO = "the model in use"


class Classifier(Protocol):
    """A model of generalized records (see ``leastwise.models``)."""

    def predict(self, records: Any) -> pl.DataFrame:
        """Return a frame with a column ``prediction``."""
        ...


def monitor(
    generalization: Generalization,
    records: pl.DataFrame,
    promise: Promise,
    *,
    budget: Budget | None = None,
    limits: DriftLimits | None = None,
    model: Classifier | None = None,
    codes: bool = False,
    counts: pl.Series | None = None,
    survey_weights: str | None = None,
) -> Check:
    """Compare collected records with what the sample promised.

    Parameters
    ----------
    generalization
        Under which the records were collected.
    records
        Generalized records, as ``transform`` or a collector gives them; a column of the label where it arrived.
    promise
        What the sample promised.
    budget
        What must be kept; of it, people who are alone, the model's error, and how much is asked can be seen here.
    limits
        What counts as drift.
    model
        The model in use: its error is measured on the records that have a label. It must not have learned from
        these records.
    codes
        Whether the columns hold the numbers of the buckets instead of their labels.
    counts
        How many people each record stands for, where each distinct one is given once.
    survey_weights
        The column of survey weights, where the records have one: shares and errors are weighted, as those of a
        promise by survey weights are. Without it each record is a person of those whom the survey speaks for.
    """
    budget, limits = budget or Budget(), limits or DriftLimits()
    promise.check_fits(generalization)
    if not records.height:
        raise DataError("there are no records of this generalization yet; nothing can be compared")
    people = told = one_each(records) if counts is None else counts
    if survey_weights is not None:
        if counts is not None:
            raise ParameterError("counted records have no survey weights; give the records themselves")
        told = read_collected_weights(records, survey_weights, generalization)
        records = records.drop(survey_weights)
    everybody = int(people.sum())
    share = None if model is None else model_error(generalization, records, model, told)
    unique, label = alone(generalization, records, people), generalization.label
    classes = None if label is None else class_use(label, records, told)
    now, then = (counted(number, "person", "people") for number in (everybody, promise.people))
    notes = [
        f"{unique:,} of {now} {'is' if unique == 1 else 'are'} alone with their generalized record (A8); of the "
        f"sample's {then} {promise.unique_people:,} {'was' if promise.unique_people == 1 else 'were'}. With more "
        "records, a smaller share is alone."
    ]
    # Weights that are all equal say nothing, and a promise by them counts each record once.
    weighted = survey_weights is not None and told.n_unique() > 1
    notes += weight_notes(records.height, float(told.sum()) if weighted else None, promise)
    if model is not None and share is None:
        notes.append("No record has a label yet: the error of the model in use cannot be measured.")
    comparisons = [
        *size_comparisons(generalization, budget),
        *unique_comparisons(unique, everybody, budget),
        *([] if share is None or budget.max_error is None else [error_comparison(share, budget.max_error, WHO)]),
        *use_comparisons(promise, collected_use(generalization, records, told, codes), generalization, limits),
        *label_comparisons(promise, classes, label, limits),
        *accuracy_comparisons(_promise_for(promise, generalization, model), share, limits, WHO),
    ]
    return Check(
        generalization=generalization,
        limits=limits,
        comparisons=tuple(comparisons),
        evaluation=None,
        people=everybody,
        notes=tuple(notes),
    )


def _label_for(generalization: Generalization, model: Classifier) -> Attribute:
    """Return the label that a model predicts: of several, the one that it names."""
    labels = generalization.schema.labels
    if not labels:
        raise ParameterError("the model's error needs a label, and the generalization names none")
    if len(labels) == 1:
        return labels[0]
    named = getattr(getattr(model, "facts", None), "label", None)
    predicted = next((label for label in labels if label.name == named), None)
    if predicted is None:
        raise ParameterError(
            "of several labels a model must say which one it predicts; train it by leastwise train"
        )
    return predicted


def _promise_for(promise: Promise, generalization: Generalization, model: Classifier | None) -> Promise:
    """Return the promise about what a model predicts."""
    several = model is not None and len(generalization.schema.labels) > 1
    return promise.about(_label_for(generalization, model).name) if several and model is not None else promise


def model_error(
    generalization: Generalization, records: pl.DataFrame, model: Classifier, people: pl.Series
) -> Share | None:
    """Return the error of a model on the records that have a label; None if none has."""
    label = _label_for(generalization, model)
    if label.continuous:
        raise ParameterError(
            f"{shorten(label.name)} is a number, and how far off a model in use is cannot be held against a "
            "promise here; leave the model out, and check newer full records: leastwise check"
        )
    if label.name not in records.columns:
        return None
    known = records[label.name].is_not_null()
    labelled, people = records.filter(known), people.filter(known)
    if not labelled.height:
        return None
    truth = [text_of(value) for value in labelled[label.name].to_list()]
    guesses = map(text_of, model.predict(labelled)["prediction"].to_list())
    wrong = sum(n for guess, each, n in zip(guesses, truth, people, strict=True) if guess != each)
    return Share(error=wrong / float(people.sum()), people=float(people.sum()))
