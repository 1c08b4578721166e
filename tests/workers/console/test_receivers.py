"""Receivers on the console: made, changed, tried, removed, taken back; no secret is shown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from crawlclean.storage.receiver_types import ReceiverKind, ReceiverOrder, SentMessage
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.console.api.tokens import TokenScope
from tests.kit.api import Program, program
from tests.kit.console import acting_console, do, open_console, settings_of
from tests.kit.receiver import Receiver
from tests.kit.worker_bench import Bench

SECRET = "0a1b2c3d-4e5f-6789-0a1b-2c3d4e5f6789"  # noqa: S105 - of a test
URL = f"https://open.feishu.cn/open-apis/bot/v2/hook/{SECRET}"
ASKED = {"typed_address": URL, "typed_signs": "bad", "typed_ended": "true",
         "typed_digest": "quake", "typed_digest_at": "07:30", "typed_zone": "Asia/Shanghai",
         "typed_quiet": "22:00-07:00", "typed_lang": "zh"}  # fmt: skip


@pytest.fixture
def store(bench: Bench) -> Iterator[SqliteStore]:
    with closing(bench.store()) as opened:
        opened.crawls.all()
        yield opened


@pytest.fixture
def client(bench: Bench, store: SqliteStore) -> FlaskClient:  # noqa: ARG001 - makes the store that the console opens
    return acting_console(settings_of(bench.data), bench.data)


def put(store: SqliteStore, url: str, **wants: Any) -> None:
    order = ReceiverOrder(kind=ReceiverKind.FEISHU, target=url, private=True, **wants)
    store.receivers.put("oncall", order)


def test_a_receiver_is_made_changed_and_removed_and_each_is_taken_back(
    client: FlaskClient, store: SqliteStore
) -> None:
    done = do(client, "set_receiver", "oncall", kind="feishu", **ASKED).text
    (made,) = store.receivers.all()
    assert (made.kind, made.target) == (ReceiverKind.FEISHU, URL)
    assert (made.signs, made.ended, made.digest) == ("bad", True, ("quake",))
    assert (made.quiet, made.zone, made.most_an_hour) == ("22:00-07:00", "Asia/Shanghai", 20)
    screen = client.get("/receivers").text
    assert "open.feishu.cn/open-apis/bot/v2/hook/***" in screen
    confirm = client.get("/actions/set_receiver?target=oncall&kind=feishu").text
    assert 'value="22:00-07:00"' in confirm
    changed = ASKED | {"typed_address": "", "typed_signs": "warn"}
    do(client, "set_receiver", "oncall", kind="feishu", **changed)
    assert [(each.target, each.signs) for each in store.receivers.all()] == [(URL, "warn")]
    do(client, "revert_receiver", "oncall")
    assert [each.signs for each in store.receivers.all()] == ["bad"]
    do(client, "remove_receiver", "oncall")
    assert store.receivers.all() == []
    do(client, "revert_receiver", "oncall")
    assert [each.name for each in store.receivers.all()] == ["oncall"]
    kept = store.audit.read()
    assert {each.undo for each in kept} == {"revert_receiver oncall"}
    for text in (done, screen, confirm, repr(kept)):
        assert SECRET not in text


def test_the_api_lists_sets_and_tries_receivers(bench: Bench, store: SqliteStore) -> None:
    client = acting_console(settings_of(bench.data), bench.data)
    actor = Program(client, program(bench.data, TokenScope.ACT).token)
    values = {
        "kind": "mail",
        "address": "a@example.com",
        "signs": "warn",
        "stories": "quake, flood",
    }
    answer = actor.post("/actions/set_receiver", {"target": "team", "values": values})
    assert answer.status_code == 200, answer.text
    assert answer.get_json()["undo"] == "revert_receiver team"
    (row,) = program(bench.data).value("/receivers")["items"]
    assert (row["name"], row["kind"], row["target"]) == ("team", "mail", "a@example.com")
    assert row["stories"] == ["quake", "flood"]
    store.messages.add(SentMessage(receiver="team", message_id="sign:1", text="地震", n=1))
    (message,) = program(bench.data).value("/receivers/messages")["items"]
    assert (message["receiver"], message["text"], message["error"]) == ("team", "地震", "")


def test_a_test_message_is_sent_by_the_housekeeper_or_at_rest_at_once(
    client: FlaskClient, store: SqliteStore, tmp_path: Path
) -> None:
    with Receiver(lambda _: 200) as web:
        web.text = '{"code":0}'
        put(store, web.url)
        done = do(client, "test_receiver", "oncall").text
        assert "list of what was sent" in done
        (row,) = store.receivers.waiting(store.receivers.all()[0], 9)
        assert (row.level, web.got) == ("test", [])
        with closing(SqliteStore(tmp_path / "records.sqlite")) as at_rest:
            put(at_rest, web.url, quiet="00:00-23:59")
            do(acting_console(settings_of(tmp_path), tmp_path), "test_receiver", "oncall")
            assert [got.json["content"]["text"].splitlines()[0] for got in web.got] == [
                "Test message to oncall"
            ]
            web.text = '{"code":19021,"msg":"sign match fail"}'
            done = do(
                acting_console(settings_of(tmp_path), tmp_path), "test_receiver", "oncall"
            ).text
            assert "code 19021: sign match fail" in done
            screen = open_console(tmp_path).get("/receivers").text
            assert screen.count("not taken") == 1
            assert "not reached" in screen


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (
            {"typed_address": "http://127.0.0.1:6379/"},
            "a private address is allowed by the command",
        ),
        ({"typed_address": "ftp://a.example/"}, "begins with http:// or https://"),
        ({"typed_address": URL, "typed_quiet": "25:00"}, "quiet is 25:00: expected a time"),
        ({"typed_address": URL, "typed_zone": "Mars"}, "zone is Mars: expected a time zone"),
        ({"typed_address": URL, "typed_most_an_hour": "many"}, "most_an_hour: Expected `int`"),
    ],
)
def test_what_cannot_be_is_refused(
    client: FlaskClient, store: SqliteStore, values: dict[str, str], error: str
) -> None:
    done = do(client, "set_receiver", "oncall", kind="feishu", **values).text
    assert error in html.unescape(re.sub("<[^>]+>", "", done))
    assert store.receivers.all() == []


def test_a_private_receiver_stays_so_at_its_address_alone(
    client: FlaskClient, store: SqliteStore
) -> None:
    put(store, "http://127.0.0.1:8000/")
    do(client, "set_receiver", "oncall", kind="feishu", typed_signs="bad")
    assert [each.signs for each in store.receivers.all()] == ["bad"]
    do(client, "set_receiver", "oncall", kind="feishu", typed_address="http://127.0.0.1:6379/")
    assert [each.target for each in store.receivers.all()] == ["http://127.0.0.1:8000/"]


def test_a_receiver_that_is_away_is_a_sign_with_a_button(
    client: FlaskClient, store: SqliteStore
) -> None:
    put(store, URL)
    (kept,) = store.receivers.all()
    began = datetime.now(UTC) - timedelta(minutes=3)
    store.receivers.failed(kept, "status 500", began, began)
    page = html.unescape(re.sub("</?bdi>", "", client.get("/").text))
    assert "messages do not arrive" in page
    assert "not reached for 3 min, 0 messages wait: status 500" in page
    assert 'href="/actions/test_receiver?target=oncall"' in page
