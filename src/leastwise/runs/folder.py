"""The run folder: what was asked, every candidate, the frontier with its judgements, and the choice.

In a finished run a person may choose anew (``choose_again``, ``pick``).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from leastwise.documents import (
    Problems,
    is_leftover,
    read_json,
    read_text,
    remove_leftovers,
    to_plain,
    write_whole,
)
from leastwise.documents.journal import Journal, locked
from leastwise.documents.wording import counted
from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.groups import Groups
from leastwise.evaluation.necessity import Necessity
from leastwise.generalization import Generalization
from leastwise.runs import showing
from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import ID_LENGTH, Candidate, Failure, read_line
from leastwise.runs.choice import PICKED, Choice, budget_in_force, choose, figures_in_words, guesses, verdicts_of
from leastwise.runs.frontier import Frontier
from leastwise.runs.surely import choose_surely, surer_than
from leastwise.runs.task import FRESH, RunTask
from leastwise.schema import Schema
from leastwise.schema.file import load_schema
from leastwise.validation import did_you_mean

TASK, SCHEMA, CANDIDATES, TIMING = "task.json", "schema.yaml", "candidates.jsonl", "timing.jsonl"
FRONTIER, CHOICE, RECOMMENDED = "frontier.json", "choice.json", "recommended.json"
NECESSITY = "necessity.json"
GROUPS = "groups.json"
REPEATS = "repeats.json"
SHARES = "shares.json"
ANEW = f"make the run again: {FRESH}"
LATER = (CHOICE, RECOMMENDED, NECESSITY, GROUPS, REPEATS, SHARES)  # not there before the frontier is
GENERALIZATIONS, EVALUATIONS, WORK = "generalizations", "evaluations", "work"
DIGESTS = "digests.json"
SO_FAR, UNFINISHED = "so_far", "unfinished.json"
REPORTS = ("report.html", "report.md", "report.json", "shares.json")
SAID = (
    "label", "personal", "person", "survey_weights", "seed", "quick", "most", "constraints", "brought", "groups",
)  # fmt: skip
"""What of a task somebody says: named before the data where a run is of another task."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run, as it lies in its folder.

    ``notes`` say what its maker should know, such as columns that were left out; the folder does not hold them.
    """

    folder: Path
    task: RunTask
    schema: Schema
    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    frontier: Frontier
    choice: Choice
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return showing.run_line(self)

    def __str__(self) -> str:
        return "\n".join(showing.conclusion(self))

    def _repr_html_(self) -> str:
        return showing.run_html(self)

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read a run; everything in it is checked, nothing is trusted."""
        path = Path(folder)
        check_run(path)
        task = read_task(path)
        for name in (FRONTIER, CHOICE):
            if not (path / name).is_file():
                raise ParameterError(
                    f"the run in {path} is not finished; the same leastwise run command resumes it"
                )
        schema = load_schema(path / SCHEMA)
        candidates, failures = read_candidates(path, schema)
        run = cls(
            folder=path,
            task=task,
            schema=schema,
            candidates=candidates,
            failures=failures,
            frontier=read_frontier(path, candidates),
            choice=read_choice(path),
        )
        run._check()
        _check_digests(path)
        return run

    def _check(self) -> None:
        named = {point.id for point in self.frontier.points}
        chosen = {self.choice.candidate, self.choice.nearest} - {None}
        if not {*self.frontier.knees, *chosen} <= named:
            raise ArtefactError(f"{self.folder}: its files name candidates that are not on the frontier")
        front, personal = self.frontier, set(self.task.personal)
        ends = (front.untouched, front.suppressed, front.untouched_validation, front.suppressed_validation)
        judged = [*ends, *(part for point in front.points for part in (point.validation, point.test))]
        if any(set(figures.by_attribute) != personal for figures in judged):
            raise ArtefactError(f"{self.folder / FRONTIER}: its figures are not of the personal attributes")
        for point in front.points:
            self._check_size(point)

    def _check_size(self, point: Candidate) -> None:
        """Hold what a candidate is said to ask against its artefact: choices are made by it."""
        sizes = [p.size for p in point.generalization.partitions if not p.suppressed]
        # A number that is asked exactly has as many answers as were given, and says 0: at least one.
        least = sum(size or 1 for size in sizes)
        if point.asked != len(sizes) or point.answers < least or (all(sizes) and point.answers != least):
            raise ArtefactError(f"{self.folder / CANDIDATES}: what candidate {point.id} asks is not what it says")

    @cached_property
    def _by_id(self) -> dict[str, Candidate]:
        return {candidate.id: candidate for candidate in self.candidates}

    @property
    def recommended(self) -> Generalization | None:
        """The artefact that was chosen; None where nothing fits."""
        return None if self.choice.candidate is None else self.generalization(self.choice.candidate)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """What is still to be done where this is what a run has found so far; nothing where it is finished."""
        path = self.folder / UNFINISHED
        return tuple(map(str, json.loads(read_text(path)))) if path.is_file() else ()

    @property
    def necessity(self) -> Necessity | None:
        """Why each question of the recommended artefact is asked; None where that was not found."""
        path, chosen = self.folder / NECESSITY, self.choice.candidate
        necessity = Necessity.load(path) if chosen is not None and path.is_file() else None
        # Whoever chooses anew has no records at hand: what is there may tell of what was chosen before.
        fits = necessity is not None and necessity.fingerprint == self.candidate(chosen or "").fingerprint
        return necessity if fits else None

    @property
    def groups(self) -> Groups | None:
        """How the recommended artefact serves declared groups; None where that was not found."""
        path, chosen = self.folder / GROUPS, self.choice.candidate
        groups = Groups.load(path) if chosen is not None and path.is_file() else None
        fits = groups is not None and groups.fingerprint == self.candidate(chosen or "").fingerprint
        return groups if fits else None

    @property
    def surer(self) -> Candidate | None:
        """Who keeps the limit on the error surely, where that is not told of what was chosen; None for nobody."""
        return surer_than(self.choice, self.frontier)

    @property
    def at_source(self) -> str:
        """What was used of records that stayed where they are, in words; empty where they did not."""
        source = self.task.source
        return "" if source is None else source.sentence(self.frontier.untouched.people)

    def candidate(self, name: str) -> Candidate:
        """Return a candidate by its id."""
        if name not in self._by_id:
            raise ParameterError(f"there is no candidate {shorten(name)} in {self.folder}")
        return self._by_id[name]

    def generalization(self, name: str) -> Generalization:
        """Return the artefact of a candidate that is there to be published, with the domains of the run."""
        candidate, path = self.candidate(name), artefact_path(self.folder, name)
        if not path.is_file():
            return candidate.generalization
        generalization = Generalization.load(path).within(self.schema)
        if generalization.fingerprint != candidate.fingerprint:
            raise ArtefactError(f"{path}: it was changed after it was judged")
        return generalization

    def evaluation(self, name: str) -> Evaluation:
        """Return the full judgement of a candidate of the frontier."""
        path = evaluation_path(self.folder, self.candidate(name).id)
        evaluation = Evaluation.load(path)
        if evaluation.fingerprint != self.candidate(name).fingerprint:
            raise ArtefactError(f"{path}: it judges another generalization")
        return evaluation


def artefact_path(folder: Path, name: str) -> Path:
    """Return where the artefact of a candidate of the frontier lies."""
    return folder / GENERALIZATIONS / f"{name[:ID_LENGTH]}.json"


def evaluation_path(folder: Path, name: str) -> Path:
    """Return where the full judgement of a candidate of the frontier lies."""
    return folder / EVALUATIONS / f"{name[:ID_LENGTH]}.json"


def write_frontier(folder: Path, frontier: Frontier) -> None:
    """Write the frontier, and the digests of all that was judged: figures that are edited later are noticed."""
    text = frontier.to_json()
    judged = [*(folder / GENERALIZATIONS).iterdir(), *(folder / EVALUATIONS).iterdir()]
    judged += [folder / TASK, folder / SCHEMA, folder / CANDIDATES]
    digests = {str(path.relative_to(folder).as_posix()): _digest(path.read_bytes()) for path in sorted(judged)}
    _write_digests(folder, {**digests, FRONTIER: _digest(text.encode())})
    write_whole(folder / FRONTIER, text)


def write_figures(folder: Path, name: str, text: str) -> None:
    """Write what was found or chosen after the frontier, and its digest: who edits it is noticed, too."""
    known = _digests(folder)
    if known is None:  # a run of an earlier release, or made by hand
        write_whole(folder / name, text)
        return
    if known.pop(name, None) is not None:  # a kill between the two must not look like an edit
        _write_digests(folder, known)
    write_whole(folder / name, text)
    _write_digests(folder, {**known, name: _digest(text.encode())})


def _write_digests(folder: Path, digests: Mapping[str, object]) -> None:
    write_whole(folder / DIGESTS, json.dumps(digests, indent=1, sort_keys=True) + "\n")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digests(folder: Path) -> dict[str, object] | None:
    """Return the digests of a run; one of an earlier release has none."""
    if not (folder / DIGESTS).is_file():
        return None
    problems = Problems()
    known = read_json(read_text(folder / DIGESTS), problems)
    if problems.texts or not isinstance(known, dict):
        raise ArtefactError(f"{folder / DIGESTS}: not the digests of a run", problems.texts)
    return known


def _check_digests(folder: Path) -> None:
    """Complain about files that are not as the run left them; what was found later may be missing."""
    known = _digests(folder)
    if known is None:
        return
    for sub in (GENERALIZATIONS, EVALUATIONS):
        known.update(
            {f"{sub}/{path.name}": known.get(f"{sub}/{path.name}") for path in (folder / sub).glob("*.json")}
        )
    for name, digest in known.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ArtefactError(f"{folder / DIGESTS}: it names files outside the run")
        path = folder / name
        if name in LATER and not path.exists():
            continue
        again = "delete it, and give the same leastwise run command again" if name in LATER else ANEW
        _check_digest(path, digest, again)


def _check_digest(path: Path, digest: object, again: str) -> None:
    if not path.is_file() or _digest(path.read_bytes()) != digest:
        raise ArtefactError(f"{path}: it was changed after it was judged; {again}")


def read_task(folder: Path) -> RunTask:
    """Read what was asked; who has edited it since it was judged is noticed by everybody who reads it."""
    known = _digests(folder) or {}
    if TASK in known:
        _check_digest(folder / TASK, known[TASK], ANEW)
    return RunTask.from_json(read_text(folder / TASK), str(folder / TASK))


def read_choice(folder: Path) -> Choice:
    """Read the choice; who has edited it is noticed."""
    known = _digests(folder) or {}
    if CHOICE in known:
        _check_digest(folder / CHOICE, known[CHOICE], "delete it, and give the same leastwise run command again")
    return Choice.from_json(read_text(folder / CHOICE), str(folder / CHOICE))


def read_candidates(folder: Path, schema: Schema) -> tuple[tuple[Candidate, ...], tuple[Failure, ...]]:
    """Read all candidates, and what failed."""
    path = folder / CANDIDATES
    lines = read_text(path).split("\n")
    if lines.pop():
        raise ArtefactError(f"{path}: the last line is torn; the same leastwise run command mends it")
    read = [read_line(line, f"{path}, line {i + 1}", schema) for i, line in enumerate(lines)]
    return (
        tuple(each for each in read if isinstance(each, Candidate)),
        tuple(each for each in read if isinstance(each, Failure)),
    )


def read_frontier(folder: Path, candidates: tuple[Candidate, ...]) -> Frontier:
    """Read the frontier, made of these candidates."""
    by_id = {candidate.id: candidate for candidate in candidates}
    return Frontier.from_json(read_text(folder / FRONTIER), by_id, str(folder / FRONTIER))


def check_run(folder: Path) -> None:
    """Refuse a folder that holds no run."""
    if not (folder / TASK).is_file():
        raise ParameterError(f"{folder} is no run: there is no {TASK}; make one with leastwise run")


def check_folder(folder: Path) -> None:
    """Refuse a folder that is somebody else's."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file; name a folder for the run")
    if not folder.is_dir() or (folder / TASK).is_file():
        return
    if any(not is_leftover(path) for path in folder.iterdir()):
        raise ParameterError(f"{folder} holds other files and no run; name a new or empty folder")


def prepare(folder: Path, task: RunTask, fresh: bool) -> None:
    """Make the folder ready: new, or as a run of the same task left it."""
    known = folder / TASK
    if fresh and known.is_file():
        _clear(folder)
    elif known.is_file():
        check_same(read_task(folder), task, folder)
    # The task comes first: by it a broken run is known. Another budget is no edit.
    write_figures(folder, TASK, task.to_json())
    for sub in (folder, folder / GENERALIZATIONS, folder / EVALUATIONS, folder / WORK):
        sub.mkdir(exist_ok=True)
        remove_leftovers(sub)
    Journal(folder / TIMING).lines()  # cuts off a torn line


def check_same(old: RunTask, new: RunTask, folder: Path) -> None:
    """Refuse another task in the same folder; another budget only chooses anew."""
    before, after = (
        to_plain(replace(task, budget=None, source=task.source and task.source.elsewhere)) for task in (old, new)
    )
    # What is not said is not written: a key may be in one of them only.
    differing = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    if not (folder / FRONTIER).is_file() and _labels_by(old) != _labels_by(new):  # figures are made by it
        differing.append("labels_by")
    if differing:
        # The fingerprint is of the records as they are encoded: it differs by what somebody said, too.
        first = next((key for key in differing if key in SAID), differing[0])
        what = "the data" if first == "fingerprint" else first.replace("_", " ")
        raise ParameterError(
            f"{folder} holds a run of another task ({what} differs); name another one, or begin anew: {FRESH}"
        )


def _labels_by(task: RunTask) -> str:
    return (task.budget or Budget()).labels_by


def _clear(folder: Path) -> None:
    """Remove the files of a run and only those: first what says that it is finished, last what it is."""
    for name in (CHOICE, FRONTIER, DIGESTS, RECOMMENDED, NECESSITY, GROUPS, *REPORTS):
        (folder / name).unlink(missing_ok=True)
    for name in (GENERALIZATIONS, EVALUATIONS, WORK, SO_FAR, f"{SO_FAR}.part"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (CANDIDATES, TIMING, SCHEMA, TASK):
        (folder / name).unlink(missing_ok=True)


def write_choice(folder: Path, choice: Choice) -> None:
    """Write the choice and the artefact that it recommends; where nothing fits, nothing is recommended."""
    if choice.candidate is None:
        (folder / RECOMMENDED).unlink(missing_ok=True)
    else:
        write_figures(folder, RECOMMENDED, read_text(artefact_path(folder, choice.candidate)))
    write_figures(folder, CHOICE, choice.to_json())


# Choosing in a finished run --------------------------------------------------------------------------------------


def choose_again(folder: str | Path, budget: Budget | None, surely: bool = False) -> Run:
    """Choose anew in a finished run, and write the choice; where nothing fits, the earlier one stays.

    ``surely``: only what keeps the limit on the increase of the error surely, by the test part.
    """
    check_run(Path(folder))
    with locked(Path(folder)):
        run = Run.load(folder)
        if budget is not None:
            budget.check(*guesses(run.frontier), run.schema.names)
        choice = choose_surely(run.frontier, budget) if surely else choose(run.frontier, budget, run.candidates)
        if choice.candidate is not None:  # otherwise what was chosen before stays
            run.generalization(choice.candidate)  # complains, before anything is written, if it was not judged
            write_choice(run.folder, choice)
    return replace(run, choice=choice)


def pick(folder: str | Path, name: str, budget: Budget | None = None) -> Run:
    """Make a candidate the choice of a finished run, whether it keeps the limits or not.

    Parameters
    ----------
    folder
        Of the run.
    name
        The id of a candidate that was attacked in full.
    budget
        The limits that it is held against; None for those of the choice before.
    """
    check_run(Path(folder))
    with locked(Path(folder)):
        run = Run.load(folder)
        if budget is not None:
            budget.check(*guesses(run.frontier), run.schema.names)
            budget.check_groups(bool(run.task.groups))
            run = replace(run, choice=_held_against(run, budget))
        choice = _picked(run, attacked(run, name))
        run.generalization(name)  # complains, before anything is written, if it was changed
        write_choice(run.folder, choice)
    return replace(run, choice=choice)


def attacked(run: Run, name: str) -> Candidate:
    """Return a candidate that was attacked in full; complain about one that was not."""
    known = {point.id: point for point in run.frontier.points}
    if name in known:
        return known[name]
    if name in {candidate.id for candidate in run.candidates}:
        raise ParameterError(f"candidate {name} was screened only; pick one that was attacked: {', '.join(known)}")
    raise ParameterError(f"there is no candidate {shorten(name)} in {run.folder}; {did_you_mean(name, known)}")


def _held_against(run: Run, budget: Budget) -> Choice:
    limits = budget_in_force(budget, run.frontier.untouched.number is not None)
    return replace(run.choice, budget=limits, stated=budget.states_limits)


def _picked(run: Run, point: Candidate) -> Choice:
    front, budget, size = run.frontier, run.choice.budget, Size(point.asked, point.answers)
    broken = budget.problems(point.validation, front.untouched_validation.utility_risk, size)
    kept = f"It keeps: {budget.words()}." if not broken else f"It does not keep the limits: {'; '.join(broken)}."
    return replace(
        run.choice,
        candidate=point.id,
        surely=False,
        sentence=(
            f"{PICKED} of {counted(len(front.points), 'attacked candidate')}. On the validation part "
            f"{figures_in_words(point, budget)}. {kept} Where it was picked by figures of the test part, "
            "what these confirm is confirmed by hindsight."
        ),
        fits=not broken,
        binding=(),
        nearest=None,
        verdicts=verdicts_of(point, budget, front),
    )
