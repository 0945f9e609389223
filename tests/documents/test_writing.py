"""Files are there whole or not at all, and stay what they were otherwise."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from leastwise.documents import is_leftover, private_folder, remove_leftovers, whole_file, write_whole


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.json"
    write_whole(path, "old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left") as error:
        write_whole(path, "new")
    assert error.value.filename == str(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "g.json", Path(__file__) / "g.json"):
        with pytest.raises(OSError, match="directory") as error:
            write_whole(path, "text")
        assert error.value.filename == str(path)


@pytest.mark.skipif(os.name != "posix", reason="needs modes, links and pipes as POSIX has them")
def test_a_mode_a_link_and_a_pipe_stay(tmp_path: Path) -> None:
    path, link, pipe = (tmp_path / name for name in ("private", "link", "pipe"))
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.mkfifo(pipe)
    heard: list[str] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text(encoding="utf-8")))
    listener.start()
    write_whole(pipe, "spoken")
    listener.join(timeout=10)
    assert heard == ["spoken"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="needs modes as POSIX has them")
def test_what_tells_of_people_is_its_owners_even_where_the_old_one_was_not(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o644)
    write_whole(path, "new", private=True)
    assert (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_a_file_has_no_name_until_it_is_whole(tmp_path: Path) -> None:
    with whole_file(tmp_path / "g.json") as place:
        place.write_text("half", encoding="utf-8")
        names = [*tmp_path.iterdir()]
        if place.parent != tmp_path:  # what a kill would leave: nothing
            assert names == []
    assert [path.name for path in tmp_path.iterdir()] == ["g.json"]
    with suppress(KeyError), whole_file(tmp_path / "other.json") as place:
        place.write_text("half", encoding="utf-8")
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["g.json"]


def test_where_every_file_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    with whole_file(tmp_path / "g.json", private=True) as place:
        place.write_text("text", encoding="utf-8")
        assert [*tmp_path.iterdir()] == [place]
        assert is_leftover(place)
    assert [path.name for path in tmp_path.iterdir()] == ["g.json"]
    (tmp_path / ".g.json.1.tmp").touch()
    remove_leftovers(tmp_path)
    assert (tmp_path / "g.json").read_text(encoding="utf-8") == "text"
    assert len([*tmp_path.iterdir()]) == 1


HOLDS = """
import sys
from leastwise.documents import private_folder
place, _ = private_folder("test")
(place / "records").write_text("of people")
print(place, flush=True)
sys.stdin.read()
"""


def test_the_next_folder_removes_what_a_killed_process_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fcntl", reason="holds folders")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "leastwise-test-link").symlink_to(tmp_path)
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().decode().strip())
        own, remove = private_folder("test")
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
        assert (theirs / "records").exists(), "it is still at work"
        other.kill()
        other.wait()
    assert (theirs / "records").exists(), "a kill leaves it"
    _, remove_again = private_folder("test")
    assert not theirs.exists()
    assert own.exists(), "held by this process"
    remove()
    remove_again()
    assert [path.name for path in tmp_path.iterdir()] == ["leastwise-test-link"]


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert [*tmp_path.iterdir()] == [path]
