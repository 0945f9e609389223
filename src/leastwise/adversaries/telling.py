"""What attacks found, told for people: a sentence, a picture and the table behind it.

A picture is a plain description (kind, rows, names) that a page draws and that a table can tell as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from leastwise.documents.pictures import bar, bars, bars_table
from leastwise.documents.wording import counted, in_interval, percent, percent_range, some

if TYPE_CHECKING:
    from leastwise.adversaries.result import (
        AttackResult,
        AttributeResult,
        HighCertaintyResult,
        LinkabilityResult,
        MultiBreachResult,
        ReconstructionResult,
        SinglingOutResult,
    )

Facts = dict[str, Any]
WRONG = "how often the attacker is wrong (further right is safer)"
NOTICEABLE = 0.005
"""A difference of half a point is not worth a sentence."""


class Told(NamedTuple):
    """What a report says of one attack: a few sentences, a picture, the table behind it, and more facts."""

    finding: str
    picture: Facts | None = None
    table: Facts | None = None
    more: Facts = {}  # noqa: RUF012  a named tuple's default; nobody writes to it

    def facts(self) -> Facts:
        """Return it as plain facts."""
        return {"finding": self.finding, "picture": self.picture, "table": self.table, **self.more}


def failed_or_not(attack: AttackResult) -> Told:
    """Tell an attack of which nothing is known but how often it failed."""
    rows = [bar("this attacker", attack.adversary_error, attack.interval, attack.baseline)]
    return Told(
        f"This attacker fails {percent(attack.adversary_error, 1)} of the time{in_interval(attack.interval)}; "
        f"guessing without any record fails {percent(attack.baseline, 1)} of the time.",
        bars("how often the attacker fails (further right is safer)", rows, "naive guess"),
        bars_table(["", "fails", "95 % interval"], rows),
    )


def reconstructed(
    attack: ReconstructionResult, reference: ReconstructionResult | None, order: Sequence[str] = ()
) -> Told:
    """Tell what A1, A3, A4 or A5 told, attribute by attribute; ``reference`` is A1 beside the others."""
    names = {"value": f"attacker ({attack.adversary})", "baseline": "naive guess"}
    names |= {"reference": "attacker without that knowledge (A1)"} if reference else {}
    names |= {"without": "same knowledge, nothing stolen"} if attack.without_breach is not None else {}
    rows = [_row(result, reference) for result in attack.attributes]
    return Told(
        _finding(attack, reference, order),
        {"kind": "intervals", "axis": WRONG, "names": names, "rows": rows},
        _table(rows, names, attack.attributes),
    )


def _row(result: AttributeResult, reference: ReconstructionResult | None) -> Facts:
    return {
        **bar(result.attribute, result.adversary_error, result.interval, result.baseline),
        "reference": None if reference is None else reference[result.attribute].adversary_error,
        "without": result.without_breach,
    }


def _table(rows: Sequence[Facts], names: Facts, results: Sequence[AttributeResult]) -> Facts:
    extra = [key for key in ("reference", "without") if key in names]
    columns = [
        "attribute",
        "wrong",
        "95 % interval",
        "naive guess",
        *(names[key] for key in extra),
        "predicted by",
    ]
    return {
        "columns": columns,
        "rows": [
            [
                row["label"] + _within(result),
                percent(row["value"], 1),
                percent_range((row["low"], row["high"])),
                percent(row["baseline"], 1),
                *("" if row[key] is None else percent(row[key], 1) for key in extra),
                result.predictor,
            ]
            for row, result in zip(rows, results, strict=True)
        ],
    }


def _within(result: AttributeResult) -> str:
    return "" if result.tolerance is None else f" (told within ±{result.tolerance:g})"


def weakest(attack: ReconstructionResult) -> AttributeResult:
    """Return the attribute about which the stolen records tell most beyond guessing."""
    return min(attack.attributes, key=lambda result: result.adversary_error - result.baseline)


def _finding(attack: ReconstructionResult, reference: ReconstructionResult | None, order: Sequence[str]) -> str:
    who = "On average over" if len(attack.attributes) > 1 else "About the"
    many = counted(len(attack.attributes), "personal attribute") if len(attack.attributes) > 1 else "one attribute"
    sentences = [
        f"{who} {many} this attacker is wrong {percent(attack.adversary_error, 1)} of the time"
        f"{in_interval(attack.interval)}; guessing without any record is wrong "
        f"{percent(attack.baseline, 1)} of the time."
    ]
    if reference is not None:
        sentences.append(f"Without that knowledge it would be wrong {percent(reference.adversary_error, 1)}.")
    if attack.without_breach is not None:
        sentences.append(f"With the same knowledge and nothing stolen: {percent(attack.without_breach, 1)}.")
    if len(order) > 1:
        sentences.append(f"The order in which it goes on: {some(order)}.")
    return " ".join([*sentences, _most_gained(weakest(attack))])


def _most_gained(most: AttributeResult) -> str:
    if most.baseline - most.adversary_error < NOTICEABLE:
        return "About no attribute is it noticeably better than guessing."
    return (
        f"It gains most on {most.attribute}: wrong {percent(most.adversary_error, 1)} of the time, "
        f"guessing {percent(most.baseline, 1)}."
    )


def surest(attack: HighCertaintyResult) -> Told:
    """Tell what A2 found: the error among the guesses that it holds for safest."""
    names = [result.attribute for result in attack.attributes]
    series = [{"name": "mean over personal attributes", "values": [p.mean for p in attack.points], "strong": True}]
    series += [{"name": name, "values": [p.errors[i] for p in attack.points]} for i, name in enumerate(names)]
    rows = [[f"{p.share:g} %", percent(p.mean, 1), *(percent(e, 1) for e in p.errors)] for p in attack.points]
    shares = [point.share for point in attack.points]
    return Told(
        _surest_finding(attack, names),
        {"kind": "curve", "axis": "the surest … % of the guesses", "x": shares, "series": series},
        {"columns": ["surest", "mean", *names], "rows": rows},
    )


def _surest_finding(attack: HighCertaintyResult, names: Sequence[str]) -> str:
    first = attack.points[0]
    best = min(range(len(names)), key=lambda i: first.errors[i])
    return (
        f"Among the {first.share:g} % about whom it is surest "
        f"({counted(round(first.people), 'person', 'people')} for each attribute) it is wrong "
        f"{percent(first.mean, 1)} of the time on average, and {percent(first.errors[best], 1)} on {names[best]}; "
        f"among everybody {percent(attack.adversary_error, 1)} on average."
    )


def together(attack: MultiBreachResult) -> Told:
    """Tell what A6 found: several generalizations of the same people, beside each of them alone."""
    first, *others = attack.single_errors
    rows = [
        bar("all of them together", attack.adversary_error, attack.interval, attack.baseline),
        bar("this generalization alone", first, None, attack.baseline),
        *(
            bar(f"other generalization {i}, alone", error, None, attack.baseline)
            for i, error in enumerate(others, 1)
        ),
    ]
    added = "The others add next to nothing."
    if first - attack.adversary_error >= NOTICEABLE:
        added = "That difference is the price of asking twice."
    return Told(
        f"From this generalization alone the attacker is wrong {percent(first, 1)} of the time, from all "
        f"{len(attack.single_errors)} together {percent(attack.adversary_error, 1)}"
        f"{in_interval(attack.interval)}. {added}",
        bars(WRONG, rows, "naive guess"),
        bars_table(["held by the attacker", "wrong", "95 % interval"], rows),
    )


def linked(attack: LinkabilityResult) -> Told:
    """Tell what A7 found: the share linked by each method, beside random linking."""
    random = 1 - attack.baseline
    interval = None if attack.interval is None else (1 - attack.interval[1], 1 - attack.interval[0])
    methods = {
        "each record's own guess": attack.linked_by_guess,
        "balanced guesses": attack.linked_by_balance,
        "one-to-one assignment": attack.linked_by_assignment,
    }
    best = max(methods, key=lambda name: methods[name])
    rows = [bar(name, share, interval if name == best else None, random) for name, share in methods.items()]
    return Told(
        (
            f"Of {counted(attack.records, 'person', 'people')} whose two halves ({some(attack.known_a)} on one "
            f"side, {some(attack.known_b)} on the other) are shuffled, the best method links "
            f"{percent(attack.share_linked, 1)} rightly{in_interval(interval)}; linking at "
            f"random gets {percent(random, 1)}. Drawn {counted(attack.draws, 'time')}."
        ),
        bars("share of people linked rightly (further left is safer)", rows, "at random"),
        bars_table(["method", "linked", "95 % interval"], rows),
    )


def singled_out(attack: SinglingOutResult, predicates: bool) -> Told:
    """Tell what A8 found: how many people hide in how small a crowd."""
    rows = [bar(f"fewer than {crowd.k}", crowd.share_below) for crowd in attack.crowds]
    cells = [[f"fewer than {c.k}", f"{c.people_below:,.0f}", percent(c.share_below, 2)] for c in attack.crowds]
    described = [str(predicate) for predicate in attack.predicates]
    return Told(
        _alone(attack) + ("" if predicates else _left_out(len(described))),
        bars("share of people in a crowd so small (further left is safer)", rows),
        {"columns": ["people with the same generalized record", "people", "share"], "rows": cells},
        {"unique_people": attack.unique_people, "predicates": described if predicates else []},
    )


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
