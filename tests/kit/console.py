"""The console in tests: its application over a data folder, and a browser's part of a dialogue."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.console_tokens import ConsoleFile
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.actions import Actions
from crawlclean.workers.console.app import create_app
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from tests.kit.timing import LIMIT_S

PASSWORD = "correct horse"  # noqa: S105 - of tests
ORIGIN = {"Origin": "http://localhost"}


class CompiledTemplates(BytecodeCache):
    """The templates that an application of this process has compiled, half of the time of one."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code


COMPILED = CompiledTemplates()
BUILDERS: dict[tuple[object, ...], Any] = {}
compile_builder = Rule._compile_builder


def compiled_builder(rule: Rule, append_unknown: bool = True) -> Any:
    """What builds the URLs of a rule, compiled once: most of the time of an application's start."""
    key = (rule.rule, *rule._trace, str(rule.defaults), append_unknown)
    if key not in BUILDERS:
        BUILDERS[key] = compile_builder(rule, append_unknown)
    return BUILDERS[key]


def client_of(console: Console, host_names: frozenset[str] = frozenset()) -> FlaskClient:
    """A client of the application of a console."""
    with patch.object(Rule, "_compile_builder", compiled_builder):
        app = create_app(console, host_names)
    app.jinja_env.bytecode_cache = COMPILED
    return app.test_client()


def settings_of(data: Path, *, search: bool = False) -> Settings:
    """Settings of the embedded mode in a folder."""
    return Settings(storage=StorageConfig(data=data, search=search))


def open_console(data: Path, *, search: bool = False) -> FlaskClient:
    """A client of a console without a password."""
    settings = settings_of(data, search=search)
    console = Console(settings, KeptBackends(settings), Access(None))
    return client_of(console)


@contextmanager
def console_of(settings: Settings) -> Iterator[FlaskClient]:
    """A client of a console without a password, whose connections are closed at the end."""
    backends = KeptBackends(settings)
    try:
        yield client_of(Console(settings, backends, Access(None)))
    finally:
        backends.close()


@contextmanager
def serving(server: Any) -> Iterator[None]:
    """Runs a server of waitress in a thread for the block.

    The thread closes the server's sockets: closed by another one, they may be those that it is
    about to ask whether anything has come.
    """
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield
    finally:
        server.trigger.pull_trigger(lambda: server.asyncore.close_all(server._map))
        thread.join(LIMIT_S)
        server.task_dispatcher.shutdown()


def guarded_console(data: Path) -> FlaskClient:
    """A client of a console with ``PASSWORD``, not logged in."""
    settings = settings_of(data)
    access = Access(ConsoleFile(data), PASSWORD)
    console = Console(settings, KeptBackends(settings), access)
    return client_of(console, frozenset({"ops.example"}))


def token_in(page: TestResponse, action: str) -> str:
    """The token of a page's form."""
    form = re.search(
        rf'action="{re.escape(action)}".*?name="token" value="(\w+)"', page.text, re.DOTALL
    )
    assert form, f"no form to {action} in {page.text}"
    return form[1]


def log_in(client: FlaskClient, password: str = PASSWORD, to: str = "/") -> TestResponse:
    """Sends the login form; the answer to it."""
    token = token_in(client.get("/login"), "/login")
    return client.post(
        "/login", data={"token": token, "password": password, "to": to}, headers=ORIGIN
    )


def acting_console(
    settings: Settings, data: Path, backends: KeptBackends | None = None
) -> FlaskClient:
    """A client of a console that allows actions, without a password."""
    backends = backends or KeptBackends(settings)
    file = ConsoleFile(data)
    access = Access(file, is_generated=True)
    actions = Actions(settings, access, file)
    return client_of(Console(settings, backends, access, actions))


def fields_in(page: TestResponse) -> dict[str, str]:
    """The hidden fields of the form of a confirm page."""
    main = page.text.partition('<form method="post" action="/actions/')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', main)
    assert found, page.text
    return {name: html.unescape(value) for name, value in found}


def parts_of(client: FlaskClient, address: str) -> Iterator[str]:
    """The pages of a list, each behind the link of the one before."""
    while address:
        page = client.get(address)
        assert page.status_code == 200, page.text
        yield page.text
        following = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = html.unescape(following[1]) if following else ""


def do(client: FlaskClient, name: str, target: str, **values: str) -> TestResponse:
    """Opens the confirm page of an action and sends its form; the page that follows.

    Values with a ``typed_`` before their name are typed on the page: ``typed_why="too slow"``.
    """
    given = {key: text for key, text in values.items() if not key.startswith("typed_")}
    page = client.get(f"/actions/{name}", query_string={"target": target, **given})
    assert page.status_code == 200, page.text
    typed = {key.removeprefix("typed_"): text for key, text in values.items() if key not in given}
    form = fields_in(page) | typed
    answer = client.post(f"/actions/{name}", data=form, headers=ORIGIN)
    assert answer.status_code == 303, answer.text
    return client.get(answer.location)
