"""The code book: what each number of a bucket stands for, where records carry short codes instead of labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from leastwise.generalization import Generalization
from leastwise.partition import Groups, Partition, Untouched

HEADER = ("attribute", "code", "label", "values")


def code_book(generalization: Generalization) -> str:
    """Return a CSV text with a row for each bucket of each question: its number, its label, and its values.

    The label of a group may be a name, or the first few of many values; here all of them are listed, parted by
    " | ", and of a range that has a name, its numbers. A number that is asked exactly has no codes: it is itself,
    and has one row that says so.

    >>> from leastwise import Attribute, Generalization, Groups
    >>> status = Attribute("status", values=("single", "civil", "church"))
    >>> print(code_book(Generalization((Groups(status, (0, 1, 1)),))))
    attribute,code,label,values
    status,0,single,single
    status,1,civil or church,civil | church
    <BLANKLINE>
    """
    rows = [HEADER, *(row for p in generalization.partitions if not p.suppressed for row in _rows(p))]
    return "".join(map(_line, rows))


def _line(row: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(row)  # either sign of it is quoted inside a value
    return text.getvalue().removesuffix("\r\n") + "\n"


def _rows(partition: Partition) -> list[tuple[str, str, str, str]]:
    name = partition.attribute.name
    if isinstance(partition, Untouched):
        return [(name, "", "the number itself", partition.attribute.domain_text())]
    behind = tuple(map(partition.behind, range(partition.size)))
    values = partition.groups if isinstance(partition, Groups) else behind
    return [
        (name, str(code), label, " | ".join(inside))
        for code, (label, inside) in enumerate(zip(partition.labels, values, strict=True))
    ]
