"""A decision: which generalization, on which figures, by whom and why; held against files, byte by byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date as day_of
from datetime import datetime
from typing import Any, ClassVar

from leastwise.documents import Document
from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.runs import Figures

MONTHS = 12
"""After so many months a decision is to be looked at again, if nobody says otherwise."""

# What a report gains after the decision on it: that is not what was decided on.
LATER = ("decision", "drift")
# What is found out before or after it. Where it was known, it was decided on; where not, it may be added.
FOUND_OUT = ("necessity", "groups", "shares")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Who had which part in it; whoever was not there is empty."""

    author: str
    reviewer: str = ""
    approver: str = ""


@dataclass(frozen=True, kw_only=True)
class Comment:
    """What somebody said to it; ``about`` names a question, or is empty."""

    by: str
    text: str
    date: str = ""
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A limit that the decision does not keep, in words, and why it is decided nevertheless."""

    limit: str
    because: str


@dataclass(frozen=True, kw_only=True)
class Fingerprints:
    """SHA-256 digests of what was decided on; empty where there was none.

    Attributes
    ----------
    data
        Of the encoded records.
    artefact, evaluation
        Of the files of the generalization and of its judgement.
    policy
        Of what the policy says, comments and file names aside.
    report
        Of the facts of the report.
    not_known
        Which of ``FOUND_OUT`` these did not tell then.
    """

    data: str
    artefact: str
    evaluation: str
    policy: str = ""
    report: str = ""
    not_known: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision(Document):
    """What was decided.

    Attributes
    ----------
    candidate
        Its id in the run; None for a generalization that was made by hand.
    generalization
        What is asked from now on.
    figures, everything
        What it costs and protects on the test part, and the same with everything asked.
    roles, because
        Who decided, and why.
    rationale
        By question, why it is asked, or not.
    comments
        What was said to it.
    drawn
        How it came about, where somebody drew it by hand: step by step, and how many drafts were looked at.
    broken
        The limits that it does not keep, each with a written reason.
    policy
        What the policy said, key by key, so that it can be told what changed.
    fingerprints
        Of all that it rests on.
    date, months
        When it was decided (a day, or a moment in UTC), and after how many months it is looked at again.
    """

    FORMAT: ClassVar[str] = "leastwise-decision"
    CALLED: ClassVar[str] = "decision"

    candidate: str | None
    generalization: Generalization = field(repr=False)
    figures: Figures
    everything: Figures
    roles: Roles
    because: str
    rationale: Mapping[str, str] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    drawn: tuple[str, ...] = ()
    broken: tuple[Broken, ...] = ()
    policy: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Fingerprints
    date: str
    months: int = MONTHS

    def __post_init__(self) -> None:
        if problems := self._problems():
            raise ParameterError(f"not a decision that can be kept: {'; '.join(problems)}")

    def _problems(self) -> list[str]:
        known = self.generalization.schema.names
        about = [*self.rationale, *(each.about for each in self.comments if each.about)]
        unknown = [name for name in about if name not in known]
        said = {"roles.author": self.roles.author, "because": self.because}
        said |= {f"a reason for: {each.limit}": each.because for each in self.broken}
        return [
            *(f"{name} must be said" for name, text in said.items() if not text.strip()),
            *(f"there is no question {shorten(name)}" for name in unknown),
            *(
                []
                if _is_date(self.date)
                else [f"date must be like 2026-11-17 or 2026-11-17T09:30:00Z; got {shorten(self.date)}"]
            ),
            *([] if self.months >= 1 else [f"months must be at least 1; got {self.months}"]),
        ]

    @property
    def id(self) -> str:
        """By which people name what was decided: the candidate's id, or as much of the fingerprint."""
        return self.generalization.fingerprint[:12]

    @property
    def day(self) -> str:
        """The day of the decision."""
        return self.date[:10]

    @property
    def review(self) -> day_of:
        """The day on which it must be looked at again."""
        return months_after(day_of.fromisoformat(self.day), self.months)

    @classmethod
    def from_json(cls, text: str, where: str | None = None) -> Decision:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        try:
            return super().from_json(text, where)
        except ParameterError as error:
            raise ArtefactError(f"{where or cls.CALLED}: {error}") from None


def _is_date(text: str) -> bool:
    for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"):
        with suppress(ValueError):
            if datetime.strptime(text, form).strftime(form) == text:
                return True
    return False


def months_after(day: day_of, months: int) -> day_of:
    """Return the same day so many months later; where the month has no such day, its last.

    >>> print(months_after(day_of(2026, 11, 17), 12), months_after(day_of(2026, 1, 31), 1))
    2027-11-17 2026-02-28
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for last in (day.day, 30, 29, 28):
        try:
            return day_of(year, month + 1, min(last, day.day))
        except ValueError:
            continue
    raise AssertionError  # every month has 28 days


def digest(content: str | bytes) -> str:
    """Return the SHA-256 of a file or a text."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def report_digest(facts: Mapping[str, Any], not_known: Sequence[str] = ()) -> str:
    """Return the digest of the facts of a report, without what is added to it after the decision."""
    kept = {key: value for key, value in facts.items() if key not in (*LATER, *not_known)}
    if "shares" in not_known:
        kept = _without_shares(kept)
    return digest(json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def not_known(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which of ``FOUND_OUT`` a report does not tell."""
    buckets = [bucket for each in facts["attributes"] for bucket in each["buckets"]]
    told = {
        "necessity": bool(facts["necessity"]["tables"]),
        "groups": facts["groups"] is not None,
        "shares": any(bucket["share"] is not None for bucket in buckets),
    }
    return tuple(name for name in FOUND_OUT if not told[name])


def _without_shares(facts: Any) -> Any:
    """Leave out how many people give each answer, wherever it is told."""
    if isinstance(facts, Mapping):
        return {key: _without_shares(value) for key, value in facts.items() if key not in ("share", "shares")}
    return [_without_shares(each) for each in facts] if isinstance(facts, list) else facts


def policy_digest(said: Mapping[str, str]) -> str:
    """Return the digest of what a policy says."""
    return digest(json.dumps(dict(said), ensure_ascii=False, sort_keys=True)) if said else ""
