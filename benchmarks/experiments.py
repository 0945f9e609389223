"""The paper's figures and tables, measured again on the real records: a folder of pages.

    LEASTWISE_DATA=<folder> python benchmarks/experiments.py [--only NAME ...] [--records N] [--quick]

Each experiment runs on the measuring file that is nearest to the paper's: New York 2024 or Colorado 2018 where the
paper has California 2014.
"""

from __future__ import annotations

import time
from pathlib import Path

from common import parser, report
from data import load

from leastwise.experiments import EXPERIMENTS, run_experiment
from leastwise.records.table import Table

INCOME, EMPLOYMENT, COVERAGE = "acs_income_co_2018", "acs_employment_ny_2024", "acs_coverage_ny_2024"
FILES = {
    "tradeoff": INCOME,
    "seeds": EMPLOYMENT,
    "feature-selection": INCOME,
    "training-sizes": EMPLOYMENT,
    "drift": "nist_acs_national_2018",
    "high-certainty": COVERAGE,
    "side-information": INCOME,
    "multi-breach": INCOME,
    "linkability": INCOME,
    "singling-out": EMPLOYMENT,
    "individual-attributes": INCOME,
    "qualitative": EMPLOYMENT,
    "one-against-many": INCOME,
    "architectures": INCOME,
}
LATER = {"drift": ("nist_acs_national_2019",)}


def table_of(name: str) -> Table:
    dataset = load(name)
    return Table.from_frame(dataset.frame, dataset.schema)


def main() -> None:
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--to", type=Path, default=Path("experiments"), help="the folder for the pages")
    options.add_argument("--only", nargs="*", choices=sorted(EXPERIMENTS), help="only these")
    options.add_argument("--records", type=int, help="a random sample of at most so many records of each file")
    options.add_argument("--quick", action="store_true", help="fewer settings, shorter training")
    arguments = options.parse_args()
    seconds: dict[str, float] = {}
    for name in arguments.only or FILES:
        start = time.perf_counter()
        outcome = run_experiment(
            name,
            table_of(FILES[name]),
            data=FILES[name],
            later=[(year, table_of(year)) for year in LATER.get(name, ())],
            quick=arguments.quick,
            most=arguments.records,
        )
        outcome.save(arguments.to)
        seconds[name] = time.perf_counter() - start
        print(
            f"{name}: {len(outcome.rows)} rows in {seconds[name]:.0f} s", *outcome.verdict, sep="\n  ", flush=True
        )
    report([{"experiment": name, "seconds": value} for name, value in seconds.items()], seconds, arguments.json)


if __name__ == "__main__":
    main()
