"""What judges when nobody says otherwise: fast, strong, and nothing to install."""

from __future__ import annotations

from leastwise.predictors.base import Predictor
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.network import Network


def default_predictors(quick: bool = False, seed: int = 0) -> tuple[Predictor, ...]:
    """Return the predictors that the strongest one is chosen from.

    Counting is exact where joint buckets are well filled; two networks with different beginnings, averaged,
    carry over from one joint bucket to another where they are not. ``quick`` trains one network, shorter.
    """
    network = Network(epochs=5, members=1, seed=seed) if quick else Network(seed=seed)
    return JointBuckets(seed=seed), network
