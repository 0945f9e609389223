"""The options that state a budget; shared by the commands that choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.errors import ParameterError, shorten

if TYPE_CHECKING:
    from leastwise.runs import Budget

MaxErrorIncrease = Annotated[
    float | None,
    typer.Option("--max-error-increase", metavar="0..1", help="By how much the model may err more: 0.01."),
]
MaxError = Annotated[
    float | None, typer.Option("--max-error", metavar="0..1", help="How often the model may err.")
]
MinAdversaryError = Annotated[
    list[str] | None,
    typer.Option(
        "--min-adversary-error",
        metavar="NAME=0..1",
        help="How often A1 must be wrong: sex=0.3, or mean=0.4. Can be repeated.",
    ),
]
MaxUnique = Annotated[
    int | None, typer.Option("--max-unique", metavar="N", help="How many people may be alone with their record.")
]
MaxBuckets = Annotated[
    int | None, typer.Option("--max-buckets", metavar="N", help="How many answers there may be in all.")
]
MaxAsked = Annotated[int | None, typer.Option("--max-asked", metavar="N", help="How many questions there may be.")]


def budget_of(
    max_error_increase: float | None,
    max_error: float | None,
    min_adversary_error: Sequence[str] | None,
    max_unique: int | None,
    max_buckets: int | None,
    max_asked: int | None,
) -> Budget | None:
    """Return the budget that the options state; None where they state nothing."""
    from leastwise.runs import Budget

    found = Budget(
        max_error_increase=max_error_increase,
        max_error=max_error,
        min_adversary_error=_errors(min_adversary_error or ()),
        max_unique=max_unique,
        max_buckets=max_buckets,
        max_asked=max_asked,
    )
    return found if found else None


def _errors(texts: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        for part in text.split(","):
            name, _, number = part.rpartition("=")
            name = name.strip()
            least = _number(number)
            if not name or least is None or name in found:
                must = "state each attribute once, as" if name in found else "must be"
                raise ParameterError(
                    f"--min-adversary-error {must} name=number, as in sex=0.3; got {shorten(part)}"
                )
            found[name] = least
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
