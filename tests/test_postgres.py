"""The server that other tests rely on is a real one, and is gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres import PostgresServer, running_server, why_not


def test_it_answers_and_each_database_is_its_own(postgres: PostgresServer) -> None:
    import psycopg

    for _ in range(2):
        with psycopg.connect(postgres.url(postgres.new_database(), "postgresql")) as connection:
            connection.execute("CREATE TABLE t (a text)")
            connection.execute("INSERT INTO t VALUES (%s)", ["ä"])
            assert connection.execute("SELECT a, version() LIKE 'PostgreSQL%' FROM t").fetchall() == [("ä", True)]


def test_the_url_is_one_for_sqlalchemy(postgres_url: str) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(postgres_url)
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1
    engine.dispose()


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
def test_nothing_is_left() -> None:
    with running_server(durable=True) as server:
        pid = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        assert runs(pid)
    assert not server.folder.exists()
    assert not runs(pid)


def runs(pid: int) -> bool:
    """Return whether a process works on; one that has ended but was not yet buried has no command."""
    path = Path(f"/proc/{pid}/cmdline")
    return path.exists() and path.read_bytes() != b""
