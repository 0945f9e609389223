"""What makes an answer the least: what nobody tells apart is merged, edges are round, silent questions go."""

from leastwise.minimizers.merging.merging import (
    LOSS_OF_A_NUMBER,
    coarser_forms,
    everything_asked,
    increase_of,
    least,
    loss_near,
    spend,
)
from leastwise.minimizers.merging.pairs import mergeable
from leastwise.minimizers.merging.rounding import rounded
from leastwise.minimizers.merging.search import LOSS, Limit
from leastwise.minimizers.merging.silent import uninformative

__all__ = [
    "LOSS",
    "LOSS_OF_A_NUMBER",
    "Limit",
    "coarser_forms",
    "everything_asked",
    "increase_of",
    "least",
    "loss_near",
    "mergeable",
    "rounded",
    "spend",
    "uninformative",
]
