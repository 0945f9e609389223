"""An assessment is made of a run with a decision beside it."""

from tests.decisions.conftest import decision, run

__all__ = ["decision", "run"]
