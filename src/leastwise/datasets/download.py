"""Fetch a public file when a person asks for it: https only, bounded, and complete or not there at all."""

from __future__ import annotations

import os
import tempfile
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from leastwise import __version__
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.progress import Progress, Silent

LARGEST_DOWNLOAD = 4 * 1024**3
CHUNK = 1 << 20


class _HttpsOnly(HTTPRedirectHandler):
    """Follows redirections, but never away from https."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_address(address: str) -> str:
    """Return the address if it is https; complain otherwise."""
    if urlsplit(address).scheme != "https":
        raise ParameterError(f"an address must start with https://; got {shorten(address)}")
    return address


def fetch(address: str, target: Path, limit: int = LARGEST_DOWNLOAD, progress: Progress | None = None) -> Path:
    """Download an address to a file; the file appears under its name only when it is complete."""
    request = Request(check_address(address), headers={"User-Agent": f"leastwise/{__version__}"})  # noqa: S310
    try:
        with build_opener(_HttpsOnly).open(request, timeout=60) as answer:
            target.parent.mkdir(parents=True, exist_ok=True)
            length = answer.headers.get("Content-Length")
            return _store(answer, target, limit, int(length) if length else None, progress or Silent())
    except (URLError, HTTPException, TimeoutError) as error:
        said = error.reason if type(error) is URLError else error
        raise DataError(
            f"could not download {address} ({said}); check the network, or download it by hand to {target}"
        ) from None
    except OSError as error:
        raise DataError(f"could not write {target}: {error.strerror or error}") from None


def _store(source: IO[bytes], target: Path, limit: int, length: int | None, progress: Progress) -> Path:
    progress.begin(target.name, length)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            size = copy_limited(source, stream, limit, progress)
        if length is not None and size != length:
            raise DataError(f"the download of {target.name} broke off at {size:,} of {length:,} bytes; try again")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def copy_limited(source: IO[bytes], target: IO[bytes], limit: int, progress: Progress | None = None) -> int:
    """Copy a stream in pieces and return its size; refuse to go on above the limit."""
    size = 0
    while piece := source.read(CHUNK):
        size += len(piece)
        if size > limit:
            raise DataError(f"the file must be at most {limit:,} bytes; it is larger, so it was not read")
        target.write(piece)
        if progress is not None:
            progress.advance(len(piece))
    return size
