"""Facts, then pixels: everything that a report says, as plain numbers, texts, lists and mappings.

The HTML, Markdown and JSON reports are made from these facts and from nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leastwise.adversaries import PAPER
from leastwise.adversaries.result import AttackResult, GuestResult
from leastwise.decisions import DECISION, Decision, History
from leastwise.decisions.signing import SUFFIX, signature_of
from leastwise.documents.pictures import bar, bars, bars_of_section
from leastwise.documents.wording import counted, listed, percent, percent_at_most
from leastwise.evaluation.certificate import Bound, Certificate
from leastwise.evaluation.declared_groups import FEWEST, FEWEST_TOLD
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import GroupFigures, Groups
from leastwise.evaluation.necessity import Necessity
from leastwise.records.table import Table
from leastwise.report.answer import ITS_FOLDER, about_whom, answer_facts, shown_id, unchosen_facts
from leastwise.report.buckets import attribute_facts
from leastwise.report.frontier import frontier_facts
from leastwise.report.task import provenance_facts, task_facts
from leastwise.runs import Choice, Run
from leastwise.runs.nearest import only_nearest
from leastwise.runs.shares import Shares
from leastwise.runs.showing import how_to_be_sure, nothing_needed, what_to_ask

Facts = dict[str, Any]
FORMAT, VERSION = "leastwise-report", 1
CERTIFICATE_TITLE = "What nobody can tell who sees only the generalized records"
CERTIFICATE_NOTE = (
    "Accuracy is meant on average over people like these. Each sentence holds with that confidence by itself; the "
    "table also gives the slightly higher bounds that hold all at the same time. Guessing is here to say of "
    "everybody what is most often right of those tested, seen in hindsight, as the bound is: who guesses by other "
    "people, as the attackers above, is right a little less often."
)

BY_NECESSITY = "It is found by: leastwise necessity RUN RECORDS"
UNEXPLAINED = (
    "What each question is worth was not found for this candidate: the records were not at hand when it was "
    f"chosen. {BY_NECESSITY}"
)
UNCHOSEN = "Nothing is chosen, so there is no question to give reasons for: that is found out of what is chosen."
GROUPS_METHOD = (
    "Each group was judged by itself on the test part, by classifiers that learned from everybody. Groups "
    f"of fewer than {FEWEST} people are told and not compared, of fewer than "
    f"{FEWEST_TOLD} not told. A gap's interval holds for all at once."
)
SIGNED = f"It is signed: {DECISION}{SUFFIX}. Whether the signature fits is said by: leastwise check."
NEITHER = "with another seed, another candidate may come nearest."
LEARNING = ["A1", "A2", "A3", "A4", "A5", "A6"]
STRONGEST = "the strongest we could train"
QUICK_ATTACKS = "those of a quick run, trained less than they can be"
QUICK = "This was a quick run: the attacks were trained less than they can be. A full run may find more."


def summarize(
    run: Run, *, table: Table | None = None, drift: Facts | None = None, predicates: bool = False
) -> Facts:
    """Return the facts of a run.

    Parameters
    ----------
    table
        The test part of the records, to count how many people give each answer; without it the shares that lie
        with the run are told, if any do.
    drift
        The facts of a check on newer data (see ``render_check``); without them there is no such section.
    predicates
        Whether to tell the sentences of A8 that describe single real people.
    """
    shown = shown_id(run)
    generalization, evaluation = run.generalization(shown), run.evaluation(shown)
    shares = Shares.stored(run) if table is None else Shares.count(run, table)
    point, budget = run.frontier[shown], run.choice.budget
    answer = answer_facts(generalization, evaluation, what_to_ask(point, run.frontier, budget)) | unchosen_facts(
        run
    )
    unneeded = nothing_needed(run, ITS_FOLDER)
    answer["sentences"] = [
        *only_nearest(run.choice, run.frontier),
        *answer["sentences"],
        *unneeded[:1],
        *run.unfinished,
    ]
    answer["ways_on"] += [*how_to_be_sure(run, ITS_FOLDER), *unneeded[1:]]
    return {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": evaluation.fingerprint,
        "task": task_facts(run, evaluation),
        "answer": {**answer, **_choice_facts(run.choice), "about": about_whom(run)},
        "frontier": frontier_facts(run, shares),
        "attributes": attribute_facts(generalization, shares.of(shown)),
        "necessity": necessity_facts(run.necessity, run.choice.candidate is not None),
        "attacks": attack_facts(evaluation, predicates),
        "certificate": certificate_facts(evaluation.certificate, evaluation.deployment),
        "groups": group_facts(run.groups),
        "decision": decision_facts(run, evaluation.fingerprint),
        "drift": drift,
        "limits": limit_sentences(evaluation, len(run.candidates), run.choice),
        "provenance": provenance_facts(run, evaluation, run.candidate(shown)),
    }


def necessity_facts(necessity: Necessity | None, chosen: bool = True) -> Facts:
    """Return what each question is worth, as tables and sentences; without tables where nobody found out."""
    if necessity is None:
        return {"tables": [], "sentences": [], "method": UNEXPLAINED if chosen else UNCHOSEN}
    tables = [listing._asdict() for listing in necessity.tables() if listing.rows]
    return {"tables": tables, "sentences": necessity.sentences(), "method": necessity.method()}


def _choice_facts(choice: Choice) -> Facts:
    promise = choice.promise
    confirmed = [] if promise is None else [promise.sentence]  # or denied, by the test part
    # What noise can explain is no reason to say it twice.
    missed = [each for each in choice.missed if each is not promise or not each.only_noise]
    return {
        "why": " ".join([choice.sentence, *confirmed]),
        "fits": choice.fits,
        "chosen": choice.candidate,
        "nearest": choice.nearest,
        "binding": list(choice.binding),
        "misses": [verdict.words for verdict in missed],
    }


def certificate_facts(certificate: Certificate | None, deployment: Certificate | None = None) -> Facts | None:
    """Return the sentences of a certificate, and the table of its bounds; None where there is none.

    Where labels are stored, the bounds of the deployment phase, which stores none, stand beside.
    """
    if certificate is None:
        return None
    bounds = (*certificate.bounds, certificate.mean)
    rows = [
        [b.attribute, *(percent_at_most(each, 1) for each in (b.bound, b.bound_all)), percent(b.guessing, 1)]
        for b in bounds
    ]
    columns = ["attribute", "nobody tells more than", "all bounds together", "guessing tells"]
    if deployment is not None:
        columns.append("without the label")
        rows = [
            [*row, percent_at_most(deployment[bound.attribute].bound, 1)]
            for row, bound in zip(rows, bounds, strict=True)
        ]
    return {
        "title": CERTIFICATE_TITLE + (" and their labels" if certificate.label else ""),
        "vacuous": certificate.vacuous,
        "sentences": list(certificate.sentences()),
        "note": "" if certificate.vacuous else certificate.weights_note() + CERTIFICATE_NOTE,
        "people": certificate.people,
        "confidence": 1 - certificate.delta,
        "candidates": certificate.candidates,
        "picture": None if certificate.vacuous else _certificate_picture(bounds),
        "table": {"columns": columns, "rows": rows},
    }


def _certificate_picture(bounds: Sequence[Bound]) -> Facts:
    rows = [bar(bound.attribute, bound.bound, None, bound.guessing) for bound in bounds]
    return bars("share of people about whom anybody can be right, at most", rows, "guessing")


def attack_facts(evaluation: Evaluation, predicates: bool = False) -> list[Facts]:
    """Return the facts of every adversary of the paper, in order, and of all others that attacked.

    One of the paper that did not attack says why.

    Parameters
    ----------
    predicates
        Whether sentences that describe single real people (A8) are told.
    """
    attacks = {attack.adversary: attack for attack in evaluation.attacks}
    return [_attack(name, attacks, predicates) for name in dict.fromkeys([*PAPER, *attacks])]


def _attack(name: str, attacks: dict[str, AttackResult], predicates: bool) -> Facts:
    attack = attacks.get(name)
    who = attack if isinstance(attack, GuestResult) else PAPER[name]
    facts: Facts = {"adversary": name, "title": who.title, "scenario": who.scenario}
    if attack is None:
        return {**facts, "finding": PAPER[name].not_run, "picture": None, "table": None}
    return {
        **facts,
        "error": attack.adversary_error,
        "interval": None if attack.interval is None else list(attack.interval),
        "baseline": attack.baseline,
        **attack.told(attacks.get("A1"), predicates=predicates).facts(),
    }


def group_facts(groups: Groups | None) -> Facts | None:
    """Return how declared groups are served; None where none were declared, or nobody looked."""
    if groups is None:
        return None
    columns, rows = groups.listing()
    return {
        "sentences": groups.sentences(),
        "method": GROUPS_METHOD,
        "picture": bars_of_section(
            [_group_bar(each) for each in groups.groups], "share of people the model errs about"
        ),
        "table": {"columns": columns, "rows": rows},
    }


def _group_bar(each: GroupFigures) -> Facts:
    low, high = each.interval
    asked = {"name": "asking less", "value": each.error, "low": low, "high": high}
    return {"label": each.group, "values": [asked, {"name": "asking everything", "value": each.everything}]}


def limit_sentences(evaluation: Evaluation, candidates: int, choice: Choice | None = None) -> list[str]:
    """Return the honest limits of a run; those that do not apply to it are left out."""
    sentences = [
        "Every figure is about people like those in the sample. Other places, other years or other ways of asking "
        "can give other figures; judge again on new data.",
        f"The attacks {_trained(evaluation)} are {QUICK_ATTACKS if evaluation.quick else STRONGEST}. Somebody "
        "may build a stronger one. What no attack can do, however clever, is said only by the certificate, and "
        "only for somebody who sees nothing but the generalized records and their labels.",
        "Attribute by attribute the error of an attacker is an average over people. A few can be told better than "
        "the average says: look at the surest guesses and at the people who are alone.",
        "An attribute counts as protected when the attacker does no better than guessing. If almost everybody has "
        "the same value, guessing is already right almost always.",
        "The error of the model is that of the best classifier we tried on these records. Your own model may err "
        "more or less, and an average can hide that some groups are served worse than others.",
        "What is not personal here was declared not to be. The report does not question that choice, nor whether "
        "the purpose itself is lawful.",
        _how_chosen(candidates, choice),
    ]
    if evaluation.quick:
        sentences.append(QUICK)
    if not evaluation.personal:
        sentences.append("No attribute was declared personal, so nothing was reconstructed and nothing certified.")
    return sentences


def _trained(evaluation: Evaluation) -> str:
    """Name the attackers that learned: A7 and A8 link and count."""
    names = [attack.adversary for attack in evaluation.attacks if attack.adversary in LEARNING]
    return f"{names[0]} to {names[-1]}" if names == LEARNING[: len(names)] and len(names) > 2 else listed(names)


def _how_chosen(candidates: int, choice: Choice | None) -> str:
    """Say whether the people tested had a say in what the report is about."""
    of, had_none = (
        f"Of {counted(candidates, 'candidate')}",
        "The figures here come from the test part, which had no say",
    )
    if choice is not None and choice.picked:
        return (
            f"{of} a person picked one. The figures here come from the test part; where it was picked by these, "
            "they are a little too good, and what they confirm is confirmed by hindsight."
        )
    if choice is not None and choice.surely:
        return (
            f"{of} one was chosen of those that the test part confirms to keep the limit on the error. So its "
            "error is told a little too well by that part; that the limit is kept is as sure as is said."
        )
    if choice is not None and choice.candidate is None:
        return f"{of} none was chosen on the validation part. {had_none} in that; {NEITHER}"
    again = "chosen again with another seed, a neighbour on the frontier may win."
    return f"{of} one was chosen on the validation part. {had_none} in that; {again}"


def decision_facts(run: Run, fingerprint: str) -> Facts | None:
    """Return what was decided on a run; None where nobody has.

    Parameters
    ----------
    fingerprint
        Of the generalization that the report is about.
    """
    path = run.folder / DECISION
    if not path.is_file():
        return None
    decision, history = Decision.load(path), History.of(run.folder)
    listing = history.listing()
    return {
        "sentences": [*_decided(decision, fingerprint), *([SIGNED] if signature_of(path).exists() else [])],
        "same": decision.generalization.fingerprint == fingerprint,
        "broken": [f"Decided although {each.limit}: {each.because.rstrip('.')}." for each in decision.broken],
        "reasons": {"columns": ["question", "why"], "rows": [[n, text] for n, text in decision.rationale.items()]},
        "comments": [_comment(each) for each in decision.comments],
        "drawn": [*decision.drawn],
        "review": decision.review.isoformat(),
        "history": {"columns": list(listing.columns), "rows": listing.rows} if len(listing.rows) > 1 else None,
        "changes": history.sentences() if len(listing.rows) > 1 else [],
    }


def _decided(decision: Decision, fingerprint: str) -> list[str]:
    roles = decision.roles
    also = [
        f"{what} by {who}" for what, who in (("reviewed", roles.reviewer), ("approved", roles.approver)) if who
    ]
    how = "" if decision.candidate else ", which was made by hand"
    sentences = [
        f"On {decision.day} {roles.author} decided for {decision.id}{how}"
        f"{', ' + ' and '.join(also) if also else ''}: {decision.because.rstrip('.')}.",
        f"It is to be looked at again by {decision.review}, or when data, policy or figures change.",
    ]
    if decision.generalization.fingerprint != fingerprint:
        sentences.append(f"This report is about {fingerprint[:12]}, which is not what was decided for.")
    return sentences


def _comment(comment: Any) -> str:
    about = f" (about {comment.about})" if comment.about else ""
    return f"{comment.by}{about}: {comment.text}"
