"""The studio: a person draws the buckets and sees at once what they cost and what they tell."""

from leastwise.studio.opening import Ground
from leastwise.studio.room import Room
from leastwise.studio.script import as_commands, as_python
from leastwise.studio.serving import serve

__all__ = ["Ground", "Room", "as_commands", "as_python", "serve"]
