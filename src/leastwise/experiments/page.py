"""An experiment on disk: rows as CSV, a picture as SVG (extra: experiments), and a page beside the paper's."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from leastwise.documents import write_whole
from leastwise.errors import MissingExtraError
from leastwise.experiments.declaration import Experiment, Picture, Row
from leastwise.report.displays import plain

# Told apart by everybody, in print too: colour and marker change together.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d3a9b", "#777777", "#222222")
MARKERS = "osD^vPX*h"
_SMALL = 0.01


def series_of(rows: Sequence[Row], picture: Picture) -> list[str]:
    """Return the names of the series, in the order of the rows."""
    return [*dict.fromkeys(str(row.get(picture.series, "")) for row in rows)]


def draw(rows: Sequence[Row], picture: Picture, order: Sequence[str] = ()) -> str:
    """Return the picture of some rows as SVG; the same rows give the same bytes.

    ``order`` lists the series of several pictures that are to share colours.
    """
    looks = {name: i for i, name in enumerate(order or series_of(rows, picture))}
    mpl, plt = _matplotlib()
    settings = {"svg.fonttype": "none", "svg.hashsalt": "leastwise", "font.size": 10, "font.family": "sans-serif"}
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
        (_bars if picture.kind == "bars" else _curves)(axes, rows, picture, looks)
        axes.set_xlabel(picture.xlabel or picture.x)
        axes.set_ylabel(picture.ylabel or picture.y)
        axes.spines[["top", "right"]].set_visible(False)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(figure)
    return text.getvalue()


def require_matplotlib() -> None:
    """Complain in one line when matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("matplotlib", "experiments") from None


def _matplotlib() -> tuple[Any, Any]:
    require_matplotlib()
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    return mpl, plt


def _curves(axes: Any, rows: Sequence[Row], picture: Picture, looks: Mapping[str, int]) -> None:
    names = series_of(rows, picture)
    for name in names:
        i = looks[name]
        own = [row for row in rows if str(row.get(picture.series, "")) == name]
        points = sorted((float(row[picture.x]), float(row[picture.y])) for row in own)
        look = {"marker": MARKERS[i % len(MARKERS)], "color": COLOURS[i % len(COLOURS)], "ms": 5, "alpha": 0.85}
        axes.plot(*zip(*points, strict=True), linewidth=1, label=plain(name), **look)
    if len(names) > 1:
        axes.legend(frameon=False, fontsize=8, ncols=1 if len(names) < 10 else 2)


def _bars(axes: Any, rows: Sequence[Row], picture: Picture, looks: Mapping[str, int]) -> None:
    names = [*dict.fromkeys(str(row[picture.x]) for row in rows)]
    groups = series_of(rows, picture)
    width = 0.8 / len(groups)
    for i, group in enumerate(groups):
        own = [row for row in rows if str(row.get(picture.series, "")) == group]
        places = [names.index(str(row[picture.x])) + (i - (len(groups) - 1) / 2) * width for row in own]
        heights = [float(row[picture.y]) for row in own]
        colour = COLOURS[looks[group] % len(COLOURS)]
        axes.bar(places, heights, width * 0.92, color=colour, label=plain(group) or picture.y)
    for i, column in enumerate(picture.beside):
        known = [(names.index(str(row[picture.x])), float(row[column])) for row in rows if column in row]
        if known:
            axes.plot(*zip(*known, strict=True), MARKERS[i + 1], color=COLOURS[i + 1], label=column, ms=6)
    long = any(len(name) > 8 for name in names)
    axes.set_xticks(range(len(names)), [plain(name) for name in names], rotation=35 if long else 0)
    if long:
        axes.tick_params(axis="x", labelsize=8)
        for tick in axes.get_xticklabels():
            tick.set_horizontalalignment("right")
    if len(groups) > 1 or picture.beside:
        axes.legend(frameon=False, fontsize=8)


@dataclass(frozen=True)
class Outcome:
    """The measured rows of an experiment, and how they came about."""

    experiment: Experiment
    rows: Sequence[Row]
    facts: Mapping[str, str]

    def to_csv(self) -> str:
        """Return the rows as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _columns(self.rows), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _exact(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    def to_html(self) -> str:
        """Return the page; it needs nothing beside it."""
        experiment, paper = self.experiment, self.experiment.paper
        order = series_of([*self.rows, *paper.rows], experiment.picture)
        environment = Environment(loader=PackageLoader("leastwise.experiments"), autoescape=True)
        return environment.get_template("page.html").render(
            experiment=experiment,
            facts=self.facts,
            verdict=self.verdict,
            ours=_inline(self.rows, experiment.picture, order),
            theirs=_inline(paper.rows, experiment.picture, order) if _drawable(experiment) else None,
            table=_table(self.rows, _short),
            paper_table=_table(paper.rows, _printed),
        )

    @property
    def verdict(self) -> list[str]:
        """What agrees with the paper and what does not, claim by claim, and why numbers may differ."""
        said = {True: "Agrees", False: "Does not agree here", None: "Cannot be told from these rows"}
        claims = [f"{said[claim.holds(self.rows)]}: {claim.words}" for claim in self.experiment.claims]
        reasons = [
            "The paper's figures are of ACS of California 2014, Health, Loan 2015 and Crime: another state or "
            "year and other attributes give other numbers; what should agree is the order.",
            "What is stolen is z alone, as in the paper; leastwise otherwise counts the label as stolen too.",
        ]
        if self.facts.get("strength", "").startswith("quick"):
            reasons.append("This was a quick run: fewer settings and shorter training than the paper's.")
        return [*(claims or ["Nothing here is decided by a rule: compare the two pictures."]), *reasons]

    def save(self, folder: str | Path) -> list[Path]:
        """Write the three files; return their paths, the page last."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = {"csv": self.to_csv(), "svg": draw(self.rows, self.experiment.picture), "html": self.to_html()}
        paths = []
        for ending, text in texts.items():
            paths.append(place / f"{self.experiment.name}.{ending}")
            write_whole(paths[-1], text)
        return paths


def _drawable(experiment: Experiment) -> bool:
    """Say whether the paper prints enough numbers for a picture like ours."""
    wanted = {experiment.picture.x, experiment.picture.y}
    return len(experiment.paper.rows) > 1 and all(wanted <= set(row) for row in experiment.paper.rows)


def _inline(rows: Sequence[Row], picture: Picture, order: Sequence[str]) -> Markup:
    svg = draw(rows, picture, order)
    return Markup(svg[svg.index("<svg") :])  # noqa: S704  matplotlib has escaped the texts in it


def _columns(rows: Sequence[Row]) -> list[str]:
    return [*dict.fromkeys(name for row in rows for name in row)]


def _table(rows: Sequence[Row], write: Callable[[Any], str]) -> dict[str, Any]:
    columns = _columns(rows)
    return {"columns": columns, "rows": [[write(row.get(name, "")) for name in columns] for row in rows]}


def _exact(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _short(value: Any) -> str:
    """Write a figure in three digits behind the point, a small one in four: .25 % and .30 % are not the same.

    >>> _short(0.0025), _short(0.1234), _short(52000)
    ('0.0025', '0.123', '52,000')
    """
    if isinstance(value, float):
        return f"{value:.4f}" if 0 < abs(value) < _SMALL else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _printed(value: Any) -> str:
    """Write a figure of the paper without digits that it does not print: two behind the point, or as it has.

    >>> _printed(0.43), _printed(0.275), _printed(0.2), _printed(0.003)
    ('0.43', '0.275', '0.20', '0.0030')
    """
    text = _short(value)
    return text.removesuffix("0") if isinstance(value, float) and abs(value) >= _SMALL else text
