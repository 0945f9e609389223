"""What a collector installs is pinned and hashed, and a bill of materials names its licences."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("supply_chain", ROOT / "scripts" / "supply_chain.py")
assert spec is not None
assert spec.loader is not None
supply_chain: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(supply_chain)


def pinned(path: Path) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {supply_chain.canonical(name): version for name, version in found}


def test_every_reached_package_is_pinned_and_hashed() -> None:
    constraints, locked = pinned(ROOT / "constraints.txt"), pinned(ROOT / "deploy" / "requirements.txt")
    reached = supply_chain.reached(supply_chain.declared())
    assert reached.keys() <= constraints.keys()
    assert reached.keys() <= locked.keys()
    assert {name: constraints[name] for name in locked} == locked
    text = (ROOT / "deploy" / "requirements.txt").read_text(encoding="utf-8")
    assert all("--hash=sha256:" in part for part in re.split(r"^(?=\S+==)", text, flags=re.MULTILINE)[1:])


# The first release without what is publicly known: templates that run code (jinja2), bodies read as two requests
# (h11), forms and ranges that stop a server (starlette), points that are none (pynacl), files that run
# code (skops, joblib, pyyaml).
SOUND = {
    "h11": "0.16", "jinja2": "3.1.6", "joblib": "1.2", "pynacl": "1.6.2", "pyyaml": "5.4", "skops": "0.12",
    "starlette": "0.49.1",
}  # fmt: skip


def test_floors_lie_above_known_vulnerabilities() -> None:
    asked = {each.name: each.specifier for each in map(Requirement, supply_chain.declared())}
    for name, first in SOUND.items():
        [floor] = asked[name]
        assert floor.operator == ">="
        assert Version(floor.version) >= Version(first), name


def test_the_bill_of_materials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = supply_chain.declared()
    monkeypatch.setattr(supply_chain, "ROOT", tmp_path)
    monkeypatch.setattr(supply_chain, "declared", lambda: declared)
    supply_chain.sbom()
    document = json.loads((tmp_path / "sbom.json").read_text())
    licences = {part["name"]: part["licenses"][0]["license"]["name"] for part in document["components"]}
    assert licences["psycopg"].startswith("LGPL")
    assert not {"not stated", "OSI Approved"} & {*licences.values()}
    assert {"starlette", "uvicorn", "sqlalchemy", "pynacl"} <= licences.keys()
