"""The least of a generalization: what the records cannot tell apart is not asked apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, Schema, Table
from leastwise.minimizers import Constraints
from leastwise.minimizers.merging import merging, search
from leastwise.minimizers.merging.few_answers import MOST_ANSWERS, with_few_answers
from leastwise.minimizers.merging.merging import everything_asked, fewest_people, least, spend
from leastwise.minimizers.merging.rounding import rounded
from leastwise.minimizers.merging.search import LOSS, Limit, costs_nothing, last_that
from leastwise.partition import keep, suppress
from leastwise.predictors.held_out import Difference, HeldOut, held_out
from tests.samples import LABEL, NOISE, a_secret_and_its_twin, among_noise, coded, exclusive_or, named

PARTS = (0.6, 0.3, 0.1)


def made_least(table: Table, constraints: Constraints | None = None, seed: int = 0) -> Generalization:
    split = table.split(seed, PARTS)
    return least(split.train, split.validation, Generalization.untouched(table.schema), constraints=constraints)


def test_noise_is_dropped_and_a_copy_is_asked_once():
    found = made_least(among_noise())
    assert len(found.collected) == 1
    assert found.collected[0] in ("useful", "copy")
    assert found[found.collected[0]].size == 2  # below three or not is all that counts


def test_what_matters_for_one_person_in_a_hundred_is_kept():
    found = made_least(among_noise(8000, rare=True))
    assert "flag" in found.collected
    assert not NOISE & {*found.collected}


def test_it_is_coarser_and_the_same_again():
    table = a_secret_and_its_twin()
    split = table.split(0, PARTS)
    given = Generalization.untouched(table.schema)
    once, twice = (least(split.train, split.validation, given) for _ in range(2))
    assert once == twice
    assert once.is_coarser_than(given)
    assert once.collected == ("useful",)


def test_an_artefact_read_from_its_file_will_do():
    """It publishes no domain of what it does not ask."""
    table = among_noise(1500)
    split = table.split(0, PARTS)
    given = search.without(Generalization.untouched(table.schema), {"copy"})
    read = Generalization.from_json(given.to_json())
    assert read.schema != table.schema
    assert least(split.train, split.validation, read) == least(split.train, split.validation, given)
    assert rounded(split.train, split.validation, read) == rounded(split.train, split.validation, given)
    assert spend(split.train, split.validation, read, 0.02) == spend(split.train, split.validation, given, 0.02)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_limit_is_kept_and_a_tighter_one_leaves_more_to_ask(seed: int):
    # Age tells something every five years, otherwise and otherwise again: any merge costs a little.
    random = np.random.default_rng(seed)
    age = random.integers(0, 40, 1500)
    schema = Schema((Attribute("age", "continuous", lower=0, upper=39, integer=True),), LABEL)
    table = coded(schema, age, labels=random.random(1500) < 0.38 + 0.24 * (age // 5 % 2))
    split = table.split(seed, PARTS)
    parts, given = (split.train, split.validation), Generalization.untouched(schema)
    everything = everything_asked(*parts)
    found = []
    for most in (0.0, 0.005, 0.1):
        limit = Limit(everything, everything.increase_of(held_out(given, *parts)[0]).bound(0.6) + most, 0.6)
        found.append(least(*parts, given, loss=0.2, limit=limit))
        start = with_few_answers(split.train, least(*parts, given, loss=-1.0), Constraints())
        if limit.is_kept_by(held_out(start, *parts)[0]):
            assert limit.is_kept_by(held_out(found[-1], *parts)[0])
    assert sorted((g["age"].size for g in found), reverse=True) == [g["age"].size for g in found]
    assert found[0] != found[-1]


def test_no_bucket_has_too_few_people():
    table = among_noise(2000)
    split = table.split(3, PARTS)
    found = least(split.train, split.validation, Generalization.untouched(table.schema))
    for j, bucket_of in enumerate(split.train.bucket_maps(found)):
        assert np.bincount(bucket_of, weights=split.train.use(j)).min() >= fewest_people(split.train)


def test_constraints_are_kept():
    held = Constraints(untouched=["twin"], apart={"useful": [["v0", "v1"]]})
    found = made_least(a_secret_and_its_twin(), held)
    assert found["twin"].untouched
    first, second = (found["useful"].bucket(value) for value in ("v0", "v1"))
    assert first != second


def test_a_floor_is_counted_on_all_records(monkeypatch: pytest.MonkeyPatch):
    """A path is made of some records only, on which a floor that holds would seem broken."""
    monkeypatch.setattr(merging, "_MOST_ON_A_PATH", 400)
    split = a_secret_and_its_twin(3000).split(0, PARTS)
    held = Constraints(min_people=200)
    given = Generalization((keep(split.train.schema["useful"]), *map(suppress, split.train.schema.attributes[1:])))
    assert least(split.train, split.validation, given, constraints=held).collected == ("useful",)
    spend(split.train, split.validation, given, 0.02, constraints=held)


def hours(at_forty: float, rows: int = 4000) -> Table:
    """Hours of work, forty of them for a third of the people; more work, more often the label."""
    random = np.random.default_rng(100)
    week = np.where(random.random(rows) < 0.35, 40, random.integers(1, 81, rows))
    chance = np.where(week == 40, at_forty, np.where(week > 50, 0.8, 0.2))
    attribute = Attribute("hours", "continuous", lower=1, upper=80, integer=True)
    return coded(Schema([attribute], LABEL), week, labels=(random.random(rows) < chance).astype(int))


@pytest.mark.parametrize(("at_forty", "apart"), [(0.2, False), (0.3, False), (0.9, True)])
def test_one_number_is_no_answer_of_its_own_unless_it_pays(at_forty: float, apart: bool):
    split = hours(at_forty).split(0, PARTS)
    (attribute,) = split.train.schema.attributes
    given = Generalization((Intervals(attribute, (39, 40, 50)),), LABEL)
    found = least(split.train, split.validation, given)
    assert ("40" in found["hours"].labels) == apart
    assert found["hours"].size == (4 if apart else 2)


def test_an_interaction_is_kept():
    found = made_least(exclusive_or())
    assert len(found.collected) >= 2


def test_a_loss_must_be_neither_told_nor_probable():
    quiet = Difference(0.001, 0.001)
    assert costs_nothing(Difference(0.003, 0.01), quiet, LOSS)
    assert not costs_nothing(Difference(0.001, 0.0005), quiet, 0.0)  # told
    assert not costs_nothing(Difference(0.0, 0.01), quiet, 1.2 * LOSS)  # an effect that these people hardly show
    assert costs_nothing(Difference(0.0, 0.01), Difference(-0.001, 0.001), 1.2 * LOSS)  # the beliefs were too sure
    assert not costs_nothing(Difference(0.0, 0.01), Difference(-0.001, 0.001), 2.2 * LOSS)


def one_step_and_noise(seed: int, rows: int = 2100) -> Table:
    """Who was born in the first thirty years, or had many events, has the label more often; `w` is noise."""
    random = np.random.default_rng(seed)
    born, events, w = random.integers(0, 74, rows), random.poisson(1.5, rows), random.integers(0, 50, rows)
    chance = 0.2 + 0.08 * np.minimum(events, 6) + 0.2 * (born < 30)
    numbers = [Attribute(name, "continuous", integer=True) for name in ("born", "events", "w")]
    return coded(Schema(numbers, LABEL), born, events, w, labels=(random.random(rows) < chance).astype(int))


@pytest.mark.parametrize("seed", range(100, 104))
def test_who_believes_in_chance_does_not_keep_what_chance_told(seed: int):
    """Classifiers of few people and many ranges are too sure of what they would miss."""
    split = one_step_and_noise(seed).split(0, PARTS)
    given = Generalization.untouched(split.train.schema)
    found = least(split.train, split.validation, given, loss=LOSS / 4)
    assert sum(partition.size for partition in found.partitions if not partition.suppressed) <= 15
    fresh = one_step_and_noise(seed + 100, 20_000)
    everything, now = (held_out(g, split.train, fresh)[0] for g in (given, found))
    assert now.errs_more_than(everything).mean < 0.005


def many_answers(rows: int = 6000, seed: int = 0) -> Table:
    """A job of 80 values and an age of 100 tell the label, each a little by little."""
    random = np.random.default_rng(seed)
    job, age = random.integers(0, 80, rows), random.integers(0, 100, rows)
    chance = 1 / (1 + np.exp(-((job - 40) / 12 + (age - 50) / 25)))
    schema = Schema((named("job", 80, personal=True), Attribute("age", "continuous", missing=True)), LABEL)
    return coded(schema, job, age, labels=random.random(rows) < chance)


def test_no_question_has_very_many_answers():
    table = many_answers()
    start = Generalization((keep(table.schema["job"]), Intervals(table.schema["age"], tuple(range(1, 99, 2)))))
    found = with_few_answers(table, start, Constraints())
    assert [p.size for p in found.partitions] == [MOST_ANSWERS, MOST_ANSWERS]  # "missing" stays by itself
    assert found.is_coarser_than(start)
    # Values of like effect are together: here the effect rises with the number of the value.
    groups = np.asarray([found["job"].bucket(f"v{v}") for v in range(80)])
    middles = sorted(np.flatnonzero(groups == g).mean() for g in np.unique(groups))
    assert np.median(np.diff(middles)) > 3  # at random they would all be near the middle
    held = Constraints(apart={"job": [["v10", "v11"]]})
    apart = with_few_answers(table, start, held)
    assert apart["job"].bucket("v10") != apart["job"].bucket("v11")


def test_nothing_is_spent_where_nothing_is_allowed_and_more_where_more_is():
    split = many_answers().split(0, PARTS)
    given = least(split.train, split.validation, Generalization.untouched(split.train.schema))
    assert spend(split.train, split.validation, given, most=-1.0) is given
    ways = [spend(split.train, split.validation, given, most=most) for most in (0.03, 0.1, 0.6)]
    answers = [sum(p.size for p in way.partitions) for way in (given, *ways)]
    assert answers == sorted(answers, reverse=True)
    assert answers[-1] < answers[1] < answers[0]
    assert all(way.is_coarser_than(given) for way in ways)
    assert not ways[-1].collected  # more than guessing costs


def test_what_is_spent_is_spent_on_fresh_people_too():
    """The path is chosen without a look at a label, so the people that it is measured on are as good as fresh."""
    table, fresh = many_answers(5000), many_answers(20_000, seed=1)
    split = table.split(0, PARTS)
    given = least(split.train, split.validation, Generalization.untouched(table.schema))
    way = spend(split.train, split.validation, given, most=0.02)
    everything, now = (held_out(g, split.train, fresh)[0] for g in (Generalization.untouched(table.schema), way))
    assert now.errs_more_than(everything).mean < 0.03


@given(st.integers(0, 2**32 - 1))
def test_the_expected_loss_is_what_beliefs_that_are_right_lose(seed: int):
    random = np.random.default_rng(seed)
    beliefs = random.dirichlet(np.ones(3), 50)
    best, other = beliefs.argmax(axis=1), random.integers(0, 3, 50)
    rows = np.ones(50)
    mine, yours = (HeldOut(guess, rows, rows, rows) for guess in (best, other))
    assert mine.expected_loss(beliefs) == 0
    drawn = np.array([random.choice(3, 4000, p=p) for p in beliefs])
    measured = (drawn != other[:, None]).mean() - (drawn != best[:, None]).mean()
    assert yours.expected_loss(beliefs) == pytest.approx(measured, abs=0.02)


def test_the_last_that_holds_takes_few_questions():
    asked: list[int] = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number <= 37

    assert last_that(holds, 100) == 37
    assert len(asked) <= 9
    assert last_that(holds, 0) == 0


def test_of_many_questions_noise_is_dropped_and_answers_that_do_not_pay_are_cut_together(monkeypatch):
    random, judged = np.random.default_rng(0), []
    useful = random.integers(0, 12, 4000)
    noise = [random.integers(0, 12, 4000) for _ in range(19)]
    schema = Schema((named("useful", 12), *(named(f"noise {i}", 12) for i in range(19))), LABEL)
    labels = (useful >= 6) ^ (random.random(4000) < 0.1)
    original = search.held_out
    monkeypatch.setattr(search, "held_out", lambda *parts: judged.append(parts) or original(*parts))
    found = made_least(coded(schema, useful, *noise, labels=labels))
    assert found.collected == ("useful",)
    assert found["useful"].size == 2
    assert len(judged) < 20 + 19, "not one by one"


def test_of_many_questions_that_tell_something_all_stay():
    random = np.random.default_rng(0)
    columns = [random.integers(0, 2, 6000) for _ in range(15)]
    schema = Schema(tuple(named(f"part {i}", 2) for i in range(15)), LABEL)
    found = made_least(coded(schema, *columns, labels=np.sum(columns, axis=0) > 7))
    assert len(found.collected) == 15
