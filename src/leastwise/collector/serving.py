"""Running a collector as a process of its own."""

from __future__ import annotations

import ipaddress
import logging
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI

LOOPBACK = ("localhost",)
CONCURRENT = 500  # requests at a time, each with a body in memory; more are answered 503 by the server itself


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def prepare_log(quiet: bool) -> None:
    """Write one line per request to standard error: method, route, status and time; nothing of the request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name in ("leastwise.collector", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if quiet or name.startswith("uvicorn") else logging.INFO)


def serve(app: FastAPI, host: str, port: int, *, proxy: str | None = None, quiet: bool = False) -> None:
    """Serve until the process is asked to stop; what was accepted is stored first.

    Parameters
    ----------
    proxy
        The address of a reverse proxy whose ``X-Forwarded-For`` tells who the client is; None believes nobody.
    """
    prepare_log(quiet)
    options: dict[str, Any] = {"proxy_headers": False}
    if proxy is not None:
        options = {"proxy_headers": True, "forwarded_allow_ips": proxy}
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,  # uvicorn's holds addresses, paths and queries
        server_header=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=20,
        limit_concurrency=CONCURRENT,
        **options,
    )
