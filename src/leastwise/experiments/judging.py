"""The laboratory of an experiment: records split by the protocol, and judgements that are made once.

The paper's setting: what is stolen is z alone. The label, which the training phase stores beside it, is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.result import ReconstructionResult
from leastwise.evaluation.pareto import Point, frontier
from leastwise.evaluation.utility import Judges, utility_risk
from leastwise.generalization import Generalization
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.sklearn import Logistic
from leastwise.progress import Progress, Silent
from leastwise.random import generator
from leastwise.records.table import Split, Table
from leastwise.validation import described


class Judged(NamedTuple):
    """One generalization on the test part."""

    utility_risk: float
    attack: ReconstructionResult

    @property
    def point(self) -> Point:
        """Its place in the picture."""
        return Point(self.utility_risk, self.attack.adversary_error)


@dataclass(eq=False)
class Laboratory:
    """Where an experiment is made.

    Parameters
    ----------
    records
        All records.
    later
        The same attributes of later years, for drift.
    seed, quick
        The same seed gives the same rows; ``quick`` trains less and tries fewer settings.
    only
        The attribute of interest, for experiments about one; by default the one that is guessed worst.
    progress
        Is told what is done.
    minimizers, adversaries, estimator, predictor
        What somebody brought; see ``run_experiment``.
    """

    records: Table
    later: Sequence[tuple[str, Table]] = ()
    seed: int = 0
    quick: bool = False
    only: str = ""
    progress: Progress = field(default_factory=Silent)
    minimizers: Sequence[Any] = ()
    adversaries: Sequence[Any] = ()
    estimator: Any = None
    predictor: Any = None
    _judged: dict[str, Judged] = field(default_factory=dict, repr=False)
    _split: Split | None = field(default=None, repr=False)

    @property
    def split(self) -> Split:
        """The three parts of the protocol."""
        if self._split is None:
            self._split = self.records.split(self.seed)
        return self._split

    @property
    def train(self) -> Table:
        """What minimizers see."""
        return self.split.train

    @property
    def judges(self) -> Judges:
        """Who classifies, and what adversaries predict with."""
        return Judges(self.quick, self.seed, self.estimator, self.predictor)

    def brought(self) -> dict[str, str]:
        """Say what somebody brought."""
        lists = {"own minimizers": self.minimizers, "own adversaries": self.adversaries}
        told = {name: ", ".join(map(described, each)) for name, each in lists.items() if each}
        return {**told, **self.judges.words()}

    def of_seed(self, seed: int) -> Laboratory:
        """Return the same experiment with another split."""
        return replace(self, seed=seed, _judged={}, _split=None)

    def breach(self, generalization: Generalization) -> Breach:
        """Return the stolen test part."""
        return Breach.of(generalization, self.split, seed=self.seed, label=False)

    def judge(self, generalization: Generalization) -> Judged:
        """Return utility risk and A1 on the test part; what was judged before is remembered."""
        key = generalization.fingerprint
        if key not in self._judged:
            self.progress.begin(f"judging {generalization.total_buckets} buckets")
            self._judged[key] = self.judged_on(generalization, self.split)
        return self._judged[key]

    def judged_on(self, generalization: Generalization, split: Split) -> Judged:
        """Return utility risk and A1 on the test part of any split."""
        risk = utility_risk(generalization, split, self.judges.classifiers(), seed=self.seed).error
        stolen = Breach.of(generalization, split, seed=self.seed, label=False)
        return Judged(risk, Reconstruction(self.judges.adversary()).attack(stolen))

    def screen(self, generalization: Generalization) -> Point:
        """Return utility risk and A1 on the validation part, by counting: enough to choose with."""
        part = self.split.on_validation()
        risk = utility_risk(generalization, part, (JointBuckets(), Logistic())).error
        attack = Reconstruction(JointBuckets).attack(Breach.of(generalization, part, seed=self.seed, label=False))
        return Point(risk, attack.adversary_error)

    def front(self, candidates: Sequence[Generalization], most: int = 12) -> list[Generalization]:
        """Return the candidates on the frontier of the validation part, evenly thinned to so many."""
        distinct = [*{g.fingerprint: g for g in candidates}.values()]
        self.progress.begin(f"screening {len(distinct)} candidates")
        kept = frontier([self.screen(candidate) for candidate in distinct])
        if len(kept) > most:
            kept = [kept[i] for i in np.unique(np.linspace(0, len(kept) - 1, most).round().astype(int))]
        return [distinct[i] for i in kept]

    def attributes_of_interest(self, count: int) -> list[str]:
        """Return the named attribute, or so many personal ones for which guessing fails most."""
        if self.only:
            return [self.records.schema[self.only].name]
        by_guess = sorted(
            self.records.personal, key=lambda p: self.records.use(p).max(initial=0) / self.records.people
        )
        return [self.records.schema.names[p] for p in by_guess[:count]]


def sampled(table: Table, most: int, seed: int) -> Table:
    """Return a random sample of the records if there are more than so many."""
    if len(table) <= most:
        return table
    return table.take(np.sort(generator(seed, "experiment sample").permutation(len(table))[:most]))
