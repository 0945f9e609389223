"""What remains at risk: singling out, linkability and inference; and illegitimate access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leastwise.documents.wording import counted, listed, percent
from leastwise.evaluation import Evaluation
from leastwise.policy import Policy
from leastwise.report.answer import attacker_sentences
from leastwise.report.dpia.assessment import TO_WRITE, Grid, Part, Statement
from leastwise.report.facts import attack_facts, certificate_facts
from leastwise.runs import Run

Source = Callable[[str], str]
SINGLING_OUT, LINKABILITY, INFERENCE = ("A8",), ("A7",), ("A1", "A2", "A3", "A4", "A5", "A6")
MINIMIZATION = "Data minimisation"
"""The measure that all figures are about."""

_SOURCES = (
    "People inside who may read the stored answers, by mistake or on purpose.",
    "People outside who copy them: by a break-in, a lost medium, a wrong recipient.",
    "Recipients who hold other records of the same people.",
)
_THREATS = (
    "The stored answers, with their labels where training stores them, are copied and read.",
    "They are linked with other records of the same people.",
    "Several releases of the same people are laid side by side.",
)
_WEIGH = "Severity is for a person to weigh: it hangs on what these people have to fear, which no figure tells."
_LIKELY = (
    "Likelihood is for a person to weigh: the figures say what somebody learns who has the records, not how "
    "likely it is that somebody has."
)


def risk_parts(run: Run, evaluation: Evaluation, policy: Policy, source: Source, earlier: int = 0) -> list[Part]:
    """Return what remains at risk: three threats, then illegitimate access, then the two that nobody measured.

    ``earlier`` is how many other generalizations of the same people were decided for before.
    """
    facts = {attack["adversary"]: attack for attack in attack_facts(evaluation)}
    if earlier and all(attack.adversary != "A6" for attack in evaluation.attacks):
        facts["A6"]["finding"] = (
            f"Earlier decisions put {counted(earlier, 'other generalization')} to use; what all tell together "
            "was not attacked in this run: leastwise check does that."
        )
    # Which attribute an attacker gains most on, in the words of the report.
    asked = any(point.asked for point in run.frontier.points if point.fingerprint == evaluation.fingerprint)
    most = tuple(Statement(text, source("answer")) for text in attacker_sentences(evaluation, asked))
    return [
        _threat("singling_out", "Singling out: can one person be picked out?", SINGLING_OUT, facts, source),
        _threat("linkability", "Linkability: are two records one person's?", LINKABILITY, facts, source),
        _inference(evaluation, facts, source),
        Part(
            place="sources",
            title="Illegitimate access: from whom it might come",
            items=tuple(map(Statement, _SOURCES)),
        ),
        Part(
            place="threats",
            title="Illegitimate access: how it might come about",
            items=tuple(map(Statement, _THREATS)),
        ),
        _impacts(evaluation, source),
        _controls(run, evaluation, policy, source),
        Part(place="severity", title="Severity", statements=most, for_a_person=_WEIGH),
        Part(place="likelihood", title="Likelihood", for_a_person=_LIKELY),
        Part(
            place="other_risks",
            title="Unwanted change, and loss of data",
            statements=(Statement("Asking less neither causes nor prevents these; they were not examined."),),
            for_a_person=TO_WRITE,
        ),
    ]  # fmt: skip


def _threat(place: str, title: str, names: tuple[str, ...], facts: dict[str, Any], source: Source) -> Part:
    return Part(place=place, title=title, items=tuple(_told(facts[name], source) for name in names))


def _told(attack: dict[str, Any], source: Source) -> Statement:
    text = f"{attack['title']} ({attack['adversary']}). {attack['scenario']} {attack['finding']}"
    return Statement(text, source(f"{attack['adversary']}-title"))


def _inference(evaluation: Evaluation, facts: dict[str, Any], source: Source) -> Part:
    bounds = certificate_facts(evaluation.certificate, evaluation.deployment)
    mean = [] if bounds is None else bounds["sentences"][-1:]
    table = None if bounds is None or bounds["vacuous"] else bounds["table"]
    return Part(
        place="inference",
        title="Inference: can a personal attribute be told?",
        items=(
            *(_told(facts[name], source) for name in INFERENCE),
            *(Statement(text, source("certificate")) for text in mean),
        ),
        grid=table and Grid(tuple(table["columns"]), tuple(map(tuple, table["rows"])), source("certificate")),
    )


_BY_WHOM = (
    "Of each personal attribute it is told how often the strongest attack that we tried on the records alone is "
    "wrong, and how often whoever guesses without them. Who knows more, or attacks better, may learn more."
)


def _impacts(evaluation: Evaluation, source: Source) -> Part:
    """Say what somebody learns, attribute by attribute; what follows from it, a person knows."""
    attack = evaluation["A1"]
    gained = {each.attribute: round(each.baseline - each.adversary_error, 3) > 0 for each in attack.attributes}
    learned = [
        Statement(
            f"{each.attribute}: the attack is wrong about {percent(each.adversary_error, 1)} of the people, "
            f"whoever guesses about {percent(each.baseline, 1)}.",
            source("A1-title"),
        )
        for each in attack.attributes
        if gained[each.attribute]
    ]
    nothing = [name for name, more in gained.items() if not more]
    if nothing:
        text = f"{listed(nothing)}: the attack tells on average no more than whoever guesses."
        learned.append(Statement(text, source("A1-title")))
    alone = evaluation["A8"]
    among = f"alone with a generalized record, of {counted(alone.people, 'person', 'people')} tested"
    found = f"{counted(alone.unique_people, 'person is', 'people are')} {among}: who knows what it holds finds it."
    learned.append(Statement(found if alone.unique_people else f"Nobody is {among}.", source("A8-title")))
    return Part(
        place="impacts",
        title="Illegitimate access: what somebody learns about people",
        items=(Statement(_BY_WHOM), *learned),
        for_a_person="What follows for people who are found out is for a person to say.",
    )


def _controls(run: Run, evaluation: Evaluation, policy: Policy, source: Source) -> Part:
    a1, asked = evaluation["A1"], run.frontier.untouched
    text = (
        f"{MINIMIZATION}: less is asked than could be, and more coarsely. By the strongest attack "
        f"that we tried on them alone, whoever steals the answers is wrong about "
        f"{percent(a1.adversary_error, 1)} of the personal ones on average; had everything been asked, about "
        f"{percent(asked.adversary_error, 1)}. The personal ones are {listed(evaluation.personal)}."
    )
    return Part(
        place="controls",
        title="What is done against it",
        items=(Statement(text, source("A1-title")), *map(Statement, policy.processing.controls)),
        for_a_person="" if policy.processing.controls else f"Other measures. {TO_WRITE}",
    )
