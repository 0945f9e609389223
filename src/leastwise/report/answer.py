"""The answer on top: what to ask, what it costs and what it protects, in a few plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leastwise.adversaries import SinglingOutResult
from leastwise.adversaries.result import weakest
from leastwise.documents.wording import compared, counted, listed, percent, percent_range
from leastwise.evaluation.evaluation import Evaluation
from leastwise.generalization import Generalization
from leastwise.generalization.describe import answers_in_words, questions_in_words
from leastwise.partition import keep
from leastwise.runs import Run
from leastwise.runs.nearest import NOTHING, broken_limits, ways_on, would_ask
from leastwise.runs.showing import on_test

Facts = dict[str, Any]


ITS_FOLDER = "run"
"""The run in commands: a report does not know where it will be read, and is the same wherever it was made."""


def shown_id(run: Run) -> str:
    """Return the candidate that the report is about: the chosen one, else the nearest, else a knee."""
    candidates = (run.choice.candidate, run.choice.nearest, *run.frontier.knees, run.frontier.points[0].id)
    return next(name for name in candidates if name)


def about_whom(run: Run) -> str:
    """Say of whom figures are, where that is not what was chosen; empty where it is."""
    if run.choice.candidate is not None:
        return ""
    return f"candidate {_place(run)} ({shown_id(run)}), which comes nearest, does not fit and was not chosen"


def _place(run: Run) -> int:
    """Return the number that the picture gives to the candidate that the report is about."""
    return [point.id for point in on_test(run.frontier)].index(shown_id(run)) + 1


def unchosen_facts(run: Run) -> Facts:
    """Return what is said instead where nothing fits: that, what comes nearest, why not that, and what to do."""
    choice, point = run.choice, run.frontier[shown_id(run)]
    if choice.candidate is not None:
        return {"ways_on": []}
    every = counted(len(run.frontier.points), "candidate")
    broken = "; ".join(limit.text for limit in broken_limits(point, choice.budget, run.frontier))
    sentences = [
        f"{NOTHING} Of {every} none keeps what was stated: {choice.budget.words()}.",
        f"Nearest comes candidate {_place(run)} ({point.id}). On the validation part it does not fit: {broken}.",
        would_ask(point),
    ]
    return {"sentences": sentences, "ways_on": ways_on(choice, run.frontier, ITS_FOLDER)}


def answer_facts(generalization: Generalization, evaluation: Evaluation, why_nothing: str = "") -> Facts:
    """Return the sentences and the four figures that they rest on.

    ``why_nothing`` says of a form without any question why it has none.
    """
    sentences = [
        why_nothing if why_nothing and not generalization.collected else _questions_sentence(generalization),
        _cost_sentence(evaluation),
        *attacker_sentences(evaluation, bool(generalization.collected)),
        *(_alone_sentence(a, evaluation) for a in evaluation.attacks if isinstance(a, SinglingOutResult)),
    ]
    return {
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [*_question_figures(generalization), *_cost_figure(evaluation), *_attacker_figure(evaluation)],
    }


def _questions_sentence(generalization: Generalization) -> str:
    asked = len(generalization.collected)
    if not asked:
        return "Ask nothing at all: the model then guesses the most frequent outcome."
    now, before = answers_in_words(generalization.partitions, " answer"), _answers_before(generalization)
    named = questions_in_words(generalization.partitions)
    return f"Ask {asked} of {counted(len(generalization), 'question')}, {now} instead of {before}: {named}."


def _answers_before(generalization: Generalization) -> str:
    return answers_in_words([keep(attribute) for attribute in generalization.schema.attributes])


def _cost_sentence(evaluation: Evaluation) -> str:
    if evaluation.utility is None or evaluation.everything is None:
        return ""
    now, before = evaluation.utility.error, evaluation.everything.error
    number, more = evaluation.utility.number, max(now - before, 0.0)  # to see less gains nothing but by chance
    tested = f"{counted(evaluation.utility.people, 'person', 'people')} tested"
    if number is not None:
        off = f"{number.in_its_unit(more)} more" if more else "no more"
        # The unit is the error of guessing among those learned from; beside those tested stands their own.
        guess = (
            ""
            if evaluation.nothing is None
            else f" Guessing is off by {number.in_its_unit(evaluation.nothing.error)}."
        )
        return f"The model is {number.words()}: {off} than with full records, {tested}.{guess}"
    than = compared(more) if now >= before or not round(100 * (before - now), 1) else "no more than with"
    who = "On average over the labels the model" if evaluation.utility.labels else "The model"
    told = f"{who} errs {than} full records ({percent(now, 1)} against {percent(before, 1)}, {tested})"
    pairs = [*zip(evaluation.utility.labels, evaluation.everything.labels, strict=True)]
    each = [f"{percent(o.error, 1)} against {percent(i.error, 1)} about {o.label}" for o, i in pairs]
    return f"{told}: {listed(each)}." if each else f"{told}."


def attacker_sentences(evaluation: Evaluation, asked: bool = True) -> list[str]:
    """Say what whoever steals the records tells: the attribute it gains most on, and all on average.

    Where nothing is ``asked`` there are no records, and nobody steals them.
    """
    attack = _a1(evaluation)
    if attack is None:
        return []
    most, many = weakest(attack), len(attack.attributes)
    told, guessed = percent(1 - most.adversary_error), percent(1 - most.baseline)
    gains = most.baseline > most.adversary_error and told != guessed
    within = "" if most.tolerance is None else f" within {most.tolerance:g}"
    right = f"right about {most.attribute}{within} for {told} of the people tested"
    steals = (
        f"An attacker who steals the records{' with their labels' if evaluation.deployment else ''} is {right}"
    )
    every = "both personal attributes" if many == 2 else f"all {many} personal attributes"
    full = "had everything been asked, for 100\u00a0%"
    if not asked:
        steals, gains = f"There are no records to steal: whoever guesses is {right}", False
    if gains:
        first = f"{steals}; {full}; guessing without them, for {guessed}."
    else:
        first = f"{steals}{', as one who only guesses' * asked}; {full}."
    if many == 1:
        return [first]
    which = "That is the attribute it gains most on" if gains else "About no attribute it does better than that"
    mean = f"{percent(attack.adversary_error)} wrong on average, guessing {percent(attack.baseline)}"
    return [first, f"{which}; of {every} it gets {mean}."]


def _alone_sentence(attack: SinglingOutResult, evaluation: Evaluation) -> str:
    alone = counted(attack.unique_people, "person is", "people are") if attack.unique_people else "Nobody is"
    label = "" if attack.unique_without_label is None else ", with the label,"
    together = f": all answers together{label} single them out, also those that are not declared personal"
    how = evaluation.alone_by_a_number or together
    among = f"among {counted(attack.people, 'person', 'people')} tested"
    return f"{alone} alone with a generalized record, {among}{how if attack.unique_people else ''}."


def _a1(evaluation: Evaluation) -> Any:
    return next((attack for attack in evaluation.attacks if attack.adversary == "A1"), None)


def _question_figures(generalization: Generalization) -> list[Facts]:
    answers, _, exact = answers_in_words(generalization.partitions).partition(" and ")
    more = f"and {exact}, " if exact else ""
    return [
        _figure("questions asked", str(len(generalization.collected)), f"of {len(generalization)}"),
        _figure("possible answers", answers, f"{more}instead of {_answers_before(generalization)}"),
    ]


def _cost_figure(evaluation: Evaluation) -> list[Facts]:
    if evaluation.utility is None or evaluation.everything is None:
        return []
    note = f"full records {percent(evaluation.everything.error, 1)}"
    if evaluation.nothing is not None:
        note += f", no records {percent(evaluation.nothing.error, 1)}"
    utility, number = evaluation.utility, evaluation.utility.number
    if number is not None:
        note = f"of what guessing is off; {note}; R2 {number.r2:z.2f}"
    if utility.labels:
        note = f"{', '.join(f'{e.label} {percent(e.error, 1)}' for e in utility.labels)}; {note}"
    return [_figure("model errors", percent(utility.error, 1), note, utility.interval)]


def _attacker_figure(evaluation: Evaluation) -> list[Facts]:
    attack = _a1(evaluation)
    if attack is None:
        return []
    note = f"full records 0\u00a0%, guessing {percent(attack.baseline, 1)}"
    return [_figure("attacker errors", percent(attack.adversary_error, 1), note, attack.interval)]


def _figure(label: str, value: str, note: str, interval: Sequence[float] | None = None) -> Facts:
    return {"label": label, "value": value, "note": note, "interval": percent_range(interval)}
