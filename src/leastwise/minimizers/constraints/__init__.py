"""What a generalization must keep: constraints of practitioners, floors of people, and what was told before."""

from leastwise.minimizers.constraints.constraints import Constraints, broken
from leastwise.minimizers.constraints.floor import at_least, brought_to
from leastwise.minimizers.constraints.nesting import nested

__all__ = ["Constraints", "at_least", "broken", "brought_to", "nested"]
