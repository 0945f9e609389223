"""What every minimizer is: a scikit-learn transformer that learns a generalization."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from leastwise.errors import DataError, ParameterError, SchemaError, shorten
from leastwise.generalization import Generalization
from leastwise.generalization.leaks import warn_of_leaks
from leastwise.minimizers import sample
from leastwise.random import generator
from leastwise.records.splitting import protocol_rows
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.inference import infer_schema
from leastwise.schema.labels import JointLabel

Self = TypeVar("Self", bound="Minimizer")


class Minimizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all minimizers.

    A minimizer turns training records into a ``Generalization``. Whoever holds a ``Table`` calls
    ``propose(table)``; whoever lives in scikit-learn calls ``fit(X, y)`` and ``transform(X)``. A new minimizer
    implements ``minimize(table)`` and nothing else.

    Parameters
    ----------
    schema
        The declared domains. None: inferred from the frame; the columns of an array are numbers with open ends.
    personal
        The names of the personal attributes; None leaves them as the schema has them.
    random_state
        A whole number for a result that can be repeated to the byte.

    Attributes
    ----------
    generalization_
        What was learned.
    n_features_in_, feature_names_in_
        The number of attributes and, of a frame, their names.
    """

    name: ClassVar[str] = ""
    """What the command line calls it."""

    reference: ClassVar[str] = ""
    """Where it is described."""

    needs_label: ClassVar[bool] = False
    """Whether it cannot do without a label."""

    takes_numbers: ClassVar[bool] = True
    """Whether the label may be a number."""

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.schema = schema
        self.personal = personal
        self.random_state = random_state

    @abstractmethod
    def minimize(self, table: Table) -> Generalization:
        """Return the generalization found on these training records; warns of nothing, adds no origin."""

    def propose(
        self, table: Table, inferred: Collection[str] = (), everyone: Table | None = None
    ) -> Generalization:
        """Return the generalization found on these training records, ready to be published.

        It says where it comes from, and a ``PrivacyLeakWarning`` tells what in it can be traced to one person.

        Parameters
        ----------
        table
            The training records.
        inferred, everyone
            The names of the attributes whose values were read off the records instead of declared; and those
            records, where they are more than these.
        """
        check_label(type(self), table)
        learned = checked_generalization(self.minimize(table.with_own_levels()), "minimize(table)")
        proposed = replace(learned, origin={**self._origin(), **chosen_on(table), **learned.origin})
        warn_of_leaks(proposed, table, inferred, everyone)
        return proposed

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learn ``generalization_`` from a frame (pandas, Polars, PyArrow) or an array.

        Parameters
        ----------
        X
            The records. With a schema a frame may have more columns than it declares.
        y
            The class of each record. None: taken from the label column of X, if the schema names one.
        """
        records = sample.read_records(X)
        schema = self._schema_for(records)
        if not records.by_name:
            records = records.renamed(schema.names)
        attributes = records.select(schema.names)
        validate_data(
            self,
            records.given if self.schema is None or not records.by_name else attributes.to_native(),
            reset=True,
            skip_check_array=True,
        )
        unlabelled = Table.from_frame(attributes, Schema(schema.attributes))
        table = self._labelled(unlabelled, records.frame, y, schema.label)
        self.generalization_ = self.propose(table, inferred=schema.names if self.schema is None else ())
        return self

    def _schema_for(self, records: sample.Records) -> Schema:
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise ParameterError(f"schema must be a leastwise Schema or None; got {type(self.schema).__name__}")
        if self.schema is not None:
            schema = self.schema
        elif not records.from_frame:
            schema = sample.schema_of_array(records.frame)
        else:
            schema = infer_schema(records.frame.to_native(), personal=self.personal).schema
            if not schema.attributes:
                raise DataError(
                    "no column can be an attribute (constant, unique, dates or free text); declare a schema"
                )
        return schema if self.personal is None else schema.with_personal(self.personal)

    def _labelled(self, table: Table, frame: sample.Frame, y: Any, label: Attribute | None) -> Table:
        if isinstance(label, JointLabel):
            if y is not None or any(each.column not in frame.columns for each in label.parts):
                raise SchemaError(f"the labels {label.name} are read from columns of X; leave y out")
            return table.with_label([frame[each.column] for each in label.parts], label)
        if y is None and label is not None and label.name in frame.columns:
            y = frame[label.name].to_list()
        if y is None and get_tags(self).target_tags.required:
            raise SchemaError(
                f"this {type(self).__name__} requires y to be passed, but the target y is None; "
                "pass the label as y, or name it in the schema"
            )
        if y is None:
            return replace(table, schema=replace(table.schema, label=label))
        return sample.labelled(table, y, label)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the buckets of the records, one column per attribute, as whole numbers.

        A suppressed attribute is 0 throughout. A continuous attribute that is kept untouched has no numbered
        buckets: its numbers stay as they are, and the array is one of floats.
        """
        check_is_fitted(self)
        records = sample.read_records(X)
        names = self.generalization_.schema.names
        if self.schema is None:
            validate_data(self, records.given, reset=False, skip_check_array=True)
        if not records.by_name or (self.schema is None and not hasattr(self, "feature_names_in_")):
            records = records.renamed(getattr(self, "feature_names_in_", names))
        return sample.buckets(self.generalization_, records.select(names))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the attributes."""
        check_is_fitted(self)
        if input_features is not None:
            return np.asarray(super().get_feature_names_out(input_features), dtype=object)
        return np.asarray(self.generalization_.schema.names, dtype=object)

    @property
    def seed(self) -> int:
        """The whole number that ``random_state`` stands for; a new one at each call if it is None."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _origin(self) -> dict[str, Any]:
        from leastwise import __version__

        plain = {n: v.item() if isinstance(v, np.generic) else v for n, v in self.get_params(deep=False).items()}
        # What a file can hold; nan is no number there.
        scalars = {n: v for n, v in plain.items() if isinstance(v, (str, bool, int, float)) and v == v}
        return {"minimizer": self.name, "leastwise": __version__, **scalars}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_label
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def chosen_on(table: Table) -> dict[str, Any]:
    """Return what the artefact says about the records that chose it, so that nobody judges it by them."""
    seed = {} if table.split_seed is None else {"split_seed": table.split_seed}
    return {"chosen_on": table.part, **seed}


def checked_generalization(found: Any, by: str) -> Generalization:
    """Return what a minimizer found, if it is a generalization; complain otherwise."""
    if not isinstance(found, Generalization):
        raise ParameterError(f"{by} of a minimizer must return a Generalization; got {type(found).__name__}")
    return found


def check_label(minimizer: type[Minimizer], table: Table) -> None:
    """Raise a ``SchemaError`` where the label is a number, and the minimizer parts classes only."""
    if table.number is not None and not minimizer.takes_numbers:
        label = table.schema.label
        assert label is not None
        raise SchemaError(
            f"{minimizer.name} needs a label of classes, and {shorten(label.name)} is a number; use recommended, "
            "pat, optimal or coarsening, or make two classes of it: --set label_above=N"
        )


def check_two_classes(table: Table) -> None:
    """Raise a ``DataError`` where there is nothing to learn: all records have the same class."""
    if len(np.unique(table.y)) < 2:
        raise DataError("the label must have at least two classes in the records; found one class")


def held_out(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Return (what models learn from, what they are measured on); both are all records where there are too few.

    A row that stands for several people stays whole.
    """
    shares, random = (1 - share, share, 0.0), generator(seed, "split")
    learned, measured, _ = protocol_rows(len(table), shares, random, table.persons)
    train = table.take(learned)
    return train, table.take(measured) if len(measured) else train
