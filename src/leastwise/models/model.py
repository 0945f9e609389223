"""A trained classifier with the generalization it belongs to, and what is known about it: its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from leastwise.confidence import Interval
from leastwise.documents import Document
from leastwise.documents.pages import as_is
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import percent, percent_range
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.models.inputs import Matrix, as_polars, encoded


@dataclass(frozen=True)
class ModelFacts(Document):
    """What is known about a model; the model card says the same in words.

    Attributes
    ----------
    fingerprint
        Of the generalization whose records it reads.
    error, interval, baseline, tested
        The share of wrong answers on held-out records, its exact 95 % interval, that of always answering the most
        frequent class, and how many records were held out. Of a number: the mean absolute error in its unit, and
        that of always answering the median.
    trained, unlabelled
        How many records the saved model was fitted on, and how many were left out because they had no label.
    r2
        Of a number, the share of its variance that is explained on held-out records; None where there are classes.
    survey_weights
        The column by which it was fitted and measured; None where each record counted once.
    """

    FORMAT: ClassVar[str] = "leastwise-model"
    CALLED: ClassVar[str] = "the facts of the model"

    fingerprint: str
    label: str
    classes: tuple[str, ...]
    collected: tuple[str, ...]
    estimator: str
    error: float
    interval: Interval
    baseline: float
    tested: int
    trained: int
    unlabelled: int
    seed: int
    versions: Mapping[str, str]
    r2: float | None = None
    unit: str = ""
    survey_weights: str | None = field(default=None, metadata=LEFT_OUT)

    @property
    def number(self) -> bool:
        """Whether it predicts a number."""
        return self.r2 is not None


@dataclass(frozen=True)
class Model:
    """A classifier of generalized records.

    Made by :func:`leastwise.models.train`, read by :func:`leastwise.models.load_model`.
    """

    generalization: Generalization
    pipeline: Any
    facts: ModelFacts

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the generalization whose records it reads."""
        return self.facts.fingerprint

    def predict(self, records: Any) -> pl.DataFrame:
        """Return a prediction for each generalized record, and the probability of each class (``p:class``).

        The probabilities are left out where the estimator gives none.
        """
        return self.predict_matrix(encoded(self.generalization, as_polars(records)))

    def predict_matrix(self, matrix: Matrix) -> pl.DataFrame:
        """Return the predictions for encoded records."""
        if self.facts.number:
            return pl.DataFrame({"prediction": np.asarray(self.pipeline.predict(matrix), dtype=float)})
        classes = np.asarray(self.facts.classes, dtype=object)
        if not hasattr(self.pipeline, "predict_proba"):
            guesses = classes[self.pipeline.predict(matrix).astype(int)]
            return pl.DataFrame({"prediction": pl.Series(guesses.tolist(), dtype=pl.String)})
        chances = np.zeros((len(matrix), len(classes)))
        chances[:, self.pipeline.classes_.astype(int)] = self.pipeline.predict_proba(matrix)
        best = pl.Series("prediction", classes[chances.argmax(axis=1)].tolist(), dtype=pl.String)
        return pl.DataFrame([best, *(pl.Series(f"p:{name}", chances[:, j]) for j, name in enumerate(classes))])

    def check_fits(self, generalization: Generalization) -> None:
        """Complain when the model belongs to another generalization."""
        if generalization.fingerprint != self.fingerprint:
            raise ParameterError(
                f"the model was trained under generalization {self.fingerprint[:12]}, this one is "
                f"{generalization.fingerprint[:12]}; use the artefact that the model belongs to, or train again"
            )

    def save(self, path: str | Path, *, overwrite: bool = False) -> tuple[Path, ...]:
        """Write the model (skops, no pickle), and its card as Markdown and JSON beside it."""
        from leastwise.models.saving import save_model

        return save_model(self, path, overwrite=overwrite)


def card(facts: ModelFacts) -> str:
    """Return the model card as Markdown."""
    error = (
        f"wrong on held-out records | {percent(facts.error, 2)} (95 % interval {percent_range(facts.interval, 2)}"
    )
    naive = f"always answering the most frequent class | {percent(facts.baseline, 2)}"
    how, what = "exact (binomial)", ", ".join(map(as_is, facts.classes))
    if facts.number:
        low, high = facts.interval
        unit = f" {as_is(facts.unit)}" if facts.unit else ""
        error = (
            f"off on held-out records, on average | {facts.error:.4g}{unit} (95 % interval {low:.4g} to {high:.4g}"
        )
        error += f"; R2 {facts.r2:z.3f}"
        naive = f"always answering the median | {facts.baseline:.4g}{unit}"
        how, what = "that of a mean (normal)", "a number"
    if facts.survey_weights is not None:
        how = f"that of a mean weighted by {as_is(facts.survey_weights)}, as the model was fitted,"
    versions = ", ".join(f"{name} {number}" for name, number in facts.versions.items())
    return f"""# Model card: {as_is(facts.label)}

Predicts **{as_is(facts.label)}** ({what}) from generalized records.

| | |
|---|---|
| generalization | `{facts.fingerprint}` |
| it reads | {", ".join(map(as_is, facts.collected))} |
| estimator | `{facts.estimator}` |
| {error}; {facts.tested:,} records) |
| {naive} |
| fitted on | {facts.trained:,} records with a label, {facts.unlabelled:,} without one left out |
| seed | {facts.seed} |
| made with | {versions} |

**How it was measured.** The same pipeline was fitted on the records that were not held out and asked about those
that were; the saved model is fitted on all of them. The interval is {how} for records like these. It
says nothing about other people, or about the same people later: compare what arrives with `leastwise monitor`.

**What it has seen.** Labels of buckets only, of the attributes above. It answers only records of this
generalization. A model can still tell something about the records it was fitted on; it holds no more than they do.

**What it is not.** It was not examined for differences between groups of people. Whoever decides about people
with it must do that.
"""
