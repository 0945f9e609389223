"""The peer of the collector's benchmark: what FastAPI, pydantic and SQLAlchemy give in a few lines, and no more.

It validates the same fields and commits each request durably. It has no idempotency keys, receipts, limits,
headers or artefact versions. ``MODE`` is how the endpoint is written: ``def`` (in a pool of threads) or
``async def``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from fastapi import FastAPI
from pydantic import ConfigDict, create_model

ANSWERS: dict[str, list[str]] = json.loads(Path(os.environ["ANSWERS"]).read_text(encoding="utf-8"))
Record: Any = create_model(
    "Record",
    __config__=ConfigDict(extra="forbid"),
    **{f"a{j}": (Literal[tuple(labels)], ...) for j, labels in enumerate(ANSWERS.values())},
)
metadata = sa.MetaData()
records = sa.Table(
    "records",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *(sa.Column(f"a{j}", sa.String, nullable=False) for j in range(len(ANSWERS))),
)
engine = sa.create_engine(os.environ["DATABASE"], pool_size=20, max_overflow=40)


if engine.dialect.name == "sqlite":

    @sa.event.listens_for(engine, "connect")
    def _durable(connection: Any, _: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=60000"):
            connection.execute(f"PRAGMA {pragma}")


metadata.create_all(engine)
app = FastAPI()


def store(rows: list[Any]) -> list[int]:
    with engine.begin() as connection:
        if len(rows) == 1:
            made = connection.execute(sa.insert(records), rows[0].model_dump())
            return [made.inserted_primary_key[0]]
        connection.execute(sa.insert(records), [row.model_dump() for row in rows])
        return []


if os.environ.get("MODE", "def") == "def":

    @app.post("/records", status_code=201)
    def one(record: Record) -> dict[str, Any]:
        return {"ids": store([record])}

    @app.post("/batches", status_code=201)
    def many(batch: list[Record]) -> dict[str, Any]:
        return {"ids": store(batch), "stored": len(batch)}

else:

    @app.post("/records", status_code=201)
    async def one(record: Record) -> dict[str, Any]:
        return {"ids": store([record])}

    @app.post("/batches", status_code=201)
    async def many(batch: list[Record]) -> dict[str, Any]:
        return {"ids": store(batch), "stored": len(batch)}


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), access_log=False, log_level="warning")
