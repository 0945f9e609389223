"""A schema proposed from a frame, with the reasons shown; the user decides.

The rules, in this order. *Left out* of the proposal, and named: columns without any value, with one value only,
nested values, free text, e-mail addresses, identifiers (unique per record), and dates in no single notation.
*Derived*: dates are asked as their year, codes of many kinds (postcodes, ICD-10, NACE) by how they begin, and
amounts in local notation as numbers. *Ordinal*: an ordered type (Polars Enum, ordered pandas categorical), with
all its declared categories, and texts whose words have an order (grades, bands, low to high). *Discrete*: texts,
true and false, and whole numbers of few kinds that recur (at most 10, or at most 20 unless they fill their range
without a gap: codes); a value that one record alone has is not listed but accepted as "other", and of more than
10,000 the 200 most frequent are listed. *Continuous*: counts from 0, and all other numbers; the ends stay open,
because the smallest and the largest number of the sample are somebody's data (but for the 0 that counts begin
with).

Discrete and ordinal attributes are proposed as personal, continuous ones as non-personal (the paper's convention).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted
from leastwise.errors import DataError, PrivacyLeakWarning, SchemaError, shorten, warn
from leastwise.records.encoding import distinct_values, encode_label
from leastwise.schema import KINDS, Attribute, Kind, Schema
from leastwise.schema.attribute import repeated
from leastwise.schema.derive import Above, Region, columns_of, rule_of
from leastwise.schema.hierarchies import Grouping
from leastwise.schema.labels import joint_label, label_names
from leastwise.schema.order_hints import natural_order
from leastwise.schema.patterns import check_no_patterns
from leastwise.schema.profile import MOST_VALUES, Profile, profile
from leastwise.schema.recognition import derived_profile
from leastwise.schema.rules import MOST_FREQUENT, Verdict, judge, shown, suggested_bounds, value_warnings
from leastwise.schema.values import number_text
from leastwise.validation import check_between, check_choice, did_you_mean

Role = Literal["label", "personal", "non-personal", "left out"]

MOST_CLASSES, MOST_NUMERIC_CLASSES = 100, 20
AT_LEAST = 2  # a domain is published: what one person alone has must not be read off in it
SURE = 0.995  # of an attribute that tells the label


@dataclass(frozen=True)
class Finding:
    """What was found in one column, and what is proposed for it.

    ``single`` counts the values that one record alone has; ``bounds`` are round numbers that a person may declare
    as the ends of a continuous attribute; ``derive`` is the rule by which the column is asked.
    """

    name: str
    kind: str
    reason: str
    role: Role
    domain: str
    missing: int
    distinct: int
    warnings: tuple[str, ...] = ()
    single: int = 0
    bounds: tuple[float, float] | None = None
    derive: str = ""


@dataclass(frozen=True)
class Inspection:
    """A proposed schema, with what was found in each column."""

    schema: Schema
    findings: tuple[Finding, ...]
    records: int

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """The columns that are not in the proposed schema."""
        return tuple(finding for finding in self.findings if finding.role == "left out")

    def warn(self) -> None:
        """Warn when publishing the domains would publish a value that one person alone has."""
        names = [shorten(f.name) for f in self.findings if f.single and f.role != "left out"]
        if names:
            warn(
                f"values that only one record has are in the domain of {', '.join(names)} and will be published "
                f"with it; to accept them as 'other' instead: at_least={AT_LEAST} (--at-least {AT_LEAST})",
                PrivacyLeakWarning,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and texts."""
        return {"records": self.records, "columns": [asdict(finding) for finding in self.findings]}


@dataclass(frozen=True)
class _Wishes:
    """What the user has decided already."""

    labels: tuple[str, ...]
    label_above: float | None
    personal: frozenset[str] | None
    keep: frozenset[str]
    drop: frozenset[str]
    kinds: Mapping[str, Kind]
    at_least: int
    derive: Mapping[str, str]
    hierarchies: Mapping[str, Grouping]

    def keeps(self, name: str) -> bool:
        named = (self.keep, self.kinds, self.personal or (), self.derive, self.hierarchies)
        return any(name in names for names in named)


def infer_schema(
    frame: Any,
    label: str | Sequence[str] | None = None,
    personal: Iterable[str] | None = None,
    *,
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    at_least: int = AT_LEAST,
    label_above: float | None = None,
    derive: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Grouping] | None = None,
    label_weights: Mapping[str, float] | None = None,
) -> Inspection:
    """Propose a schema for the records of a frame.

    Parameters
    ----------
    frame
        Any eager frame that narwhals reads (pandas, Polars, PyArrow); lazy ones are collected.
    label
        The column to predict, or several.
    personal
        Exactly the attributes that are personal; by default the discrete and ordinal ones. To name a column here
        is to keep it.
    keep, drop
        Columns that are attributes although they look like none, and columns that are none.
    kinds
        The kinds of columns that the rules get wrong, such as ``{"occupation code": "discrete"}``.
    at_least
        Values that fewer records have stay out of the domain, and are accepted as "other": by default those that
        one record alone has. What an ordered type declares stays.
    label_above
        A label of more than 20 different numbers is predicted as a number (``kinds`` says otherwise); this makes
        two classes of a label that is a number (of several, the one that is): up to this one, and above it.
    derive
        Rules by which columns are asked, such as ``{"born": "age on 2025-01-01 of YYYY-MM-DD"}``; an empty one
        keeps a column as it is.
    hierarchies
        What groups the values of columns: ``load_hierarchy("un-regions")``, or ``within`` of a ``Hierarchy``.
    label_weights
        Of several labels, how much an error about each counts; 1 where nothing is said.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 45, 18, 62], "sex": ["f", "m", "m", "f"], "y": [0, 1, 0, 1]})
    >>> inspection = infer_schema(frame, "y")
    >>> [(f.name, f.kind, f.role, f.reason) for f in inspection.findings][:2]
    [('age', 'continuous', 'non-personal', 'whole numbers, 4 distinct'),
     ('sex', 'discrete', 'personal', 'texts, 2 distinct')]
    """
    records = _records(frame)
    chosen = None if personal is None else frozenset(personal)
    wishes = _Wishes(
        label_names(label),
        label_above,
        chosen,
        frozenset(keep),
        frozenset(drop),
        dict(kinds or {}),
        check_between("at_least", at_least, 1),
        dict(derive or {}),
        dict(hierarchies or {}),
    )
    _check_names(records.columns, wishes)
    targets = _targets(records, wishes)
    classes = {name: encode_label(records[name], each) for name, each in targets.items() if not each.continuous}
    columns = [_look(records[name], wishes, targets, classes) for name in records.columns]
    attributes = tuple(attribute for _, attribute in columns if attribute is not None)
    together = joint_label([*targets.values()], label_weights) if targets else None
    return Inspection(Schema(attributes, together), tuple(finding for finding, _ in columns), len(records))


def _records(frame: Any) -> nw.DataFrame[Any]:
    try:
        records = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        raise DataError("two columns have the same name; rename one of them") from None
    if isinstance(records, nw.LazyFrame):
        records = records.collect()
    if records.implementation.is_polars():
        check_no_patterns(records.columns)
    if not records.columns:
        raise DataError("there are no columns; the first line must name them")
    if not len(records):
        raise DataError("there are no records, only the names of the columns")
    return cast("nw.DataFrame[Any]", records)


def _check_names(columns: list[str], wishes: _Wishes) -> None:
    named = {*wishes.keep, *wishes.drop, *wishes.kinds, *(wishes.personal or ())}
    named |= {*wishes.derive, *wishes.hierarchies}
    marks = [mark for mark in (";", "\t", "|", ",") if len(columns) == 1 and mark in columns[0]]
    hint = ""
    if marks:
        hint = f" (only one column was found, and its name has {marks[0]!r} in it: is that the delimiter?)"
    beside = {column for rule in wishes.derive.values() for column in columns_of(rule)}
    for name in [*wishes.labels, *sorted(named | beside)]:
        if name not in columns:
            several = [each.strip() for each in name.split(",")]
            if name in wishes.labels and len(several) > 1 and {*several} <= {*columns}:
                each = " ".join(f"--label {shorten(label)[1:-1]}" for label in several)
                raise SchemaError(f"there is no column {shorten(name)}; several labels are named so: {each}")
            raise SchemaError(f"there is no column {shorten(name)}; {did_you_mean(name, columns)}{hint}")
    for name in wishes.labels:
        if name in named - {*wishes.kinds}:
            what = "the label" if len(wishes.labels) == 1 else "a label"
            raise SchemaError(f"{shorten(name)} is {what}; it cannot be an attribute as well, nor left out")
    for name, rule in wishes.derive.items():
        for column in {*columns_of(rule)} & {name, *wishes.labels}:
            what = "itself" if column == name else "the label, which must not be part of a question"
            raise SchemaError(
                f"{shorten(name)}: beside it {shorten(column)} is named, which is {what}; name another"
            )
    for name in repeated(wishes.labels):
        raise SchemaError(f"the label {shorten(name)} is named twice; name each once")
    for name in wishes.drop:
        if wishes.keeps(name):
            raise SchemaError(f"{shorten(name)} is to be left out and to be an attribute; decide on one")
    for kind in wishes.kinds.values():
        check_choice("kind", kind, KINDS)


def _look(
    column: nw.Series[Any],
    wishes: _Wishes,
    targets: Mapping[str, Attribute],
    classes: Mapping[str, npt.NDArray[Any]],
) -> tuple[Finding, Attribute | None]:
    facts = profile(column)
    if column.name in targets:
        target = targets[column.name]
        reason = (
            f"numbers, in {len(target.values)} classes"
            if target.derive
            else counted(facts.distinct, "class", "classes")
        )
        reason = f"a number to predict, {facts.distinct:,} distinct" if target.continuous else reason
        return _finding(facts, target.kind, reason, "label", _domain(target), derive=target.derive), None
    asker = next((name for name, rule in wishes.derive.items() if column.name in columns_of(rule)), None)
    if asker is not None and not wishes.keeps(column.name):
        return _finding(facts, facts.form, f"asked with {asker}, as a region", "left out"), None
    if column.name in wishes.drop:
        return _finding(facts, facts.form, "as you said", "left out"), None
    if not column.name:  # such as the row numbers that a program wrote in front
        return _finding(facts, "no name", "name it in the first line to ask it", "left out"), None
    several = len(targets) > 1
    notes = [
        note
        for name, codes in classes.items()
        for note in _label_warnings(column, facts, codes, shorten(name) if several else "the label")
    ]
    return _propose(facts, wishes, tuple(notes))


def _finding(facts: Profile, kind: str, reason: str, role: Role, domain: str = "", **rest: Any) -> Finding:
    return Finding(facts.name, kind, reason, role, domain, facts.missing, facts.distinct, **rest)


def _propose(facts: Profile, wishes: _Wishes, notes: tuple[str, ...]) -> tuple[Finding, Attribute | None]:
    verdict, whole = judge(facts), facts
    notes = (*verdict.warnings, *notes)
    if verdict.apart and not wishes.keeps(facts.name):
        return _finding(facts, verdict.apart, verdict.reason, "left out", warnings=notes), None
    rule = _rule(facts, verdict, wishes)
    if columns_of(rule):
        return _in_regions(facts, rule, wishes)
    if rule:
        facts = derived_profile(facts, rule)
        _check_form(facts, rule)
        notes = notes if rule == verdict.rule else ()
        verdict = (
            verdict
            if rule == verdict.rule
            else replace(judge(facts), apart="", rule=rule, reason=f"asked as {rule}")
        )
    tree = wishes.hierarchies.get(facts.name)
    kind = wishes.kinds.get(facts.name, verdict.kind if tree is None else "discrete")
    if not rule and verdict.rule and facts.name not in wishes.kinds:
        kind = "discrete"
    personal = kind != "continuous" if wishes.personal is None else facts.name in wishes.personal
    attribute = _attribute(facts, kind, personal, wishes.at_least, rule)
    attribute = attribute if tree is None else replace(attribute, hierarchy=tree(attribute.values))
    single = tuple(value for value in facts.single if value in attribute.code_of)
    doubts = (f"looks like: {verdict.apart}",) if verdict.apart else ()
    finding = _finding(
        replace(facts, distinct=whole.distinct),
        kind,
        "as you said" if facts.name in wishes.kinds else verdict.reason,
        "personal" if personal else "non-personal",
        _domain(attribute),
        warnings=(*doubts, *notes, *value_warnings(facts, kind, single)),
        single=len(single),
        bounds=suggested_bounds(facts) if kind == "continuous" else None,
        derive=rule,
    )
    return finding, attribute


def _in_regions(facts: Profile, rule: str, wishes: _Wishes) -> tuple[Finding, Attribute]:
    """Ask a latitude and the longitude beside it by the named regions of a table."""
    made = rule_of(rule)
    assert isinstance(made, Region)
    personal = wishes.personal is None or facts.name in wishes.personal
    attribute = Attribute(
        facts.name, values=made.names, personal=personal, missing=facts.missing > 0, other=True, derive=rule
    )
    reason = f"asked as its region, with {made.beside}"
    role: Role = "personal" if personal else "non-personal"
    return _finding(facts, "discrete", reason, role, _domain(attribute), derive=rule), attribute


def _rule(facts: Profile, verdict: Verdict, wishes: _Wishes) -> str:
    """Return the rule by which a column is asked: the user's, or the one proposed where the user says nothing."""
    if facts.name in wishes.derive:
        return wishes.derive[facts.name]
    untold = facts.name not in wishes.kinds and facts.name not in wishes.hierarchies
    return verdict.rule if untold else ""


def _check_form(facts: Profile, rule: str) -> None:
    """Refuse a rule whose form some values do not have: what became of them would be a value of the domain."""
    people = facts.counts.get(getattr(rule_of(rule), "refused", ""), 0)
    if people:
        raise SchemaError(
            f"{shorten(facts.name)}: all values must have the form of {shorten(rule)}; in {people:,} of "
            f"{facts.known:,} records they have another: write them so, as no answer, or name the form they have"
        )


def _attribute(facts: Profile, kind: Kind, personal: bool, at_least: int, rule: str) -> Attribute:
    if facts.form == "nested":
        raise SchemaError(f"{shorten(facts.name)} has nested values; make columns of them first")
    missing = facts.missing > 0
    if kind == "continuous":
        if facts.form != "number":
            raise SchemaError(f"{shorten(facts.name)} cannot be continuous: it has values that are no numbers")
        # Nobody is told by the 0 from which whole numbers count.
        lower = 0.0 if facts.whole and len(facts.finite) and facts.finite[0] == 0 else None
        return Attribute(
            facts.name, kind, lower=lower, integer=facts.whole, missing=missing, personal=personal, derive=rule
        )
    if len(facts.counts) < facts.distinct:
        raise SchemaError(
            f"{shorten(facts.name)} has {facts.distinct:,} distinct values; a domain has at most {MOST_VALUES:,}: "
            "group them first, or leave the column out"
        )
    values = facts.common_values(at_least)
    if len(values) > MOST_VALUES:
        values = facts.most_frequent(MOST_FREQUENT)
    other = len(values) < len(facts.sorted_values)
    if kind == "ordinal" and not facts.categories:
        values = natural_order(values) or values
    return Attribute(facts.name, kind, values, missing=missing, other=other, personal=personal, derive=rule)


def _domain(attribute: Attribute) -> str:
    listed = ", ".join(attribute.values[:8])
    short = len(attribute.values) <= 8 and len(listed) <= 40
    return (listed if short and listed else attribute.domain_text()) + (", other" if attribute.other else "")


def _label_warnings(
    column: nw.Series[Any], facts: Profile, codes: npt.NDArray[Any], label: str
) -> tuple[str, ...]:
    """Warn of an attribute that tells a label almost surely: it may be a copy, known only afterwards."""
    if facts.form in ("nested", "empty") or 20 * facts.distinct > facts.records:
        return ()
    _, index = distinct_values(column)
    classes = int(codes.max()) + 1
    table = np.bincount((index + 1) * classes + codes, minlength=(index.max() + 2) * classes).reshape(-1, classes)
    told, majority = table.max(axis=1).sum() / len(codes), table.sum(axis=0).max() / len(codes)
    if told < SURE or majority > 1 - 2 * (1 - SURE):
        return ()
    return (f"tells {label} for {math.floor(1000 * told) / 10:g} % of the records: a copy of it?",)


def _targets(records: nw.DataFrame[Any], wishes: _Wishes) -> dict[str, Attribute]:
    """Return what is predicted, by the column that tells it."""
    above = dict.fromkeys(wishes.labels, wishes.label_above)
    if len(wishes.labels) > 1 and wishes.label_above is not None:
        numbers = [name for name in wishes.labels if is_number_to_predict(profile(records[name]))]
        if len(numbers) != 1:
            raise SchemaError(
                f"label_above makes classes of the one label that is a number; of these, {len(numbers)} are: "
                "declare them in a schema, each with derive: above N"
            )
        above = {name: wishes.label_above if name in numbers else None for name in wishes.labels}
    return {name: _target(profile(records[name]), wishes, above[name]) for name in wishes.labels}


def is_number_to_predict(facts: Profile) -> bool:
    """Return whether a label has so many numbers that it is one, and no class."""
    return facts.form == "number" and facts.distinct > MOST_NUMERIC_CLASSES


def _target(facts: Profile, wishes: _Wishes, above: float | None) -> Attribute:
    if above is None:
        return label_of(facts, wishes.kinds.get(facts.name))
    rule = rule_of(f"above {number_text(above)}")
    assert isinstance(rule, Above)
    if facts.form != "number":
        raise SchemaError(f"the label {shorten(facts.name)} must have numbers to be above {number_text(above)}")
    if not facts.finite[0] <= above < facts.finite[-1]:
        raise SchemaError(
            f"of the label {shorten(facts.name)} some numbers must be above {number_text(above)} and some not; "
            "all are on one side"
        )
    return Attribute(facts.name, values=rule.classes, derive=f"above {number_text(above)}")


def label_of(facts: Profile, kind: Kind | None = None) -> Attribute:
    """Return the label: classes, or a number where there are many; complain about all that makes it unfit."""
    if kind == "continuous" or (kind is None and is_number_to_predict(facts)):
        return _number_of(facts)
    problems = _label_problems(facts)
    if problems:
        raise SchemaError(f"the label {shorten(facts.name)} cannot be predicted", problems)
    return Attribute(facts.name, "discrete", facts.sorted_values)


def _number_of(facts: Profile) -> Attribute:
    """Return a label that is a number; of an identifier nothing is learned."""
    problems = []
    if facts.form != "number":
        problems.append("a number to predict must have numbers only; this column has others")
    elif facts.missing:
        problems.append(f"it is missing in {facts.missing:,} of {facts.records:,} records; leave those out")
    elif facts.distinct < 2:
        problems.append(f"it must have two values or more; found {facts.distinct}")
    elif len(facts.finite) < facts.distinct:
        problems.append("every number must be finite; leave the others out")
    if problems:
        raise SchemaError(f"the label {shorten(facts.name)} cannot be predicted", problems)
    lower = 0.0 if facts.whole and facts.finite[0] == 0 else None  # nobody is told by the 0 from which counts go
    return Attribute(facts.name, "continuous", lower=lower, integer=facts.whole)


def _label_problems(facts: Profile) -> list[str]:
    if facts.form in ("nested", "date"):
        return [f"it must have classes; this column has {'nested values' if facts.form == 'nested' else 'dates'}"]
    most = MOST_NUMERIC_CLASSES if facts.form == "number" else MOST_CLASSES
    if facts.distinct > most:
        advice = "leave it a number, or make two classes of it: --label-above 50000"
        advice = advice if facts.form == "number" else "group them first"
        return [f"it must have at most {most} classes; it has {facts.distinct:,} distinct values: {advice}"]
    problems = []
    if facts.missing:
        problems.append(f"it is missing in {facts.missing:,} of {facts.records:,} records; leave those out")
    if facts.distinct < 2:
        problems.append(f"it must have two classes or more; found {facts.distinct}")
    elif facts.single:
        what = "class has" if len(facts.single) == 1 else "classes have"
        problems.append(
            f"every class needs two records or more; {len(facts.single)} {what} one ({shown(facts.single)}): "
            "leave these records out, or count them to another class"
        )
    return problems
