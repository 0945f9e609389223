"""The decision: who decided, why, until when, and what was decided before."""

from __future__ import annotations

from typing import Any

from leastwise.decisions import DECISION, Decision, History
from leastwise.decisions.signing import SUFFIX, signature_of
from leastwise.runs import Run

Facts = dict[str, Any]
SIGNED = f"It is signed: {DECISION}{SUFFIX}. Whether the signature fits is said by: leastwise check."


def decision_facts(run: Run, fingerprint: str) -> Facts | None:
    """Return what was decided on a run; None where nobody has.

    Parameters
    ----------
    fingerprint
        Of the generalization that the report is about.
    """
    path = run.folder / DECISION
    if not path.is_file():
        return None
    found, history = Decision.load(path), History.of(run.folder)
    listing = history.listing()
    return {
        "sentences": [
            *_sentences(found, fingerprint),
            *([SIGNED] if signature_of(path).exists() else []),
        ],
        "same": found.generalization.fingerprint == fingerprint,
        "broken": [f"Decided although {each.limit}: {each.because.rstrip('.')}." for each in found.broken],
        "reasons": {"columns": ["question", "why"], "rows": [[n, text] for n, text in found.rationale.items()]},
        "comments": [_comment(each) for each in found.comments],
        "drawn": [*found.drawn],
        "review": found.review.isoformat(),
        "history": {"columns": list(listing.columns), "rows": listing.rows} if len(listing.rows) > 1 else None,
        "changes": history.sentences() if len(listing.rows) > 1 else [],
    }


def _sentences(decision: Decision, fingerprint: str) -> list[str]:
    roles = decision.roles
    also = [
        f"{what} by {who}" for what, who in (("reviewed", roles.reviewer), ("approved", roles.approver)) if who
    ]
    how = "" if decision.candidate else ", which was made by hand"
    found = [
        f"On {decision.day} {roles.author} decided for {decision.id}{how}"
        f"{', ' + ' and '.join(also) if also else ''}: {decision.because.rstrip('.')}.",
        f"It is to be looked at again by {decision.review}, or when data, policy or figures change.",
    ]
    if decision.generalization.fingerprint != fingerprint:
        found.append(f"This report is about {fingerprint[:12]}, which is not what was decided for.")
    return found


def _comment(comment: Any) -> str:
    about = f" (about {comment.about})" if comment.about else ""
    return f"{comment.by}{about}: {comment.text}"
