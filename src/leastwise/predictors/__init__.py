"""Predictors learn P(target | z) from codes and weights: the strength behind every risk that is reported."""

from leastwise.predictors.base import Mask, Predictor, Samples, allowed_values, mask_of, masked, samples
from leastwise.predictors.boosting import Boosting
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.mlp import MLP, mlp2, mlp3, mlp5
from leastwise.predictors.network import Network
from leastwise.predictors.regression import Regression
from leastwise.predictors.sklearn import Logistic, SklearnPredictor
from leastwise.predictors.strongest import (
    Guesses,
    Strongest,
    default_predictors,
    errors,
    guesses,
    masked_predictions,
    strongest,
)

__all__ = [
    "MLP",
    "Boosting",
    "Guesses",
    "JointBuckets",
    "Logistic",
    "Mask",
    "Network",
    "Predictor",
    "Regression",
    "Samples",
    "SklearnPredictor",
    "Strongest",
    "allowed_values",
    "default_predictors",
    "errors",
    "guesses",
    "mask_of",
    "masked",
    "masked_predictions",
    "mlp2",
    "mlp3",
    "mlp5",
    "samples",
    "strongest",
]
