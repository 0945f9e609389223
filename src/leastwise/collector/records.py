"""Reading generalized records that strangers send: exactly the collected attributes, each one of its buckets.

A complaint names the attribute (the artefact's word), never the value and never a key that only the client knows:
whatever was sent by mistake, an exact age or a name, must not come back, be logged or be stored.

A record is kept as a few bytes: the number of each bucket in the order of the artefact, one byte for up to 256
buckets, two for up to 65,536; an untouched number takes eight.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import getitem, itemgetter
from typing import Any, NamedTuple, NoReturn

import numpy as np
import polars as pl

from leastwise.apply.record import MISSING_LABEL
from leastwise.errors import ParameterError, UnknownValueError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.schema import Attribute, Extra
from leastwise.schema.values import number_of, number_text, text_of

MOST_PROBLEMS = 20
LONGEST_NUMBER = 400  # characters; the longest float in full is shorter
NOT_FLAT = "must be a JSON object that maps each attribute to one of its answers"


class Row(NamedTuple):
    """One record as it is kept: the packed buckets and the number of the label's class."""

    answers: bytes
    label: int | None


@dataclass(frozen=True)
class Problem:
    """What is wrong with one field of one record, in the artefact's words only."""

    record: int | None
    field: str | None
    problem: str


class InvalidRecordsError(Exception):
    """A request that does not hold generalized records; no value of it is in here."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(f"{len(self.problems)} problems")


class _Numbers(dict[str, float]):
    """The answers of an untouched attribute: the text of every number of its domain, and "missing"."""

    def __init__(self, attribute: Attribute) -> None:
        super().__init__({MISSING_LABEL: math.nan} if attribute.missing else {})
        self._contains, self._read = attribute.contains, attribute.read

    def text(self, typed: str) -> str:
        """Return what somebody typed as the text of its number; what is none stays as it is, and is refused."""
        try:
            number = self._read(typed.strip())
        except UnknownValueError:
            return typed
        return MISSING_LABEL if isinstance(number, Extra) else number_text(number)

    def __missing__(self, text: object) -> float:
        number = number_of(text) if isinstance(text, str) and len(text) <= LONGEST_NUMBER else None
        if number is None or not self._contains(number):
            raise KeyError
        return number


def _getter(names: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what takes the values of these names out of a record."""
    if len(names) == 1:
        return lambda record: (record[names[0]],)
    return itemgetter(*names)


def _answers(partition: Partition) -> Mapping[Any, float]:
    if isinstance(partition, Untouched):
        return _Numbers(partition.attribute)
    return {label: bucket for bucket, label in enumerate(partition.labels)}


def _width(partition: Partition) -> str:
    if isinstance(partition, Untouched):
        return "d"
    return "B" if partition.size <= 1 << 8 else "H" if partition.size <= 1 << 16 else "I"


class _Labels:
    """The labels of a record as one number.

    One label is the number of its class. Of several, each is a digit: 0 where it has not come, else its class and
    1 more.
    """

    def __init__(self, labels: Sequence[Attribute]) -> None:
        self._labels = labels
        sizes = [1, *(len(label.values) + 1 for label in labels)]
        self._places = [math.prod(sizes[: i + 1]) for i in range(len(labels))]

    def read(self, record: Mapping[str, Any]) -> tuple[int | None, int]:
        """Return the number of a record's labels, None where none has come, and how many fields tell them."""
        number, told, shift = 0, 0, len(self._labels) > 1
        for label, place in zip(self._labels, self._places, strict=True):
            if label.name in record:
                told += 1
                code = _class(label, record[label.name])
                if code is not None and not shift:
                    return code, told
                number += 0 if code is None else place * (code + 1)
        return number or None, told

    def columns(self, numbers: list[int | None]) -> list[pl.Series]:
        """Return a column for each label, null where it has not come."""
        if len(self._labels) == 1:
            return [_classes(self._labels[0], pl.Series(numbers, dtype=pl.UInt32))]
        known = np.array([number or 0 for number in numbers], dtype=np.int64)
        digits = [
            known // place % (len(e.values) + 1) for e, place in zip(self._labels, self._places, strict=True)
        ]
        return [
            _classes(label, pl.Series([d - 1 if d else None for d in digit.tolist()], dtype=pl.UInt32))
            for label, digit in zip(self._labels, digits, strict=True)
        ]


def _classes(label: Attribute, places: pl.Series) -> pl.Series:
    return pl.Series(list(label.values), dtype=pl.String).gather(places).alias(label.name)


def _class(label: Attribute, value: Any) -> int | None:
    """Return the number of a label's class; the integer 1 and the text "1" are one value."""
    return None if value is None else label.code_of[value if type(value) is str else _scalar_text(value)]


def _is_class(label: Attribute, value: Any) -> bool:
    try:
        _class(label, value)
    except (KeyError, TypeError):
        return False
    return True


class RecordFormat:
    """The records of one generalization: how they are checked, packed and read back.

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0, integer=True)
    >>> form = RecordFormat(Generalization((Intervals(age, (19, 63)),)))
    >>> form.read({"age": "20 to 63"})
    Row(answers=b'\\x01', label=None)
    """

    def __init__(self, generalization: Generalization, with_label: bool = False) -> None:
        self.generalization = generalization
        self.collected = [p for p in generalization.partitions if not p.suppressed]
        if not self.collected:
            raise ParameterError("this generalization asks nothing, so there is nothing to collect")
        self.label = generalization.label if with_label else None
        if with_label and self.label is None:
            raise ParameterError("the label cannot be collected: the generalization declares none")
        if self.label is not None and self.label.continuous:
            raise ParameterError(
                f"the label {shorten(self.label.name)} is a number, and a collector stores classes; collect "
                "without it, or make classes of it: --set label_above=N"
            )
        self._labels = _Labels(() if self.label is None else self.label.parts)
        self._tables = [(p.attribute.name, _answers(p)) for p in self.collected]
        self._numbers = [(name, table) for name, table in self._tables if isinstance(table, _Numbers)]
        self._known = [table for _, table in self._tables]
        self._values = _getter([name for name, _ in self._tables])
        self._pack = struct.Struct("<" + "".join(map(_width, self.collected))).pack

    def read(self, record: Any, place: int | None = None) -> Row:
        """Return one record packed; raise ``InvalidRecordsError`` when it is anything but a generalized one."""
        try:
            label, expected = None, len(self._tables)
            if self.label is not None:
                label, told = self._labels.read(record)
                expected += told
            if type(record) is dict and len(record) == expected:
                return Row(self._pack(*map(getitem, self._known, self._values(record))), label)
        except (KeyError, TypeError):
            pass  # explained below; this path is for what is right
        raise InvalidRecordsError(self._problems(record, place))

    def typed(self, fields: Mapping[str, str], plain: Callable[[str], str] = str) -> dict[str, str]:
        """Return the fields of a form as ``transform`` writes them: an untouched number is typed by a person.

        ``plain`` reads numbers as the person's language writes them.
        """
        texts = {name: table.text(plain(fields[name])) for name, table in self._numbers if name in fields}
        return {**fields, **texts}

    def right(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Return the fields that are answers of the artefact, and nothing else of what was sent."""
        return {name: fields[name] for name, table in self._tables if not self._problem(fields, name, table, None)}

    def _problems(self, record: Any, place: int | None) -> list[Problem]:
        if not isinstance(record, dict):
            return [Problem(place, None, NOT_FLAT)]
        problems = [p for name, table in self._tables if (p := self._problem(record, name, table, place))]
        problems += self._label_problems(record, place)
        problems += [
            Problem(place, name, "is not collected; leave it out")
            for name in self.generalization.not_collected
            if name in record
        ]
        asked = {*self.generalization.schema.names, *(label.name for label in self.generalization.schema.labels)}
        strange = len(record.keys() - asked)
        if strange:
            problems.append(
                Problem(place, None, f"{strange} more than is asked; send only what GET /schema lists")
            )
        return problems

    def _label_problems(self, record: Mapping[str, Any], place: int | None) -> list[Problem]:
        sent = [label for label in self.generalization.schema.labels if label.name in record]
        if self.label is None:
            return [Problem(place, label.name, "the label is not collected here; leave it out") for label in sent]
        return [
            Problem(place, label.name, f"must be one of the {len(label.values)} declared values")
            for label in sent
            if not _is_class(label, record[label.name])
        ]

    @staticmethod
    def _problem(record: Mapping[str, Any], name: str, table: Any, place: int | None) -> Problem | None:
        if name not in record:
            return Problem(place, name, "is missing")
        try:
            table[record[name]]
        except (KeyError, TypeError):
            what = "a number of its domain, as text" if isinstance(table, _Numbers) else "one of its answers"
            return Problem(place, name, f"must be exactly {what}, as GET /schema lists them")
        return None

    def read_many(self, records: list[Any]) -> list[Row]:
        """Return the records of a batch packed, or complain about all of them that are wrong."""
        rows = self._read_plain(records) if self.label is None else []
        if rows:
            return rows
        read = self.read
        problems: list[Problem] = []
        for place, record in enumerate(records):
            try:
                rows.append(read(record, place))
            except InvalidRecordsError as error:
                problems += error.problems
                if len(problems) >= MOST_PROBLEMS:
                    break
        if problems:
            raise InvalidRecordsError(problems[:MOST_PROBLEMS])
        return rows

    def _read_plain(self, records: list[Any]) -> list[Row]:
        """Return records without labels packed, as fast as Python can; nothing if there is any doubt."""
        pack, known, values, width = self._pack, self._known, self._values, len(self._known)
        rows = []
        try:
            for record in records:
                if type(record) is not dict or len(record) != width:
                    return []
                rows.append(Row(pack(*map(getitem, known, values(record))), None))
        except (KeyError, TypeError):
            return []
        return rows

    def frame(self, answers: list[bytes], labels: list[int | None] | None = None) -> pl.DataFrame:
        """Return packed records as what ``transform`` writes: a label for each bucket."""
        dtype = np.dtype([(f"c{j}", f"<{_NUMPY[_width(p)]}") for j, p in enumerate(self.collected)])
        packed = np.frombuffer(b"".join(answers), dtype=dtype)
        columns = [_column(p, packed[f"c{j}"]) for j, p in enumerate(self.collected)]
        if labels is not None:
            columns += _Labels(self.generalization.schema.labels).columns(labels)
        return pl.DataFrame(columns)


_NUMPY = {"B": "u1", "H": "u2", "I": "u4", "d": "f8"}


def _column(partition: Partition, values: np.ndarray[Any, Any]) -> pl.Series:
    name = partition.attribute.name
    if isinstance(partition, Untouched):
        texts = [MISSING_LABEL if math.isnan(number) else number_text(number) for number in values.tolist()]
        return pl.Series(name, texts, dtype=pl.String)
    return pl.Series(list(partition.labels), dtype=pl.String).gather(values.astype(np.uint32)).alias(name)


def _scalar_text(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return text_of(value) or ""
    raise KeyError


class TooManyError(Exception):
    """A body with more records than a request may have."""


def read_json(body: bytes, most: int) -> Any:
    """Parse the JSON of a stranger: repeated keys, NaN, numbers without end and deep nesting are refused.

    A record is flat, so there are at most as many objects as records, and as many integers as labels: reading ends
    early where there are more than ``most``.
    """
    objects = integers = 0

    def read_object(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal objects
        objects += 1
        result = dict(items)
        if len(result) < len(items):
            raise ValueError("a key twice")
        if objects > most:
            raise TooManyError
        return result

    def read_integer(text: str) -> Any:
        nonlocal integers
        integers += 1
        if integers > most:
            raise TooManyError
        # What is no answer of anything fails at its field, which is then named.
        return int(text) if len(text) <= 18 else _NO_ANSWER

    decoder = json.JSONDecoder(object_pairs_hook=read_object, parse_int=read_integer, parse_constant=_no_constant)
    try:
        return decoder.decode(body.decode("utf-8"))
    except (UnicodeDecodeError, RecursionError, ValueError):
        pass  # the exceptions quote the body
    text = "the body must be JSON in UTF-8: one object or a list of objects, no key twice"
    raise InvalidRecordsError([Problem(None, None, text)])


def _no_constant(text: str) -> NoReturn:
    raise ValueError("NaN and infinity are not JSON")


_NO_ANSWER = object()
