"""Everything that was clicked is also a script: the same artefact, byte for byte."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hypothesis import given, settings

from leastwise import Generalization
from leastwise.studio import Room, as_commands, as_python
from tests.strategies import generalizations


@settings(deadline=None)
@given(generalizations())
def test_the_python_makes_the_same_bytes(generalization: Generalization) -> None:
    made: dict[str, Generalization] = {}
    exec(as_python(generalization).replace("generalization.save('draft.json')", ""), made)
    assert made["generalization"].to_json() == generalization.to_json()


def test_the_commands_write_the_same_bytes(room: Room, tmp_path: Path) -> None:
    room.do({"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}, 0)
    text = as_commands(room.draft, "some people's.csv", "run/schema.yaml", 3, True)
    *writing, judging = text.splitlines(keepends=True)
    words = "--schema run/schema.yaml --seed 3 --quick"
    assert judging == f"leastwise evaluate draft.json 'some people'\"'\"'s.csv' {words}\n"
    subprocess.run(["sh", "-c", "".join(writing)], cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"]})
    assert (tmp_path / "draft.json").read_bytes() == room.draft.to_json().encode()
    assert (room.book.folder / "draft.json").read_bytes() == room.draft.to_json().encode()
