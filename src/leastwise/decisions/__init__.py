"""Decisions: who decided what, on which figures and why; whether that is still so, and what it was before."""

from leastwise.decisions.deciding import decide
from leastwise.decisions.decision import Broken, Comment, Decision, Fingerprints, Roles
from leastwise.decisions.history import History
from leastwise.decisions.reopening import reopened
from leastwise.decisions.signing import sign, signer
from leastwise.decisions.storage import DECIDED, DECISION, JUDGED, keep_decision, load_decision, verify

__all__ = [
    "DECIDED",
    "DECISION",
    "JUDGED",
    "Broken",
    "Comment",
    "Decision",
    "Fingerprints",
    "History",
    "Roles",
    "decide",
    "keep_decision",
    "load_decision",
    "reopened",
    "sign",
    "signer",
    "verify",
]
