"""A8: do the stolen records describe one person and nobody else?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.result import AttackResult, Told
from leastwise.documents.pictures import bar, bars
from leastwise.documents.wording import counted, percent
from leastwise.errors import ParameterError
from leastwise.partition import Untouched
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Table
from leastwise.schema.values import number_text
from leastwise.validation import check_between

CROWDS = (2, 3, 5, 10, 20, 50)


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A sentence that is true of exactly so many people."""

    text: str
    people: int

    def __str__(self) -> str:
        return f"{self.text}: {self.people} {'person' if self.people == 1 else 'people'}"


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How many people share their generalized record with fewer than k others, themselves included in k."""

    k: int
    people_below: float
    share_below: float


@dataclass(frozen=True, kw_only=True)
class SinglingOutResult(AttackResult):
    """How small the smallest crowds are (A8).

    Attributes
    ----------
    rarest
        The multiplicity of the rarest generalized record: the breach is ``rarest``-anonymous.
    rarest_records
        How many generalized records have it.
    unique_people
        How many people are alone with theirs.
    distinct
        How many generalized records there are.
    multiplicities
        (multiplicity, how many generalized records have it), ascending.
    crowds
        A k-anonymity-style summary.
    predicates
        Sentences that are true of the rarest, not more than were asked for.
    unique_without_label
        How many people are alone with theirs where no label is stored beside it (the deployment phase); None
        where none is in any case.
    """

    rarest: int
    rarest_records: int
    unique_people: int
    distinct: int
    multiplicities: tuple[tuple[int, int], ...]
    crowds: tuple[Crowd, ...]
    predicates: tuple[Predicate, ...]
    unique_without_label: int | None = None

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell how many people hide in how small a crowd."""
        rows = [bar(f"fewer than {crowd.k}", crowd.share_below) for crowd in self.crowds]
        cells = [[f"fewer than {c.k}", f"{c.people_below:,.0f}", percent(c.share_below, 2)] for c in self.crowds]
        described = [str(predicate) for predicate in self.predicates]
        return Told(
            _alone(self) + ("" if predicates else _left_out(len(described))),
            bars("share of people in a crowd so small (further left is safer)", rows),
            {"columns": ["people with the same generalized record", "people", "share"], "rows": cells},
            {"unique_people": self.unique_people, "predicates": described if predicates else []},
        )


def _alone(attack: SinglingOutResult) -> str:
    alone = "Nobody is"
    if attack.unique_people:
        alone = counted(attack.unique_people, "person is", "people are")
    among = f"{alone} alone with a generalized record, among {counted(attack.people, 'person', 'people')}."
    counts = "This is counted, not estimated: of more records, a smaller share of the people would be alone."
    return f"{among} {_how_many(attack)} {counts}{_in_deployment(attack)}"


def _how_many(attack: SinglingOutResult) -> str:
    rarest = counted(attack.rarest, "person", "people")
    if attack.distinct == 1:
        return f"All {rarest} have the same generalized record." if attack.rarest > 1 else "There is one record."
    return f"There are {attack.distinct:,} different generalized records; the rarest is held by {rarest}."


def _in_deployment(attack: SinglingOutResult) -> str:
    if attack.unique_without_label is None:
        return ""
    alone = f"{attack.unique_without_label:,}" if attack.unique_without_label else "nobody"
    return f" The label counts as part of a record; without it, {alone} would be alone."


def _left_out(described: int) -> str:
    if not described:
        return ""
    sentences = counted(described, "sentence that describes", "sentences that describe")
    return f" The evaluation holds {sentences} the rarest of them; they tell of real people and are left out here."


@dataclass(frozen=True)
class SinglingOut(Adversary):
    """A8: somebody wants a sentence that is true of exactly one of the people behind the stolen records.

    The adversary counts how often each generalized record, with its label where that is stored, occurs. One that
    occurs once is such a sentence:
    whoever meets a person it fits, has found the one. One that occurs twice leaves a crowd of two.

    The adversary error is the share of people who are *not* alone with their generalized record: 0 means that
    everybody is singled out, 1 nobody. It is counted on the stolen records and has no interval; of more
    records, a smaller share of the people would be alone. Guessing cannot single out anybody, so the baseline is
    1.

    Parameters
    ----------
    predicates
        How many sentences are returned at most, those of the rarest records. They describe real people: mind
        where you publish them, or ask for none.
    """

    predicates: int = 10
    name: ClassVar[str] = "A8"
    words: ClassVar[str] = "singling out"
    title: ClassVar[str] = "Singling people out"
    scenario: ClassVar[str] = (
        "Somebody looks for a description that fits exactly one of the people behind the stolen records. It "
        "counts how many people share each generalized record: the larger the crowd, the better one hides."
    )
    result: ClassVar[type[AttackResult]] = SinglingOutResult
    wants_personal: ClassVar[bool] = False

    @classmethod
    def configured(cls, setting: Setting) -> SinglingOut:
        """Return it set up for a judgement."""
        return cls(setting.predicates)

    def attack(self, breach: Breach) -> SinglingOutResult:
        """Count the stolen records and describe the rarest."""
        start = time.perf_counter()
        check_between("predicates", self.predicates, 0)
        truth = breach.truth.unweighted  # a crowd is of records, for whomever else they speak
        first, people = _multiplicities(breach.stored, truth)
        rarest = int(people.min())
        deployed = int((_smallest_crowds(breach.records, truth) == 1).sum() + breach.withheld)
        return singled_out(
            people,
            int(breach.withheld),
            None if truth.persons is None else _smallest_crowds(breach.stored, truth),
            predicates=self._predicates(breach, first[people == rarest], rarest),
            unique_without_label=deployed if breach.labelled else None,
            seconds=time.perf_counter() - start,
        )

    def _predicates(self, breach: Breach, rows: npt.NDArray[Any], people: int) -> tuple[Predicate, ...]:
        counts, records = breach.truth.unweighted.counts, breach.stored
        texts = []
        for row in np.sort(rows)[: self.predicates]:
            needed = shortest(records, counts, int(row), people)
            texts.append(" and ".join(_condition(breach, j, int(row)) for j in needed) or "any record")
        return tuple(Predicate(text=text, people=people) for text in texts)


def singled_out(
    people: npt.NDArray[np.int_], withheld: int = 0, crowds: npt.NDArray[np.int_] | None = None, **rest: Any
) -> SinglingOutResult:
    """Return the result from how many people hold each record.

    ``withheld`` are people whose count is not known: each may be alone. ``crowds``: where one person has several
    records, the smallest crowd that each person is in with one of them.
    """
    hidden = np.repeat(people, people) if crowds is None else crowds  # person by person, in how many they hide
    unique, everybody = int((hidden == 1).sum()), len(hidden) + withheld
    rarest = int(people.min(initial=np.iinfo(np.int64).max))
    unique += withheld
    return SinglingOutResult(
        adversary=SinglingOut.name,
        people=float(everybody),
        adversary_error=1 - unique / everybody,
        interval=None,
        baseline=1.0,
        rarest=1 if withheld else rarest,
        rarest_records=withheld or int((people == rarest).sum()),
        unique_people=unique,
        distinct=len(people),
        multiplicities=tuple(
            (int(m), int(n)) for m, n in zip(*np.unique(people, return_counts=True), strict=True)
        ),
        crowds=tuple(_crowd(hidden, k, withheld) for k in CROWDS),
        **rest,
    )


def _smallest_crowds(records: npt.NDArray[Any], truth: Table) -> npt.NDArray[np.int_]:
    """Return, person by person, how many hold the rarest record of theirs; of several, the rarest finds them."""
    _, record_of = _joined(records)
    people = np.round(truth.people_in(record_of)).astype(int)[record_of]
    if truth.persons is None:
        return np.repeat(people, np.round(truth.counts).astype(int))
    _, own = np.unique(truth.persons, return_inverse=True)
    smallest = np.full(own.max(initial=-1) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, own, people)
    return smallest


def _joined(records: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    return joint_buckets(records, [int(column.max(initial=0)) + 1 for column in records.T])


def _multiplicities(records: npt.NDArray[Any], truth: Table) -> tuple[npt.NDArray[Any], npt.NDArray[np.int_]]:
    """Return a row of each distinct record, and how many people have it."""
    first, record_of = _joined(records)
    people = truth.people_in(record_of)
    if (np.abs(people - np.round(people)) > 1e-9).any():
        raise ParameterError("A8 counts people: weights must be whole numbers (multiplicities)")
    return first[people > 0], np.round(people[people > 0]).astype(int)


def _crowd(hidden: npt.NDArray[np.int_], k: int, withheld: int = 0) -> Crowd:
    below = int((hidden < k).sum()) + withheld
    return Crowd(k=k, people_below=float(below), share_below=below / (len(hidden) + withheld))


def shortest(records: npt.NDArray[Any], counts: npt.NDArray[Any], row: int, people: int) -> list[int]:
    """Return attributes that suffice to tell a record's bearers from everybody else, none of them in vain.

    Attributes are left out one by one, the last first, as long as the sentence stays true of nobody else. (The
    fewest possible is a hard problem; this is a shortest in the sense that no part of it can go.)
    """
    same = records == records[row]
    needed = [j for j in range(records.shape[1]) if not same[:, j].all()]
    for j in reversed(needed):
        rest = [i for i in needed if i != j]
        if round(float(counts[same[:, rest].all(axis=1)].sum())) == people:
            needed = rest
    return needed


def _condition(breach: Breach, attribute: int, row: int) -> str:
    label = breach.truth.schema.label
    if label is not None and attribute == len(breach.joined.partitions):
        number, classes = breach.truth.number, breach.truth.class_codes
        if number is not None:
            return f"{label.name} {number_text(number.exact[row])}"
        pairs = zip(label.parts, classes, strict=True)
        return ", ".join(f"{each.name} {each.values[int(codes[row])]}" for each, codes in pairs)
    partition = breach.joined.partitions[attribute]
    name = partition.attribute.name
    if not isinstance(partition, Untouched):
        return f"{name} {partition.labels[int(breach.records[row, attribute])]}"
    levels, code = breach.truth.levels[attribute], int(breach.truth.codes[row, attribute])
    if code < len(levels):
        return f"{name} {number_text(float(levels[code]))}"
    return f"{name} {'missing' if code == len(levels) and partition.attribute.missing else 'other'}"
