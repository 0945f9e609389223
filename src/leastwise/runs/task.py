"""The task of a run: what was asked, and what must hold before it begins, told in one line each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.base import Adversary, Setting, about
from leastwise.adversaries.breach import Breach
from leastwise.documents import from_text, to_plain, to_text
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, SchemaError, shorten
from leastwise.evaluation.declared_groups import parse_all
from leastwise.evaluation.protocol import attackers, several
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.records.splitting import FEWEST_OF_A_RUN
from leastwise.records.table import Split, Table
from leastwise.runs.budget import Budget
from leastwise.runs.grid import Grid
from leastwise.schema import Attribute, Schema
from leastwise.schema.file import to_yaml
from leastwise.validation import described

FORMAT = "leastwise-run"
FRESH = "fresh=True"  # in errors, which the command line tells in its own words
FRESH_FOR_ALL = "--fresh, in Python fresh=True"  # in what is written once and read by both

SHARES = (0.45, 0.25, 0.3)
"""Training, validation, test. Minimizers need few records; to tell what is free, and to choose, takes many."""

MOST = 12
"""How many candidates of the screened frontier go on; what is found on the way joins them."""

SAMPLE = 50_000  # training records that proposals and screening learn from
COMPUTING = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run is made.

    Parameters
    ----------
    grid
        Who proposes; None for the default grid (a smaller one where ``quick``).
    budget
        What the choice is made under; None for the default.
    constraints
        What every candidate must hold to.
    seed, quick
        Of the split and of all that is drawn; ``quick`` trains less, for a first look.
    most
        How many candidates of the screened frontier go on; what is found on the way joins them.
    sample
        How many training records proposals and screening learn from where there are more; screening takes more
        where that does not suffice.
    adversaries
        Who attacks the frontier beside A1 to A8: names of adversaries that other packages announce, or objects
        with ``attack(breach)``.
    groups
        Of people, that limits are held against and the report tells of: "sex", "age[25,45,65]", "sex & race".
    estimator, predictor
        Your own classifier, judged beside ours; what adversaries predict with instead of ours. See ``Judges``.
    person, survey_weights
        The names of these columns, for the record: the table has been made by them.
    """

    grid: Grid | None = None
    budget: Budget | None = None
    constraints: Constraints | None = None
    seed: int = 0
    quick: bool = False
    most: int = MOST
    sample: int = SAMPLE
    adversaries: Sequence[str | Adversary] = ()
    groups: Sequence[str] = ()
    estimator: Any = None
    predictor: Any = None
    person: str | None = None
    survey_weights: str | None = None

    @property
    def judges(self) -> Judges:
        """Who judges the frontier."""
        return Judges(self.quick, self.seed, self.estimator, self.predictor)

    def brought(self) -> dict[str, str]:
        """Say what the caller brought, by which the run is another one."""
        own = [
            each if isinstance(each, str) else f"{about(each).name}: {described(each)}"
            for each in self.adversaries
        ]
        return {**self.judges.words(), **({"adversaries": ", ".join(own)} if own else {})}

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ParameterError(f"most must be at least 1 candidate of the frontier; got {self.most}")
        if self.sample < FEWEST_OF_A_RUN:
            raise ParameterError(f"sample must be at least {FEWEST_OF_A_RUN} records; got {self.sample}")
        object.__setattr__(self, "adversaries", several(self.adversaries))


@dataclass(frozen=True, kw_only=True)
class Parts:
    """How many records each part of the protocol has."""

    train: int
    validation: int
    test: int


@dataclass(frozen=True, kw_only=True)
class SourceUsed:
    """What a run used of records that stay where they are.

    Attributes
    ----------
    engine, records
        Who counted, and how many records there are.
    sampled, tested
        How many were drawn to fit on, and on how many the frontier was judged.
    min_count
        Counts below this stayed in the engine.
    learned
        Whether A1 and A2 also guessed each person of the test part from the counts of everybody else.
    fingerprint
        Of how often each value of each column occurs.
    address, table, key, drawn
        Where they lie, without secrets; what tells them apart; and how many were to be drawn: to find and to draw
        them again. Of a frame there is no address.
    """

    engine: str
    records: int
    sampled: int
    tested: int
    min_count: int
    fingerprint: str
    learned: bool = False
    address: str | None = field(default=None, metadata=LEFT_OUT)
    table: str | None = field(default=None, metadata=LEFT_OUT)
    key: str | None = field(default=None, metadata=LEFT_OUT)
    drawn: int | None = field(default=None, metadata=LEFT_OUT)

    @property
    def elsewhere(self) -> SourceUsed:
        """The same records, wherever they lie."""
        return replace(self, address=None, table=None, key=None, drawn=None)

    def sentence(self, compared: int) -> str:
        """Say it in words; ``compared`` is on how many people the model was judged."""
        withheld = ""
        if self.min_count > 1:
            withheld = (
                f"; counts below {self.min_count} stayed there, and who is behind them counts as told and alone"
            )
        withheld += "; A1 and A2 learned from everybody else in it, too" if self.learned else ""
        judged = "judged and certified" if compared >= self.tested else "attacked and certified"
        errors = ""
        if compared < self.tested:
            errors = (
                f" How often the model errs is of the {compared:,} of them in the sample: with everything asked "
                "that is told of no others."
            )
        return (
            f"Fitted on {self.sampled:,} of {self.records:,} records; the frontier was {judged} on "
            f"all {self.tested:,} of the test part, counted in {self.engine}{withheld}.{errors}"
        )


@dataclass(frozen=True, kw_only=True)
class RunTask:
    """What was asked.

    Attributes
    ----------
    data, fingerprint
        The name of the file, without its folder, and the SHA-256 of the encoded records.
    records
        How many records each part has.
    label, personal
        What is predicted, and what must not be found out.
    seed, quick
        Of the split and of everything that is drawn; whether training was shortened.
    most
        How many candidates of the screened frontier go on; what is found on the way joins them.
    grid, budget, constraints
        What proposed, what the choice was made under (None: the default), what every candidate had to hold to.
    versions
        Of leastwise and of the libraries that compute.
    brought
        What the caller brought beside: adversaries, an estimator, a predictor.
    sample
        How many training records proposals and screening began with; None: all.
    groups
        Those that were declared.
    source
        Where the records stay at their source: what was used of it.
    weighted
        Where the records have survey weights: how many records of the test part would tell as much without.
    person, survey_weights
        The columns that told whose record each one is, and how much it weighs; where there were such.
    persons
        Where one person can have several records: how many persons each part has.
    """

    data: str
    fingerprint: str
    records: Parts
    label: str
    personal: tuple[str, ...]
    seed: int
    quick: bool
    most: int
    grid: Grid
    budget: Budget | None
    constraints: Mapping[str, Any] | None
    versions: Mapping[str, str]
    brought: Mapping[str, str] = field(default_factory=dict)
    sample: int | None = None
    groups: tuple[str, ...] = ()
    source: SourceUsed | None = None
    weighted: float | None = None
    person: str | None = field(default=None, metadata=LEFT_OUT)
    survey_weights: str | None = field(default=None, metadata=LEFT_OUT)
    persons: Parts | None = field(default=None, metadata=LEFT_OUT)

    @property
    def weights_sentence(self) -> str:
        """Say what survey weights do to the figures; nothing where there are none."""
        if self.weighted is None:
            return ""
        return (
            f"Errors and attacks are weighted as the survey says: {self.records.test:,} test records tell as much "
            f"as {self.weighted:,.0f} would with equal weights (design effect "
            f"{self.records.test / self.weighted:.2f}), and intervals are as wide. Crowds, who is alone, linking "
            "and the certificate count each record once."
        )

    @property
    def tested(self) -> int:
        """How many people the frontier was judged on: persons, where one can have several records."""
        if self.source is not None:
            return self.source.tested
        return (self.persons or self.records).test

    def to_json(self) -> str:
        """Return the document."""
        absent = [
            name for name in ("brought", "sample", "groups", "source", "weighted") if not getattr(self, name)
        ]
        return to_text(self, FORMAT, leave_out=absent)

    @classmethod
    def from_json(cls, text: str, where: str = "task") -> RunTask:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        return from_text(cls, text, FORMAT, where)


def task_of(table: Table, split: Split, grid: Grid, options: Options, name: str) -> RunTask:
    """Return what is asked of a run."""
    label = table.schema.label
    assert label is not None
    return RunTask(
        data=Path(name).name,
        fingerprint=fingerprint(table),
        label=label.name,
        personal=table.schema.personal,
        seed=options.seed,
        quick=options.quick,
        most=options.most,
        grid=grid,
        budget=options.budget if options.budget else None,
        constraints=None if options.constraints is None else to_plain(options.constraints),
        versions=versions(),
        brought=options.brought(),
        sample=options.sample if len(split.train) > options.sample else None,
        groups=tuple(options.groups),
        person=options.person,
        survey_weights=options.survey_weights if table.survey else None,
        **facts_of(split),
    )


def facts_of(split: Split) -> dict[str, Any]:
    """Return what a task says of the parts: how many records each has, and how many would tell as much."""
    return {
        "records": Parts(**{part: len(records) for part, records in split._asdict().items()}),
        "weighted": round(split.test.effective_people, 1) if split.test.survey else None,
        "persons": _persons_of(split),
    }


def _persons_of(split: Split) -> Parts | None:
    """Return how many persons each part has; None where everybody has one record."""
    heads = {part: round(records.unweighted.headcount) for part, records in split._asdict().items()}
    return None if sum(heads.values()) == sum(map(len, split)) else Parts(**heads)


def checked_split(table: Table, grid: Grid, options: Options) -> Split:
    """Split the records; refuse at once what could only fail after hours."""
    check_schema(table.schema)
    check_records(table)
    grid.check()
    if options.constraints is not None:
        options.constraints.check(table.schema)
    parse_all(options.groups, table.schema)
    attackers(options.adversaries, Setting(options.judges.adversary(), options.quick))
    split = table.split(options.seed, SHARES)
    check_split(split)
    if options.budget is not None:
        options.budget.check_groups(bool(options.groups))
        guess = guessing(split)
        options.budget.check(guess, sum(guess.values()) / len(guess), table.schema.names)
    return split


def guessing(split: Split) -> dict[str, float]:
    """Return the error of guessing, by personal attribute: on validation or test, wherever it is larger."""
    nothing = Generalization.suppressed(split.train.schema)
    errors: dict[str, float] = {}
    for parts in (split.on_validation(), split):
        breach = Breach.of(nothing, parts)
        counts = breach.truth.counts
        for target in breach.targets.values():
            error = float(target.naive_wrong @ counts) / breach.people
            errors[target.attribute.name] = max(error, errors.get(target.attribute.name, 0.0))
    return errors


def check_schema(schema: Schema) -> None:
    """Refuse a task without a label, without attributes, or without anything to protect."""
    if schema.label is None:
        raise SchemaError("a run needs a label to predict; name its column: --label")
    if not schema.attributes:
        raise SchemaError("a run needs attributes; none of the columns is one: see leastwise inspect")
    if not schema.personal:
        raise SchemaError("a run needs at least one personal attribute to protect; name it: --personal a,b")


def check_records(table: Table) -> None:
    """Refuse too few records, and a label that says nothing."""
    if len(table) < FEWEST_OF_A_RUN:
        raise DataError(
            f"a run needs at least {FEWEST_OF_A_RUN} records: a quarter of them chooses, three tenths are "
            f"attacked; got {len(table):,}"
        )
    for label, codes in zip(table.schema.labels, table.class_codes, strict=True):
        if len(np.unique(codes)) < 2 and not label.continuous:
            name = shorten(label.name)
            raise DataError(f"the label {name} must have at least two classes in the records; got one")


def check_split(split: Split) -> None:
    """Refuse parts that lack a class: what is not there cannot be judged."""
    for place, label in enumerate(split.train.schema.labels):
        if not label.continuous:  # of a number no part lacks a class
            _check_classes(label, [part.class_codes[place] for part in split])


def _check_classes(label: Attribute, codes: Sequence[npt.NDArray[Any]]) -> None:
    parts = np.stack([np.bincount(each, minlength=len(label.values)) for each in codes])
    whole = parts.sum(axis=0)
    for name, counts in zip(Split._fields, parts, strict=True):
        absent = np.flatnonzero((counts == 0) & (whole > 0))
        if len(absent):
            value, records = label.values[absent[0]], int(whole[absent[0]])
            raise DataError(
                f"class {shorten(value)} of {shorten(label.name)} has {counted(records, 'record')} and none of "
                f"them is in the {name} part; give more, merge the class with another, or try another --seed"
            )


def fingerprint(table: Table) -> str:
    """Return the SHA-256 of the encoded records: the same for the same records in any file format."""
    digest = hashlib.sha256(to_yaml(table.schema).encode())
    for j, attribute in enumerate(table.schema.attributes):
        if attribute.continuous:
            digest.update(np.ascontiguousarray(table.levels[j], dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(table.codes[:, j], dtype="<i4").tobytes())
    if table.number is not None:
        digest.update(np.ascontiguousarray(table.number.exact, dtype="<f8").tobytes())
    else:
        for codes in table.class_codes:
            digest.update(np.ascontiguousarray(codes, dtype="<i4").tobytes())
    if table.survey:
        digest.update(np.ascontiguousarray(table.weights, dtype="<f8").tobytes())
    if table.persons is not None:  # other records belong together: another task
        digest.update(np.ascontiguousarray(table.persons, dtype="<i4").tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of leastwise and of the libraries that compute."""
    from leastwise import __version__

    return {"leastwise": __version__, **{name: version(name) for name in COMPUTING}}
