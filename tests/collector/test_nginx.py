"""The proxy's file that operators copy, really run: TLS, limits, no address believed, none logged."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.collector.examples import RECORD, TOKEN, G, sqlite_url
from tests.collector.process import HOST, free_port, running

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
FILE = Path(__file__).parents[2] / "deploy" / "nginx.conf"

pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate"),
]


@contextmanager
def proxy(folder: Path, upstream: int) -> Iterator[int]:
    """Run nginx with the file; only its ports, its names and its places are ours."""
    folder.mkdir()
    port, plain = free_port(), free_port()
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost"
    command = [*words.split(), "-keyout", str(folder / "key"), "-out", str(folder / "pem")]
    subprocess.run(command, check=True, capture_output=True)
    text = FILE.read_text(encoding="utf-8")
    for old, new in {
        "listen 443 ssl": f"listen {HOST}:{port} ssl",
        "listen [::]:443 ssl;": "",
        "listen 80": f"listen {HOST}:{plain}",
        "listen [::]:80;": "",
        "/etc/ssl/collect.example.org.pem": str(folder / "pem"),
        "/etc/ssl/private/collect.example.org.key": str(folder / "key"),
        "/var/log/nginx": str(folder),
        "127.0.0.1:8000": f"{HOST}:{upstream}",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    places = "".join(
        f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = f"daemon off; pid {folder}/pid; error_log {folder}/main.log crit; events {{ worker_connections 1024; }}"
    (folder / "conf").write_text(f"{main}\nhttp {{ {places}\n{text}\n}}\n", encoding="utf-8")
    process = subprocess.Popen([str(NGINX), "-c", str(folder / "conf"), "-e", str(folder / "main.log")])
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection((HOST, port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline, (folder / "main.log").read_text()
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def ask(port: int, method: str, path: str, body: object = None, **headers: str) -> int:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(HOST, port, context=context, timeout=20)
    with closing(connection):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, json.dumps(body) if body else None, sent)
        return connection.getresponse().status


def test_behind_the_proxy(tmp_path: Path) -> None:
    options = ["--rate", 10, "--proxy", HOST]  # so few that a slow machine reaches it too
    with (
        running(tmp_path, sqlite_url(tmp_path), [G], *options) as made,
        proxy(tmp_path / "nginx", made.port) as port,
    ):
        assert ask(port, "POST", "/records", RECORD) == 201
        assert ask(port, "GET", "/records", authorization=f"Bearer {TOKEN}") == 403, "it is for those inside"
        with ExitStack() as idle:
            for _ in range(520):
                half = idle.enter_context(socket.create_connection((HOST, port), 10))
                half.sendall(b"\x16\x03\x01")  # the beginning of TLS, and no more
            assert ask(port, "POST", "/records", RECORD) == 201
        statuses = [ask(port, "GET", "/health", x_forwarded_for=f"10.0.0.{i}") for i in range(80)]
        assert 429 in statuses, "a client cannot write its own address"
        log = (tmp_path / "nginx" / "leastwise.log").read_text()
    assert "POST 201" in log
    assert HOST not in log
    assert "records" not in log
