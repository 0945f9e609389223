"""Policy as code: what is asked of whom and what must be kept, in one file that is reviewed like code."""

from leastwise.policy.policy import Policy, PolicyTask, Processing
from leastwise.policy.template import policy_text

__all__ = ["Policy", "PolicyTask", "Processing", "policy_text"]
