"""What A1 to A6 told: personal attributes, reconstructed from the stolen records and from what else is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leastwise.adversaries.result import (
    AttributeResult,
    HighCertaintyResult,
    MultiBreachResult,
    PartialKnowledgeResult,
    ReconstructionResult,
)
from leastwise.report.pictures import bar, bars, bars_table
from leastwise.report.wording import counted, in_interval, percent, percent_range, some

Facts = dict[str, Any]
WRONG = "how often the attacker is wrong (further right is safer)"
NOTICEABLE = 0.005
"""A difference of half a point is not worth a sentence."""


def reconstructed(attack: ReconstructionResult, reference: ReconstructionResult | None) -> Facts:
    """Return what A1, A3, A4 or A5 told, attribute by attribute; ``reference`` is A1 beside the others."""
    names = {"value": f"attacker ({attack.adversary})", "baseline": "naive guess"}
    names |= {"reference": "attacker without that knowledge (A1)"} if reference else {}
    names |= {"without": "same knowledge, nothing stolen"} if attack.without_breach is not None else {}
    rows = [_row(result, reference) for result in attack.attributes]
    return {
        "finding": _finding(attack, reference),
        "picture": {"kind": "intervals", "axis": WRONG, "names": names, "rows": rows},
        "table": _table(rows, names, attack.attributes),
    }


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


def _finding(attack: ReconstructionResult, reference: ReconstructionResult | None) -> str:
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
    if isinstance(attack, PartialKnowledgeResult) and len(attack.order) > 1:
        sentences.append(f"The order in which it goes on: {some(attack.order)}.")
    return " ".join([*sentences, _most_gained(weakest(attack))])


def _most_gained(most: AttributeResult) -> str:
    if most.baseline - most.adversary_error < NOTICEABLE:
        return "About no attribute is it noticeably better than guessing."
    return (
        f"It gains most on {most.attribute}: wrong {percent(most.adversary_error, 1)} of the time, "
        f"guessing {percent(most.baseline, 1)}."
    )


def surest(attack: HighCertaintyResult) -> Facts:
    """Return what A2 told: the error among the guesses that it holds for safest."""
    names = [result.attribute for result in attack.attributes]
    series = [{"name": "mean over personal attributes", "values": [p.mean for p in attack.points], "strong": True}]
    series += [{"name": name, "values": [p.errors[i] for p in attack.points]} for i, name in enumerate(names)]
    rows = [[f"{p.share:g} %", percent(p.mean, 1), *(percent(e, 1) for e in p.errors)] for p in attack.points]
    shares = [point.share for point in attack.points]
    return {
        "finding": _surest_finding(attack, names),
        "picture": {"kind": "curve", "axis": "the surest … % of the guesses", "x": shares, "series": series},
        "table": {"columns": ["surest", "mean", *names], "rows": rows},
    }


def _surest_finding(attack: HighCertaintyResult, names: Sequence[str]) -> str:
    first = attack.points[0]
    best = min(range(len(names)), key=lambda i: first.errors[i])
    return (
        f"Among the {first.share:g} % about whom it is surest "
        f"({counted(round(first.people), 'person', 'people')} for each attribute) it is wrong "
        f"{percent(first.mean, 1)} of the time on average, and {percent(first.errors[best], 1)} on {names[best]}; "
        f"among everybody {percent(attack.adversary_error, 1)} on average."
    )


def together(attack: MultiBreachResult) -> Facts:
    """Return what A6 told: several generalizations of the same people, beside each of them alone."""
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
    return {
        "finding": (
            f"From this generalization alone the attacker is wrong {percent(first, 1)} of the time, from all "
            f"{len(attack.single_errors)} together {percent(attack.adversary_error, 1)}"
            f"{in_interval(attack.interval)}. {added}"
        ),
        "picture": bars(WRONG, rows, "naive guess"),
        "table": bars_table(["held by the attacker", "wrong", "95 % interval"], rows),
    }
