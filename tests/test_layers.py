"""Imports point down only: the layers of docs/architecture.md, walked module by module."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leastwise

SOURCE = Path(leastwise.__file__).parent
LAYERS = {
    "errors": 0, "random": 0, "validation": 0, "confidence": 0, "progress": 0, "plugins": 0, "documents": 0,
    "minimizers": 2, "adversaries": 2, "predictors": 2, "kernels": 2,
    "evaluation": 3,
    "runs": 4, "checks": 4, "policy": 4,
    "report": 5, "decisions": 5, "models": 5, "experiments": 5,
    "__main__": 6, "cli": 6, "studio": 6, "collector": 6,
}  # fmt: skip
LANGUAGE = 1  # schema, partition, generalization, records, apply, exports, datasets
FORBIDDEN = {("minimizers", "adversaries"), ("adversaries", "minimizers"), ("predictors", "minimizers"),
             ("predictors", "adversaries"), ("kernels", "minimizers"), ("kernels", "adversaries"),
             ("kernels", "predictors")}  # fmt: skip
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("leastwise"):
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("leastwise.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    relative = path.relative_to(SOURCE)
    part = relative.parts[0].removesuffix(".py")
    for module in imports(path):
        target = part_of(module)
        if target in ("", "__version__") or target == part:
            continue
        assert LAYERS.get(target, LANGUAGE) <= LAYERS.get(part, LANGUAGE), f"{relative} imports {module}"
        assert (part, target) not in FORBIDDEN, f"{relative} imports {module}"


def test_the_page_names_every_room_in_its_layer() -> None:
    page = (SOURCE.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-6]) \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    told = {name: int(layer) for layer, rooms in rows for name in re.findall(r"`(\w+)/?`", rooms)}
    there = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if not path.name.startswith(("__", "py."))}
    assert told == {name: LAYERS.get(name, LANGUAGE) for name in there}


def test_exports_are_honest() -> None:
    assert leastwise.__all__ == sorted(leastwise.__all__)
    for name in leastwise.__all__:
        assert getattr(leastwise, name) is not None


def test_the_door_does_not_open_the_heavy_rooms() -> None:
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'torch', 'polars'}"
    code = f"import leastwise, sys; print({heavy} & {{*sys.modules}} or 'none')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "none"
