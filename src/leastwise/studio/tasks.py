"""What the page starts and does not wait for: judgements and help; and what ends it: the policy, the approval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import yaml

from leastwise.decisions import Comment, Roles, decide, keep_decision
from leastwise.documents import to_plain
from leastwise.documents.wording import counted
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.evaluation import Evaluation
from leastwise.policy.policy import FORMAT, VERSION
from leastwise.schema.names import names_to_document
from leastwise.studio import facts, helping
from leastwise.studio.helping import Help
from leastwise.studio.history import State
from leastwise.studio.locks import constraints_of
from leastwise.studio.opening import Ground
from leastwise.studio.room import Room

Plain = dict[str, Any]
Started = tuple[Callable[..., Any], tuple[Any, ...], Callable[[Any], Any]]
POLICY = "leastwise.yaml"


class Tasks:
    """Starts work for a room, and takes in what came out."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._works: dict[str, Callable[[Plain], Started]] = {
            "judge": self._judge,
            "final": self._final,
            "improve": self._improve,
            "round": self._round,
            "fewer": self._fewer,
            "fill": self._fill,
        }

    def start(self, kind: str, given: Plain) -> Plain:
        """Begin one piece of work for the draft as it is now; return everything anew, the work with it."""
        room = self._room
        if kind not in self._works:
            raise ParameterError(f"there is no such work: {shorten(kind)}")
        with room.alone:  # the draft that is noted is the one that is judged
            room.book.check(given.get("version"))
            room.jobs.check_free()
            work, arguments, after = self._works[kind](given)
            if kind == "final":
                self._check_may_open()
                room.do({"do": "opened"}, given["version"])
            room.jobs.start(kind, room.draft.fingerprint[:12], work, arguments, after)
            return room.now()

    def _judge(self, given: Plain) -> Started:
        room, ground = self._room, self._room.ground
        arguments = (room.draft, room.split, ground.seed, ground.quick, room.looks)
        return helping.judge, arguments, partial(room.keep_judgement, part="validation")

    def _final(self, given: Plain) -> Started:
        room, ground = self._room, self._room.ground
        arguments = (room.draft, ground.table, ground.seed, ground.quick, self.candidates())
        return helping.open_test, arguments, partial(room.keep_judgement, part="test")

    def _improve(self, given: Plain) -> Started:
        room, run = self._room, self._room.ground.run
        known = [] if run is None else [each.generalization for each in run.frontier.points]
        return helping.improve, (room.state.sheet, room.split, known), self._offered

    def _round(self, given: Plain) -> Started:
        return helping.round_edges, (self._room.state.sheet, self._room.split), self._offered

    def _fewer(self, given: Plain) -> Started:
        return helping.fewer_answers, (self._room.state.sheet, self._room.split), self._offered

    def _fill(self, given: Plain) -> Started:
        fewest, most = int(given["fewest"]), len(self._room.split.train)
        if not 2 <= fewest <= most:
            raise ParameterError(f"name from 2 to {most:,} people; got {shorten(fewest)}")
        return helping.fill_buckets, (self._room.state.sheet, self._room.split, fewest), self._offered

    def cancel(self) -> Plain:
        """End what goes on."""
        self._room.jobs.cancel()
        return {"job": self._room.jobs.facts()}

    def candidates(self) -> int:
        """Return among how many the draft was chosen by looking at the test part: the run's, and those before."""
        run = self._room.ground.run
        before = 0 if run is None else len(run.frontier.points)
        return before + len({*self._room.state.opened, self._room.draft.fingerprint})

    def _check_may_open(self) -> None:
        if self._room.evaluation(self._room.draft, "test") is not None:
            raise ParameterError("the test part was opened for this very draft already; its figures are there")

    def _offered(self, offer: Help) -> list[Plain]:
        """Return proposals as the page shows them; whatever they were chosen from counts as looked at."""
        room = self._room
        room.note_looks(offer.looked)
        return [
            {
                "words": each.words,
                "generalization": each.generalization.to_document(),
                "figures": facts.estimated(each.estimate),
                "changed": facts.changes(room.state.sheet.generalization, each.generalization),
            }
            for each in offer.proposals
        ]

    def write_policy(self) -> Plain:
        """Write the limits and the locks as a policy file beside the draft."""
        path = self._room.book.write(POLICY, policy_text(self._room.ground, self._room.state))
        return {"path": str(path), "text": path.read_text(encoding="utf-8")}

    def approve(self, version: int) -> Plain:
        """Decide for the draft: its test judgement, the words and the people become a decision of the run."""
        self._room.worth()  # which the proposed words tell
        with self._room.alone:  # nobody changes the draft while it is decided on
            return self._approved(version)

    def _approved(self, version: int) -> Plain:
        room, words = self._room, self._room.state.words
        room.book.check(version)  # before anything is written: nobody approves a draft that they have not seen
        evaluation, draft, run = self._judged(), room.draft, room.ground.run
        if run is None:
            raise ParameterError("the run is still going on; a decision is made beside what it found")
        breaches = room.breaches()
        if breaches and not words.although:
            raise ParameterError(f"the policy is broken ({'; '.join(breaches)}); that needs a written reason")
        written = {name: text for name, text in words.rationale.items() if text.strip()}
        comments = [Comment(by=words.author, text=words.open_points)] if words.open_points else []
        comments += [Comment(by=words.author, text=f"The policy is broken: {each}") for each in breaches]
        # What was agreed on here must be kept, or the breach explained; the run may have been asked for less.
        agreed = replace(run, choice=replace(run.choice, budget=room.state.limits))
        decision = decide(
            agreed,
            by=Roles(author=words.author, reviewer=words.reviewer, approver=words.approver),
            because=words.because,
            draft=(draft, evaluation),
            rationale={**room.proposed_words(), **written},
            comments=comments,
            drawn=self._drawn(),
            broken=words.although,
        )
        path = keep_decision(decision, evaluation, run.folder)
        return {**room.do({"do": "approved"}, version), "decision": str(path)}

    def _drawn(self) -> list[str]:
        """Return how the draft came about: each step in words, and how much was looked at."""
        state, looks = self._room.state, counted(self._room.looks, "draft")
        opened = counted(len(state.opened), "draft")
        return [
            *(words for words, _ in state.past),
            f"{looks} looked at on the training and validation people",
            f"the test part opened for {opened}",
        ]

    def _judged(self) -> Evaluation:
        evaluation = self._room.evaluation(self._room.draft, "test")
        if evaluation is None:
            raise ParameterError("open the test part for this draft first: a decision rests on its figures")
        return evaluation


def policy_text(ground: Ground, state: State) -> str:
    """Return a ``leastwise.yaml`` with the task, the limits, what is locked, and what buckets are called."""
    said = {key: value for key, value in to_plain(state.limits).items() if value is not None and value != {}}
    budget = said if said.keys() != {"confidence"} else {}  # which is none by itself
    held = {key: value for key, value in to_plain(constraints_of(state.sheet)).items() if value}
    named = [attribute for attribute in state.sheet.generalization.schema.attributes if attribute.names]
    names = {attribute.name: names_to_document(attribute.names, attribute.values) for attribute in named}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "label": next((label.name for label in ground.schema.labels), None),
        "personal": [*ground.schema.personal],
        "seed": ground.seed,
        **({"budget": budget} if budget else {}),
        **({"constraints": held} if held else {}),
        **({"names": names} if names else {}),
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
