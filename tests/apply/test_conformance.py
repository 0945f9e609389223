"""The cases that every implementation of apply must agree on, whatever its language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leastwise import DataError, Generalization

FILE = Path(__file__).parent.parent / "conformance" / "apply.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_conformance(case: dict[str, Any]) -> None:
    g = Generalization.from_json(json.dumps(case["generalization"]))
    rows = zip(case["records"], case["labels"], case["codes"], case["errors"], strict=True)
    for record, labels, codes, wrong in rows:
        if wrong is not None:
            with pytest.raises(DataError, match=wrong):
                g.transform(record, unknown=case["unknown"])
            continue
        assert g.transform(record, unknown=case["unknown"]) == labels
        assert g.transform(record, "codes", unknown=case["unknown"]) == codes
        frame = pl.DataFrame([record], strict=False)
        assert g.transform(frame, unknown=case["unknown"]).to_dicts() == [labels]
