"""The journal of a studio: every commit is a line on the disk before it is answered; one writer at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from leastwise.documents import Problems, read_json, write_whole
from leastwise.documents.journal import Journal, locked
from leastwise.errors import ArtefactError, LeastwiseError, ParameterError
from leastwise.generalization import Generalization
from leastwise.studio.edits import People, Sheet
from leastwise.studio.history import Event, State, replay

FOLDER, JOURNAL = "studio", "journal.jsonl"
FORMAT = {"format": "leastwise-studio", "version": 1}


class ConflictError(ParameterError):
    """Somebody else, in another tab, has changed the draft meanwhile."""


class Workbook:
    """The state of one studio, kept in its run's folder; it holds buckets and words, and nobody's record."""

    def __init__(self, run: Path, start: State, people: Callable[[str], People]) -> None:
        self.folder = run / FOLDER
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._stack, self._people = ExitStack(), people
        self._stack.enter_context(locked(self.folder))
        self._journal, self.state = Journal(self.folder / JOURNAL), start
        try:
            self._replay()
        except BaseException:
            self.close()
            raise

    def _replay(self) -> None:
        lines = self._journal.lines()
        if not lines:
            head = {**FORMAT, "start": self.state.sheet.generalization.to_document()}
            self._append(head)
            return
        head, *events = [self._read(line, i) for i, line in enumerate(lines)]
        if {key: head.get(key) for key in FORMAT} != FORMAT:
            raise ArtefactError(f"{self._journal.path}: not the journal of a studio")
        # The journal goes on from where it began, whatever the run recommends by now.
        self.state = _begun(self.state, head["start"], self._journal.path)
        for number, event in enumerate(events):
            try:
                self.state = replay(self.state, event, self._people)
            except LeastwiseError as error:
                raise ArtefactError(f"{self._journal.path}, line {number + 2}: {error}") from None

    def _read(self, line: str, number: int) -> dict[str, Any]:
        problems = Problems()
        event = read_json(line, problems)
        if problems.texts or not isinstance(event, dict):
            raise ArtefactError(f"{self._journal.path}, line {number + 1}: not an event", problems.texts)
        return event

    def check(self, version: int | None) -> None:
        """Refuse what was meant for another version of the state; None is meant for any."""
        if version is not None and version != self.state.version:
            raise ConflictError(
                "the draft was changed in another window meanwhile; it is shown as it is now, do it again"
            )

    def commit(self, event: Event, version: int | None = None) -> State:
        """Do an event that was meant for a version of the state, and return when it is on the disk."""
        self.check(version)
        after = replay(self.state, event, self._people)
        self._append(dict(event))
        self.state = after
        return after

    def _append(self, content: dict[str, Any]) -> None:
        new = not self._journal.path.exists()
        self._journal.append(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")
        if new:
            os.chmod(self._journal.path, 0o600)

    def write(self, name: str, text: str) -> Path:
        """Write a file beside the journal."""
        write_whole(self.folder / name, text)
        return self.folder / name

    def close(self) -> None:
        """Let another process write."""
        self._stack.close()


def _begun(state: State, document: Any, path: Path) -> State:
    problems = Problems()
    stored = Generalization.from_document(document, ("start",), problems)
    if stored is None:
        raise ArtefactError(f"{path}: its start cannot be read", problems.texts)
    schema = state.sheet.generalization.schema
    start = stored.within(schema).with_names({attribute.name: attribute.names for attribute in schema.attributes})
    return replace(state, sheet=Sheet(start), looked=frozenset({stored.fingerprint}))
