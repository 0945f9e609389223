"""What several processes leave on the disk at the same time, or one that is stopped, is loaded as what it is."""

from __future__ import annotations

import importlib.util
import multiprocessing
import sys
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from leastwise.kernels.compiling import njit

SOURCE = "from leastwise.kernels.compiling import njit\n\n\n@njit()\ndef twice(x):\n    return x + x\n"
PROCESSES = multiprocessing.get_context("forkserver")  # a fork of a process with threads may wait for ever
KINDS = (1, 1.5, 1j, True)


def kernel_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("made", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["made"] = module
    spec.loader.exec_module(module)
    return module.twice


def files_of(kernel: Any) -> Any:
    return kernel._cache._cache_file


def save(path: Path, key: int, together: Barrier) -> None:
    files = files_of(kernel_of(path))
    for i in range(20):
        together.wait(60)
        files.save((key, i), (key, i))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "made.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folder")
def test_what_two_processes_save_at_once_is_all_there(source: Path) -> None:
    together = PROCESSES.Barrier(2)
    savers = [PROCESSES.Process(target=save, args=(source, key, together)) for key in range(2)]
    for each in savers:
        each.start()
    for each in savers:
        each.join()
        assert each.exitcode == 0
    files = files_of(kernel_of(source))
    assert [files.load((key, i)) for key in range(2) for i in range(20)] == [
        (key, i) for key in range(2) for i in range(20)
    ]


def test_one_that_is_stopped_leaves_no_index_of_what_is_not_there(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of an older source has the name that a new one would have."""
    files_of(kernel_of(source)).save("key", "old")
    source.write_text(SOURCE.replace("x + x", "2 * x"), encoding="utf-8")
    files = files_of(kernel_of(source))
    assert files.load("key") is None

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "_save_data", stopped)
        with pytest.raises(KeyboardInterrupt):
            files.save("key", "new")
    assert files_of(kernel_of(source)).load("key") is None


def test_every_signature_is_found_again(source: Path) -> None:
    kernel = kernel_of(source)
    assert [kernel(x) for x in KINDS] == [x + x for x in KINDS]
    again = kernel_of(source)
    assert [again(x) for x in KINDS] == [x + x for x in KINDS]
    assert sum(again.stats.cache_hits.values()) == len(KINDS)
    assert not again.stats.cache_misses


def test_every_kernel_is_kept_so() -> None:
    package = Path(sys.modules[njit.__module__].__file__ or "").parent
    texts = [path.read_text(encoding="utf-8") for path in package.glob("*.py") if path.stem != "compiling"]
    assert not any("numba.njit" in text or "from numba import" in text for text in texts)
