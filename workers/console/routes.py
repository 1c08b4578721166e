"""How screens register their addresses, and what their views may use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Flask, Response, abort, g, make_response, redirect, render_template, request
from msgspec import Struct, field

from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.actions import Actions
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.remembering import Remembered

Page = str | Response | tuple[str, int]
"""What a view returns: HTML, perhaps with a status, or a whole response."""

LARGEST = (1 << 63) - 1
"""The largest number that a database keeps; in an address a larger one names nothing."""

_NUMBER = re.compile("-?[0-9]{1,19}")

MOST_ROWS, USUAL_ROWS = 200, 50
"""Rows of a list, at most and without ``limit=``."""

MOST_DRAWINGS = 24
"""Three ranges of Now in two languages and some time zones; each some 100 KB."""


class Console(Struct, frozen=True):
    """What the views of a console share.

    Attributes:
        settings: Settings of the process.
        backends: Queue and store, for operations.
        access: Password and sessions.
        actions: What it may do; None: it is read-only.
        drawings: Charts by what is in them: the same for everybody until the next sample.
    """

    settings: Settings
    backends: KeptBackends
    access: Access
    actions: Actions | None = None
    drawings: Remembered = field(default_factory=partial(Remembered, most=MOST_DRAWINGS))


class Routes:
    """Registers the addresses of screens with an application."""

    def __init__(self, app: Flask, console: Console) -> None:
        """Has no addresses yet.

        Args:
            app: The application.
            console: First argument of every view.
        """
        self._app = app
        self._console = console
        self.live_views: set[str] = set()
        self.open_views: set[str] = {"static"}

    def page(self, path: str, view: Callable[..., Page], *, is_open: bool = False) -> None:
        """Adds a page that changes nothing.

        Args:
            path: ``/hosts/<host>``; the names in it are arguments of the view.
            view: Called with the console; its name is the name for ``url_for``.
            is_open: Whether it is answered without a login.
        """
        if is_open:
            self.open_views.add(view.__name__)
        self._app.add_url_rule(
            _rule(path), view.__name__, partial(view, self._console), methods=["GET"]
        )

    def live(self, path: str, view: Callable[..., Page]) -> None:
        """Adds a part of a page that is asked for again and again; 304 while it is unchanged."""

        def answer(**values: Any) -> Response:
            response = make_response(view(self._console, **values))
            response.add_etag(weak=True)
            response.make_conditional(request)
            return response

        self.live_views.add(view.__name__)
        self._app.add_url_rule(_rule(path), view.__name__, answer, methods=["GET"])

    def action(
        self, path: str, view: Callable[..., Page], *, form: str, is_open: bool = False
    ) -> None:
        """Adds a POST; it is refused without the token of its form (``ui.token``).

        Args:
            path: As in ``page``.
            view: As in ``page``.
            form: Name of the form: ``login``.
            is_open: Whether it is answered without a login.
        """

        def answer(**values: Any) -> Page:
            token = request.form.get("token", "")
            if not self._console.access.is_form_token(token, g.session, form):
                abort(403, description="token")
            return view(self._console, **values)

        if is_open:
            self.open_views.add(view.__name__)
        self._app.add_url_rule(_rule(path), view.__name__, answer, methods=["POST"])

    def checked_action(self, path: str, view: Callable[..., Page]) -> None:
        """Adds a POST whose view checks the token: it is bound to more than the form."""
        self._app.add_url_rule(
            _rule(path), view.__name__, partial(view, self._console), methods=["POST"]
        )


def _rule(path: str) -> str:
    """The path for Flask, whose numbers are those that a database keeps."""
    return path.replace("<int:", f"<int(max={LARGEST}):")


def render(template: str, **values: object) -> str:
    """Returns a template, filled: ``render("hosts.html", rows=rows)``."""
    return render_template(template, **values)


def see(path: str) -> Response:
    """Returns a redirection to a page of the console, after a POST."""
    response = redirect(path, code=303)
    assert isinstance(response, Response)  # noqa: S101 - flask types it wider
    return response


def own_path(text: str) -> str:
    """A path of this console; ``/`` for anything that leads elsewhere."""
    is_own = text.startswith("/") and not text.startswith("//") and "\\" not in text
    return text if is_own and text.isprintable() else "/"


def asked_limit() -> int:
    """``limit=`` of the address, 1..200; 50 without one."""
    return max(1, min(MOST_ROWS, request.args.get("limit", USUAL_ROWS, type=int)))


def asked_place() -> tuple[int, str] | None:
    """``after=<value>~<key>`` of the address: ``after=480~www.example.com``; None at the start.

    Raises:
        BadRequest: It is neither.
    """
    text = request.args.get("after", "")
    if not text:
        return None
    value, separator, key = text.partition("~")
    if not separator or not _NUMBER.fullmatch(value) or abs(int(value)) > LARGEST:
        abort(400, description="after")
    return int(value), key


def asked_number() -> int | None:
    """``after=`` of the address where rows have numbers: ``after=480``; None at the start.

    Raises:
        BadRequest: It is no number.
    """
    text = request.args.get("after", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        abort(400, description="after")
    return int(text)


def asked_row() -> tuple[int, str] | None:
    """``after=`` of the address where rows have numbers, as a place in the list: ``(480, "")``."""
    number = asked_number()
    return None if number is None else (number, "")
