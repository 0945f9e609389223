"""The artefact: which buckets each attribute is asked in, as a small immutable value."""

from leastwise.generalization.artefact import json_schema
from leastwise.generalization.generalization import Generalization
from leastwise.generalization.information_loss import gcp
from leastwise.generalization.leaks import Leak, leaks

__all__ = ["Generalization", "Leak", "gcp", "json_schema", "leaks"]
