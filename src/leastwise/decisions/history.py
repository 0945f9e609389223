"""All decisions of a project in their order, and what each asked more or less than the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from leastwise.decisions.decision import Decision
from leastwise.decisions.storage import DECISION, EARLIER
from leastwise.documents import format_of, read_text
from leastwise.documents.wording import counted, listed, percent
from leastwise.errors import ArtefactError, ParameterError, SchemaError
from leastwise.generalization import Generalization
from leastwise.generalization.describe import how_asked
from leastwise.partition import Partition
from leastwise.runs.folder import TASK

DEEPEST = 3
"""How many folders below a project's own decisions are looked for."""
_NEVER = frozenset({"node_modules", "__pycache__"})


class Listing(NamedTuple):
    """A table: its columns, and a row for each decision."""

    columns: tuple[str, ...]
    rows: list[list[str]]


@dataclass(frozen=True)
class Entry:
    """One decision with the file that it lies in, and what it changed."""

    path: Path
    decision: Decision
    changes: tuple[str, ...]


@dataclass(frozen=True)
class History:
    """The decisions of a project, the oldest first."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, folder: str | Path) -> History:
        """Read all decisions in a folder and those below it; the same one kept twice counts once."""
        decisions: dict[str, tuple[Path, Decision]] = {}
        for path in sorted(_files(Path(folder))):
            text = read_text(path)
            # What lies beside a run must be a decision: one that is damaged is complained of, not passed over.
            if format_of(text) == Decision.FORMAT or (path.parent / TASK).is_file():
                decisions.setdefault(text, (path, Decision.from_json(text, str(path))))
        # One that another replaced on the same day lies in the folder of the earlier ones: it comes first.
        ordered = sorted(decisions.values(), key=lambda pair: (pair[1].date, pair[0].name == DECISION, pair[0]))
        before = [None, *(decision for _, decision in ordered)][: len(ordered)]
        return cls(tuple(Entry(p, d, _changes(old, d)) for (p, d), old in zip(ordered, before, strict=True)))

    def listing(self) -> Listing:
        """Return the history as a table."""
        columns = ("decided", "what", "by", "questions", "answers", "model wrong", "A1 wrong", "look again by")
        return Listing(columns, [_row(entry.decision) for entry in self.entries])

    def sentences(self) -> list[str]:
        """Say of each decision why, and what it asks more or less than the one before."""
        return [
            f"{entry.decision.day}, {entry.decision.id}: {_why(entry.decision)} {' '.join(entry.changes)}".strip()
            for entry in self.entries
        ]

    def artefacts(self, but: Sequence[Generalization] = ()) -> list[Generalization]:
        """Return every generalization that was ever decided for, each once, but for some."""
        known = {each.fingerprint for each in but}
        artefacts: dict[str, Generalization] = {}
        for entry in self.entries:
            each = entry.decision.generalization
            if each.fingerprint not in known:
                artefacts.setdefault(each.fingerprint, each)
        return list(artefacts.values())


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Find what may be a decision; whatever begins with a dot is somebody else's."""
    if not folder.is_dir():
        if depth:
            return
        raise ParameterError(f"{folder} is no folder; name the one that holds the project's runs")
    yield from (path for path in [folder / DECISION] if path.is_file())
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith(".") or path.name in _NEVER:
            continue
        if path.is_dir() and depth < DEEPEST:
            yield from _files(path, depth + 1)
        elif folder.name == EARLIER and path.suffix == ".json" and path.is_file():
            yield path


def _row(decision: Decision) -> list[str]:
    asked, figures = decision.generalization, decision.figures
    answers = asked.total_buckets - len(asked.not_collected)
    exact = any(p.untouched and not p.size for p in asked.partitions)
    return [
        decision.day,
        decision.id + ("" if decision.candidate else ", by hand"),
        decision.roles.author,
        f"{len(asked.collected)} of {len(asked)}",
        f"{answers:,}{' and exact numbers' if exact else ''}",
        percent(figures.utility_risk, 1),
        percent(figures.adversary_error, 1),
        decision.review.isoformat(),
    ]


def _why(decision: Decision) -> str:
    text = f"{decision.because.rstrip('.')}."
    for each in decision.broken:
        text += f" Decided although {each.limit}: {each.because.rstrip('.')}."
    return text


def _changes(before: Decision | None, now: Decision) -> tuple[str, ...]:
    if before is None:
        return (f"The first decision: it asks {counted(len(now.generalization.collected), 'question')}.",)
    try:
        pairs = before.generalization.beside(now.generalization)
    except (SchemaError, ArtefactError) as error:
        return (f"It cannot be compared with the one before: {error}",)
    kept = [(old, new) for old, new in pairs if not old.suppressed and not new.suppressed and old != new]
    told = {
        "It no longer asks": [new.attribute.name for old, new in pairs if new.suppressed and not old.suppressed],
        "It asks anew": [
            f"{n.attribute.name} ({how_asked(n)})" for o, n in pairs if o.suppressed and not n.suppressed
        ],
        "It asks less finely": [_instead(old, new) for old, new in kept if new.is_coarser_than(old)],
        "It asks more finely": [_instead(old, new) for old, new in kept if old.is_coarser_than(new)],
        "It asks otherwise, neither more nor less": [
            new.attribute.name
            for old, new in kept
            if not old.is_coarser_than(new) and not new.is_coarser_than(old)
        ],
    }
    sentences = [f"{what}: {listed(names)}." for what, names in told.items() if names]
    return tuple(sentences) or ("It asks the same as before.",)


def _instead(old: Partition, new: Partition) -> str:
    return f"{new.attribute.name} {how_asked(new)} instead of {how_asked(old)}"
