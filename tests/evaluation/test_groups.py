"""Groups: what is declared is read, a planted disparity is found, and intervals cover."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema
from leastwise.confidence import Interval
from leastwise.errors import ParameterError
from leastwise.evaluation import Groups, groups_of
from leastwise.evaluation.declared_groups import FEWEST_TOLD, GroupErrors, Grouping, less_chance
from leastwise.evaluation.groups import _People, judge, largest_gap
from leastwise.partition import keep, suppress
from leastwise.predictors.held_out import Difference
from leastwise.records.table import Table
from tests.samples import LABEL, coded, named

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True)
SCHEMA = Schema((named("team", 2, personal=True), named("hint", 2), AGE), LABEL)


def planted(rows: int = 4000, seed: int = 100) -> Table:
    """Of team v0 the hint tells the label; of team v1 the team's own half of the coin does."""
    random = np.random.default_rng(seed)
    team, hint, age = random.integers(0, 2, rows), random.integers(0, 2, rows), random.integers(0, 100, rows)
    noise = random.random(rows) < 0.05
    label = np.where(team == 0, hint, 1) ^ noise
    return coded(SCHEMA, team, hint, age, labels=label)


@pytest.fixture(scope="module")
def found() -> Groups:
    """Without the hint, team v0 is guessed at random and team v1 as well as before."""
    table = planted()
    team, hint, age = SCHEMA.attributes
    without = Generalization.of([keep(team)], SCHEMA.attributes, label=LABEL)
    assert suppress(hint) in without.partitions
    assert suppress(age) in without.partitions
    return groups_of(without, table, ["team", "age[49]", "team & age[49]"], quick=True)


def test_who_pays_is_found(found: Groups) -> None:
    by_team = next(gap for gap in found.gaps if gap.grouping == "team")
    assert (by_team.most, by_team.least) == ("v0", "v1")
    assert by_team.gap == pytest.approx(0.45, abs=0.06)
    assert by_team.interval.low > 0.3
    assert "v0 pay most for asking less" in found.sentences()[0]
    by_age = next(gap for gap in found.gaps if gap.grouping == "age")
    assert by_age.interval.low == 0


def test_groups_are_judged_on_everybody_once(found: Groups) -> None:
    for grouping in ("team", "age", "team & age"):
        own = [each for each in found.groups if each.grouping == grouping]
        assert sum(each.people for each in own) == 1200
        assert all(each.interval.low <= each.error <= each.interval.high for each in own)
    assert [each.group for each in found.groups][-4:] == [
        "v0, 0 to 49", "v0, 50 to 99", "v1, 0 to 49", "v1, 50 to 99",
    ]  # fmt: skip


def test_an_attacker_is_judged_by_group(found: Groups) -> None:
    # The team is asked in full, and nothing else is personal.
    assert {each.adversary_error for each in found.groups} == {0.0}


def test_it_reads_back_as_it_was_written(found: Groups) -> None:
    assert Groups.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("age", "name its bands"),
        ("team[3]", "no edges"),
        ("taem", "did you mean"),
        ("age[9,3]", "declares no groups"),
        ("age[x]", "declares no groups"),
        ("team & ", "declares no groups|no attribute"),
    ],
)
def test_what_declares_no_groups_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Grouping.parse(text).check(SCHEMA)


def test_two_figures_by_hand() -> None:
    """Fifty of each team: with less asked v0 errs on 20 (before 5), v1 on 10 (before 10)."""
    team = np.repeat([0, 1], 50)
    table = coded(SCHEMA, team, np.zeros(100), np.zeros(100), labels=np.zeros(100))
    wrong = np.r_[np.arange(50) < 20, np.arange(50) < 10]
    before = np.r_[np.arange(50) < 5, np.arange(50) < 10]
    found = GroupErrors.of(wrong, before, table, [Grouping.parse("team")])
    assert found is not None
    assert found.largest == pytest.approx(0.3)
    assert 0 < found.gap() < found.largest < found.gap(3)
    assert found.worst.mean == pytest.approx(0.4)
    assert GroupErrors.of(wrong[:49], before[:49], table.take(np.arange(49)), [Grouping.parse("team")]) is None


@given(st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(0.001, 0.1)), min_size=2, max_size=6))
def test_the_gap_lies_in_its_interval(pairs: list[tuple[float, float]]) -> None:
    gap = largest_gap("g", [(str(i), Difference(*pair)) for i, pair in enumerate(pairs)])
    assert gap is not None
    assert gap.interval.low <= gap.gap <= gap.interval.high
    assert gap.gap >= 0


def test_intervals_of_a_gap_cover() -> None:
    """Three groups of 300 whose errors rise by 0, .02 and .05: the gap is .05, held 19 times of 20."""
    random, covered, truth = np.random.default_rng(100), 0, (0.0, 0.02, 0.05)
    for _ in range(400):
        found = []
        for i, more in enumerate(truth):
            worse, better = random.random(300) < 0.04 + more, random.random(300) < 0.04
            found.append((str(i), Difference.of(worse.astype(float) - better, np.ones(300))))
        gap = largest_gap("g", found)
        assert gap is not None
        covered += gap.interval.low <= 0.05 <= gap.interval.high
    assert covered >= 0.93 * 400  # three standard errors below .95 of 400 draws, and Bonferroni covers more


def people_drawn(random: np.random.Generator) -> _People:
    """Sixty of v0, whose error stays .2, and 300 of v1, whose error rises to .26; some guesses are mended."""
    team = np.repeat([0, 1], [60, 300])
    table = coded(SCHEMA, team, np.zeros(360), np.zeros(360), labels=np.zeros(360))
    before, mended = random.random(360) < 0.2, random.random(360) < 0.2
    broken = random.random(360) < (0.04 + 0.06 * team) / 0.8
    wrong, attacked = np.where(before, ~mended, broken), (random.random((360, 3)) < 0.3).mean(axis=1)
    nobody = np.zeros(360, dtype=bool)
    return _People(table, wrong.astype(float), before.astype(float), attacked, attacked, nobody)


def test_intervals_of_each_group_cover() -> None:
    """The error of the model, its increase and that of A1 are held 19 times of 20, in a small group too."""
    random, truth, covered = np.random.default_rng(100), {"v0": 0.0, "v1": 0.06}, Counter[tuple[str, str]]()
    for _ in range(400):
        for each in judge(people_drawn(random), Grouping.parse("team"))[0]:
            assert each.adversary_interval is not None
            more = truth[each.group]
            for name, (low, high), true in (
                ("error", each.interval, 0.2 + more),
                ("increase", each.increase_interval, more),
                ("attacker", each.adversary_interval, 0.3),
            ):
                covered[each.group, name] += low <= true <= high
    assert len(covered) == 6
    assert min(covered.values()) >= 0.92 * 400, covered  # three standard errors below .95 of 400 draws


def test_one_group_has_no_gap() -> None:
    assert largest_gap("g", [("a", Difference(0.1, 0.1))]) is None
    two = largest_gap("g", [("a", Difference(0.1, 0.0)), ("b", Difference(0.1, 0.0))])
    assert two is not None
    assert two.interval == Interval(0.0, 0.0)


def shrunk(pairs: list[tuple[float, float]]) -> Difference:
    return less_chance([Difference(*pair) for pair in pairs])


PAIRS = st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(0.001, 0.1)), min_size=1, max_size=6)


@given(PAIRS, st.floats(0.5, 2))
def test_a_gap_without_chance_is_never_the_larger_one(pairs: list[tuple[float, float]], times: float) -> None:
    found, means = shrunk(pairs), [mean for mean, _ in pairs]
    assert -1e-12 <= found.mean <= max(means) - min(means) + 1e-12
    moved = shrunk([(mean + 0.1, error) for mean, error in pairs])
    assert moved.mean == pytest.approx(found.mean, abs=1e-9)  # who pays is told by differences alone
    scaled = shrunk([(times * mean, times * error) for mean, error in pairs])
    assert scaled.mean == pytest.approx(times * found.mean, abs=1e-9)


def drawn(truth: np.ndarray, error: float, times: int = 400) -> list[Difference]:
    random = np.random.default_rng(100)
    return [shrunk([(random.normal(mean, error), error) for mean in truth]) for _ in range(times)]


def test_chance_is_not_taken_for_a_gap() -> None:
    """Among five groups that pay alike the largest difference is 2.33 standard errors on average."""
    found = drawn(np.zeros(5), 0.02)
    assert np.mean([each.mean for each in found]) < 0.4 * 2.33 * 0.02
    apart = drawn(np.array([0.0, 0.0, 0.0, 0.0, 0.2]), 0.02)
    assert np.mean([each.mean for each in apart]) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("groups", "apart"), [(2, 0.01), (2, 0.03), (4, 0.01), (4, 0.03), (8, 0.02)])
def test_the_bound_of_a_gap_holds_over_many_groupings(groups: int, apart: float) -> None:
    """Groups differ as much as they are known, or more: a bound at 90 % holds 85 to 94 times of 100."""
    random, held = np.random.default_rng(100), []
    for _ in range(400):
        truth = random.normal(0, apart, groups)
        seen = random.normal(truth, 0.01)
        found = shrunk([(mean, 0.01) for mean in seen])
        held.append(found.bound(1.2816) >= truth[np.argmax(seen)] - truth[np.argmin(seen)])
    assert np.mean(held) > 0.8  # three standard errors of 400 draws below .85, the least of long simulations


def test_a_group_of_a_few_people_is_not_told() -> None:
    """The error of a group of one is what became of that person."""
    table = planted(600)
    found = groups_of(Generalization.suppressed(SCHEMA), table, ["age[0,1,49]"], quick=True)
    age = table.split(0).test.codes[:, 2]
    by_hand = [int((low <= age).sum() - (high <= age).sum()) for low, high in ((0, 1), (1, 2), (2, 50), (50, 100))]
    assert [each.people for each in found.groups] == [n for n in by_hand if n >= FEWEST_TOLD]
    assert any(0 < n < FEWEST_TOLD for n in by_hand)  # there is such a group
