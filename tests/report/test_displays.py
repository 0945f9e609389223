"""The pictures: what is drawn is what was found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from leastwise import (
    Attribute,
    FrontierDisplay,
    Generalization,
    Groups,
    Intervals,
    MissingExtraError,
    ParameterError,
    PartitionDisplay,
    RiskDisplay,
)
from leastwise.runs import Run
from tests.runs.small import SCHEMA, records
from tests.samples import one_column

plt = pytest.importorskip("matplotlib.pyplot", reason="pictures are drawn by matplotlib")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_the_frontier(run: Run) -> None:
    for part in ("test", "validation"):
        display = FrontierDisplay.from_run(run, part).plot()  # type: ignore[arg-type]
        assert display.ax_.figure is display.figure_
        (line, *_) = display.ax_.lines
        assert sorted(zip(*line.get_data(), strict=True)) == sorted(
            getattr(point, part).point for point in run.frontier.points
        )
        said = {text.get_text() for text in display.ax_.texts}
        assert said == {"chosen", "everything asked", "nothing asked"}
        assert part in display.ax_.get_xlabel()
        display.figure_.canvas.draw()


def test_no_line_leads_through_what_is_beaten(run: Run) -> None:
    display = FrontierDisplay.from_run(run)
    (name, best), *_ = display.points.items()
    beaten = replace(best, utility_risk=best.utility_risk + 0.1, adversary_error=best.adversary_error / 2)
    display.points, display.names = {name: best, "beaten": beaten}, {}
    (line, *_) = display.plot().ax_.lines
    assert [*zip(*line.get_data(), strict=True)] == [best.point]


def test_a_picture_is_drawn_where_one_wants_it(run: Run) -> None:
    _, (left, right) = plt.subplots(1, 2)
    assert FrontierDisplay.from_run(run).plot(ax=right).ax_ is right
    assert not left.lines


def test_adversaries_stand_beside_guessing(run: Run) -> None:
    assert run.choice.candidate is not None
    evaluation = run.evaluation(run.choice.candidate)
    display = RiskDisplay.from_evaluation(evaluation).plot()
    found = evaluation.attacks
    assert [bar.get_width() for bar in display.ax_.patches] == [a.adversary_error for a in found]
    marks = next(line for line in display.ax_.lines if line.get_label() == "guessing")
    assert [*marks.get_xdata()] == [a.baseline for a in found]
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [name[:2] for name in names] == [a.adversary for a in found]
    display.figure_.canvas.draw()


def test_without_attacks_there_is_nothing_to_draw(run: Run) -> None:
    assert run.choice.candidate is not None
    with pytest.raises(ParameterError, match="has no attacks"):
        RiskDisplay.from_evaluation(replace(run.evaluation(run.choice.candidate), attacks=()))


def test_numbers_are_counted_by_class_and_cut_at_the_edges() -> None:
    table = records()
    g = Generalization.of([Intervals(SCHEMA["age"], (40, 60))], SCHEMA.attributes, label=SCHEMA.label)
    display = PartitionDisplay.from_generalization(g, table, "age").plot()
    assert [span.label for span in display.spans] == ["0 to 40", "41 to 60", "61 to 99"]
    assert [span.low for span in display.spans[1:]] == [40.5, 60.5]
    assert display.counts.sum(axis=1).tolist() == np.bincount(table.y).tolist()
    assert display.classes == ["no", "yes"]
    lines = [line.get_xdata()[0] for line in display.ax_.lines]
    assert lines == [40.5, 60.5]
    # Every bar has the people it stands for.
    bars = np.histogram(table.levels[0][table.codes[:, 0]], bins=np.append(
        display.places - display.width / 2, display.places[-1] + display.width / 2
    ))[0]  # fmt: skip
    assert display.counts.sum(axis=0).tolist() == bars.tolist()
    display.figure_.canvas.draw()


def test_values_stand_bucket_by_bucket() -> None:
    table = records()
    g = Generalization.of([Groups(SCHEMA["job"], (0, 1, 0, 1, 1))], SCHEMA.attributes, label=SCHEMA.label)
    display = PartitionDisplay.from_generalization(g, table, "job").plot()
    assert display.values == ["a", "c", "b", "d", "e"]
    assert [(span.low, span.high) for span in display.spans] == [(-0.5, 1.5), (1.5, 4.5)]
    assert display.counts.sum(axis=0).tolist() == table.use(1)[[0, 2, 1, 3, 4]].tolist()
    display.figure_.canvas.draw()


def test_what_is_not_asked_or_asked_in_full_has_no_edges() -> None:
    suppressed = PartitionDisplay.from_generalization(Generalization.suppressed(SCHEMA), records(), "sex").plot()
    assert suppressed.ax_.get_xlabel() == "sex: not asked"
    g = Generalization.untouched(SCHEMA)
    untouched = [PartitionDisplay.from_generalization(g, records(), name) for name in ("age", "sex")]
    for display in (suppressed, *untouched):
        assert not display.spans
        assert display.counts.sum() == 600


def test_people_without_a_number_and_without_a_label_are_counted() -> None:
    pay = Attribute("pay $", "continuous", missing=True)
    table = one_column(pay, [1.5, 2.5, np.inf, None])
    display = PartitionDisplay.from_generalization(
        Generalization.of([Intervals(pay, (2,))], (pay,)), table, "pay $"
    )
    assert display.plot().ax_.get_xlabel() == r"pay \$: 2 people without a finite number are not shown"
    assert display.classes == ["people"]
    assert display.counts.sum() == 2


def test_without_matplotlib_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"leastwise\[plots\]"):
        FrontierDisplay.from_run(run).plot()


def test_where_nothing_fits_the_nearest_is_not_called_chosen(nothing: Run) -> None:
    display = FrontierDisplay.from_run(nothing).plot()
    said = {text.get_text() for text in display.ax_.texts}
    assert said == {"nearest, does not fit", "everything asked", "nothing asked"}
