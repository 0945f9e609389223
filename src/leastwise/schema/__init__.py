"""The language of questions: attributes, their declared domains, and what a raw value is."""

from leastwise.schema.attribute import KINDS, Attribute, Extra, Kind, Unknown
from leastwise.schema.schema import Schema
from leastwise.schema.values import values_as_text

__all__ = ["KINDS", "Attribute", "Extra", "Kind", "Schema", "Unknown", "values_as_text"]
