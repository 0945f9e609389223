"""A7: do the stolen records tell which two pieces of knowledge are about the same person?"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import linear_sum_assignment

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.result import AttackResult, Told
from leastwise.confidence import Interval, binomial_interval
from leastwise.documents.pictures import bar, bars, bars_table
from leastwise.documents.wording import counted, in_interval, percent, some
from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.predictors.base import Samples, samples
from leastwise.predictors.network import Network
from leastwise.random import generator
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Split, Table
from leastwise.validation import check_between

Matrix = npt.NDArray[np.float64]
METHODS = ("guess", "balance", "assignment")
SOURCES = ("", "knowledge and ", "knowledge without breach and ")
_ROUNDS = 100
# Factors that change less than this from one round to the next are balanced.
_BALANCED = 1e-10
# A chance that a model calls smaller than this is not believed.
_LEAST = 1e-7


@dataclass(frozen=True, kw_only=True)
class LinkabilityResult(AttackResult):
    """Share linked (A7).

    Attributes
    ----------
    known_a, known_b, records, draws
        What was shuffled: which halves, of how many people, how many times.
    linked_by_guess, linked_by_balance, linked_by_assignment
        The share linked by the stolen records alone: by each record's own guess, by balance, and by the likeliest
        assignment.
    linked_with_knowledge
        The share linked by the full records of other people and the stolen ones together.
    linked_without_breach
        The share linked by the full records of other people alone: what lies above it is the breach's.
    method
        What links best.
    value_told, value_by_chance
        The paper's quantity, another question: how often the *value* of x_A is told from x_B by the frequencies in
        the stolen records, and by chance.
    """

    known_a: tuple[str, ...]
    known_b: tuple[str, ...]
    records: int
    draws: int
    linked_by_guess: float
    linked_by_balance: float
    linked_by_assignment: float
    linked_with_knowledge: float
    linked_without_breach: float
    method: str
    value_told: float
    value_by_chance: float

    @property
    def share_linked(self) -> float:
        """The share linked by the best method."""
        return 1 - self.adversary_error

    @property
    def without_breach(self) -> float:
        """The error of somebody with the same knowledge and no stolen record."""
        return 1 - max(self.linked_without_breach, 1 - self.baseline)

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the share linked in each way, beside random linking."""
        random = 1 - self.baseline
        interval = None if self.interval is None else (1 - self.interval[1], 1 - self.interval[0])
        ways = {
            "stolen records: each record's own guess": self.linked_by_guess,
            "stolen records: balanced guesses": self.linked_by_balance,
            "stolen records: one-to-one assignment": self.linked_by_assignment,
            "stolen records and full records of others": self.linked_with_knowledge,
            "full records of others, nothing stolen": self.linked_without_breach,
        }
        best = max(ways, key=lambda name: ways[name])
        rows = [bar(name, share, interval if name == best else None, random) for name, share in ways.items()]
        return Told(
            (
                f"Of {counted(self.records, 'person', 'people')} whose two halves ({some(self.known_a)} on one "
                f"side, {some(self.known_b)} on the other) are shuffled, the best method links "
                f"{percent(self.share_linked, 2)} rightly{in_interval(interval)}; linking at random gets "
                f"{percent(random, 2)}, and who knows other people's full records and stole nothing "
                f"{percent(1 - self.without_breach, 2)}. Drawn {counted(self.draws, 'time')}. (Another question, "
                f"the paper's: the value of {some(self.known_a)} is told from the other half for "
                f"{percent(self.value_told, 2)} of the people, by chance for {percent(self.value_by_chance, 2)}.)"
            ),
            bars("share of people linked rightly (further left is safer)", rows, "at random"),
            bars_table(["method", "linked", "95 % interval"], rows),
        )


@dataclass(frozen=True)
class Linkability(Adversary):
    """A7: two organizations know different things about the same people, and somebody wants to join them.

    The adversary has k partial records with the attributes A and k with the attributes B, in full, of the same k
    people but shuffled; the stolen generalized records, these people's among others; and full records of other
    people. How often two generalized answers go together in the stolen records tells how well an x_A and an x_B
    fit; what goes with what in full is learned from the other people, and a pair that the stolen records do not
    have is excluded. It links in three ways: to each x_A the x_B that fits best (with the frequencies of the
    stolen records alone the paper's guess), to each x_A the likeliest x_B given that every x_B has one bearer too
    (balance: a frequent answer has many), and all at once by the likeliest one-to-one assignment.

    0: everybody is linked; 1: nobody. Random linking fails for 1 - 1/k. Equal candidates are a draw. Who knows
    other people links without any breach: see ``without_breach``.

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
        "attacker uses the stolen generalized records, and what it learned from full records of other people, to "
        "join the halves."
    )
    result: ClassVar[type[AttackResult]] = LinkabilityResult
    wants_personal: ClassVar[bool] = False
    fewest_attributes: ClassVar[int] = 2

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
        # Draws x (stolen records, both, full records of others) x methods: the share linked.
        random = generator(breach.seed, "A7", "links")
        shares = np.array([_linked(answers, drawn, random) for drawn in self._drawn(breach, answers, k)])
        means = shares.mean(axis=0)
        source, best = np.unravel_index(int(means.argmax()), means.shape)
        failures = 1 - shares[:, source, best]
        interval = _interval(failures, k, answers.people)
        error = min(float(failures.mean()), 1 - 1 / k)  # whoever does worse links at random
        names = breach.truth.schema.names
        value_told, value_by_chance = answers.values(breach.truth.codes[:, a])
        return LinkabilityResult(
            adversary=self.name,
            people=breach.headcount,
            adversary_error=error,
            interval=Interval(min(interval.low, error), interval.high),
            baseline=1 - 1 / k,
            known_a=tuple(names[j] for j in a),
            known_b=tuple(names[j] for j in b),
            records=k,
            draws=self.draws,
            linked_by_guess=float(means[0, 0]),
            linked_by_balance=float(means[0, 1]),
            linked_by_assignment=float(means[0, 2]),
            linked_with_knowledge=float(means[1].max()),
            linked_without_breach=float(means[2].max()),
            method=SOURCES[source] + METHODS[best],
            value_told=value_told,
            value_by_chance=value_by_chance,
            seconds=time.perf_counter() - start,
        )

    def prepare(self, breach: Breach) -> None:
        """Find out what is the same whatever is stolen of these people; it is remembered with the breach."""
        answers = Answers(breach, *self._sets(breach))
        self._drawn(breach, answers, min(self.records, answers.people))

    def _drawn(self, breach: Breach, answers: Answers, k: int) -> list[Drawn]:
        """Return who is to be linked, draw by draw, and how well their halves fit in full."""
        a, b = self._sets(breach)
        key = "A7", tuple(a), tuple(b), breach.coarsening, breach.seed, k, self.draws
        if key not in breach.memory:
            known, in_full = Known(breach, a, b), _in_full(breach, a, b)[2]
            random = generator(breach.seed, "A7")
            rows = [answers.draw(k, random) for _ in range(self.draws)]
            full = [known.fit(in_full, own) for own in rows]
            breach.memory[key] = [
                Drawn(own, fit, linked(fit, random)) for own, fit in zip(rows, full, strict=True)
            ]
        drawn: list[Drawn] = breach.memory[key]
        return drawn

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
        truth = breach.truth.unweighted  # whoever links two halves looks for a record
        counts = truth.counts
        self._a, self._b = (_numbered(breach.records[:, list(columns)]) for columns in (a, b))
        self._width = int(self._b.max(initial=0)) + 1
        self._pairs, index = np.unique(self._a * self._width + self._b, return_inverse=True)
        self._together = np.bincount(index, weights=counts)
        self._ends = np.cumsum(counts)
        self._persons = truth.persons
        self.people = round(float(counts.sum())) if self._persons is None else len(np.unique(self._persons))

    def draw(self, k: int, random: np.random.Generator) -> npt.NDArray[np.intp]:
        """Return the rows of k different people."""
        if self._persons is not None:  # one record of each
            order = random.permutation(len(self._persons))
            own = order[np.unique(self._persons[order], return_index=True)[1]]
            return np.asarray(random.choice(own, size=k, replace=False), dtype=np.intp)
        people = random.choice(self.people, size=k, replace=False)
        return np.searchsorted(self._ends, people, side="right").astype(np.intp)

    def fit(self, rows: npt.NDArray[np.intp]) -> Matrix:
        """Return how often the x_A of one row and the x_B of another go together."""
        wanted = self._a[rows][:, None] * self._width + self._b[rows][None, :]
        place = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
        return np.where(self._pairs[place] == wanted, self._together[place], 0.0).astype(float)

    def values(self, known: npt.NDArray[Any]) -> tuple[float, float]:
        """Return how often the value of x_A is told from x_B, and how often by chance.

        Given x_B, every value of x_A is as likely as its bucket is frequent beside the bucket of x_B (the paper's
        estimate); of equally likely values one is drawn.

        Parameters
        ----------
        known
            The full codes of A, person by person.
        """
        counts, value = np.diff(self._ends, prepend=0.0), _numbered(known)
        values_in = np.bincount(self._a[np.unique(value, return_index=True)[1]])
        most = np.zeros(self._width)
        np.maximum.at(most, self._pairs % self._width, self._together)
        best = self._pairs[self._together >= most[self._pairs % self._width]]
        among = np.bincount(best % self._width, weights=values_in[best // self._width], minlength=self._width)
        told = np.isin(self._a * self._width + self._b, best) / among[self._b]
        return float(told @ counts) / float(counts.sum()), 1 / len(np.unique(value))


class Known:
    """How well an x_A and an x_B fit in full, learned from the other people whom the adversary knows.

    Each attribute of B is predicted from x_A; the product of what that makes its value likelier is how they fit.
    Nothing of it depends on the generalization, but for where long columns of numbers are cut into runs.
    """

    def __init__(self, breach: Breach, a: Sequence[int], b: Sequence[int]) -> None:
        train, validation, _ = _in_full(breach, a, b)
        self._network = Network(members=1, seed=breach.seed).fit(train, validation)
        pairs = zip(train.targets.T, train.target_sizes, strict=True)
        counts = [np.bincount(codes, weights=train.weights, minlength=size) + 0.5 for codes, size in pairs]
        self._priors = [each / each.sum() for each in counts]

    def fit(self, stolen: Samples, rows: npt.NDArray[np.intp]) -> Matrix:
        """Return how well the x_A of one row and the x_B of another go together."""
        found = self._network.predict(stolen.inputs[rows])
        logs = np.zeros((len(rows), len(rows)))
        for t, (chances, prior) in enumerate(zip(found, self._priors, strict=True)):
            likelier = np.log(np.maximum(chances, _LEAST)) - np.log(prior)
            logs += likelier[:, stolen.targets[rows, t]]
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)) + _LEAST)


def _in_full(breach: Breach, a: Sequence[int], b: Sequence[int]) -> list[Samples]:
    """Return the three parts: B is to be found from A, both in full; each record counts once, as it is linked."""
    nothing = Generalization.suppressed(breach.truth.schema)
    return [samples(part.unweighted, nothing, b, a) for part in breach.parts]


def know_others(generalization: Generalization, split: Split, seed: int, quick: bool) -> dict[Hashable, Any]:
    """Return what ``Linkability`` learns from other people, for the memory of breaches of the same people."""
    breach = Breach.of(generalization, split, seed=seed)
    Linkability.configured(Setting(quick=quick)).prepare(breach)
    return breach.memory


class Drawn(NamedTuple):
    """People to be linked: their rows, how well their halves fit in full, and the share that this alone links."""

    rows: npt.NDArray[np.intp]
    full: Matrix
    without_breach: tuple[float, float, float]


def _linked(answers: Answers, drawn: Drawn, random: np.random.Generator) -> list[tuple[float, float, float]]:
    """Return the share linked by each source and method."""
    stolen = answers.fit(drawn.rows)
    both = np.where(stolen > 0, drawn.full, 0.0)
    return [linked(stolen, random), linked(both, random), drawn.without_breach]


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
    columns = np.ones(len(together))
    for _ in range(_ROUNDS):  # a factor for each row and column, not each pair, is scaled
        before, rows = columns, 1 / (together @ columns)
        columns = 1 / (rows @ together)
        if np.abs(columns - before).max() <= _BALANCED * columns.max():
            break
    return np.asarray(together * rows[:, None] * columns)


def expected_hits(scores: Matrix) -> float:
    """Return the share of rows whose own column has the highest score, a tie counted by its chance.

    >>> expected_hits(np.array([[2.0, 1.0], [1.0, 1.0]]))
    0.75
    """
    best = scores >= scores.max(axis=1, keepdims=True) * (1 - 1e-9)  # equal but for the order of a sum
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
    if len(failures) < 2:
        return exact
    # A draw is a mean over k people, so Student's interval is right for the mean over draws.
    reach = stats.t.ppf(0.975, len(failures) - 1) * failures.std(ddof=1) / np.sqrt(len(failures))
    mean = float(failures.mean())
    return Interval(max(0.0, min(exact.low, mean - reach)), min(1.0, max(exact.high, mean + reach)))
