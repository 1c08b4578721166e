"""Actions over the API: once a key, by scope, in the audit."""

from __future__ import annotations

import json
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from crawlclean.storage.console_tokens import TokenFile
from crawlclean.workers.console.api.tokens import TokenScope
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.api_tokens import make_token
from tests.kit.api import Program, check, program
from tests.kit.console import acting_console, settings_of
from tests.kit.crawls import run_crawl
from tests.kit.web import Web, html

CRAWL, PAGES = "news", 3
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4
PAUSE, RESUME = "/actions/pause_host", "/actions/resume_host"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("actions")
    links = {f"/{n}.html": f"第{n}页" for n in range(1, PAGES)}
    pages = {path: html(text, f"{text}{TEXT}") for path, text in links.items()}
    with Web(base / "web", {"/": html("首页", TEXT, links=links), **pages}) as web:
        run_crawl(base / "data", web.url("/"), "--crawl", CRAWL)
    return base / "data"


@pytest.fixture(scope="module")
def host(actor: Program) -> str:
    """The only host."""
    (row,) = actor.value("/hosts")["items"]
    return str(row["host"])


def acting(data: Path, scope: TokenScope = TokenScope.ACT) -> Program:
    client = acting_console(settings_of(data), data)
    return Program(client, make_token(data, "acts", scope, None).token)


@pytest.fixture(scope="module")
def actor(data: Path) -> Program:
    return acting(data)


def audited(asking: Program) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = asking.value("/audit?limit=200")["items"]
    return rows


def test_a_host_is_paused_and_resumed_once_a_key(actor: Program, host: str) -> None:
    body = {"target": host, "values": {"why": "too slow"}}
    first = actor.post(PAUSE, body, "one")
    assert first.status_code == 200, first.text
    assert first.get_json()["undo"] == f"resume_host {host}"
    check(actor.description(), "/actions/{name}", first.get_json())
    before = len(audited(actor))
    again = actor.post(PAUSE, body, "one")
    assert (again.status_code, again.data) == (200, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(audited(actor)) == before
    assert actor.value("/hosts?paused=true")["items"][0]["host"] == host
    assert actor.value(f"/hosts/{host}")["is_paused"]
    row = audited(actor)[0]
    assert (row["action"], row["target"], row["did"]) == ("pause_host", host, "hosts 1")
    assert row["who"].startswith("token ")
    other = actor.post(PAUSE, {"target": host}, "one")
    assert (other.status_code, other.content_type) == (422, "application/problem+json")
    assert actor.post(RESUME, {"target": host}, "two").status_code == 200
    assert not actor.value(f"/hosts/{host}")["is_paused"]


def test_keys_of_other_tokens_are_other_keys(data: Path, actor: Program, host: str) -> None:
    assert actor.post(PAUSE, {"target": host}, "shared").status_code == 200
    other = acting(data)
    assert "Idempotency-Replayed" not in other.post(PAUSE, {"target": host}, "shared").headers
    assert other.post(RESUME, {"target": host}, "k").status_code == 200


def test_a_dry_run_counts_and_changes_nothing(actor: Program, host: str) -> None:
    before = audited(actor)
    told = actor.post(PAUSE, {"target": host, "dry_run": True}, "dry").get_json()
    assert told["is_dry_run"]
    assert told["audit"] is None
    assert told["facts"]["records"] == PAGES
    assert audited(actor) == before
    assert not actor.value(f"/hosts/{host}")["is_paused"]


def test_what_is_wrong_is_named_and_does_nothing(actor: Program, host: str) -> None:
    before = len(audited(actor))
    good = {"target": host}
    for path, body, key, status, word in (
        (PAUSE, good, "", 400, "Idempotency-Key"),
        (PAUSE, good, "x" * 129, 400, "Idempotency-Key"),
        (PAUSE, good, "a b", 400, "Idempotency-Key"),
        (PAUSE, {}, "w1", 400, "target"),
        (PAUSE, [], "w2", 400, "object"),
        (PAUSE, {"target": 1}, "w3", 400, "target"),
        (PAUSE, {"target": host, "x": 1}, "w4", 400, "known are"),
        (PAUSE, {"target": host, "values": {"x": "1"}}, "w5", 400, "known are"),
        (PAUSE, {"target": "x" * 5000}, "w6", 400, "target"),
        (PAUSE, {"target": "none.example"}, "w7", 404, "none.example"),
        ("/actions/none", good, "w8", 404, "none"),
        (f"{PAUSE}?x=1", good, "w9", 400, "unknown"),
    ):
        answer = actor.post(path, body, key)
        assert answer.status_code == status, answer.text
        assert answer.content_type == "application/problem+json"
        assert word in answer.get_json()["detail"]
    headers = {"Authorization": f"Bearer {actor.token}", "Idempotency-Key": "raw"}
    for raw, kind, status in (
        (b"target=a", "application/x-www-form-urlencoded", 415),
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b'{"target":"\xff"}', "application/json", 400),
        (b"[" * 50_000, "application/json", 400),
        (b'{"target":"' + b"x" * 100_000 + b'"}', "application/json", 413),
    ):
        answer = actor.client.post(f"/api/v1{PAUSE}", data=raw, headers=headers, content_type=kind)
        assert answer.status_code == status, (raw[:20], answer.text)
        assert answer.content_type == "application/problem+json"
    assert len(audited(actor)) == before


def test_a_failed_action_frees_its_key_when_nothing_was_done(actor: Program) -> None:
    assert actor.post(PAUSE, {"target": "none.example"}, "free").status_code == 404
    again = actor.post(PAUSE, {"target": "none.example"}, "free")
    assert again.status_code == 404


def test_scopes(data: Path, host: str) -> None:
    reader = acting(data, TokenScope.READ)
    refused = reader.post(PAUSE, {"target": host})
    assert refused.status_code == 403
    assert 'scope="act"' in refused.headers["WWW-Authenticate"]
    purge = "/actions/purge_crawl"
    assert "purge_crawl" in ACTIONS
    actor = acting(data)
    assert actor.post(purge, {"target": CRAWL, "confirm": CRAWL}).status_code == 403
    assert actor.post(purge, {"target": CRAWL, "dry_run": True}, "dry").status_code == 200
    admin = acting(data, TokenScope.ADMIN)
    assert admin.post(purge, {"target": CRAWL}).status_code == 400
    assert admin.value(f"/crawls/{CRAWL}")["records"] == PAGES


def test_a_read_only_console_does_nothing_and_keeps_who_asked(data: Path, host: str) -> None:
    asking = program(data, TokenScope.ADMIN)
    refused = asking.post(PAUSE, {"target": host})
    assert refused.status_code == 403
    assert "--allow-actions" in refused.get_json()["detail"]
    assert audited(asking)[0]["did"].startswith("refused")
    assert not asking.value(f"/hosts/{host}")["is_paused"]


def test_a_console_that_died_leaves_the_key_taken(data: Path, actor: Program, host: str) -> None:
    with closing(TokenFile(data)) as file:
        file.begin(actor.token.split("_")[1], "died", b"x")
        taken = actor.post(PAUSE, {"target": host}, "died")
        assert taken.status_code == 422
        raw = json.dumps({"target": host}).encode()
        asked = sha256(f"/api/v1{PAUSE}".encode() + raw).digest()
        file.begin(actor.token.split("_")[1], "died2", asked)
    headers = {"Authorization": f"Bearer {actor.token}", "Idempotency-Key": "died2"}
    answer = actor.client.post(
        f"/api/v1{PAUSE}", data=raw, headers=headers, content_type="application/json"
    )
    assert answer.status_code == 409
    assert answer.headers["Retry-After"]


def test_every_action_is_listed(actor: Program) -> None:
    assert {each["name"] for each in actor.value("/actions")["items"]} == set(ACTIONS)
