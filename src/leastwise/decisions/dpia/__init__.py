"""The impact assessment: what is known by measuring, told for those who must answer for it."""

from leastwise.decisions.dpia.assessing import assess
from leastwise.decisions.dpia.assessment import Assessment, Part, Statement
from leastwise.decisions.dpia.mappings import FRAMEWORKS
from leastwise.decisions.dpia.pia import SCHEMA, pia_document
from leastwise.decisions.dpia.rendering import FORMATS, render

__all__ = [
    "FORMATS",
    "FRAMEWORKS",
    "SCHEMA",
    "Assessment",
    "Part",
    "Statement",
    "assess",
    "pia_document",
    "render",
]
