"""Print pip constraints: the lowest version of each dependency that pyproject.toml allows, with its newest fixes.

python scripts/lowest_versions.py > lowest.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FRAMES = {"pandas", "pyarrow", "duckdb"}  # of the tools, only what users bring too must be able to be old


def lowest(requirement: str) -> str:
    """Return the constraint of one requirement, such as ``numpy==1.26.*`` for ``numpy>=1.26``."""
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
    if not found:
        sys.exit(f"{requirement}: a dependency has one lower bound, as in 'numpy>=1.26'; write it so")
    return f"{found[1]}=={found[2]}{'' if '.' in found[2] else '.0'}.*"


groups = PROJECT["optional-dependencies"]
extras = [each for name, group in groups.items() if name not in {"dev", "docs"} for each in group]
frames = [each for each in groups["dev"] if re.split(r"\W", each)[0] in FRAMES]
for requirement in sorted({*PROJECT["dependencies"], *extras, *frames}):
    if not requirement.startswith("leastwise["):
        print(lowest(requirement))
