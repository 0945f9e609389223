"""Every benchmark measures, in a tiny size, and prints the figures that it promises."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leastwise.datasets import load_adult
from tests.scripts import printed, printed_alone

FOLDER = Path(__file__).parent.parent / "benchmarks"
FEW = 1500  # records of Adult
QUICK = {  # arguments, and the keys of the last line
    "apply": ("--rows 2000 --times 1", {"throughput_vs_polars", "peak_mb"}),
    "sql": (
        "--rows 2000 --times 1",
        {"sql_vs_handwritten", "sql_alone_vs_handwritten", "sql_vs_handwritten_processor_time"},
    ),
    "engine": (
        "--data adult --rows 2000 --spark-rows 0 --most 2",
        {"judge_vs_groupby", "judge_vs_groupby_by_n", "peak_mb", "seconds_by_n", "spark_vs_duckdb", "slack_by_n"},
    ),
    "minimizers": (
        "--quick --only uniform --dataset adult --no-apt",
        {"dataset", "minimizer", "parameters", "buckets", "utility_risk", "adversary_error", "seconds"},
    ),
}
SLOW = {
    "studio": ("--quick --data adult --records 1500", {"edit_ms_p95", "edit_vs_recount", "worst_estimate_gap"}),
    "hierarchies": (
        "--files adult --seeds 100 --records 1500 --steps 3",
        {"cost_of_hierarchy", "ahead_of_lattice"},
    ),
    "accountable": (
        "--files adult --records 1500 --seeds 100 --quick",
        {"group_gap_ratio", "largest_gap_ratio", "re_release_gain", "re_release_gain_nested"},
    ),
    "adversaries": (
        "--quick --records 600",
        {
            "worst_above_mlp2",
            "share_not_above_mlp2",
            "speedup_vs_mlp2",
            "speedup_vs_batched_mlp2",
            "all_adversaries_seconds",
        },
    ),
    "collector": (
        "--seconds 0.4 --rows 2000",
        {"vs_bare_fastapi", "sealed_vs_bare_fastapi", "p99_ms", "p99_beside_hostile", "sql_vs_handwritten"},
    ),
    "frontier": (
        "--only adult --quick --counting --no-timing --workers 1 --most 4",
        {"records", "hypervolume", "remaining_area_ratio", "median_remaining_area_ratio", "adversary_error_at"},
    ),
    "side_information": (
        "--data adult --records 900 --candidates 1",
        {"above_boosting", "mean_above_boosting"},
    ),
    "run": (
        "--quick --data adult --records 600",
        {
            "seconds",
            "candidates",
            "seconds_per_candidate",
            "speedup_per_candidate_vs_mlp2",
            "cpu_seconds",
            "first_answer_cpu_seconds",
            "peak_memory_gb",
            "boosting_cpu_seconds",
            "attack_vs_boosting",
            "by_data",
        },
    ),
}
REAL = {  # they have no size but that of the real files
    "experiments": ("--only qualitative --quick --records 2000", {"qualitative"}),
    "growth": ("--series personal --sizes 1 3 --records 600 --quick", {"growth_in_personal", "by_series"}),
    "pat": ("", {"one_vs_sklearn", "grid_vs_sklearn", "seconds_by_n", "peak_vs_codes"}),
    "promise": ("--files adult --sizes 1000 --seeds 0", {"kept_share", "mean_increase", "claimed_share"}),
}
# The peer of one is an environment of 2 GB that the first run downloads, of the other an earlier checkout.
ONLY_EXPLAINED = ["apt_toolkit", "least"]


def numbers(value: Any) -> Iterator[float]:
    """Return every number of a JSON value."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, int | float):
        yield value


def check_figures(text: str, keys: set[str]) -> None:
    last = json.loads(text.splitlines()[-1])
    rows = last if isinstance(last, list) else [last]
    assert rows
    for row in rows:
        assert set(row) == keys
        found = list(numbers(row))
        assert found
        assert all(math.isfinite(number) for number in found)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of measuring files that holds a few of the bundled records."""
    folder = tmp_path_factory.mktemp("data")
    load_adult().frame.sample(FEW, seed=0).write_parquet(folder / "adult.parquet")
    return str(folder)


def test_none_is_forgotten() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py")} - {"bare_collector", "common", "data"}
    assert scripts == {*QUICK, *SLOW, *REAL, *ONLY_EXPLAINED}


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_it_measures(name: str, few: str) -> None:
    arguments, keys = (QUICK | SLOW)[name]
    told = printed if name in QUICK else printed_alone
    check_figures(told(FOLDER / f"{name}.py", *arguments.split(), "--json", LEASTWISE_DATA=few), keys)


@pytest.mark.slow
@pytest.mark.skipif("LEASTWISE_DATA" not in os.environ, reason="LEASTWISE_DATA does not name the real files")
@pytest.mark.parametrize("name", REAL)
def test_it_measures_the_real_files(name: str, tmp_path: Path) -> None:
    arguments, keys = REAL[name]
    pages = ("--to", tmp_path) if name == "experiments" else ()
    check_figures(printed_alone(FOLDER / f"{name}.py", *arguments.split(), *pages, "--json"), keys)


@pytest.mark.parametrize("name", [*SLOW, *REAL, *ONLY_EXPLAINED])
def test_each_explains_itself(name: str) -> None:
    told = printed(FOLDER / f"{name}.py", "--help")
    assert name in told
    assert "--json" in told
