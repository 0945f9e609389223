"""What the guide for researchers says, done: with objects, and with a package that is really installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.dummy import DummyClassifier

from leastwise import DataError, ParameterError, plugins
from leastwise.adversaries import AttackResult
from leastwise.evaluation import Evaluation, evaluate
from leastwise.runs import Entry, Grid, Options, Run, run
from tests.cli.running import run_process, runner
from tests.runs.small import records, write_csv

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "extending.md"
BLOCKS = re.findall(r"```(python|toml)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
MINIMIZER, ADVERSARY, USE = (text for kind, text in BLOCKS if kind == "python")
(PROJECT,) = (text for kind, text in BLOCKS if kind == "toml")


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(MINIMIZER + ADVERSARY, names)
    return names


@pytest.fixture(scope="module")
def finished(guide: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run of the guide, on a small table."""
    folder = tmp_path_factory.mktemp("guide")
    before = Path.cwd()
    os.chdir(folder)
    try:
        names = {**guide, "table": records()}
        exec(USE, names)
    finally:
        os.chdir(before)
    found: Run = names["finished"]
    return Run.load(folder / found.folder)


def test_the_minimizer_is_in_the_frontier_with_its_whole_path(finished: Run) -> None:
    own = [c for c in finished.candidates if c.minimizer == "halves" or "halves" in " ".join(c.also_found_by)]
    assert {c.asked for c in own} == {1, 2, 3, 4}
    assert {c.minimizer for c in finished.candidates} == {"halves", "recommended"}


def test_the_adversary_is_in_every_evaluation_and_in_the_report(finished: Run) -> None:
    for point in finished.frontier.points:
        found = finished.evaluation(point.id)["neighbours"]
        assert found.title == "Who answers alike, is alike"
        assert found.baseline == finished.evaluation(point.id)["A1"].baseline
        assert 0 < found.adversary_error < 1
    text = (finished.folder / "report.md").read_text(encoding="utf-8")
    assert "Who answers alike, is alike" in text
    assert "looks up the known people with the most equal answers" in " ".join(text.split())
    assert "neighbours" in (finished.folder / "report.html").read_text(encoding="utf-8")


def test_the_task_says_what_was_brought(finished: Run) -> None:
    assert finished.task.brought["adversaries"] == "neighbours: Neighbours(few=25)"
    assert finished.task.brought["estimator"].startswith("DecisionTreeClassifier(min_samples_leaf=50")


def test_a_run_that_lacks_what_was_brought_is_another_task(guide: dict[str, Any], finished: Run) -> None:
    grid = Grid.of("recommended", guide["HalvesMinimizer"]())
    with pytest.raises(ParameterError, match=r"holds a run of another task \(brought differs\)"):
        run(records(), finished.folder, Options(grid=grid, quick=True))


def test_another_setting_of_an_adversary_is_another_task(guide: dict[str, Any], finished: Run) -> None:
    grid = Grid.of("recommended", guide["HalvesMinimizer"]())
    options = Options(grid=grid, quick=True, adversaries=[guide["Neighbours"](few=10)])
    with pytest.raises(ParameterError, match=r"another task \(brought differs\)"):
        run(records(), finished.folder, options)


def test_what_a_guest_is_told_beside_is_not_made_up(finished: Run) -> None:
    """A guest may know no more than A1: the report does not say what it would find without its knowledge."""
    for point in finished.frontier.points:
        assert "Without that knowledge" not in finished.evaluation(point.id)["neighbours"].finding


def test_a_function_or_a_class_makes_a_judge() -> None:
    split = records().split(0)
    g = Grid.of("uniform").sources()[0].propose(split.train)[0].generalization
    for made in (DummyClassifier, lambda: DummyClassifier(strategy="prior")):
        judged = evaluate(g, split, ["A1"], quick=True, predictor=made)
        assert {each.predictor for each in judged["A1"].attributes} <= {"DummyClassifier", "read off"}
        assert judged["A1"]["job"].predictor == "DummyClassifier"
    assert Options(estimator=records).brought() == {"estimator": "tests.runs.small.records"}


class Shy:
    """It steals nothing. It only looks."""

    def attack(self, breach: Any) -> AttackResult:
        return AttackResult(adversary="x", people=breach.people, adversary_error=0.9, interval=None, baseline=1.0)


def test_a_bare_object_attacks_too_and_its_docstring_speaks_for_it() -> None:
    split = records().split(0)
    g = Grid.of("uniform").sources()[0].propose(split.train)[0].generalization
    judged = evaluate(g, split, [Shy(), "A8"], quick=True)
    assert [attack.adversary for attack in judged.attacks] == ["A8", "Shy"]
    assert judged["Shy"].title == "It steals nothing. It only looks"
    assert type(judged["Shy"].own) is AttackResult
    assert "fails 90.0" in judged["Shy"].told().finding
    assert Evaluation.from_json(judged.to_json()) == judged


def test_what_is_no_adversary_or_has_a_name_of_ours_is_refused() -> None:
    split = records().split(0)
    g = Grid.of("uniform").sources()[0].propose(split.train)[0].generalization
    ours = type("Other", (Shy,), {"name": "A1"})()
    for wrong, why in [
        (Shy, "an object with attack"),
        (ours, "a name of its own"),
        ("nobody", "adversaries must be one of A1"),
    ]:
        with pytest.raises(ParameterError, match=why):
            evaluate(g, split, [wrong], quick=True)
    with pytest.raises(ParameterError, match="two adversaries are called Shy"):
        evaluate(g, split, [Shy(), Shy()], quick=True)
    with pytest.raises(ParameterError, match="a scikit-learn classifier, a predictor"):
        evaluate(g, split, ["A8"], estimator=3)
    with pytest.raises(ParameterError, match="an object with minimize"):
        Grid.of(Shy())


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["nobody"], "adversaries must be one of A1"),
        ([Shy], "an object with attack"),
        ([Shy(), Shy()], "two adversaries are called Shy"),
        (["A6"], "A6 needs another generalization"),
    ],
)
def test_a_run_refuses_who_could_only_fail_at_its_end(wrong: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=why):
        run(records(), tmp_path / "run", Options(grid=Grid.of("uniform"), adversaries=wrong, quick=True))
    assert not (tmp_path / "run").exists()


class Clumsy:
    name = "clumsy"

    def attack(self, breach: Any) -> AttackResult:
        raise KeyError("age")


def test_one_name_or_one_object_is_one_adversary_and_one_that_fails_is_named(tmp_path: Path) -> None:
    split = records().split(0)
    g = Grid.of("uniform").sources()[0].propose(split.train)[0].generalization
    for alone, name in (("A8", "A8"), (Shy(), "Shy")):
        assert [attack.adversary for attack in evaluate(g, split, alone, quick=True).attacks] == [name]
        assert Options(adversaries=alone).adversaries == (alone,)
    why = "the adversary clumsy must return an AttackResult, but it failed with KeyError: 'age'; mend it"
    with pytest.raises(ParameterError, match=why):
        evaluate(g, split, [Clumsy()], quick=True)
    with pytest.raises(ParameterError, match=why):
        run(records(), tmp_path / "run", Options(grid=Grid.of("uniform"), adversaries=[Clumsy()], quick=True))


def test_a_minimizer_that_returns_something_else_is_told_so(tmp_path: Path) -> None:
    class Plain:
        def minimize(self, table: Any) -> Any:
            return {"age": [30]}

    class Stepwise:
        def minimize(self, table: Any) -> Any: ...

        def path(self, table: Any) -> Any:
            return [None]

    for wrong, why in ((Plain(), "minimize.table. of a minimizer must return a Generalization; got dict"),
                       (Stepwise(), "path.table., step by step, of a minimizer .* got NoneType")):  # fmt: skip
        with pytest.raises(DataError, match=why):
            run(records(), tmp_path / type(wrong).__name__, Options(grid=Grid.of(wrong), quick=True))


def test_an_object_keeps_its_parameters_and_a_file_tells_them(guide: dict[str, Any]) -> None:
    entry = Grid.of(guide["HalvesMinimizer"](k=2)).entries[0]
    assert (entry.minimizer, entry.parameters) == ("halves", {"k": (2,)})
    assert entry == Entry(minimizer="halves", parameters={"k": 2})


# An installed package


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the guide, built and installed into a folder of its own."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    (source / "neighbourhood.py").write_text(MINIMIZER + ADVERSARY, encoding="utf-8")
    (source / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target), str(source)], check=True, capture_output=True)
    return target


@pytest.fixture
def fresh() -> Iterator[None]:
    plugins.plugins.cache_clear()
    yield
    plugins.plugins.cache_clear()


def test_an_installed_package_is_known_to_the_command(installed: Path) -> None:
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    answer = run_process("minimizers", env={**os.environ, "PYTHONPATH": path})
    assert "halves" in answer.out


@pytest.mark.usefixtures("fresh")
def test_an_installed_package_is_known_by_its_names(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, here = write_csv(tmp_path / "small.csv"), runner(monkeypatch, capsys)
    grid = tmp_path / "grid.yaml"
    grid.write_text(
        "format: leastwise-grid\nversion: 1\nminimizers:\n  - {name: halves, k: [1, 2]}\n  - {name: uniform}\n",
        encoding="utf-8",
    )
    task = [data, "--label", "rich", "--personal", "job,sex"]
    fast = ["--quick", "--jobs", 1, "--set", "most=2", "--set", "adversaries=neighbours"]
    recommended = tmp_path / "run" / "recommended.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(installed)
        done = here("run", *task, "--grid", grid, *fast, "-o", tmp_path / "run")
        assert done.code == 0, done.err
        made = Run.load(tmp_path / "run")
        assert "halves" in {point.minimizer for point in made.frontier.points}
        assert all(made.evaluation(point.id)["neighbours"] for point in made.frontier.points)
        assert "Who answers alike, is alike" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
        judged = here("evaluate", recommended, data, "--quick", "--adversaries", "A8,neighbours")
        assert judged.code == 0, judged.err
        assert "Who answers alike, is alike" in judged.out
    plugins.plugins.cache_clear()  # where it is not installed
    for unknown in (
        here("evaluate", recommended, data, "--quick", "--adversaries", "neighbours"),
        here("run", *task, *fast, "-o", tmp_path / "another"),
    ):
        assert unknown.code == 2
        assert "adversaries must be one of A1" in unknown.err
    assert not (tmp_path / "another").exists(), "it is refused before anything is done"


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("broken", "raise OSError('no disk')", "cannot be loaded: OSError: no disk"),
        ("wrong", "class Thing: pass", "no class with a method 'attack'"),
        ("A9", "class Thing:\n    def attack(self, breach): ...", "a name must have letters, digits, - and _"),
        ("A1", "class Thing:\n    def attack(self, breach): ...", "leastwise has one of that name itself"),
    ],
)
def test_a_package_that_is_broken_is_left_out_and_named(
    name: str, code: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"pack_{name}.py").write_text(code, encoding="utf-8")
    info = tmp_path / f"pack_{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pack-{name}\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        f"[leastwise.adversaries]\n{name} = pack_{name}:Thing\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.warns(UserWarning, match=rf"pack-{name} announces .*{why}"):
        found = plugins.plugins(plugins.ADVERSARIES, "attack", ("A1",))
    assert name not in found
