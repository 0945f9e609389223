"""What every candidate must hold to: told, checked, and brought about by merging."""

from leastwise.minimizers.constraints.constraints import Constraints

__all__ = ["Constraints"]
