"""Each claim against rows that show it, that deny it, and that cannot tell."""

from __future__ import annotations

import pytest

from leastwise.experiments import claims
from leastwise.experiments.declaration import Row


def points(column: str, **series: list[tuple[float, float]]) -> list[Row]:
    return [
        {column: name, "utility_risk": risk, "adversary_error": error}
        for name, own in series.items()
        for risk, error in own
    ]


def test_trees_are_ahead_where_no_baseline_is_safer_on_average() -> None:
    tree = [(0.2, 0.3), (0.4, 0.5)]
    assert claims.trees_are_ahead(points("minimizer", pat=tree, uniform=[(0.3, 0.3), (0.4, 0.5)]))
    assert not claims.trees_are_ahead(points("minimizer", pat=tree, apt=[(0.2, 0.4), (0.4, 0.5)]))
    assert claims.trees_are_ahead(points("minimizer", pat=tree, apt=tree[1:], optimal=[(0.2, 0.4)])), (
        "not the paper's"
    )
    assert claims.trees_are_ahead(points("minimizer", pat=tree, optimal=[(0.2, 0.4)])) is None


def test_a_baseline_is_ahead_where_it_is_safer_than_all_trees_that_err_no_more() -> None:
    tree = [(0.2, 0.3), (0.4, 0.5)]
    assert claims.no_baseline_is_ahead(points("minimizer", pat=tree, apt=[(0.3, 0.31), (0.1, 0.9)]))
    assert not claims.no_baseline_is_ahead(points("minimizer", pat=tree, apt=[(0.3, 0.33)]))
    assert claims.no_baseline_is_ahead(points("minimizer", pat=tree, optimal=[(0.3, 0.9)])) is None


def test_frontiers_of_seeds_are_alike_where_they_reach_as_far_and_lie_as_high() -> None:
    one = [(0.2, 0.3), (0.3, 0.5)]
    assert claims.seeds_are_alike(points("seed", a=one, b=[(0.199, 0.1), *one]))
    assert not claims.seeds_are_alike(points("seed", a=one, b=[(0.1, 0.1), *one]))
    assert not claims.seeds_are_alike(points("seed", a=one, b=[(0.2, 0.33), (0.3, 0.5)]))
    assert claims.seeds_are_alike(points("seed", a=one)) is None


def selected(method: str, *errors: float) -> list[Row]:
    name = f"feature-selection ({method})"
    return [
        {"minimizer": name, "setting": f"k={k}", "utility_risk": 0.3 - 0.1 * k, "adversary_error": error}
        for k, error in enumerate(errors)
    ]


def test_ways_to_select_attributes() -> None:
    rows = [*selected("anova", 0.5, 0.3), *selected("mutual_info", 0.5, 0.2), *selected("chi2", 0.4, 0.2)]
    assert claims.anova_selects_best(rows)
    assert not claims.anova_selects_best([*rows, *selected("chi2", 0.5, 0.4)])
    assert claims.removal_selects_the_same([*rows, *selected("iterative", 0.5, 0.3)])
    assert not claims.removal_selects_the_same([*rows, *selected("iterative", 0.5, 0.2)])


def test_training_sizes_are_decided_by_the_shares_that_were_tried() -> None:
    whole, half = [(0.2, 0.3), (0.3, 0.5)], [(0.2, 0.15), (0.3, 0.5)]
    rows = points("share", **{"100.0\xa0% (9 records)": whole, "5.0\xa0% (5 records)": whole})
    assert claims.few_records_are_enough(rows)
    assert claims.very_few_are_not(rows) is None
    rows += points("share", **{"0.1\xa0% (1 records)": half})
    assert claims.very_few_are_not(rows)
    assert claims.few_records_are_enough(rows[:2]) is None


@pytest.mark.parametrize(
    ("risk", "error", "alike"), [(0.219, 0.281, True), (0.221, 0.3, False), (0.2, 0.279, False)]
)
def test_years_are_alike_where_no_figure_is_noticeably_worse(risk: float, error: float, alike: bool) -> None:
    rows = points("year", first=[(0.2, 0.3)], later=[(risk, error)])
    assert claims.years_are_alike(rows) == alike
    assert claims.years_are_alike(rows[:1]) is None


def test_protecting_one_and_all_is_compared_attribute_by_attribute() -> None:
    rows = [{**row, "attribute": "a"} for row in points("protected", all=[(0.2, 0.3)], alone=[(0.2, 0.31)])]
    assert claims.one_is_protected_by_many(rows)
    rows += [{**row, "attribute": "b"} for row in points("protected", all=[(0.2, 0.3)], alone=[(0.2, 0.4)])]
    assert not claims.one_is_protected_by_many(rows)


def test_attributes_are_counted_where_they_are_told_noticeably_better_than_by_guessing() -> None:
    def at(risk: float, *errors: float) -> list[Row]:
        same = {"utility_risk": risk, "buckets": 9, "baseline": 0.5}
        return [{**same, "attribute": str(i), "adversary_error": error} for i, error in enumerate(errors)]

    assert claims.told_where_accurate([*at(0.2, 0.1, 0.2, 0.5), *at(0.3, 0.49, 0.3, 0.5)])
    assert not claims.told_where_accurate([*at(0.2, 0.1, 0.2, 0.5), *at(0.3, 0.4, 0.3, 0.5)])
    assert not claims.told_where_accurate([*at(0.2, 0.1, 0.49, 0.5), *at(0.3, 0.5, 0.5, 0.5)])


def test_what_would_be_asked() -> None:
    row = {"utility_risk": 0.214, "utility_risk_before": 0.2, "adversary_error": 0.4, "baseline": 0.5}
    rows: list[Row] = [{**row, "asked": asked} for asked in (0, 0, 1)]
    assert claims.most_is_not_asked(rows)
    assert not claims.most_is_not_asked(rows[1:])
    assert claims.little_is_lost(rows)
    assert not claims.little_is_lost([{**row, "utility_risk": 0.216}])
    assert claims.much_is_hidden(rows)
    assert not claims.much_is_hidden([{**row, "adversary_error": 0.39}])


def test_larger_networks_against_trees_and_against_others() -> None:
    def of(name: str, *errors: float) -> list[Row]:
        networks = zip(("MLP-2", "MLP-3", "MLP-5"), errors, strict=True)
        return [{"generalization": name, "architecture": net, "adversary_error": error} for net, error in networks]

    rows = [*of("uniform k=3", 0.31, 0.29, 0.4), *of("pat alpha=0.7 leaves=4", 0.31, 0.3, 0.3)]
    assert claims.larger_attack_others_better(rows)
    assert claims.larger_attack_trees_no_better(rows)
    assert not claims.larger_attack_others_better(of("uniform k=3", 0.31, 0.3, 0.4))
    assert not claims.larger_attack_trees_no_better(of("pat alpha=0.7 leaves=4", 0.31, 0.31, 0.28))


def test_two_candidates_of_the_same_classifier_error_are_both_judged() -> None:
    order = {"A1": 0.4, "A3": 0.35, "A4": 0.2, "A5": 0.3}
    good: list[Row] = [{"adversary": a, "utility_risk": 0.2, "adversary_error": e} for a, e in order.items()]
    bad: list[Row] = [{**row, "adversary_error": 1 - float(row["adversary_error"])} for row in good]
    assert claims.who_knows_more_errs_less(good)
    assert not claims.who_knows_more_errs_less([*bad, *good])
