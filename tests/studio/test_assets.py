"""The page's own files: what others wrote is unchanged, and the JavaScript is typed."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import leastwise.studio
from tests.browser import npm_file

ASSETS = Path(leastwise.studio.__file__).parent / "assets"
ROOT = Path(__file__).parents[2]


def test_what_others_wrote_is_as_they_published_it() -> None:
    listed = dict(
        re.findall(r"\| `([\w.-]+\.mjs)` \|.*`([0-9a-f]{64})` \|", (ASSETS / "vendor/README.md").read_text())
    )
    files = {path.name for path in (ASSETS / "vendor").glob("*.mjs")}
    assert {*listed} == files
    for name, digest in listed.items():
        assert hashlib.sha256((ASSETS / "vendor" / name).read_bytes()).hexdigest() == digest
    for licence in re.findall(r"\((\S+-LICENSE\.txt)\)", (ASSETS / "vendor/README.md").read_text()):
        assert (ASSETS / "vendor" / licence).is_file()


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in [*ASSETS.glob("*.js"), *ASSETS.glob("*.css"), ASSETS / "index.html"]:
        assert not re.search(r"https?://(?!www\.w3\.org)", path.read_text(encoding="utf-8")), path.name


def test_modules_are_small() -> None:
    for path in ASSETS.glob("*.js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path.name


def test_the_javascript_is_typed() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    command = [node, str(npm_file("typescript/bin/tsc")), "-p", str(ROOT / "tsconfig.json")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
