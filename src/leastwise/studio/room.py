"""The room: a run, its records, the state on disk and the live figures, behind what a page asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from leastwise.documents import to_plain
from leastwise.errors import ParameterError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.live import Live
from leastwise.generalization import Generalization
from leastwise.minimizers.constraints import broken
from leastwise.runs.folder import SCHEMA
from leastwise.schema.names import names_to_document
from leastwise.studio import facts, helping, script
from leastwise.studio.edits import People, Sheet, apply_edit
from leastwise.studio.helping import rationale
from leastwise.studio.history import Event, State
from leastwise.studio.jobs import Jobs
from leastwise.studio.opening import Ground
from leastwise.studio.workbook import Workbook

Plain = dict[str, Any]
ARTEFACT = "draft.json"
_REMEMBERED = 256


class Room:
    """What the pages of one studio share; whoever holds ``alone`` sees a state that nobody changes meanwhile."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.split = ground, ground.split()
        self.live, self.jobs = Live(self.split), Jobs()
        names = {attribute.name: attribute.names for attribute in ground.schema.attributes}
        start = ground.start().within(ground.schema).with_names(names)
        first = State(sheet=Sheet(self._own(start)), limits=ground.budget, looked=frozenset({start.fingerprint}))
        self.book = Workbook(ground.folder, first, self.people)
        if ground.limits is not None and ground.limits != self.state.limits:  # the policy has changed since
            self.book.commit({"do": "limits", "limits": to_plain(ground.limits)})
        if ground.rules is not None and to_plain(ground.rules) != to_plain(self.state.sheet.rules):
            self.book.commit({"do": "policy", "constraints": to_plain(ground.rules)})
        self._take_names()
        self._figures: OrderedDict[str, Any] = OrderedDict()
        self._peeked: dict[str, None] = {}
        self.alone, self._beside = threading.RLock(), threading.Lock()
        self._other, self._worths = Live(self.split), dict[str, Plain]()

    def _take_names(self) -> None:
        """Call buckets as the policy does, once: what is called otherwise later stays so."""
        told = {
            name: names_to_document(names, self.ground.schema[name].values)
            for name, names in self.ground.names.items()
        }
        if told and told != self.state.called:
            self.book.commit({"do": "names", "names": told})

    def _own(self, generalization: Generalization) -> Generalization:
        origin = {"minimizer": "studio", "chosen_on": "validation", "split_seed": self.ground.seed}
        return replace(generalization.within(self.ground.schema), origin=origin)

    def people(self, name: str) -> People:
        """Return how many people have each value, among those who may be looked at."""
        j = self.ground.schema.position(name)
        return People(self.live.pool.levels[j], self.live.pool.use(j))

    @property
    def state(self) -> State:
        """The state now."""
        return self.book.state

    @property
    def looks(self) -> int:
        """How many drafts somebody saw the figures of, or chose by."""
        with self.alone:
            return len(self.state.looked | {*self._peeked})

    @property
    def draft(self) -> Generalization:
        """The artefact that is drawn now."""
        return self._own(self.state.sheet.generalization)

    @cached_property
    def questions(self) -> list[Plain]:
        """What never changes of each question."""
        return [facts.question(self.live.pool, j) for j in range(len(self.ground.schema))]

    def opening(self) -> Plain:
        """Return what the page needs once."""
        label = self.ground.schema.label
        assert label is not None
        self.ground.look()
        run, best = self.ground.run, self.ground.best
        return {
            "title": self.ground.name,
            "folder": str(self.ground.folder),
            "label": {"name": label.name, "classes": list(label.values)},
            "questions": self.questions,
            **self._ends(),
            "best": None if best is None else facts.figures(best.validation, best.asked, best.answers),
            "frontier": [] if run is None else facts.frontier(run),
            "unchosen": "" if run is None else facts.unchosen(run),
            "people": {
                "looked": round(self.live.pool.unweighted.headcount),
                "sealed": round(self.split.test.unweighted.headcount),
            },
            "tested": 0 if run is None else len(run.frontier.points),
            "going": self.ground.words(),
        }

    def _ends(self) -> Plain:
        """Return the figures of everything asked and of nothing: judged by the run, or estimated until it is."""
        run, schema = self.ground.run, self.ground.schema
        if run is not None:
            front, many = run.frontier, len(schema)
            before = facts.figures(front.untouched_validation, many, 0)
            return {"before": before, "nothing": facts.figures(front.suppressed_validation, 0, 0)}
        before, nothing = (
            self.figures(end) for end in (Generalization.untouched(schema), Generalization.suppressed(schema))
        )
        # Counting is weak where everything is asked; but who sees more can coarsen, to the draft at least.
        seen = self.figures(self.draft)["model"]
        best = min(before["model"], seen, key=lambda told: float(told["error"]))
        return {"before": {**before, "model": best}, "nothing": nothing}

    def now(self) -> Plain:
        """Return everything that may change: the cards, the figures, the history, the shelf, the words."""
        with self.alone:
            state = self.state
            return {
                "version": state.version,
                "cards": [facts.card(self.live.pool, j, state.sheet) for j in range(len(self.ground.schema))],
                "figures": self.figures(state.sheet.generalization),
                "judged": self.judgement(self.draft),
                "history": facts.history(state),
                "limits": facts.limits(state.limits),
                "breaches": self.breaches(),
                "shelf": facts.shelf(state, [self.figures(each.sheet.generalization) for each in state.shelf]),
                "looks": self.looks,
                "opened": [each[:12] for each in state.opened],
                "final": self.judgement(self.draft, "test"),
                "words": {**vars(state.words), "rationale": dict(state.words.rationale)},
                "proposed": self.proposed_words(),
                "approved": state.approved == state.signed,
                "fingerprint": state.sheet.generalization.fingerprint[:12],
                "job": self.jobs.facts(),
            }

    def breaches(self) -> list[str]:
        """Return what the draft breaks of what the policy says."""
        return broken(self.state.sheet.rules, self.state.sheet.generalization, self.split.train)

    def proposed_words(self) -> dict[str, str]:
        """Return what could be said of each question."""
        sheet, words = self.state.sheet, {}
        figures = self.figures(sheet.generalization)
        worth = self._worths.get(sheet.generalization.fingerprint, {})
        for j, question in enumerate(self.questions):
            name = question["name"]
            words[name] = rationale(question, facts.card(self.live.pool, j, sheet), figures, worth.get(name))
        return words

    def figures(self, generalization: Generalization) -> Plain:
        """Return the live figures of a draft; they are counted once."""
        with self.alone:
            looks = self.looks
            key = generalization.fingerprint
            if key not in self._figures:
                self._figures[key] = self.live.estimate(generalization, looks)
                while len(self._figures) > _REMEMBERED:
                    self._figures.popitem(last=False)
            return facts.estimated(self.live.with_looks(self._figures[key], looks))

    def do(self, event: Event, version: int | None) -> Plain:
        """Commit an event, and return everything anew."""
        with self.alone:
            self.book.commit({**event, "peeked": [*self._peeked]} if self._peeked else event, version)
            self._peeked.clear()
            self.book.write(ARTEFACT, self.draft.to_json())
            return self.now()

    def note_looks(self, fingerprints: Iterable[str]) -> None:
        """Count drafts whose figures somebody sees, or chose by."""
        with self.alone:
            self._peeked.update(dict.fromkeys(fingerprints))

    def preview(self, edit: Mapping[str, Any]) -> Plain:
        """Return what an edit would change, without doing it; it counts as a look."""
        with self.alone:
            sheet = apply_edit(self.state.sheet, edit, self.people)
            self.note_looks([sheet.generalization.fingerprint])
            j = self.ground.schema.position(str(edit["attribute"]))
            figures = self.figures(sheet.generalization)
            return {
                "attribute": edit["attribute"],
                "card": facts.card(self.live.pool, j, sheet),
                "figures": figures,
            }

    def compare(self, ids: list[int]) -> list[Plain]:
        """Return the buckets and figures of up to three drafts of the shelf; 0 is what is drawn now."""
        if not 1 <= len(ids) <= 3:
            raise ParameterError("compare two or three drafts")
        kept = {each.id: (each.name, each.sheet) for each in self.state.shelf}
        kept[0] = ("The draft now", self.state.sheet)
        missing = [each for each in ids if each not in kept]
        if missing:
            raise ParameterError(f"there is no draft {missing[0]} on the shelf")
        return [
            {
                "id": each,
                "name": kept[each][0],
                "figures": self.figures(kept[each][1].generalization),
                "cards": [facts.card(self.live.pool, j, kept[each][1]) for j in range(len(self.ground.schema))],
            }
            for each in ids
        ]

    def candidate(self, name: str) -> Event:
        """Return the event that loads a candidate of the run."""
        if self.ground.run is None:
            raise ParameterError("the run is still going on; it has no candidates yet")
        point = self.ground.run.candidate(name)
        return {
            "do": "load",
            "generalization": self._own(point.generalization).to_document(),
            "words": point.words,
        }

    def worth(self) -> Plain:
        """Return what each question is worth to the model and tells an attacker: the draft with and without it.

        It is counted beside the live figures, so that nobody waits for it. The drafts without one question are
        counted on the same people, and their figures are told: each of them is a look.
        """
        with self._beside:
            draft = self.draft
            worths = self._worths.get(draft.fingerprint)
            if worths is None:
                worths = {name: facts.worth(each) for name, each in self._other.worth(draft).items()}
                self._worths = {draft.fingerprint: worths}
        self.note_looks(helping.without_each(draft))
        with self.alone:
            return {
                "fingerprint": draft.fingerprint[:12],
                "worth": worths,
                "proposed": self.proposed_words(),
                "looks": self.looks,
                "figures": self.figures(draft),
            }

    def why(self, name: str, bucket: int) -> list[Plain]:
        """Return what merging or splitting a bucket would change; the figures of each way count as a look."""
        if name not in self.ground.schema.names:
            raise ParameterError("there is no such question")
        with self.alone:
            ways = helping.why(self.state.sheet, name, bucket, self.people)
            self.note_looks(way.fingerprint for way in ways.values())
            return [{"words": words, "figures": self.figures(way)} for words, way in ways.items()]

    def scripts(self) -> Plain:
        """Return the draft as a script."""
        ground, draft, schema = self.ground, self.draft, str(self.ground.folder / SCHEMA)
        return {
            "python": script.as_python(draft, ARTEFACT),
            "commands": script.as_commands(draft, ground.name, schema, ground.seed, ground.quick, ARTEFACT),
        }

    def judgement(self, draft: Generalization, part: str = "validation") -> Plain | None:
        """Return the strong judgement of a draft, where there is one."""
        evaluation = self.evaluation(draft, part)
        return None if evaluation is None else facts.judged(evaluation, draft, self.figures(draft)["answers"])

    def evaluation(self, draft: Generalization, part: str = "validation") -> Evaluation | None:
        """Return what the strong judgement of a draft found."""
        path = self._judged(draft.fingerprint, part)
        return Evaluation.load(path) if path.is_file() else None

    def _judged(self, fingerprint: str, part: str) -> Path:
        return self.book.folder / f"{part}-{fingerprint[:12]}.json"

    def keep_judgement(self, text: str, part: str) -> str:
        """Keep a judgement that has come in."""
        evaluation = Evaluation.from_json(text)
        evaluation.save(self._judged(evaluation.fingerprint, part))
        return evaluation.fingerprint[:12]

    def close(self) -> None:
        """End what goes on, and let another process write; what was looked at last is kept with the rest."""
        self.jobs.cancel()
        if self._peeked:
            self.book.commit({"do": "look", "peeked": [*self._peeked]})
            self._peeked.clear()
        self.ground.close()
        self.book.close()
