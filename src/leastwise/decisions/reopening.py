"""When a decision must be looked at again: what it rests on has changed, or its time is over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from leastwise.decisions.decision import Decision
from leastwise.decisions.signing import signature_of, signer
from leastwise.decisions.storage import DECISION, verify
from leastwise.documents.wording import counted
from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization


def reopened(
    path: str | Path,
    *,
    policy: Mapping[str, str] | None = None,
    in_use: Generalization | None = None,
    data: str = "",
    broken: int = 0,
    signers: Path | None = None,
    today: date | None = None,
) -> list[str]:
    """Say why a decision must be reopened; empty where it stands.

    Parameters
    ----------
    path
        The decision, or the folder of its run.
    policy
        What the policy says now (``Policy.said``); None where there is none.
    in_use
        The generalization that is in use.
    data
        The fingerprint of the sample as it is now; empty where nobody looked.
    broken
        How many figures of a check on newer records are broken.
    signers
        Those who may sign; with them an unsigned decision does not stand.
    today
        The day; by default that of the clock, in UTC.
    """
    place = Path(path)
    place = place / DECISION if place.is_dir() else place
    decision, day = Decision.load(place), today or datetime.now(UTC).date()
    reasons = [*verify(place), *_signature_problems(place, signers)]
    if day >= decision.review:
        reasons.append(f"it was decided on {decision.day} and was to be looked at again by {decision.review}")
    if policy is not None and decision.policy:
        reasons += policy_changes(decision.policy, policy)
    if in_use is not None and in_use.fingerprint != decision.generalization.fingerprint:
        reasons.append(f"{in_use.fingerprint[:12]} is in use, and {decision.id} was decided for")
    if data and data != decision.fingerprints.data:
        reasons.append("the sample is not the one that was decided on: its fingerprint differs")
    if broken:
        reasons.append(f"the check on newer records found {counted(broken, 'figure')} that noise cannot explain")
    return reasons


def policy_changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Say which keys of a policy are not what they were.

    >>> policy_changes({"budget.max_error": "0.2", "seed": "0"}, {"budget.max_error": "0.3", "quick": "True"})
    ["the policy's budget.max_error was '0.2' and is '0.3'", "the policy's seed was '0' and is not said any more",
    "the policy's quick was not said and is 'True'"]
    """
    changes = []
    for key in dict.fromkeys([*before, *now]):
        old, new = before.get(key), now.get(key)
        if old != new:
            was = "not said" if old is None else shorten(old)
            changes.append(
                f"the policy's {key} was {was} and is {'not said any more' if new is None else shorten(new)}"
            )
    return changes


def _signature_problems(path: Path, signers: Path | None) -> list[str]:
    if signers is None and not signature_of(path).is_file():
        return []
    try:
        signer(path, signers)
    except ParameterError as error:
        return [str(error)]
    return []
