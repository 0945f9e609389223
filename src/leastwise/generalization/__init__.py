"""The artefact: which buckets each attribute is asked in, as a small immutable value."""

from leastwise.generalization.generalization import Generalization

__all__ = ["Generalization"]
