"""The pages are true: every command in them exists, and those of the first guide are run as they stand."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer.main

from leastwise.cli.main import app
from tests.cli.running import Run, runner
from tests.runs.small import GRID

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [*sorted((DOCS / "guides").glob("*.md")), DOCS / "policy.md"]
EVERYWHERE = [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md"]
ENOUGH = 800  # records; the whole table takes minutes
ROOM = {"0.03": "0.25"}  # a model of few records errs more, and gains more by asking everything


def commands(page: Path) -> list[list[str]]:
    """Return the words of each of our commands in the blocks of a page."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```(?:console|bash)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    blocks += re.findall(r"^    (leastwise .*)$", text, re.MULTILINE)
    lines = [part.strip() for block in blocks for line in block.splitlines() for part in line.split("&&")]
    ours = [line.removeprefix("$ ") for line in lines if re.match(r"(?:\$ )?leastwise ", line)]
    return [shlex.split(line, comments=True) for line in ours]


def named(page: Path) -> list[list[str]]:
    """Return the words of each command that a page names, in a block of its own or in a sentence."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(?: {4}|\$ |- run: )?(leastwise [a-z].*)$", text, re.MULTILINE)
    inline = re.findall(r"`(leastwise [a-z][^`]*)`", text)
    single = [part for line in (*lines, *inline) if "`" not in line for part in line.split("&& ")]
    found = [shlex.split(part, comments=True) for part in single]
    return [words for words in found if re.fullmatch("[a-z-]+", words[1])]


COMMANDS: Any = typer.main.get_command(app)
ALL = [(page.name, words) for page in EVERYWHERE for words in named(page)]


def test_there_are_commands() -> None:
    assert len(ALL) > 80
    assert sum(len(commands(page)) for page in PAGES) > 20


@pytest.mark.parametrize(("guide", "words"), ALL, ids=lambda value: value if isinstance(value, str) else value[1])
def test_every_command_and_option_exists(guide: str, words: list[str]) -> None:
    assert words[0] == "leastwise"
    command, rest = COMMANDS, words[1:]
    while hasattr(command, "commands") and rest:
        command, rest = command.commands[rest[0]], rest[1:]
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    assert [word for word in rest if word.startswith("-") and word not in known] == []


def hurried(words: list[str]) -> list[str]:
    return [ROOM.get(word, word) for word in words] + (
        ["--jobs", "1", "--quick", "--set", "most=2"] if words[0] == "run" else []
    )


def follow(run: Run, records: int | None) -> None:
    """Do what the first guide says; on fewer records where that is enough."""
    for words in commands(DOCS / "guides" / "getting-started.md"):
        answer = run(*(words[1:] if records is None else hurried(words[1:])))
        assert answer.code == 0, (words, answer)
        if words[1:3] == ["datasets", "export"] and records is not None:
            pl.read_csv("adult.csv").sample(records, seed=0).write_csv("adult.csv")


@pytest.fixture
def run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def test_getting_started_on_few_records(run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # The default grid is run to its end on few records by the notebook among the examples.
    monkeypatch.setattr(sys.modules["leastwise.runs.run"], "default_grid", lambda quick: GRID)
    follow(run_here, ENOUGH)
    for name in (
        "run/report.html",
        "coarse.parquet",
        "form.html",
        "model.skops",
        "leastwise.yaml",
        "promise.json",
    ):
        assert Path(name).stat().st_size, name


@pytest.mark.slow
def test_getting_started(run_here: Run) -> None:
    follow(run_here, None)
