"""The API in tests: a data folder with something of everything, and a program with a token."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from crawlclean.storage.opening import open_store
from crawlclean.storage.receiver_types import ReceiverKind, ReceiverOrder, SentMessage
from crawlclean.storage.store.journal import Action, Event, EventKind, Operation
from crawlclean.workers.console.api.tokens import TokenScope
from crawlclean.workers.operations.api_tokens import make_token
from tests.kit.commands import call
from tests.kit.console import open_console, settings_of
from tests.kit.crawls import crawlclean
from tests.kit.outcomes import make_failure
from tests.kit.topic_web import PORTAL, QUERY, topic_web
from tests.kit.web import html

A, B = "a.example", "b.example"
IMPORTED, TOPIC = "import", "quake"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 8
FOOT = "版权所有 晨报 京ICP备00000001号"
PAGES = 9
EVENTS = 7
DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"
RUNNING = "While a crawl runs"
"""Begins the examples whose values are those of a running crawl."""


def examples(begin: str = "") -> list[tuple[list[str], Any]]:
    """(Arguments of curl, answer) of each example of ``docs/api.md``.

    Args:
        begin: ``RUNNING``, or ``""`` for those of data at rest.
    """
    rest, _, running = DOCUMENT.read_text("utf-8").partition(RUNNING)
    found = []
    for block in re.findall(
        r"^```console\n\$ curl (.*?)^```", running if begin else rest, re.M | re.S
    ):
        line, _, printed = block.partition("\n")
        found.append((shlex.split(line), json.loads(printed)))
    return found


@dataclass(frozen=True)
class Program:
    """A program that uses the API with a token.

    Attributes:
        client: What it asks.
        token: Its token.
    """

    client: FlaskClient
    token: str

    def get(self, path: str, **headers: str) -> TestResponse:
        """The answer to ``/hosts?limit=1`` below ``/api/v1``."""
        return self.client.get(f"/api/v1{path}", headers=self._headers(headers))

    def post(self, path: str, body: Any = None, key: str = "k", **headers: str) -> TestResponse:
        """The answer to an action."""
        given = self._headers(headers) | ({"Idempotency-Key": key} if key else {})
        return self.client.post(f"/api/v1{path}", json=body, headers=given)

    def value(self, path: str) -> Any:
        """The JSON of an answer that succeeds."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json

    def description(self) -> dict[str, Any]:
        """``/api/openapi.json``."""
        answer = self.client.get("/api/openapi.json", headers=self._headers({}))
        assert answer.status_code == 200, answer.text
        described: dict[str, Any] = answer.get_json()
        return described

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {"Authorization": f"Bearer {self.token}"} | named


def program(data: Path, scope: TokenScope = TokenScope.READ) -> Program:
    """A program with a new token of a data folder."""
    return Program(open_console(data, search=True), make_token(data, "tests", scope, None).token)


def fill(base: Path) -> Path:
    """Makes a data folder: a topic's crawl, an import with models and stories, failures, events."""
    data = base / "data"
    with topic_web(base / "web", 3) as web:
        seeds = base / "seeds.txt"
        seeds.write_text(web[PORTAL].url("/") + "\n", "utf-8")
        crawlclean(
            "topic", TOPIC, "--seeds", str(seeds), "--query", QUERY, "--allow-private",
            "--delay", "0", "--data", str(data),
        )  # fmt: skip
    fill_imported(data)
    assert call(settings_of(data, search=True), "search", "正文", "--limit", "1") == 0
    return data


def fill_imported(data: Path) -> None:
    """Adds the import, failures, events: the same rows and times each time."""
    rows = [
        {
            "url": f"http://{host}/{n}.html",
            "fetched_at": f"2026-03-01T12:00:0{n}Z",
            "html": html(f"页{n}", f"{n}{TEXT}", f"<p>{FOOT}</p><img src='/{n}.png'>"),
        }
        for host in (A, B)
        for n in range(PAGES)
    ]
    data.mkdir(parents=True, exist_ok=True)
    file = data.parent / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    settings = settings_of(data)
    assert call(settings, "import", str(file)) == 0
    with closing(open_store(settings.storage)) as store:
        store.save([make_failure(f"/t/{n}", crawl_id=IMPORTED) for n in range(5)])
        store.statistics.refresh()
        for n in range(EVENTS):
            store.events.add(Event(kind=EventKind.DIED, text=f"process {n}", link="machine.1"))
        done = store.audit.begin(
            Action(who="token 4f1193a0", place="127.0.0.1", action="pause_host", target=A)
        )
        store.audit.end(done, "hosts 1", f"resume_host {A}")
        store.operations.add(Operation(kind="retry", target=IMPORTED, who="token 4f1193a0"))
        store.receivers.put("oncall", ReceiverOrder(kind=ReceiverKind.SLACK, target="http://c/"))
        store.messages.add(SentMessage(receiver="oncall", message_id="sign:4f", text="t", n=1))


def all_items(asking: Program, path: str, limit: int) -> list[Any]:
    """Every row of a list, read in parts."""
    sign = "&" if "?" in path else "?"
    items, after = [], ""
    while True:
        page = asking.value(f"{path}{sign}limit={limit}{after}")
        assert len(page["items"]) <= limit
        items += page["items"]
        if page["next"] is None:
            return items
        assert page["items"]
        after = f"&after={page['next']}"


def check(described: dict[str, Any], template: str, value: Any, status: int = 200) -> None:
    """Checks an answer of ``/hosts/{host}`` against its schema in the description."""
    _validator(json.dumps(described), template, status).validate(value)


@cache
def _validator(described: str, template: str, status: int) -> Any:
    document = json.loads(described)
    operation = document["paths"][f"/api/v1{template}"]
    content = next(iter(operation.values()))["responses"][str(status)]["content"]
    (media,) = content.values()
    schema = {**media["schema"], "components": document["components"]}
    checker = jsonschema.FormatChecker()
    return jsonschema.Draft202012Validator(schema, format_checker=checker)
