"""Where decisions lie, and whether what they rest on is still there as it was, byte by byte."""

from __future__ import annotations

from pathlib import Path

from leastwise.decisions.deciding import REPORT, read_facts
from leastwise.decisions.decision import Decision, Fingerprints, digest, report_digest
from leastwise.documents import read_text, write_whole
from leastwise.errors import ArtefactError, ParameterError
from leastwise.evaluation import Evaluation
from leastwise.runs.folder import read_task

DECISION, DECIDED, JUDGED = "decision.json", "decided.json", "decided-evaluation.json"
EARLIER = "decisions"
"""The folder of the decisions that another one of the same run replaced."""


def keep_decision(decision: Decision, evaluation: Evaluation, folder: str | Path) -> Path:
    """Write a decision into the folder of its run, with the artefact and its judgement; return its path.

    One that was there before is kept, by its date, in the folder ``decisions``.
    """
    place = Path(folder)
    if digest(evaluation.to_json()) != decision.fingerprints.evaluation:
        raise ParameterError("the evaluation must be the one that was decided on")
    _set_aside(place)
    write_whole(place / DECIDED, decision.generalization.to_json())
    evaluation.save(place / JUDGED)
    decision.save(place / DECISION)
    return place / DECISION


def _set_aside(folder: Path) -> None:
    path = folder / DECISION
    if not path.is_file():
        return
    old = Decision.load(path)
    (folder / EARLIER).mkdir(exist_ok=True)
    stem, number = f"{old.day}-{old.id}", 1
    while (to := folder / EARLIER / f"{stem}{'' if number == 1 else f'-{number}'}.json").exists():
        number += 1
    write_whole(to, read_text(path))
    signature = path.with_name(f"{path.name}.sig")
    if signature.is_file():
        signature.replace(to.with_name(f"{to.name}.sig"))


def load_decision(path: str | Path) -> Decision:
    """Read a decision from its file, or from the folder of its run."""
    place = Path(path)
    return Decision.load(place / DECISION if place.is_dir() else place)


def verify(path: str | Path) -> list[str]:
    """Say what is not as it was decided on: artefact, judgement, report, records of the run. Empty: all is.

    Parameters
    ----------
    path
        The decision, or the folder of its run; what it rests on lies beside it.
    """
    place = Path(path)
    place = place / DECISION if place.is_dir() else place
    decision, folder = Decision.load(place), place.parent
    prints, problems = decision.fingerprints, []
    own = digest(decision.generalization.to_json())
    if own != prints.artefact:
        problems.append(f"{place.name}: the generalization in it is not the one that was decided on")
    for name, known in ((DECIDED, prints.artefact), (JUDGED, prints.evaluation)):
        if problem := _changed(folder / name, known):
            problems.append(problem)
    return [*problems, *_report_problems(folder, prints), *_data_problems(folder, prints.data)]


def _changed(path: Path, known: str) -> str:
    if not path.is_file():
        return f"{path.name}: it is gone"
    return "" if digest(path.read_bytes()) == known else f"{path.name}: it was changed after the decision"


def _report_problems(folder: Path, known: Fingerprints) -> list[str]:
    if not known.report:
        return []
    path = folder / REPORT
    if not path.is_file():
        return [f"{REPORT}: it is gone"]
    try:
        facts = read_facts(path)
    except ArtefactError:
        return [f"{REPORT}: it was changed after the decision"]
    if report_digest(facts, known.not_known) != known.report:
        return [f"{REPORT}: it was changed after the decision"]
    return _renderings(folder, facts)


def _renderings(folder: Path, facts: dict[str, object]) -> list[str]:
    """Hold the pages against the facts: one that is there says what these say, and nothing else."""
    from leastwise.report import FORMATS

    problems = []
    for kind, render in FORMATS.items():
        path = folder / f"report.{kind}"
        if path.is_file() and not _says(path, render(facts)):
            problems.append(
                f"{path.name}: it does not say what {REPORT} says; make it again with: leastwise report. Where "
                "that does not help, more is known by now than was decided on: decide again"
            )
    return problems


def _says(path: Path, text: str) -> bool:
    try:
        return read_text(path) == text
    except ArtefactError:  # a changed byte need not be text any more
        return False


def _data_problems(folder: Path, known: str) -> list[str]:
    try:
        task = read_task(folder)
    except ArtefactError as error:
        return [str(error)]
    if task.fingerprint == known:
        return []
    return ["task.json: the run beside it is of other records than those that were decided on"]
