"""A Node process that generalizes records with the exported JavaScript, one line of JSON each way."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leastwise import Generalization
from leastwise.exports.javascript import plan, to_javascript

SERVER = """
import { createInterface } from "node:readline";
import { generalizer, UnknownValueError } from "./module.mjs";

const special = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const revive = (key, value) => (value && value.$number ? special[value.$number] : value);
const name = (number) => ({ $number: number > 0 ? "inf" : "-inf" });
const replace = (key, value) => (Math.abs(value) === Infinity ? name(value) : value);

function one(generalize, record, options) {
  try {
    return { record: generalize(record, options) };
  } catch (error) {
    if (!(error instanceof UnknownValueError)) throw error;
    return { error: error.attribute };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { plan, records, options } = JSON.parse(line, revive);
  const generalize = generalizer(plan);
  console.log(JSON.stringify(records.map((record) => one(generalize, record, options)), replace));
}
"""


class Node:
    """A running process."""

    def __init__(self, folder: Path) -> None:
        (folder / "module.mjs").write_text(to_javascript(Generalization(())), encoding="utf-8")
        (folder / "server.mjs").write_text(SERVER, encoding="utf-8")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self.process = subprocess.Popen(["node", str(folder / "server.mjs")], **pipes)  # type: ignore[call-overload]

    def generalize(self, g: Generalization, records: list[dict[str, Any]], **options: str) -> list[dict[str, Any]]:
        request = {"plan": plan(g), "records": [_sendable(record) for record in records], "options": options}
        self.process.stdin.write(json.dumps(request, allow_nan=False) + "\n")
        self.process.stdin.flush()
        return [_received(answer) for answer in json.loads(self.process.stdout.readline())]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(timeout=10) == 0


def _sendable(record: dict[str, Any]) -> dict[str, Any]:
    def one(value: Any) -> Any:
        return {"$number": str(value)} if isinstance(value, float) and not math.isfinite(value) else value

    return {name: one(value) for name, value in record.items()}


def _received(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        return answer
    row = answer["record"]
    return {"record": {k: float(v["$number"]) if isinstance(v, dict) else v for k, v in row.items()}}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    running = Node(tmp_path_factory.mktemp("node"))
    yield running
    running.close()
