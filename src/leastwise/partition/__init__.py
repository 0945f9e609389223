"""One attribute's buckets: intervals of numbers, groups of values, or every value by itself.

A partition is *strict*: every value of the domain lies in exactly one bucket. This holds by construction,
because a partition is stored as a map, never as a list of overlapping sets. Beside its declared values a domain
may have "missing" and "other"; they are placed like any value, alone or with others. Buckets are numbered in
the order of the domain, "missing" and "other" last.

A value equal to an edge belongs to the LEFT bucket: ``x <= edge``.
"""

from leastwise.partition.base import Codes, Partition
from leastwise.partition.groups import Groups
from leastwise.partition.intervals import Intervals, Untouched
from leastwise.partition.making import edge_between, from_map, keep, suppress

__all__ = [
    "Codes",
    "Groups",
    "Intervals",
    "Partition",
    "Untouched",
    "edge_between",
    "from_map",
    "keep",
    "suppress",
]
