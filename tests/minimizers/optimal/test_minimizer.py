"""The exact partition: ends of the path, optimality against every partition, effects, long attributes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.errors import ParameterError
from leastwise.minimizers import MINIMIZERS, OptimalMinimizer, optimal_path, recommended_paths, restarted_paths
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal import items, make_program
from leastwise.minimizers.optimal.surrogate import SURROGATES, effects_of
from tests.samples import coded, named
from tests.strategies import tables

LABEL = Attribute("y", values=("0", "1"))


def run_partitions(order: list[int]) -> Iterator[list[list[int]]]:
    for cuts in itertools.product([False, True], repeat=len(order) - 1):
        groups = [[order[0]]]
        for code, cut in zip(order[1:], cuts, strict=True):
            groups = [*groups, [code]] if cut else [*groups[:-1], [*groups[-1], code]]
        yield groups


def cost_of(
    table: Table, j: int, groups: list[list[int]], effects: np.ndarray, lam: float, bucket_penalty: float = 0.0
) -> float:
    """The formula, bucket by bucket."""
    total, codes, people = 0.0, table.codes[:, j], table.counts
    for group in groups:
        rows = np.isin(codes, group)
        if not rows.any():
            continue
        weights, own = people[rows], effects[codes[rows]]
        total += float(weights @ ((own - np.average(own, axis=0, weights=weights)) ** 2).sum(axis=1))
        most = [np.bincount(table.codes[rows, p], weights=weights).max() for p in table.personal]
        total += lam / len(table.personal) * sum(most) + bucket_penalty
    return total


def effects_for(table: Table, seed: int, width: int = 1) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    return tuple(random.normal(size=(size, width)).round(1) for size in table.sizes)


@settings(deadline=None, max_examples=60)
@given(
    tables(weights=True), st.integers(0, 99), st.sampled_from([0.0, 0.1, 1.0, 10.0]), st.sampled_from([0.0, 0.5])
)
def test_every_attribute_is_cut_at_the_least_cost(table, seed, lam, penalty):
    effects = effects_for(table, seed)
    program = make_program(table, effects, bucket_penalty=penalty)
    found = program.generalization(program.solve(lam))
    for j, attribute in enumerate(table.schema.attributes):
        order = list(range(table.sizes[j]))
        if attribute.kind == "discrete":
            order.sort(key=lambda code: effects[j][code, 0])
        least = min(cost_of(table, j, groups, effects[j], lam, penalty) for groups in run_partitions(order))
        buckets = found.partitions[j].bucket_map(table.levels[j])
        chosen = [np.flatnonzero(buckets == b).tolist() for b in np.unique(buckets)]
        assert cost_of(table, j, chosen, effects[j], lam, penalty) == pytest.approx(least, abs=1e-7)


def test_a_dearer_bucket_never_means_more_of_them():
    table = table_of(12)
    counts = [
        OptimalMinimizer(lam=0.1, bucket_penalty=penalty).minimize(table).total_buckets
        for penalty in (0, 1, 10, 1e6)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 2
    with pytest.raises(ParameterError, match="bucket_penalty"):
        OptimalMinimizer(bucket_penalty=-1).minimize(table)


def table_of(values: int, kind: str = "discrete", rows: int = 400, seed: int = 0, classes: int = 2) -> Table:
    """One personal attribute whose label share rises with its code, and a second that means nothing."""
    random = np.random.default_rng(seed)
    a, b = random.integers(0, values, rows), random.integers(0, 3, rows)
    labels = np.clip((a / values * classes + random.random(rows) - 0.5), 0, classes - 1)
    number = Attribute("a", "continuous", personal=True)
    first = number if kind == "continuous" else named("a", values, kind=kind, personal=True)
    second = Attribute("b", values=("x", "y", "z"), personal=True)
    label = Attribute("y", values=tuple(f"c{c}" for c in range(classes)))
    return coded(Schema((first, second), label), a, b, labels=labels, numbers={"a": range(values)})


@pytest.mark.parametrize("kind", ["discrete", "ordinal", "continuous"])
def test_without_a_penalty_values_of_distinct_effect_stay_apart(kind):
    table = table_of(6, kind)
    effects = (np.array([[0.3], [0.1], [0.7], [-0.2], [0.5], [0.0]]), np.array([[0.1], [0.1], [0.2]]))
    program = make_program(table, effects)
    found = program.generalization(program.solve(0.0))
    assert found["a"].untouched
    assert found["b"].groups == (("x", "y"), ("z",))


@pytest.mark.parametrize("kind", ["discrete", "ordinal", "continuous"])
def test_a_high_penalty_suppresses_everything(kind):
    found = OptimalMinimizer(lam=1e9).minimize(table_of(6, kind))
    assert found == Generalization.suppressed(found.schema)


@pytest.mark.parametrize("surrogate", sorted(SURROGATES))
@pytest.mark.parametrize("classes", [2, 3])
def test_every_surrogate_finds_what_matters(surrogate, classes):
    table = table_of(5, classes=classes, rows=600)
    effects = effects_of(table, surrogate)
    assert all(
        effect.shape == (size, 1 if classes == 2 else 3) for effect, size in zip(effects, table.sizes, strict=True)
    )
    spread = [float(table.use(j) @ (effect**2).sum(axis=1)) for j, effect in enumerate(effects)]
    assert spread[0] > 10 * spread[1]


def test_a_value_seen_once_is_shrunk_to_the_mean():
    table = table_of(5)
    codes = table.codes.copy()
    codes[codes[:, 0] == 4, 0] = 3
    codes[0, 0] = 4
    rare = replace(table, codes=codes)
    effects = effects_of(rare, lambda _, seed: (np.array([[0.0], [0.0], [0.0], [0.0], [50.0]]), np.zeros((3, 1))))
    assert abs(effects[0][4, 0]) < 50 / 20


@pytest.mark.parametrize(
    "answer", [(np.zeros((6, 1)),), (np.zeros((6, 1)), np.zeros((4, 1))), (np.zeros(6), np.zeros(3))]
)
def test_a_surrogate_whose_effects_do_not_fit_is_told_what_is_expected(answer):
    with pytest.raises(ParameterError, match=r"codes x scores; expected \[6, 3\] codes"):
        OptimalMinimizer(surrogate=lambda table, seed: answer).minimize(table_of(6))


def test_names_are_checked_before_anything_is_learned():
    def never(table: Table, seed: int) -> tuple[np.ndarray, ...]:
        raise AssertionError("the surrogate was asked")

    wrong = Constraints(suppressed=["aa"])
    for find in (
        lambda: OptimalMinimizer(surrogate=never, constraints=wrong).minimize(table_of(3)),
        lambda: optimal_path(table_of(3), surrogate=never, constraints=wrong),
        lambda: recommended_paths(table_of(3), surrogate=never, constraints=wrong),
        lambda: restarted_paths(table_of(3), surrogate=never, constraints=wrong),
    ):
        with pytest.raises(ParameterError, match="no attribute 'aa'"):
            find()


def test_constraints_without_content_are_none():
    table = table_of(4)
    assert Constraints(suppressed=[], max_buckets={}).empty
    assert not Constraints(min_people=1).empty
    assert optimal_path(table, 5, constraints=Constraints(suppressed=[])) == optimal_path(table, 5)


def test_a_surrogate_that_is_not_there_is_named():
    with pytest.raises(ParameterError, match="additive_boosting"):
        OptimalMinimizer(surrogate="additive_bosting").minimize(table_of(3))


def test_labels_of_one_class_need_no_attribute():
    table = table_of(4)
    one = replace(table, labels=np.zeros(len(table), dtype=int))
    found = OptimalMinimizer(lam=0.01).minimize(one)
    assert found.not_collected == ("a", "b")


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_the_path_runs_from_untouched_to_suppressed(kind):
    table = table_of(30, kind, rows=3000)
    path = optimal_path(table, 12)
    assert path[0] == Generalization.untouched(table.schema)
    assert path[-1] == Generalization.suppressed(table.schema)
    assert 8 <= len(path) <= 12
    multipliers = [g.origin["lam"] for g in path[1:]]
    assert multipliers == sorted(multipliers)


def test_the_same_records_give_the_same_bytes():
    table = table_of(20, rows=1000)
    one, two = ([g.to_json() for g in optimal_path(table, 6)] for _ in range(2))
    assert one == two


def test_a_path_of_one_step_is_refused():
    with pytest.raises(ParameterError, match="two ends"):
        optimal_path(table_of(3), 1)


def test_a_long_attribute_is_reduced_and_the_loss_is_bounded():
    random = np.random.default_rng(0)
    rows = 4000
    numbers = random.normal(size=rows)
    levels, codes = np.unique(numbers, return_inverse=True)
    sex = random.integers(0, 2, rows)
    labels = (numbers + 0.3 * random.normal(size=rows) > 0).astype(int)
    schema = Schema((Attribute("n", "continuous"), named("s", 2, personal=True)), LABEL)
    table = coded(schema, codes, sex, labels=labels, numbers={"n": levels})
    effects = (levels[:, None], np.zeros((2, 1)))
    program = make_program(table, effects)
    assert program.attributes[0].items.row <= 512
    assert program.attributes[0].items.reduced
    for lam in (0.1, 1.0):
        cost = program.attributes[0].optimum(lam).cost
        gap = program.gap(lam)
        assert 0 <= gap < cost
    finer = make_program(table.take(np.arange(450)), effects)
    assert finer.gap(1.0) == 0.0
    minimizer = OptimalMinimizer(lam=1.0, surrogate=lambda _, seed: effects)
    minimizer.minimize(table)
    assert minimizer.gap_ > 0


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9999), st.sampled_from([0.05, 0.5, 2.0, 8.0]), st.sampled_from([0.0, 0.3]))
def test_no_partition_of_the_values_is_cheaper_by_more_than_the_gap(seed, lam, penalty):
    table = table_of(14, "ordinal", rows=60, seed=seed)
    effects = effects_for(table, seed)
    exact = make_program(table, effects, bucket_penalty=penalty).attributes[0].optimum(lam).cost
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "MOST_VALUES", 5)
        patch.setattr(items, "MOST_ITEMS", 5)
        reduced = make_program(table, effects, bucket_penalty=penalty).attributes[0]
    assert reduced.items.reduced
    assert exact - 1e-9 <= reduced.optimum(lam).cost <= exact + reduced.gap(lam) + 1e-9


def groupings(values: list[int]) -> Iterator[list[list[int]]]:
    """Yield every way to put values into groups, runs or not."""
    if not values:
        yield []
        return
    for rest in groupings(values[1:]):
        yield [[values[0]], *rest]
        for i, group in enumerate(rest):
            yield [*rest[:i], [values[0], *group], *rest[i + 1 :]]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 9999), st.integers(1, 5))
def test_without_a_penalty_no_grouping_of_as_many_buckets_loses_less(seed, most):
    table = table_of(6, rows=80, seed=seed)
    effects = effects_for(table, seed)
    program = make_program(table, effects, constraints=Constraints(max_buckets={"a": most}))
    allowed = [groups for groups in groupings([*range(6)]) if len(groups) <= most]
    least = min(cost_of(table, 0, groups, effects[0], 0.0) for groups in allowed)
    assert program.attributes[0].optimum(0.0).cost == pytest.approx(least, abs=1e-7)


def test_missing_values_of_a_number_go_where_they_cost_least():
    age = Attribute("age", "continuous", integer=True, missing=True)
    schema = Schema((age, Attribute("p", values=("f", "m"), personal=True)), Attribute("y", values=("0", "1")))
    ages, labels = np.repeat([0, 1, 2], 40), np.repeat([0, 1, 1], 40)
    table = coded(schema, ages, np.tile([0, 1], 60), labels=labels, numbers={"age": [10, 60]})
    effects = (np.array([[-1.0], [1.0], [1.0]]), np.zeros((2, 1)))
    program = make_program(table, effects)
    assert program.generalization(program.solve(0.1))["age"].labels == ("50 or less", "51 or more or missing")


@pytest.mark.parametrize("lam", [-1.0, np.inf, np.nan])
def test_a_multiplier_that_is_none_is_refused(lam):
    with pytest.raises(ParameterError, match="lam"):
        OptimalMinimizer(lam=lam).minimize(table_of(3))


def test_it_is_registered_and_takes_frames():
    assert MINIMIZERS["optimal"] is OptimalMinimizer
    table = table_of(4)
    fitted = OptimalMinimizer(lam=1e9).fit(table.codes.astype(float), table.y)
    assert fitted.transform(table.codes.astype(float)).max() == 0


def test_weights_of_personal_attributes_count():
    table = table_of(6)
    effects = effects_of(table)
    free = make_program(table, effects, {"a": 0.0, "b": 0.0})
    assert free.measured(free.solve(5.0))[1] == 0.0
    assert Constraints() == free.constraints


def test_a_grouping_that_is_no_run_can_be_better():
    """The order of effects is an assumption: here {1, 3}, {2} beats every run (see docs/optimal-partition.md)."""
    schema = Schema(
        (Attribute("a", values=("1", "2", "3")), Attribute("p", values=("f", "m"), personal=True)), LABEL
    )
    people = np.repeat([0, 0, 1, 1], [10, 5, 5, 10])
    table = coded(schema, np.repeat([0, 1, 2], 10), people, labels=np.zeros(30))
    effects = (np.array([[0.0], [3.0], [4.0]]), np.zeros((2, 1)))
    program = make_program(table, effects)
    run = program.solve(9.0)[0].cost
    assert run == pytest.approx(min(cost_of(table, 0, g, effects[0], 9.0) for g in run_partitions([0, 1, 2])))
    better = cost_of(table, 0, [[0, 2], [1]], effects[0], 9.0)
    assert better == pytest.approx(215.0)
    assert better < run


def test_attributes_that_tell_only_together_are_not_charged_by_the_program():
    a, b = (np.array([0, 0, 1, 1] * 25), np.array([0, 1, 0, 1] * 25))
    attributes = (Attribute("a", values=("0", "1")), Attribute("b", values=("0", "1")))
    schema = Schema((*attributes, Attribute("p", values=("0", "1"), personal=True)), LABEL)
    table = coded(schema, a, b, a ^ b, labels=a)
    program = make_program(table, (np.array([[0.0], [1.0]]),) * 3)
    found = program.generalization(program.solve(100.0))
    assert found.collected == ("a", "b")


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_scikit_learn_contract_holds():
    results = check_estimator(OptimalMinimizer(), on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40
