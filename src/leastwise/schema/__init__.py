"""The language of questions: attributes, their declared domains, and what a raw value is."""

from leastwise.schema.attribute import KINDS, Attribute, Kind
from leastwise.schema.schema import Schema
from leastwise.schema.values import values_as_text

__all__ = ["KINDS", "Attribute", "Kind", "Schema", "values_as_text"]
