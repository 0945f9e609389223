"""The command line as a whole: help, exit codes, pipes, signals and warnings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import leastwise
from leastwise import Attribute, Generalization
from leastwise.cli import main as cli
from leastwise.errors import PrivacyLeakWarning
from tests.cli.running import Run, run_process

MAIN = [sys.executable, "-m", "leastwise"]


def test_help_and_version(run: Run) -> None:
    assert run("--version").out == f"leastwise {leastwise.__version__}\n"
    text = run("--help").out
    for command in ("inspect", "minimize", "describe", "compare", "minimizers"):
        assert command in text
        assert "leastwise" in run(command, "--help").out
    nothing = run()
    assert (nothing.code, nothing.err) == (2, "")
    assert "inspect" in nothing.out


def test_usage_errors_are_one_line(run: Run) -> None:
    assert "No such command 'inspct'" in run("inspct").complaint
    assert "No such option: --lable" in run("inspect", "x.csv", "--lable", "y").complaint
    assert "See: leastwise inspect --help" in run("inspect").complaint
    assert "unexpected extra argument" in run("describe", "a", "b").complaint


@pytest.mark.parametrize(
    ("words", "needed"), [(["--help"], set()), (["inspect", "people.csv", "-l", "rich"], {"numpy", "polars"})]
)
def test_nobody_waits_for_what_a_command_does_not_need(words: list[str], needed: set[str], people: Path) -> None:
    code = (
        f"import sys; import leastwise.cli.main as c\nsys.argv={['leastwise', *words]}\n"
        "try: c.main()\nexcept SystemExit: pass\n"
        "print(*sorted({'numpy', 'scipy', 'sklearn', 'numba', 'torch', 'polars', 'pandas'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=people.parent, capture_output=True, text=True, check=True)
    assert {*result.stdout.splitlines()[-1].split()} == needed


def test_warnings_are_shown_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(**_: object) -> None:
        warnings.simplefilter("always")
        warnings.warn("one\nperson's", PrivacyLeakWarning, stacklevel=1)
        warnings.warn("did not converge", UserWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", command)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().err == "privacy: one person's\nwarning: did not converge\n"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "leastwise: stopped\n"),
        (OSError(28, "No space left on device", "g.json"), 2, "leastwise: g.json: No space left on device\n"),
        (leastwise.DataError("no records"), 2, "leastwise: no records\n"),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "app", command)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert (stop.value.code, capsys.readouterr().err) == (code, text)


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "app", command)
    with pytest.raises(ZeroDivisionError):
        cli.main()


@pytest.mark.parametrize("values", [2, 20_000], ids=["in one write", "in many writes"])
def test_a_closed_pipe_is_no_error(tmp_path: Path, values: int) -> None:
    attribute = Attribute("code", values=tuple(f"value {i}" for i in range(values)))
    path = tmp_path / "g.json"
    Generalization.untouched(leastwise.Schema((attribute,))).save(path)
    process = subprocess.Popen([*MAIN, "describe", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_interrupted_while_waiting_for_input() -> None:
    with subprocess.Popen(
        [*MAIN, "inspect", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_from_standard_input(people: Path) -> None:
    answer = run_process("inspect", "-", "-l", "rich", input=people.read_text(encoding="utf-8"))
    assert answer.code == 0
    assert "200 records" in answer.out


AS_NOBODY = """
import os, sys
from leastwise.cli.main import main
def run(path):
    sys.argv = ["leastwise", "inspect", path, "--label", "rich"]
    main()
try: run("people.csv")  # imports all there is to import, while that is allowed
except SystemExit: pass
os.chmod("people.csv", 0)
if os.geteuid() == 0: os.seteuid(65534)
sys.stdout.flush(); os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
run("people.csv")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs another user, as POSIX has them")
def test_no_permission(people: Path) -> None:
    people.parent.chmod(0o755)
    result = subprocess.run(
        [sys.executable, "-c", AS_NOBODY], cwd=people.parent, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 2
    assert result.stderr == "leastwise: people.csv: no permission to read it; change its mode or ask its owner\n"
