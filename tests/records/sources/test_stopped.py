"""Ctrl-C in the middle of a query: it ends in the engine, nothing is left there, and what was finished is kept."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.postgres import PostgresServer
from tests.records.sources.stopped import MANY

ROOT = Path(__file__).parents[3]


def stopped(kind: str, place: object, folder: Path) -> dict[str, int]:
    """Stop a process that asks for too much, and return what it says is left."""
    (folder / "tmp").mkdir()
    words = [sys.executable, "-m", "tests.records.sources.stopped", kind, str(place)]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "POLARS_MAX_THREADS": "1"}
    with subprocess.Popen(
        words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "asking\n", process.communicate(timeout=60)[1]
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert not [*(folder / "tmp").glob("leastwise*")], "what was spilled is removed"
    found: dict[str, int] = json.loads(out)
    return found


@pytest.mark.parametrize("kind", ["duckdb", "relation", "files", "sqlite", "polars"])
def test_a_query_in_this_process_is_stopped(kind: str, tmp_path: Path) -> None:
    assert stopped(kind, tmp_path, tmp_path) == {"left": 0}


@pytest.mark.slow
def test_a_query_of_spark_is_stopped(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    assert stopped("spark", "", tmp_path) == {"left": 0}


def test_a_query_of_postgresql_is_stopped_in_the_server(postgres: PostgresServer, tmp_path: Path) -> None:
    import psycopg

    url = postgres.url(postgres.new_database(), driver="postgresql")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE few AS SELECT i AS key, i % 7 AS a FROM generate_series(0, 1999) AS i")
        connection.execute(f"CREATE VIEW many AS {MANY}".replace("p.key *", "p.key::bigint *").encode())
        assert stopped("postgresql", url, tmp_path) == {"left": 0}
        still = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
        assert connection.execute(f"{still} AND datname = current_database()".encode()).fetchone() == (0,)
