"""Collect the least data that still predicts: vertical data minimization for machine learning."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
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
    from leastwise.evaluation import certify, evaluate
    from leastwise.generalization import Generalization
    from leastwise.minimizers import (
        CoarseningMinimizer,
        FeatureSelectionMinimizer,
        OptimalMinimizer,
        PATMinimizer,
        UniformMinimizer,
    )
    from leastwise.partition import Groups, Intervals, Partition, Untouched
    from leastwise.records.table import Split, Table
    from leastwise.report import FrontierDisplay, PartitionDisplay, RiskDisplay, minimize
    from leastwise.schema import Attribute, Schema
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

# Each is imported when it is first asked for: a program pays for what it uses, and the help for nothing.
_ROOMS = {
    "errors": (
        "ArtefactError",
        "DataError",
        "LeastwiseError",
        "MissingExtraError",
        "ParameterError",
        "PrivacyLeakWarning",
        "SchemaError",
        "UnknownValueError",
    ),
    "evaluation": ("certify", "evaluate"),
    "generalization": ("Generalization",),
    "minimizers": (
        "CoarseningMinimizer",
        "FeatureSelectionMinimizer",
        "OptimalMinimizer",
        "PATMinimizer",
        "UniformMinimizer",
    ),
    "partition": ("Groups", "Intervals", "Partition", "Untouched"),
    "records.table": ("Split", "Table"),
    "report": ("FrontierDisplay", "PartitionDisplay", "RiskDisplay", "minimize"),
    "schema": ("Attribute", "Schema"),
    "schema.file": ("load_schema", "save_schema"),
    "schema.inference": ("infer_schema",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> _Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'leastwise' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(f"leastwise.{_ROOM_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return __all__
