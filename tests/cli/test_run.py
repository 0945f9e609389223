"""``leastwise run``: the whole job by one command, and one line for everything that cannot be."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.runs import Run as StoredRun
from tests.cli.conftest import GRID, QUICK
from tests.cli.running import Run
from tests.runs.small import content, write_csv

pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "small.csv")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.yaml"
    path.write_text(GRID, encoding="utf-8")
    return path


def whole_job(data: Path, grid: Path, to: Path) -> list[object]:
    return ["run", data, "--label", "rich", "--personal", "job,sex", "--grid", grid, *QUICK, "-o", to]


def test_the_whole_job(run: Run, small: Path, grid: Path, tmp_path: Path) -> None:
    words = whole_job(small, grid, tmp_path / "out")
    answer = run(*words)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith(
        "No candidate keeps the limit that holds when none is stated: the model errs at most 1 "
    )
    assert lines[1].startswith("Ask ")
    assert lines[-1] == f"Report: {tmp_path / 'out' / 'report.html'}"
    for stage in ("proposing: 3", "screening: ", "judging the limit points: 4", "attacking the frontier: "):
        assert stage in answer.err
    found = StoredRun.load(tmp_path / "out")
    assert found.task.personal == ("job", "sex")
    published = Generalization.load(tmp_path / "out" / "recommended.json")
    assert published.within(found.schema).schema == found.schema  # what is not asked publishes no domain
    before = content(tmp_path / "out")
    assert {"report.html", "report.md", "report.json"} <= set(before)
    assert run(*words).code == 0
    assert content(tmp_path / "out") == before
    other = run(*words, "--seed", 1)
    assert "holds a run of another task" in other.complaint
    assert other.complaint.endswith("name another one, or begin anew: --fresh")
    assert run(*words, "--seed", 1, "--fresh").code == 0


def test_choosing_under_a_budget(run: Run, small: Path, grid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ("run", small, "--label", "rich", "--personal", "job,sex", "--grid", grid, *QUICK, "-o", folder)
    stated = run(*words, "--set", "max_error=0")
    assert stated.code == 1
    assert "None of the" in stated.out
    assert "What binds: the model errs" in stated.out
    assert not (folder / "recommended.json").exists()
    chosen = run("choose", folder, "--max-error-increase", 0.5, "--max-asked", 4)
    assert chosen.code == 0
    assert "keep these limits: the model errs at most 50 points more" in chosen.out
    assert (folder / "recommended.json").exists()
    report = (folder / "report.json").read_text(encoding="utf-8")
    assert "state a budget" in run("choose", folder).complaint
    assert "is no run" in run("choose", tmp_path, "--max-error", 1).complaint
    none = run("choose", folder, "--max-unique", 0, "--max-buckets", 1)
    assert none.code == 1
    assert "The nearest is" in none.out
    assert "What was recommended before stays as it was." in none.out
    assert (folder / "report.json").read_text(encoding="utf-8") == report
    assert "no candidate 'x'" in run("choose", folder, "--max-error", 1, "--candidate", "x").complaint
    # What is taken although it breaks limits is held against them, not against those of the choice before.
    (command,) = [line.partition(": ")[2] for line in none.out.splitlines() if line.startswith("To take")]
    taken = run(*shlex.split(command)[1:])
    assert taken.code == 0
    assert "It does not keep the limits" in taken.out
    # The command states limits that nothing keeps, whatever a person took since.
    again = run(*words, "--set", "max_error=0")
    assert again.code == 1
    assert (
        "what was chosen in its folder since" in again.out
        or "By its own limits the run chooses nothing" in again.out
    )
    assert "--although" in run("decide", folder, "--by", "A", "--because", "b").complaint


def test_choosing_what_is_sure(run: Run, small: Path, grid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run(*whole_job(small, grid, folder))
    named = [line.partition(": ")[2] for line in done.out.splitlines() if line.startswith("To be 90")]
    for words in ([*shlex.split(each)[1:]] for each in named):  # what the answer names works
        assert run(*words).code == 0
    sure = run("choose", folder, "--max-error-increase", 0.5, "--surely")
    assert sure.code == 0
    assert "surely keep" in sure.out
    assert "Kept on the test part: with 90" in sure.out
    assert "To be 90" not in sure.out
    assert StoredRun.load(folder).choice.sentence in (folder / "report.json").read_text(encoding="utf-8")
    none = run("choose", folder, "--max-error-increase", 0, "--surely")
    assert none.code == 1
    assert "None of the" in none.out or "The test part does not confirm" in none.out
    assert "What was recommended before stays as it was." in none.out
    assert "groups" in run("choose", folder, "--max-group-gap", 0.1, "--surely").complaint
    assert "state one of them" in run("choose", folder, "--candidate", "x", "--surely").complaint


def test_where_nothing_fits_every_command_that_is_named_works(
    run: Run, small: Path, grid: Path, finished: Path, tmp_path: Path
) -> None:
    """Nothing is called chosen, what would use a choice is refused, and what is said instead is not."""
    folder = finished
    words = ("run", small, "--label", "rich", "--personal", "job,sex", "--grid", grid, *QUICK, "-o", folder)
    told = run(*words, "--max-error-increase", 0, "--set", "max_asked=0", "--set", "max_unique=0")
    assert told.code == 1
    assert told.out.startswith("Nothing is recommended. None of the")
    assert "chosen" not in (folder / "report.md").read_text(encoding="utf-8").split("## The trade-off")[0].replace(
        "was not chosen", ""
    )
    commands = [line.partition(": ")[2] for line in told.out.splitlines() if line.startswith("To ")]
    assert len(commands) == 2
    for refused in (
        ("necessity", folder, small),
        ("describe", folder),
        ("apply", folder, small),
        ("export", folder, "--to", "form"),
        ("evaluate", folder, small),
        ("dpia", folder),
        ("check", "--data", small, "-g", folder),
    ):
        complaint = run(*refused).complaint
        assert all(command in complaint for command in commands), complaint
    assert "--candidate" in run("decide", folder, "--by", "A", "--because", "b").complaint
    again = run("choose", folder, "--max-error-increase", 0, "--max-asked", 0)
    assert "stays as it was" not in again.out
    wrote = run("init", "--run", folder, "-o", tmp_path / "policy.yaml")
    assert "nothing is chosen yet" in wrote.err
    for command in commands:
        shutil.copytree(folder, tmp_path / "copy")
        chosen = run(*shlex.split(command.replace(str(folder), str(tmp_path / "copy")))[1:])
        assert chosen.code == 0
        assert run("describe", tmp_path / "copy").code == 0
        shutil.rmtree(tmp_path / "copy")


def test_a_run_stands_for_its_recommended_generalization(
    run: Run, small: Path, grid: Path, finished: Path, tmp_path: Path
) -> None:
    folder = finished
    words = ("--label", "rich", "--personal", "job,sex", "--grid", grid, *QUICK)
    chosen, by_folder, by_file = folder / "recommended.json", tmp_path / "a", tmp_path / "b"
    asked = Generalization.load(chosen)
    assert run("describe", folder).out.strip() == asked.describe()
    assert run("compare", folder, chosen).out == "Both ask the same.\n"
    for command in (
        ("export", "--to", "questionnaire"),
        ("apply", small, "--to", "csv"),
        ("evaluate", small, "--quick", "--adversaries", "A8", "--json"),
    ):
        for artefact, to in ((folder, by_folder), (chosen, by_file)):
            assert run(command[0], artefact, *command[1:], "-o", to, "--force").code == 0
        assert by_folder.read_bytes() == by_file.read_bytes()
    assert run("check", "--data", small, "-g", folder, "--quick", "--json").code == 0
    assert run("choose", folder, "--max-error", 0).code == 1
    assert run("describe", folder).out.strip() == asked.describe()  # what was recommended before stays
    assert run("run", small, *words, "-o", folder, "--set", "max_error=0").code == 1
    assert "no candidate of the run keeps its limits" in run("describe", folder).complaint
    (folder / "choice.json").unlink()
    assert "is not finished; the same leastwise run command resumes it" in run("describe", folder).complaint


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--max-error-increase", -1), "max_error_increase must be between 0 and 1; got -1.0"),
        (("--max-error-increase", "nan"), "max_error_increase must be between 0 and 1; got nan"),
        (("--set", "max_error=2"), "max_error must be between 0 and 1; got 2"),
        (("--set", "max-unique=-1"), "max_unique of run must be a whole number from 0; got -1"),
        (("--set", "max_buckets=many"), "max_buckets of run must be a whole number from 0; got 'many'"),
        (("--set", "max_buckets=true"), "max_buckets of run must be a whole number from 0; got True"),
        (("--set", "most=3"), "most must be set once; it was set twice"),
        (("--set", "most"), "--set must be name=value; got 'most'"),
        (
            ("--set", "max_bucket=3"),
            "no setting 'max_bucket'; did you mean 'max_buckets'? can be set: max_error, ",
        ),
        (
            ("--set", "zzz=3"),
            "run has no setting 'zzz'; can be set: max_error, max_unique, max_unique_share, max_buckets,",
        ),
        (("--max-buckets", 3), "No such option: --max-buckets"),
        (("--min-adversary-error", "sex"), "--min-adversary-error must be name=number, as in sex=0.3; got 'sex'"),
        (("--min-adversary-error", "sex=.1,sex=.2"), "must name each attribute once; got 'sex' twice"),
        (("--min-adversary-error", "sx=.1"), "there is no personal attribute 'sx'; did you mean 'sex'?"),
        (("--min-adversary-error", "age=.1"), "'age' is none; mark it so"),
        (("--min-adversary-error", "sex=0.9"), "sex=0.9 is impossible: nobody errs more than the guess, 0.5"),
        (("--min-adversary-error", "mean=0.99"), "mean=0.99 is impossible: nobody errs more than the guess"),
        (("--personal", "rich"), "label"),
        (("--label", "ritch"), "did you mean 'rich'?"),
        (("--personal", "sx"), "did you mean 'sex'?"),
        (("--jobs", 0), "jobs must be at least 1, or -1"),
        (("--set", "backend=spark"), "backend must be one of loky, threading, dask, ray; got 'spark'"),
        (("--set", "cluster=tcp://x"), "a cluster needs the backend dask or ray; got loky"),
        (("--grid", "nowhere.yaml"), "nowhere.yaml: No such file or directory"),
    ],
)
def test_what_cannot_be_is_one_line(
    run: Run, small: Path, tmp_path: Path, words: tuple[object, ...], complaint: str
) -> None:
    given = [] if "--label" in words else ["--label", "rich"]
    given += [] if "--personal" in words else ["--personal", "job,sex"]
    answer = run("run", small, *given, *QUICK, "-o", tmp_path / "out", *words)
    assert complaint in answer.complaint
    assert not (tmp_path / "out").exists()


def test_records_that_cannot_be_judged_are_one_line(run: Run, small: Path, tmp_path: Path) -> None:
    lines = small.read_text(encoding="utf-8").splitlines()
    few, one, rare = (tmp_path / f"{name}.csv" for name in ("few", "one", "rare"))
    few.write_text("\n".join(lines[:51]), encoding="utf-8")
    poor = [line.rpartition(",")[0] for line in lines[1:]]
    one.write_text("\n".join([lines[0], *(f"{line},no" for line in poor)]), encoding="utf-8")
    rest = [f"{line},{'yes' if i < 2 else 'no'}" for i, line in enumerate(poor)]
    rare.write_text("\n".join([lines[0], *rest]), encoding="utf-8")
    out = ("--label", "rich", "--personal", "sex", *QUICK, "-o", tmp_path / "out")
    assert "at least 300 records" in run("run", few, *out).complaint
    assert "class" in run("run", one, *out).complaint
    assert "has 2 records and none of them is in the test part" in run("run", rare, *out).complaint
    numbers = tmp_path / "numbers.csv"
    random = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{int(a > b)}" for a, b in random.random((400, 2))]
    numbers.write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    nothing = run("run", numbers, "--label", "y", *QUICK, "-o", tmp_path / "out")
    assert "at least one personal attribute" in nothing.complaint
    assert "name the records" in run("run", *out).complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("minimizers: [", "not YAML"),
        ("format: leastwise-schema\nversion: 1", "must be 'leastwise-grid'"),
        ("format: leastwise-grid\nversion: 1", "name at least one minimizer"),
        (GRID.replace("uniform", "unifrom"), "there is no minimizer 'unifrom'; did you mean 'uniform'?"),
        (GRID.replace("alpha:", "alfa:"), "pat has no parameter 'alfa'; did you mean 'alpha'?"),
        (GRID.replace("0.8", "1.8"), "alpha of pat must be a number between 0 and 1; got 1.8"),
        (GRID.replace("[2, 3]", "[]"), "k of uniform needs at least one value"),
        (GRID + "seeds: [-1]\n", "a seed must be a whole number from 0; got -1"),
        (GRID + "sede: 1\n", "unknown key; did you mean 'seeds'?"),
        (GRID.replace("0.8", "1.8").replace("[2, 3]", "[0]"), "2 problems"),
    ],
)
def test_a_grid_that_cannot_be_used_is_one_line(
    run: Run, small: Path, tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "grid.yaml"
    path.write_text(text, encoding="utf-8")
    answer = run("run", small, "--label", "rich", "--grid", path, *QUICK, "-o", tmp_path / "out")
    assert complaint in answer.complaint


def test_constraints_come_from_the_policy(run: Run, small: Path, grid: Path, tmp_path: Path) -> None:
    policy = tmp_path / "leastwise.yaml"
    policy.write_text(
        "format: leastwise-policy\nversion: 1\ndata: small.csv\nlabel: rich\npersonal: [job, sex]\n"
        "budget: {max_error: 1.0}\nconstraints: {suppressed: [sex], edges: {age: [40]}}\n",
        encoding="utf-8",
    )
    grid.write_text(GRID + "  - name: optimal\n    steps: 8\n", encoding="utf-8")
    answer = run("run", "--policy", policy, "--grid", grid, *QUICK, "-o", tmp_path / "out")
    assert answer.code == 0, answer.err
    found = StoredRun.load(tmp_path / "out")
    assert found.frontier.dropped > 0
    for candidate in found.candidates:
        artefact = candidate.generalization
        assert artefact["sex"].suppressed
        assert 40.0 in artefact["age"].edges  # type: ignore[attr-defined]
    assert found.choice.budget.max_error == 1.0
    impossible = policy.read_text(encoding="utf-8").replace("[sex]", "[age]")
    policy.write_text(impossible, encoding="utf-8")
    assert "age cannot be suppressed and parted" in run("run", "--policy", policy, *QUICK).complaint


def test_a_missing_cluster_is_one_line(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leastwise.runs import workers

    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    answer = run("run", small, "--label", "rich", "--set", "backend=ray", *QUICK, "-o", tmp_path / "out")
    assert answer.complaint == "this needs ray; install it with: pip install 'leastwise[cluster]'"


def hear_interrupts() -> None:
    """Hear Ctrl-C, whatever was inherited: who is started in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="needs signals")
def test_ctrl_c_says_how_to_go_on(small: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from leastwise.cli.main import main; main()",
        "run",
        str(small),
        "--label",
        "rich",
    ]
    command += ["--personal", "job,sex", "--jobs", "1", "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=hear_interrupts,
    )
    while process.poll() is None and not (tmp_path / "out" / "work").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert f"what is finished is kept in {tmp_path / 'out'}; the same command resumes the run" in err
    assert "Traceback" not in err


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="needs signals")
def test_who_stops_after_the_first_answer_has_it(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from leastwise.cli.main import main; main()", "run", str(small)]
    command += ["--label", "rich", "--personal", "job,sex", "--jobs", "1", "-o", str(tmp_path / "out")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    streams: Any = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **streams, env=environment, preexec_fn=hear_interrupts)
    answer = tmp_path / "out" / "so_far"
    while process.poll() is None and not (answer / "choice.json").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "A3, A4, A5 have not yet been run" in " ".join(out.split())
    assert "Traceback" not in err
    assert "have not yet been run" in (answer / "report.html").read_text(encoding="utf-8")


WITHOUT_EXTRAS = """
import sys
EXTRAS = {"torch", "lightgbm", "pandas", "pyarrow", "duckdb", "matplotlib", "ray", "distributed", "dask", "skops"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in EXTRAS:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from leastwise.cli.main import main
main()
"""


def test_the_core_install_is_enough(small: Path, grid: Path, tmp_path: Path) -> None:
    words = whole_job(small, grid, tmp_path / "out")
    grid.write_text(
        GRID + "  - name: optimal\n    steps: 5\n  - name: coarsening\n    steps: 5\n", encoding="utf-8"
    )
    command = [sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert not StoredRun.load(tmp_path / "out").failures
