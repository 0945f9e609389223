"""Collect the least data that still predicts: vertical data minimization for machine learning."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

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
from leastwise.records.table import Split, Table
from leastwise.schema import Attribute, Schema

if TYPE_CHECKING:
    from leastwise.evaluation import certify, evaluate
    from leastwise.minimizers import (
        CoarseningMinimizer,
        FeatureSelectionMinimizer,
        OptimalMinimizer,
        PATMinimizer,
        UniformMinimizer,
    )
    from leastwise.report import FrontierDisplay, PartitionDisplay, RiskDisplay, minimize
    from leastwise.schema.file import load_schema, save_schema
    from leastwise.schema.inference import infer_schema

__version__ = "0.1.0"

__all__ = [
    "ArtefactError",
    "Attribute",
    "CoarseningMinimizer",
    "DataError",
    "FeatureSelectionMinimizer",
    "FrontierDisplay",
    "Generalization",
    "Groups",
    "Intervals",
    "LeastwiseError",
    "MissingExtraError",
    "OptimalMinimizer",
    "PATMinimizer",
    "ParameterError",
    "Partition",
    "PartitionDisplay",
    "PrivacyLeakWarning",
    "RiskDisplay",
    "Schema",
    "SchemaError",
    "Split",
    "Table",
    "UniformMinimizer",
    "UnknownValueError",
    "Untouched",
    "certify",
    "evaluate",
    "infer_schema",
    "load_schema",
    "minimize",
    "save_schema",
]

# What needs scikit-learn, numba or YAML is imported when it is first asked for, so that a program that only
# applies an artefact starts at once.
_ROOMS = {
    "CoarseningMinimizer": "minimizers",
    "FeatureSelectionMinimizer": "minimizers",
    "FrontierDisplay": "report",
    "OptimalMinimizer": "minimizers",
    "PATMinimizer": "minimizers",
    "PartitionDisplay": "report",
    "RiskDisplay": "report",
    "UniformMinimizer": "minimizers",
    "certify": "evaluation",
    "evaluate": "evaluation",
    "infer_schema": "schema.inference",
    "load_schema": "schema.file",
    "minimize": "report",
    "save_schema": "schema.file",
}


def __getattr__(name: str) -> _Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'leastwise' has no attribute {name!r}")
    return getattr(_import_module(f"leastwise.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
