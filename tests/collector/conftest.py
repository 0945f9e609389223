"""All collectors of these tests have one secret; where it comes from is tested by those who take it away."""

import pytest

from tests.collector.faults import TABLE, render


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASTWISE_SECRET", "0123456789abcdef" * 4)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TABLE:
        terminalreporter.section("faults")
        for line in render(TABLE):
            terminalreporter.write_line(line)
