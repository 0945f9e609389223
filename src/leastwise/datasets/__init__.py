"""Data sets as declarations: attributes, label, official file format, and a datasheet."""

from leastwise.datasets.adult import load_adult
from leastwise.datasets.base import Dataset, Declaration
from leastwise.datasets.registry import declaration, describe, download, load, names

__all__ = ["Dataset", "Declaration", "declaration", "describe", "download", "load", "load_adult", "names"]
