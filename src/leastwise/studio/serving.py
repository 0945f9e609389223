"""Start the studio: open the run with its records, listen on this machine only, and end with Ctrl-C."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from leastwise.errors import ParameterError
from leastwise.studio.room import Room

HOST = "127.0.0.1"
_WAIT = 1  # seconds that open connections are waited for at the end


def serve(room: Room, ready: Callable[[str], None], port: int = 0, tour: bool = False) -> None:
    """Serve a room until it is stopped; ``ready`` is told the address, which is good for one browser."""
    import uvicorn

    from leastwise.studio.app import make_app

    listener = _listening(port)
    own = int(listener.getsockname()[1])
    door = make_app(room, own, tour)
    settings = uvicorn.Config(
        door, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=_WAIT
    )
    server = uvicorn.Server(settings)
    # Once it is told to end, a figure that is still being counted is cut off: that is no error to print.
    logging.getLogger("uvicorn.error").addFilter(lambda record: not server.should_exit)
    try:
        ready(f"http://{HOST}:{own}/?token={door.token}")
        with suppress(KeyboardInterrupt):  # how a studio is ended; the server has shut down by then
            server.run(sockets=[listener])
    finally:
        room.close()
        listener.close()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # before the address is told: who comes at once waits instead of being refused
    except (OSError, OverflowError):
        listener.close()
        raise ParameterError(
            f"port {port} of this machine is taken; choose another --port, or leave it out"
        ) from None
    return listener
