"""A7: do the stolen records tell which two pieces of knowledge are about the same person?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.result import AttackResult, Told
from leastwise.confidence import Interval, binomial_interval, mean_interval
from leastwise.documents.pictures import bar, bars, bars_table
from leastwise.documents.wording import counted, in_interval, percent, some
from leastwise.errors import ParameterError, shorten
from leastwise.random import generator
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Table
from leastwise.validation import check_between

Matrix = npt.NDArray[np.float64]
METHODS = ("guess", "balance", "assignment")
_ROUNDS = 100


@dataclass(frozen=True, kw_only=True)
class LinkabilityResult(AttackResult):
    """Share linked (A7): by each record's own guess, by balance, and by the likeliest assignment."""

    known_a: tuple[str, ...]
    known_b: tuple[str, ...]
    records: int
    draws: int
    linked_by_guess: float
    linked_by_balance: float
    linked_by_assignment: float
    method: str

    @property
    def share_linked(self) -> float:
        """The share linked by the best of the three methods."""
        return 1 - self.adversary_error

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the share linked by each method, beside random linking."""
        random = 1 - self.baseline
        interval = None if self.interval is None else (1 - self.interval[1], 1 - self.interval[0])
        methods = {
            "each record's own guess": self.linked_by_guess,
            "balanced guesses": self.linked_by_balance,
            "one-to-one assignment": self.linked_by_assignment,
        }
        best = max(methods, key=lambda name: methods[name])
        rows = [bar(name, share, interval if name == best else None, random) for name, share in methods.items()]
        return Told(
            (
                f"Of {counted(self.records, 'person', 'people')} whose two halves ({some(self.known_a)} on one "
                f"side, {some(self.known_b)} on the other) are shuffled, the best method links "
                f"{percent(self.share_linked, 1)} rightly{in_interval(interval)}; linking at "
                f"random gets {percent(random, 1)}. Drawn {counted(self.draws, 'time')}."
            ),
            bars("share of people linked rightly (further left is safer)", rows, "at random"),
            bars_table(["method", "linked", "95 % interval"], rows),
        )


@dataclass(frozen=True)
class Linkability(Adversary):
    """A7: two organizations know different things about the same people, and somebody wants to join them.

    The adversary has k partial records with the attributes A and k with the attributes B, in full, of the same k
    people but shuffled; and the stolen generalized records, these people's among others. How often two
    generalized answers go together in the stolen records tells how well an x_A and an x_B fit. It links in three
    ways: to each x_A the x_B with the greatest conditional frequency (the paper's guess, and here only a
    baseline), to each x_A the likeliest x_B given that every x_B has one bearer too (balance: a frequent answer
    has many), and all at once by the likeliest one-to-one assignment.

    0: everybody is linked; 1: nobody. Random linking fails for 1 - 1/k. Equal candidates are a draw.

    Parameters
    ----------
    known_a, known_b
        Names of attributes, disjoint. By default the non-personal and the personal ones (halves of the personal
        ones if there are no others).
    records
        How many people are to be linked at a time, k; fewer if fewer were stolen.
    draws
        How many times k people are drawn; the interval comes from the spread between draws.
    """

    known_a: Sequence[str] = ()
    known_b: Sequence[str] = ()
    records: int = 100
    draws: int = 50
    name: ClassVar[str] = "A7"
    words: ClassVar[str] = "linking"
    title: ClassVar[str] = "Joining two half-records"
    scenario: ClassVar[str] = (
        "Two organizations know different things about the same people, exactly, but not who is who. The "
        "attacker uses the stolen generalized records to join the halves."
    )
    result: ClassVar[type[AttackResult]] = LinkabilityResult
    wants_personal: ClassVar[bool] = False

    @classmethod
    def configured(cls, setting: Setting) -> Linkability:
        """Return it set up for a judgement."""
        return cls(draws=10 if setting.quick else 50)

    def attack(self, breach: Breach) -> LinkabilityResult:
        """Draw people, shuffle their halves and link them."""
        start = time.perf_counter()
        check_between("records", self.records, 2)
        check_between("draws", self.draws, 1)
        a, b = self._sets(breach)
        answers = Answers(breach, a, b)
        k = min(self.records, answers.people)
        random = generator(breach.seed, "A7")
        # Draws x methods: the share linked.
        shares = np.array([linked(answers.fit(answers.draw(k, random)), random) for _ in range(self.draws)])
        best = int(shares.mean(axis=0).argmax())
        names = breach.truth.schema.names
        return LinkabilityResult(
            adversary=self.name,
            people=breach.people,
            adversary_error=float(1 - shares[:, best].mean()),
            interval=_interval(1 - shares[:, best], k, answers.people),
            baseline=1 - 1 / k,
            known_a=tuple(names[j] for j in a),
            known_b=tuple(names[j] for j in b),
            records=k,
            draws=self.draws,
            linked_by_guess=float(shares[:, 0].mean()),
            linked_by_balance=float(shares[:, 1].mean()),
            linked_by_assignment=float(shares[:, 2].mean()),
            method=METHODS[best],
            seconds=time.perf_counter() - start,
        )

    def _sets(self, breach: Breach) -> tuple[list[int], list[int]]:
        schema = breach.truth.schema
        if not self.known_a and not self.known_b:
            return default_sets(breach.truth)
        a, b = ([schema.position(name) for name in names] for names in (self.known_a, self.known_b))
        both = sorted({schema.names[j] for j in {*a} & {*b}})
        if not a or not b or both:
            found = f"both have {', '.join(map(shorten, both))}" if both else "one is empty"
            raise ParameterError(
                f"known_a and known_b must be disjoint sets of attributes, each at least one; {found}"
            )
        return a, b


def default_sets(table: Table) -> tuple[list[int], list[int]]:
    """Return the non-personal and the personal attributes, or two halves of all if either is empty."""
    personal = list(table.personal)
    others = [j for j in range(len(table.schema)) if j not in personal]
    if personal and others:
        return others, personal
    every = others or personal
    if len(every) < 2:
        raise ParameterError("linking needs two attributes or more; got one")
    return every[: len(every) // 2], every[len(every) // 2 :]


class Answers:
    """How often the generalized answers to A and to B go together in the stolen records."""

    def __init__(self, breach: Breach, a: Sequence[int], b: Sequence[int]) -> None:
        counts = breach.truth.counts
        self._a, self._b = (_numbered(breach.records[:, list(columns)]) for columns in (a, b))
        self._width = int(self._b.max(initial=0)) + 1
        self._pairs, index = np.unique(self._a * self._width + self._b, return_inverse=True)
        self._together = np.bincount(index, weights=counts)
        self._ends = np.cumsum(counts)
        self.people = round(float(counts.sum()))

    def draw(self, k: int, random: np.random.Generator) -> npt.NDArray[np.intp]:
        """Return the rows of k different people."""
        people = random.choice(self.people, size=k, replace=False)
        return np.searchsorted(self._ends, people, side="right").astype(np.intp)

    def fit(self, rows: npt.NDArray[np.intp]) -> Matrix:
        """Return how often the x_A of one row and the x_B of another go together."""
        wanted = self._a[rows][:, None] * self._width + self._b[rows][None, :]
        place = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
        return np.where(self._pairs[place] == wanted, self._together[place], 0.0).astype(float)


def _numbered(columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    sizes = [int(column.max(initial=0)) + 1 for column in columns.T]
    return joint_buckets(columns, sizes)[1].astype(np.int64)


def linked(together: Matrix, random: np.random.Generator) -> tuple[float, float, float]:
    """Return the share linked by guess, by balance and by assignment; person i is row i and column i."""
    return expected_hits(together), expected_hits(balanced(together)), assigned_hits(together, random)


def balanced(together: Matrix) -> Matrix:
    """Return the chances of each pair, given that every x_A has one x_B and every x_B one x_A.

    Rows and columns are scaled in turn until both sum to 1 (Sinkhorn). The truth is a possible pairing, so no row
    or column is all 0.

    >>> balanced(np.array([[2.0, 1.0], [2.0, 0.0]])).round(1)
    array([[0., 1.],
           [1., 0.]])
    """
    chances = together
    for _ in range(_ROUNDS):
        chances = chances / chances.sum(axis=1, keepdims=True)
        chances = chances / chances.sum(axis=0, keepdims=True)
    return np.asarray(chances)


def expected_hits(scores: Matrix) -> float:
    """Return the share of rows whose own column has the highest score, a tie counted by its chance.

    >>> expected_hits(np.array([[2.0, 1.0], [1.0, 1.0]]))
    0.75
    """
    best = scores >= scores.max(axis=1, keepdims=True)
    return float((best.diagonal() / best.sum(axis=1)).mean())


def assigned_hits(together: Matrix, random: np.random.Generator) -> float:
    """Return the share of rows to which the likeliest one-to-one assignment gives their own column.

    Given the joint frequencies, the likeliest assignment is the one with the greatest product of them. What never
    goes together in the stolen records is excluded: the people to be linked are among them.
    """
    # Ties are decided by the order of the columns; shuffled, the truth has no advantage.
    order = random.permutation(len(together))
    shuffled = together[:, order]
    cost = np.where(shuffled > 0, -np.log(np.maximum(shuffled, 1e-300)), 1e6)
    rows, columns = linear_sum_assignment(cost)
    return float((order[columns] == rows).mean())


def _interval(failures: Matrix, k: int, people: int) -> Interval:
    """Return the wider of the spread between draws and the exact interval of as many links as there are people."""
    links = min(k * len(failures), people)
    exact = binomial_interval(float(failures.mean()) * links, links)
    if len(failures) < 2 or not failures.std() > 0:
        return exact
    spread = mean_interval(failures)
    return Interval(min(exact.low, spread.low), max(exact.high, spread.high))
