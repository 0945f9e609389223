"""Outputs of commands: one meaning of ``--output``, written whole or not at all, flags that look like flags."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

from leastwise import Generalization
from leastwise.cli.main import app
from leastwise.cli.sources import SourceOptions
from tests.cli.running import Run


def commands() -> dict[str, Any]:
    """Return every command by its words."""
    whole: Any = typer.main.get_command(app)
    groups = [("", whole), *((f"{name} ", each) for name, each in whole.commands.items())]
    return {
        f"{words}{name}": command
        for words, group in groups
        for name, command in getattr(group, "commands", {}).items()
        if not hasattr(command, "commands")
    }


ALL = commands()


def flags(command: Any) -> list[Any]:
    return [parameter for parameter in command.params if parameter.param_type_name == "option"]


def test_there_are_few_flags() -> None:
    # Those of records that stay where they are stand in a list of their own, and nobody else needs them.
    at_source = {f"--{each.name.replace('_', '-')}" for each in fields(SourceOptions)}
    assert len(at_source) <= 5
    own = {name: [each for each in flags(c) if not at_source & {*each.opts}] for name, c in ALL.items()}
    with_help = {name: len(found) + 1 for name, found in own.items()}
    # Whose record it is (--person), how sure a limit must be kept and how often to repeat are for everybody; and
    # which stage takes long (--profile) is for who waits.
    assert with_help.pop("run") <= 20
    assert with_help["minimize"] <= 15
    assert max(with_help.values()) <= 19


def test_output_means_where_the_result_is_written() -> None:
    written = {name for name, command in ALL.items() for each in flags(command) if "--output" in each.opts}
    assert written >= {
        "apply", "check", "datasets export", "datasets get", "demo", "evaluate", "experiment", "export", "init",
        "inspect", "minimize", "monitor", "predict", "report", "run", "train",
    }  # fmt: skip
    for name in written:
        (output,) = (each for each in flags(ALL[name]) if "--output" in each.opts)
        assert "-o" in output.opts
        assert re.search("[Ww]rite|[Ff]older|Where to|The records:", output.help), name


@pytest.mark.parametrize("name", ALL)
def test_flags_are_shown_without_a_type(run: Run, name: str) -> None:
    text = run(*name.split(), "--help").out
    assert "bool" not in text.lower()
    assert "--no-" not in text.replace("--no-browser", "")  # a flag of its own, as at other tools


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("suffix", "words"),
    [
        ("json", ("minimize", "people.csv", "-l", "rich", "-m", "uniform")),
        ("yaml", ("inspect", "people.csv", "-l", "rich")),
        ("yaml", ("init", "people.csv", "--label", "rich")),
        ("js", ("export", "g.json", "--to", "js")),
        ("json", ("evaluate", "g.json", "people.csv", "--quick", "-a", "A8")),
        ("md", ("check", "--data", "people.csv", "-g", "g.json", "--quick")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_an_output_is_written_whole_or_not_at_all(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(people.parent)
    assert run("minimize", people, "-l", "rich", "--missing", "?", "-m", "uniform", "-o", "g.json").code == 0
    target = people.parent / f"out.{suffix}"
    target.write_text("old", encoding="utf-8")
    before = sorted(people.parent.iterdir())
    missing = () if words[0] == "export" else ("--missing", "?")
    monkeypatch.setattr(os, "fsync", full_disk)
    answer = run(*words, *missing, "-o", target.name, "--force")
    assert answer.code == 2
    assert answer.err.splitlines()[-1] == f"leastwise: {target.name}: No space left on device"
    assert target.read_text(encoding="utf-8") == "old"
    assert sorted(people.parent.iterdir()) == before
    monkeypatch.undo()
    monkeypatch.chdir(people.parent)
    assert Generalization.load("g.json").collected
