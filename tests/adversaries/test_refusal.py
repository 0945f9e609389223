"""Who refuses to answer tells something: a refusal, as a word or as no answer, is a value and attacked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from leastwise import Attribute, Generalization, Groups, Schema, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.cli.main import app
from leastwise.evaluation import Evaluation
from leastwise.partition import suppress

REFUSED = "prefer not to say"
ILL = Attribute("ill", values=("no", "yes"), personal=True)
SPOKEN = Attribute("pay", values=("low", "high", REFUSED), personal=True)
SILENT = Attribute("pay", values=("low", "high"), missing=True, personal=True)


def people(rows: int = 2000) -> pl.DataFrame:
    """Of the ill nine in ten refuse to say what they earn, of the others one in ten."""
    rng = np.random.default_rng(0)
    ill = rng.random(rows) < 0.5
    refused = rng.random(rows) < np.where(ill, 0.9, 0.1)
    pay = rng.choice(["low", "high"], rows)
    label = np.where(pay == "high", "yes", "no")
    return pl.DataFrame({"ill": np.where(ill, "yes", "no"), "pay": np.where(refused, REFUSED, pay), "y": label})


def told(attribute: Attribute, buckets: tuple[int, ...] | None) -> float:
    """Return how often A1 is wrong about who is ill, where only this is asked of the pay."""
    frame = people()
    if attribute.missing:
        frame = frame.with_columns(pay=pl.col("pay").replace(REFUSED, None))
    table = Table.from_frame(frame, Schema((ILL, attribute)))
    asked = suppress(attribute) if buckets is None else Groups(attribute, buckets)
    breach = Breach.of(Generalization((suppress(ILL), asked)), table.split(0))
    return Reconstruction().attack(breach)["ill"].adversary_error


@pytest.mark.parametrize("attribute", [SPOKEN, SILENT], ids=["a word", "no answer"])
def test_what_a_refusal_tells_is_found(attribute: Attribute) -> None:
    assert told(attribute, (0, 0, 1)) == pytest.approx(0.1, abs=0.03), "asked is only whether it was refused"
    assert told(attribute, (0, 1, 2)) == pytest.approx(0.1, abs=0.03)
    assert told(attribute, None) == pytest.approx(0.5, abs=0.05), "missing at random is not assumed, nor told then"


def test_a_refusal_that_is_put_together_with_an_answer_tells_less() -> None:
    apart, together = told(SPOKEN, (0, 1, 2)), told(SPOKEN, (0, 1, 1))
    assert together > apart + 0.1
    assert told(SILENT, (0, 1, 1)) == pytest.approx(together, abs=1e-9), "a word or no answer: the same people"


@pytest.mark.parametrize("options", [[], ["--missing", REFUSED]], ids=["a word", "no answer"])
def test_by_the_real_commands(tmp_path: Path, options: list[str]) -> None:
    data, artefact, judged = (str(tmp_path / name) for name in ("people.csv", "g.json", "e.json"))
    people().write_csv(data)
    minimized = ["minimize", data, "--label", "y", "--personal", "ill,pay", *options, "-m", "uniform"]
    result = CliRunner().invoke(app, [*minimized, "--set", "k=3", "-o", artefact])
    assert result.exit_code == 0, result.output
    whole = Generalization.load(artefact)
    hidden = Generalization((suppress(whole["ill"].attribute), whole["pay"]), whole.label)
    hidden.save(artefact)
    given = ["evaluate", artefact, data, *options, "-a", "A1", "--personal", "ill", "--quick", "-o", judged]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    (attack,) = Evaluation.load(judged).attacks
    assert attack.adversary_error == pytest.approx(0.1, abs=0.04)
    assert attack.baseline == pytest.approx(0.5, abs=0.05)
