"""What every request passes, and every answer gets, whichever screen it is for."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Flask, Response, abort, g, redirect, request, url_for

from crawlclean.workers.console.access import Access
from crawlclean.workers.console.api.problems import PREFIX
from crawlclean.workers.console.routes import Routes
from crawlclean.workers.console.words import language_of
from crawlclean.workers.formats import zone_of

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
FROM_BYTES = 8 << 10
"""Answers from this size are compressed. The size of a compressed answer betrays a secret that
stands in it beside a text of somebody else's choice, if many answers have the same secret (BREACH).
None has: the token of a form differs in each answer (``access.py``), the session is in a cookie
that no answer repeats, and the secret of an API token is shown once, by the command."""

GZIP_LEVEL = 5  # beyond it a page takes longer, and hardly gets smaller
A_YEAR_S = 31_536_000  # the address of a static file has its digest: it never changes

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would make browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def session_cookie() -> str:
    """Name of the session's cookie: cookies know no ports, and two consoles may share a name."""
    return f"console_{urlsplit(f'//{request.host}').port or 'web'}"


def add_guards(app: Flask, access: Access, host_names: frozenset[str], routes: Routes) -> None:
    """Adds the checks of requests and the headers of answers.

    Args:
        app: The application.
        access: Who may use it.
        host_names: Names of this console besides those of loopback; any port.
        routes: The addresses that need no login, and those that are parts of pages.
    """
    names = LOOPBACK_NAMES | host_names

    def check_host() -> Response | None:
        """421 for a name that is not ours: a page elsewhere whose name leads to this machine."""
        if _name_of(request.host) not in names:
            return Response("421: not a name of this console; see --host-name\n", 421, HEADERS)
        return None

    def prepare() -> None:
        g.language = language_of(
            request.cookies.get("language"), request.headers.get("Accept-Language", "")
        )
        g.zone = zone_of(request.cookies.get("zone"))
        g.session = request.cookies.get(session_cookie(), "")

    def check_origin() -> Response | None:
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            origin = request.headers.get("Origin", "")
            if not origin or urlsplit(origin).netloc != request.host:
                abort(403, description="origin")
        return None

    def check_login() -> Response | None:
        if request.endpoint in routes.open_views or access.is_logged_in(g.session):
            return None
        if request.endpoint in routes.live_views or request.method != "GET":
            return Response("401\n", 401)
        response = redirect(url_for("show_login", to=request.full_path.rstrip("?")), 303)
        return response if isinstance(response, Response) else None

    def only_pages(check: Callable[[], Response | None]) -> Callable[[], Response | None]:
        """The check, but for the API: it has tokens, and cookies do not count there."""
        return lambda: None if request.path.startswith(PREFIX) else check()

    for check in (check_host, prepare, only_pages(check_origin), only_pages(check_login)):
        app.before_request(check)
    app.after_request(_compressed)
    app.after_request(_with_headers)


def _name_of(host: str) -> str:
    """The name in a Host header, lower case, without port and final dot."""
    name = host.lower()
    if not name.startswith("["):
        return name.partition(":")[0].rstrip(".")
    return name.partition("]")[0] + "]"


def _with_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.endpoint == "static" and response.status_code == 200:
        response.headers["Cache-Control"] = f"max-age={A_YEAR_S}, immutable"
    return response


def _compressed(response: Response) -> Response:
    response.vary.add("Accept-Encoding")
    response.vary.add("Cookie")
    wanted = "gzip" in request.headers.get("Accept-Encoding", "")
    if not wanted or response.status_code != 200 or response.direct_passthrough:
        return response
    body = response.get_data()
    if len(body) >= FROM_BYTES and "Content-Encoding" not in response.headers:
        response.set_data(gzip.compress(body, GZIP_LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response
