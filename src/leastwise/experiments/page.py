"""An experiment on disk: rows as CSV, a picture as SVG, and a page that puts the paper's figures beside ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from leastwise.documents import write_whole
from leastwise.experiments.declaration import Experiment, Picture, Row
from leastwise.experiments.drawing import draw, series_of


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
            ours=_inline(self.rows, experiment.picture, order),
            theirs=_inline(paper.rows, experiment.picture, order) if _drawable(experiment) else None,
            table=_table(self.rows),
            paper_table=_table(paper.rows),
        )

    def save(self, folder: str | Path) -> list[Path]:
        """Write the three files; return their paths, the page last."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = {
            "csv": self.to_csv(),
            "svg": draw(self.rows, self.experiment.picture),
            "html": self.to_html(),
        }
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


def _table(rows: Sequence[Row]) -> dict[str, Any]:
    columns = _columns(rows)
    return {"columns": columns, "rows": [[_short(row.get(name, "")) for name in columns] for row in rows]}


def _exact(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
