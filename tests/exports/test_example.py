"""The numbered example of the exports runs as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "04_exports.py"


def test_it_runs(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert "[('0 to 24', 'at a company or for myself'), ('25 to 63', 'I do not work')]" in printed
    assert "age: a value is not in the declared domain" in printed.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["form.html", "generalize.js", "questions.md"]
