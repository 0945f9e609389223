"""The default surrogate: how many trees it grows."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Schema
from leastwise.minimizers.optimal.surrogate import trees_for
from tests.samples import coded, named


@pytest.mark.parametrize(
    ("attributes", "records", "trees"),
    [(10, 40_000, 100), (24, 40_000, 120), (24, 22_000, 110), (24, 10_000, 100)],
)
def test_many_attributes_get_more_trees_where_there_are_records_for_them(
    attributes: int, records: int, trees: int
) -> None:
    schema = Schema([named(f"a{j}", 2) for j in range(attributes)])
    assert trees_for(coded(schema, *np.zeros((attributes, records)))) == trees
