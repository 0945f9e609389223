"""How one candidate was judged on one part of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leastwise.confidence import Interval
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import Point


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a candidate costs and protects, on the validation part (to choose by) or the test part (to show).

    Attributes
    ----------
    utility_risk, utility_interval
        The error of the best classifier, with its 95 % interval. Lower is better.
    adversary_error, adversary_interval
        The error of A1, mean over the personal attributes. Higher is safer.
    by_attribute
        The error of A1 by personal attribute.
    certified
        No adversary who sees only the generalized records errs less than this on average over the personal
        attributes, at 95 % confidence that pays for all candidates compared; None where nothing was certified.
    unique_people
        How many people are alone with their generalized record (A8) in this part.
    """

    utility_risk: float
    utility_interval: Interval
    adversary_error: float
    adversary_interval: Interval
    by_attribute: Mapping[str, float]
    certified: float | None
    unique_people: int

    @property
    def point(self) -> Point:
        """The two figures that a frontier is made of."""
        return Point(self.utility_risk, self.adversary_error)

    @classmethod
    def of(cls, judged: Evaluation) -> Figures:
        """Read the figures off a full evaluation."""
        assert judged.utility is not None
        attack = judged["A1"]
        return cls(
            utility_risk=judged.utility.error,
            utility_interval=judged.utility.interval,
            adversary_error=attack.adversary_error,
            adversary_interval=attack.interval,
            by_attribute={result.attribute: result.adversary_error for result in attack.attributes},
            certified=None if judged.certificate is None else judged.certificate.mean.adversary_error_at_least,
            unique_people=judged["A8"].unique_people,
        )
