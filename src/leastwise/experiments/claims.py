"""What the paper found, as rules over rows: each says whether rows show it, or None where they cannot.

Frontiers are compared by how often the adversary errs on average over classifier errors, from the lowest to the
highest: at each the safest candidate counts that errs no more; where there is none, it is as if all were told.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from leastwise.evaluation.pareto import Limits, Point, adversary_error_at
from leastwise.experiments.declaration import Row

# Errors closer than this are the same.
_ALIKE = 0.002
# From here on a difference is one: the paper's table of architectures marks those.
_NOTICEABLE = 0.02
_BASELINES = ("uniform", "feature-selection", "iterative", "apt", "advtrain", "mutualinf")


def _number(row: Row, column: str) -> float:
    return float(row[column])


# Frontiers -------------------------------------------------------------------------------------------------------


def _frontiers(rows: Sequence[Row], series: str) -> dict[str, list[Point]]:
    """Return the points of each series."""
    points: dict[str, list[Point]] = {}
    for row in rows:
        point = Point(_number(row, "utility_risk"), _number(row, "adversary_error"))
        points.setdefault(str(row[series]), []).append(point)
    return points


def _safety(points: Sequence[Point], low: float, high: float) -> float:
    """Return the adversary error on average over these classifier errors; where no point reaches, it is 0."""
    if high <= low:
        return max((point.adversary_error for point in points if point.utility_risk <= low), default=0.0)
    return Limits(Point(low, 0.0), Point(high, 1.0)).hypervolume(points) / (high - low)


def _apart(*frontiers: Sequence[Point]) -> float:
    """Return how far frontiers lie apart; who does not reach as low an error lies far from who does."""
    risks = [point.utility_risk for points in frontiers for point in points]
    found = [_safety(points, min(risks), max(risks)) for points in frontiers]
    return max(found) - min(found)


def trees_are_ahead(rows: Sequence[Row]) -> bool | None:
    """Say whether no baseline has a better frontier than PAT, from everything asked to nothing asked."""
    points = _frontiers(rows, "minimizer")
    risks = [point.utility_risk for each in points.values() for point in each]
    safe = {name: _safety(each, min(risks), max(risks)) for name, each in points.items()}
    others = [value for name, value in safe.items() if name.startswith(_BASELINES)]
    return None if "pat" not in safe or not others else safe["pat"] >= max(others) - _ALIKE


def no_baseline_is_ahead(rows: Sequence[Row]) -> bool | None:
    """Say whether no candidate of a baseline is noticeably safer than all trees that err no more."""
    points = _frontiers(rows, "minimizer")
    others = [each for name, own in points.items() if name.startswith(_BASELINES) for each in own]
    trees = points.get("pat", [])
    safest = [(each, adversary_error_at(trees, each.utility_risk)) for each in others]
    ahead = [each.adversary_error - tree for each, tree in safest if tree is not None]
    return max(ahead) < _NOTICEABLE if ahead else None


def seeds_are_alike(rows: Sequence[Row]) -> bool | None:
    """Say whether the frontiers of all seeds lie close together."""
    points = _frontiers(rows, "seed")
    return None if len(points) < 2 else _apart(*points.values()) < _NOTICEABLE


def anova_selects_best(rows: Sequence[Row]) -> bool | None:
    """Say whether attributes selected by mutual information and by chi-squared do worse than by ANOVA."""
    points = _frontiers(rows, "minimizer")
    risks = [point.utility_risk for each in points.values() for point in each]
    anova, *others = (
        _safety(points[f"feature-selection ({method})"], min(risks), max(risks))
        for method in ("anova", "mutual_info", "chi2")
    )
    return anova > max(others) + _ALIKE


def removal_selects_the_same(rows: Sequence[Row]) -> bool | None:
    """Say whether removing one attribute after the other ends where ANOVA does."""
    sets = [
        {
            str(row["setting"]): (_number(row, "utility_risk"), _number(row, "adversary_error"))
            for row in rows
            if row["minimizer"] == f"feature-selection ({method})"
        }
        for method in ("anova", "iterative")
    ]
    return sets[0] == sets[1]


def few_records_are_enough(rows: Sequence[Row]) -> bool | None:
    """Say whether 5 % of the training records give nearly the frontier of all of them."""
    points = {name.split()[0]: each for name, each in _by_share(rows).items()}
    return None if not {"5.0", "100.0"} <= {*points} else _apart(points["5.0"], points["100.0"]) < _NOTICEABLE


def very_few_are_not(rows: Sequence[Row]) -> bool | None:
    """Say whether the smallest sample gives a worse frontier than all training records."""
    points = {name.split()[0]: each for name, each in _by_share(rows).items()}
    if not {"0.1", "100.0"} <= {*points}:
        return None
    risks = [point.utility_risk for each in points.values() for point in each]
    few, whole = (_safety(points[share], min(risks), max(risks)) for share in ("0.1", "100.0"))
    return whole > few + _NOTICEABLE


def _by_share(rows: Sequence[Row]) -> dict[str, list[Point]]:
    return _frontiers([{**row, "share": str(row["share"]).replace("\xa0", " ")} for row in rows], "share")


def years_are_alike(rows: Sequence[Row]) -> bool | None:
    """Say whether no generalization is noticeably worse in a later year than in the first."""
    first, *later = _frontiers(rows, "year").values()
    worse = [
        max(then.utility_risk - at.utility_risk, at.adversary_error - then.adversary_error)
        for year in later
        for at, then in zip(first, year, strict=True)
    ]
    return max(worse) < _NOTICEABLE if worse else None


def one_is_protected_by_many(rows: Sequence[Row]) -> bool | None:
    """Say whether, for each attribute, protecting all and protecting it alone give like frontiers."""
    far = [
        _apart(*_frontiers([row for row in rows if row["attribute"] == name], "protected").values())
        for name in dict.fromkeys(row["attribute"] for row in rows)
    ]
    return max(far) < _NOTICEABLE if far else None


# Candidates ------------------------------------------------------------------------------------------------------


def told_where_accurate(rows: Sequence[Row]) -> bool | None:
    """Say whether most attributes are told at the lowest classifier error, and fewer half way along."""
    told: dict[tuple[float, str], int] = {}
    for row in rows:
        at = _number(row, "utility_risk"), str(row["buckets"])
        better = _number(row, "baseline") - _number(row, "adversary_error") >= _NOTICEABLE
        told[at] = told.get(at, 0) + better
    counts = [told[at] for at in sorted(told)]
    attributes = len({row["attribute"] for row in rows})
    return 2 * counts[0] > attributes and counts[len(counts) // 2] < counts[0]


def most_is_not_asked(rows: Sequence[Row]) -> bool | None:
    """Say whether most attributes are not asked."""
    return 2 * sum(row["asked"] == 0 for row in rows) > len(rows)


def little_is_lost(rows: Sequence[Row]) -> bool | None:
    """Say whether the classifier errs more by 0.01 at most, rounded as the paper rounds."""
    return round(_number(rows[0], "utility_risk") - _number(rows[0], "utility_risk_before"), 2) <= 0.01


def much_is_hidden(rows: Sequence[Row]) -> bool | None:
    """Say whether the adversary errs at least four fifths as often as who only guesses."""
    return _number(rows[0], "adversary_error") >= 0.8 * _number(rows[0], "baseline")


def larger_attack_others_better(rows: Sequence[Row]) -> bool | None:
    """Say whether against uniform or AdvTrain a larger network errs noticeably less than the smallest."""
    return any(_gain(own) >= _NOTICEABLE for name, own in _networks(rows).items() if not name.startswith("pat"))


def larger_attack_trees_no_better(rows: Sequence[Row]) -> bool | None:
    """Say whether against no tree a larger network errs noticeably less than the smallest."""
    return all(_gain(own) < _NOTICEABLE for name, own in _networks(rows).items() if name.startswith("pat"))


def _networks(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        own = found.setdefault(str(row["generalization"]), {})
        own[str(row["architecture"])] = _number(row, "adversary_error")
    return found


def _gain(own: dict[str, float]) -> float:
    return round(own["MLP-2"] - min(own["MLP-3"], own["MLP-5"]), 6)


# Attacks ---------------------------------------------------------------------------------------------------------


def surest_are_told_best(rows: Sequence[Row]) -> bool | None:
    """Say whether the surest guesses are better than all of them."""
    better = [own["surest 100 %"] - own["surest 1 %"] for own in _per_candidate(rows, "surest")]
    return min(better) >= -_ALIKE and max(better) > _ALIKE  # where nobody is better that shows nothing


def who_knows_more_errs_less(rows: Sequence[Row]) -> bool | None:
    """Say whether A4, A5, A3 and A1 err in this order, at every candidate."""
    most = 0.0
    for own in _per_candidate(rows, "adversary"):
        of = {name.split()[0]: error for name, error in own.items()}
        errors = [of[who] for who in ("A4", "A5", "A3", "A1")]
        if any(more > less + _ALIKE for more, less in pairwise(errors)):
            return False
        most = max(most, errors[-1] - errors[0])
    return most > _ALIKE


def together_tell_more(rows: Sequence[Row]) -> bool | None:
    """Say whether two breaches tell more than either of them."""
    more = [
        min(_number(row, "first_error"), _number(row, "second_error")) - _number(row, "adversary_error")
        for row in rows
    ]
    return min(more) >= -_ALIKE and max(more) > _ALIKE


def finer_tells_more(rows: Sequence[Row]) -> bool | None:
    """Say whether more values are told the more leaves a tree has."""
    told = {str(row["generalization"]): _number(row, "times_chance") for row in rows}
    times_chance = [told[f"pat alpha=0.3 leaves={leaves}"] for leaves in (8, 20, 50)]
    return times_chance == sorted(times_chance) and times_chance[0] < times_chance[-1]


def weight_hides(rows: Sequence[Row]) -> bool | None:
    """Say whether fewer people are alone the more weight a tree gives to privacy."""
    alone = {str(row["generalization"]): _number(row, "unique_people") for row in rows}
    unique = [alone[f"pat alpha={alpha} leaves=20"] for alpha in ("0", "0.3", "0.8")]
    return unique == sorted(unique, reverse=True) and unique[0] > unique[-1]


def _per_candidate(rows: Sequence[Row], name: str) -> list[dict[str, float]]:
    """Return the adversary errors by name, of each candidate: where a name comes again, another one begins."""
    errors: list[dict[str, float]] = []
    for row in rows:
        if not errors or str(row[name]) in errors[-1]:
            errors.append({})
        errors[-1][str(row[name])] = _number(row, "adversary_error")
    return errors
