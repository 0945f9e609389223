"""What an engine has counted of a generalization, in the codes of the records."""

from __future__ import annotations

from typing import NamedTuple

from leastwise.records.grouping import Cells
from leastwise.records.table import Table


class Counted(NamedTuple):
    """The counts of one generalization on one part.

    Attributes
    ----------
    truth
        Each distinct generalized record with its label once, and how many people have it. Where an attribute is
        generalized, a code of its bucket stands for all of them.
    cells
        By the position of a personal attribute, how many people have each value together with each record.
    people
        How many there are in the part.
    withheld
        Of how many the generalized record was too rare to be counted.
    learned
        Whether attackers learn from these counts, too: each person is guessed from all others.
    """

    truth: Table
    cells: dict[int, Cells]
    people: int
    withheld: int
    learned: bool = False


class AddedUp(NamedTuple):
    """What is told by a generalization whose distinct records are too many to be fetched.

    Attributes
    ----------
    people
        How many there are in the part.
    told, guessed
        By personal attribute, of how many people it is told in hindsight, by naming to each record the value that
        most have; and by naming one to everybody. Of a number, which is told within a tolerance, everybody counts.
    sizes
        How many distinct records are held by so many people.
    """

    people: int
    told: dict[str, int]
    guessed: dict[str, int]
    sizes: dict[int, int]

    @property
    def withheld(self) -> int:
        """Of how many people the record was too rare to be counted."""
        return self.people - sum(size * records for size, records in self.sizes.items())
