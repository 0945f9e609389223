"""The frontier of a run: chosen on validation, shown on test, framed by its two limit points.

Where validation is a hundred people, who seems unbeaten there is mostly lucky, and hides a better one. The
training part has several times as many. Counted leaving each person out, they tell nearly as much; not quite,
because minimizers have looked at them. So where records are few they have a say (``steadied``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from leastwise.documents import from_text, to_text
from leastwise.errors import ArtefactError
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.recommended import estimate
from leastwise.records.table import Split
from leastwise.runs import showing
from leastwise.runs.candidates import Candidate, Figures

FORMAT = "leastwise-frontier"
KNEE, CHEAPEST, SAFEST = "knee", "cheapest", "safest"
# A second knee must stand out: this share of the first one's distance, and a dip of this much before it.
_SHARE = 0.5
_DIP = 0.05
FEW = 20_000
"""With more training records, validation tells enough."""
MORE, ENOUGH = 1, 12
"""Of some candidates asking less makes two: so many more are attacked than a frontier may have, and so many in any
case: whoever chooses anew, by another limit, needs some to choose from."""
AN_ANSWER = 0.0005
"""So much adversary error an answer less is worth, where it is asked which of a frontier say most. Where a limit
is spent it is twice as much; the two were not weighed against each other. Of 77 choices under other limits (seven
development runs) thinning by this changed two, slightly."""
WORTH = 0.2
"""So many people of validation tell as much as one of the training part, whom minimizers have looked at."""


class Areas(NamedTuple):
    """The area between the limit points that the frontier covers, on each part."""

    validation: float
    test: float


@dataclass(frozen=True, kw_only=True)
class LimitPoints:
    """What frames every frontier: everything asked, and nothing; on test and on validation."""

    untouched: Figures
    suppressed: Figures
    untouched_validation: Figures
    suppressed_validation: Figures

    @property
    def on_test(self) -> Limits:
        """The rectangle between the two on test."""
        return limits_of(self.untouched, self.suppressed)

    @property
    def on_validation(self) -> Limits:
        """The rectangle between the two on validation."""
        return limits_of(self.untouched_validation, self.suppressed_validation)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How the candidates came about.

    Attributes
    ----------
    screened
        How many distinct candidates were screened.
    thinned
        How many of the screened frontier were left out so that the rest could be attacked in full.
    repeated
        How many proposals were the same as an earlier one.
    dropped
        How many proposals broke a constraint.
    failed
        How many minimizers failed.
    """

    screened: int
    thinned: int
    repeated: int
    dropped: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Frontier(LimitPoints, Counts):
    """The candidates that were judged by the strongest, between the limit points.

    Attributes
    ----------
    points
        In ascending utility risk on validation.
    knees
        The ids of the candidates beyond which more safety costs more, the most pronounced first.
    hypervolume
        The area between the limit points that the frontier covers.
    """

    points: tuple[Candidate, ...]
    knees: tuple[str, ...]
    hypervolume: Areas

    @classmethod
    def of(cls, points: Sequence[Candidate], limits: LimitPoints, counts: Counts) -> Frontier:
        """Put judged candidates together: in their order, with knees and ends named, and the area they cover."""
        ordered = sorted(points, key=lambda point: (point.validation.point.utility_risk, point.id))
        validation = [point.validation.point for point in ordered]
        test = [(point.tested or point.validation).point for point in ordered]
        best = unbeaten(validation)
        at_knees = [best[i] for i in knees([validation[i] for i in best], limits.on_validation)]
        names = named(validation, at_knees)
        return cls(
            **vars(limits),
            **vars(counts),
            points=tuple(replace(point, name=name) for point, name in zip(ordered, names, strict=True)),
            knees=tuple(ordered[i].id for i in at_knees),
            hypervolume=Areas(limits.on_validation.hypervolume(validation), limits.on_test.hypervolume(test)),
        )

    @property
    def limit_points(self) -> LimitPoints:
        """The limit points alone."""
        return LimitPoints(**{name: getattr(self, name) for name in LimitPoints.__dataclass_fields__})

    @property
    def counts(self) -> Counts:
        """How the candidates came about."""
        return Counts(**{name: getattr(self, name) for name in Counts.__dataclass_fields__})

    def __repr__(self) -> str:
        return showing.frontier_line(self)

    def _repr_html_(self) -> str:
        return showing.frontier_html(self)

    def __getitem__(self, candidate: str) -> Candidate:
        return next(point for point in self.points if point.id == candidate)

    def to_json(self) -> str:
        """Return the document; the same frontier gives the same bytes."""
        points = tuple(
            _Point(candidate=point.id, name=point.name, validation=point.validation, test=point.test)
            for point in self.points
        )
        rest = {name: getattr(self, name) for name in _Document.__dataclass_fields__ if name != "points"}
        return to_text(_Document(points=points, **rest), FORMAT)

    @classmethod
    def from_json(cls, text: str, candidates: Mapping[str, Candidate], where: str = "frontier") -> Frontier:
        """Read the document; ``candidates`` are all of its run, by id."""
        document = from_text(_Document, text, FORMAT, where)
        if not document.points or not {point.candidate for point in document.points} <= set(candidates):
            raise ArtefactError(f"{where}: it names candidates that the run does not have")
        points = tuple(
            replace(candidates[point.candidate], name=point.name, judged=point.validation, tested=point.test)
            for point in document.points
        )
        return cls(**{**vars(document), "points": points})


@dataclass(frozen=True, kw_only=True)
class _Point:
    """A candidate of the frontier in the document: by the figures of validation it was chosen, test is shown."""

    candidate: str
    name: str
    validation: Figures
    test: Figures


@dataclass(frozen=True, kw_only=True)
class _Document:
    """The frontier as the file holds it."""

    points: tuple[_Point, ...]
    untouched: Figures
    suppressed: Figures
    untouched_validation: Figures
    suppressed_validation: Figures
    knees: tuple[str, ...]
    hypervolume: Areas
    screened: int
    thinned: int
    repeated: int
    dropped: int
    failed: int


def limits_of(untouched: Figures, suppressed: Figures) -> Limits:
    """Return the limit points as a rectangle.

    On few records full records can do worse than guessing; then nothing lies between the two.
    """
    best = min(untouched.point.utility_risk, suppressed.point.utility_risk)
    return Limits(Point(best, untouched.adversary_error), suppressed.point)


def named(points: Sequence[Point], knees: Sequence[int]) -> list[str]:
    """Name the knees and the two ends of a frontier in ascending utility risk; whoever is both has both names."""
    names: list[list[str]] = [[] for _ in points]
    for number, i in enumerate(knees):
        names[i].append(KNEE if number == 0 else f"{KNEE} {number + 1}")
    errors = [point.adversary_error for point in points]
    names[0].append(CHEAPEST)
    names[errors.index(max(errors))].append(SAFEST)
    return [", ".join(each) for each in names]


def thinned(points: Sequence[Point], front: Sequence[int], most: int, limits: Limits) -> list[int]:
    """Keep at most so many of a frontier: both ends and those whose absence would cost the most area.

    >>> points = [Point(0.1, 0.1), Point(0.11, 0.3), Point(0.115, 0.31), Point(0.2, 0.4)]
    >>> thinned(points, [0, 1, 2, 3], 3, Limits(Point(0.1, 0.0), Point(0.3, 0.5)))
    [0, 1, 3]
    """
    kept = list(front)
    while len(kept) > max(most, 1):
        inner = kept[1:-1] or kept[1:]
        areas = [limits.hypervolume([points[i] for i in kept if i != out]) for out in inner]
        kept.remove(inner[max(range(len(inner)), key=lambda i: areas[i])])
    return kept


def worth_attacking(frontier: Frontier, chosen: str | None, most: int) -> Frontier:
    """Return the frontier without those that another one beats in everything that a limit may be about, thinned.

    What is made the least of a candidate may end where another one beats it, or hardly differs from it. Whoever is
    chosen stays.
    """
    aims = [_aims(point) for point in frontier.points]
    left = [
        point
        for point, own in zip(frontier.points, aims, strict=True)
        if point.id == chosen or not any(_dominates(other, own) for other in aims)
    ]
    kept = _spread(left, max(most + MORE, ENOUGH))
    left = [point for point in left if point in kept or point.id == chosen]
    counts = replace(frontier.counts, thinned=frontier.thinned + len(frontier.points) - len(left))
    return Frontier.of(left, frontier.limit_points, counts)


def _spread(points: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return at most so many, from the cheapest to the dearest: those without which the most area would be lost.

    Of two that are about as safe, the one with fewer answers is the better one.
    """
    most_answers = max(point.answers for point in points)
    worth = [p.validation.adversary_error + AN_ANSWER * (most_answers - p.answers) for p in points]
    found = [Point(_increase(point), each) for point, each in zip(points, worth, strict=True)]
    order = sorted(range(len(points)), key=lambda i: (found[i].utility_risk, -found[i].adversary_error))
    worst = Point(found[order[-1]].utility_risk, max(each.adversary_error for each in found))
    limits = Limits(Point(found[order[0]].utility_risk, 0.0), worst)
    return [points[i] for i in thinned(found, order, most, limits)]


def _increase(point: Candidate) -> float:
    """Return what a limit on the increase of the error is about, or the error itself."""
    figures = point.validation
    return figures.utility_risk if figures.increase is None else figures.increase.mean


def _aims(point: Candidate) -> tuple[float, ...]:
    """Return what is to be small: errors, more errors than with everything asked, what is told, the form."""
    figures = point.validation
    more = 0.0 if figures.increase is None else figures.increase.mean
    told = (-figures.by_attribute[name] for name in sorted(figures.by_attribute))
    size = point.asked, point.answers, figures.unique_people
    return figures.utility_risk, more, -figures.adversary_error, *told, *size


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def distances(points: Sequence[Point], limits: Limits) -> list[float]:
    """Return how far each point lies above the chord between the limit points, both axes scaled to 1.

    >>> limits = Limits(Point(0.1, 0.0), Point(0.3, 0.5))
    >>> [round(d, 3) for d in distances([Point(0.1, 0.0), Point(0.1, 0.5), Point(0.3, 0.25)], limits)]
    [0.0, 0.707, -0.354]
    """
    width = limits.suppressed.utility_risk - limits.untouched.utility_risk
    height = limits.suppressed.adversary_error - limits.untouched.adversary_error
    if width <= 0 or height <= 0:
        return [0.0] * len(points)
    return [
        ((error - limits.untouched.adversary_error) / height - (risk - limits.untouched.utility_risk) / width)
        / 2**0.5
        for risk, error in points
    ]


def knees(points: Sequence[Point], limits: Limits) -> list[int]:
    """Return the positions of the knees, where more safety begins to cost more, the most pronounced first.

    The points are a frontier in ascending utility risk. The first knee is the point farthest above the chord.
    Others are local maxima of the distance that reach half of the first one's and are parted from every larger one
    by a dip.

    >>> limits = Limits(Point(0.0, 0.0), Point(1.0, 1.0))
    >>> knees([Point(0.05, 0.4), Point(0.2, 0.45), Point(0.25, 0.9), Point(0.6, 0.95)], limits)
    [2, 0]
    """
    away = distances(points, limits)
    positions: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (-away[i], i)):
        if away[i] > 0 and away[i] >= _SHARE * max(away) and all(_dip(away, i, j) >= _DIP for j in positions):
            positions.append(i)
    return positions


def _dip(away: Sequence[float], one: int, other: int) -> float:
    """Return how far the distance falls between two points below the lower of them."""
    between = away[min(one, other) + 1 : max(one, other)]
    return min(away[one], away[other]) - min(between) if between else 0.0


def steadied(judged: Sequence[tuple[Point, Generalization]], split: Split) -> list[Point]:
    """Weigh what validation shows of each candidate with what the training part does, where that is small."""
    train = split.train
    if len(train) > FEW or train.graded is not None:
        return [shown for shown, _ in judged]
    worth = WORTH * train.people
    share, records = worth / (worth + split.validation.people), Records.of(train.with_own_levels())
    points, equal = list[Point](), np.ones(len(records.own))
    for shown, generalization in judged:
        counted = estimate(records, generalization, equal)
        mixed = (share * own + (1 - share) * other for own, other in zip(counted, shown, strict=True))
        points.append(Point(*mixed))
    return points
