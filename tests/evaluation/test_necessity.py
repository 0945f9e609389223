from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from leastwise import ArtefactError, Attribute, Generalization, Intervals, ParameterError, Schema, Split, Table
from leastwise.confidence import Interval
from leastwise.evaluation import Necessity, necessity_of
from leastwise.evaluation.worth import Estimate, Worth
from leastwise.partition import keep, suppress
from leastwise.runs import Workers
from tests.samples import LABEL, Heard, coded, named, unlabelled

AGE = Attribute("age", "continuous", integer=True, lower=0, upper=99)


def planted(rows: int = 3000, seed: int = 0) -> Table:
    """``tells`` tells the label alone, ``copy`` repeats it, ``secret`` is personal, ``noise`` is nothing."""
    random = np.random.default_rng(seed)
    tells, noise, age = random.integers(0, 4, rows), random.integers(0, 3, rows), random.integers(0, 100, rows)
    secret = np.where(random.random(rows) < 0.8, noise, random.integers(0, 3, rows))
    labels = (tells >= 2) ^ (random.random(rows) < 0.1)
    schema = Schema(
        (named("tells", 4), named("copy", 4), named("noise", 3), named("secret", 3, personal=True), AGE), LABEL
    )
    return coded(schema, tells, tells, noise, secret, age, labels=labels)


def asking(table: Table, *names: str) -> Generalization:
    partitions = (keep(a) if a.name in names else suppress(a) for a in table.schema.attributes)
    return Generalization(tuple(partitions), table.schema.label)


@cache
def found(*names: str, seed: int = 0) -> Necessity:
    table = planted(seed=seed)
    return necessity_of(asking(table, *names), table)


def worth(all_worth: tuple[Worth, ...], name: str) -> Worth:
    return next(each for each in all_worth if each.attribute == name)


def test_the_only_telling_question_is_needed_and_costs_all_that_it_tells() -> None:
    only = found("tells", "noise")
    each, truth = worth(only.asked, "tells"), planted().split(0).test.y
    assert each.buys == "accuracy"
    assert each.error.interval.low > 0.3
    guess = min(truth.mean(), 1 - truth.mean())  # without it the model names the commoner class
    assert only.error + each.error.mean == pytest.approx(guess, abs=0.02)
    assert "Needed." in only.sentences()[0]


@pytest.mark.parametrize("seed", range(6))
def test_noise_buys_nothing_asked_or_not(seed: int) -> None:
    for each in (
        worth(found("tells", "noise", seed=seed).asked, "noise"),
        worth(found("tells", seed=seed).not_asked, "noise"),
        worth(found("tells", seed=seed).not_asked, "age"),
    ):
        assert each.error.interval.low <= 0 <= each.error.interval.high
        assert each.buys != "accuracy"


def test_one_of_two_copies_can_go() -> None:
    both = found("tells", "copy")
    for each in both.asked:
        assert each.error.mean == pytest.approx(0, abs=1e-9)
        assert each.buys == "nothing"
        assert each.adversary_error == pytest.approx(0, abs=1e-9)
    assert worth(found("noise").not_asked, "copy").buys == "accuracy"


def test_of_two_that_tell_the_same_one_is_needed() -> None:
    both = found("tells", "copy")
    assert both.together is not None
    assert both.together.buys == "accuracy"
    assert both.together.error.interval.low > 0.3
    assert both.sentences()[2].startswith("Leaving out tells and copy costs")
    assert both.reasons()["copy"] == "Another question tells nearly the same; one of them is needed."
    assert [row[1] for row in both.tables()[0].rows] == [
        *["by itself it could be left out, but not together with others that could"] * 2,
        "needed",
    ]
    assert "could be left out, but not together with others" in both.sentences()[0]
    assert found("tells", "noise").together is None  # one alone has been left out already
    assert "buys nothing that these records can tell" in [
        row[1] for row in found("tells", "noise").tables()[0].rows
    ]


def test_the_attacker_loses_what_a_question_told() -> None:
    """The noise repeats the secret for most people: without it A1 is left with a guess."""
    each = worth(found("tells", "noise").asked, "noise")
    assert each.adversary_error is not None
    assert 0.4 < each.adversary_error < 0.6
    assert each.own is None  # the noise is not personal
    secret = worth(found("tells", "secret").asked, "secret")
    assert secret.own == secret.adversary_error  # the only personal attribute
    assert worth(found("tells").not_asked, "secret").own == pytest.approx(secret.own, abs=1e-9)


def test_asked_and_not_asked_are_the_same_question() -> None:
    """Leaving it out of two, and putting it beside one, compare the same two generalizations."""
    left = worth(found("tells", "noise").asked, "noise")
    beside = worth(found("tells").not_asked, "noise")
    assert (left.error, left.log_loss, left.adversary_error) == (
        beside.error,
        beside.log_loss,
        beside.adversary_error,
    )


def test_a_boundary_in_the_middle_is_needed_and_one_beside_it_is_not() -> None:
    random = np.random.default_rng(1)
    age = random.integers(0, 100, 4000)
    schema = Schema((AGE, named("sex", 2, personal=True)), LABEL)
    table = coded(schema, age, random.integers(0, 2, 4000), labels=(age > 49) ^ (random.random(4000) < 0.05))
    ways = (Intervals(AGE, (24, 49, 74)), suppress(schema.attributes[1]))
    result = necessity_of(Generalization(ways, schema.label), table)
    buys = {each.asked_as: each.buys for each in result.boundaries}
    assert [*buys] == ["0 to 24 | 25 to 49", "25 to 49 | 50 to 74", "50 to 74 | 75 to 99"]
    assert [*buys.values()] == ["nothing", "accuracy", "nothing"]
    assert result.sentences()[-1] == (
        "Of 3 pairs of neighbouring answers 2 could be one answer, each by itself and by counting: 2 of 3 of age."
    )


def test_a_number_that_is_not_asked_is_tried_in_full_or_in_a_few_ranges() -> None:
    random = np.random.default_rng(2)
    age = random.integers(0, 100, 3000)
    schema = Schema((AGE, named("sex", 2)), LABEL)
    table = coded(schema, age, random.integers(0, 2, 3000), labels=(age > 49) ^ (random.random(3000) < 0.1))
    result = necessity_of(asking(table, "sex"), table)
    each = worth(result.not_asked, "age")
    assert each.asked_as in ("exactly", "in 8 ranges")
    assert each.buys == "accuracy"
    assert (each.adversary_error, each.own, result.adversary_error) == (None, None, None)  # nothing is personal
    assert "A1" not in result.sentences()[0]
    assert "would buy accuracy" in result.tables()[1].rows[0][1]


def test_records_of_one_person_are_one_witness() -> None:
    table = planted(600)
    four = table.take(np.repeat(np.arange(600), 4))
    whose = replace(four, persons=np.repeat(np.arange(600), 4))
    split = whose.split(0)
    known = necessity_of(asking(table, "tells"), split, boundaries=False)
    blind = necessity_of(
        asking(table, "tells"), Split(*(replace(p, persons=None) for p in split)), boundaries=False
    )
    (one,), (many,) = known.asked, blind.asked
    assert one.error.mean == many.error.mean
    wide, narrow = (np.diff(each.error.interval)[0] for each in (one, many))
    assert wide == pytest.approx(2 * narrow, rel=0.01)  # a quarter of the witnesses


def test_it_is_told_how_far_it_has_come() -> None:
    table, heard = planted(600), Heard()
    necessity_of(asking(table, "tells"), table, progress=heard)
    assert heard.words == ["questions", "boundaries"]
    assert (5, 5) in heard.steps


def test_the_same_records_give_the_same_bytes_and_they_read_back(tmp_path: Path) -> None:
    table = planted(600)
    first, second = (necessity_of(asking(table, "tells", "secret"), table) for _ in range(2))
    assert first.to_json() == second.to_json()
    first.save(tmp_path / "necessity.json")
    assert Necessity.load(tmp_path / "necessity.json") == first
    document = json.loads(first.to_json())
    document["asked"][0]["error"].pop("mean")
    with pytest.raises(ArtefactError, match="mean: is missing"):
        Necessity.from_json(json.dumps(document))


def test_it_shows_itself() -> None:
    result = found("tells", "noise")
    assert repr(result) == "<Necessity of 2 questions, 1 needed>"
    shown = result._repr_html_()
    for text in ("Not asked", "needed", "neighbouring answers", "900 people"):
        assert text in shown
    assert str(result).splitlines()[-1] == result.method()


def made(error: tuple[float, float, float], log_loss: tuple[float, float, float] = (0, -1, 1)) -> Worth:
    estimates = [Estimate(mean=mean, interval=Interval(low, high)) for mean, low, high in (error, log_loss)]
    return Worth(
        attribute="age",
        personal=True,
        asked_as="in 3 ranges",
        error=estimates[0],
        log_loss=estimates[1],
        adversary_error=0.003,
        own=-0.02,
    )


@pytest.mark.parametrize(
    ("each", "reason", "sentence"),
    [
        (
            made((0.005, 0.002, 0.008)),
            "Without it, about 5 more of 1,000 people would get a wrong prediction.",
            "Leaving out age costs 0.50 points (0.20 to 0.80); A1 would err 0.30 points more and about age 2.00 "
            "points less. Needed.",
        ),
        (
            made((0.0002, 0.0001, 0.0003)),
            "Without it, fewer than 1 more of 1,000 people would get a wrong prediction.",
            "costs 0.02 points (0.01 to 0.03)",
        ),
        (made((0, -0.1, 0.1), (0.1, 0.05, 0.2)), "It makes the predictions surer.", "Makes the model surer only."),
        (
            made((0, -0.1, 0.1)),
            "We could not measure that it makes a difference.",
            "Buys nothing that these records can tell.",
        ),
        (made((-0.2, -0.3, -0.1), (0.1, 0.05, 0.2)), "We could not measure", "Buys nothing"),
    ],
)
def test_it_says_why(each: Worth, reason: str, sentence: str) -> None:
    result = replace(found("tells"), asked=(each,))
    assert reason in result.reasons()["age"]
    assert sentence in result.sentences()[0]


def test_what_is_lost_is_told_by_the_verb_and_not_by_a_sign() -> None:
    result = replace(found("tells"), asked=(made((-0.2, -0.3, -0.1)),), not_asked=(made((-0.03, -0.05, -0.01)),))
    left, beside = result.sentences()[0], next(s for s in result.sentences() if s.startswith("Asking"))
    assert left.startswith("Leaving out age saves 20.0 points (10.0 to 30.0); A1")
    assert beside.startswith("Asking age in 3 ranges too would cost 3.00 points (1.00 to 5.00); A1")
    each = {"one": Estimate(mean=-0.02, interval=Interval(-0.03, -0.01))}
    several = replace(result, asked=(replace(made((-0.02, -0.03, -0.01)), by_label=each),))
    assert "saves 2.00 points (1.00 to 3.00): 2.00 about one; A1" in several.sentences()[0]


def test_records_that_had_a_say_are_refused() -> None:
    table = planted(600)
    split = table.split(0)
    chosen = replace(asking(table, "tells"), origin={"chosen_on": "train", "split_seed": 3})
    with pytest.raises(ParameterError, match="seed 3"):
        necessity_of(chosen, split)
    assert necessity_of(chosen, split, held_out=True, boundaries=False).boundaries == ()
    with pytest.raises(ParameterError, match="did not choose"):
        necessity_of(asking(table, "tells"), split._replace(test=split.train))


def test_without_a_label_there_is_nothing_to_be_needed_for() -> None:
    table = unlabelled(planted(300))
    with pytest.raises(Exception, match="needs a label"):
        necessity_of(asking(table, "tells"), table)


def test_several_at_once_find_the_same():
    table, workers = planted(), Workers(2, "threading")
    with workers.ready():
        together = necessity_of(asking(table, "tells", "secret"), table, mapped=workers.map)
    assert together == found("tells", "secret")
