"""What the machine can do for a draft: judge it, improve the rest, round its edges, save answers, find words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from leastwise.documents.wording import counted, percent
from leastwise.errors import LeastwiseError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.live import Estimate, Live
from leastwise.evaluation.protocol import evaluate
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints, at_least, coarsening_path, least, rounded
from leastwise.minimizers.constraints import broken
from leastwise.partition import Partition
from leastwise.partition import suppress as not_asked
from leastwise.progress import Progress
from leastwise.records.table import Split, Table
from leastwise.studio.edits import People, Sheet, apply_edit
from leastwise.studio.locks import constraints_of

Plain = dict[str, Any]

# What counts as equal when proposals are compared: half a point of the estimate's own noise.
ALIKE = 0.001
_STEPS = 24


@dataclass(frozen=True)
class Proposal:
    """Another draft, and what it is better at."""

    words: str
    generalization: Generalization
    estimate: Estimate


@dataclass(frozen=True)
class Help:
    """Proposals, and the fingerprints of all drafts that were looked at to find them: each counts as a look."""

    proposals: tuple[Proposal, ...]
    looked: tuple[str, ...]


def keeps_locks(sheet: Sheet, way: Generalization) -> Generalization:
    """Return a generalization in which whatever question has a lock is as it is on the sheet."""
    for name in {lock.attribute for lock in sheet.locks}:
        way = way.replacing(sheet.generalization[name])
    return way


def judge(
    generalization: Generalization, split: Split, seed: int, quick: bool, looks: int, progress: Progress
) -> str:
    """Judge a draft by the strongest classifier and A1 to A8 on validation; its bound pays for all looks."""
    return _evaluated(generalization, split.on_validation(), seed, quick, looks, progress).to_json()


def open_test(
    generalization: Generalization, table: Table, seed: int, quick: bool, candidates: int, progress: Progress
) -> str:
    """Judge a draft on the test part, as ``leastwise evaluate`` does."""
    return _evaluated(generalization, table, seed, quick, candidates, progress).to_json()


def _evaluated(
    generalization: Generalization,
    records: Table | Split,
    seed: int,
    quick: bool,
    candidates: int,
    progress: Progress,
) -> Evaluation:
    return evaluate(
        generalization, records, None, seed, quick, candidates=candidates, predicates=0, progress=progress
    )


def improve(sheet: Sheet, split: Split, known: Sequence[Generalization], progress: Progress) -> Help:
    """Offer up to three better drafts that keep what is locked.

    Looked at are coarser drafts (the coarsening search from here), and the run's frontier with the locked
    questions put in.
    """
    live, held = Live(split), constraints_of(sheet)
    progress.begin("making coarser drafts")
    ways = [*_coarser(sheet.generalization, split.train, held)]
    ways += [keeps_locks(sheet, each.within(split.train.schema)) for each in known]
    distinct = {
        way.fingerprint: way
        for way in ways
        if keeps_locks(sheet, way) == way and not broken(sheet.rules, way, split.train)
    }
    progress.begin("looking at drafts", len(distinct))
    looked = []
    for way in distinct.values():
        looked.append((way, live.estimate(way)))
        progress.advance()
    return Help(tuple(chosen(live.estimate(sheet.generalization), looked)), tuple(distinct))


def _coarser(start: Generalization, train: Table, held: Constraints) -> Iterable[Generalization]:
    if len(start.collected) == 0:
        return
    yield from coarsening_path(train, start, steps=_STEPS, constraints=held)


def chosen(now: Estimate, looked: Sequence[tuple[Generalization, Estimate]]) -> list[Proposal]:
    """Return the safest at equal cost, the cheapest at equal safety, and the fewest answers at equal both."""
    safer = [
        each for each in looked
        if each[1].model.error <= now.model.error + ALIKE and each[1].mean.error > now.mean.error + ALIKE
    ]  # fmt: skip
    cheaper = [
        each for each in looked
        if each[1].mean.error >= now.mean.error - ALIKE and each[1].model.error < now.model.error - ALIKE
    ]  # fmt: skip
    fewer = [
        each for each in looked
        if each[1].mean.error >= now.mean.error - ALIKE
        and each[1].model.error <= now.model.error + ALIKE
        and each[1].answers < now.answers
    ]  # fmt: skip
    proposals = []
    if safer:
        proposals.append(Proposal("Safer, at the same cost", *max(safer, key=lambda each: each[1].mean.error)))
    if cheaper:
        proposals.append(Proposal("Cheaper, as safe", *min(cheaper, key=lambda each: each[1].model.error)))
    if fewer:
        proposals.append(Proposal("Fewer answers, and no worse", *min(fewer, key=lambda each: each[1].answers)))
    return [
        one
        for i, one in enumerate(proposals)
        if one.generalization not in [each.generalization for each in proposals[:i]]
    ]


def round_edges(sheet: Sheet, split: Split, progress: Progress) -> Help:
    """Move edges to round places where validation cannot tell them apart."""
    progress.begin("rounding the edges")
    way = rounded(split.train, split.validation, sheet.generalization, constraints=constraints_of(sheet))
    return _offered("Round edges", sheet, way, split)


def fewer_answers(sheet: Sheet, split: Split, progress: Progress) -> Help:
    """Merge what the records cannot tell apart."""
    progress.begin("merging what cannot be told apart")
    way = least(split.train, split.validation, sheet.generalization, constraints=constraints_of(sheet))
    return _offered("Fewer answers for the same error", sheet, way, split)


def fill_buckets(sheet: Sheet, split: Split, fewest: int, progress: Progress) -> Help:
    """Merge buckets until none is used by fewer people than that."""
    progress.begin(f"merging buckets below {fewest:,} people")
    way = at_least(sheet.generalization, split.train, bucket=fewest)
    return _offered(f"No bucket below {fewest:,} people", sheet, way, split)


def _offered(words: str, sheet: Sheet, way: Generalization, split: Split) -> Help:
    before = sheet.generalization
    partitions: list[Partition] = [
        own if own != new and any(lock.attribute == own.attribute.name for lock in sheet.locks) else new
        for own, new in zip(before.partitions, way.partitions, strict=True)
    ]
    way = replace(before, partitions=tuple(partitions))
    proposals = () if way == before else (Proposal(words, way, Live(split).estimate(way)),)
    return Help(proposals, (way.fingerprint,))


def why(sheet: Sheet, name: str, bucket: int, people: Callable[[str], People]) -> dict[str, Generalization]:
    """Return the drafts in which a bucket is merged with a neighbour or split, by what was done to it."""
    partition, drafts = sheet.generalization[name], {}
    labels = partition.labels
    ways = [({"kind": "merge", "first": bucket - 1, "second": bucket}, "merged with “{}”", bucket - 1)]
    ways += [({"kind": "merge", "first": bucket, "second": bucket + 1}, "merged with “{}”", bucket + 1)]
    ways += [({"kind": "split", "bucket": bucket}, "split in two", bucket)]
    free = replace(sheet, locks=frozenset())  # what is locked may be asked about
    for edit, words, other in ways:
        if 0 <= bucket < len(labels) and 0 <= other < len(labels):
            with suppress(LeastwiseError):  # a number and "missing" far away from it; a single value
                way = apply_edit(free, {**edit, "attribute": name}, people).generalization
                drafts[words.format(labels[other])] = way
    return drafts


def without_each(draft: Generalization) -> list[str]:
    """Return the fingerprints of the drafts without one of the questions."""
    asked = [partition.attribute for partition in draft.partitions if not partition.suppressed]
    return [draft.replacing(not_asked(attribute)).fingerprint for attribute in asked]


def rationale(question: Plain, card: Plain, figures: Plain, worth: Plain | None = None) -> str:
    """Say why a question is asked as it is, or not; what it is worth is said where it was weighed."""
    name, told = question["name"], figures["attributes"].get(question["name"])
    parts = [_how(name, card)]
    if worth is not None:
        parts.append(_helps(worth))
    if told is not None:
        parts.append(_tells(told))
    return " ".join(part for part in parts if part)


def _how(name: str, card: Plain) -> str:
    if card["asked"] == "dropped":
        return f"{name} is not asked."
    if card["asked"] == "full":
        return f"{name} is asked in full."
    labels = [bucket["name"] or bucket["label"] for bucket in card["buckets"]]
    listed = ", ".join(f"“{label}”" for label in labels[:6])
    more = f" and {len(labels) - 6} more" if len(labels) > 6 else ""
    return f"{name} is asked with {counted(len(labels), 'answer')}: {listed}{more}."


def _helps(worth: Plain) -> str:
    if worth["loss"] <= 2 * worth["error"]:
        return "Without it the model would not err more often, as far as these people tell."
    return f"Without it the model errs {100 * worth['loss']:.1f} points more often."


def _tells(told: Plain) -> str:
    better = told["guessing"] - told["error"]
    known = f"An attacker who steals the answers is wrong about it {percent(told['error'])} of the time"
    if better <= 0.002:
        return f"{known}, as often as by guessing."
    return f"{known}; guessing is wrong {percent(told['guessing'])} of the time."
