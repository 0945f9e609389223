"""A run in words: one line, a few lines, and a table for a notebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import Generalization
from leastwise.confidence import Interval
from leastwise.evaluation.risk import LabelRisk
from leastwise.evaluation.worth import Worth
from leastwise.predictors.held_out import Difference
from leastwise.report import summarize
from leastwise.runs import Budget, Candidate, Run
from leastwise.runs.nearest import broken_limits, loosened, only_nearest, options_of
from leastwise.runs.showing import (
    _certified,
    _hindsight,
    frontier_table,
    nothing_needed,
    standing,
    what_to_ask,
)
from tests.documents.test_html import check
from tests.report.hand_made import MISSED, SCHEMA, write_run
from tests.report.test_html import HOSTILE, hostile_schema


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return write_run(tmp_path_factory.mktemp("showing") / "run", SCHEMA)


def test_one_line(run: Run) -> None:
    assert repr(run) == "<Run people.csv: ask 2 of 3 questions, 4 answers; frontier of 3>"
    assert repr(run.frontier) == "<Frontier of 3 from 4 candidates, area 0.0100>"
    chosen = run.choice.candidate
    assert chosen is not None
    assert repr(run.evaluation(chosen)) == "<Evaluation the model errs 0.211; 8 attacks on 300 people>"


def test_a_few_lines_say_the_answer(run: Run) -> None:
    noted = replace(run, notes=("Left out: id (identifier).",))
    assert str(noted).splitlines() == [
        "Ask 2 of 3 questions, with 4 answers in all: age in 2 ranges and sex in full; do not ask job.",
        f"Missed on the test part: {MISSED}. Its error is 0.211 against 0.125.",
        "Whoever steals the records with their labels gets 30\xa0% of the personal answers wrong by the strongest "
        "attack on them alone that a quick run tries "
        "(guessing: 38\xa0%; asking everything: 0\xa0%); 3 people are alone with theirs, of 300 tested.",
        "Nothing can be promised about every adversary: with so much asked of so few, counting does not tell that "
        "anything stays hidden.",
        "Left out: id (identifier).",
        f"Run: {run.folder}",
    ]


def test_less_than_one_percent_is_no_promise_and_the_reason_is_the_reason(run: Run) -> None:
    chosen = run.frontier[run.choice.candidate or ""]

    def said(error: float | None, alone: int = 300, point: Candidate = chosen, guessing: float = 0.4) -> str:
        tested = replace(chosen.test, certified=error, unique_people=alone)
        return _certified(replace(point, tested=tested), 300, guessing)

    nothing = "Nothing can be promised about every adversary: too many people are alone with their record."
    assert [said(error) == nothing for error in (None, 0.0, 0.0099, 0.01)] == [True, True, True, False]
    assert "nobody who sees only the generalized records and their labels gets fewer than 1\xa0% of" in said(
        0.0199
    )
    assert "so much asked of so few" in said(None, alone=0)
    full = replace(chosen, generalization=Generalization.untouched(run.schema))
    assert said(None, alone=0, point=full).endswith(": what is personal is asked in full.")
    assert said(None, alone=0, guessing=0.0).endswith("so that whoever guesses is right.")


def test_a_missed_limit_is_said_once_with_what_it_costs(run: Run) -> None:
    promise, other = run.choice.verdicts
    told = str(run)
    assert f"{promise.sentence} Its error is 0.211 against 0.125.\n" in told
    assert told.count("more than with everything asked") == 1
    for stands, what in (("missed", "a limit is missed"), ("probably missed", "it is beyond a limit")):
        beyond = replace(other, standing=stands, finding="A1 is wrong too seldom")
        told = str(replace(run, choice=replace(run.choice, verdicts=(promise, beyond))))
        assert f"on the test part {what}: {beyond.words}.\n" in told


def test_a_candidate_without_what_is_not_needed_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = run.frontier[run.choice.candidate or ""]
    found = run.necessity
    assert found is not None
    age, sex = found.asked
    other = next(point for point in run.frontier.points if point.generalization.collected == ("age",))
    no_worse = replace(other, tested=replace(other.test, utility_risk=chosen.test.utility_risk))
    points = tuple(no_worse if point is other else point for point in run.frontier.points)
    changed = replace(run, frontier=replace(run.frontier, points=points))

    def told(of: Run, *asked: Worth, together: Worth | None = None) -> list[str]:
        judged = replace(found, asked=asked, together=together)
        monkeypatch.setattr(Run, "necessity", property(lambda _: judged))
        return [line for line in str(of).splitlines() if "do not show" in line]

    needed, not_needed = replace(sex, attribute="age"), replace(age, attribute="sex")
    assert told(changed, needed, not_needed) == [
        "Those tested do not show that sex is needed. Without (1 question, 2 answers; of those tested the model "
        "errs 0.211, and the attacker is wrong 34\xa0% of the time; that is hindsight: it was not chosen by the "
        f"validation part): leastwise choose {run.folder} --candidate {other.id}"
    ]
    (spaced,) = told(replace(changed, folder=Path("a run")), needed, not_needed)
    assert spaced.endswith(f": leastwise choose 'a run' --candidate {other.id}")
    assert told(run, needed, not_needed) == []  # it would cost something
    assert told(changed, age, sex) == []  # nobody asks sex alone
    assert told(changed, replace(not_needed, attribute="age"), not_needed, together=sex) == []  # one is needed


def test_a_candidate_of_those_tested_is_named_with_what_those_say_who_choose(run: Run) -> None:
    point = run.frontier[run.choice.candidate or ""]
    judged = replace(point, judged=replace(point.validation, increase=Difference(0.021, 0.004)))
    said = _hindsight(judged, Budget(max_error_increase=0.01))
    assert said.startswith(
        "that is hindsight: it was not chosen by the validation part, which estimates 2.1 points more"
    )
    assert said.endswith("allowed are 1")


def test_where_nothing_keeps_the_default_the_answer_says_so_first(run: Run) -> None:
    fits = replace(run.choice, stated=False, fits=False, budget=Budget(max_error_increase=0.01))
    kept_by_none = replace(run, choice=replace(fits, nearest=fits.candidate))
    first, second, *_ = str(kept_by_none).splitlines()
    assert first.startswith(
        "No candidate keeps the limit that holds when none is stated: the model errs at most 1 point"
    )
    assert first.endswith("What follows is the nearest.") or "nearest, estimated to err" in first
    assert second.startswith("Ask 2 of 3 questions")
    (called,) = standing(kept_by_none.choice).values()
    assert called == "chosen as the nearest, does not fit"
    assert summarize(kept_by_none)["answer"]["sentences"][0] == first
    assert not str(replace(run, choice=fits)).startswith("No candidate")


def test_of_several_labels_it_is_said_which_one_more_is_lost_about(run: Run) -> None:
    point = run.frontier[run.choice.candidate or ""]
    labels = tuple(
        LabelRisk(
            label=name, error=0.2, interval=Interval(0.19, 0.21), baseline=0.4, increase=Difference(more, 0.001)
        )
        for name, more in (("pay", 0.021), ("home", 0.001))
    )
    judged = replace(point.validation, labels=labels, increase=Difference(0.011, 0.001))
    frontier = replace(run.frontier, points=(replace(point, judged=judged),))
    limit = Budget(max_error_increase=0.01)
    nearest = replace(run.choice, stated=False, fits=False, budget=limit, nearest=point.id)
    (said,) = only_nearest(nearest, frontier)
    assert said.endswith("What follows is the nearest, estimated to err 2.1 points more about pay.")


def test_what_two_estimates_say_differently_of_the_nearest_is_said(run: Run) -> None:
    """Nothing keeps the limit by the estimate; that the test part shows fewer errors does not undo it."""
    promise = run.choice.promise
    assert promise is not None
    kept = replace(promise, standing="probably kept", finding="the model errs 0.5 points more", because="")
    chosen = replace(run.choice, stated=False, budget=Budget(max_error_increase=0.01), verdicts=(kept,))
    nearest = replace(run, choice=replace(chosen, fits=False, nearest=chosen.candidate))
    said = (
        "Probably kept on the test part: the model errs 0.5 points more. "
        "The estimate by which it is the nearest says otherwise."
    )
    assert said in str(nearest)
    assert summarize(nearest)["answer"]["why"].endswith(said)
    assert "otherwise" not in str(replace(run, choice=chosen))
    assert "otherwise" not in str(replace(nearest, choice=replace(nearest.choice, verdicts=(promise,))))


def test_why_nothing_is_asked_is_said(run: Run) -> None:
    frontier, limit = run.frontier, Budget(max_error_increase=0.02)
    nothing = replace(frontier[run.choice.candidate or ""], asked=0, answers=0)

    def said(budget: Budget, increase: Difference, error: float = 0.4) -> str:
        suppressed = replace(frontier.suppressed_validation, increase=increase, utility_risk=error)
        return what_to_ask(nothing, replace(frontier, suppressed_validation=suppressed), budget)

    told, untold = Difference(0.01, 0.002), Difference(0.01, 0.01)
    why = "Ask nothing: these records do not show that a model errs less with the answers to all 3 questions."
    assert said(limit, untold) == why
    rare = (
        " Only 3.0\xa0% of the people of the validation part are not of the most frequent class: errors do not "
        "show who is at risk, even where answers tell it."
    )
    assert said(limit, untold, 0.03) == why + rare
    allowed = "Ask nothing: without any of the 3 questions no more is lost than is allowed."
    assert said(limit, told) == allowed
    assert said(limit, told, 0.03) == allowed + rare
    assert said(limit, Difference(0.11, 0.002)) == "Ask nothing: none of the 3 questions."  # a person chose it
    left = "Ask nothing: of the 3 questions, the limits that were stated leave none."
    assert said(Budget(max_asked=0), untold) == left


def test_the_report_is_named_once_there_is_one(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run.folder / "report.html").touch()
    assert str(run).endswith(f"Report: {run.folder / 'report.html'}")


def test_where_nothing_fits_the_reason_is_said(tmp_path: Path) -> None:
    nothing = {"candidate": None, "sentence": "None fits.", "fits": False, "verdicts": ()}
    run = write_run(tmp_path / "run", choice=nothing)
    assert repr(run) == "<Run people.csv: nothing fits; frontier of 3>"
    assert str(run).startswith("Nothing is recommended. None fits.\n")
    assert run.recommended is None
    assert "class=chosen" not in run._repr_html_()


def test_what_is_recommended(run: Run) -> None:
    assert run.recommended is not None
    assert run.recommended.collected == ("age", "sex")


def test_a_notebook_shows_the_answer_and_the_frontier(run: Run) -> None:
    page = check(run._repr_html_())
    assert any(text.startswith("Ask 2 of 3 questions, with 4 answers in all: age in 2") for text in page.texts)
    assert "candidate 2 · knee · chosen" in page.texts
    assert ("class", "chosen") in page.attributes
    assert {"everything asked in full", "nothing asked"} <= set(page.texts)
    check(run.frontier._repr_html_())


def test_everything_asked_in_full_counts_numbers_that_are_asked_exactly(tmp_path: Path) -> None:
    exact = replace(SCHEMA, attributes=(replace(SCHEMA["age"], integer=False), *SCHEMA.attributes[1:]))
    frontier = write_run(tmp_path / "run", exact).frontier
    listing = frontier_table(frontier)
    answers = dict(
        zip(
            (row[0] for row in listing.rows),
            (row[listing.columns.index("answers")] for row in listing.rows),
            strict=True,
        )
    )
    assert answers["everything asked in full"] == "9 and 1 exact number"
    assert answers["nothing asked"] == "0"


def test_a_notebook_shows_an_evaluation(run: Run) -> None:
    assert run.choice.candidate is not None
    page = check(run.evaluation(run.choice.candidate)._repr_html_())
    assert "A1: The stolen records alone" in page.texts
    assert any("nobody who sees only these generalized records" in text for text in page.texts)
    assert page.texts.count("95 % interval") == 2


def test_hostile_names_stay_texts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", hostile_schema())
    run = replace(run, task=replace(run.task, data=HOSTILE[0] + "\n\x1b[2J"), notes=HOSTILE)
    assert run.choice.candidate is not None
    for shown in (run, run.frontier, run.evaluation(run.choice.candidate), run.recommended):
        check(shown._repr_html_())  # type: ignore[union-attr]
        assert repr(shown).isprintable()


def test_where_nothing_fits_what_comes_nearest_and_what_to_do_are_said(tmp_path: Path) -> None:
    nearest = write_run(tmp_path / "first").frontier.points[1].id
    budget = Budget(max_error_increase=0.001, max_asked=3)
    unchosen = {"candidate": None, "nearest": nearest, "sentence": "None fits.", "fits": False, "verdicts": ()}
    run = write_run(tmp_path / "a run", choice={**unchosen, "budget": budget})
    choose = f"leastwise choose '{run.folder}'"
    assert str(run).splitlines() == [
        "Nothing is recommended. None fits.",
        "It would ask 2 of 3 questions, with 4 answers in all: age in 2 ranges and sex in full; not job.",
        f"To allow what the nearest takes: {choose} --max-error-increase 0.085 --max-asked 3",
        f"To take the nearest although it does not fit: {choose} --candidate {nearest} "
        "--max-error-increase 0.001 --max-asked 3",
        f"Run: {run.folder}",
    ]
    page = check(run._repr_html_())
    assert "candidate 2 · knee · nearest, does not fit" in page.texts
    assert ("class", "chosen") not in page.attributes


def test_where_those_tested_do_not_show_that_anything_is_needed_that_is_said(run: Run) -> None:
    """A label like a coin: validation seemed to tell it."""
    front, last = run.frontier, run.frontier.points[-1]
    untold = replace(front.suppressed, increase=Difference(-0.01, 0.02), utility_risk=0.498)
    words = "Those tested do not show that any question is needed: the model errs 0.125 with everything asked and "
    told = nothing_needed(replace(run, frontier=replace(front, suppressed=untold)), "run")
    chance = "0.498 with nothing, and among 300 people chance can explain that difference."
    assert told == [f"{words}{chance}"]
    less = replace(untold, utility_risk=0.1)
    assert nothing_needed(replace(run, frontier=replace(front, suppressed=less)), "run") == [
        f"{words}0.100 with nothing."
    ]
    points = (*front.points[:-1], replace(last, asked=0, answers=0))
    coin = replace(run, frontier=replace(front, suppressed=untold, points=points))
    assert nothing_needed(coin, "run") == [
        f"{words}{chance}",
        f"To ask nothing: leastwise choose run --candidate {last.id}",
    ]
    assert str(coin).count("do not show that") == 1
    assert nothing_needed(run, "run") == []
    picked = replace(coin.choice, candidate=last.id)  # asks nothing already
    assert nothing_needed(replace(coin, choice=picked), "run") == []


def test_what_is_needed_for_a_looser_limit_is_rounded_to_the_side_that_keeps_it(run: Run) -> None:
    """Whatever is broken, the candidate keeps what is said to be enough for it."""
    nearest = run.frontier.points[1]
    budget = Budget(
        max_error_increase=0.001, max_error=0.1, min_adversary_error={"sex": 0.49}, max_unique=0, max_buckets=1
    )
    choice = replace(run.choice, candidate=None, nearest=nearest.id, budget=budget)
    found = loosened(choice, run.frontier)
    assert found is not None
    assert broken_limits(nearest, budget, run.frontier)
    assert broken_limits(nearest, found, run.frontier) == []
    assert options_of(found)[0].startswith("--max-error-increase 0.0")
    assert "--max-unique 3" in options_of(found)
    far = replace(nearest, judged=replace(nearest.validation, utility_risk=1.5))  # off by more than a guess
    points = tuple(far if point is nearest else point for point in run.frontier.points)
    assert loosened(choice, replace(run.frontier, points=points)) is None
