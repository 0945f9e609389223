from __future__ import annotations

import numpy as np
import pytest

from leastwise.kernels.count_tables import class_counts, pair_counts, part_rows, present_personal
from leastwise.minimizers.pat.growth import CountedRows, TableStore
from tests.minimizers.pat.samples import random_table


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("discrete", [3, 300])
def test_a_half_table_holds_every_pair_of_a_value_and_a_target(weights: str, discrete: int) -> None:
    table = random_table(0, rows=200, classes=3, weights=weights, discrete=min(discrete, 200))
    rows = CountedRows(table)
    members = np.arange(0, 200, 2, dtype=np.int32)
    half, some = rows.count(members), table.take(members)
    personal = present_personal(half, rows.layout, np.ones(len(table.personal)))
    for a, j in enumerate(rows.order):
        expected = np.zeros((table.sizes[j], 3))
        np.add.at(expected, (some.codes[:, j], some.y), some.counts)
        assert class_counts(half, rows.layout, a) == pytest.approx(expected)
        counts = pair_counts(half, rows.layout, personal, a, np.arange(table.sizes[j]))
        for k, (b, number) in enumerate(zip(personal.target, personal.number, strict=True)):
            p = table.personal[b]
            has = some.codes[:, p] == number - rows.layout.target_start[b]
            use = np.bincount(some.codes[has, j], weights=some.counts[has], minlength=table.sizes[j])
            assert counts[:, k] == pytest.approx(use if p != j else np.zeros(table.sizes[j]))


def test_whole_weights_are_counted_as_whole_numbers() -> None:
    assert CountedRows(random_table(0, weights="none")).count(np.arange(5, dtype=np.int32)).dtype == np.int32
    assert CountedRows(random_table(0, weights="whole")).count(np.arange(5, dtype=np.int32)).dtype == np.int32
    assert CountedRows(random_table(0, weights="real")).count(np.arange(5, dtype=np.int32)).dtype == np.float64


def test_parting_keeps_the_order_on_both_sides() -> None:
    rows = np.array([[0], [1], [2], [1], [0]], dtype=np.uint8)
    members, spare = np.arange(5, dtype=np.int32), np.empty(5, dtype=np.int32)
    assert part_rows(members, spare, rows, 0, np.array([False, True, False])) == 2
    assert members.tolist() == [1, 3, 0, 2, 4]


@pytest.mark.parametrize("name", ["age", "size", "sex", "town"])
def test_rows_are_parted_by_the_codes_of_an_attribute(name: str) -> None:
    table = random_table(1)
    rows, j = CountedRows(table), table.schema.position(name)
    members = np.arange(len(table), dtype=np.int32)
    left = np.array([0, 2]) if table.sizes[j] > 2 else np.array([1])
    front = rows.part(members, np.empty_like(members), rows.order.index(j), left)
    goes = np.isin(table.codes[:, j], left)
    assert sorted(members[:front].tolist()) == np.flatnonzero(goes).tolist()


def test_a_store_keeps_the_largest_within_its_budget() -> None:
    store = TableStore(budget=2 * 80)
    for key, people in [(b"a", 5.0), (b"b", 50.0), (b"c", 20.0)]:
        store.keep(key, people, np.zeros(10))
    assert store.get(b"a") is None
    assert store.get(b"b") is not None
    assert store.get(b"c") is not None
    store.keep(b"d", 1.0, np.zeros(10))
    assert store.get(b"d") is None
