"""Real browsers for tests; skipped with a reason where there are none."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = Path(sys.prefix) / "node_modules"  # where scripts/install-test-programs.sh puts them
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # what WebDriver calls an element


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Give a browser that all tests of this process share; each opens pages of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by playwright")
    path = os.environ.get("LEASTWISE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


def npm_file(name: str) -> Path:
    """Return a file of an npm package that tests use; skipped where it could not be fetched."""
    if not (PACKAGES / name).is_file():
        pytest.skip(f"{name.split('/')[0]} is not installed: scripts/install-test-programs.sh fetches it by npm")
    return PACKAGES / name


class Firefox:
    """Debian's Firefox by its own protocol, Marionette: playwright drives only one that it has patched."""

    def __init__(self, path: str, profile: Path) -> None:
        (profile / "user.js").write_text('user_pref("marionette.port", 0);\n', encoding="utf-8")
        command = [path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, env={**os.environ, "HOME": str(profile)}, **silent)
        self._numbers = itertools.count()
        self._socket = socket.create_connection(
            ("127.0.0.1", self._port(profile / "MarionetteActivePort")), timeout=120
        )
        self._read()
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60_000}}})

    def _port(self, told: Path) -> int:
        for _ in range(1_200):
            if told.is_file() and (text := told.read_text(encoding="utf-8")):
                return int(text)
            assert self._process.poll() is None, "Firefox ended before it listened"
            time.sleep(0.1)
        raise AssertionError("Firefox does not listen")

    def _read(self) -> Any:
        length = b""
        while (part := self._socket.recv(1)) != b":":
            length += part
        content = b""
        while len(content) < int(length):
            content += self._socket.recv(int(length) - len(content))
        return json.loads(content)

    def ask(self, command: str, **words: Any) -> Any:
        """Send a command and return what came of it."""
        message = json.dumps([0, next(self._numbers), command, words]).encode()
        self._socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, found = self._read()
        assert error is None, error
        return found.get("value", found) if isinstance(found, dict) else found

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=[*arguments])

    def until(self, condition: str) -> Any:
        """Wait until an expression is true in the page, and return it."""
        script = (
            "const done = arguments[arguments.length - 1];"
            f"(function again() {{ const found = {condition}; found ? done(found) : setTimeout(again, 50); }})();"
        )
        return self.ask("WebDriver:ExecuteAsyncScript", script=script, args=[])

    def find(self, css: str) -> str:
        """Return the first element that a selector means."""
        return str(self.ask("WebDriver:FindElement", using="css selector", value=css)[ELEMENT])

    def act(self, *inputs: dict[str, Any]) -> None:
        """Do what a person does with the mouse or the keys."""
        self.ask("WebDriver:PerformActions", actions=[*inputs])

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    """Give a Firefox with a profile of its own."""
    path = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if path is None:
        pytest.skip("firefox is not installed")
    (tmp_path / "profile").mkdir()
    made = Firefox(path, tmp_path / "profile")
    yield made
    made.close()
