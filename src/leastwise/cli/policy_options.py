"""``--policy``: what a ``leastwise.yaml`` says where the options of a command are silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.task import Task
from leastwise.errors import ParameterError

if TYPE_CHECKING:
    from leastwise.minimizers import Constraints
    from leastwise.policy import Policy

DataOrPolicy = Annotated[
    str | None,
    typer.Argument(help="CSV, Parquet or NDJSON file; - is stdin. May be left out where the policy names it."),
]


def policy_of(path: Path | None) -> Policy | None:
    """Load the policy that an option names."""
    from leastwise.policy import Policy

    return None if path is None else Policy.load(path)


def constraints_of(policy: Policy | None) -> Constraints | None:
    """Return the constraints of a policy; None where there are none to hold to."""
    from leastwise.minimizers import Constraints

    return None if policy is None or policy.constraints == Constraints() else policy.constraints


def task_of(typed: Mapping[str, Any], policy: Policy | None) -> Task:
    """Return the task of a command's options; what they leave out is taken from the policy."""
    given = {each.name: (typed[each.name], each.default) for each in fields(Task)}
    chosen = {name: value for name, (value, default) in given.items() if value and value != default}
    if policy is not None:
        chosen = {**policy.task.options(), **chosen}
    if chosen.get("data") is None:
        raise ParameterError("name the records: a file behind the command, or data in the policy")
    return Task(**{**chosen, "data": str(chosen["data"])})
