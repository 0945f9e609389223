"""Judging: what a generalization costs, what adversaries find, what no adversary can find."""

from leastwise.confidence import Interval, binomial_interval, mean_interval
from leastwise.evaluation.certificate import Bound, Certificate, certify
from leastwise.evaluation.declared_groups import Grouping
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import Groups, groups_of
from leastwise.evaluation.leaving_out import necessity_of
from leastwise.evaluation.live import Estimate, Live, Worth
from leastwise.evaluation.minimum_sample import MinimumSample, minimum_sample
from leastwise.evaluation.necessity import Necessity
from leastwise.evaluation.protocol import evaluate
from leastwise.evaluation.risk import NumberErrors, UtilityRisk
from leastwise.evaluation.utility import judged_by, utility_limits, utility_risk

__all__ = [
    "Bound",
    "Certificate",
    "Estimate",
    "Evaluation",
    "Grouping",
    "Groups",
    "Interval",
    "Live",
    "MinimumSample",
    "Necessity",
    "NumberErrors",
    "UtilityRisk",
    "Worth",
    "binomial_interval",
    "certify",
    "evaluate",
    "groups_of",
    "judged_by",
    "mean_interval",
    "minimum_sample",
    "necessity_of",
    "utility_limits",
    "utility_risk",
]
