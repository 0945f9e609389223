"""The files that operators copy use options that exist, and the pages name files that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from leastwise.cli.main import app

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "docs" / "deployment.md", ROOT / "docs" / "collector.md"]
FILES = [*PAGES, *sorted(path for path in (ROOT / "deploy").iterdir() if path.is_file())]


def commands(text: str) -> list[list[str]]:
    """Return the words of every call of leastwise in a file."""
    joined = text.replace("\\\n", " ")
    found = re.findall(
        r"(?:^|[\s`/])leastwise ((?:collect|train|predict|monitor|compare|apply)\b[^`\n#;|]*)", joined
    )
    entry = re.findall(r'ENTRYPOINT \["leastwise", (.*?)\]', joined)
    found += [words.replace('"', "").replace(",", " ") for words in entry]
    return [shlex.split(command) for command in found]


def options() -> dict[str, set[str]]:
    group = typer.main.get_command(app)
    return {
        name: {word for parameter in command.params for word in parameter.opts}
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_options_exist(path: Path) -> None:
    known = options()
    for name, *words in commands(path.read_text(encoding="utf-8")):
        assert name in known
        for word in words:
            if word.startswith("-"):
                assert word.split("=")[0] in known[name], (name, word)


def test_the_files_are_read() -> None:
    counts = {path.name: len(commands(path.read_text(encoding="utf-8"))) for path in FILES}
    assert counts["leastwise-collector.service"] == counts["Containerfile"] == 1
    assert counts["deployment.md"] >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_unit_is_confined() -> None:
    unit = (ROOT / "deploy" / "leastwise-collector.service").read_text(encoding="utf-8")
    for line in ("DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "IPAddressDeny=any"):
        assert line in unit


def test_the_container_downloads_nothing() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    assert "--no-index" in text
    assert "http" not in text
    assert re.search(r"^USER 10001$", text, re.MULTILINE)
