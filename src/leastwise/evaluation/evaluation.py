"""The judgement of one generalization: utility, attacks beside their baselines, certificate. JSON in and out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leastwise.adversaries import PAPER, SinglingOutResult
from leastwise.adversaries.result import AttackResult, GuestResult
from leastwise.documents import Fields, Problems, check_format, html, read_json, read_text, write_whole
from leastwise.documents.plain import VERSION, from_plain, to_text
from leastwise.documents.wording import counted, percent, percent_range
from leastwise.errors import ArtefactError, shorten
from leastwise.evaluation.certificate import Certificate
from leastwise.evaluation.necessity import Necessity
from leastwise.evaluation.risk import UtilityRisk
from leastwise.plugins import is_guest
from leastwise.validation import did_you_mean

FORMAT = "leastwise-evaluation"
_INTERVAL = "95 % interval"


@dataclass(frozen=True, kw_only=True)
class People:
    """How many people each part of the protocol has."""

    train: float
    validation: float
    test: float


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a generalization costs and what it protects.

    Attributes
    ----------
    fingerprint
        Of the generalization that was judged (``Generalization.fingerprint``).
    seed, quick
        How it was judged; the same gives the same document.
    people
        Who was known (training, validation) and who was attacked (test).
    personal
        The attributes that the adversaries were after.
    utility, everything, nothing
        The utility risk, and that of its two limit points: everything untouched, everything suppressed. None
        without a label.
    attacks
        What each adversary found.
    certificate
        What no adversary can find, however clever, who sees only what the training phase stores: generalized
        records and their labels. None without personal attributes.
    deployment
        The same for the deployment phase, which stores no label; None where none is stored in any case.
    necessity
        What each question is worth; None where that was not asked for.
    seconds
        How long each part took; neither compared nor written.
    """

    fingerprint: str
    seed: int
    quick: bool
    people: People
    personal: tuple[str, ...]
    utility: UtilityRisk | None
    everything: UtilityRisk | None
    nothing: UtilityRisk | None
    attacks: tuple[AttackResult, ...]
    certificate: Certificate | None
    deployment: Certificate | None = None
    necessity: Necessity | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        model = "" if self.utility is None else f"the model errs {self.utility.error:.3f}; "
        return f"<Evaluation {model}{counted(len(self.attacks), 'attack')} on {self.people.test:,.0f} people>"

    def _repr_html_(self) -> str:
        """Show the model's error beside its limits, each attack beside guessing, and the promise."""
        rows = [
            [name, percent(risk.error, 1), percent_range(risk.interval)]
            for name, risk in (
                ("these answers", self.utility),
                ("everything asked", self.everything),
                ("nothing asked", self.nothing),
            )
            if risk is not None
        ]
        model = html.table(("the model sees", "is wrong", _INTERVAL), rows, numbers=("is wrong", _INTERVAL))
        attack_rows = [
            [_who(each), percent(each.adversary_error, 1), percent_range(each.interval), percent(each.baseline, 1)]
            for each in self.attacks
        ]
        columns = ("adversary", "is wrong", _INTERVAL, "guessing is wrong")
        thieves = html.table(columns, attack_rows, numbers=columns[1:])
        promises = (self.certificate, self.deployment)
        promise = [certificate.sentences()[-1] for certificate in promises if certificate is not None]
        tested = f"{counted(self.people.test, 'person', 'people')} tested" + (", a quick look" * self.quick)
        return html.box(
            html.heading("What it costs and what it protects"),
            model if rows else "",
            thieves if attack_rows else "",
            html.paragraphs(promise),
            html.paragraphs([f"{tested}. An adversary that is wrong more often is safer."], soft=True),
        )

    def __getitem__(self, adversary: str) -> Any:
        """Return the result of one adversary, by its short name."""
        attacks = {attack.adversary: attack for attack in self.attacks}
        if adversary not in attacks:
            raise KeyError(f"no attack {adversary!r}; {did_you_mean(adversary, attacks)}")
        return attacks[adversary]

    @property
    def alone_by_a_number(self) -> str:
        """Why nearly everybody is alone where a number is predicted: few share one; empty elsewhere."""
        number = self.utility is not None and self.utility.number is not None
        alone = next((attack for attack in self.attacks if isinstance(attack, SinglingOutResult)), None)
        if not number or alone is None or alone.unique_without_label is None:
            return ""
        stored = "the number to predict is stored as it is beside the answers"
        without = f"{alone.unique_without_label:,}" if alone.unique_without_label else "nobody"
        return f": {stored}; without it, {without} would be"

    def to_json(self) -> str:
        """Return the document; the same judgement gives the same bytes."""
        return to_text(self, FORMAT)

    @classmethod
    def from_json(cls, text: str) -> Evaluation:
        """Read the document; an ``ArtefactError`` lists everything that is wrong with it."""
        problems = Problems()
        document = read_json(text, problems)
        evaluation = None if problems.texts else _from_document(document, problems)
        if evaluation is None or problems.texts:
            raise ArtefactError("not an evaluation that can be read", problems.texts)
        return evaluation

    def save(self, path: str | Path) -> None:
        """Write the document to a file, for its owner only: it may describe single people."""
        write_whole(path, self.to_json(), private=True)

    @classmethod
    def load(cls, path: str | Path) -> Evaluation:
        """Read the document from a file."""
        return cls.from_json(read_text(path))


def _who(attack: AttackResult) -> str:
    title = attack.title if isinstance(attack, GuestResult) else PAPER[attack.adversary].title
    return f"{attack.adversary}: {title}"


def _from_document(document: Any, problems: Problems) -> Evaluation | None:
    fields = Fields(document, (), problems)
    if not check_format(fields, FORMAT, VERSION):
        return None
    rest = {key: value for key, value in document.items() if key not in ("format", "version", "attacks")}
    attacks = [_attack(item, i, problems) for i, item in enumerate(fields.items("attacks"))]
    if "attacks" not in document:
        problems.add(("attacks",), "is missing")
    evaluation = from_plain(Evaluation, {**rest, "attacks": []}, (), problems)
    return None if evaluation is None else replace(evaluation, attacks=tuple(a for a in attacks if a is not None))


def _attack(data: Any, place: int, problems: Problems) -> AttackResult | None:
    path = ("attacks", place)
    name = data.get("adversary") if isinstance(data, dict) else None
    if isinstance(name, str) and name in PAPER:
        return from_plain(PAPER[name].result, data, path, problems)
    if is_guest(name):
        return from_plain(GuestResult, data, path, problems)
    problems.add((*path, "adversary"), f"must be one of {', '.join(PAPER)}, or a short name; got {shorten(name)}")
    return None
