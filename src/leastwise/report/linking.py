"""What A7 and A8 found: half-records joined, and people singled out."""

from __future__ import annotations

from typing import Any

from leastwise.adversaries.result import LinkabilityResult, SinglingOutResult
from leastwise.report.pictures import bar, bars, bars_table
from leastwise.report.wording import counted, in_interval, percent, some

Facts = dict[str, Any]


def linked(attack: LinkabilityResult) -> Facts:
    """Return what A7 found: the share linked by each method, beside random linking."""
    random = 1 - attack.baseline
    interval = None if attack.interval is None else (1 - attack.interval[1], 1 - attack.interval[0])
    methods = {
        "each record's own guess": attack.linked_by_guess,
        "balanced guesses": attack.linked_by_balance,
        "one-to-one assignment": attack.linked_by_assignment,
    }
    best = max(methods, key=lambda name: methods[name])
    rows = [bar(name, share, interval if name == best else None, random) for name, share in methods.items()]
    return {
        "finding": (
            f"Of {counted(attack.records, 'person', 'people')} whose two halves ({some(attack.known_a)} on one "
            f"side, {some(attack.known_b)} on the other) are shuffled, the best method links "
            f"{percent(attack.share_linked, 1)} rightly{in_interval(interval)}; linking at "
            f"random gets {percent(random, 1)}. Drawn {counted(attack.draws, 'time')}."
        ),
        "picture": bars("share of people linked rightly (further left is safer)", rows, "at random"),
        "table": bars_table(["method", "linked", "95 % interval"], rows),
    }


def singled_out(attack: SinglingOutResult, predicates: bool) -> Facts:
    """Return what A8 found: how many people hide in how small a crowd."""
    rows = [bar(f"fewer than {crowd.k}", crowd.share_below) for crowd in attack.crowds]
    cells = [[f"fewer than {c.k}", f"{c.people_below:,.0f}", percent(c.share_below, 2)] for c in attack.crowds]
    described = [str(predicate) for predicate in attack.predicates]
    return {
        "finding": _alone(attack) + ("" if predicates else _left_out(len(described))),
        "picture": bars("share of people in a crowd so small (further left is safer)", rows),
        "table": {"columns": ["people with the same generalized record", "people", "share"], "rows": cells},
        "unique_people": attack.unique_people,
        "predicates": described if predicates else [],
    }


def _alone(attack: SinglingOutResult) -> str:
    alone = "Nobody is"
    if attack.unique_people:
        alone = counted(attack.unique_people, "person is", "people are")
    return (
        f"{alone} alone with a generalized record, among {counted(attack.people, 'person', 'people')}. There are "
        f"{counted(attack.distinct, 'different generalized record')}; the rarest is held by "
        f"{counted(attack.rarest, 'person', 'people')}. This is counted, not estimated: with more records, fewer "
        "people are alone."
    )


def _left_out(described: int) -> str:
    if not described:
        return ""
    sentences = counted(described, "sentence that describes", "sentences that describe")
    return f" The evaluation holds {sentences} the rarest of them; they tell of real people and are left out here."
