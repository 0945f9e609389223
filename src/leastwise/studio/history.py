"""The whole state of the studio as a function of what was done: each commit is one event, replayed at the start.

Undo and redo are events like all others, so that nothing that was done is ever lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from leastwise.documents import Problems
from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.runs import Budget
from leastwise.schema.names import names_from_document
from leastwise.studio.edits import Lock, People, Sheet, apply_edit, check_locks
from leastwise.studio.locks import held_to

Event = Mapping[str, Any]
LONGEST_TEXT, MOST_KEPT = 5_000, 200


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A draft on the shelf."""

    id: int
    name: str
    comment: str
    sheet: Sheet


@dataclass(frozen=True, kw_only=True)
class Words:
    """What was written for the decision: reasons, open points, who is who, and why a limit may go."""

    rationale: Mapping[str, str] = field(default_factory=dict)
    open_points: str = ""
    author: str = ""
    reviewer: str = ""
    approver: str = ""
    because: str = ""
    although: str = ""


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything that is kept: the sheet, its past and future, the shelf, the limits and the words."""

    sheet: Sheet
    limits: Budget
    past: tuple[tuple[str, Sheet], ...] = ()
    future: tuple[tuple[str, Sheet], ...] = ()
    shelf: tuple[Kept, ...] = ()
    words: Words = field(default_factory=Words)
    looked: frozenset[str] = frozenset()
    opened: tuple[str, ...] = ()
    approved: str = ""
    called: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0

    @property
    def signed(self) -> str:
        """A digest of what is approved: the buckets, and what they are called."""
        return hashlib.sha256(self.sheet.generalization.to_json().encode()).hexdigest()


def replay(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Return the state after an event; a ``ParameterError`` says why it cannot be."""
    handler = _HANDLERS.get(str(event.get("do")))
    if handler is None:
        raise ParameterError(f"the studio does one of {', '.join(_HANDLERS)}; got {shorten(event.get('do'))}")
    after = handler(state, event, people)
    peeked = event.get("peeked", ())
    if not all(isinstance(each, str) for each in peeked):
        raise ParameterError("what was looked at is told by fingerprints")
    looked = after.looked | {after.sheet.generalization.fingerprint, *peeked}
    return replace(after, version=state.version + 1, looked=looked)


def _drawn(state: State, sheet: Sheet, words: str) -> State:
    return replace(state, sheet=sheet, past=(*state.past, (words, state.sheet)), future=())


def _edit(state: State, event: Event, people: Callable[[str], People]) -> State:
    edit = event.get("edit")
    if not isinstance(edit, Mapping):
        raise ParameterError("an edit must say what is done to which attribute")
    return _drawn(state, apply_edit(state.sheet, edit, people), _said(edit))


_DONE = {
    "merge": "two buckets merged",
    "move_edge": "an edge moved to {to}",
    "split": "a bucket split",
    "move": "values moved to another bucket",
    "drop": "not asked",
    "ask": "asked in full",
    "divide": "asked in groups",
    "level": "grouped as declared",
    "lock": "{value} locked",
    "unlock": "{value} unlocked",
    "rename": "“{label}” called “{name}”",
}


def _said(edit: Event) -> str:
    """Say an edit that was done, as the history and the decision tell it."""
    given = {key: edit.get(key, "") for key in ("to", "label", "name")}
    given["value"] = edit.get("value") or "the question"
    words = _DONE[str(edit["kind"])]
    if edit["kind"] == "rename" and not str(edit.get("name", "")).strip():
        words = "the name of “{label}” taken away"
    return f"{edit['attribute']}: {words.format(**given)}"[:LONGEST_TEXT]


def _undo(state: State, event: Event, people: Callable[[str], People]) -> State:
    if not state.past:
        raise ParameterError("there is nothing to undo")
    words, sheet = state.past[-1]
    return replace(state, sheet=sheet, past=state.past[:-1], future=(*state.future, (words, state.sheet)))


def _redo(state: State, event: Event, people: Callable[[str], People]) -> State:
    if not state.future:
        raise ParameterError("there is nothing to redo")
    words, sheet = state.future[-1]
    return replace(state, sheet=sheet, future=state.future[:-1], past=(*state.past, (words, state.sheet)))


def _load(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Take a whole generalization as the draft; what is locked must be in it as it is."""
    problems = Problems()
    loaded = Generalization.from_document(event.get("generalization"), ("generalization",), problems)
    if loaded is None:
        raise ArtefactError("not a generalization that can be loaded", problems.texts)
    way = loaded.within(_schema(state))
    for partition in way.partitions:
        check_locks(state.sheet, partition)
    words = str(event.get("words", "load"))[:LONGEST_TEXT]
    # What people called a bucket here, it is called wherever it comes back.
    way = way.with_names({attribute.name: attribute.names for attribute in _schema(state).attributes})
    return _drawn(state, replace(state.sheet, generalization=way), words)


def _schema(state: State) -> Any:
    return state.sheet.generalization.schema


def _keep(state: State, event: Event, people: Callable[[str], People]) -> State:
    if len(state.shelf) >= MOST_KEPT:
        raise ParameterError(f"the shelf holds {MOST_KEPT} drafts; take some away first")
    number = max((each.id for each in state.shelf), default=0) + 1
    name = _text(event, "name") or f"Draft {number}"
    return replace(
        state, shelf=(*state.shelf, Kept(id=number, name=name, comment=_text(event, "comment"), sheet=state.sheet))
    )


def _describe(state: State, event: Event, people: Callable[[str], People]) -> State:
    kept = _kept_draft(state, event)
    changed = replace(kept, name=_text(event, "name") or kept.name, comment=_text(event, "comment", kept.comment))
    return replace(state, shelf=tuple(changed if each is kept else each for each in state.shelf))


def _discard(state: State, event: Event, people: Callable[[str], People]) -> State:
    kept = _kept_draft(state, event)
    return replace(state, shelf=tuple(each for each in state.shelf if each is not kept))


def _take(state: State, event: Event, people: Callable[[str], People]) -> State:
    kept = _kept_draft(state, event)
    return _drawn(state, replace(kept.sheet, rules=state.sheet.rules), f"take {kept.name}")


def _kept_draft(state: State, event: Event) -> Kept:
    for each in state.shelf:
        if each.id == event.get("id"):
            return each
    raise ParameterError(f"there is no draft {shorten(event.get('id'))} on the shelf")


# What the page shows and says anew with every change; limits that it does not show stay as they are.
_UNLIMITED: Mapping[str, Any] = {
    "max_error_increase": None,
    "min_adversary_error": {},
    "max_unique": None,
    "max_buckets": None,
}


def _limits(state: State, event: Event, people: Callable[[str], People]) -> State:
    given = event.get("limits")
    known = {each.name for each in fields(Budget)}
    if not isinstance(given, Mapping) or not {*given} <= known:
        raise ParameterError(f"limits are {', '.join(sorted(known))}")
    try:
        return replace(state, limits=replace(state.limits, **{**_UNLIMITED, **given}))
    except (TypeError, AttributeError):
        raise ParameterError("limits must be numbers") from None


def _write(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Write words for the decision: of a question, or of the whole."""
    name, text = event.get("what"), _text(event, "text")
    if name == "rationale":
        about = event.get("attribute")
        if about not in _schema(state).names:
            raise ParameterError(f"there is no question {shorten(about)}")
        return replace(
            state, words=replace(state.words, rationale={**state.words.rationale, str(about): text}), approved=""
        )
    if name not in ("open_points", "author", "reviewer", "approver", "because", "although"):
        raise ParameterError(f"there is nothing to write for {shorten(name)}")
    said: dict[str, Any] = {str(name): text}
    return replace(state, words=replace(state.words, **said))


def _opened(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Note that the test part was opened for this draft."""
    fingerprint = state.sheet.generalization.fingerprint
    return replace(state, opened=(*(each for each in state.opened if each != fingerprint), fingerprint))


def _approved(state: State, event: Event, people: Callable[[str], People]) -> State:
    return replace(state, approved=state.signed)


def _policy(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Hold to the constraints of a policy: what they fix is drawn and locked."""
    try:
        rules = Constraints(**event["constraints"])
        rules.check(_schema(state))
        return _drawn(state, held_to(state.sheet, rules), "hold to the policy")
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ParameterError("the constraints of a policy cannot be read") from None


def _names(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Call buckets as a policy does, wherever they come about."""
    given, problems = event.get("names"), Problems()
    if not isinstance(given, Mapping):
        raise ParameterError("names are given by attribute")
    names = {about: names_from_document(each, ("names", about), problems) for about, each in given.items()}
    if problems.texts:
        raise ArtefactError("not names that can be given", problems.texts)
    way = state.sheet.generalization.with_names(names)
    return replace(_drawn(state, replace(state.sheet, generalization=way), "names of the policy"), called=given)


def _look(state: State, event: Event, people: Callable[[str], People]) -> State:
    """Change nothing: the event tells what was looked at."""
    return state


def _text(event: Event, key: str, default: str = "") -> str:
    value = event.get(key, default)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ParameterError(f"{key} must be a text of at most {LONGEST_TEXT:,} characters")
    return value.strip()


_HANDLERS: dict[str, Callable[[State, Event, Callable[[str], People]], State]] = {
    "edit": _edit,
    "undo": _undo,
    "redo": _redo,
    "load": _load,
    "keep": _keep,
    "describe": _describe,
    "discard": _discard,
    "take": _take,
    "limits": _limits,
    "write": _write,
    "opened": _opened,
    "approved": _approved,
    "look": _look,
    "policy": _policy,
    "names": _names,
}

__all__ = ["Event", "Kept", "Lock", "State", "Words", "replay"]
