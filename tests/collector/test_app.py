"""The routes of the collector: what is accepted, what is refused, and that no value comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leastwise import Attribute, Generalization, Groups, Untouched
from leastwise.cli.collect import records
from leastwise.collector.app import make_app
from leastwise.collector.records import RecordFormat
from leastwise.collector.security import Settings
from leastwise.collector.store import Store, Submission
from leastwise.errors import ParameterError
from leastwise.partition import keep
from tests.collector.asgi import Client
from tests.collector.examples import FINE, RECORD, RECORDS, TOKEN, G, client, exported, sqlite_url, trained

SECRET = "Z3cret-value"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Client]:
    with client(sqlite_url(tmp_path)) as made:
        yield made


def test_one_record(made: Client) -> None:
    answer = made.post("/records", json=RECORD)
    assert answer.status_code == 201
    assert answer.json()["generalization"] == G.fingerprint
    assert len(answer.json()["receipt"]) == 24
    assert exported(made) == [{**RECORD, "income": None}]


def test_a_batch(made: Client) -> None:
    answer = made.post("/records", json=RECORDS)
    assert answer.status_code == 201
    assert len({*answer.json()["receipts"]}) == len(RECORDS)
    assert exported(made) == sorted(({**r, "income": None} for r in RECORDS), key=str)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({**RECORD, "age": 37}, "age"),
        ({**RECORD, "age": "37"}, "age"),
        ({**RECORD, "age": f"{SECRET}"}, "age"),
        ({**RECORD, "age": "20 to 63 "}, "age"),
        ({**RECORD, "age": "20 tо 63"}, "age"),  # a Cyrillic o
        ({**RECORD, "age": None}, "age"),
        ({**RECORD, "age": True}, "age"),
        ({**RECORD, "age": 1}, "age"),
        ({**RECORD, "age": ["20 to 63"]}, "age"),
        ({**RECORD, "age": {SECRET: 1}}, "age"),
        ({**RECORD, "age": 10**400}, "age"),
        ({**RECORD, "school": "high"}, "school"),
        ({**RECORD, "citizenship": "1"}, "citizenship"),
        ({**RECORD, "colour": "green"}, "colour"),
        ({**RECORD, "income": ">50K"}, "income"),
        ({**RECORD, SECRET: "x"}, None),
        ({**RECORD, "Age": SECRET}, None),
        ({"age": "20 to 63"}, "school"),
        ({}, "age"),
        ([{}], "age"),
        ([RECORD, {**RECORD, "age": 37}], "age"),
        ([[RECORD]], None),
        ([], None),
        (SECRET, None),
        (37, None),
        (None, None),
    ],
    ids=lambda item: str(item)[:40],
)
def test_anything_else_is_refused_without_its_value(
    made: Client, tmp_path: Path, record: Any, field: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    answer = made.post("/records", content=json.dumps(record))
    assert answer.status_code == 422
    assert field in [each["field"] for each in answer.json()["problems"]]
    said = answer.text + caplog.text + str(answer.headers)
    assert SECRET not in said
    assert "37" not in said
    assert exported(made) == []
    assert all(SECRET.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"age": "20 to 63", "school": "secondary or high", "age": "20 to 63"}',
        b'{"age": NaN, "school": "secondary or high"}',
        b'{"age": -Infinity, "school": "secondary or high"}',
        b'{"age": "\\ud800", "school": "secondary or high"}',
        b'{"age": "20 to 63\\u0000", "school": "secondary or high"}',
        b"[" * 100_000,
        b'{"age":' * 50_000,
        b"\xff\xfe\x00",
        json.dumps(RECORD).encode("utf-16"),
        b"\xef\xbb\xbf" + json.dumps(RECORD).encode(),
        b"9" * 10_000,
    ],
    ids=lambda body: repr(body[:20]),
)
def test_broken_json_is_refused(made: Client, body: bytes) -> None:
    assert made.post("/records", content=body).status_code == 422
    assert exported(made) == []


def test_one_wrong_record_keeps_the_batch_out(made: Client) -> None:
    answer = made.post("/records", json=[*RECORDS, {**RECORD, "age": "37"}])
    assert answer.status_code == 422
    assert [each["record"] for each in answer.json()["problems"]] == [len(RECORDS)]
    assert exported(made) == []


def test_the_label_only_where_it_is_asked(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path), with_label=True) as made:
        assert made.post("/records", json={**RECORD, "income": ">50K"}).status_code == 201
        assert made.post("/records", json={**RECORD, "income": None}).status_code == 201
        for wrong in ("60000", 60000, 10**30, [], True, ""):
            answer = made.post("/records", json={**RECORD, "income": wrong})
            assert answer.status_code == 422
            assert [each["field"] for each in answer.json()["problems"]] == ["income"]
        assert exported(made) == [{**RECORD, "income": ">50K"}, {**RECORD, "income": None}]


def test_several_generalizations_side_by_side(tmp_path: Path) -> None:
    fine = {**RECORD, "age": "20 to 41", "colour": "green"}
    with client(sqlite_url(tmp_path), FINE, G) as made:
        old = {"leastwise-generalization": FINE.fingerprint[:12]}
        assert made.post("/records", json=RECORD).status_code == 201
        assert made.post("/records", json=fine).status_code == 422
        assert made.post("/records", json=fine, headers=old).status_code == 201
        assert made.post("/records", json=RECORD, headers=old).status_code == 422
        unknown = made.post("/records", json=RECORD, headers={"leastwise-generalization": "f" * 64})
        assert unknown.status_code == 409
        assert exported(made) == [{**RECORD, "income": None}]
        assert exported(made, generalization=FINE.fingerprint) == [{**fine, "income": None}]
        assert made.get("/health").json()["generalizations"] == [FINE.fingerprint, G.fingerprint]
        assert "colour" in made.get("/schema", params={"generalization": FINE.fingerprint}).json()["properties"]


def test_a_form_without_javascript(made: Client) -> None:
    page = made.get("/")
    assert page.status_code == 200
    assert "How old are you?" in page.text
    key = page.text.split('name="leastwise-key" value="')[1].split('"')[0]
    fields = {**RECORD, "leastwise-key": key, "leastwise-generalization": G.fingerprint}
    first = made.post("/records", data=fields, headers={"accept": "text/html,*/*"})
    assert first.status_code == 201
    assert "Your receipt" in first.text
    again = made.post("/records", data=fields, headers={"accept": "text/html,*/*"})
    assert again.status_code == 200
    assert len(exported(made)) == 1
    assert made.get("/").text != page.text, "every page has a key of its own"


@pytest.mark.parametrize(
    "body", [f"age=37&school={SECRET}", "age=20+to+63", "age=1&age=1", "%ff", "", "age", "a;b=%C3%28"]
)
def test_a_wrong_form_is_a_page_without_values(made: Client, body: str) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    answer = made.post("/records", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert SECRET not in answer.text
    assert "37" not in answer.text.split("</style>")[1]
    assert exported(made) == []


@pytest.mark.parametrize("body", [{"data": RECORD}, {"json": RECORD}, {"content": json.dumps(RECORD)}])
def test_what_another_page_sends_is_refused(made: Client, body: dict[str, Any]) -> None:
    foreign = [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}]
    foreign += [{"origin": "http://127.0.0.1:9000"}, {"origin": "null"}, {"origin": "https://example.org"}]
    for headers in foreign:
        assert made.post("/records", **body, headers=headers).status_code == 403, headers
    assert exported(made) == []
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "http://127.0.0.1:8000"}, {}):
        assert made.post("/records", **body, headers=headers).status_code == 201, headers


@pytest.mark.parametrize(
    "key",
    ["short", "jane.doe@example.org", "2026-11-16 000123", "12345678901234567", "aaaaaaaaaaaaaaaaaaaa", "x" * 201],
)
def test_keys_that_can_be_guessed_are_refused(made: Client, key: str) -> None:
    answer = made.post("/records", json=RECORD, headers={"idempotency-key": key})
    assert answer.status_code == 400
    assert key not in answer.text
    good = {"idempotency-key": "5f0c7c2e-94c4-4c55-8f52-6a9c6a1e8a10"}
    assert [made.post("/records", json=RECORD, headers=good).status_code for _ in range(2)] == [201, 200]


def test_untouched_numbers_are_texts(tmp_path: Path) -> None:
    pay = Attribute("pay", "continuous", lower=0, missing=True)
    with client(sqlite_url(tmp_path), Generalization((Untouched(pay),))) as made:
        for right in ("37", "0.5", "1e+300", "missing"):
            assert made.post("/records", json={"pay": right}).status_code == 201
        for wrong in (37, "37.0", "-1", "nan", "", "1_000", "٣", " 37", "1" * 500, None, "inf "):
            assert made.post("/records", json={"pay": wrong}).status_code == 422, wrong
        for typed in ("37.0", " 37 ", ""):  # by a person, into a form without JavaScript
            assert made.post("/records", data={"pay": typed}).status_code == 201, typed
        for wrong in ("-1", "a lot", "37 euro"):
            assert made.post("/records", data={"pay": wrong}).status_code == 422, wrong
        found = [record["pay"] for record in exported(made)]
    assert sorted(found) == sorted(["37", "0.5", "1e+300", "missing", "37", "37", "missing"])


def test_what_cannot_be_collected(tmp_path: Path) -> None:
    for generalizations, settings, complaint in (
        ([], {}, "at least one"),
        ([G, G], {}, "named twice"),
        ([Generalization.suppressed(G.schema)], {}, "asks nothing"),
        ([Generalization(G.partitions)], {"with_label": True}, "declares none"),
        ([Generalization((keep(Attribute("leastwise-key", values=("a", "b"))),))], {}, "rename it"),
    ):
        store = Store.open(sqlite_url(tmp_path))
        with pytest.raises(ParameterError, match=complaint):
            make_app(generalizations, store, Settings(**settings))  # type: ignore[arg-type]
        store.close()


@pytest.mark.parametrize(
    "headers", [{"content-type": "text/plain"}, {"content-type": "application/json", "content-encoding": "gzip"}]
)
def test_other_kinds_of_bodies(made: Client, headers: dict[str, str]) -> None:
    assert made.post("/records", content=json.dumps(RECORD), headers=headers).status_code == 415


def test_the_export_needs_the_token(made: Client, tmp_path: Path) -> None:
    wrong = [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer ü"]
    for value in wrong:
        headers = {} if value is None else {b"authorization": value.encode("latin-1")}
        assert made.get("/records", headers=headers).status_code == 401
    with client(sqlite_url(tmp_path), token=None) as closed:
        answer = closed.get("/records", headers={"authorization": "Bearer None"})
        assert answer.status_code == 403
        assert "LEASTWISE_TOKEN" in answer.text


def test_export_as_csv(made: Client) -> None:
    made.post("/records", json=RECORD)
    answer = made.get("/records?format=csv", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.text.splitlines() == ["age,school,income", "20 to 63,secondary or high,"]
    bad = made.get(f"/records?format={SECRET}", headers={"authorization": f"Bearer {TOKEN}"})
    assert bad.status_code == 400
    assert SECRET not in bad.text


def test_erasing_by_receipt(made: Client) -> None:
    first, second = (made.post("/records", json=record).json()["receipt"] for record in RECORDS[:2])
    assert made.delete(f"/records/{first}").status_code == 204
    assert made.delete(f"/records/{first}").status_code == 404
    assert exported(made) == [{**RECORDS[1], "income": None}]
    for nonsense in ("x", "A" * 24, "A" * 10_000, "%00", second[:-1], second + "A"):
        assert made.delete(f"/records/{nonsense}").status_code == 404
    assert len(exported(made)) == 1


def test_predicting(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path), FINE, G, model=trained()) as made:
        answer = made.post("/predict", json=RECORD)
        assert answer.status_code == 200
        assert answer.json()["prediction"] == ">50K"
        assert sum(answer.json()["probabilities"].values()) == pytest.approx(1)
        assert [each["prediction"] for each in made.post("/predict", json=[RECORD, RECORDS[0]]).json()] == [
            ">50K",
            "<=50K",
        ]
        assert made.post("/predict", json={**RECORD, "age": 37}).status_code == 422
        old = {"leastwise-generalization": FINE.fingerprint}
        fine = {**RECORD, "age": "20 to 41", "colour": "green"}
        assert made.post("/predict", json=fine, headers=old).status_code == 409
        assert exported(made) == [], "nothing is stored"
        page = made.post("/records", data=RECORD, headers={"accept": "text/html"})
        assert "&gt;50K" in page.text
        assert made.post("/records", data=RECORD).json()["prediction"] == ">50K"


def test_without_a_model_there_is_no_prediction(made: Client) -> None:
    assert made.post("/predict", json=RECORD).status_code == 404


def test_schema_health_and_docs(made: Client) -> None:
    schema = made.get("/schema").json()
    assert schema["properties"]["age"] == {"title": "How old are you?", "enum": [*G["age"].labels]}
    assert "income" not in schema["properties"]
    assert made.get("/health").json()["status"] == "ok"
    document = made.get("/openapi.json").json()
    assert {"/records", "/schema", "/health", "/records/{receipt}"} <= document["paths"].keys()
    page = made.get("/docs").text
    assert "POST /records" in page
    assert "http" not in page.replace("/openapi.json", ""), "pages load nothing from anywhere"


def test_nothing_else_is_there(made: Client) -> None:
    for path in (f"/{SECRET}", f"/records/{SECRET}/x", "/redoc", "/docs/", "/records/"):
        answer = made.get(path)
        assert answer.status_code == 404, path
        assert SECRET not in answer.text
    assert made.request("PUT", "/records", json=RECORD).status_code == 405


def test_records_for_a_spreadsheet_run_no_formula(tmp_path: Path) -> None:
    g = Generalization((Groups.of(Attribute("=job", values=("=1+1", "b")), [["=1+1"], ["b"]]),))
    store = Store.open(sqlite_url(tmp_path))
    store.write([Submission(store.register(g), RecordFormat(g).read_many([{"=job": "=1+1"}]))])
    store.close()
    for spreadsheet, expected in ((False, "=job\n=1+1\n"), (True, "'=job\n'=1+1\n")):
        records(sqlite_url(tmp_path), tmp_path / "out.csv", spreadsheet=spreadsheet, force=True)
        assert (tmp_path / "out.csv").read_text(encoding="utf-8") == expected


def test_an_export_without_records_has_their_names(tmp_path: Path) -> None:
    with client(sqlite_url(tmp_path)) as made:
        answer = made.get("/records?format=csv", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.text == "age,school,income\r\n"
        assert exported(made) == []
