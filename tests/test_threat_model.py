"""The figures of the threat model page are those that its commands print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from leastwise.cli.main import app
from leastwise.errors import PrivacyLeakWarning
from leastwise.evaluation import Evaluation

PAGE = Path(__file__).parent.parent / "docs" / "threat-model.md"


def run(commands: list[str], folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in commands:
            result = CliRunner().invoke(app, line.removeprefix("leastwise ").split())
            assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("page")
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert block
    with pytest.warns(PrivacyLeakWarning):
        run(block[1].strip().splitlines(), folder)
    return Evaluation.load(folder / "evaluation.json")


@pytest.mark.slow
def test_the_table_is_what_the_commands_print(evaluation: Evaluation) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (A\d) \| .* \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert [name for name, _, _ in rows] == [attack.adversary for attack in evaluation.attacks]
    for name, error, guessing in rows:
        found: Any = evaluation[name]
        measured = found.at(1).mean if name == "A2" else found.adversary_error
        assert float(error) == pytest.approx(measured, abs=0.0101), name
        assert float(guessing) == pytest.approx(found.baseline, abs=0.0051), name


@pytest.mark.slow
def test_the_sentence_is_what_the_certificate_says(evaluation: Evaluation) -> None:
    assert evaluation.certificate is not None
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert any(sentence in page for sentence in evaluation.certificate.sentences())
    predicates = [str(predicate) for predicate in evaluation["A8"].predicates]
    assert any(predicate in page for predicate in predicates)
