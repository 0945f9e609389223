"""New records as a check needs them: who is in which bucket, and whose values no domain has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.confidence import effective_number
from leastwise.errors import DataError, UnknownValueError
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.records.encoding import encode_label, mapped
from leastwise.records.survey import read_weights, scaled
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.labels import JointLabel
from leastwise.schema.values import text_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class BucketUse:
    """How many people are in each bucket of one attribute."""

    attribute: str
    counts: tuple[int, ...]


def counted(generalization: Generalization) -> list[tuple[int, Partition]]:
    """Return the attributes whose buckets can be counted: those that are asked, numbers asked exactly aside."""
    return [
        (j, partition)
        for j, partition in enumerate(generalization.partitions)
        if not partition.suppressed and not isinstance(partition, Untouched)
    ]


def bucket_use(generalization: Generalization, table: Table) -> tuple[BucketUse, ...]:
    """Count the people in each bucket of each attribute that is asked; by survey weights, as they tell."""
    maps, worth, table = table.bucket_maps(generalization), _worth(table), table.each_once
    return tuple(
        BucketUse(
            attribute=partition.attribute.name,
            counts=_whole(worth * np.bincount(maps[j], weights=table.use(j), minlength=partition.size)),
        )
        for j, partition in counted(generalization)
    )


def label_use(table: Table) -> tuple[int, ...] | None:
    """Count the people of each class; None without a label, or where it is a number."""
    label = table.schema.label
    if table.labels is None or table.number is not None or label is None:
        return None
    codes = label.combination(table.class_codes) if isinstance(label, JointLabel) else table.labels
    each = table.each_once.weights
    return _whole(_worth(table) * np.bincount(codes, weights=each, minlength=len(label.values)))


def _worth(table: Table) -> float:
    """Return how many people with equal weights a unit of survey weight is worth; 1 where there are none."""
    return table.effective_people / max(table.people, 1) if table.survey else 1.0


def _whole(counts: Any) -> tuple[int, ...]:
    return tuple(round(count) for count in counts.tolist())


def read_collected_weights(records: pl.DataFrame, name: str, generalization: Generalization) -> pl.Series:
    """Return for how many people each generalized record tells as much, by a column of survey weights."""
    import polars as pl

    weights = read_weights(records, name, generalization.schema)
    return pl.Series(scaled(weights) * effective_number(weights) / max(len(weights), 1))


def collected_use(
    generalization: Generalization, records: pl.DataFrame, people: pl.Series | None = None, codes: bool = False
) -> tuple[BucketUse, ...]:
    """Count the people in each bucket of records that are generalized already.

    Parameters
    ----------
    records
        A column per attribute that is asked, with the labels that people read.
    people
        How many each record stands for.
    codes
        Whether the columns hold the numbers of the buckets instead.
    """
    missing = [name for name in generalization.collected if name not in records.columns]
    if missing:
        raise DataError(
            f"the generalized records have no column {missing[0]!r}; they must be those of this generalization"
        )
    extra = [name for name in generalization.not_collected if name in records.columns]
    if extra:
        raise DataError(
            f"the records have a column {extra[0]!r}, which this generalization does not collect; give the "
            "generalized records, or check full records with: leastwise check"
        )
    people, uses = one_each(records) if people is None else people, []
    for _, partition in counted(generalization):
        name = partition.attribute.name
        answers = map(str, range(partition.size)) if codes else partition.labels
        uses.append(BucketUse(attribute=name, counts=_placed(records[name], people, answers)))
    return tuple(uses)


def one_each(records: pl.DataFrame | pl.Series) -> pl.Series:
    """Return how many people each record stands for, where nothing is said: one."""
    import polars as pl

    return pl.repeat(1, len(records), dtype=pl.Int64, eager=True)


def class_use(label: Attribute, records: pl.DataFrame, people: pl.Series | None = None) -> tuple[int, ...] | None:
    """Count the classes of the label, of several their combinations; records without all are left out.

    None where it is a number, or where the records have no column of it.
    """
    if label.continuous or any(each.name not in records.columns for each in label.parts):
        return None
    import polars as pl

    labelled = records.select(
        pl.all_horizontal(pl.col(each.name).is_not_null() for each in label.parts)
    ).to_series()
    told, people = records.filter(labelled), (one_each(records) if people is None else people).filter(labelled)
    counts = [_placed(told[each.name], people, each.values) for each in label.parts]
    if not isinstance(label, JointLabel):
        return counts[0]
    codes = [encode_label(nw.from_native(told[each.name], series_only=True), each.plain) for each in label.parts]
    return _whole(np.bincount(label.combination(codes), weights=people.to_numpy(), minlength=len(label.values)))


def _placed(column: pl.Series, people: pl.Series, answers: Iterable[str]) -> tuple[int, ...]:
    # A file of texts that all look like numbers was read as numbers; the text decides.
    place = {text_of(answer): i for i, answer in enumerate(answers)}
    counts, strange = [0.0] * len(place), 0  # a record that stands for nobody may be strange, too
    counted = column.to_frame("value").with_columns(people=people, records=one_each(column))
    for value, count, records in counted.group_by("value").sum().iter_rows():
        where = place.get(text_of(value))
        if where is None:
            strange += records
        else:
            counts[where] += count
    if strange:
        # What they hold may be somebody's exact value: it is counted, not shown.
        answers_text = "not its one answer" if len(place) == 1 else f"none of its {len(place)} answers"
        so_many = "1 record holds" if strange == 1 else f"{strange:,} records hold"
        raise DataError(
            f"{column.name}: {so_many} something that is {answers_text}; the "
            "records must be generalized by this generalization (--codes if they hold the buckets' numbers)"
        )
    return _whole(np.asarray(counts))


def alone(generalization: Generalization, records: pl.DataFrame, people: pl.Series | None = None) -> int:
    """Return how many people are alone with their generalized record, and the label where one is stored (A8)."""
    people = one_each(records) if people is None else people
    names = list(generalization.collected)
    if not names:
        return int(people.sum() == 1)
    names += [label.name for label in generalization.schema.labels if label.name in records.columns]
    return int((people.to_frame("n").group_by(records[names]).sum()["n"] == 1).sum())


@dataclass(frozen=True)
class NewRecords:
    """New records as a table; those with a value outside the domain are counted and left out.

    Attributes
    ----------
    table
        The records that the schema can hold.
    people
        How many records there were in all.
    unseen
        By attribute (or label), how many records had a value that its domain does not have.
    absent
        The labels that have not arrived; where one is absent, none is judged.
    """

    table: Table
    people: int
    unseen: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def read_new(
    frame: pl.DataFrame, schema: Schema, survey_weights: str | None = None, person: str | None = None
) -> NewRecords:
    """Encode records that may hold values nobody declared; a label that has not arrived is left out.

    ``person`` names the column that tells whose record each one is, where one can have several.
    """
    absent = tuple(label.name for label in schema.labels if label.name not in frame.columns)
    if absent:
        schema = replace(schema, label=None)
    try:
        return NewRecords(Table.from_frame(frame, schema, person, survey_weights), frame.height, absent=absent)
    except UnknownValueError:
        pass  # the usual case costs nothing; from here on the strange values are looked for one by one
    masks = {each.name: strange_values(frame, each) for each in (*schema.attributes, *schema.labels)}
    kept = ~np.any(list(masks.values()), axis=0)
    if not kept.any():
        worst = max(masks, key=lambda name: int(masks[name].sum()))
        raise DataError(
            f"no record fits the schema: {int(masks[worst].sum()):,} of {frame.height:,} have a value of {worst} "
            "that its domain does not have; is it the right file, and are its marks for 'no answer' named?"
        )
    # Those without one count too: how many questions are asked must not depend on the answers.
    unseen = {name: int(mask.sum()) for name, mask in masks.items()}
    table = Table.from_frame(frame.filter(kept), schema, person, survey_weights)
    return NewRecords(table, frame.height, unseen, absent)


def strange_values(frame: pl.DataFrame, attribute: Attribute) -> npt.NDArray[np.bool_]:
    """Return which records have a value that the domain of an attribute does not have."""
    column = nw.from_native(frame[attribute.name], series_only=True)
    return np.asarray(mapped(column, lambda value: _strange(value, attribute)), dtype=bool)


def _strange(value: Any, attribute: Attribute) -> bool:
    try:
        attribute.read(value)
    except UnknownValueError:
        return True
    return False
