"""The verdict about a limit: kept, probably kept, probably missed, missed; by the same rule as a check."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.checks.budgets import group_comparisons
from leastwise.checks.checking import _budget_comparisons
from leastwise.checks.comparisons import Comparison, statuses
from leastwise.checks.drifting import DriftLimits, unseen_comparisons
from leastwise.confidence import Interval, binomial_interval
from leastwise.documents import from_text, to_text
from leastwise.errors import ParameterError
from leastwise.evaluation.declared_groups import FEWEST, GroupErrors
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import LEVEL, GroupFigures, Groups, largest_gap
from leastwise.evaluation.noise import bound_by_counts
from leastwise.evaluation.risk import LabelRisk
from leastwise.predictors.held_out import MARGIN, Difference
from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import Figures
from leastwise.runs.verdicts import (
    KEPT,
    MISSED,
    PROBABLY_KEPT,
    PROBABLY_MISSED,
    Verdict,
    about_increase,
    verdicts,
)
from tests.report.hand_made import SCHEMA, evaluation, figures, generalizations

ONE_POINT = Budget(max_error_increase=0.01)
FIGURES = replace(figures(SCHEMA, 0.2, 0.3), people=3000)
G = generalizations(SCHEMA)[-1]
SIZE = Size(len(G.collected), G.total_buckets - len(G.not_collected))
PEOPLE = 400


def said(budget: Budget, increase: Difference, **rest: Any) -> Verdict:
    return about_increase(budget, increase, FIGURES, **rest)


@given(st.floats(-0.05, 0.05), st.floats(1e-4, 0.05), st.floats(0, 0.05), st.floats(0.5, 0.999))
def test_kept_means_that_the_upper_bound_keeps_it(
    mean: float, error: float, most: float, confidence: float
) -> None:
    budget = Budget(max_error_increase=most, confidence=confidence)
    found = about_increase(budget, Difference(mean, error), replace(FIGURES, people=0))  # nobody says how many
    counted = said(budget, Difference(mean, error))
    assert found.standing == KEPT or counted.standing != KEPT  # who is counted makes it no surer
    upper = max(mean, 0) + MARGIN * budget.errors * error  # who sees more can coarsen: less is chance
    assert (found.standing == KEPT) == (upper <= most)
    assert (found.standing == PROBABLY_KEPT) == (upper > most >= mean)
    assert found.missed == (upper > most and mean > most)
    assert found.sentence.startswith(f"{found.standing.capitalize()} on the test part: ")


@given(st.floats(0, 0.009), st.floats(0.002, 0.01), st.one_of(st.none(), st.floats(0, 0.02)))
def test_as_many_more_people_as_are_named_would_tell(mean: float, error: float, expected: float | None) -> None:
    """Also where beliefs stand against it, which labels of a few more people do not outweigh."""
    many = replace(FIGURES, people=30_000)  # so many that counts are as good as errors
    found = about_increase(ONE_POINT, Difference(mean, error), many, expected)
    named = re.search(r"about ([\d,]+) more", found.sentence)
    if named is None:
        return
    times = 1 + 1.06 * int(named[1].replace(",", "")) / 30_000  # it is rounded to two digits
    more = Difference(mean, error / times**0.5)
    assert about_increase(ONE_POINT, more, replace(many, people=int(30_000 * times)), expected).standing == KEPT


@pytest.mark.parametrize(("people", "limit"), [(300, 0.01), (600, 0.005), (600, 0.01), (1200, 0.005)])
def test_kept_is_as_sure_as_is_said_where_few_people_are_lost(people: int, limit: float) -> None:
    """Losses in one direction only, a little more than allowed: a standard error would claim too much."""
    random, false, by_errors = np.random.default_rng(people), 0, 0
    budget, figures_ = Budget(max_error_increase=limit), replace(FIGURES, people=people)
    for lost in random.binomial(people, 1.02 * limit, 500):
        wrong = np.zeros(people)
        wrong[:lost] = 1.0
        increase = Difference.of(wrong, np.ones(people))
        false += about_increase(budget, increase, figures_).standing == KEPT
        by_errors += increase.bound(MARGIN * budget.errors) <= limit
    assert false / 500 <= 0.12  # 10 %, and chance
    assert by_errors > false


# A run is never louder than a check ------------------------------------------------------------------------------

CHECKED_AS = {
    "max_error_increase": "more error than",
    "max_error": "error of the model",
    "min_adversary_error mean": "A1 on average",
    "min_adversary_error sex": "A1 sex",
    "max_unique": "people who are alone",
    "max_unique_share": "share of people who are alone",
    "max_group_gap": "gap by",
    "max_group_error": "error of the model for",
    "max_buckets": "answers in all",
    "max_asked": "questions",
}


@st.composite
def judged(draw: st.DrawFn) -> tuple[Evaluation, Groups]:
    """How a check would judge: errors, A1, who is alone, and how groups are served."""
    plain = evaluation(G, 0.2, 0.3)
    assert plain.utility is not None
    wrong, told, unique = (draw(st.integers(0, most)) for most in (PEOPLE // 2, PEOPLE // 2, 30))
    sizes = draw(
        st.lists(st.lists(st.integers(FEWEST, 3 * FEWEST), min_size=1, max_size=4), min_size=1, max_size=2)
    )
    increases, listed, worst = dict[str, dict[str, Difference]](), list[GroupFigures](), list[Difference]()
    for i, sizes_of_groups in enumerate(sizes):
        increases[f"by {i}"] = {}
        for j, people in enumerate(sizes_of_groups):
            errors = draw(st.integers(0, people // 2))
            more = Difference(draw(st.floats(-0.1, 0.3)), draw(st.floats(0.01, 0.1)))
            increases[f"by {i}"][f"{i}{j}"] = more
            worst.append(Difference.of(np.repeat([1.0, 0.0], [errors, people - errors]), np.ones(people)))
            listed.append(group(f"by {i}", f"{i}{j}", people, errors, more))
    served = GroupErrors(increases=increases, worst=max(worst, key=lambda each: each.mean))
    risk = replace(
        plain.utility,
        error=wrong / PEOPLE,
        interval=binomial_interval(wrong, PEOPLE),
        people=PEOPLE,
        increase=Difference(draw(st.floats(-0.02, 0.1)), draw(st.floats(1e-3, 0.03))),
        groups=served,
    )
    sex = told / PEOPLE
    first = replace(
        plain["A1"],
        people=float(PEOPLE),
        adversary_error=sex,
        interval=binomial_interval(told, PEOPLE),
        attributes=tuple(replace(each, adversary_error=sex) for each in plain["A1"].attributes),
    )
    alone = replace(plain["A8"], people=float(PEOPLE), unique_people=unique)
    gaps = (largest_gap(name, [*own.items()]) for name, own in increases.items())
    groups = Groups(
        fingerprint=G.fingerprint, seed=0, groups=tuple(listed), gaps=tuple(gap for gap in gaps if gap is not None)
    )
    return replace(plain, utility=risk, attacks=(first, alone)), groups


def group(grouping: str, name: str, people: int, errors: int, more: Difference) -> GroupFigures:
    from scipy import stats

    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    nobody: dict[str, Any] = {"adversary_error": None, "adversary_interval": None, "baseline": None}
    return GroupFigures(
        grouping=grouping,
        group=name,
        people=float(people),
        error=errors / people,
        interval=binomial_interval(errors, people),
        everything=0.1,
        increase=more.mean,
        increase_interval=Interval(more.bound(-z), more.bound(z)),
        alone=0,
        **nobody,
    )


@st.composite
def budgets_for(draw: st.DrawFn, found: Figures) -> Budget:
    """Any limits, each about as far below (above) the figure as noise may be: where a verdict is hard."""
    far, groups = st.floats(2.0, 4.5), found.groups
    assert found.increase is not None
    assert groups is not None

    def below(value: float, error: float) -> float:
        return min(max(value - draw(far) * error, 0.0), 1.0)

    def spread(share: float) -> float:
        return (share * (1 - share) / PEOPLE) ** 0.5

    error, told, alone = found.utility_risk, found.adversary_error, found.unique_people
    own = max(groups.increases.values(), key=len)
    ends = [pick(own.values(), key=lambda each: each.mean) for pick in (max, min)]
    apart = math.hypot(*(each.standard_error for each in ends))
    limits = {
        "max_error_increase": below(found.increase.mean, found.increase.standard_error),
        "max_error": below(error, spread(error)),
        "min_adversary_error": {
            name: 1 - below(1 - told, spread(told))
            for name in draw(st.sampled_from(["sex", "mean", "sex mean"])).split()
        },
        "max_unique": int(PEOPLE * below(alone / PEOPLE, alone**0.5 / PEOPLE)),
        "max_unique_share": below(alone / PEOPLE, spread(alone / PEOPLE)),
        "max_group_gap": below(ends[0].mean - ends[1].mean, apart),
        "max_group_error": below(groups.worst.mean, groups.worst.standard_error),
        "max_buckets": draw(st.integers(0, 20)),
        "max_asked": draw(st.integers(0, 3)),
    }
    names = draw(st.lists(st.sampled_from([*limits]), min_size=1, max_size=4, unique=True))
    return Budget(**{name: limits[name] for name in names})


@settings(max_examples=200)
@given(st.data(), judged(), st.integers(0, 3))
def test_a_run_is_never_louder_than_a_check(
    data: st.DataObject, found: tuple[Evaluation, Groups], others: int
) -> None:
    """Of every kind of limit, alone or among others, and whatever a check asks besides."""
    checked, groups = found
    figures = Figures.of(checked)
    budget = data.draw(budgets_for(figures))
    comparisons = [*_budget_comparisons(G, checked, budget), *group_comparisons(groups, budget)]
    besides = [
        *unseen_comparisons({f"a{i}": 0 for i in range(others)}, 1000, DriftLimits()),
        *[Comparison(about="use", name="x", then=0.1, now=0.1, chance=1.0, matters=False, reason="")] * others,
    ]
    by_check = statuses([*comparisons, *besides], DriftLimits().level)
    by_run = verdicts(budget, figures, 0.1, SIZE)
    assert {verdict.limit for verdict in by_run} <= {*CHECKED_AS}
    for verdict in by_run:
        same = {
            status
            for comparison, status in zip(comparisons, by_check, strict=False)
            if is_about(comparison.name, CHECKED_AS[verdict.limit])
        }
        if verdict.standing == MISSED:
            assert "broken" in same, verdict
        if verdict.standing == PROBABLY_MISSED:
            assert same & {"watch", "broken"}, verdict


def is_about(name: str, begin: str) -> bool:
    return name == begin or (name.startswith(begin) and begin.endswith(("for", "by", "than")))


@pytest.mark.parametrize(
    ("limit", "figures"),
    [
        ({"max_error": 0.1}, {"utility_risk": 0.11, "utility_interval": binomial_interval(44, 400)}),
        ({"min_adversary_error": {"sex": 0.2}}, {"by_attribute": {"sex": 0.18}}),
        ({"max_unique": 3}, {"unique_people": 5}),
        ({"max_unique_share": 0.01}, {"unique_people": 6}),
        ({"max_group_gap": 0.02}, {"groups": GroupErrors(
            increases={"sex": {"f": Difference(0.0, 0.03), "m": Difference(0.12, 0.03)}},
            worst=Difference(0.2, 0.03))}),
        ({"max_group_error": 0.2}, {"groups": GroupErrors(
            increases={"sex": {"f": Difference(0.0, 0.03), "m": Difference(0.01, 0.03)}},
            worst=Difference(0.25, 0.05))}),
    ],
)  # fmt: skip
def test_of_every_limit_a_little_beyond_is_noise_with_few_people(
    limit: dict[str, Any], figures: dict[str, Any]
) -> None:
    (found,) = verdicts(Budget(**limit), replace(FIGURES, people=400, **figures), 0.1)
    assert found.standing == PROBABLY_MISSED
    assert found.words.endswith(", which noise can explain")
    assert found.now != found.allowed


@pytest.mark.parametrize(
    ("limit", "figures", "standing"),
    [
        ({"max_error": 0.3}, {}, KEPT),
        ({"max_error": 0.201}, {}, PROBABLY_KEPT),
        ({"min_adversary_error": {"sex": 0.1}}, {}, KEPT),
        ({"max_unique": 3}, {}, PROBABLY_KEPT),
        ({"max_unique": 30}, {}, KEPT),
        ({"max_asked": 3, "max_buckets": 99}, {}, KEPT),
        ({"max_asked": 1}, {}, MISSED),
    ],
)
def test_what_is_within_a_limit_is_kept_where_the_people_confirm_it(
    limit: dict[str, Any], figures: dict[str, Any], standing: str
) -> None:
    known = {"utility_interval": binomial_interval(600, 3000), "by_attribute": {"sex": 0.15}}
    found = verdicts(Budget(**limit), replace(FIGURES, **known, **figures), 0.1, SIZE)
    assert {verdict.standing for verdict in found} == {standing}


def test_a_verdict_is_stored_as_it_is() -> None:
    for increase in (Difference(0.004, 0.002), Difference(0.013, 0.002), Difference(0.05, 0.002)):
        found = said(ONE_POINT, increase)
        assert from_text(Verdict, to_text(found, "x"), "x", "x") == found
    with pytest.raises(ParameterError, match="standing must be one of kept, probably kept"):
        replace(found, standing="maybe")


# In words --------------------------------------------------------------------------------------------------------


def test_kept_and_missed_in_words() -> None:
    assert said(ONE_POINT, Difference(0.004, 0.002)).sentence == (
        "Kept on the test part: with 90\xa0% confidence the model errs at most 0.8 points more than with "
        "everything asked (allowed: 1.0)."
    )
    noise = said(ONE_POINT, Difference(0.013, 0.002))
    assert noise.words == (
        "the model errs 1.3 points more than with everything asked, allowed is 1.0, which noise can explain"
    )
    assert noise.sentence == (
        f"Probably missed on the test part: {noise.words}: a test at 99.7\xa0% confidence does not rule out 0.8."
    )
    none = said(ONE_POINT, Difference(0.013, 0.01)).sentence
    assert none.endswith("confidence does not rule out that it errs no more at all.")
    assert "0.0" not in none


def test_both_numbers_have_the_same_digits() -> None:
    just = said(ONE_POINT, Difference(0.01003, 0.003)).sentence
    assert "than with everything asked, just above what is allowed, 1.0, which noise can explain:" in just
    assert "errs 1.0 points more" in just
    finer = said(Budget(max_error_increase=0.0025), Difference(0.02, 0.001)).sentence
    missed = "Missed on the test part: the model errs"
    assert finer == f"{missed} 2.00 points more than with everything asked, allowed is 0.25."
    tiny = said(Budget(max_error_increase=1e-7), Difference(0.02, 0.001)).sentence
    assert tiny == f"{missed} 2.00000 points more than with everything asked, allowed is 0.00001."


def test_several_limits_and_labels_make_nobody_surer() -> None:
    far = Difference(0.0158, 0.002)
    assert said(ONE_POINT, far).standing == MISSED
    assert said(replace(ONE_POINT, max_asked=3, max_buckets=20), far).standing == PROBABLY_MISSED
    labels = tuple(
        LabelRisk(label=name, error=0.2, interval=Interval(0.19, 0.21), baseline=0.4, increase=far)
        for name in ("pay", "home", "car", "pet")
    )
    several = replace(FIGURES, labels=labels, increase=far)
    (found,) = verdicts(ONE_POINT, several, 0.1)
    assert found.standing == PROBABLY_MISSED
    assert " about pay than with everything asked" in found.finding
    (mean,) = verdicts(replace(ONE_POINT, labels_by="weighted"), several, 0.1)
    assert mean.standing == MISSED


def test_of_several_labels_what_is_missed_is_not_hidden_by_what_noise_explains() -> None:
    surely, perhaps = Difference(0.03, 0.003), Difference(0.02, 0.02)
    assert perhaps.bound(ONE_POINT.errors) > surely.bound(ONE_POINT.errors)
    labels = tuple(
        LabelRisk(label=name, error=0.2, interval=Interval(0.19, 0.21), baseline=0.4, increase=increase)
        for name, increase in (("pay", surely), ("home", perhaps))
    )
    (found,) = verdicts(ONE_POINT, replace(FIGURES, labels=labels, increase=surely), 0.1)
    assert found.standing == MISSED
    assert " about pay than with everything asked" in found.finding


def test_that_nobody_more_would_tell_is_not_said() -> None:
    errors = MARGIN * ONE_POINT.errors
    just = about_increase(ONE_POINT, Difference(0.004, 0.006 / errors * 1.0001), replace(FIGURES, people=1_000))
    assert just.standing == PROBABLY_KEPT
    assert "about 1 more person to test would tell" in just.finding


def test_how_many_more_would_tell_counts_those_who_were_not_met() -> None:
    """Nobody of 240 was lost: of 241 who show the same, exact counts confirm no more than of 240."""
    nobody, figures = Difference(0.0, 1 / 240), replace(FIGURES, people=240)
    told = about_increase(ONE_POINT, nobody, figures)
    assert told.standing == PROBABLY_KEPT
    more = int(re.search(r"about (\d+) more people to test would tell", told.finding)[1])  # type: ignore[index]
    assert more > 10
    as_many = replace(nobody, standard_error=nobody.standard_error * (240 / (240 + 1.1 * more)) ** 0.5)
    assert bound_by_counts(as_many, 240 + 1.1 * more, ONE_POINT.confidence) <= 0.01
    assert bound_by_counts(nobody, 240, ONE_POINT.confidence) > 0.01


def test_where_very_many_more_would_be_needed_it_is_said_why() -> None:
    just = about_increase(ONE_POINT, Difference(0.0097, 0.001), replace(FIGURES, people=30_000))
    assert just.standing == PROBABLY_KEPT
    assert "more people to test would tell: so near is the limit" in just.finding
