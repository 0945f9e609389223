"""A service that accepts generalized records only (extra: collector)."""

from importlib.util import find_spec

from leastwise.errors import MissingExtraError

for _module, _package in (("sqlalchemy", "SQLAlchemy"), ("starlette", "Starlette"), ("uvicorn", "uvicorn")):
    if find_spec(_module) is None:
        raise MissingExtraError(_package, "collector")

from leastwise.collector.store import count_records, read_records  # noqa: E402

__all__ = ["count_records", "read_records"]
