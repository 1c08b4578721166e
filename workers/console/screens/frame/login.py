"""Login, logout, and the choice of language and time zone."""

from __future__ import annotations

from flask import Response, g, request

from crawlclean.workers.console.access import IDLE_S, LoginResult
from crawlclean.workers.console.formats import zones
from crawlclean.workers.console.guards import session_cookie
from crawlclean.workers.console.routes import Console, Page, Routes, own_path, render, see
from crawlclean.workers.console.words import Language

A_YEAR_S = 31_536_000
STATUS = {LoginResult.WRONG: 403, LoginResult.TOO_OFTEN: 429}


def register(routes: Routes) -> None:
    """Adds the pages and their forms."""
    routes.page("/login", show_login, is_open=True)
    routes.action("/login", log_in, form="login", is_open=True)
    routes.action("/logout", log_out, form="logout")
    routes.page("/preferences", show_preferences)
    routes.action("/preferences", set_preferences, form="preferences")


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
