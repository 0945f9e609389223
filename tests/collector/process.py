"""A collector as a process of its own, as an operator starts it; gone at the end of the test."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from leastwise import Generalization
from tests.collector.examples import TOKEN

HOST = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Collector:
    """Starts, kills and stops a collector; everything it prints goes to ``log``."""

    def __init__(
        self,
        folder: Path,
        url: str,
        generalizations: Sequence[Generalization],
        *options: object,
        script: str = "from leastwise.cli.main import main; main()",
        **environment: str,
    ) -> None:
        self.port, self.log = free_port(), folder / "collector.log"
        artefacts = [folder / f"g{number}.json" for number in range(len(generalizations))]
        for path, generalization in zip(artefacts, generalizations, strict=True):
            generalization.save(path)
        words = ["collect", *artefacts, "--db", url, "--port", self.port, "--rate", 0, *options]
        self._command = [sys.executable, "-c", script, *map(str, words)]
        self._environment = environment
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        environment = {**os.environ, "LEASTWISE_TOKEN": TOKEN, "OMP_NUM_THREADS": "1", **self._environment}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "the collector does not answer"
            time.sleep(0.05)

    def _answers(self) -> bool:
        with contextlib.closing(http.client.HTTPConnection(HOST, self.port, timeout=5)) as connection:
            try:
                connection.request("GET", "/health")
                return connection.getresponse().status == 200
            except OSError:
                return False

    def kill(self) -> None:
        """Send SIGKILL: nothing can be finished or tidied."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Ask it to stop, and return its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@contextlib.contextmanager
def running(
    folder: Path, url: str, generalizations: Sequence[Generalization], *options: object, **more: str
) -> Iterator[Collector]:
    collector = Collector(folder, url, generalizations, *options, **more)
    try:
        collector.start()
        yield collector
    finally:
        if collector.process is not None and collector.process.poll() is None:
            collector.kill()
