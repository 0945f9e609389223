"""The same task under several seeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import ParameterError, Table
from leastwise.datasets import load_adult
from leastwise.runs import Options, Run, run
from leastwise.runs.stability import stability
from tests.runs.small import OPTIONS, records


def test_a_run_is_like_itself_and_other_records_are_refused(finished: Run) -> None:
    found = stability([finished, finished], records())
    assert found.asked_alike == (1.0,)
    assert found.partitions_alike == (1.0,)
    assert found.covered[0] == found.covered[1] > 0.3
    assert "Under 2 seeds the frontier covers" in found.sentence()
    other = replace(finished, task=replace(finished.task, fingerprint="0" * 64))
    with pytest.raises(ParameterError, match="at least two runs of the same records"):
        stability([finished, other], records())


def test_seeds_of_a_small_table(finished: Run, tmp_path: Path) -> None:
    found = stability([finished, run(records(), tmp_path / "1", replace(OPTIONS, seed=1))], records())
    assert found.seeds == (0, 1)
    assert min(found.covered) > 0.3


@pytest.mark.slow
def test_the_frontier_of_adult_is_stable_under_seeds(tmp_path: Path) -> None:
    adult = load_adult()
    table = Table.from_frame(adult.frame, adult.schema)
    runs = [run(table, tmp_path / str(seed), Options(quick=True, most=8, seed=seed)) for seed in range(3)]
    found = stability(runs, table)
    assert max(found.covered) - min(found.covered) < 0.06
    assert min(found.covered) > 0.75
    assert min(found.asked_alike) >= 0.5
