"""What is assessed, and where its figures come from."""

from __future__ import annotations

from dataclasses import dataclass

from leastwise.decisions.decision import Decision
from leastwise.decisions.history import History
from leastwise.decisions.storage import DECISION, JUDGED
from leastwise.evaluation import Evaluation, Necessity
from leastwise.generalization import Generalization
from leastwise.policy import Policy
from leastwise.runs import Run
from leastwise.runs.nearest import check_chosen

REPORT = "report.html"


@dataclass(frozen=True)
class Subject:
    """What is assessed: the generalization that was decided for, or else the one that a run recommends."""

    run: Run
    policy: Policy
    decision: Decision | None
    generalization: Generalization
    evaluation: Evaluation
    necessity: Necessity | None

    @classmethod
    def of(cls, run: Run, policy: Policy) -> Subject:
        """Read what lies with the run."""
        path = run.folder / DECISION
        decision = Decision.load(path) if path.is_file() else None
        if decision is not None:
            judged = Evaluation.load(run.folder / JUDGED)
            own = run.necessity
            fits = own is not None and own.fingerprint == decision.generalization.fingerprint
            # What is not asked has no domain in a published file; an assessment tells what could have been asked.
            whole = decision.generalization.within(run.schema)
            return cls(run, policy, decision, whole, judged, own if fits else judged.necessity)
        name = check_chosen(run)
        whole = run.generalization(name).within(run.schema)
        return cls(run, policy, None, whole, run.evaluation(name), run.necessity)

    @property
    def earlier(self) -> list[Generalization]:
        """What was decided for before, of the same people."""
        return History.of(self.run.folder).artefacts([self.generalization])

    def source(self, section: str) -> str:
        """Return where figures come from: a section of the report, or the judgement of what was made by hand."""
        by_hand = self.decision is not None and self.decision.candidate is None
        return JUDGED if by_hand else f"{REPORT}#{section}"
