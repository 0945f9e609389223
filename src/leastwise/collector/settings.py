"""What an operator may decide about a collector."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from leastwise.errors import ParameterError
from leastwise.validation import check_between

TOKEN_VARIABLE = "LEASTWISE_TOKEN"  # noqa: S105 - the name of a variable, not a token
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Settings:
    """The limits of a collector, and the token that opens its export.

    Parameters
    ----------
    with_label
        Whether a record may carry the label of the artefact.
    body_limit
        The largest request in bytes; a larger one is answered 413.
    batch_limit
        The most records in one request; more are answered 413.
    rate
        Requests a minute that one client address may make on average, with bursts of as many; 0 is no limit.
    body_seconds
        How long a client may take to send its request.
    waiting
        How many requests may wait for the store before others are answered 503.
    token
        Opens ``GET /records``. Never shown: not in its ``repr``, not in a log.
    """

    with_label: bool = False
    body_limit: int = 1_000_000
    batch_limit: int = 1_000
    rate: float = 600.0
    body_seconds: float = 30.0
    waiting: int = 10_000
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_between("the body limit", self.body_limit, 1_000)
        check_between("the batch limit", self.batch_limit, 1)
        check_between("the rate", float(self.rate), 0.0)
        check_between("the seconds for a body", float(self.body_seconds), 0.1)
        check_between("the waiting requests", self.waiting, 1)
        if self.token is not None and (len(self.token) < SHORTEST_TOKEN or not self.token.isascii()):
            raise ParameterError(
                f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} ASCII characters, so that nobody guesses it"
            )


def token_from_environment() -> str | None:
    """Return the token; an empty variable is none."""
    return os.environ.get(TOKEN_VARIABLE) or None
