"""Groups: who pays for asking less, as sentences, a picture and the table behind it."""

from __future__ import annotations

from typing import Any

from leastwise.documents.pictures import bars_of_section
from leastwise.evaluation.declared_groups import FEWEST, FEWEST_TOLD
from leastwise.evaluation.groups import GroupFigures, Groups

Facts = dict[str, Any]
METHOD = (
    "Each group was judged by itself on the test part, by classifiers that learned from everybody. Groups "
    f"of fewer than {FEWEST} people are told and not compared, of fewer than "
    f"{FEWEST_TOLD} not told. A gap's interval holds for all at once."
)


def group_facts(found: Groups | None) -> Facts | None:
    """Return how declared groups are served; None where none were declared, or nobody looked."""
    if found is None:
        return None
    columns, rows = found.listing()
    return {
        "sentences": found.sentences(),
        "method": METHOD,
        "picture": bars_of_section([_bar(each) for each in found.groups], "share of people the model errs about"),
        "table": {"columns": columns, "rows": rows},
    }


def _bar(each: GroupFigures) -> Facts:
    low, high = each.interval
    asked = {"name": "asking less", "value": each.error, "low": low, "high": high}
    return {"label": each.group, "values": [asked, {"name": "asking everything", "value": each.everything}]}
