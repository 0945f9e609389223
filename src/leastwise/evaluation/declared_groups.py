"""Groups of people that are declared: by an attribute, by bands of a number, or by several attributes at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError, shorten
from leastwise.partition import Intervals, Partition, keep
from leastwise.predictors.held_out import Difference
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import did_you_mean

FEWEST = 50
"""People of a group; with fewer, its figures are told and held against no limit."""
FEWEST_TOLD = 10
"""With fewer still they are not told: they would be about single people."""
_WORD = re.compile(r"\s*(?P<name>.+?)\s*(?:\[(?P<edges>[^\]]*)\])?\s*")
_LIKE = "declare groups like sex, age[25,45,65] or sex & race"
Floats = npt.NDArray[np.float64]


class Band(NamedTuple):
    """One attribute of a grouping; the edges part a number."""

    name: str
    edges: tuple[float, ...] = ()


@dataclass(frozen=True)
class Grouping:
    """A way to part people: by one attribute, or by several at once.

    Examples
    --------
    >>> Grouping.parse("sex & age[25, 45]").bands
    (Band(name='sex', edges=()), Band(name='age', edges=(25.0, 45.0)))
    """

    bands: tuple[Band, ...]

    @classmethod
    def parse(cls, text: str) -> Grouping:
        """Read a grouping as people write it."""
        return cls(tuple(_band(part, text) for part in text.split("&")))

    @property
    def name(self) -> str:
        """What it is called: the attributes."""
        return " & ".join(band.name for band in self.bands)

    def check(self, schema: Schema) -> None:
        """Refuse attributes that are not there, and numbers without edges."""
        for band in self.bands:
            if band.name not in schema.names:
                hint = did_you_mean(band.name, schema.names)
                raise ParameterError(f"groups: there is no attribute {shorten(band.name)}; {hint}")
            number = schema[band.name].continuous
            if number and not band.edges:
                raise ParameterError(f"groups: {band.name} is a number; name its bands: {band.name}[25,45,65]")
            if band.edges and not number:
                raise ParameterError(f"groups: {band.name} has values and no edges; {_LIKE}")

    def of(self, table: Table) -> tuple[list[str], npt.NDArray[np.intp]]:
        """Return the names of the groups that there are, and the group of each record."""
        self.check(table.schema)
        labels, members = [""], np.zeros(len(table), dtype=np.intp)
        for band in self.bands:
            j = table.schema.names.index(band.name)
            asked = table.schema.attributes[j]
            partition: Partition = Intervals(asked, band.edges) if asked.continuous else keep(asked)
            own = partition.bucket_map(table.levels[j])[table.codes[:, j]]
            labels = [", ".join(filter(None, (one, two))) for one in labels for two in partition.labels]
            members = members * len(partition.labels) + own
        seen, members = np.unique(members, return_inverse=True)
        return [labels[i] for i in seen], members.astype(np.intp)


def _band(part: str, text: str) -> Band:
    match = _WORD.fullmatch(part)
    try:
        numbers = [float(each) for each in ((match and match["edges"]) or "").split(",") if each.strip()]
    except ValueError:
        match = None
        numbers = []
    if match is None or sorted(set(numbers)) != numbers:
        raise ParameterError(f"{shorten(text)} declares no groups; {_LIKE}")
    return Band(match["name"], tuple(numbers))


def parse_all(texts: Sequence[str], schema: Schema | None = None) -> tuple[Grouping, ...]:
    """Read several groupings, and check them against a schema where there is one."""
    groupings = tuple(Grouping.parse(text) for text in texts)
    for grouping in groupings if schema is not None else ():
        grouping.check(schema)  # type: ignore[arg-type]
    return groupings


@dataclass(frozen=True, kw_only=True)
class GroupErrors:
    """How a classifier serves declared groups: what limits are held against.

    Attributes
    ----------
    increases
        By grouping and group (of enough people): how much more often it errs than with everything asked, paired.
    worst
        How often it errs in the group that it serves worst.
    """

    increases: Mapping[str, Mapping[str, Difference]]
    worst: Difference

    @classmethod
    def of(cls, wrong: Any, everything: Any, table: Table, groupings: Sequence[Grouping]) -> GroupErrors | None:
        """Count them over the groups of enough people; None where there are none."""
        own = np.asarray(wrong, dtype=float)
        more, errors = dict[str, dict[str, Difference]](), list[Difference]()
        for grouping in groupings:
            names, members = grouping.of(table)
            people = table.people_in(members)
            large = {names[i]: members == i for i in np.flatnonzero(people >= FEWEST)}
            more[grouping.name] = {name: _mean(own - everything, table, rows) for name, rows in large.items()}
            errors += [_mean(own, table, rows) for rows in large.values()]
        return cls(increases=more, worst=max(errors, key=lambda each: each.mean)) if errors else None

    @property
    def largest(self) -> float:
        """How far the two groups of a grouping that lie farthest apart are apart as they are seen."""
        by_grouping = [[each.mean for each in own.values()] for own in self.increases.values() if own]
        return max(max(means) - min(means) for means in by_grouping)

    def gap(self, errors: float = 0.0) -> float:
        """Return what limits are held against: the largest less what chance adds, plus so many standard errors."""
        gaps = [less_chance([*own.values()]) for own in self.increases.values() if own]
        return max(each.bound(errors) for each in gaps)


class ServedBefore(NamedTuple):
    """How declared groups are served with everything asked: about whom of a part the classifier is wrong then."""

    groupings: tuple[Grouping, ...]
    wrong: npt.NDArray[Any]


def less_chance(increases: Sequence[Difference]) -> Difference:
    """Return the largest gap when increases are shrunk towards their mean by what chance adds to their spread.

    The largest of several differences is too large even where nobody differs (empirical Bayes; the variance
    between groups is that of DerSimonian and Laird). The standard error is the whole one of the two that lie
    farthest apart: no gap seen is not the same as none.

    >>> round(less_chance([Difference(0.01, 0.02), Difference(0.03, 0.02)]).mean, 4)
    0.0
    >>> round(less_chance([Difference(0.01, 0.002), Difference(0.03, 0.002)]).mean, 4)
    0.0196
    """
    means = np.array([each.mean for each in increases])
    variances = np.array([each.standard_error**2 for each in increases])
    between = _variance_between(means, variances)
    center = float(np.average(means, weights=1 / variances))
    shrunk = center + between / (between + variances) * (means - center)
    most, least = (int(pick(shrunk if between else means)) for pick in (np.argmax, np.argmin))
    error = float(variances[most] + variances[least]) ** 0.5 if most != least else 0.0
    return Difference(float(shrunk[most] - shrunk[least]), error)


def _variance_between(means: Floats, variances: Floats) -> float:
    """Return the variance of the true means: what of their spread is more than chance brings."""
    weights, free = 1 / variances, len(means) - 1
    if not free:
        return 0.0
    seen = float(weights @ (means - np.average(means, weights=weights)) ** 2)
    scale = float(weights.sum() - (weights**2).sum() / weights.sum())
    return max(seen - free, 0.0) / scale


def _mean(values: Floats, table: Table, rows: npt.NDArray[np.bool_]) -> Difference:
    persons = None if table.persons is None else table.persons[rows]
    return Difference.of(values[rows], table.counts[rows], persons)
