"""Reads a policy: every problem with its line, near misses suggested, nothing repaired in silence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from leastwise.checks.drifting import DriftLimits
from leastwise.documents import LARGEST_DOCUMENT, Fields, Problems, check_format, from_plain, is_number
from leastwise.documents.wording import listed
from leastwise.documents.yaml import LocatedDocument
from leastwise.errors import LeastwiseError, ParameterError, SchemaError, shorten
from leastwise.evaluation.declared_groups import parse_all
from leastwise.exports import FormTexts, Notice
from leastwise.minimizers.constraints import Constraints
from leastwise.policy.policy import FORMAT, VERSION, Policy, PolicyTask, Processing
from leastwise.records.sources.opening import SCHEMES, moved
from leastwise.runs.budget import MEAN, Budget
from leastwise.schema import Schema
from leastwise.schema.file import load_schema
from leastwise.schema.labels import label_names
from leastwise.schema.names import Names, names_from_document
from leastwise.schema.values import number_of
from leastwise.validation import did_you_mean

MISSING = "missing"  # what a constraint calls "no answer"
T = TypeVar("T")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_policy(text: str, folder: Path) -> tuple[Policy | None, list[str]]:
    """Return the policy, or None, and all problems of the text."""
    if len(text) > LARGEST_DOCUMENT:
        return None, [f"too large: {len(text):,} characters, at most {LARGEST_DOCUMENT:,}"]
    source = LocatedDocument.read(text)
    problems = Problems(source.where)
    problems.texts += source.problems
    policy = _policy(Section(source.content, (), problems), folder) if source.whole else None
    return policy, problems.texts


class Section(Fields):
    """The keys of one mapping of a policy, whose plain texts become what their key needs."""

    def word(self, key: str) -> str | None:
        """Return a text; None when it is left out."""
        return self.text(key) or None

    def file(self, key: str, folder: Path) -> Path | None:
        """Return the path of a file, meant from the policy's folder."""
        name = self.word(key)
        return None if name is None else folder / name

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text is a list of one."""
        value = self.take(key, [])
        if isinstance(value, str):
            return (value,) if value else ()
        return self.texts(key)

    def number_or(self, key: str, default: float | None) -> float | None:
        """Return a number."""
        if key not in self or self.take(key) == "":
            self.take(key)
            return default
        value = as_number(self.take(key))
        if value is None:
            self.wrong(key, "a finite number", self.take(key))
        return default if value is None else value

    def whole_or(self, key: str, default: int | None) -> int | None:
        """Return a whole number."""
        value = self.number_or(key, None)
        if value is not None and value != int(value):
            self.wrong(key, "a whole number", self.take(key))
            return default
        return default if value is None else int(value)

    def at_least(self, key: str, least: int) -> int | None:
        """Return a whole number that must not be smaller; None when it is left out."""
        value = self.whole_or(key, None)
        if value is not None and value < least:
            self.problems.add((key,), f"must be at least {least}; got {value}")
        return value

    def truth(self, key: str) -> bool:
        """Return true or false; false when it is left out."""
        value = self.take(key, False)
        value = _TRUTH.get(value.lower(), value) if isinstance(value, str) else value
        if not isinstance(value, bool):
            self.wrong(key, "true or false", value)
        return value is True

    def section(self, key: str) -> Section:
        """Return the keys of a mapping; an empty one when it is left out."""
        value = self.take(key)
        return Section({} if value in (None, "") else value, (*self.path, key), self.problems)

    def names(self) -> tuple[str, ...]:
        """Return all keys there are: attributes, mostly."""
        return tuple(str(key) for key in self._data)


def as_number(value: Any) -> float | int | None:
    """Return the number that a text of YAML writes; None if it writes none.

    >>> as_number("0.01"), as_number("12"), as_number("1e-3"), as_number("abc"), as_number("nan")
    (0.01, 12, 0.001, None, None)
    """
    if is_number(value):
        return value  # type: ignore[no-any-return]
    if not isinstance(value, str):
        return None
    try:
        number = int(value) if _WHOLE.fullmatch(value) else float(value)
    except ValueError:
        return None
    return number if is_number(number) else None


def _policy(section: Section, folder: Path) -> Policy | None:
    if not check_format(section, FORMAT, VERSION):
        return None
    task = _task(section, folder)
    budget = _limits(Budget, section.section("budget"))
    drift = _limits(DriftLimits, section.section("drift"))
    notice = _limits(Notice, section.section("notice"))
    form = _limits(FormTexts, section.section("form"), _with_texts)
    processing = _limits(Processing, section.section("processing"), _with_texts)
    constraints = _constraints(section.section("constraints"))
    files = {
        key: section.file(key, folder) for key in ("generalization", "promise", "grid", "decision", "signers")
    }
    previous = tuple(folder / name for name in section.words("previous"))
    seed, quick = section.whole_or("seed", 0) or 0, section.truth("quick")
    nested, groups = section.truth("nested"), section.words("groups")
    names, months = _names(section.section("names")), section.whole_or("review_months", 12) or 0
    _check_values(section.problems, groups, months, seed)
    section.done()
    _check_names(section.problems, task, budget, constraints, form, names)
    if section.problems.texts or budget is None or drift is None:
        return None
    if notice is None or form is None or processing is None:
        return None
    return Policy(
        task=task,
        budget=budget,
        constraints=constraints,
        drift=drift,
        previous=previous,
        seed=seed,
        quick=quick,
        notice=notice,
        form=form,
        processing=processing,
        review_months=months,
        nested=nested,
        groups=groups,
        names=names,
        **files,
    )


def _task(section: Section, folder: Path) -> PolicyTask:
    lists = {key: section.words(key) for key in ("missing", "drop", "keep", "discrete", "continuous")}
    schema, label = section.file("schema", folder), _label(section)
    personal = section.words("personal") if "personal" in section else None
    at_least = section.at_least("at_least", 1)
    for key in ("drop", "keep", "discrete", "continuous", "at_least"):
        if schema is not None and key in section:
            section.problems.add((key,), "has no use beside schema; edit the schema instead")
    return PolicyTask(
        table=section.word("table"),
        key=section.word("key"),
        sample=section.at_least("sample", 300),
        min_count=section.at_least("min_count", 1),
        person=section.word("person"),
        survey_weights=section.word("survey_weights"),
        data=_records(section, folder),
        label=label,
        personal=personal,
        schema=schema,
        at_least=at_least,
        **lists,
    )


def _records(section: Section, folder: Path) -> Path | str | None:
    """Return where the records are: a file of the policy's folder, or in an engine."""
    address = section.word("data")
    if address is None:
        return None
    place = moved(address, lambda name: str(folder / name))
    return place if place.startswith(SCHEMES) else Path(place)


def _label(section: Section) -> str | tuple[str, ...] | None:
    """Return the name of the label, or those of several: a list."""
    if isinstance(section.take("label", None), list):
        names = section.words("label")
        return names[0] if len(names) == 1 else names or None
    return section.word("label")


def _limits(kind: type[T], section: Section, read: Callable[[Any], Any] | None = None) -> T | None:
    """Build a dataclass of limits from the keys of a mapping; one that is left out or empty has its default."""
    given = {each.name: section.take(each.name, "") for each in fields(kind)}  # type: ignore[arg-type]
    section.done()
    try:
        return from_plain(kind, (read or _with_numbers)(given), section.path, section.problems)
    except ParameterError as error:
        section.problems.add(section.path, str(error))
        return None


def _with_numbers(data: Any) -> Any:
    """Return the document with numbers for the texts that write them, and without empty keys."""
    if isinstance(data, dict):
        return {key: _with_numbers(value) for key, value in data.items() if value != ""}
    number = as_number(data)
    return data if number is None else number


def _with_texts(data: dict[str, Any]) -> dict[str, Any]:
    """Return the document without empty keys; a text that writes a number stays one."""
    return {key: value for key, value in data.items() if value != ""}


def _constraints(section: Section) -> Constraints:
    lists = section.section("edges")
    edges = {name: _edges(lists, name) for name in lists.names()}
    limits = section.section("max_buckets")
    most = {name: number for name in limits.names() if (number := limits.whole_or(name, None)) is not None}
    apart, together = (_value_lists(section.section(key)) for key in ("apart", "together"))
    constraints = Constraints(
        max_buckets=most,
        max_buckets_in_all=section.whole_or("max_buckets_in_all", None),
        edges=edges,
        suppressed=section.words("suppressed"),
        untouched=section.words("untouched"),
        together=together,
        apart=apart,
        min_people=section.number_or("min_people", 0) or 0,
    )
    section.done()
    return constraints


def _edges(section: Section, name: str) -> list[float]:
    numbers = [as_number(item) for item in section.items(name)]
    if None in numbers:
        section.wrong(name, "a list of numbers", section.take(name))
    return [float(number) for number in numbers if number is not None]


def _value_lists(section: Section) -> dict[str, list[list[Any]]]:
    by_name: dict[str, list[list[Any]]] = {}
    for name in section.names():
        lists = section.items(name)
        if not all(isinstance(values, list) for values in lists):
            section.wrong(name, "a list of lists of values, such as [[a, b], [c, d]]", section.take(name))
            continue
        by_name[name] = [[_raw(value) for value in values] for values in lists]
    return by_name


def _raw(value: Any) -> Any:
    """Return a value as a constraint means it: a number where one is written exactly, None for "missing"."""
    if value == MISSING:
        return None
    number = number_of(value) if isinstance(value, str) else None
    return value if number is None else number


def _names(section: Section) -> Names:
    """Read what buckets are called, by attribute."""
    path, problems = section.path, section.problems
    return {name: names_from_document(section.take(name), (*path, name), problems) for name in section.names()}


def _check_values(problems: Problems, groups: Sequence[str], months: int, seed: int) -> None:
    try:
        parse_all(groups)
    except ParameterError as error:
        problems.add(("groups",), str(error))
    if months < 1:
        problems.add(("review_months",), f"must be at least 1; got {months}")
    if seed < 0:
        problems.add(("seed",), f"must be a whole number from 0; got {seed}")


def _check_names(
    problems: Problems,
    task: PolicyTask,
    budget: Budget | None,
    constraints: Constraints,
    form: FormTexts | None,
    names: Names,
) -> None:
    personal, schema = task.personal, None
    for name in label_names(task.label):
        if name in (personal or ()):
            problems.add(("personal",), f"{shorten(name)} is the label; it can only be one of the two")
    try:
        schema = None if task.schema is None else load_schema(task.schema)
    except SchemaError as error:
        problems.add(("schema",), str(error))
    if schema is not None:
        _check_against(schema, task, constraints, problems)
        try:
            schema.with_names(names)
        except SchemaError as error:
            problems.add(("names",), str(error))
        _check_form(schema, form or FormTexts(), problems)
        personal = schema.personal if personal is None else personal
    if personal is not None and budget is not None:
        _check_known(problems, ("budget", "min_adversary_error"), budget.min_adversary_error, [*personal, MEAN])


def _check_against(schema: Schema, task: PolicyTask, constraints: Constraints, problems: Problems) -> None:
    label, named = None if schema.label is None else schema.label.name, label_names(task.label)
    if named and {*named} != {each.name for each in schema.labels}:
        problems.add(
            ("label",), f"the schema says {shorten(label)}; got {shorten(listed(named))}: they must agree"
        )
    _check_known(problems, ("personal",), task.personal or (), schema.names)
    try:
        constraints.check(schema)
    except LeastwiseError as error:
        problems.add(("constraints",), str(error))


def _check_form(schema: Schema, form: FormTexts, problems: Problems) -> None:
    path = ("form", "prefer_not_to_say")
    _check_known(problems, path, form.prefer_not_to_say, schema.names, "attribute")
    for attribute in schema.attributes:
        if attribute.name in form.prefer_not_to_say and not attribute.missing:
            problems.add(path, f"{attribute.name} may not be missing; declare missing: true for it in the schema")


def _check_known(
    problems: Problems,
    path: tuple[str, ...],
    names: Iterable[str],
    known: Iterable[str],
    what: str = "personal attribute",
) -> None:
    options = list(known)
    for name in names:
        if name not in options:
            problems.add(path, f"there is no {what} {shorten(name)}; {did_you_mean(name, options)}")
