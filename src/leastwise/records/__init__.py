"""Records as codes: each attribute is encoded once over its ordered domain."""

from leastwise.records.table import Split, Table

__all__ = ["Split", "Table"]
