"""The answer on top."""

from __future__ import annotations

from dataclasses import replace

from leastwise import Generalization, Schema
from leastwise.partition import keep, suppress
from leastwise.report.answer import answer_facts, attacker_sentences
from leastwise.runs import Run
from tests.report.hand_made import AGE, PAY, SCHEMA, SEX, evaluation, generalizations, utility

OPEN = replace(AGE, upper=None)


def sentences(g: Generalization, risk: float = 0.2) -> list[str]:
    return [text.replace("\u00a0", " ") for text in answer_facts(g, evaluation(g, risk, 0.4))["sentences"]]


def test_nothing_asked_is_said() -> None:
    assert sentences(Generalization.suppressed(SCHEMA))[0].startswith("Ask nothing at all")


def test_whom_the_label_singles_out_is_not_said_to_be_singled_out_by_answers() -> None:
    g = generalizations(SCHEMA)[0]
    judged = evaluation(g, 0.2, 0.4)
    attacks = [
        replace(attack, unique_without_label=1) if attack.adversary == "A8" else attack
        for attack in judged.attacks
    ]
    said = answer_facts(g, replace(judged, attacks=tuple(attacks)))["sentences"][-1]
    assert said.endswith(
        "all answers together, with the label, single them out, also those that are not declared personal."
    )


def test_open_numbers_are_counted_apart() -> None:
    g = Generalization((keep(OPEN), suppress(SEX)), PAY)
    assert (
        sentences(g)[0]
        == "Ask 1 of 2 questions, 1 exact number instead of 2 and 1 exact number: age exactly; do not ask sex."
    )


def test_one_answer_less_is_counted_exactly() -> None:
    g = generalizations(Schema((OPEN, SEX), PAY))[0]
    assert (
        sentences(g)[0]
        == "Ask 1 of 2 questions, 2 answers instead of 2 and 1 exact number: age in 2 ranges; do not ask sex."
    )


def test_no_difference_is_not_more() -> None:
    assert (
        "errs about as often as with full records (12.5 % against 12.5 %, 300 people tested)"
        in sentences(generalizations(SCHEMA)[0], 0.125)[1]
    )
    assert (
        "errs no more than with full records (12.0 % against 12.5 %"
        in sentences(generalizations(SCHEMA)[0], 0.12)[1]
    )


def test_without_a_label_the_model_is_not_mentioned() -> None:
    g = generalizations(SCHEMA)[0]
    judged = replace(evaluation(g, 0.2, 0.4), utility=None, everything=None, nothing=None)
    facts = answer_facts(g, judged)
    assert not any("model" in text for text in facts["sentences"])
    assert [figure["label"] for figure in facts["figures"]] == [
        "questions asked",
        "possible answers",
        "attacker errors",
    ]


def test_every_error_has_its_interval_and_its_limit_points() -> None:
    g = generalizations(SCHEMA)[1]
    model, attacker = answer_facts(g, evaluation(g, 0.2, 0.4))["figures"][2:]
    assert (model["value"], model["interval"]) == ("20.0\u00a0%", "19.0 to 21.0\u00a0%")
    assert model["note"].replace("\u00a0", " ") == "full records 12.5 %, no records 25.0 %"
    assert attacker["interval"]
    assert utility(0.2).interval.low == 0.19


def test_an_attacker_that_gains_nothing_is_not_said_to_gain_most(run: Run) -> None:
    judged = run.evaluation(run.choice.candidate or "")
    first = judged.attacks[0]
    guessing = tuple(replace(each, adversary_error=each.baseline) for each in first.attributes)
    nothing = replace(judged, attacks=(replace(first, attributes=guessing, adversary_error=first.baseline),))
    told, mean = attacker_sentences(nothing)
    assert "as one who only guesses; had everything been asked, for 100\xa0%" in told
    assert mean.startswith("About no attribute it does better than that; of both personal attributes it gets ")


def test_where_nothing_is_asked_nobody_steals_records(run: Run) -> None:
    judged = run.evaluation(run.choice.candidate or "")
    first = judged.attacks[0]
    guessing = tuple(replace(each, adversary_error=each.baseline) for each in first.attributes)
    judged = replace(judged, attacks=(replace(first, attributes=guessing, adversary_error=first.baseline),))
    told = answer_facts(Generalization.suppressed(SCHEMA), judged)["sentences"]
    (steals,) = (sentence for sentence in told if "steal" in sentence)
    assert steals.startswith("There are no records to steal: whoever guesses is right about ")
    assert steals.endswith(" of the people tested; had everything been asked, for 100\xa0%.")
