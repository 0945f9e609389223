from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, PrivacyLeakWarning, Schema, Table, Untouched
from leastwise.generalization.leaks import Leak, leak_message, leaks, warn_of_leaks
from leastwise.minimizers import UniformMinimizer
from leastwise.partition import keep
from tests import strategies
from tests.samples import one_column

AGE = Attribute("age", "continuous", integer=True)
PAY = Attribute("pay", "continuous")
JOB = Attribute("job", values=("baker", "clerk", "spy"))


def found(partition: object, table: Table, inferred: tuple[str, ...] = ()) -> tuple[Leak, ...]:
    return leaks(Generalization((partition,)), table, inferred)  # type: ignore[arg-type]


def test_a_bucket_of_one_person_is_a_leak() -> None:
    table = one_column(JOB, ["baker", "baker", "clerk", "spy"])
    assert found(Groups(JOB, (0, 0, 1)), table) == (Leak("job", "bucket", 1),)
    assert found(Groups(JOB, (0, 1, 1)), table) == ()


def test_nobodys_bucket_is_no_leak() -> None:
    assert found(keep(JOB), one_column(JOB, ["baker", "baker", "clerk", "clerk"])) == ()


def test_a_suppressed_attribute_of_one_person_is_no_leak() -> None:
    assert found(Groups(JOB, (0, 0, 0)), one_column(JOB, ["spy"])) == ()


def test_a_value_that_was_read_off_one_person_is_a_leak_even_in_a_large_bucket() -> None:
    table = one_column(JOB, ["baker", "baker", "clerk", "clerk", "spy"])
    merged = Groups(JOB, (0, 1, 1))
    assert found(merged, table) == ()
    assert found(merged, table, inferred=("job",)) == (Leak("job", "value", 2),)
    assert found(keep(JOB), table, inferred=("job",)) == (Leak("job", "value", 2),)


def test_values_are_counted_where_the_domain_was_read_off() -> None:
    everyone = one_column(JOB, ["baker", "baker", "clerk", "clerk", "spy", "spy"])
    train = everyone.take(np.array([0, 1, 2, 3, 4]))
    merged = Groups(JOB, (0, 1, 1))
    assert leaks(Generalization((merged,)), train, ("job",)) == (Leak("job", "value", 2),)
    assert leaks(Generalization((merged,)), train, ("job",), everyone) == ()
    alone = one_column(JOB, ["baker", "baker", "clerk", "clerk", "spy"])
    without = alone.take(np.array([0, 1, 2, 3]))
    assert leaks(Generalization((merged,)), without, ("job",), alone) == (Leak("job", "value", 2),)


def test_a_suppressed_attribute_publishes_no_value() -> None:
    table = one_column(JOB, ["baker", "baker", "spy"])
    assert found(Groups(JOB, (0, 0, 0)), table, inferred=("job",)) == ()


def test_an_edge_beside_one_persons_odd_number_is_a_leak() -> None:
    numbers = [0.0, 0.0, 1234.5, 99999.0, 99999.0, 50000.0, 50000.0]
    table = one_column(PAY, numbers)
    assert found(Intervals(PAY, (1234.5,)), table) == (Leak("pay", "edge", 0),)
    between = (1234.5 + 50000) / 2
    assert found(Intervals(PAY, (between,)), table) == (Leak("pay", "edge", 0),)


def test_a_round_edge_is_no_leak() -> None:
    table = one_column(PAY, [0.0, 0.0, 1234.5, 50000.0, 50000.0, 99999.0, 99999.0])
    assert found(Intervals(PAY, (20000.0,)), table) == ()
    assert found(Intervals(PAY, (1500.0,)), table) == ()


def test_an_edge_that_its_neighbours_do_not_explain_is_no_leak() -> None:
    table = one_column(PAY, [0.0, 0.0, 1234.5, 50000.0, 50000.0, 99999.0, 99999.0])
    assert found(Intervals(PAY, (33333.25,)), table) == ()


def test_an_edge_at_a_number_of_many_is_no_leak() -> None:
    table = one_column(PAY, [0.0, 0.0, 1234.5, 1234.5, 50000.0, 50000.0, 99999.0, 99999.0])
    assert found(Intervals(PAY, (1234.5,)), table) == ()


def test_untouched_numbers_publish_nothing() -> None:
    assert found(Untouched(PAY), one_column(PAY, [1.25, 77.125])) == ()


def test_people_are_counted_not_rows() -> None:
    table = one_column(JOB, ["baker", "clerk"])
    weighted = replace(table, weights=np.array([3.0, 1.0]))
    assert found(keep(JOB), weighted) == (Leak("job", "bucket", 1),)


def test_one_short_warning_for_all_leaks() -> None:
    schema = Schema([Attribute(f"attribute{j}", values=("a", "b")) for j in range(9)])
    frame = pl.DataFrame({name: ["a", "a", "b"] for name in schema.names})
    table = Table.from_frame(frame, schema)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_leaks(Generalization.untouched(schema), table)
    assert [w.category for w in caught] == [PrivacyLeakWarning]
    message = str(caught[0].message)
    assert "attribute0 (1 bucket)" in message
    assert "and 5 more attributes" in message
    assert len(message) < 250


def test_the_message_holds_no_value() -> None:
    table = one_column(JOB, ["baker", "baker", "spy"])
    with pytest.warns(PrivacyLeakWarning) as caught:
        warn_of_leaks(Generalization((keep(JOB),)), table, inferred=("job",))
    assert "spy" not in str(caught[0].message)


@pytest.mark.parametrize("how", ["fit", "fit_transform"])
def test_the_warning_points_at_the_line_of_the_caller(how: str) -> None:
    frame = pl.DataFrame({"job": ["baker", "baker", "clerk"]})
    minimizer = UniformMinimizer(2, schema=Schema([JOB]), random_state=0)
    with pytest.warns(PrivacyLeakWarning) as told:
        getattr(minimizer, how)(frame)
    assert [each.filename for each in told] == [__file__]


def test_no_leak_no_warning() -> None:
    warn_of_leaks(Generalization((keep(JOB),)), one_column(JOB, ["spy", "spy"]))


def test_a_long_name_is_shortened() -> None:
    assert len(leak_message((Leak("n" * 10_000, "bucket", 0),))) < 200


@given(st.data(), strategies.tables())
def test_two_of_everybody_leak_nothing(data: st.DataObject, table: Table) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    twice = table.take(np.repeat(np.arange(len(table)), 2))
    assert leaks(g, twice, inferred=table.schema.names) == ()


@given(st.data(), strategies.tables(weights=True))
def test_leaks_of_distinct_records_are_those_of_the_rows(data: st.DataObject, table: Table) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    assert leaks(g, table) == leaks(g, table.distinct())
