"""The options that state a budget, for the commands that choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.settings import numbers_by_name

if TYPE_CHECKING:
    from leastwise.runs import Budget


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that most people state."""

    max_error_increase: Annotated[
        float | None,
        typer.Option("--max-error-increase", metavar="0..1", help="By how much the model may err more: 0.01."),
    ] = None
    min_adversary_error: Annotated[
        list[str] | None,
        typer.Option(
            "--min-adversary-error",
            metavar="NAME=0..1",
            help="How often A1 must be wrong: sex=0.3, or mean=0.4. Can be repeated.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MoreLimits:
    """The other limits: flags of ``choose``, settings of ``run``."""

    max_error: Annotated[
        float | None, typer.Option("--max-error", metavar="0..1", help="How often the model may err.")
    ] = None
    max_unique: Annotated[
        int | None,
        typer.Option("--max-unique", metavar="N", help="How many people may be alone with their record."),
    ] = None
    max_buckets: Annotated[
        int | None, typer.Option("--max-buckets", metavar="N", help="How many answers there may be in all.")
    ] = None
    max_asked: Annotated[
        int | None, typer.Option("--max-asked", metavar="N", help="How many questions there may be.")
    ] = None


def budget_of(limits: Limits, more: Mapping[str, Any]) -> Budget | None:
    """Return the budget that the options state; None where they state nothing."""
    from leastwise.runs import Budget

    errors = numbers_by_name("--min-adversary-error", limits.min_adversary_error or ())
    found = Budget(max_error_increase=limits.max_error_increase, min_adversary_error=errors, **more)
    return found if found else None
