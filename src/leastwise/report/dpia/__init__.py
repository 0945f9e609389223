"""The impact assessment: what is known by measuring, told for those who must answer for it."""

from leastwise.report.dpia.assessing import assess
from leastwise.report.dpia.assessment import Assessment, Part, Statement
from leastwise.report.dpia.mappings import FRAMEWORKS
from leastwise.report.dpia.pia import SCHEMA, pia_document
from leastwise.report.dpia.rendering import FORMATS, render

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
