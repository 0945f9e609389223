"""Drift: the chosen generalization judged again on new data, so that noise does not alarm."""

from leastwise.checks.checking import Check, check
from leastwise.checks.comparisons import Comparison
from leastwise.checks.drifting import DriftLimits
from leastwise.checks.facts import check_facts, facts_as_markdown
from leastwise.checks.monitoring import monitor
from leastwise.checks.promise import Promise
from leastwise.checks.use import BucketUse, NewRecords, bucket_use, read_new

__all__ = [
    "BucketUse",
    "Check",
    "Comparison",
    "DriftLimits",
    "NewRecords",
    "Promise",
    "bucket_use",
    "check",
    "check_facts",
    "facts_as_markdown",
    "monitor",
    "read_new",
]
