"""The default surrogate: how many trees it grows."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Attribute, Schema, Table
from leastwise.minimizers.surrogate import trees_for


@pytest.mark.parametrize(
    ("attributes", "records", "trees"),
    [(10, 40_000, 100), (24, 40_000, 120), (24, 22_000, 110), (24, 10_000, 100)],
)
def test_many_attributes_get_more_trees_where_there_are_records_for_them(
    attributes: int, records: int, trees: int
) -> None:
    schema = Schema(tuple(Attribute(f"a{j}", values=("0", "1")) for j in range(attributes)))
    levels = (np.array(["0", "1"], dtype=object),) * attributes
    assert trees_for(Table(schema, np.zeros((records, attributes), dtype=np.int64), levels)) == trees
