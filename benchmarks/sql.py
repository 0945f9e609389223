"""The exported SQL beside the CASE query that a good user would write by hand, in DuckDB.

10 million records of 10 attributes, labels out, into a new table. The hand-written query places the values and
nothing more; ours also checks that every value lies in its declared domain. Both are also timed without writing
(the greatest label of each column), where nothing but the query itself counts. On a busy machine the time of the
processors tells more than that of the clock; it is shown beside it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
from common import best_of, parser, report

sys.path.insert(0, str(Path(__file__).parent))
from apply import generalization, records

from leastwise import Groups, Intervals, Partition
from leastwise.exports import to_sql

Figures = dict[str, float]
TABLE, ALONE = "into a table", "the query alone"


def by_hand() -> str:
    """Return the query that somebody would write who trusts the records."""
    columns = ",\n".join(_case(partition) for partition in generalization().partitions)
    return f"SELECT {columns}\nFROM records"


def _case(partition: Partition) -> str:
    name, labels = partition.attribute.name, [f"'{label}'" for label in partition.labels]
    if isinstance(partition, Intervals):
        tests = [f"{name} <= {edge:g}" for edge in partition.edges]
    else:
        assert isinstance(partition, Groups)
        tests = [f"{name} IN ({', '.join(repr(value) for value in group)})" for group in partition.groups[:-1]]
    whens = " ".join(f"WHEN {test} THEN {label}" for test, label in zip(tests, labels, strict=False))
    return f"CASE {whens} ELSE {labels[-1]} END AS {name}"


def measure(rows: int, times: int, threads: int = 2) -> tuple[list[dict[str, object]], Figures]:
    """Return the table's rows, and the throughput relative to the hand-written query."""
    queries = {"by hand": by_hand(), "leastwise, with the domain check": to_sql(generalization())}
    with duckdb.connect(config={"threads": threads}) as connection:
        frame = records(rows)
        connection.register("frame", frame)
        connection.execute("CREATE TABLE records AS SELECT * FROM frame")
        connection.unregister("frame")
        del frame
        ways = {
            (name, how): (lambda text=text: connection.execute(text))
            for name, query in queries.items()
            for how, text in ((TABLE, _into_table(query)), (ALONE, _alone(query)))
        }
        _check_equal(connection, *queries.values())
        seconds, work = dict.fromkeys(ways, float("inf")), dict.fromkeys(ways, float("inf"))
        for _ in range(times):  # in turns, so that a busy moment of the machine does not fall on one of them only
            for name, way in ways.items():
                before = time.process_time()
                seconds[name] = min(seconds[name], best_of(1, way)[0])
                work[name] = min(work[name], time.process_time() - before)
    hand, ours = queries
    figures = {
        "sql_vs_handwritten": seconds[hand, TABLE] / seconds[ours, TABLE],
        "sql_alone_vs_handwritten": seconds[hand, ALONE] / seconds[ours, ALONE],
        "sql_vs_handwritten_processor_time": work[hand, TABLE] / work[ours, TABLE],
    }
    table = [
        {
            "what": f"{name}, {how}",
            "seconds": taken,
            "of processors": work[name, how],
            "records a second": int(rows / taken),
        }
        for (name, how), taken in seconds.items()
    ]
    return table, figures


def _into_table(query: str) -> str:
    return f"CREATE OR REPLACE TABLE generalized AS {query}"


def _alone(query: str) -> str:
    greatest = ", ".join(f'max("{name}")' for name in generalization().collected)
    return f"SELECT {greatest} FROM ({query})"


def _check_equal(connection: duckdb.DuckDBPyConnection, first: str, second: str) -> None:
    differing = f"SELECT count(*) FROM (({first}) EXCEPT ALL ({second}))"
    small = "(SELECT * FROM records LIMIT 100000)"
    text = differing.replace("FROM records", f"FROM {small}").replace('FROM "records"', f"FROM {small}")
    found = connection.execute(text).fetchone()
    assert found == (0,), found


def main() -> None:
    arguments = parser(__doc__ or "")
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--times", type=int, default=3, help="how often each is timed; the best counts")
    given = arguments.parse_args()
    table, figures = measure(given.rows, given.times)
    report(table, figures, given.json)


if __name__ == "__main__":
    main()
