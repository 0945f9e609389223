from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, ParameterError, Schema, Table
from leastwise.minimizers import UniformMinimizer
from leastwise.minimizers.uniform import equal_edges, equal_runs, random_groups, rounded_range
from leastwise.random import generator
from leastwise.schema.values import number_text
from tests import strategies
from tests.samples import one_column


@st.composite
def raw_tables(draw: st.DrawFn) -> Table:
    """Tables of every kind of attribute, with open and declared ends, missing values and infinities."""
    schema = draw(strategies.schemas(label=False))
    rows = draw(st.integers(1, 8))
    columns = {}
    for attribute in schema.attributes:
        values = strategies.values(attribute)
        if not attribute.continuous and not attribute.values and not attribute.missing:
            values = st.just("strange")
        cells = [draw(values) for _ in range(rows)]
        if attribute.continuous:
            columns[attribute.name] = pl.Series([math.nan if c is None else c for c in cells], dtype=pl.Float64)
        else:
            texts = [None if c is None or c != c else c for c in cells]
            columns[attribute.name] = pl.Series(texts, dtype=pl.String)
    return Table.from_frame(pl.DataFrame(columns), schema)


@given(raw_tables(), st.integers(1, 6), st.integers(0, 5))
def test_every_table_gets_at_most_k_buckets(table: Table, k: int, seed: int) -> None:
    g = UniformMinimizer(k, random_state=seed).minimize(table)
    for partition in g.partitions:
        beside = 0 if partition.attribute.kind == "discrete" or k == 1 else partition.attribute.extra_values
        assert 1 <= partition.size <= k + beside
    assert table.generalize(g).shape == table.codes.shape
    assert Generalization.from_json(g.to_json()) == g


@given(raw_tables(), st.integers(1, 4), st.integers(0, 5))
def test_same_seed_same_bytes(table: Table, k: int, seed: int) -> None:
    first, second = (UniformMinimizer(k, random_state=seed).minimize(table).to_json() for _ in range(2))
    assert first == second


@given(strategies.tables(weights=True), st.integers(2, 4))
def test_weights_and_order_do_not_matter(table: Table, k: int) -> None:
    backwards = table.take(np.arange(len(table))[::-1])
    minimizer = UniformMinimizer(k, random_state=0)
    assert minimizer.minimize(table) == minimizer.minimize(backwards) == minimizer.minimize(table.distinct())


def test_one_bucket_suppresses() -> None:
    schema = Schema([Attribute("a", values=("x", "y"), missing=True), Attribute("b", "continuous", missing=True)])
    table = Table.from_frame(pl.DataFrame({"a": ["x", None], "b": [1.0, None]}), schema)
    assert UniformMinimizer(1).minimize(table).not_collected == ("a", "b")


@given(st.integers(1, 5), st.floats(0, 1))
def test_a_declared_domain_is_cut_as_in_the_paper(k: int, x: float) -> None:
    share = Attribute("share", "continuous", lower=0, upper=1)
    table = one_column(share, [0.5])
    bucket = UniformMinimizer(k).minimize(table)["share"].bucket(x)
    exactly = k * x
    if abs(exactly - round(exactly)) > 1e-9:
        assert bucket == math.ceil(exactly) - 1
    else:
        assert bucket in (max(round(exactly) - 1, 0), min(round(exactly), k - 1))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_a_value_on_an_edge_goes_left(k: int) -> None:
    share = Attribute("share", "continuous", lower=0, upper=k)
    table = one_column(share, [0.5])
    partition = UniformMinimizer(k).minimize(table)["share"]
    assert [partition.bucket(i) for i in range(1, k + 1)] == list(range(k))
    assert partition.bucket(0) == 0


def test_whole_numbers_get_whole_edges() -> None:
    age = Attribute("age", "continuous", lower=0, upper=100, integer=True)
    assert equal_edges(age, np.array([]), 3) == (33.0, 66.0)
    assert equal_edges(Attribute("n", "continuous", lower=0, upper=1, integer=True), np.array([]), 5) == (0.0,)


def test_open_ends_are_rounded_outward_from_the_sample() -> None:
    pay = Attribute("pay", "continuous")
    assert rounded_range(pay, np.array([1234.5, 56789.0, math.inf])) == (0.0, 60000.0)
    assert rounded_range(Attribute("pay", "continuous", lower=500), np.array([1234.5, 56789.0])) == (500, 60000.0)
    assert rounded_range(pay, np.array([0.0123, 0.0456])) == pytest.approx((0.01, 0.05))


@given(st.lists(st.floats(allow_nan=False, width=32), min_size=1), st.integers(2, 6))
def test_open_ends_hold_the_sample_and_lose_its_digits(numbers: list[float], k: int) -> None:
    pay = Attribute("pay", "continuous")
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = rounded_range(pay, np.array(numbers))
    if not finite:
        assert equal_edges(pay, np.array(numbers), k) == ()
        return
    slack = 1e-9 * max(abs(low), abs(high))
    assert low <= min(finite) + slack
    assert high >= max(finite) - slack
    assert low < high


@pytest.mark.parametrize("number", [0.0, 7.0, -3.25, 5e-324, 1.7e308, -1.7e308])
def test_a_single_number_is_no_obstacle(number: float) -> None:
    for attribute in (
        Attribute("n", "continuous"),
        Attribute("n", "continuous", lower=min(number, 1e300)),
        Attribute("n", "continuous", upper=max(number, -1e300)),
    ):
        table = one_column(attribute, [number])
        assert UniformMinimizer(3).minimize(table)["n"].size <= 3


def test_runs_differ_by_one_at_most() -> None:
    for values in range(1, 12):
        attribute = Attribute("o", "ordinal", values=tuple(map(str, range(values))))
        for k in range(1, 12):
            lengths = np.bincount(equal_runs(attribute, k))
            assert len(lengths) == min(k, values)
            assert lengths.max() - lengths.min() <= 1


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 99))
def test_no_random_group_is_empty(values: int, k: int, seed: int) -> None:
    assert set(random_groups(values, k, generator(seed))) == set(range(min(k, values)))


def test_random_groups_are_random() -> None:
    together = [len(set(random_groups(20, 3, generator(seed))[:2])) == 1 for seed in range(400)]
    # A little below one third, because no group may stay empty.
    assert 0.2 < np.mean(together) < 0.4


def test_another_attribute_does_not_shift_the_groups() -> None:
    colour = Attribute("colour", values=tuple("abcdefgh"))
    more = Attribute("more", values=tuple("uvwxyz"))
    frame = pl.DataFrame({"more": ["u"], "colour": ["a"]})
    alone = UniformMinimizer(3, random_state=4).minimize(Table.from_frame(frame, Schema([colour])))
    beside = UniformMinimizer(3, random_state=4).minimize(Table.from_frame(frame, Schema([more, colour])))
    assert alone["colour"] == beside["colour"]


def test_another_seed_gives_other_groups() -> None:
    colour = Attribute("colour", values=tuple("abcdefghijkl"))
    table = one_column(colour, ["a"])
    assert UniformMinimizer(3, random_state=1).minimize(table) != UniformMinimizer(3, random_state=2).minimize(
        table
    )


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3", None])
def test_a_wrong_k_is_refused(k: object) -> None:
    with pytest.raises(ParameterError, match="k must be a whole number"):
        UniformMinimizer(k).fit([[1.0], [2.0]])  # type: ignore[arg-type]


@given(st.integers(-1000, 1000), st.integers(1, 100_000), st.integers(-3, 3), st.integers(2, 12))
def test_edges_are_read_and_widths_are_equal_but_for_a_hundredth(low: int, width: int, power: int, k: int) -> None:
    lower, upper = low * 10.0**power, (low + width) * 10.0**power
    edges = equal_edges(Attribute("pay", "continuous", lower=lower, upper=upper), np.array([]), k)
    assert len(edges) == k - 1
    wanted = (upper - lower) / k
    assert np.diff([lower, *edges, upper]) == pytest.approx(wanted, abs=wanted / 99)
    places = 2 - math.floor(math.log10(wanted * (1 + 1e-12)))
    assert all(edge == round(edge, places + 1) for edge in edges)
    assert all(len(number_text(edge).lstrip("-")) <= 12 for edge in edges)
