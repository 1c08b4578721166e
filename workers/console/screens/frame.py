"""What is around the screens: login, help, tokens of the API, and what programs ask."""

from __future__ import annotations

from flask import Response, g, request

from crawlclean import __dist__
from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.live_state import SILENT_S
from crawlclean.workers.console.access import IDLE_S, LoginResult
from crawlclean.workers.console.guards import session_cookie
from crawlclean.workers.console.routes import Console, Page, own_path, render, see
from crawlclean.workers.formats import zones
from crawlclean.workers.metrics import read_metrics
from crawlclean.workers.operations.api_tokens import list_tokens
from crawlclean.workers.operations.watching.signs.judging import NEWEST, STILL_S
from crawlclean.workers.operations.watching.space import (
    LOW_LEAST_BYTES,
    LOW_MOST_BYTES,
    LOW_QUOTA_SHARE,
    LOW_SHARE,
)
from crawlclean.workers.words import Language

# What programs ask: whether the console lives, whether queue and store answer, the metrics.

TEXT = "text/plain; charset=utf-8"
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def show_health(_console: Console) -> Page:
    """200: the process answers."""
    return Response("ok\n", 200, content_type=TEXT)


def show_ready(console: Console) -> Page:
    """200: queue and store answer, or there is no crawl; 503 otherwise."""
    is_ready = console.backends.is_answering()
    return Response("ok\n" if is_ready else "away\n", 200 if is_ready else 503, content_type=TEXT)


def show_metrics(console: Console) -> Page:
    """The counters and gauges of all processes in Prometheus' format; 503 while no queue runs."""
    if not _may_read(console):
        return Response("401\n", 401, {"WWW-Authenticate": 'Basic realm="console"'})
    try:
        with console.backends.queue() as frontier:
            text = read_metrics(frontier, console.settings.storage)
    except ServiceError as error:
        return Response(f"{error}\n", 503, content_type=TEXT)
    return Response(text, 200, content_type=METRICS_TYPE)


def _may_read(console: Console) -> bool:
    access, given = console.access, request.authorization
    if access.is_logged_in(g.session):
        return True
    if given is None or given.password is None:
        return False
    if not access.is_known(given.password, request.remote_addr or ""):
        return False
    access.welcome(request.headers["Authorization"])
    return True


# Help: what is wrong and what mends it, which page answers what, keys, what programs may ask.

TERMS = (
    "crawl", "record", "cleaning", "raw", "model", "changed", "url_class", "trap", "poison",
    "spider", "worker", "housekeeper", "job", "topic",
)  # fmt: skip
"""Words that the page explains: ``glossary.crawl`` by ``meaning.crawl``."""

TROUBLES = (
    "paused",
    "wall",
    "changed",
    "room",
    "full",
    "receiver",
    "refuses",
    "seed",
    "still",
    "slower",
    "forms",
    "grows",
    "harvest",
    "repeats",
    "shrunk",
    "silent",
    "poison",
    "failing",
    "behind",
)
"""Troubles that the page explains, each with three words: ``help.see_paused``."""


def show_help(_console: Console) -> Page:
    """The page."""
    figures = {
        "silent_s": round(SILENT_S),
        "still_s": round(STILL_S),
        "newest": NEWEST,
        "low_share": round(100 * LOW_SHARE),
        "low_gib": LOW_MOST_BYTES >> 30,
        "low_mib": LOW_LEAST_BYTES >> 20,
        "quota_share": round(100 * LOW_QUOTA_SHARE),
    }
    return render("help.html", troubles=TROUBLES, terms=TERMS, figures=figures)


# Login, logout, and the choice of language and time zone.

A_YEAR_S = 31_536_000  # who comes back after a year chooses once more
STATUS = {LoginResult.WRONG: 403, LoginResult.TOO_OFTEN: 429}


def show_login(console: Console) -> Page:
    """The form for the password; the page asked for where nobody has to log in."""
    to = own_path(request.args.get("to", "/"))
    if console.access.is_logged_in(g.session):
        return see(to)
    return render("login.html", to=to, result="")


def log_in(console: Console) -> Page:
    """Opens a session and leads to the page that was asked for."""
    to = own_path(request.form.get("to", "/"))
    result, session = console.access.login(
        request.form.get("password", ""), request.remote_addr or ""
    )
    if result is not LoginResult.OPENED:
        return render("login.html", to=to, result=result.value), STATUS[result]
    response = see(to)
    response.set_cookie(
        session_cookie(),
        session,
        max_age=IDLE_S,
        httponly=True,
        samesite="Lax",  # Strict logs out whoever follows a link from a chat
        secure=request.is_secure,
    )
    return response


def log_out(console: Console) -> Page:
    """Ends the session."""
    console.access.logout(g.session)
    response = see("/login")
    response.delete_cookie(session_cookie())
    return response


def show_preferences(_console: Console) -> Page:
    """The form for language and time zone."""
    to = own_path(request.args.get("to", "/"))
    return render(
        "preferences.html", to=to, zones=sorted(zones()), chosen=request.cookies.get("zone", "UTC")
    )


def set_preferences(_console: Console) -> Page:
    """Keeps language and time zone in cookies."""
    response = see(own_path(request.form.get("to", "/")))
    language, zone = request.form.get("language", ""), request.form.get("zone", "")
    if language in set(Language):
        _keep(response, "language", language)
    if zone in zones():
        _keep(response, "zone", zone)
    return response


def _keep(response: Response, name: str, value: str) -> None:
    response.set_cookie(
        name, value, max_age=A_YEAR_S, httponly=True, samesite="Lax", secure=request.is_secure
    )


# Tokens of the API: who may use it, since when, until when. They are made by a command.


def show_tokens(console: Console) -> Page:
    """Every token without its secret, newest first."""
    found = list_tokens(console.settings.storage.data)
    return render("tokens.html", tokens=found, command=f"{__dist__} console tokens --new NAME")
