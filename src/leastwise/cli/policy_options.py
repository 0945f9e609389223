"""``--policy``: what a ``leastwise.yaml`` says where the options of a command are silent."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

# How a schema is inferred: what a policy says of it has no use beside a schema file that was typed.
INFERENCE = ("drop", "keep", "discrete", "continuous", "at_least")


def policy_of(path: Path | None) -> Policy | None:
    """Load the policy that an option names."""
    from leastwise.policy import Policy

    return None if path is None else Policy.load(path)


def constraints_of(policy: Policy | None) -> Constraints | None:
    """Return the constraints of a policy; None where there are none to hold to."""
    return None if policy is None or policy.constraints.empty else policy.constraints


def seed_of(typed: int | None, policy: Policy | None) -> int:
    """Return the seed that was typed, or the policy's, or 0."""
    if typed is not None:
        return typed
    return 0 if policy is None else policy.seed


def task_of(context: typer.Context, policy: Policy | None) -> Task:
    """Return the task of a command's options; what was not typed is taken from the policy."""
    chosen = {each.name: context.params[each.name] for each in fields(Task) if _typed(context, each.name)}
    known = {} if policy is None else policy.task.options()
    if "schema" in chosen:
        known = {name: value for name, value in known.items() if name not in INFERENCE}
    chosen = {**known, **chosen}
    if chosen.get("data") is None:
        raise ParameterError("name the records: a file behind the command, or data in the policy")
    return Task(**{**chosen, "data": str(chosen["data"])})


def _typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
