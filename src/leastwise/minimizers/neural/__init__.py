"""Neural minimizers (extra: neural): AdvTrain and MutualInf. Importing this does not import PyTorch."""

from leastwise.minimizers.neural.minimizers import AdvTrainMinimizer, MutualInfMinimizer, watched

__all__ = ["AdvTrainMinimizer", "MutualInfMinimizer", "watched"]
