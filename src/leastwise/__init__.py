"""Collect the least data that still predicts: vertical data minimization for machine learning."""

from leastwise.errors import (
    ArtefactError,
    DataError,
    LeastwiseError,
    MissingExtraError,
    ParameterError,
    PrivacyLeakWarning,
    SchemaError,
    UnknownValueError,
)
from leastwise.generalization import Generalization
from leastwise.partition import Groups, Intervals, Partition, Untouched
from leastwise.schema import Attribute, Schema
from leastwise.table import Split, Table

__version__ = "0.1.0"

__all__ = [
    "ArtefactError",
    "Attribute",
    "DataError",
    "Generalization",
    "Groups",
    "Intervals",
    "LeastwiseError",
    "MissingExtraError",
    "ParameterError",
    "Partition",
    "PrivacyLeakWarning",
    "Schema",
    "SchemaError",
    "Split",
    "Table",
    "UnknownValueError",
    "Untouched",
]
