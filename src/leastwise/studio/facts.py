"""What the page receives: marginals, shares of buckets and figures; never a record, nor a number that one gave.

Counts below ``FEW`` are not told, and numbers are counted on a round grid whose outer steps are open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.live import Estimate, Told, Worth
from leastwise.generalization import Generalization
from leastwise.partition import Intervals, Partition
from leastwise.records.table import Table
from leastwise.runs import Budget, Figures, Run
from leastwise.runs.nearest import NOTHING, broken_limits, only_nearest
from leastwise.runs.showing import point_name
from leastwise.schema import Attribute
from leastwise.schema.values import number_text
from leastwise.studio.edits import Lock, Sheet, is_untouched
from leastwise.studio.history import State

Plain = dict[str, Any]
FEW = 5
_STEPS = 40
_NICE = (1.0, 2.0, 5.0, 10.0)
_SERIES = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
_CROWDED = 0.6  # of all people in the first step


def question(pool: Table, j: int) -> Plain:
    """Return what never changes of a question: its domain and how people are spread over it, by class."""
    attribute = pool.schema.attributes[j]
    shared = {"name": attribute.name, "kind": attribute.kind, "personal": attribute.personal}
    if attribute.continuous:
        return {**shared, "domain": attribute.domain_text(), "integer": attribute.integer, **_histogram(pool, j)}
    texts = [*map(attribute.label_of, attribute.values), *_extras(attribute)]
    counts = _by_class(pool, pool.codes[:, j].astype(np.intp), pool.sizes[j])
    return {
        **shared,
        "domain": counted(len(attribute.values), "value"),
        "values": texts,
        "levels": max(len(row) for row in attribute.hierarchy.rows) - 1 if attribute.hierarchy else 0,
        "shares": _shares(counts, pool),
    }


def _extras(attribute: Attribute) -> list[str]:
    return ["missing"] * attribute.missing + ["other"] * attribute.other


def _histogram(pool: Table, j: int) -> Plain:
    attribute, levels = pool.schema.attributes[j], pool.levels[j].astype(float)
    codes, finite = pool.codes[:, j].astype(np.intp), levels[np.isfinite(levels)]
    use = np.cumsum(pool.use(j)[: len(levels)])
    if not len(finite) or not use[-1]:
        return {"grid": [], "shares": [], "step": 1.0, "extras": _extras(attribute)}
    low, high = (float(levels[int(np.searchsorted(use, use[-1] * share))]) for share in (0.005, 0.995))
    step = _nice_step((high - low) / _STEPS, attribute.integer)
    start = math.floor(low / step) * step
    grid = [start + step * i for i in range(1, max(2, math.ceil((high - start) / step)))]
    crowded = use[int(np.searchsorted(levels, grid[0])) - 1] > _CROWDED * use[-1] if levels[0] < grid[0] else False
    if crowded and low >= 0:  # most people have little: each step is wider than the one before
        start, grid = 0.0, _widening(step / 10, high, attribute.integer)
    place = np.searchsorted(np.array(grid) - (attribute.integer * 0.5), levels, side="right")
    of_code = np.concatenate([place, len(grid) + 1 + np.arange(attribute.extra_values)]).astype(np.intp)
    counts = _by_class(pool, of_code[codes], len(grid) + 1 + attribute.extra_values)
    ends = [start, grid[-1] + (grid[-1] - grid[-2] if len(grid) > 1 else step)]
    return {
        "grid": grid,
        "ends": ends,
        "step": step,
        "shares": _shares(counts, pool),
        "extras": _extras(attribute),
    }


def _widening(least: float, most: float, whole: bool) -> list[float]:
    """Return round numbers from one to another, about ten a decade.

    >>> _widening(10, 60, True)
    [10.0, 15.0, 20.0, 30.0, 40.0, 50.0]
    """
    power, numbers = 10.0 ** math.floor(math.log10(least)), list[float]()
    while power < most:
        numbers += [power * each for each in _SERIES if least <= power * each < most]
        power *= 10
    return [each for each in numbers if not whole or (each >= 1 and each % 1 == 0)] or [least]


def _nice_step(wanted: float, whole: bool) -> float:
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(power * nice for nice in _NICE if power * nice >= wanted * (1 - 1e-9))
    return max(1.0, round(step)) if whole else step


def _by_class(pool: Table, place: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.float64]:
    """Return size x classes people."""
    keys = place * pool.classes + pool.y.astype(np.intp)
    counts = np.bincount(keys, weights=pool.weights, minlength=size * pool.classes)
    return counts.reshape(size, pool.classes).astype(float)


def _shares(counts: npt.NDArray[np.float64], pool: Table) -> list[list[float]]:
    """Return the shares of people, by class; where there are few, none."""
    told = np.where(counts.sum(axis=1, keepdims=True) < FEW, 0.0, counts) / pool.people
    return [[round(float(share), 4) for share in row] for row in told]


def card(pool: Table, j: int, sheet: Sheet) -> Plain:
    """Return what changes of a question: how it is asked, its buckets and who gives each answer."""
    partition = sheet.generalization.partitions[j]
    name = partition.attribute.name
    own = {lock for lock in sheet.locks if lock.attribute == name}
    shown: Plain = {"asked": _asked(partition), "locked": Lock(name, "attribute") in own, "buckets": []}
    if shown["asked"] != "buckets" and not partition.attribute.continuous:
        shown["assignment"] = list(partition.assignment)
    if shown["asked"] == "dropped" or partition.labels == ():
        return shown
    counts = _by_class(pool, partition.bucket_map(pool.levels[j])[pool.codes[:, j]], partition.size)
    shown["assignment"] = list(partition.assignment)
    shown["buckets"] = [
        {
            "label": label,
            "name": partition.name(b),
            "locked": Lock(name, "bucket", label) in own,
            **_share_of(counts[b], pool),
        }
        for b, label in enumerate(partition.unnamed.labels)
    ]
    if isinstance(partition, Intervals):
        shown["edges"] = [
            {"at": edge, "text": number_text(edge), "locked": Lock(name, "edge", number_text(edge)) in own}
            for edge in partition.edges
        ]
    return shown


def _asked(partition: Partition) -> str:
    return "dropped" if partition.suppressed else "full" if is_untouched(partition) else "buckets"


def _share_of(counts: npt.NDArray[np.float64], pool: Table) -> Plain:
    few = counts.sum() < FEW
    shares = counts / max(counts.sum(), 1.0)
    return {
        "few": bool(few),
        "share": 0.0 if few else round(float(counts.sum() / pool.people), 4),
        "classes": [] if counts.sum() < 4 * FEW else [round(float(share), 3) for share in shares],
    }


def told(one: Told) -> Plain:
    """Return an error with its interval."""
    return {
        "error": round(one.error, 4),
        "low": round(one.interval.low, 4),
        "high": round(one.interval.high, 4),
        "guessing": round(one.guessing, 4),
    }


def worth(one: Worth) -> Plain:
    """Return what a question is worth to the model, and what it tells an attacker, in shares of people."""
    return {
        "loss": round(one.loss.mean, 4),
        "error": round(one.loss.standard_error, 4),
        "disclosed": round(one.disclosed, 4),
        "own": None if one.own is None else round(one.own, 4),
    }


def estimated(one: Estimate) -> Plain:
    """Return the live figures of a draft."""
    return {
        "judged": False,
        "model": told(one.model),
        "mean": told(one.mean),
        "attributes": {name: told(each) for name, each in one.attributes.items()},
        "alone": one.alone,
        "people": one.people,
        "asked": one.asked,
        "answers": one.answers,
        "joint_buckets": one.joint_buckets,
        "certified": round(one.certified, 4),
        "looks": one.looks,
        "paid": round(one.paid, 4),
    }


def judged(one: Evaluation, generalization: Generalization, answers: int) -> Plain:
    """Return the figures of a strong judgement in the same shape, with every attack beside guessing."""
    assert one.utility is not None
    attack = one["A1"]
    return {
        "judged": True,
        "model": _error(one.utility.error, one.utility.interval, one.utility.baseline),
        "mean": _error(attack.adversary_error, attack.interval, attack.baseline),
        "attributes": {
            each.attribute: _error(each.adversary_error, each.interval, each.baseline)
            for each in attack.attributes
        },
        "alone": one["A8"].unique_people,
        "people": int(one.people.test),
        "asked": len(generalization.collected),
        "answers": answers,
        "certified": None if one.certificate is None else round(one.certificate.mean.adversary_error_at_least, 4),
        "attacks": [
            {"name": each.adversary, **_error(each.adversary_error, each.interval, each.baseline)}
            for each in one.attacks
        ],
    }


def _error(error: float, interval: Any, guessing: float) -> Plain:
    low, high = interval if interval is not None else (error, error)
    return {"error": round(error, 4), "low": round(low, 4), "high": round(high, 4), "guessing": round(guessing, 4)}


def figures(one: Figures, asked: int, answers: int) -> Plain:
    """Return the figures of a candidate of the run on the validation part."""
    low, high = one.utility_interval
    mean = one.adversary_interval
    return {
        "judged": True,
        "model": {"error": round(one.utility_risk, 4), "low": round(low, 4), "high": round(high, 4)},
        "mean": {"error": round(one.adversary_error, 4), "low": round(mean.low, 4), "high": round(mean.high, 4)},
        "attributes": {name: {"error": round(error, 4)} for name, error in one.by_attribute.items()},
        "alone": one.unique_people,
        "people": one.people,
        "asked": asked,
        "answers": answers,
        "certified": None if one.certified is None else round(one.certified, 4),
    }


def frontier(run: Run) -> list[Plain]:
    """Return the candidates of the frontier, on validation: the test part stays closed."""
    return [
        {
            "id": point.id,
            "name": point_name(point.name),
            "words": point.words,
            "chosen": point.id == run.choice.candidate and not run.choice.only_nearest,
            "nearest": point.id == run.choice.nearest,
            "error": round(point.validation.utility_risk, 4),
            "safety": round(point.validation.adversary_error, 4),
            "asked": point.asked,
            "answers": point.answers,
        }
        for point in run.frontier.points
    ]


def unchosen(run: Run) -> str:
    """Say that no candidate of the run keeps its limits and with what the studio begins; empty where one does."""
    if run.choice.nearest is None:
        return ""
    nearest = run.frontier[run.choice.nearest]
    if run.choice.only_nearest:
        return f"{' '.join(only_nearest(run.choice, run.frontier))} A new studio begins with it: {nearest.id}."
    broken = "; ".join(limit.text for limit in broken_limits(nearest, run.choice.budget, run.frontier))
    return (
        f"{NOTHING} No candidate of the run keeps its limits. A new studio begins with the nearest, {nearest.id}, "
        f"which does not: {broken}."
    )


def limits(budget: Budget) -> Plain:
    """Return the limits that the page draws in."""
    return {
        "max_error_increase": budget.max_error_increase,
        "min_adversary_error": dict(budget.min_adversary_error),
        "max_unique": budget.max_unique,
        "max_buckets": budget.max_buckets,
    }


def changes(before: Generalization, after: Generalization) -> list[Plain]:
    """Return the questions that differ, each with how many answers it had and would have."""
    pairs = zip(before.partitions, after.partitions, strict=True)
    return [
        {"attribute": own.attribute.name, "before": _size(own), "after": _size(new), "labels": [*new.labels][:12]}
        for own, new in pairs
        if own != new
    ]


def _size(partition: Partition) -> str:
    asked = _asked(partition)
    return {"dropped": "not asked", "full": "in full"}.get(asked, counted(partition.size, "answer"))


def history(state: State) -> Plain:
    """Return what can be undone and redone, in words."""
    return {
        "undo": state.past[-1][0] if state.past else None,
        "redo": state.future[-1][0] if state.future else None,
        "steps": len(state.past),
    }


def shelf(state: State, of: Sequence[Plain]) -> list[Plain]:
    """Return the drafts on the shelf with their figures."""
    return [
        {"id": each.id, "name": each.name, "comment": each.comment, "figures": own}
        for each, own in zip(state.shelf, of, strict=True)
    ]
