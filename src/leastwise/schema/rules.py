"""What the facts about a column suggest: its kind, why, and what a person should look at.

The rules are those listed in ``inference``; each looks at one column alone.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from leastwise.errors import shorten
from leastwise.schema import Kind
from leastwise.schema.order_hints import natural_order
from leastwise.schema.profile import MOST_VALUES, Profile
from leastwise.schema.recognition import recognised

FEW_CODES, SOME_CODES = 10, 20
MOST_FREQUENT = 200  # values that are listed of a column that has too many
_LEAST_COUNT = 3  # what goes from 0 to less may be a code
_IDENTIFIER = re.compile(
    r"(?:^|[\W_])(?i:id|ident|identifier|uuid|guid|ssn|key)(?:$|[\W\d_])|[a-z]ID(?:$|[\W\d_])"
)
FEW_RECORDS, MANY_RECORDS = 20, 100  # below these a column is unique per record by mere chance
MISSING_MARKS = frozenset(
    {"?", "??", "-", "--", ".", "..", "*", "na", "n/a", "n.a.", "nan", "null", "none", "missing", "#n/a", "<na>"}
)


@dataclass(frozen=True)
class Verdict:
    """What a column is taken for; ``apart`` names what it looks like when it is better left out.

    ``rule`` is the derived question that is asked instead, where there is one.
    """

    kind: Kind
    reason: str
    apart: str = ""
    warnings: tuple[str, ...] = ()
    rule: str = ""


def judge(facts: Profile) -> Verdict:
    """Apply the rules of this module to the facts about one column."""
    if facts.form == "empty":
        return Verdict("discrete", "no record has a value", "empty column")
    if facts.form == "nested":
        return Verdict("discrete", "lists, mappings or bytes", "nested column")
    if facts.distinct == 1:
        whose = "or none" if facts.missing else f"{facts.records:,} records"
        return Verdict("discrete", f"every record has the same value ({whose})", "constant")
    special = recognised(facts)
    if special is not None:
        kind: Kind = special.kind if special.rule else "discrete"
        return Verdict(kind, special.reason, "" if special.rule else special.what, special.warnings, special.rule)
    if facts.form == "date":
        return Verdict("discrete", f"dates or times, {facts.distinct:,} distinct", "date")
    if facts.form == "ordered":
        return Verdict("ordinal", f"an ordered type of {len(facts.categories)} categories")
    if facts.form == "truth":
        return Verdict("discrete", "true or false")
    return (_judge_numbers if facts.form == "number" else _judge_texts)(facts)


def _judge_texts(facts: Profile) -> Verdict:
    reason = f"texts, {facts.distinct:,} distinct"
    share = facts.distinct / facts.known
    notes = _number_hint(facts) + _name_hint(facts)
    words = sum(len(text.split()) * count for text, count in facts.counts.items()) / facts.known
    length = sum(len(text) * count for text, count in facts.counts.items()) / facts.known
    if facts.distinct > MOST_VALUES and share < 0.5:
        told = f"the {MOST_FREQUENT} most frequent and 'other' are asked; a prefix or a hierarchy may say more"
        return Verdict("discrete", f"{reason}, more than {MOST_VALUES:,}", warnings=(told, *notes))
    if facts.known >= FEW_RECORDS and natural_order(facts.counts) is not None:
        return Verdict("ordinal", f"{reason}, in an order of their own", warnings=notes)
    if facts.known < FEW_RECORDS or (facts.strange and facts.distinct <= MOST_VALUES):
        unique = ("unique per record: an identifier?",) if share == 1 and facts.known > 2 else ()
        return Verdict("discrete", reason, warnings=unique + notes)
    if share >= 0.5 and (words >= 4 or length >= 60):
        return Verdict("discrete", f"long texts, {facts.distinct:,} distinct", "free text")
    if share >= 0.95:
        return Verdict("discrete", f"{reason} in {facts.known:,} records", "identifier", notes)
    if facts.distinct >= MANY_RECORDS and share >= 0.5:
        return Verdict("discrete", f"{reason} in {facts.known:,} records", "free text", notes)
    return Verdict("discrete", reason, warnings=notes)


def _number_hint(facts: Profile) -> tuple[str, ...]:
    if not facts.strange:
        return ()
    if all(re.fullmatch("0[0-9]+", text) for text in facts.strange):
        return ("zeros in front: codes, not numbers",)
    options = " ".join(f"--missing {_quoted(text)}" for text in facts.strange[:3])
    return (f"numbers but for {shown(facts.strange)}; if that means no answer: {options}",)


def _name_hint(facts: Profile) -> tuple[str, ...]:
    telling = _IDENTIFIER.search(facts.name) and facts.distinct > SOME_CODES
    return ("its name is one of identifiers; if it is one: --drop",) if telling else ()


def _judge_numbers(facts: Profile) -> Verdict:
    reason = f"{'whole numbers' if facts.whole else 'numbers'}, {facts.distinct:,} distinct"
    if not facts.whole:
        return Verdict("continuous", reason)
    # The share of the whole numbers between the least and the greatest that occur.
    filled = len(facts.finite) / (float(facts.finite[-1]) - float(facts.finite[0]) + 1)
    recur = 2 * facts.distinct <= facts.known
    option = f"--discrete {facts.name}" if len(facts.name) <= 30 else "--discrete"
    codes = f"if they are codes, not quantities: {option}"
    if recur and _counts_something(facts):
        many = (codes,) if facts.distinct > FEW_CODES else ()
        return Verdict("continuous", f"{reason}: counts from 0", warnings=many)
    if recur and (facts.distinct <= FEW_CODES or (facts.distinct <= SOME_CODES and filled < 1)):
        return Verdict("discrete", f"{reason}: codes")
    if facts.distinct == facts.known:
        return _judge_unique_numbers(facts, reason, filled)
    doubtful = facts.distinct <= SOME_CODES or (filled < 0.5 and facts.distinct <= 2000)
    notes = (codes,) if doubtful and recur else ()
    return Verdict("continuous", reason, warnings=_name_hint(facts) + notes)


def _counts_something(facts: Profile) -> bool:
    """Return whether whole numbers count something: from 0 up, and beyond the most frequent ever fewer people."""
    numbers = facts.finite
    if numbers[0] != 0 or numbers[-1] < _LEAST_COUNT or len(numbers) < _LEAST_COUNT + 1:
        return False
    if len(numbers) < 0.3 * (numbers[-1] + 1):
        return False
    use = {float(text): count for text, count in facts.counts.items()}
    row = np.array([use.get(float(number), 0) for number in numbers])
    rises = np.clip(np.diff(row[row.argmax() :]), 0, None).sum()
    falls = row[-1] <= row.max() / 2  # codes are spread more evenly
    return bool(row.sum() and falls and row.argmax() < len(row) / 2 and rises <= 0.1 * row.sum())


def _judge_unique_numbers(facts: Profile, reason: str, filled: float) -> Verdict:
    unique = f"{reason}, one for each record"
    running = filled == 1 and facts.known >= FEW_CODES
    if running or facts.known >= MANY_RECORDS:
        return Verdict("continuous", unique, "identifier")
    notes = ("unique per record: an identifier?",) if facts.known >= FEW_RECORDS else ()
    return Verdict("continuous", reason, warnings=notes)


def value_warnings(facts: Profile, kind: Kind, single: tuple[str, ...]) -> list[str]:
    """Return what a person should know about the values; ``single`` are those that one record alone has."""
    warnings = []
    if kind != "continuous" and not facts.strange:
        marks = [value for value in facts.sorted_values if value.strip().casefold() in MISSING_MARKS]
        warnings += [
            f"{shorten(mark)} looks like a missing value: --missing {_quoted(mark)}" for mark in marks[:3]
        ]
    if single:
        what = "value occurs" if len(single) == 1 else "values occur"
        warnings.append(
            f"{len(single):,} {what} once ({shown(single)}): publishing the domain publishes one person's"
        )
    infinite = len(facts.numbers) - len(facts.finite)
    return [*warnings, "has infinite numbers"] if infinite else warnings


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def shown(values: tuple[str, ...]) -> str:
    """Name the first few values."""
    return ", ".join(shorten(value, 20) for value in values[:3]) + (" ..." if len(values) > 3 else "")


def suggested_bounds(facts: Profile) -> tuple[float, float] | None:
    """Return round numbers around all finite ones, so round that they tell nobody's.

    >>> import numpy as np
    >>> suggested_bounds(Profile("age", "number", 3, 0, 3, numbers=np.array([17.0, 40.0, 90.0])))
    (0.0, 100.0)
    """
    if len(facts.finite) < 2:
        return None
    low, high = float(facts.finite[0]), float(facts.finite[-1])
    if not 1e-9 < high - low < 1e15:
        return None
    power = math.ceil(math.log10(high - low))
    bounds = float(f"{math.floor(low / 10.0**power)}e{power}"), float(f"{math.ceil(high / 10.0**power)}e{power}")
    return bounds if bounds[0] <= low and high <= bounds[1] else None
