"""What all records say by counts is what they say one by one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table, Untouched
from leastwise.adversaries import MultiBreach
from leastwise.adversaries.base import Setting
from leastwise.adversaries.breach import Breach
from leastwise.errors import DataError
from leastwise.evaluation.at_source import (
    EXACT,
    AtSource,
    counts_of,
    evaluate_at_source,
    judge_at_source,
    judge_limits,
)
from leastwise.evaluation.certificate import certify, certify_counts
from leastwise.evaluation.declared_groups import GroupErrors
from leastwise.evaluation.in_slices import InSlices
from leastwise.evaluation.protocol import evaluate
from leastwise.evaluation.utility import Judges
from leastwise.partition import keep, suppress
from leastwise.predictors import JointBuckets
from leastwise.predictors.held_out import Difference
from leastwise.records.grouping import joint_columns
from leastwise.records.sources import Source, alike
from leastwise.records.sources.plan import Slice
from leastwise.records.sources.polars import Polars
from tests import strategies
from tests.records.sources.engines import any_engine

SEED = 100
AGE = Attribute("age", "continuous", lower=0, upper=100, integer=True, personal=True)
TOWN = Attribute("town", values=("a", "b", "c", "d"), missing=True, personal=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
PAY = Attribute("pay", "continuous")
SCHEMA = Schema((AGE, TOWN, SEX, PAY), Attribute("y", values=("0", "1")))
G = Generalization(
    (Intervals(AGE, (30, 60)), Groups.of(TOWN, [["a", "b"], ["c", None], ["d"]]), suppress(SEX), Untouched(PAY)),
    SCHEMA.label,
)
OTHER = Generalization((Intervals(AGE, (45,)), suppress(TOWN), keep(SEX), suppress(PAY)), SCHEMA.label)


NAMED = Schema((replace(AGE, personal=False), TOWN, SEX, PAY), SCHEMA.label)
NAMES = Generalization((Intervals(NAMED["age"], (30, 60)), *G.partitions[1:]), SCHEMA.label)


def people(n: int = 900) -> pl.DataFrame:
    random = np.random.default_rng(5)
    age, town = random.integers(0, 101, n), random.integers(0, 5, n)
    names = ["a", "b", "c", "d", None]
    pay = np.round((age + town) / 10)
    chance = np.where(age + 10 * town > 70, 0.8, 0.2)
    return pl.DataFrame(
        {
            "age": age,
            "town": [names[i] for i in town],
            "sex": np.where(random.random(n) < 0.3 + age / 300, "f", "m"),
            "pay": pay,
            "y": (random.random(n) < chance).astype(int),
        }
    )


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(Polars(people().lazy()), SCHEMA, SEED)


def test_every_figure_is_that_of_the_records_themselves(source: Source) -> None:
    split = source.sample(10**6).split(SEED)
    judges = Judges(True, SEED, predictor=JointBuckets)
    wanted = ["A1", "A2", "A6", "A8"]
    found = judge_at_source(G, split, source, wanted, judges=judges, others=[OTHER])
    expected = evaluate(
        G, split, wanted, SEED, quick=True, predictor=JointBuckets, others=[OTHER], predicates=0, held_out=True
    )
    assert expected.utility is not None
    assert found.utility == replace(expected.utility, increase=None, expected=None)
    assert (found.certificate, found.deployment) == (expected.certificate, expected.deployment)
    for ours, theirs in zip(found.attacks, expected.attacks, strict=True):
        # Which attributes of one person are told together is not counted: that interval alone may be wider.
        assert _alike(replace(ours, interval=None), replace(theirs, interval=None))
        if ours.interval is not None:
            assert theirs.interval is not None
            assert ours.interval.low <= theirs.interval.low + 1e-12
            assert ours.interval.high >= theirs.interval.high - 1e-12
    together = found.instead_of(expected)
    assert together.people.test == expected.people.test
    assert together.utility == expected.utility
    served = replace(expected.utility, groups=GroupErrors(increases={}, worst=Difference(0.4, 0.1)))
    assert found.instead_of(replace(expected, utility=served)).utility == served


def test_what_asking_less_costs_is_told_of_the_people_that_its_errors_are_of(source: Source) -> None:
    """Of a sample that is everybody it is what is compared person by person; of a smaller one it is surer."""
    judges, few = Judges(True, SEED, predictor=JointBuckets), source.sample(300)
    usual = {"seed": SEED, "quick": True, "predictor": JointBuckets}
    compared = evaluate(G, source.sample(10**6).split(SEED), ["A8"], held_out=True, **usual)
    assert compared.utility is not None
    assert compared.everything is not None
    for sample in (source.sample(10**6), few):
        found = evaluate_at_source(G, sample, source, ["A8"], **usual)
        assert found.utility is not None
        assert found.utility.increase is not None
        assert found.everything is not None
        assert found.nothing is not None
        assert {found.utility.people, found.everything.people, found.nothing.people} == {found.people.test}
        lost = found.utility.error - found.everything.error
        assert found.utility.increase.mean == pytest.approx(lost, abs=1e-12)
    assert found.utility.increase.standard_error == pytest.approx(
        compared.utility.increase.standard_error, rel=0.5
    )  # type: ignore[union-attr]
    withheld = evaluate_at_source(G, few, replace(source, at_least=3), ["A8"], **usual)
    sampled = evaluate(G, few.split(SEED), ["A8"], held_out=True, **usual)
    assert (withheld.utility, withheld.everything) == (sampled.utility, sampled.everything)
    assert withheld["A8"].people == found["A8"].people > sampled["A8"].people
    limits = judge_limits(few.split(SEED), replace(source, at_least=3), judges)
    assert limits.everything is None
    assert limits.nothing.people.test == found.people.test


def test_who_counts_everybody_else_finds_what_the_records_themselves_tell(source: Source) -> None:
    split = source.sample(10**6).split(SEED)
    judges = Judges(True, SEED, predictor=JointBuckets)
    wanted = ("A1", "A2", "A6")
    learned = replace(source, learned=True)
    found = judge_at_source(G, split, learned, wanted, judges=judges, others=[OTHER]).attacks
    plain = judge_at_source(G, split, source, wanted, judges=judges, others=[OTHER]).attacks
    breach = Breach.of(G, split, seed=SEED, counting=True)
    setting = Setting(judges.adversary(), quick=True)
    for ours, before, kind in zip(found, plain, EXACT, strict=False):
        stolen = breach.together_with([OTHER]) if kind is MultiBreach else breach
        theirs = kind.configured(setting).attack(stolen)
        assert _alike(replace(ours, interval=None, seconds=0.0), replace(theirs, interval=None, seconds=0.0))
        assert ours.adversary_error <= before.adversary_error


def _alike(ours: Any, theirs: Any) -> bool:
    """Compare; mean distances are sums of fractions, whose order shows in the last digit."""
    if not hasattr(ours, "attributes"):
        return bool(ours == theirs)
    pairs = zip(ours.attributes, theirs.attributes, strict=True)
    distances = [(a.mean_absolute_error or 0, b.mean_absolute_error or 0) for a, b in pairs]
    assert np.allclose(*zip(*distances, strict=True), rtol=1e-12)
    blank = [
        replace(each, attributes=tuple(replace(a, mean_absolute_error=None) for a in each.attributes))
        for each in (ours, theirs)
    ]
    return bool(blank[0] == blank[1])


@pytest.mark.parametrize("kind", ["polars", "parquet", "sqlite", "postgresql", "spark"])
@pytest.mark.parametrize("at_least", [1, 3])
def test_what_is_too_much_to_hold_is_judged_in_slices_to_the_last_digit(
    kind: str, at_least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        engine = any_engine(kind, people(), tmp_path, request, stack)
        source = Source(engine, SCHEMA, SEED, at_least=at_least)
        split, judges = source.sample(10**6).split(SEED), Judges(True, SEED, predictor=JointBuckets)
        exact = judge_at_source(G, split, source, judges=judges, candidates=3)
        monkeypatch.setattr("leastwise.records.sources.source._PEOPLE_IN_SLICE", 60)
        with source.reduced([G, OTHER], source.tested) as near:
            for each in (source, near):
                counted = InSlices(each, G)
                assert len([*counted]) > 2
                _check_same(judge_at_source(G, split, counted, judges=judges, candidates=3), exact)


@pytest.mark.parametrize("held", [0, 100_000])
def test_slices_of_what_one_pass_kept_are_those_of_the_records(
    held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Counted in this process, whether columns are held or asked for again."""
    with ExitStack() as stack:
        source = Source(any_engine("parquet", people(), tmp_path, request, stack), SCHEMA, SEED)
        split, judges = source.sample(10**6).split(SEED), Judges(True, SEED, predictor=JointBuckets)
        exact = judge_at_source(OTHER, split, source, judges=judges)
        monkeypatch.setattr("leastwise.records.sources.reduced._MOST_HELD", held)
        monkeypatch.setattr("leastwise.records.sources.source._PEOPLE_IN_SLICE", 60)
        with source.reduced([G, OTHER], source.tested) as near:
            _check_same(judge_at_source(OTHER, split, InSlices(near, OTHER), judges=judges), exact)
            assert "_held" in vars(near.engine)


def test_slices_of_what_one_pass_kept_are_cut_from_what_was_put_together_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """However many slices there are, of each column its people are put together once."""
    put_together = []
    monkeypatch.setattr(alike, "joint_columns", lambda *given: put_together.append(1) or joint_columns(*given))
    monkeypatch.setattr("leastwise.records.sources.source._PEOPLE_IN_SLICE", 60)
    with ExitStack() as stack:
        source = Source(any_engine("parquet", people(), tmp_path, request, stack), SCHEMA, SEED)
        with source.reduced([G, OTHER], source.tested) as near:
            assert len([*InSlices(near, OTHER)]) > 2
    assert len(put_together) == 1


def test_a_slice_that_is_too_much_is_cut_again(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    split, judges = source.sample(10**6).split(SEED), Judges(True, SEED, predictor=JointBuckets)
    exact = judge_at_source(G, split, source, judges=judges)
    monkeypatch.setattr("leastwise.records.sources.engine.MOST_GROUPS", 45)
    counted = counts_of(source, G)
    assert isinstance(counted, InSlices)
    assert len([*counted]) > 2, "two would be enough, were each not too much"
    _check_same(judge_at_source(G, split, source, judges=judges), exact)


@pytest.mark.parametrize(("at_least", "most"), [(1, 200), (3, 38)])
@pytest.mark.parametrize("first", [G, OTHER])
def test_several_breaches_are_judged_in_slices_to_the_last_digit(
    first: Generalization, at_least: int, most: int, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the first is too much to hold, or only what both tell apart together."""
    withholding, second = replace(source, at_least=at_least), OTHER if first is G else G
    split, judges = source.sample(10**6).split(SEED), Judges(True, SEED, predictor=JointBuckets)
    judge = partial(judge_at_source, first, split, withholding, ("A1", "A6"), judges=judges, others=[second])
    exact = judge()
    monkeypatch.setattr("leastwise.records.sources.engine.MOST_GROUPS", most)
    assert isinstance(counts_of(withholding, first), InSlices) == (first is G)
    _check_same(judge(), exact)


def _check_same(found: AtSource, exact: AtSource) -> None:
    assert (found.certificate, found.deployment) == (exact.certificate, exact.deployment)
    assert (found.people, found.utility) == (exact.people, exact.utility)
    for ours, theirs in zip(found.attacks, exact.attacks, strict=True):
        assert _alike(replace(ours, interval=None), replace(theirs, interval=None))
        if ours.interval is not None:  # everybody counts as one record
            assert theirs.interval is not None
            assert ours.interval.low <= theirs.interval.low + 1e-12
            assert ours.interval.high >= theirs.interval.high - 1e-12


def test_slices_that_lose_somebody_are_noticed(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    assert source.domains, "looked at before"
    monkeypatch.setattr("leastwise.records.sources.engine.MOST_GROUPS", 45)
    monkeypatch.setattr(Slice, "halves", property(lambda own: (Slice(own.number, 2 * own.of, own.digits),)))
    with pytest.raises(DataError, match="changed while they were counted: there were"):
        _ = [*source.in_slices(G, source.tested)]


@pytest.mark.parametrize("kind", ["polars", "parquet", "sqlite", "postgresql", "spark"])
def test_what_is_too_much_even_in_slices_is_added_up_where_it_lies(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        engine = any_engine(kind, people(300), tmp_path, request, stack)
        source = Source(engine, NAMED, SEED)
        split = source.sample(10**6).split(SEED)
        wanted = ("A1", "A8")
        judges = Judges(True, SEED, predictor=JointBuckets)
        exact = judge_at_source(NAMES, split, source, wanted, judges=judges)
        withholding = replace(source, at_least=4)
        assert withholding.domains, "looked at before"
        monkeypatch.setattr("leastwise.records.sources.engine.MOST_GROUPS", 3)
        monkeypatch.setattr("leastwise.records.sources.source._MOST_SLICES", 1)
        found = judge_at_source(NAMES, split, source, wanted, judges=judges)
        careful = judge_at_source(NAMES, split, withholding, wanted, judges=judges)
    (alone,) = found.attacks
    assert replace(alone, seconds=0.0) == replace(exact.attacks[1], seconds=0.0)
    assert (found.certificate, found.deployment) == (exact.certificate, exact.deployment)
    assert found.utility is None, "that of the sample stays"
    assert careful.certificate is not None
    assert exact.certificate is not None
    assert careful.certificate.mean.hindsight >= exact.certificate.mean.hindsight
    assert careful.certificate.alone >= exact.certificate.alone


@settings(max_examples=20, deadline=None)
@given(strategies.tables(max_rows=40), st.data())
def test_counts_certify_what_records_certify(table: Table, data: st.DataObject) -> None:
    frame = _frame(table)
    source = Source(Polars(frame.lazy()), table.schema)
    g = data.draw(strategies.generalizations(table.schema))
    tolerances = {a.name: 10.0 for a in table.schema.attributes if a.continuous}
    everybody = Table.from_frame(frame, table.schema)
    for label in (True, False):
        exact = certify(g, everybody, held_out=True, tolerances=tolerances, label=label, candidates=3)
        counted = source.counted(g, None)
        assert certify_counts(g, counted, tolerances, label=label, candidates=3) == exact
        withholding = replace(source, at_least=data.draw(st.integers(2, 6)))
        loose = certify_counts(g, withholding.counted(g, None), tolerances, label=label, candidates=3)
        assert loose.people == exact.people
        assert loose.alone >= exact.alone
        for ours, theirs in zip((*loose.bounds, loose.mean), (*exact.bounds, exact.mean), strict=True):
            assert ours.hindsight >= theirs.hindsight - 1e-12
            assert ours.bound >= theirs.bound - 1e-12


def _frame(table: Table) -> pl.DataFrame:
    columns = {
        a.name: [table.levels[j][code] for code in table.codes[:, j]]
        for j, a in enumerate(table.schema.attributes)
    }
    return pl.DataFrame({**columns, "y": [f"c{label}" for label in table.y]})


def test_withheld_people_are_told_everything(source: Source) -> None:
    withholding = replace(source, at_least=12)
    split = withholding.sample(10**6).split(SEED)
    judges = Judges(True, SEED, predictor=JointBuckets)
    exact = judge_at_source(OTHER, split, source, judges=judges)
    careful = judge_at_source(OTHER, split, withholding, judges=judges)
    assert careful.people == exact.people
    assert exact.utility is not None
    assert careful.utility is not None
    assert careful.utility.error >= exact.utility.error
    assert careful.utility.people == exact.utility.people
    for ours, theirs in zip(careful.attacks, exact.attacks, strict=True):
        assert ours.people == theirs.people
        assert ours.adversary_error <= theirs.adversary_error
        for a, b in zip(getattr(ours, "points", ()), getattr(theirs, "points", ()), strict=True):
            assert a.mean <= b.mean + 1e-12
    alone: Any = careful.attacks[-1]
    assert alone.unique_people >= exact.attacks[-1].unique_people  # type: ignore[attr-defined]
