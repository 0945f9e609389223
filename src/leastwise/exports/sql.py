"""A generalization as one SQL query: a database applies it where the records lie.

Each asked attribute becomes one CASE; what is suppressed is not mentioned. A value outside the declared domain
goes to "other" where the artefact declares that; elsewhere, and everywhere with ``unknown="error"``, it stops the
query with a message that names the attribute and not the value. No row falls into a bucket that is not its own.

The query compares as :meth:`leastwise.Generalization.transform` does. It cannot know what a column holds, and
takes continuous attributes to be columns of numbers and all others to be texts, unless ``holds`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from leastwise.errors import ParameterError, shorten
from leastwise.exports.sql_cases import RECORD, CaseWriter, Column, Holds, Lines, Output, indented
from leastwise.exports.sql_dialects import DIALECTS, Dialect
from leastwise.generalization import Generalization
from leastwise.schema import Unknown
from leastwise.validation import check_choice, did_you_mean

HEADER = """\
-- Made by leastwise: of each record only what is asked, as its bucket.
-- A value outside the declared domain {rule}.
"""


def to_sql(
    generalization: Generalization,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "records",
    view: str | Sequence[str] | None = None,
    output: Output = "labels",
    unknown: Unknown = "other",
    holds: Mapping[str, Holds] | None = None,
    label: bool = False,
    keep: Sequence[str] = (),
) -> str:
    """Return a query that generalizes the records of a table.

    Parameters
    ----------
    generalization
        What is asked.
    dialect
        ``duckdb``, ``postgresql``, ``sqlite``, ``bigquery`` or ``spark``.
    table, view
        The table of full records, and the view to create; None gives a plain SELECT. Dots part the name of a
        schema from that of a table; a name with dots of its own is given as a sequence.
    output
        ``labels`` (what people read) or ``codes`` (numbers of the buckets). An untouched number is itself in
        both, and null where it is missing.
    unknown
        A value outside the domain goes to "other" where the artefact declares that, and stops the query
        elsewhere; ``error`` stops it in either case.
    holds
        For each attribute whose column does not hold what its kind suggests: ``number`` or ``text``.
    label, keep
        Whether the label leaves too, as its declared text, and which other columns leave as they are.

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0)
    >>> print(to_sql(Generalization((Intervals(age, (19, 63)),)), table="people"))
    -- Made by leastwise: of each record only what is asked, as its bucket.
    -- A value outside the declared domain stops the query.
    SELECT
      CASE
        WHEN n1 >= 0 AND n1 <= CAST('Infinity' AS DOUBLE) THEN
          CASE
            WHEN n1 <= 19 THEN '0 to 19'
            WHEN n1 <= 63 THEN 'above 19, up to 63'
            ELSE 'above 63'
          END
        ELSE error('age: a value is not in the declared domain')
      END AS "age"
    FROM (
      SELECT
        r."age" AS v1,
        TRY_CAST(r."age" AS DOUBLE) AS n1
      FROM "people" AS r
    ) AS r
    <BLANKLINE>
    """
    check_choice("dialect", dialect, DIALECTS)
    check_choice("output", output, get_args(Output))
    check_choice("unknown", unknown, get_args(Unknown))
    spoken = DIALECTS[dialect]
    kinds = _column_kinds(generalization, holds or {})
    asked = _asked(generalization, CaseWriter(spoken, output, unknown), kinds, label)
    inner = [[line] for column, _ in asked for line in column.definitions()]
    outer = [_named(case, spoken.name(column.attribute.name)) for column, case in asked]
    for i, name in enumerate(keep, start=1):
        if name in {*kinds, *(c for attribute in generalization.schema.attributes for c in attribute.columns)}:
            raise ParameterError(f"{shorten(name)} is declared; only other columns can be kept as they are")
        inner.append([f"{RECORD}.{spoken.name(name)} AS k{i}"])
        outer.append([f"k{i} AS {spoken.name(name)}"])
    if not outer:
        raise ParameterError(
            "nothing would be left: no attribute is collected and no column is kept; name one to keep (--keep) or "
            "store nothing of these people"
        )
    derived = [[line] for column, _ in asked for line in column.derivation()]
    origin = [f"FROM {_path(spoken, table)} AS {RECORD}"]
    if derived:
        innermost = ["SELECT", *indented(_listed([[f"{RECORD}.*"], *derived])), *origin]
        innermost += [spoken.once] if spoken.once else []
        origin = ["FROM (", *indented(innermost), f") AS {RECORD}"]
    source = ["SELECT", *indented(_listed(inner)), *origin]
    query = ["SELECT", *indented(_listed(outer)), "FROM (", *indented(source), f") AS {RECORD}"]
    stops = "stops the query"
    others = unknown == "other" and any(generalization[name].attribute.other for name in generalization.collected)
    rule = f"goes to 'other' where that is declared, and {stops} elsewhere" if others else stops
    create = "" if view is None else f"CREATE VIEW {_path(spoken, view)} AS\n"
    return HEADER.format(rule=rule) + create + "\n".join(query) + "\n"


def _listed(columns: Sequence[Lines]) -> Lines:
    *others, last = columns
    return [*(line for column in others for line in _named(column, "", ",")), *last]


def _named(lines: Lines, name: str, end: str = "") -> Lines:
    return [*lines[:-1], lines[-1] + (f" AS {name}" if name else "") + end]


def _path(dialect: Dialect, name: str | Sequence[str]) -> str:
    parts = name.split(".") if isinstance(name, str) else list(name)
    if not parts or not all(parts):
        raise ParameterError(f"a table must have a name; got {shorten(name)}")
    return ".".join(map(dialect.name, parts))


def _column_kinds(generalization: Generalization, holds: Mapping[str, Holds]) -> dict[str, Holds]:
    declared = [*generalization.schema.attributes, *generalization.schema.labels]
    kinds: dict[str, Holds] = {a.name: "number" if a.continuous and not a.derive else "text" for a in declared}
    for name, kind in holds.items():
        if name not in kinds:
            raise ParameterError(f"there is no attribute {shorten(name)}; {did_you_mean(name, kinds)}")
        check_choice(f"what {name} holds", kind, get_args(Holds))
    derived = {a.name for a in declared if a.derive}  # a text, whatever its column holds
    return kinds | {name: kind for name, kind in holds.items() if name not in derived}


def _asked(
    generalization: Generalization, writer: CaseWriter, kinds: Mapping[str, Holds], label: bool
) -> list[tuple[Column, Lines]]:
    """Return the columns that are asked, each with its CASE."""
    asked: list[tuple[Column, Lines]] = []
    for partition in generalization.partitions:
        if not partition.suppressed:
            attribute = partition.attribute
            kind, place = kinds[attribute.name], len(asked) + 1
            column = Column(writer.dialect, attribute, kind, place, partition.assignment)
            asked.append((column, writer.case(column, partition)))
    for attribute in generalization.schema.labels if label else ():
        buckets, place = range(len(attribute.values)), len(asked) + 1
        column = Column(writer.dialect, attribute, kinds[attribute.name], place, buckets)
        asked.append((column, writer.label(column)))
    return asked
