"""The language of questions: attributes, their declared domains, and what a raw value is."""

from leastwise.schema.attribute import KINDS, Attribute, Extra, Kind, Unknown
from leastwise.schema.hierarchies import load_hierarchy
from leastwise.schema.hierarchy import Hierarchy
from leastwise.schema.names import Content, Named
from leastwise.schema.schema import Schema
from leastwise.schema.values import values_as_text

__all__ = [
    "KINDS",
    "Attribute",
    "Content",
    "Extra",
    "Hierarchy",
    "Kind",
    "Named",
    "Schema",
    "Unknown",
    "load_hierarchy",
    "values_as_text",
]
