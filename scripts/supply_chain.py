"""What a collector is made of: hashes of all that it installs, and a bill of materials.

python scripts/supply_chain.py lock     # deploy/requirements.txt: every package, pinned, with its hashes
python scripts/supply_chain.py sbom     # sbom.json: CycloneDX, with licences, of what is installed here
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
EXTRAS = ("collector", "postgresql", "sealed")
PYTHONS, MACHINES = ("3.11", "3.12", "3.13", "3.14"), ("x86_64", "aarch64")
HEAD = """# What a collector installs, with the hashes of its wheels for CPython on Linux.
# Made by `make lock` from constraints.txt; install with pip install --require-hashes.
"""


def canonical(name: str) -> str:
    """Return a package's name as an index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> list[str]:
    """Return what pyproject.toml says that a collector needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"]]
    for extra in (*EXTRAS, "models"):
        needed += [each for each in project["optional-dependencies"][extra] if not each.startswith("leastwise")]
    return needed


def resolved(python: str, machine: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and hash of each wheel that pip would install there."""
    with tempfile.TemporaryDirectory() as folder:
        words = "pip install --quiet --dry-run --ignore-installed --only-binary :all: --constraint constraints.txt"
        command = [sys.executable, "-m", *words.split(), "--report", f"{folder}/report", "--target", folder]
        for kind in ("manylinux_2_17", "manylinux2014", "manylinux_2_28", "manylinux_2_34"):
            command += ["--platform", f"{kind}_{machine}"]
        subprocess.run([*command, "--python-version", python, *declared()], check=True, cwd=ROOT)
        report = json.loads(Path(folder, "report").read_text())
    for item in report["install"]:
        found = item["metadata"]
        yield canonical(found["name"]), found["version"], item["download_info"]["archive_info"]["hashes"]["sha256"]


def lock() -> None:
    """Write what is installed with its hashes, for every Python and machine whose wheels there are."""
    hashes: dict[tuple[str, str], set[str]] = {}
    for python in PYTHONS:
        for machine in MACHINES:
            try:
                for name, version, found in resolved(python, machine):
                    hashes.setdefault((name, version), set()).add(found)
            except subprocess.CalledProcessError:
                print(f"no wheels of everything for Python {python} on {machine}; it is left out", file=sys.stderr)
    pinned = {canonical(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    loose = {name for name, _ in hashes} - pinned
    if loose:
        raise SystemExit(f"not in constraints.txt: {', '.join(sorted(loose))}; add their versions")
    lines = [
        f"{name}=={version} " + " ".join(f"\\\n    --hash=sha256:{one}" for one in sorted(found))
        for (name, version), found in sorted(hashes.items())
    ]
    (ROOT / "deploy" / "requirements.txt").write_text(HEAD + "\n".join(lines) + "\n")


def reached(names: list[str]) -> dict[str, metadata.Distribution]:
    """Return what is installed here of these packages and all that they need."""
    found: dict[str, metadata.Distribution] = {}
    todo = [Requirement(name) for name in names]
    while todo:
        asked = todo.pop()
        key = canonical(asked.name)
        try:
            found[key] = metadata.distribution(asked.name)
        except metadata.PackageNotFoundError:
            continue
        for needed in map(Requirement, found[key].requires or []):
            extras = asked.extras or {""}
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
            if wanted and (canonical(needed.name) not in found or needed.extras):
                todo.append(needed)
    return found


def licence(found: metadata.Distribution) -> str:
    """Return what a package says of its licence."""
    said = found.metadata.get("License-Expression") or found.metadata.get("License") or ""
    classes = [c.split(" :: ")[-1] for c in found.metadata.get_all("Classifier") or [] if c.startswith("License")]
    classes = [name for name in classes if name != "OSI Approved"]  # which one, it does not say
    return said if said and len(said) < 80 else " and ".join(classes) or _headline(found)


def _headline(found: metadata.Distribution) -> str:
    """Return the first line of a package's licence file."""
    for file in found.files or []:
        if "LICENSE" in file.name.upper():
            lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
            return lines[0]
    return "not stated"


def sbom() -> None:
    """Write the bill of materials, and list the licences."""
    parts = reached(declared())
    components = [
        {
            "type": "library",
            "name": name,
            "version": found.version,
            "purl": f"pkg:pypi/{name}@{found.version}",
            "licenses": [{"license": {"name": licence(found)}}],
        }
        for name, found in sorted(parts.items())
    ]
    document = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}
    (ROOT / "sbom.json").write_text(json.dumps(document, indent=1) + "\n")
    for part in components:
        print(f"{part['name']} {part['version']}: {part['licenses'][0]['license']['name']}")


if __name__ == "__main__":
    {"lock": lock, "sbom": sbom}[sys.argv[1]]()
