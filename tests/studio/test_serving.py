"""The studio's server: whoever is told where it is can come at once."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest

from leastwise.studio import Room, serve


class EnoughError(Exception):
    """Nothing needs to be served."""


def test_who_comes_as_soon_as_the_address_is_told_is_not_refused(room: Room) -> None:
    def come(address: str) -> None:
        url = urlsplit(address)
        socket.create_connection((url.hostname, url.port), timeout=5).close()
        raise EnoughError

    with pytest.raises(EnoughError):
        serve(room, come)
