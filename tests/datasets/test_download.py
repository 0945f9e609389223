"""Downloads, from a server on this machine or none at all."""

from __future__ import annotations

import io
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

from leastwise import DataError, ParameterError
from leastwise.datasets import download
from leastwise.datasets.download import copy_limited, fetch
from tests.samples import Heard

ADDRESS = "https://example.org/file.zip"


class Answer(io.BytesIO):
    """What a server says, with its headers."""

    def __init__(self, body: bytes, length: int | None = None) -> None:
        super().__init__(body)
        self.headers = Message()
        if length is not None:
            self.headers["Content-Length"] = str(length)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    answers: dict[str, Any] = {}

    def answer(self: object, request: Any, timeout: float) -> Any:
        found = answers.get(request.full_url, URLError("no network"))
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr("urllib.request.OpenerDirector.open", answer)
    return answers


def test_fetch_writes_the_whole_file(server: dict[str, Any], tmp_path: Path) -> None:
    body, heard = b"x" * 3_000_000, Heard()
    server[ADDRESS] = Answer(body, len(body))
    target = fetch(ADDRESS, tmp_path / "a" / "file.zip", progress=heard)
    assert target.read_bytes() == body
    assert heard.steps[-1] == (len(body), len(body))
    assert [path.name for path in target.parent.iterdir()] == ["file.zip"]


def test_a_broken_download_leaves_nothing(server: dict[str, Any], tmp_path: Path) -> None:
    server[ADDRESS] = Answer(b"x" * 10, 20)
    with pytest.raises(DataError, match="broke off at 10 of 20 bytes"):
        fetch(ADDRESS, tmp_path / "file.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_broken_download_keeps_the_old_file(server: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file.zip").write_bytes(b"old")
    server[ADDRESS] = Answer(b"x" * 10, 20)
    with pytest.raises(DataError, match="broke off"):
        fetch(ADDRESS, tmp_path / "file.zip")
    assert (tmp_path / "file.zip").read_bytes() == b"old"


def test_a_download_is_bounded(server: dict[str, Any], tmp_path: Path) -> None:
    server[ADDRESS] = Answer(b"x" * 100)
    with pytest.raises(DataError, match="at most 99 bytes"):
        fetch(ADDRESS, tmp_path / "file.zip", limit=99)
    assert list(tmp_path.iterdir()) == []


def test_without_network_one_line_says_what_to_do(server: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"could not download .*\(no network\); check the network, or download it by"
    ):
        fetch(ADDRESS, tmp_path / "new" / "file.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["http://example.org/a", "file:///etc/hostname", "ftp://example.org/a", "a"])
def test_https_only(address: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must start with https"):
        fetch(address, tmp_path / "file")


def test_a_redirection_must_stay_on_https() -> None:
    from urllib.request import Request

    from leastwise.datasets.download import _HttpsOnly

    with pytest.raises(ParameterError, match="must start with https"):
        _HttpsOnly().redirect_request(Request(ADDRESS), None, 302, "Found", Message(), "http://example.org/a")


def test_a_folder_that_cannot_be_written(server: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    server[ADDRESS] = Answer(b"x")
    with pytest.raises(DataError, match="could not write"):
        fetch(ADDRESS, tmp_path / "file" / "a.zip")


def test_copy_limited_counts() -> None:
    target = io.BytesIO()
    assert copy_limited(io.BytesIO(b"abc"), target, 3) == 3
    assert target.getvalue() == b"abc"


def test_download_by_name(server: dict[str, Any], tmp_path: Path) -> None:
    address = "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/csv_pca.zip"
    server[address] = Answer(b"zip")
    paths = download("acs-income", tmp_path, state="CA", year=2018)
    assert paths == [tmp_path / "2018" / "1-Year" / "csv_pca.zip"]
    with pytest.raises(ParameterError, match="loan has no public address"):
        download("loan", tmp_path)
    with pytest.raises(ParameterError, match="crime has no option 'state'"):
        download("crime", tmp_path, state="CA")
