"""Classifiers that have seen generalized records only: trained, measured, saved without pickle, loaded again.

>>> from leastwise.models import load_model, train  # doctest: +SKIP
>>> train(g, coarse).save("model.skops")  # doctest: +SKIP
>>> load_model("model.skops").predict(coarse)  # doctest: +SKIP
"""

from leastwise.models.model import Model, ModelFacts
from leastwise.models.saving import load_model
from leastwise.models.training import train

__all__ = ["Model", "ModelFacts", "load_model", "train"]
