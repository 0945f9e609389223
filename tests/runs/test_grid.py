"""Grids: the default one, declared ones, and every mistake of a declared one at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise import MissingExtraError, ParameterError
from leastwise.documents import Problems
from leastwise.documents.plain import from_plain, to_plain
from leastwise.minimizers import MINIMIZERS, pat_grid
from leastwise.minimizers.pat.minimizer import LEAVES
from leastwise.runs import Entry, Grid, default_grid, grid, load_grid
from leastwise.runs.grid import FAMILIES, Source, read_grid
from tests.runs.small import records
from tests.samples import age_tells

TEXT = """\
format: leastwise-grid
version: 1
seeds: [0, 7]
minimizers:
  - name: pat
    alpha: [0.3, 0.7]
    leaves: [2, 4]
    min-leaf: 30
  - name: coarsening
    starts: [0.3, 0.5]
    mu: [null, 2]
    steps: 5
  - name: feature-selection
    k: [2, all]
    method: [anova, iterative]
  - name: advtrain
    lam: 0.5
"""


def test_a_declared_grid() -> None:
    problems, found = read_grid(TEXT)
    assert problems == []
    assert found is not None
    sources = found.sources()
    pat = [source for source in sources if source.minimizer == "pat"]
    assert pat == [Source("pat", {"min_leaf": 30, "alpha": (0.3, 0.7), "max_leaves": (2, 4)}, 0)]
    coarsening = [source.parameters for source in sources if source.minimizer == "coarsening"]
    assert len(coarsening) == 2 * 2 * 2
    assert coarsening[0] == {"start": 0.3, "mu": None, "steps": 5, "surrogate": "additive_boosting"}
    assert [s.parameters["k"] for s in sources if s.minimizer == "feature-selection"] == [2, 2, "all", "all"]
    assert [s.seed for s in sources if s.minimizer == "advtrain"] == [0, 7]


def test_there_and_back_as_a_document() -> None:
    found, problems = default_grid(), Problems()
    again = from_plain(Grid, to_plain(found), (), problems)
    assert problems.texts == []
    assert again == found
    assert again.sources() == found.sources()  # type: ignore[union-attr]


def test_the_default_grid_has_paths_and_baselines() -> None:
    names = [entry.minimizer for entry in default_grid().entries]
    assert names == ["pat", "recommended", "uniform", "feature-selection"]
    full, quick = (default_grid(quick).entries for quick in (False, True))
    assert set(quick[0].parameters["alpha"]) < set(full[0].parameters["alpha"])
    assert quick[1].parameters["steps"] < full[1].parameters["steps"]
    default_grid().check()
    default_grid(quick=True).check()


def test_all_problems_at_once_each_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "grid.yaml"
    wrong = (
        TEXT.replace("0.7]", "7]").replace("leaves:", "leafs:").replace("anova", "anowa").replace("0, 7", "0, -7")
    )
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        load_grid(path)
    text = str(caught.value)
    assert "4 problems" in text
    assert "line 3, seeds[1]: a seed must be a whole number from 0; got -7" in text
    assert "line 6, minimizers[0].alpha: alpha of pat must be a number between 0 and 1; got 7" in text
    assert "pat has no parameter 'leafs'; did you mean 'min_leaf'?" in text
    assert "method of feature-selection must be one of anova, mutual_info, chi2, iterative; got 'anowa'" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    "text", ["", "[]", "minimizers: 3", "format: leastwise-grid\nversion: 2", "\x00", "a: &b 1",
             "format: leastwise-grid\nversion: 1\nminimizers: [3]",
             "format: leastwise-grid\nversion: 1\nminimizers: [{k: 3}]"],
)  # fmt: skip
def test_nonsense_is_a_problem_not_a_crash(text: str) -> None:
    problems, found = read_grid(text)
    assert problems
    assert found is None


def test_a_grid_of_a_program_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="name at least one minimizer"):
        Grid(entries=()).check()
    with pytest.raises(ParameterError, match="there is no minimizer 'patt'; did you mean 'pat'"):
        Grid(entries=(Entry(minimizer="patt"),)).check()
    with pytest.raises(ParameterError, match="settings; at most"):
        Grid(
            entries=(Entry(minimizer="uniform", parameters={"k": [*range(1, 200)]}),), seeds=(*range(100),)
        ).check()
    monkeypatch.setattr(grid, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"this needs torch; install it with: pip install 'leastwise\[neural\]'"
    ):
        Grid(entries=(Entry(minimizer="advtrain"),)).check()


def test_every_minimizer_can_be_in_a_grid() -> None:
    assert {"pat", "optimal", "iterative", "uniform", "apt", "feature-selection", "advtrain", "mutualinf"} <= {
        *FAMILIES
    }
    assert {*FAMILIES} == {*MINIMIZERS, "recommended"}


def test_pat_is_a_path_and_says_which_setting_each_proposal_has() -> None:
    train = records().split(0).train
    source = Grid(entries=(Entry(minimizer="pat", parameters={"alpha": [0.3, 0.9], "min_leaf": 20}),)).sources()[0]
    found = source.propose(train)
    grown = pat_grid(train, (0.3, 0.9), LEAVES, min_leaf=20)
    assert [p.generalization for p in found] == [g for row in grown for g in row]
    assert found[-1].parameters == {"alpha": 0.9, "max_leaves": LEAVES[-1], "min_leaf": 20}


@pytest.mark.parametrize(
    "name", ["optimal", "coarsening", "recommended", "iterative", "uniform", "apt", "feature-selection"]
)
def test_every_family_proposes(name: str) -> None:
    train = records().split(0).train
    (source, *_) = Grid(entries=(Entry(minimizer=name),)).sources()
    found = source.propose(train)
    assert found
    assert all(p.generalization.schema.attributes == train.schema.attributes for p in found)


@pytest.mark.parametrize(("rows", "fewest"), [(300, 10), (4_000, 40), (50_000, 100)])
def test_the_leaves_of_the_default_tree_fit_the_records(rows: int, fewest: int) -> None:
    (source,) = Grid(entries=(Entry(minimizer="pat"),)).sources()
    assert source.parameters["min_leaf"] is None
    found = source.propose(age_tells(rows))
    assert {each.parameters["min_leaf"] for each in found} == {fewest}
    grown = pat_grid(age_tells(rows), (0.7,), LEAVES, min_leaf=fewest)[0]
    assert [each.generalization.fingerprint for each in found] == [each.fingerprint for each in grown]
