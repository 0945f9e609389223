"""A promise about every adversary, also those not yet invented, who sees only the generalized records.

What the training phase stores beside each of them, the label, is seen too unless it is said otherwise.

Of n people who did not choose the generalization, let C_p be the share who would be told by a guesser that has
seen the answers: in each joint bucket it names the commonest value of attribute p among those very people. No
adversary can beat on average what this guesser does in hindsight: a maximum of means is at most the mean of
maxima, so A*_p <= E[C_p]. One person more or less moves C_p by at most 1/n, so by McDiarmid's inequality it stays
near its mean: with probability at least 1 - delta,

    A*_p  <=  C_p + sqrt(ln(1 / delta) / (2 n)).

No model is trained and no joint bucket is left out. The mean over attributes moves by at most 1/n as well, and
has the same bound. A number counts as told within its tolerance; the best guess then is the fullest window.

**Which confidence.** Each bound holds at 1 - delta by itself. That *all* bounds of a certificate hold at the same
time, at 1 - delta together, needs a share of delta for each (Bonferroni): ``bound_all``. When one of m candidate
generalizations is chosen by looking at the same records, every bound pays for all m: delta / m.

**Several records of one person.** It is the persons who are a random sample. One with m records moves C_p by m /
n, so n becomes the effective number (sum of m)^2 / sum of m^2: five copies of everybody tell no more than one.

The bound is worth little where many people are alone in their joint bucket, for the guesser in hindsight tells
each of those. The certificate says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import stores_label
from leastwise.documents.wording import counted, percent, rounded_up
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.records.grouping import joint_buckets
from leastwise.records.sources import Counted
from leastwise.records.table import Table
from leastwise.validation import check_between

MEAN = "mean over personal attributes"
# With so many people alone in their joint bucket, the guesser in hindsight is no longer a measure of anything.
ALMOST_ALL = 0.9
_ALWAYS = "1.00"


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What is promised about one attribute, or about the mean over all.

    Attributes
    ----------
    attribute
        Its name.
    hindsight
        C_p: the accuracy of the guesser that has seen the answers.
    bound
        No adversary is more accurate, with the confidence of the certificate for this sentence alone.
    bound_all
        The same, with that confidence for all sentences of the certificate together.
    guessing
        The accuracy of naming the commonest value to everybody.
    tolerance
        Within which a number counts as told; None for named values.
    """

    attribute: str
    hindsight: float
    bound: float
    bound_all: float
    guessing: float
    tolerance: float | None = None

    @property
    def adversary_error_at_least(self) -> float:
        """The bound as an adversary error: higher is safer."""
        return 1 - self.bound


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Bounds on the accuracy of every adversary who sees only the generalized records and what it knows.

    Attributes
    ----------
    people
        How many held-out people it rests on.
    delta, candidates
        The chance that one sentence is wrong, and among how many candidates the generalization was chosen by
        looking at these people.
    known
        Attributes that the adversary knows in full (side information).
    label
        Whether the adversary also sees the label that the training phase stores beside each generalized record.
    weighted
        Whether the records have survey weights, of which nothing counts here.
    joint_buckets, alone
        How many joint buckets these people fill, and which share of them is alone in theirs.
    bounds, mean
        Per personal attribute, and for the mean over them.
    """

    people: int
    delta: float
    candidates: int
    known: tuple[str, ...]
    joint_buckets: int
    alone: float
    bounds: tuple[Bound, ...]
    mean: Bound
    label: bool = False
    weighted: bool = False

    @property
    def vacuous(self) -> bool:
        """Whether it promises nothing: almost everybody is alone in a joint bucket, or every bound is 1."""
        return self.alone >= ALMOST_ALL or all(bound.bound >= 1 for bound in self.bounds)

    def __getitem__(self, attribute: str) -> Bound:
        return next(bound for bound in (*self.bounds, self.mean) if bound.attribute == attribute)

    def sentences(self) -> tuple[str, ...]:
        """Say each bound in words."""
        if self.vacuous:
            return (self._nothing(),)
        return tuple(self._sentence(bound) for bound in (*self.bounds, self.mean))

    def _nothing(self) -> str:
        people = counted(self.people, "person", "people")
        why = f"with so much asked of {people}, counting does not tell that anything stays hidden"
        if self.alone >= ALMOST_ALL:
            why = (
                f"{percent(self.alone)} of the {people} are alone in their joint bucket, so what others tell "
                "about them cannot be judged by counting"
            )
        return (
            f"Nothing can be promised about who sees only {self._seen()}: {why}; a coarser generalization"
            f"{', less side information' if self.known else ''} or more records can be certified."
        )

    def _seen(self) -> str:
        """Say what an adversary sees of whom this is a bound: no more than this."""
        seen = "these generalized records" + (" and their labels" if self.label else "")
        return seen + (f" and knows {', '.join(self.known)}" if self.known else "")

    def _sentence(self, bound: Bound) -> str:
        start = f"With {100 * (1 - self.delta):.6g} % confidence nobody who sees only {self._seen()} can tell"
        if _up(bound.bound) == _ALWAYS:
            what = (
                f"About {'the ' * (bound is self.mean)}{bound.attribute} nothing can be promised of who sees only "
            )
            what += self._seen()
            return f"{what} (guessing gives {bound.guessing:.2f})."
        if bound is self.mean:
            which = "personal attributes that it does not know" if self.known else "personal attributes"
            what = f"more than {_up(bound.bound)} of the {which}, on average over people"
        elif bound.tolerance is not None:
            what = f"{bound.attribute} within {bound.tolerance:g} with accuracy above {_up(bound.bound)}"
        else:
            what = f"{bound.attribute} with accuracy above {_up(bound.bound)}"
        return f"{start} {what} (guessing gives {bound.guessing:.2f})."

    def note(self) -> str:
        """Say what all sentences have in common."""
        return (
            f"{self.weights_note()}Accuracy is meant on average over people like these. Each sentence holds with "
            "that confidence by itself; for all of them together use the slightly higher bound_all."
        )

    def weights_note(self) -> str:
        """Say that survey weights do not count, where there are some."""
        return "The certificate counts each record once, without its survey weight. " if self.weighted else ""

    def __str__(self) -> str:
        return "\n".join(self.sentences() if self.vacuous else (*self.sentences(), self.note()))


def _up(bound: float) -> str:
    """Write a bound with two digits, near 1 with three, rounded up: a promise is not rounded in its own favour."""
    digits = 2 if rounded_up(bound, 2) < 1 or rounded_up(bound, 3) >= 1 else 3
    return f"{min(1.0, rounded_up(bound, digits)):.{digits}f}"


def certify(
    generalization: Generalization,
    table: Table,
    delta: float = 0.05,
    candidates: int = 1,
    held_out: bool | None = None,
    known: Sequence[str] = (),
    tolerances: Mapping[str, float] | None = None,
    label: bool = True,
) -> Certificate:
    """Bound the accuracy of every adversary who sees only the generalized records and their labels.

    Parameters
    ----------
    table
        People who had no part in choosing the generalization: the test part of a split, or any records of which
        you say so.
    delta
        The chance that a sentence is wrong.
    candidates
        Among how many generalizations this one was chosen by looking at these same records; each pays for all.
    held_out
        True vouches for records that are not the test part of a split. Without it they are refused.
    known
        Attributes that the adversary knows in full; of these nothing is bounded.
    tolerances
        Within which a number counts as told, by the name of a continuous personal attribute.
    label
        Whether the adversary sees the label beside each generalized record, where there is one: that is what the
        training phase stores. False: the deployment phase. (A predicted label is a function of the generalized
        record, so that bound holds with it as well.)

    Examples
    --------
    >>> from leastwise import Attribute, Schema
    >>> sex = Attribute("SEX", values=("Female", "Male"), personal=True)
    >>> people = Table(Schema((sex,)), np.array([[0]] * 480 + [[1]] * 520), (np.array(sex.values),), part="test")
    >>> certificate = certify(Generalization.suppressed(people.schema), people)
    >>> round(certificate["SEX"].bound, 3)
    0.559
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1; got {delta}")
    check_between("candidates", candidates, 1)
    check_held_out(table, held_out)
    weighted, table = table.survey, table.unweighted
    counts = _whole(table.counts)
    side = [table.schema.position(name) for name in known]
    columns = table.generalize(generalization).astype(np.int64)
    columns[:, side] = table.codes[:, side]  # what is known is put into z
    label = label and stores_label(table, generalization)
    if label:
        columns = np.column_stack([columns, table.stored_label.astype(np.int64)])
    _, bucket_of = joint_buckets(columns, [int(column.max(initial=0)) + 1 for column in columns.T])
    people_in, each = table.people_in(bucket_of), table.each_once.counts
    hidden = [p for p in table.personal if p not in side]
    if not hidden:
        raise ParameterError("a certificate needs personal attributes that are not known; mark at least one")
    within = {p: _tolerance(table, p, tolerances or {}) for p in hidden}
    told = {
        table.schema.names[p]: _told(table, p, bucket_of, table.codes[:, p], counts, within[p]) for p in hidden
    }
    return certificate_of(
        {
            name: (hindsight / counts.sum(), guessing / counts.sum())
            for name, (hindsight, guessing) in told.items()
        },
        {table.schema.names[p]: tolerance for p, tolerance in within.items()},
        # Of one person several records may change at once: McDiarmid's inequality then counts effective persons.
        table.effective_people,
        people=round(table.headcount),
        delta=delta,
        candidates=candidates,
        known=tuple(known),
        joint_buckets=int((people_in > 0).sum()),
        alone=float(each[people_in[bucket_of] == 1].sum() / each.sum()),
        label=label,
        weighted=weighted,
    )


def certificate_of(
    told: Mapping[str, tuple[float, float]],
    tolerances: Mapping[str, float | None],
    effective_people: float,
    *,
    delta: float,
    candidates: int,
    **rest: Any,
) -> Certificate:
    """Return the certificate from what is told of each attribute: in hindsight, and by guessing."""
    # One sentence by itself, and all together.
    share = delta / candidates
    slacks = [math.sqrt(math.log(m / share) / (2 * effective_people)) for m in (1, len(told) + 1)]
    hindsight, guessing = (float(np.mean(each)) for each in zip(*told.values(), strict=True))
    return Certificate(
        delta=delta,
        candidates=candidates,
        bounds=tuple(_bound(name, *each, slacks, tolerances[name]) for name, each in told.items()),
        mean=_bound(MEAN, hindsight, guessing, slacks),
        **rest,
    )


def certify_counts(
    generalization: Generalization,
    counted: Counted,
    tolerances: Mapping[str, float],
    *,
    delta: float = 0.05,
    candidates: int = 1,
    label: bool = True,
) -> Certificate:
    """Bound the accuracy of every adversary from the counts of a source; the figures are those of ``certify``.

    Of whom counts were withheld because they are few, everything counts as told.
    """
    truth, people, told, within = counted.truth, counted.people, {}, {}
    label = label and stores_label(truth, generalization)
    bucket_of = stored_buckets(generalization, truth, label)
    for p, cells in counted.cells.items():
        name, counts = truth.schema.names[p], cells.counts.astype(np.int64)
        within[name] = _tolerance(truth, p, tolerances)
        people_told = _told(truth, p, bucket_of[cells.record_of], cells.values, counts, within[name])
        withheld = people - int(counts.sum())
        told[name] = ((people_told[0] + withheld) / people, (people_told[1] + withheld) / people)
    people_in = np.bincount(bucket_of, weights=truth.counts)
    return certificate_of(
        told,
        within,
        people,
        people=people,
        delta=delta,
        candidates=candidates,
        known=(),
        joint_buckets=int((people_in > 0).sum()),
        alone=float(((people_in == 1).sum() + counted.withheld) / people),
        label=label,
    )


def stored_buckets(generalization: Generalization, table: Table, label: bool) -> npt.NDArray[np.intp]:
    """Return the joint bucket of each record, with or without its label."""
    columns = table.generalize(generalization)
    columns = np.column_stack([columns, table.stored_label.astype(np.int32)]) if label else columns
    return joint_buckets(columns, [int(column.max(initial=0)) + 1 for column in columns.T])[1]


def check_held_out(table: Table, held_out: bool | None = None) -> None:
    """Refuse records that chose the generalization, or may have."""
    known_to_choose = table.part in ("train", "validation")
    if (held_out is True and not known_to_choose) or (held_out is None and table.part == "test"):
        return
    given = "held_out=False" if held_out is False else f"the part {table.part!r}"
    raise ParameterError(
        f"a certificate must rest on records that did not choose the generalization; got {given}: "
        "give the test part of a split, or held_out=True for records that you kept aside"
    )


def _whole(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    whole = np.round(counts)
    if (np.abs(counts - whole) > 1e-9).any() or (whole < 0).any():
        raise ParameterError("a certificate counts people: weights must be whole numbers from 0 (multiplicities)")
    if not whole.sum() >= 1:
        raise ParameterError("a certificate needs at least one person; got none")
    return whole.astype(np.int64)


def _tolerance(table: Table, position: int, tolerances: Mapping[str, float]) -> float | None:
    attribute = table.schema.attributes[position]
    if not attribute.continuous:
        return None
    if attribute.name in tolerances:
        return tolerances[attribute.name]
    if attribute.lower is None or attribute.upper is None:
        # Taken from these records, it would have been chosen by them.
        raise ParameterError(
            f"state within what {attribute.name} counts as told: tolerances={{{attribute.name!r}: ...}}"
        )
    return table.default_tolerance(position)


def _told(
    table: Table,
    position: int,
    bucket_of: npt.NDArray[np.intp],
    values: npt.NDArray[Any],
    counts: npt.NDArray[np.int64],
    tolerance: float | None,
) -> tuple[float, float]:
    """Return how many are told in hindsight, and by naming one value to everybody."""
    codes = values.astype(np.int64)
    numbers = None if tolerance is None else np.asarray(table.levels[position], dtype=float)
    everybody = np.zeros_like(bucket_of)
    told = [told_in_hindsight(z, codes, counts, numbers, tolerance or 0.0) for z in (bucket_of, everybody)]
    return told[0], told[1]


def _bound(
    name: str, hindsight: float, guessing: float, slacks: Sequence[float], tolerance: float | None = None
) -> Bound:
    bound, bound_all = (min(1.0, float(hindsight) + slack) for slack in slacks)
    return Bound(
        attribute=name,
        hindsight=float(hindsight),
        bound=bound,
        bound_all=bound_all,
        guessing=float(guessing),
        tolerance=tolerance,
    )


def check_origin(generalization: Generalization, split_seed: int | None) -> None:
    """Refuse a generalization whose own origin says that the test part of this split helped to choose it."""
    chosen_on, seed = generalization.origin.get("chosen_on"), generalization.origin.get("split_seed")
    must = "the test part must have had no say in choosing the generalization; this one was chosen on"
    hint = "or say that these are other records (held_out)"
    if chosen_on is not None and chosen_on not in ("train", "validation"):
        raise ParameterError(f"{must} {chosen_on!r}: minimize on the training part of a split, {hint}")
    if split_seed is not None and seed is not None and seed != split_seed:
        raise ParameterError(
            f"{must} the training part of the split with seed {seed}, not {split_seed}: use that seed, {hint}"
        )


Buckets = npt.NDArray[np.intp]
# Pairs of joint bucket and value for each person up to which all of them are counted.
_SPARSE = 8
Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def told_in_hindsight(
    bucket_of: Buckets, codes: Whole, counts: Whole, numbers: Numbers | None = None, tolerance: float = 0.0
) -> float:
    """Return sum_z max_v count(z, v), where a guessed number v tells all within the tolerance.

    >>> told_in_hindsight(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5]), np.array([1, 1, 1, 1]))
    3.0
    >>> ages = np.array([20.0, 22.0, 30.0])
    >>> told_in_hindsight(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2]), np.array([1, 1, 1, 1]), ages, 1.0)
    3.0
    """
    if numbers is None:
        return _fullest_values(bucket_of, codes, counts)
    return _fullest_windows(bucket_of, codes, counts, numbers, tolerance)


def _fullest_values(bucket_of: Buckets, codes: Whole, counts: Whole) -> float:
    size, buckets = int(codes.max(initial=0)) + 1, int(bucket_of.max(initial=-1)) + 1
    keys = bucket_of.astype(np.int64) * size + codes
    if (keys[1:] > keys[:-1]).all():  # counts of a source lie in order, and need no sorting
        begins = np.flatnonzero(np.diff(bucket_of, prepend=-1))
        return float(np.maximum.reduceat(counts, begins).sum()) if len(begins) else 0.0
    if buckets * size <= _SPARSE * len(keys):  # a table of all pairs is faster than sorting
        table = np.bincount(keys, weights=counts, minlength=buckets * size)
        return float(table.reshape(buckets, size).max(axis=1).sum())
    pairs, index = np.unique(keys, return_inverse=True)
    return _sum_of_most(pairs // size, np.bincount(index, weights=counts))


def _fullest_windows(bucket_of: Buckets, codes: Whole, counts: Whole, numbers: Numbers, tolerance: float) -> float:
    """Slide a window of twice the tolerance over each joint bucket; each person's number begins one.

    The codes behind the numbers, "missing" and "other", are windows of their own.
    """
    order = np.lexsort((codes, bucket_of))
    z, codes, counts = bucket_of[order].astype(np.int64), codes[order], counts[order]
    width = max(int(codes.max(initial=0)) + 1, len(numbers))
    last = np.arange(width)
    last[: len(numbers)] = np.searchsorted(numbers, numbers + 2 * tolerance * (1 + 1e-9), side="right") - 1
    # Rows lie in the order of (joint bucket, code), so one search finds where every window ends.
    keys = z * width + codes
    begins = np.searchsorted(keys, keys, side="left")
    ends = np.searchsorted(keys, z * width + last[codes], side="right")
    before = np.concatenate([[0], np.cumsum(counts)])
    return _sum_of_most(z, before[ends] - before[begins])


def _sum_of_most(bucket_of: Whole, people: npt.NDArray[Any]) -> float:
    most = np.zeros(int(bucket_of.max(initial=0)) + 1)
    np.maximum.at(most, bucket_of, people)
    return float(most.sum())
