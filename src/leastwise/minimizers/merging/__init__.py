"""What makes an answer the least: what nobody tells apart is merged, edges are round, silent questions go."""

from leastwise.minimizers.merging.merging import (
    LOSS,
    LOSS_OF_A_NUMBER,
    Limit,
    everything_asked,
    increase_of,
    least,
    loss_near,
    spend,
    spent_by_shares,
)
from leastwise.minimizers.merging.pairs import mergeable
from leastwise.minimizers.merging.rounding import rounded
from leastwise.minimizers.merging.silent import uninformative

__all__ = [
    "LOSS",
    "LOSS_OF_A_NUMBER",
    "Limit",
    "everything_asked",
    "increase_of",
    "least",
    "loss_near",
    "mergeable",
    "rounded",
    "spend",
    "spent_by_shares",
    "uninformative",
]
