"""Pictures in scikit-learn's manner: made from a result, drawn by ``plot``, kept as ``figure_`` and ``ax_``.

They need matplotlib (extra: plots).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.adversaries import PAPER
from leastwise.confidence import Interval
from leastwise.documents.wording import MOST_SHOWN, counted
from leastwise.errors import MissingExtraError, ParameterError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.generalization import Generalization
from leastwise.partition import Intervals, Partition
from leastwise.records.table import Table
from leastwise.runs import Figures, Run
from leastwise.runs.nearest import NEAREST
from leastwise.runs.showing import CHOSEN, CHOSEN_AS_NEAREST, point_name, standing
from leastwise.schema import Attribute
from leastwise.validation import check_choice

# Told apart by everybody, in print too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d3a9b", "#777777")
SOFT = "#8a919b"
MOST_BARS = 60
"""Numbers are counted in at most so many bars."""


class Display:
    """What every picture has once it is drawn: ``figure_`` and ``ax_``."""

    figure_: Any
    ax_: Any

    def _begin(self, ax: Any) -> Any:
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError:
                raise MissingExtraError("matplotlib", "plots") from None
            _, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
        ax.spines[["top", "right"]].set_visible(False)
        self.figure_, self.ax_ = ax.figure, ax
        return ax


def plain(text: str) -> str:
    """Return the text as it is: matplotlib reads dollar signs as formulas."""
    return text.replace("$", r"\$")


# The frontier ----------------------------------------------------------------------------------------------------


@dataclass
class FrontierDisplay(Display):
    """The trade-off of a run: what each candidate costs and what it protects.

    Attributes
    ----------
    points
        The figures of each candidate of the frontier, by its id.
    names
        What some of them are called ("knee", "chosen"; where nothing fits, "nearest, does not fit").
    untouched, suppressed
        The limit points: everything asked, nothing asked.
    part
        Whether the figures are those of the "test" part or of "validation".
    figure_, ax_
        The picture, once it is drawn.

    Examples
    --------
    >>> FrontierDisplay.from_run(run).plot()  # doctest: +SKIP
    """

    points: Mapping[str, Figures]
    names: Mapping[str, str]
    untouched: Figures
    suppressed: Figures
    part: str = "test"

    @classmethod
    def from_run(cls, run: Run, part: Literal["test", "validation"] = "test") -> FrontierDisplay:
        """Take the figures from a finished run."""
        check_choice("part", part, ("test", "validation"))
        frontier, after = run.frontier, "" if part == "test" else "_validation"
        called = standing(run.choice)
        names = {point.id: called.get(point.id, point_name(point.name)) for point in frontier.points}
        return cls(
            points={point.id: getattr(point, part) for point in frontier.points},
            names={name: words for name, words in names.items() if words},
            untouched=getattr(frontier, f"untouched{after}"),
            suppressed=getattr(frontier, f"suppressed{after}"),
            part=part,
        )

    def plot(self, ax: Any = None) -> FrontierDisplay:
        """Draw it: left is accurate, up is safe."""
        ax = self._begin(ax)
        shown = sorted(self.points.values(), key=lambda figures: figures.point)
        # Found on validation, some may be beaten on the part that is shown: no line leads through those.
        best = [shown[i].point for i in unbeaten([each.point for each in shown])]
        ax.plot(*zip(*best, strict=True), "-", color=COLOURS[0], lw=1, alpha=0.4)
        ax.errorbar(
            [each.utility_risk for each in shown],
            [each.adversary_error for each in shown],
            xerr=_beyond([each.utility_risk for each in shown], [each.utility_interval for each in shown]),
            yerr=_beyond([each.adversary_error for each in shown], [each.adversary_interval for each in shown]),
            fmt="o",
            color=COLOURS[0],
            ecolor=SOFT,
            elinewidth=0.7,
            label="candidates, with 95 % intervals",
        )
        for name, words in self.names.items():
            point = self.points[name].point
            if words in (CHOSEN, CHOSEN_AS_NEAREST, NEAREST):
                filled = COLOURS[1] if words == CHOSEN else "white"
                ax.plot(*point, "D", color=COLOURS[1], markerfacecolor=filled, ms=9)
            _note(ax, words, point)
        for words, figures in (("everything asked", self.untouched), ("nothing asked", self.suppressed)):
            ax.plot(*figures.point, "*", color="black", ms=10)
            _note(ax, words, figures.point)
        ax.set_xlabel(f"utility risk on {self.part}: how often the model errs")
        ax.set_ylabel("adversary error (higher is safer)")
        ax.margins(x=0.15, y=0.1)
        ax.legend(frameon=False, loc="lower right")
        return self


def _note(ax: Any, words: str, point: Point) -> None:
    ax.annotate(words, point, textcoords="offset points", xytext=(7, -12), fontsize=9)


def _beyond(values: Sequence[float], intervals: Sequence[Interval | None]) -> npt.NDArray[np.float64]:
    """Return how far each interval reaches below and above its value."""
    ends = [(value, value) if each is None else each for value, each in zip(values, intervals, strict=True)]
    low, high = np.array(ends).T
    return np.maximum([np.subtract(values, low), np.subtract(high, values)], 0.0)


# The attacks -----------------------------------------------------------------------------------------------------


class Risk(NamedTuple):
    """What one adversary found: its error, its interval, and the error of guessing."""

    adversary: str
    error: float
    interval: Interval | None
    guessing: float


@dataclass
class RiskDisplay(Display):
    """How often each adversary is wrong, beside somebody who only guesses. Higher is safer.

    Attributes
    ----------
    risks
        One for each adversary.
    figure_, ax_
        The picture, once it is drawn.
    """

    risks: Sequence[Risk]

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation) -> RiskDisplay:
        """Take the errors from a judgement."""
        if not evaluation.attacks:
            raise ParameterError("the evaluation has no attacks; name adversaries when it is made")
        attacks = evaluation.attacks
        return cls([Risk(_who(a.adversary), a.adversary_error, a.interval, a.baseline) for a in attacks])

    def plot(self, ax: Any = None) -> RiskDisplay:
        """Draw a bar for each adversary, and a mark where guessing lies."""
        ax = self._begin(ax)
        errors, places = [risk.error for risk in self.risks], range(len(self.risks))
        reach = _beyond(errors, [risk.interval for risk in self.risks])
        ax.barh(
            places, errors, xerr=reach, height=0.6, color=COLOURS[4], ecolor=SOFT, label="adversary, 95 % interval"
        )
        ax.plot(
            [risk.guessing for risk in self.risks], places, "|", color=COLOURS[1], ms=18, mew=3, label="guessing"
        )
        ax.set_yticks(places, [plain(risk.adversary) for risk in self.risks])
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_xlabel("adversary error (higher is safer)")
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)
        return self


def _who(name: str) -> str:
    return f"{name}: {PAPER[name].words}" if name in PAPER else name


# The buckets -----------------------------------------------------------------------------------------------------


class Span(NamedTuple):
    """A bucket that lies between two places of the axis."""

    label: str
    low: float
    high: float


@dataclass
class PartitionDisplay(Display):
    """How the people of each class are spread over the values of an attribute, and where its buckets end.

    Attributes
    ----------
    attribute, unit
        Whose values these are.
    places, width
        Where the bars stand: numbers, or the values one after the other, bucket by bucket.
    values
        The names of the bars; none where they are numbers.
    counts
        How many people of each class (rows) each bar has (columns).
    classes
        The names of the classes.
    spans
        The buckets; none where the attribute is asked exactly or not at all.
    note
        What is not in the picture.
    figure_, ax_
        The picture, once it is drawn.
    """

    attribute: str
    unit: str
    places: npt.NDArray[np.float64]
    width: float
    values: Sequence[str]
    counts: npt.NDArray[np.float64]
    classes: Sequence[str]
    spans: Sequence[Span]
    note: str = ""

    @classmethod
    def from_generalization(cls, generalization: Generalization, table: Table, attribute: str) -> PartitionDisplay:
        """Count the people of a table; the table may have a label or none."""
        j = generalization.schema.position(attribute)
        partition, buckets = generalization[attribute], table.bucket_maps(generalization)[j]
        label = table.schema.label if table.labels is not None and table.graded is None else None
        classes = ["people"] if label is None else [label.label_of(value) for value in label.values]
        rows = np.zeros(len(table), dtype=int) if label is None else table.y.astype(int)
        use = np.zeros((len(classes), table.sizes[j]))
        np.add.at(use, (rows, table.codes[:, j]), table.counts)
        if partition.attribute.continuous:
            bars = _bars_of_numbers(partition.attribute, table.levels[j].astype(float), use)
            spans = _spans_of_numbers(partition, bars)
        else:
            bars, spans = _bars_of_values(partition, buckets, use), _spans_of_values(partition, buckets)
        whole = partition.suppressed or partition.untouched
        unseen = use.sum() - bars.counts.sum()
        without = counted(unseen, "person without a finite number is", "people without a finite number are")
        note = f"{without} not shown" if unseen else ""
        return cls(
            attribute=attribute,
            unit=partition.attribute.unit,
            **bars._asdict(),
            classes=classes,
            spans=() if whole else spans,
            note="not asked" if partition.suppressed else note,
        )

    def plot(self, ax: Any = None) -> PartitionDisplay:
        """Draw the people of each class on top of each other, and a line where a bucket ends."""
        ax = self._begin(ax)
        below = np.zeros(self.counts.shape[1])
        for i, (name, people) in enumerate(zip(self.classes, self.counts, strict=True)):
            colour = COLOURS[i % len(COLOURS)]
            ax.bar(self.places, people, self.width, bottom=below, color=colour, alpha=0.8, label=plain(name))
            below += people
        for i, (label, low, high) in enumerate(self.spans):
            ax.axvspan(low, high, color=SOFT, alpha=0.18 * (i % 2), lw=0, zorder=0)
            if i:
                ax.axvline(low, color="black", lw=1, ls="--")
            if not len(self.values) and len(self.spans) <= MOST_SHOWN:  # named values are written below the bars
                where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "xytext": (0, 3)}
                ax.annotate(plain(label), ((low + high) / 2, 1.0), **where, rotation=30, ha="left", fontsize=8)
        if len(self.values):
            ax.set_xticks(
                self.places, [plain(value) for value in self.values], rotation=40, ha="right", fontsize=8
            )
        name = f"{self.attribute} ({self.unit})" if self.unit else self.attribute
        ax.set_xlabel(plain(f"{name}: {self.note}" if self.note else name))
        ax.set_ylabel("people")
        ax.margins(x=0.01)
        ax.legend(frameon=False)
        return self


class _Bars(NamedTuple):
    """Where the bars stand, how wide they are, their names, and how many people of each class they have."""

    places: npt.NDArray[np.float64]
    width: float
    values: Sequence[str]
    counts: npt.NDArray[np.float64]


def _bars_of_numbers(attribute: Attribute, levels: npt.NDArray[np.float64], use: npt.NDArray[np.float64]) -> _Bars:
    finite = np.flatnonzero(np.isfinite(levels))
    numbers, people = levels[finite], use[:, finite]
    if attribute.integer and len(numbers):
        # The same whole numbers in every bar: otherwise some would look fuller than their neighbours.
        step = math.ceil((np.ptp(numbers) + 1) / MOST_BARS)
        ends = np.arange(numbers[0] - 0.5, numbers[-1] + 0.5 + step, step)
    else:
        ends = np.histogram_bin_edges(numbers, MOST_BARS)
    counts = np.stack([np.histogram(numbers, ends, weights=each)[0] for each in people])
    return _Bars((ends[:-1] + ends[1:]) / 2, float(ends[1] - ends[0]), (), counts)


def _spans_of_numbers(partition: Partition, bars: _Bars) -> list[Span]:
    if not isinstance(partition, Intervals):
        return []
    # An edge belongs to the bucket on its left: of whole numbers the line comes after it, and cuts no bar of one.
    shift = 0.5 if partition.attribute.integer else 0.0
    low, high = bars.places[0] - bars.width / 2, bars.places[-1] + bars.width / 2
    ends = [low, *np.clip(np.array(partition.edges) + shift, low, high), high]
    spans = map(Span, partition.labels, ends, ends[1:])
    return [span for span in spans if span.low < span.high]


def _bars_of_values(partition: Partition, buckets: npt.NDArray[np.intp], use: npt.NDArray[np.float64]) -> _Bars:
    attribute, order = partition.attribute, np.argsort(buckets, kind="stable")
    names = [attribute.label_of(value) for value in attribute.values]
    names += ["missing"] * attribute.missing + ["other"] * attribute.other
    return _Bars(np.arange(len(order), dtype=float), 0.8, [names[code] for code in order], use[:, order])


def _spans_of_values(partition: Partition, buckets: npt.NDArray[np.intp]) -> list[Span]:
    ends = [-0.5, *np.cumsum(np.bincount(buckets, minlength=partition.size)) - 0.5]
    return [*map(Span, partition.labels, ends, ends[1:])]
