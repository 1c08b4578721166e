"""What every request of the API passes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from crawlclean.workers.console.api.registry import cursor
from crawlclean.workers.console.routes import LARGEST
from tests.kit.api import Program


def wrong(answer: Any, status: int, word: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    assert word in answer.json["detail"]


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=1e9", "limit"),
        (f"limit={'9' * 400}", "limit"),
        ("limit=x", "limit"),
        ("limit=", "limit"),
        ("limit=1&limit=2", "twice"),
        ("sort=host", "sort"),
        ("sort=records;DROP", "sort"),
        ("paused=perhaps", "paused"),
        ("unknown=1", "known are"),
        ("%ff=1", "UTF-8"),
        ("q=%ff", "UTF-8"),
        ("q=%ed%a0%80", "UTF-8"),
        (f"q={'x' * 5000}", "q"),
        ("after=x", "after"),
        ("after=%00", "after"),
        ("after=AAAA", "after"),
        ("after=" + "A" * 2000, "after"),
        ("after=" + cursor("events", 1), "another list"),
        ("after=" + cursor("hosts failed", 1, "a"), "another list"),
        ("after=" + cursor("hosts records", LARGEST + 1, "a"), "after"),
        ("after=" + base64.urlsafe_b64encode(b"[[[[[[").decode(), "after"),
        ("after=" + base64.urlsafe_b64encode(b"[" * 700).decode(), "after"),
        ("after=" + base64.urlsafe_b64encode(b'{"a":1}').decode(), "after"),
        (f"after={cursor('hosts records', 1, 'a')}&q=a", "one part"),
    ],
)
def test_wrong_queries_are_named(reader: Program, query: str, word: str) -> None:
    wrong(reader.get(f"/hosts?{query}"), 400, word)


@pytest.mark.parametrize("path", ["/hosts/\xff", "/hosts/\xed\xa0\x80", "/crawls/\xc3("])
def test_addresses_that_are_no_utf_8(reader: Program, path: str) -> None:
    answer = reader.client.get(
        "/",
        headers={"Authorization": f"Bearer {reader.token}"},
        environ_overrides={"PATH_INFO": f"/api/v1{path}"},  # as a server gives it
    )
    wrong(answer, 400, "UTF-8")


@pytest.mark.parametrize(
    "path",
    [
        "/hosts/%00",
        "/hosts/" + "x" * 3000,
        "/hosts/%27%20OR%201=1--",
        "/hosts/%F0%9F%92%A9",
        "/hosts/..%2f..%2fetc",
        "/crawls/*",
        f"/operations/{LARGEST}",
        f"/operations/{LARGEST + 1}",
        "/operations/-1",
        "/operations/" + "9" * 300,
        "/hosts/a.example/models/0",
        "/nothing",
        "/",
        "",
    ],
)
def test_what_is_not_there(reader: Program, path: str) -> None:
    wrong(reader.get(path), 404, "")


def test_missing_fields_are_named(reader: Program) -> None:
    wrong(reader.get("/urls"), 400, "url")
    wrong(reader.get("/failures/urls?crawl=c1"), 400, "host")


def test_other_methods_are_refused(reader: Program) -> None:
    for method in ("post", "put", "patch", "delete", "options", "trace"):
        answer = getattr(reader.client, method)(
            "/api/v1/hosts", headers={"Authorization": f"Bearer {reader.token}"}
        )
        wrong(answer, 405, "method")
        assert "GET" in answer.headers["Allow"]
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_an_unchanged_answer_is_not_sent_again(reader: Program) -> None:
    first = reader.get("/hosts")
    assert first.headers["Cache-Control"] == "private, no-cache"
    assert "Access-Control-Allow-Origin" not in first.headers
    again = reader.get("/hosts", If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    assert reader.get("/hosts", If_None_Match='"other"').status_code == 200
    described = reader.client.get(
        "/api/openapi.json", headers={"Authorization": f"Bearer {reader.token}"}
    )
    assert described.headers["ETag"]


def test_long_answers_are_compressed(reader: Program) -> None:
    headers = {"Authorization": f"Bearer {reader.token}", "Accept-Encoding": "gzip"}
    first = reader.client.get("/api/openapi.json", headers=headers)
    assert first.headers["Content-Encoding"] == "gzip"
    again = reader.client.get(
        "/api/openapi.json", headers=headers | {"If-None-Match": first.headers["ETag"]}
    )
    assert again.status_code == 304


def test_the_description_names_every_type(reader: Program) -> None:
    described = reader.description()
    assert described["openapi"] == "3.1.0"
    text = json.dumps(described)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named == set(described["components"]["schemas"])
    assert "$defs" not in text
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            for each in operation["parameters"]:
                assert each["in"] == "path" or each["description"], path
