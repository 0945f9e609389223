"""MutualInf: a generalization that tells little about the record at all, whoever asks."""

from __future__ import annotations

from leastwise.minimizers.neural.networks import Tensor
from leastwise.minimizers.neural.objective import Batch, Objective


class MutualInformation(Objective):
    """The paper's bound on the mutual information of generalized record and record."""

    def penalty(self, log_p: Tensor, z: Tensor, batch: Batch, rate: float) -> Tensor:
        """Return the bound of these records."""
        return information_bound(log_p, batch.shares)


def information_bound(log_p: Tensor, shares: Tensor) -> Tensor:
    """Return the upper bound on I(z, x) = H(z) - H(z | x) of the paper's appendix.

    By Jensen's inequality ``H(z) <= -E_z E_x sum_i log P(z_i | x_i)`` with z and x drawn independently, and
    ``H(z | x) = -E_x E_{z | x} sum_i log P(z_i | x_i)``. Where the paper draws z, the expectations over the
    buckets and over all pairs of records of the batch are taken exactly: that costs no more, and has no noise.
    The difference is the mean Kullback-Leibler divergence between the buckets of two people, summed over the
    attributes.

    Parameters
    ----------
    log_p
        ``log P(z_i = j | x_i)``, records x attributes i x buckets j.
    shares
        How much each record counts; 1 in all.
    """
    p = log_p.exp()
    log_z = -((shares @ p.flatten(1)) * (shares @ log_p.flatten(1))).sum()
    given_x = -shares @ (p * log_p).flatten(1).sum(dim=1)
    bound: Tensor = log_z - given_x
    return bound
