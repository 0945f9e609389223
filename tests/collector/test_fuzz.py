"""Strangers: fuzzed requests, near misses above all. No 500, nothing wrong stored, no value in log or answer."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import random
import re
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from leastwise import Generalization
from leastwise.collector.store import read_records
from tests.collector.asgi import Answer, Client
from tests.collector.examples import FINE, TOKEN, G, client, sqlite_url, trained
from tests.collector.process import HOST, Collector, running

MARK = "pl4nted"  # in every value that must not come back
NUMBER = 617336173361733
BATCH = 20
SHARED = Path("/dev/shm")
TAKES_ANYTHING = ("/", "/docs", "/erase", "/health", "/openapi.json", "/ready", "/records/{receipt}")
Record = dict[str, Any]


def labels(g: Generalization) -> dict[str, tuple[str, ...]]:
    return {name: g[name].labels for name in g.collected}


def right(g: Generalization, record: Any) -> bool:
    """The slow truth: is it a generalized record?"""
    return (
        isinstance(record, dict)
        and {*record} - {"income"} == {*g.collected}
        and all(isinstance(record[name], str) and record[name] in known for name, known in labels(g).items())
        and record.get("income") in ("<=50K", ">50K", None)
    )


def strict(body: bytes) -> Any:
    """Parse JSON as the standard says, and no key twice; raise ValueError otherwise."""

    def pairs(items: list[tuple[str, Any]]) -> Record:
        if len({name for name, _ in items}) < len(items):
            raise ValueError
        return dict(items)

    def refuse(_: str) -> None:
        raise ValueError

    text = body.decode("utf-8")
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
    except RecursionError:
        raise ValueError from None


class Stranger:
    """Makes requests that are right, nearly right, or nonsense."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def generalization(self) -> Generalization:
        return self.random.choice([FINE, G])

    def record(self, g: Generalization) -> Record:
        record: Record = {name: self.random.choice(known) for name, known in labels(g).items()}
        if self.random.random() < 0.3:
            record["income"] = self.random.choice(["<=50K", ">50K", None])
        return record

    def wrong_value(self, label: str) -> Any:
        near = [
            f"{label} ", f" {label}", label.upper(), label.replace("o", "о"), label.replace(" ", " "),
            label[:-1], f"{label}\u200b", f"{label}\0", "\ud800", "", "37", "37.5", "missing", "any", "other",
            "20 to 64", "19 to 63", "64", "green", "none", "high", "secondary",
        ]  # fmt: skip
        far = [
            37, NUMBER, 37.5, True, None, 0, 1, [label], {label: label}, [], {}, 1e308, 10**400,
            f"{MARK} Jane Doe, born 1961-07-03", MARK, f"'; DROP TABLE leastwise_records; -- {MARK}",
            f"<script>{MARK}</script>", f"{MARK}\r\nx: y", f"{{{{{MARK}}}}}", f"%s{MARK}%n",
        ]  # fmt: skip
        return self.random.choice(near if self.random.random() < 0.5 else far)

    def spoil(self, record: Record) -> Record:
        name = self.random.choice([*record])
        value = record[name]
        ways: list[Callable[[], Record]] = [
            lambda: {**record, name: self.wrong_value(str(value))},
            lambda: {**record, MARK: self.wrong_value(str(value))},
            lambda: {**record, f"{MARK}{NUMBER}": value},
            lambda: {**record, "citizenship": self.random.choice(["1", "2", f"{MARK}"])},
            lambda: {**record, "colour": self.random.choice(["green", "red", "red or blue"])},
            lambda: {key: other for key, other in record.items() if key != name},
            lambda: {key.title(): other for key, other in record.items()},
            lambda: {**record, "income": self.wrong_value(">50K")},
            lambda: {**record, "__proto__": {}},
            lambda: {**record, "leastwise-key": MARK},
        ]
        return self.random.choice(ways)()

    def body(self, g: Generalization) -> bytes:
        records = [self.record(g) for _ in range(self.random.choice([1, 1, 1, 3, BATCH, BATCH + 1]))]
        if self.random.random() < 0.7:
            place = self.random.randrange(len(records))
            records[place] = self.spoil(records[place])
        content: Any = records if len(records) > 1 or self.random.random() < 0.3 else records[0]
        text = json.dumps(content, ensure_ascii=self.random.random() < 0.7).encode("utf-8", "surrogatepass")
        return self.break_text(text) if self.random.random() < 0.15 else text

    def break_text(self, text: bytes) -> bytes:
        cut = self.random.randrange(len(text))
        ways = [
            text[:cut], text[cut:], text[:cut] + MARK.encode() + text[cut:], b"\xef\xbb\xbf" + text,
            text.decode("utf-8", "replace").encode("utf-16"), b"[" * 3000 + text, b"[" + text + b"]",
            text[:cut] + bytes([self.random.randrange(256)]) + text[cut + 1 :],
            text.replace(b'"age"', b'"age": "0 to 19", "age"'), text.replace(b'"20 to 63"', b"NaN"),
            text.replace(b'"20 to 63"', b"9" * 5000), b"", b"null", json.dumps(MARK).encode(), text + text,
        ]  # fmt: skip
        return self.random.choice(ways)

    def form(self, g: Generalization) -> bytes:
        record = self.record(g)
        record = {k: v for k, v in record.items() if v is not None}
        record = self.spoil(record) if self.random.random() < 0.7 else record
        if self.chance(0.5):  # as a page without JavaScript sends it
            record["leastwise-language"] = self.random.choice(["en", "en", "xx", MARK])
        fields = {str(k): str(v).encode("utf-8", "replace") for k, v in record.items()}
        text = urlencode(fields).encode()
        return self.break_text(text) if self.random.random() < 0.15 else text

    def headers(self, g: Generalization) -> dict[bytes, bytes]:
        found = {b"leastwise-generalization": g.fingerprint.encode()} if g is FINE or self.chance(0.5) else {}
        extra = {
            b"accept-language": f"{MARK}, de;q={MARK}".encode(),
            b"user-agent": MARK.encode(), b"cookie": f"id={MARK}".encode(), b"accept": b"text/html",
            b"x-forwarded-for": f"{MARK}, 10.0.0.1".encode(), b"referer": f"http://x/{MARK}".encode(),
            b"authorization": f"Bearer {MARK}".encode(), b"origin": f"http://{MARK}".encode(),
            b"content-encoding": b"identity", b"x-\xff": b"\xff\x00",
        }  # fmt: skip
        found |= {key: value for key, value in extra.items() if self.chance(0.1)}
        if self.chance(0.2):
            found[b"idempotency-key"] = f"{MARK}-{self.random.getrandbits(64)}".encode()
        if self.chance(0.03):
            found[b"idempotency-key"] = self.random.choice([b"", b"short", b"\xff" * 20, b"x" * 500])
        if self.chance(0.03):
            found[b"leastwise-generalization"] = self.random.choice([b"", MARK.encode(), b"f" * 64, b"\xff"])
        return found

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def elsewhere(self) -> tuple[str, str]:
        method = self.random.choice(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", MARK])
        mark = quote(self.random.choice([MARK, "..", "%00", "\u202e", "a" * 5000, "'"]))
        path = self.random.choice(
            ["/", "/records", f"/records/{mark}", f"/records?format={mark}", f"/schema?generalization={mark}",
             f"/{mark}", f"/?lang={mark}", f"/erase?lang={mark}", "/docs",
             "/health", f"/openapi.json?{mark}", "/predict", f"/records/{'A' * 24}"]
        )  # fmt: skip
        return method, path


class Log(logging.Handler):
    """Everything that anybody logs, written to a file as a careless operator would."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.DEBUG)
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace")
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self._file.write(self.format(record) + "\n")

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def logged(path: Path) -> Iterator[None]:
    root, handler = logging.getLogger(), Log(path)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


def leaks(content: bytes) -> bool:
    return MARK.encode() in content or str(NUMBER).encode() in content


def check(answer: Answer, what: object) -> None:
    assert answer.status_code < 500, what
    said = answer.content + str(answer.headers).encode()
    assert not leaks(said), what


def check_files(folder: Path, *more: Path) -> None:
    """Search the folder of the records, all below it, and what lies in shared memory."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) >= 2
    for file in (*files, *more, *SHARED.glob("*")):
        with contextlib.suppress(FileNotFoundError):  # another program's, gone meanwhile
            assert not file.is_file() or not leaks(file.read_bytes()), file


@contextmanager
def own_temporary(folder: Path) -> Iterator[Path]:
    """Let temporary files lie where they are searched."""
    (folder / "temporary").mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder / "temporary")
    try:
        yield folder / "temporary"
    finally:
        tempfile.tempdir = before


def expected_rows(g: Generalization, body: bytes) -> list[Record] | None:
    """Return the records of a JSON body if it must be accepted."""
    try:
        content = strict(body)
    except ValueError:
        return None
    many = content if isinstance(content, list) else [content]
    return many if 0 < len(many) <= BATCH and all(right(g, record) for record in many) else None


def fuzz(made: Client | Wire, count: int, seed: int) -> tuple[dict[str, Counter[str]], Counter[int]]:
    """Send many requests; return what must be stored, and how often each status came."""
    stranger = Stranger(seed)
    must: dict[str, Counter[str]] = {FINE.fingerprint: Counter(), G.fingerprint: Counter()}
    statuses: Counter[int] = Counter()
    for _ in range(count):
        g = stranger.generalization()
        turn = stranger.random.random()
        if turn < 0.1:
            method, path = stranger.elsewhere()
            answer = made.request(method, path, headers=stranger.headers(g))
            check(answer, (method, path))
        else:
            form = turn < 0.25
            body = stranger.form(g) if form else stranger.body(g)
            kind = b"application/x-www-form-urlencoded" if form else b"application/json"
            headers = {b"content-type": kind} | stranger.headers(g)
            path = stranger.random.choice(["/records", "/records", "/records", f"/records?{MARK}", "/predict"])
            answer = made.post(path, content=body, headers=headers)
            check(answer, (path, headers, body))
            if answer.status_code in (200, 201) and path != "/predict":
                count_stored(must, answer, body, form)
            elif not form and path != "/predict" and answer.status_code not in (400, 403, 409):
                assert expected_rows(g, body) is None, (answer.content, body)
        statuses[answer.status_code] += 1
    return must, statuses


def count_stored(must: dict[str, Counter[str]], answer: Answer, body: bytes, form: bool) -> None:
    """Note the records of an accepted request; they must be generalized ones."""
    if form:
        fields = dict(part.split("=") for part in body.decode().split("&"))
        fields.pop("leastwise-key", None)  # read, and overruled by the header
        fields.pop("leastwise-language", None)
        if fields.get("income") == "":
            del fields["income"]  # a question of a form that was left open
        page = answer.headers["content-type"].startswith("text/html")
        fingerprint = (FINE if "colour" in fields else G).fingerprint if page else answer.json()["generalization"]
        read = requests.compat.unquote_plus
        rows: list[Record] | None = [{read(k): read(v) for k, v in fields.items()}]
    else:
        fingerprint = answer.json()["generalization"]
        rows = expected_rows(FINE if fingerprint == FINE.fingerprint else G, body)
    g = FINE if fingerprint == FINE.fingerprint else G
    assert rows is not None, body
    assert all(right(g, row) for row in rows), body
    assert answer.status_code == 201, "no key comes twice"
    must[fingerprint].update(written(g, row) for row in rows)


def written(g: Generalization, row: Record) -> str:
    return json.dumps([row.get(name) for name in (*g.collected, "income")])


def check_stored(folder: Path, must: dict[str, Counter[str]], statuses: Counter[int], count: int) -> None:
    """Hold what is stored against what was acknowledged, and search all files."""
    for g in (FINE, G):
        stored = read_records(sqlite_url(folder), g.fingerprint)
        assert Counter(written(g, row) for row in stored.iter_rows(named=True)) == must[g.fingerprint]
    assert statuses[201] > count / 20, "some were right"
    assert {401, 404, 405, 409, 413, 422} <= statuses.keys()
    check_files(folder)


def test_near_misses(tmp_path: Path) -> None:
    """In this process, where every byte of a header reaches the application."""
    with (
        own_temporary(tmp_path),
        logged(tmp_path / "log"),
        client(sqlite_url(tmp_path), FINE, G, model=trained(), with_label=True, batch_limit=BATCH) as made,
    ):
        must, statuses = fuzz(made, 2_500, seed=0)
        check_files(tmp_path)
    check_stored(tmp_path, must, statuses, 2_500)


def cases(document: Any, examples: int, send: Callable[[Any], None]) -> None:
    """Send what schemathesis makes of the OpenAPI document, right and wrong."""
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = result.ok()
        for mode in GenerationMode:
            if mode == GenerationMode.NEGATIVE and operation.path in TAKES_ANYTHING:
                continue  # they take nothing that could be wrong

            @given(operation.as_strategy(generation_mode=mode))
            @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
                      phases=[Phase.generate], database=None, derandomize=True)  # fmt: skip
            def each(case: Any) -> None:
                send(case)

            each()


def documented(document: Any, method: str, path: str) -> set[int]:
    return {int(status) for status in document["paths"][path][method.lower()]["responses"]}


def specification(folder: Path, examples: int) -> Counter[int]:
    statuses: Counter[int] = Counter()
    with (
        logged(folder / "log"),
        client(sqlite_url(folder), FINE, G, model=trained(), with_label=True, batch_limit=BATCH) as made,
    ):
        document = made.get("/openapi.json").json()

        def send(case: Any) -> None:
            asked = case.as_transport_kwargs(base_url="http://127.0.0.1")
            known = ("method", "url", "headers", "json", "data", "params", "cookies")
            sent = requests.Request(**{key: value for key, value in asked.items() if key in known}).prepare()
            body = sent.body if isinstance(sent.body, bytes) else (sent.body or "").encode()
            headers = {key: value for key, value in sent.headers.items() if key.lower() != "content-length"}
            headers |= {"authorization": f"Bearer {TOKEN}"} if case.path == "/records" else {}
            answer = made.request(sent.method or "", sent.path_url, headers=headers, content=body)
            assert answer.status_code in documented(document, case.method, case.path), (case, answer.text)
            statuses[answer.status_code] += 1

        cases(document, examples, send)
    for g in (FINE, G):
        for row in read_records(sqlite_url(folder), g.fingerprint).iter_rows(named=True):
            assert right(g, row)
    return statuses


def test_the_specification(tmp_path: Path) -> None:
    statuses = specification(tmp_path, 20)
    assert {200, 201, 422} <= statuses.keys()


@pytest.mark.slow
def test_the_specification_twenty_thousand_times(tmp_path: Path) -> None:
    assert sum(specification(tmp_path, 3_500).values()) > 20_000


class Wire:
    """Sends what ``Client`` sends, over a connection to a real server, byte by byte as it was made."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=30)

    def post(self, url: str, *, content: bytes, headers: dict[bytes, bytes]) -> Answer:
        return self.request("POST", url, content=content, headers=headers)

    def request(self, method: str, url: str, *, headers: dict[bytes, bytes], content: bytes = b"") -> Answer:
        self._connection.putrequest(method, url, skip_accept_encoding=True)
        for name, value in headers.items():
            self._connection.putheader(name, value)  # type: ignore[arg-type]
        self._connection.putheader("content-length", str(len(content)))
        try:
            self._connection.endheaders(content)
            found = self._connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        except (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected):
            # What is no HTTP is refused without reading its body, and the reset may overtake the answer.
            assert any(b"\0" in value for value in headers.values())
            self._connection.close()
            return Answer(400, {}, b"")

    def close(self) -> None:
        self._connection.close()


GARBAGE = (f"{MARK}\r\n\r\n", f"GET /{MARK}\0 HTTP/1.1\r\n\r\n", f"POST / HTTP/9.9\r\n{MARK}\r\n\r\n")
STRANGERS = 4  # at once


def through_sockets(folder: Path, count: int, seed: int) -> None:
    """The same strangers against a real server, several at once; whatever it left anywhere is searched."""
    trained().save(folder / "model.skops")
    options = ("--with-label", "--batch-limit", BATCH, "--model", folder / "model.skops")
    with own_temporary(folder) as temporary:
        own = {"TMPDIR": str(temporary), "SQLITE_TMPDIR": str(temporary)}
        with running(folder, sqlite_url(folder), [FINE, G], *options, **own) as collector:
            must, statuses = sent_by_many(collector.port, count, seed)
            for garbage in GARBAGE:
                with socket.create_connection((HOST, collector.port), 10) as connection:
                    connection.sendall(garbage.encode())
                    assert not leaks(connection.recv(10_000))
            search_running(folder, collector)
            assert collector.stop() == 0
        check_stored(folder, must, statuses, count)
        assert "POST /records 201" in collector.log.read_text()
        assert not re.search(r" 5\d\d |Error|Traceback", collector.log.read_text())
    print(f"{sum(statuses.values()):,} requests: {dict(sorted(statuses.items()))}")


def sent_by_many(port: int, count: int, seed: int) -> tuple[dict[str, Counter[str]], Counter[int]]:
    def one(number: int) -> tuple[dict[str, Counter[str]], Counter[int]]:
        with contextlib.closing(Wire(port)) as wire:
            return fuzz(wire, count // STRANGERS, seed + number)

    with ThreadPoolExecutor(STRANGERS) as strangers:
        found = list(strangers.map(one, range(STRANGERS)))
    must = {g.fingerprint: sum((each[g.fingerprint] for each, _ in found), Counter()) for g in (FINE, G)}
    return must, sum((statuses for _, statuses in found), Counter())


def search_running(folder: Path, collector: Collector) -> None:
    """Search what the server has open, files without a name too; it must not be able to leave a core dump."""
    assert collector.process is not None
    process = Path(f"/proc/{collector.process.pid}")
    if process.is_dir():
        check_files(folder, *(process / "fd").iterdir())
        assert re.search(r"Max core file size +0 ", (process / "limits").read_text()), "nor in a core dump"


def test_a_real_server(tmp_path: Path) -> None:
    through_sockets(tmp_path, 2_000, seed=5)


@pytest.mark.slow
def test_a_hundred_thousand_near_misses(tmp_path: Path) -> None:
    through_sockets(tmp_path, 100_000, seed=1)
