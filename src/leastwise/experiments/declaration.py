"""What an experiment is: a question of the paper, how its rows are measured, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from leastwise.experiments.judging import Laboratory

Row = Mapping[str, str | int | float]
Measure = Callable[[Laboratory], Sequence[Row]]
JUDGES = ("estimator", "predictor")
FRONTIER = ("minimizers", *JUDGES)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What the paper shows, to be put beside ours.

    Attributes
    ----------
    place
        The figure or table, and its section.
    finding
        What it says, in our words.
    rows
        The numbers that it prints, under the names of our columns where they mean the same. Empty for a figure
        without printed numbers.
    """

    place: str
    finding: str
    rows: Sequence[Row] = ()


class Claim(NamedTuple):
    """Something that the paper found; whether rows show it, or None where they cannot tell."""

    words: str
    holds: Callable[[Sequence[Row]], bool | None]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """How rows become a picture: which columns are the axes, and which one tells the series apart."""

    kind: Literal["lines", "bars"]
    x: str
    y: str
    series: str = ""
    xlabel: str = ""
    ylabel: str = ""
    # Horizontal lines, each a column of the rows: what guessing gives, say.
    beside: Sequence[str] = ()


LINES = Picture(
    kind="lines",
    x="utility_risk",
    y="adversary_error",
    xlabel="classifier error",
    ylabel="adversary error (higher is safer)",
)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or table of the paper as a declaration.

    Attributes
    ----------
    name, title
        For commands and for people.
    measure
        Measures the rows; each is one line of the CSV file.
    picture
        How they are drawn.
    paper
        What to hold them against.
    claims
        What of it can be decided by the rows: each is said to agree, or not to.
    takes
        What of one's own ``run_experiment`` may be given: minimizers, adversaries, estimator, predictor.
    needs
        An extra without which the rows cannot be measured.
    note
        What differs from the paper's setting, and why.
    """

    name: str
    title: str
    measure: Measure
    picture: Picture
    paper: Paper
    claims: Sequence[Claim] = ()
    takes: Collection[str] = JUDGES
    needs: str = ""
    note: str = ""
