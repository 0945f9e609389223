"""Drift: the chosen generalization judged again on new data, so that noise does not alarm."""

from leastwise.evaluation.drift.checking import Check, check
from leastwise.evaluation.drift.comparisons import Comparison
from leastwise.evaluation.drift.facts import check_facts, facts_as_markdown
from leastwise.evaluation.drift.limits import DriftLimits
from leastwise.evaluation.drift.monitoring import monitor
from leastwise.evaluation.drift.promise import Promise
from leastwise.evaluation.drift.unseen import NewRecords, read_new
from leastwise.evaluation.drift.use import BucketUse, bucket_use

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
