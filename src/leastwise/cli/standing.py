"""What a check asks of the decision behind a generalization: does it stand, and what was in use before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leastwise.errors import ParameterError, UnknownValueError

if TYPE_CHECKING:
    import polars as pl

    from leastwise.checks import Check
    from leastwise.generalization import Generalization
    from leastwise.policy import Policy


def ever_in_use(agreed: Policy, folder: Path, chosen: Generalization) -> list[Generalization]:
    """Return all other generalizations that decisions of the project put to use: the same people were asked."""
    from leastwise.decisions import History

    if agreed.decision is None:
        return []
    return [each for each in History.of(folder).artefacts([chosen]) if same_questions(each, chosen)]


def same_questions(one: Generalization, other: Generalization) -> bool:
    """Return whether two are of the same attributes; one of another form cannot be held against this one."""
    return set(one.schema.names) == set(other.schema.names)


def reasons_to_reopen(
    agreed: Policy, chosen: Generalization, frame: pl.DataFrame | None, outcome: Check | None
) -> tuple[str, ...]:
    """Say why the policy's decision must be reopened; nothing where there is none, or where it stands."""
    from leastwise.decisions import reopened

    if agreed.decision is None:
        return ()
    if not agreed.decision.exists():
        raise ParameterError(f"{agreed.decision}: there is no such decision; make one with: leastwise decide")
    return tuple(
        reopened(
            agreed.decision,
            policy=agreed.said(),
            in_use=chosen,
            data="" if frame is None else _fingerprint(agreed, frame),
            broken=0 if outcome is None else len(outcome.alarms),
            signers=agreed.signers,
        )
    )


def _fingerprint(agreed: Policy, frame: pl.DataFrame) -> str:
    """Return the fingerprint of the sample as the run beside the decision would take it."""
    from leastwise.records.table import Table
    from leastwise.runs.folder import SCHEMA
    from leastwise.runs.task import fingerprint
    from leastwise.schema.file import load_schema

    assert agreed.decision is not None
    place = agreed.decision if agreed.decision.is_dir() else agreed.decision.parent
    if not (place / SCHEMA).is_file():
        return ""
    try:
        schema, task = load_schema(place / SCHEMA), agreed.task
        return fingerprint(Table.from_frame(frame, schema, task.person, task.survey_weights))
    except UnknownValueError:
        return "a value that was not there"  # no fingerprint is equal to it
