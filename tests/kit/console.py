"""The console in tests: its application over a data folder, and a browser's part of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from storage.config import StorageConfig
from storage.console_file import ConsoleFile
from workers.config import Settings
from workers.console.access import Access
from workers.console.app import create_app
from workers.console.routes import Console
from workers.operations.watching.kept_backends import KeptBackends

PASSWORD = "correct horse"  # noqa: S105 - of tests
ORIGIN = {"Origin": "http://localhost"}


def settings_of(data: Path) -> Settings:
    """Settings of the embedded mode in a folder."""
    return Settings(storage=StorageConfig(data=data))


def open_console(data: Path) -> FlaskClient:
    """A client of a console without a password."""
    settings = settings_of(data)
    console = Console(settings, KeptBackends(settings), Access(None))
    return create_app(console).test_client()


@contextmanager
def console_of(settings: Settings) -> Iterator[FlaskClient]:
    """A client of a console without a password, whose connections are closed at the end."""
    backends = KeptBackends(settings)
    try:
        yield create_app(Console(settings, backends, Access(None))).test_client()
    finally:
        backends.close()


def guarded_console(data: Path) -> FlaskClient:
    """A client of a console with ``PASSWORD``, not logged in."""
    settings = settings_of(data)
    access = Access(ConsoleFile(data), PASSWORD)
    console = Console(settings, KeptBackends(settings), access)
    return create_app(console, frozenset({"ops.example"})).test_client()


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
