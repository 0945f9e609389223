"""Assess: put together what a run measured, what a policy says and what was decided; and list what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from leastwise.decisions.history import History
from leastwise.documents.wording import counted, listed
from leastwise.evaluation import Necessity
from leastwise.generalization.describe import footnotes
from leastwise.policy import Policy
from leastwise.report.answer import answer_facts
from leastwise.report.buckets import attribute_facts
from leastwise.report.dpia.alternatives import alternatives
from leastwise.report.dpia.assessment import TO_WRITE, Assessment, Grid, Part, Statement
from leastwise.report.dpia.mappings import answered
from leastwise.report.dpia.risks import risk_parts
from leastwise.report.dpia.subject import Subject
from leastwise.report.facts import QUICK, decision_facts, limit_sentences
from leastwise.report.task import budget_lines
from leastwise.runs import Run
from leastwise.runs.choice import Choice

Facts = dict[str, Any]


def assess(run: Run, policy: Policy | None = None) -> Assessment:
    """Return the assessment of what was decided on a run; what the policy does not say is a gap.

    Severity and likelihood, and whatever else only a person can weigh, are left for a person.
    """
    about = Subject.of(run, policy or Policy())
    decision, said = about.decision, about.policy.processing
    return Assessment(
        title=said.name or f"Predicting {run.task.label}",
        date="" if decision is None else decision.day,
        author="" if decision is None else decision.roles.author,
        reviewer="" if decision is None else decision.roles.reviewer,
        approver="" if decision is None else decision.roles.approver,
        fingerprint=about.generalization.fingerprint,
        measured=_on_whom(run.choice),
        parts=_parts(about),
        answered=answered(),
        gaps=tuple(gaps(about)),
    )


def _on_whom(choice: Choice) -> str:
    """Say on whom figures were measured, and what say these had in choosing."""
    if choice.surely:
        return (
            "Figures were measured on people who had a say in one thing only: what they did not confirm to keep "
            "the limit on the error was left out, at a confidence that pays for that"
        )
    if choice.picked:
        return "Figures were measured on people whose figures whoever picked this may have seen before"
    return "Figures were measured on people who had no say in choosing"


def _parts(about: Subject) -> tuple[Part, ...]:
    """Return all parts in the order of reading; what is left to people stands in the first one, too."""
    parts = [
        _processing(about.policy),
        _data(about),
        *_necessity(about),
        alternatives(about),
        _cost(about),
        _quality(),
        _other_uses(about),
        _rights(about.policy),
        *risk_parts(about.run, about.evaluation, about.policy, about.source, len(about.earlier)),
        _groups(about),
        _not_examined(about),
        _consultation(about.policy),
        _decision(about),
    ]
    return (_summary(about, [part.title for part in parts if part.for_a_person]), *parts)


def gaps(about: Subject) -> list[str]:
    """List everything that an assessment needs and nobody has said, with where to say it."""
    notice, said = about.policy.notice, about.policy.processing
    wanted = {
        "notice.controller": (notice.controller, "who answers for the processing"),
        "notice.purpose": (notice.purpose, "what it is for"),
        "notice.legal_basis": (notice.legal_basis, "on which legal basis"),
        "notice.keep_days": (notice.keep_days, "for how many days answers are kept"),
        "notice.contact": (notice.contact, "whom people can ask"),
        "processing.name": (said.name, "what the processing is called"),
        "processing.source": (said.source, "where the records come from"),
        "processing.recipients": (said.recipients, "who receives them"),
        "processing.rights": (said.rights, "how people see, correct or erase what is held of them, and object"),
        "processing.controls": (said.controls, "what keeps others out"),
        "processing.benefits": (said.benefits, "what it is good for, and for whom"),
        "processing.consultation": (said.consultation, "who was asked"),
    }
    missing = [f"{key} in the policy: {what}" for key, (value, what) in wanted.items() if not value]
    if about.decision is None:
        missing.append(f"a decision: leastwise decide {about.run.folder} --by NAME --because TEXT")
    if about.necessity is None:
        again = f"leastwise necessity {about.run.folder} {shlex.quote(about.run.task.data)}"
        missing.append(f"what each question is worth: {again}")
    return missing


def _summary(about: Subject, left: list[str]) -> Part:
    """Say first what whoever signs must know: what it costs, what remains, who decided, and what is left to do."""
    sentences = answer_facts(about.generalization, about.evaluation)["sentences"]
    said = [Statement(text, about.source("answer")) for text in sentences]
    if promise := _promise(about):
        said.append(Statement(f"Is the limit on its errors kept? {promise}", about.source("answer")))
    if about.evaluation.quick:
        said.append(Statement(QUICK, about.source("limits")))
    said += [] if about.decision is None else _decision(about).statements[:1]
    return Part(
        place="summary",
        title="In short",
        items=tuple(said),
        for_a_person=f"A person has still to write or to weigh: {listed([f'“{title}”' for title in left])}.",
    )


def _promise(about: Subject) -> str:
    """Say whether the limit on the error is kept, where what is assessed is what the run chose."""
    same = about.decision is None or about.decision.candidate == about.run.choice.candidate
    promise = about.run.choice.promise if same else None
    return "" if promise is None else promise.sentence


def _sentence(text: str) -> str:
    """Write what somebody noted down as a sentence.

    >>> _sentence("people object at the desk")
    'People object at the desk.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def _processing(policy: Policy) -> Part:
    notice, said = policy.notice, policy.processing
    days = "" if notice.keep_days is None else f"{counted(notice.keep_days, 'day')}; then the answers are erased"
    pairs = {
        "Name": said.name,
        "Purpose": notice.purpose,
        "What it is good for": said.benefits,
        "Controller": notice.controller,
        "Legal basis": notice.legal_basis,
        "Source of the records": said.source,
        "Recipients": said.recipients,
        "Kept for": days,
        "Contact": notice.contact,
    }
    rows = tuple((name, text or TO_WRITE) for name, text in pairs.items())
    return Part(place="processing", title="The processing", grid=Grid(("", ""), rows, ""))


def _data(about: Subject) -> Part:
    people = about.evaluation.people
    known, source = (
        counted(people.train + people.validation + people.test, "person", "people"),
        about.run.task.source,
    )
    found = f"This was found on a sample of {known}: {about.run.task.data}."
    if source is not None:
        found = (
            f"This was found on a sample of {source.sampled:,} of {source.records:,} people and judged on all "
            f"{source.tested:,} that were kept for that: {about.run.task.data}."
        )
    names = footnotes(about.generalization.partitions)
    what = answer_facts(about.generalization, about.evaluation)["sentences"][0]
    rows = tuple(
        (f"{each['name']}{' (personal)' if each['personal'] else ''}", each["before"], _now(each))
        for each in attribute_facts(about.generalization, {})
    )
    return Part(
        place="data",
        title="The data: what is asked, and what is not",
        statements=(
            Statement(what, about.source("answer")),
            Statement(found, about.source("asked")),
            *(Statement(f"{each}.", about.source("questions")) for each in names),
        ),
        grid=Grid(("item", "could be asked", "is asked"), rows, about.source("questions")),
    )


def _now(attribute: Facts) -> str:
    if not attribute["asked"]:
        return "not asked"
    return " / ".join(bucket["label"] for bucket in attribute["buckets"]) or "the exact number"


_NOT_COLLECTED = (
    "Each was tried in full beside what is asked. The second figure is what leaving it out is worth: by so much "
    "more an attacker errs. Where an item would buy accuracy, whoever decides weighs the first against the second."
)


def _necessity(about: Subject) -> list[Part]:
    asked, not_asked = about.generalization.collected, about.generalization.not_collected
    titles = {
        "collected": "Each item that is collected, and whether it is necessary",
        "not_collected": "Each item that was examined and is not collected",
    }
    empty = {
        "collected": Statement(f"Collected: {listed(asked) or 'nothing'}."),
        "not_collected": Statement(f"Examined and not collected: {listed(not_asked) or 'nothing'}."),
    }
    necessity = about.necessity
    if necessity is None:
        text = "What each question is worth was not measured. " + TO_WRITE
        return [
            Part(place=place, title=title, statements=(empty[place],), for_a_person=text)
            for place, title in titles.items()
        ]
    reasons = {} if about.decision is None else about.decision.rationale
    parts = []
    for (place, title), listing in zip(titles.items(), necessity.tables()[:2], strict=True):
        columns = tuple(column.replace("A1 errs", "the attacker (A1) errs") for column in listing.columns)
        rows = [tuple(row) for row in listing.rows]
        if any(row[0] in reasons for row in rows):
            columns, rows = (*columns, "in the words of who decided"), [(*r, reasons.get(r[0], "")) for r in rows]
        grid = Grid(columns, tuple(rows), about.source("necessity")) if rows else None
        about_it = necessity.method() if place == "collected" else _NOT_COLLECTED if rows else ""
        said = (Statement(about_it, about.source("necessity")),) if about_it else ()
        left = _not_shown(necessity, reasons) if place == "collected" else ""
        statements = (empty[place], *said)
        parts.append(Part(place=place, title=title, statements=statements, grid=grid, for_a_person=left))
    return parts


def _not_shown(necessity: Necessity, reasons: Mapping[str, str]) -> str:
    """Name what is asked although no figure shows that it is needed, and nobody has said why."""
    silent = [
        each.attribute for each in necessity.asked if each.buys != "accuracy" and not reasons.get(each.attribute)
    ]
    if not silent:
        return ""
    return (
        f"No figure shows that the model errs more without {listed(silent, 'or')}, and nobody has said why "
        f"{'it is' if len(silent) == 1 else 'they are'} asked: say so when deciding (--reason), or ask less."
    )


def _cost(about: Subject) -> Part:
    sentences = answer_facts(about.generalization, about.evaluation)["sentences"][1:2]
    limits = "; ".join(budget_lines(about.run.choice.budget))
    said = [Statement(text, about.source("answer")) for text in sentences]
    said.append(Statement(f"What had to be kept: {limits}.", about.source("asked")))
    if promise := _promise(about):
        said.append(Statement(f"{about.run.choice.sentence} {promise}", about.source("answer")))
    return Part(
        place="proportionality",
        title="What is gained by asking less, and what it costs",
        statements=tuple(said),
        for_a_person="Whether the benefit outweighs what remains at risk is for a person to weigh.",
    )


def _quality() -> Part:
    return Part(
        place="quality",
        title="Whether the answers are right",
        statements=(
            Statement(
                "Every value that a question can have lies in exactly one of its answers, and so does a missing "
                "one where it may be missing. What lies in none of them is refused, or goes to the answer that "
                "is declared for it."
            ),
        ),
        for_a_person="Whether people answer rightly, and how answers are kept up to date, was not examined.",
    )


def _other_uses(about: Subject) -> Part:
    """Say what keeps answers from being used for something else (function creep)."""
    own = about.generalization
    left_out = f"{counted(len(own.not_collected), 'item is', 'items are')} not collected at all"
    coarse = [p.attribute.name for p in own.partitions if not p.untouched and not p.suppressed]
    rest = f", and {listed(coarse)} only as coarsely as the table above says" if coarse else ""
    return Part(
        place="other_uses",
        title="How other uses are kept out",
        statements=(
            Statement(
                f"What is not collected serves no other purpose: {left_out}{rest}.", about.source("questions")
            ),
            Statement(
                "The decision fixes what is asked, and for which purpose. The check that repeats it says when "
                "something else is asked, or when the policy names another purpose, other recipients or a longer "
                "time; then it must be decided anew."
            ),
        ),
        for_a_person="Who may use the answers for what, and who sees to it, is for a person to say.",
    )


_TOLD = {
    "controller": "who asks",
    "purpose": "why",
    "legal_basis": "on which legal basis",
    "keep_days": "how long answers are kept",
    "contact": "whom to ask",
}


def _rights(policy: Policy) -> Part:
    told = [words for key, words in _TOLD.items() if getattr(policy.notice, key)]
    how = (
        f"The form that is made with this policy tells people, before they answer, {listed(told)}." if told else ""
    )
    said = [Statement(text) for text in (_sentence(policy.processing.rights), how) if text]
    return Part(
        place="rights",
        title="What people are told, and their rights",
        statements=tuple(said),
        for_a_person="" if policy.processing.rights else TO_WRITE,
    )


def _groups(about: Subject) -> Part:
    """Tell whether asking less costs some people more than others."""
    title, groups = "Who pays: is everybody served alike?", about.run.groups
    if groups is None or groups.fingerprint != about.generalization.fingerprint:
        text = "Whether asking less costs some groups more than others was not examined: "
        text += "leastwise run --set groups=NAME."
        return Part(place="groups", title=title, for_a_person=text)
    columns, rows = groups.listing()
    return Part(
        place="groups",
        title=title,
        statements=tuple(Statement(text, about.source("groups")) for text in groups.sentences()),
        grid=Grid(tuple(columns), tuple(map(tuple, rows)), about.source("groups")),
        for_a_person="Whether a difference between groups is fair is for a person to weigh.",
    )


def _not_examined(about: Subject) -> Part:
    sentences = limit_sentences(about.evaluation, len(about.run.candidates), about.run.choice)
    return Part(
        place="not_examined",
        title="What was not examined",
        items=tuple(Statement(text, about.source("limits")) for text in sentences),
        for_a_person=(
            "Not examined either: unwanted change and loss of data, the systems that hold the data and their "
            "security, processors, transfers, codes of conduct, whether the authority must be consulted first, "
            "and whether the purpose itself is lawful and fair."
        ),
    )


def _consultation(policy: Policy) -> Part:
    said = policy.processing.consultation
    return Part(
        place="consultation",
        title="Who was consulted",
        statements=(Statement(_sentence(said)),) if said else (),
        for_a_person="" if said else TO_WRITE,
    )


def _decision(about: Subject) -> Part:
    if about.decision is None:
        return Part(place="decision", title="The decision", for_a_person="Nobody has decided yet.")
    facts = decision_facts(about.run, about.generalization.fingerprint)
    assert facts is not None
    said = [*facts["sentences"], *facts["broken"], *facts["comments"]]
    history = History.of(about.run.folder).listing()
    several = Grid(history.columns, tuple(map(tuple, history.rows)), about.source("decision"))
    return Part(
        place="decision",
        title="The decision",
        statements=tuple(Statement(text, about.source("decision")) for text in said),
        grid=several if len(history.rows) > 1 else None,
    )
