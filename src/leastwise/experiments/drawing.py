"""Rows as a picture: lines or bars (extra: experiments, for matplotlib)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from leastwise.errors import MissingExtraError
from leastwise.experiments.declaration import Picture, Row
from leastwise.report.displays import plain

# Told apart by everybody, in print too: colour and marker change together.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d3a9b", "#777777", "#222222")
MARKERS = "osD^vPX*h"


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
