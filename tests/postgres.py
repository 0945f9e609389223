"""A real PostgreSQL server for tests: in a folder of its own, on a Unix socket, gone at the end.

PostgreSQL refuses to run as root, so root starts it as the user ``postgres``.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "leastwise"
# A test server holds nothing that must outlive the machine; a benchmark of durable writes must not use these.
FAST = ("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")


@dataclass(frozen=True)
class PostgresServer:
    """A running server; its databases are reached through the socket in ``folder``."""

    folder: Path

    def url(self, database: str = "postgres", driver: str = "postgresql+psycopg") -> str:
        """Return a database's URL: for SQLAlchemy, or with ``driver="postgresql"`` for psycopg."""
        return f"{driver}://{USER}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database and return its name."""
        import psycopg

        name = f"d{uuid.uuid4().hex}"
        with psycopg.connect(self.url(driver="postgresql"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name


def find_programs() -> Path | None:
    """Return the folder with initdb and pg_ctl, of the newest version that there is."""
    on_path = shutil.which("initdb")
    if on_path is not None and shutil.which("pg_ctl") is not None:
        return Path(on_path).parent
    found = [Path(path) for path in glob.glob("/usr/lib/postgresql/*/bin") if (Path(path) / "initdb").exists()]
    return max(found, key=lambda folder: float(folder.parent.name), default=None)


def why_not() -> str | None:
    """Say why no server can be started here, None if one can."""
    if find_programs() is None:
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and (shutil.which("runuser") is None or not _has_user("postgres")):
        return "PostgreSQL does not run as root, and there is no user postgres to run it as"
    return None


def _has_user(name: str) -> bool:
    return subprocess.run(["id", name], capture_output=True).returncode == 0


@contextmanager
def running_server(durable: bool = False) -> Iterator[PostgresServer]:
    """Start a server, and stop it at the end; ``durable`` has every commit on disk before it is acknowledged."""
    folder = Path(tempfile.mkdtemp(prefix="lw-pg-"))  # short: the path of a socket has at most 107 characters
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    try:
        _run(folder, "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
        options += [] if durable else FAST
        log = folder / "log"
        _run(folder, "pg_ctl", "-D", data, "-w", "-t", "60", "-l", log, "-o", " ".join(options), "start")
        try:
            yield PostgresServer(folder)
        finally:
            _run(folder, "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, program: str, *arguments: object) -> None:
    programs = find_programs()
    assert programs is not None
    command = [str(programs / program), *map(str, arguments)]
    if os.getuid() == 0:
        command = ["runuser", "-u", "postgres", "--", *command]
    # The server inherits what it prints to: a pipe would keep this waiting for as long as it runs.
    with open(folder / f"{program}.out", "w") as out:
        done = subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd="/", timeout=120)
    if done.returncode:
        raise RuntimeError(f"{program} failed:\n{(folder / f'{program}.out').read_text()}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give a server that all tests of this process share."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    pytest.importorskip("psycopg", reason="PostgreSQL is reached through psycopg")
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """Give the SQLAlchemy URL of an empty database."""
    return postgres.url(postgres.new_database())
