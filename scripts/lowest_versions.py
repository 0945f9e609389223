"""Print pip constraints: the lowest version of each dependency that pyproject.toml allows, with its newest fixes.

python scripts/lowest_versions.py > lowest.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = {"dev", "docs"}  # what only works on the package may be new


def lowest(requirement: str) -> str:
    """Return the constraint of one requirement, such as ``numpy==1.26.*`` for ``numpy>=1.26``."""
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
    if not found:
        sys.exit(f"{requirement}: a dependency has one lower bound, as in 'numpy>=1.26'; write it so")
    return f"{found[1]}=={found[2]}{'' if '.' in found[2] else '.0'}.*"


extras = [each for name, group in PROJECT["optional-dependencies"].items() if name not in TOOLS for each in group]
for requirement in [*PROJECT["dependencies"], *extras]:
    if not requirement.startswith("leastwise["):
        print(lowest(requirement))
