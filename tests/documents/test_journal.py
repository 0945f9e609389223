"""A journal has whole lines only, whatever ended the process that wrote it."""

from __future__ import annotations

from pathlib import Path

from leastwise.documents.journal import Journal


def test_a_journal_keeps_whole_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.lines() == []
    journal.append('{"a": "\u2028 is no line end"}\n')
    journal.append("{}\n")
    with journal.path.open("ab") as file:
        file.write(b'{"torn": "\xc3')
    assert journal.lines() == ['{"a": "\u2028 is no line end"}\n', "{}\n"]
    journal.append("3\n")
    assert journal.lines()[-1] == "3\n"
