"""What an engine is: it counts, it draws records by their places, and nothing else leaves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from leastwise.errors import DataError, LeastwiseError, ParameterError, shorten
from leastwise.records.sources.plan import MOST_GROUPS, Family, Plan
from leastwise.schema import Attribute, Schema
from leastwise.schema.values import ONE_VALUE
from leastwise.validation import did_you_mean


class Draw(NamedTuple):
    """Which records are drawn: those whose second place lies below a limit; ``seed`` salts both places."""

    seed: int
    below: int


class Where(NamedTuple):
    """Where records can be found again: the address without secrets, and the table of a database."""

    address: str
    table: str | None


class TooManyGroupsError(ParameterError):
    """There are more groups than are fetched: they can only be added up where they are."""


class Counts(NamedTuple):
    """What is told of groups.

    Attributes
    ----------
    alone
        Each combination once: k0, k1, ... (whole numbers), e0, e1, ... (exact columns), and n, its people.
    beside
        For each value of the plan, by the ``row`` of its combination above: ``value`` and n.
    """

    alone: pl.DataFrame
    beside: Sequence[pl.DataFrame] = ()

    @property
    def people(self) -> int:
        """How many are counted."""
        return int(self.alone["n"].sum() or 0)  # an empty answer may have no type


class Sums(NamedTuple):
    """What is told of groups that are not fetched.

    Attributes
    ----------
    sets
        A row for the combinations alone, then for each value: how many ``people`` are shown, and how many of them
        are ``told`` by naming to each combination the value that most have.
    sizes
        How many combinations (``records``) are held by ``n`` people.
    """

    sets: pl.DataFrame
    sizes: pl.DataFrame


class NoRoomError(DataError):
    """An engine had not the memory for a query; one that asks for less may be answered."""


class Engine(ABC):
    """Where records lie.

    Attributes
    ----------
    key
        The column by which a record is told from others; None where records have numbers of their own.
    derived
        Questions that a rule makes out of a column, by name: the engine derives, then looks up and counts.
    markers
        Texts of such a column that stand for "no answer".
    where
        Where it was opened; None of a frame, which has no address.
    """

    name: str = "engine"
    key: str | None = None
    derived: Mapping[str, Attribute] = MappingProxyType({})
    markers: Sequence[str] = ()
    where: Where | None = None

    @property
    @abstractmethod
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""

    @abstractmethod
    def count(self, plan: Plan, seed: int) -> Counts:
        """Answer a plan: for the combinations alone, and for each of its values beside them."""

    @abstractmethod
    def add_up(self, plan: Plan, seed: int) -> Sums:
        """Answer a plan whose groups are too many: they are added up here."""

    @abstractmethod
    def draw(self, columns: Sequence[str], draw: Draw) -> pl.DataFrame:
        """Return some records, with their first place as the last column."""

    def explain(self, plan: Plan, seed: int) -> list[str]:
        """Return the queries of a plan, for people."""
        return [f"{plan.words}: reads {', '.join(plan.columns) or 'no column'}"]

    def close(self) -> None:  # noqa: B027  most have nothing to do
        """Let go what was opened here, and remove what was made for it."""

    def cancel(self) -> None:  # noqa: B027
        """Stop the query that runs."""

    def derive(self, schema: Schema, markers: Sequence[str] = ()) -> None:
        """Let the derived questions of a schema be asked under their names."""
        everyone = (*schema.attributes, *([schema.label] if schema.label else []))
        self.derived, self.markers = {each.name: each for each in everyone if each.derive}, tuple(markers)

    def family(self, name: str) -> Family:
        """Return what a question, or a column, holds; what is derived is a text."""
        if name in self.derived:
            for column in self.derived[name].columns:
                self.raw_family(column)
            return "text"
        return self.raw_family(name)

    def raw_family(self, column: str) -> Family:
        """Return what a column holds, or say that there is none."""
        if column not in self.families:
            hint = did_you_mean(column, self.families)
            raise DataError(f"the records have no column {shorten(column)}; {hint}")
        if self.families[column] == "nested":
            raise DataError(
                f"{column}: {ONE_VALUE}, so that {self.name} can group by it; the column holds lists or structs"
            )
        return self.families[column]

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Turn what an engine says into one line, and stop its query when the caller is stopped."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            self.cancel()
            raise
        except (LeastwiseError, MemoryError):
            raise
        except Exception as error:
            said = shorten(" ".join(str(error).split())[:200] or type(error).__name__)
            kind = NoRoomError if "OutOfMemory" in type(error).__name__ else DataError
            raise kind(
                f"{self.name} did not answer ({type(error).__name__}: {said}); what is finished is kept: mend the "
                "connection or the query's rights, and give the same command again"
            ) from error


def no_table(where: str, wanted: str | None, known: Sequence[str]) -> LeastwiseError:
    """Return what is said where no table was named, or one that is not there: which ones there are."""
    if wanted is None:
        return ParameterError(f"name the table of {where}: --table; {did_you_mean('', known)}")
    return DataError(f"{where}: there is no table {shorten(wanted)}; {did_you_mean(wanted, known)}")


def not_numbered(table: str) -> ParameterError:
    """Return what is said of a view whose records nothing tells apart."""
    return ParameterError(
        f"{shorten(table)} has no row numbers: it is a view, or was made without; name the column that tells "
        "records apart: --key"
    )


def joined(alone: pl.DataFrame, sets: Sequence[pl.DataFrame]) -> Counts:
    """Put the sets of a plan together, of which each brings its combinations along."""
    keys = [name for name in alone.columns if name != "n"]
    numbered = alone.select(keys).with_row_index("row")
    beside = []
    for counts in sets:
        typed = counts.cast({name: numbered.schema[name] for name in keys})  # an empty answer may have none
        rows = typed.join(numbered, on=keys, how="inner", nulls_equal=True, maintain_order="left")
        if rows.height != counts.height:
            raise DataError("the records changed while they were counted; begin anew when nobody writes")
        beside.append(rows.select("row", "value", "n"))
    return Counts(alone, beside)


def check_size(answer: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Refuse an answer that was cut off."""
    if answer.height > MOST_GROUPS:
        raise TooManyGroupsError(
            f"{plan.words}: there are more than {MOST_GROUPS:,} groups, which is more than is fetched; judge a "
            "coarser generalization, or round the long columns before"
        )
    return answer
