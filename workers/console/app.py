"""The Flask application of the console: its screens, filters and error pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from flask import Flask, g, request, url_for
from jinja2 import FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.workers import formats
from crawlclean.workers.console import strangers_text
from crawlclean.workers.console.api import problems
from crawlclean.workers.console.api.serving import FEED, add_api
from crawlclean.workers.console.guards import add_guards
from crawlclean.workers.console.holding import sign_words
from crawlclean.workers.console.routes import Console, Page, Routes, render
from crawlclean.workers.console.screens import (
    acting,
    crawls,
    events,
    failures,
    frame,
    hosts,
    now,
    queues,
    series,
    space,
    topics,
)
from crawlclean.workers.console.screens.pages import pages, search
from crawlclean.workers.console.words import say, told
from crawlclean.workers.operations.acting.running import read_detail
from crawlclean.workers.operations.topics.reading import highlighted
from crawlclean.workers.output import charts
from crawlclean.workers.words import Language, all_words

NAVIGATION: Final = (
    ("now", "show_now", "n"),
    ("crawls", "show_crawls", "c"),
    ("hosts", "show_hosts", "h"),
    ("pages", "show_pages", "p"),
    ("failures", "show_failures", "f"),
    ("queues", "show_queues", "q"),
    ("search", "search", "s"),
    ("topics", "show_topics", "t"),
    ("events", "show_events", "e"),
    ("space", "show_space", "d"),
    ("help", "show_help", "?"),
)
"""Where the frame leads: key of the words ``nav.<key>``, view, key after ``g``."""

ROOM = Path(__file__).parent
MOST_FORM_BYTES = 64 << 10  # the largest form has a query and pages of a topic, some kilobytes
MOST_FIELDS = 100  # more than any form has


def create_app(console: Console, host_names: frozenset[str] = frozenset()) -> Flask:
    """Returns the application of a console.

    Args:
        console: What its views share.
        host_names: Names under which it is reached, besides those of loopback.
    """
    app = Flask("console", root_path=str(ROOM))
    app.jinja_loader = FileSystemLoader([ROOM / "templates", ROOM.parent / "output"])
    app.config.update(MAX_CONTENT_LENGTH=MOST_FORM_BYTES, MAX_FORM_PARTS=MOST_FIELDS)
    app.jinja_options = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    routes = Routes(app, console)
    add_guards(app, console.access, host_names, routes)
    add_screens(routes)
    add_api(app, console)
    routes.open_views.add(FEED)
    _add_filters(app)
    app.context_processor(partial(_shared_values, console, _versions()))
    app.register_error_handler(HTTPException, _show_http_error)
    app.register_error_handler(ServiceError, _show_service_error)
    return app


def add_screens(routes: Routes) -> None:
    """Adds the addresses of all screens."""
    routes.page("/", now.show_now)
    routes.live("/now/live", now.live_now)
    routes.live("/series", series.live_series)
    routes.page("/crawls", crawls.show_crawls)
    routes.page("/crawls/<crawl>", crawls.show_crawl)
    routes.live("/crawls/<crawl>/live", crawls.live_crawl)
    routes.page("/hosts", hosts.show_hosts)
    routes.page("/hosts/<host>", hosts.show_host)
    routes.live("/hosts/<host>/live", hosts.live_host)
    routes.page("/traps", hosts.show_traps)
    routes.page("/pages", pages.show_pages)
    routes.page("/pages/<page_id>", pages.show_page)
    routes.page("/pages/<page_id>/again", pages.show_page_again)
    routes.page("/raw/<page_id>", pages.show_raw)
    routes.page("/pages/<page_id>/versions", pages.show_page_versions)
    routes.page("/failures", failures.show_failures)
    routes.page("/failures/group", failures.show_failure_group)
    routes.page("/queues", queues.show_queues)
    routes.live("/queues/live", queues.live_queues)
    routes.page("/topics", topics.show_topics)
    routes.live("/live/topics", topics.live_topics)  # "live" may be the name of a topic
    routes.page("/topics/<topic>", topics.show_topic)
    routes.live("/topics/<topic>/live", topics.live_topic)
    routes.page("/topics/<topic>/tuning", topics.show_topic_tuning)
    routes.page("/topics/<topic>/pictures/<image>", topics.show_picture)
    routes.action("/topics/<topic>/read", topics.read_topic, form="read")
    routes.page("/topics/<topic>/stories/<story>", topics.show_topic_story)
    routes.page("/events", events.show_events)
    routes.page("/receivers", events.show_receivers)
    routes.page("/space", space.show_space)
    routes.page("/actions/<name>", acting.confirm_action)
    routes.checked_action("/actions/<name>", acting.do_action)
    routes.page("/audit", acting.show_audit)
    routes.page("/audit.jsonl", acting.export_audit)
    routes.page("/audit/<int:seq>", acting.show_action)
    routes.live("/audit/<int:seq>/live", acting.live_action)
    routes.page("/operations", acting.show_operations)
    routes.page("/operations/<int:seq>", acting.show_operation)
    routes.live("/operations/<int:seq>/live", acting.live_operation)
    routes.page("/search", search.search)
    routes.page("/healthz", frame.show_health, is_open=True)
    routes.page("/readyz", frame.show_ready, is_open=True)
    routes.page("/metrics", frame.show_metrics, is_open=True)
    routes.page("/help", frame.show_help)
    routes.page("/login", frame.show_login, is_open=True)
    routes.action("/login", frame.log_in, form="login", is_open=True)
    routes.action("/logout", frame.log_out, form="logout")
    routes.page("/preferences", frame.show_preferences)
    routes.action("/preferences", frame.set_preferences, form="preferences")
    routes.page("/tokens", frame.show_tokens)


def _add_filters(app: Flask) -> None:
    filters = app.jinja_env.filters
    filters["shown"] = strangers_text.shown
    filters["plain"] = strangers_text.plain
    filters["number"] = formats.number
    filters["size"] = formats.size
    filters["percent"] = formats.percent
    filters["iso"] = formats.iso
    filters["highlighted"] = highlighted
    of_request: dict[str, Callable[..., object]] = {
        "local": lambda at: formats.local(at, g.zone),
        "short": lambda at: formats.short(at, g.zone),
        "span": lambda seconds: _span(seconds),
        "ago": lambda at: _distance((at - _now()).total_seconds()),
        "until_s": lambda seconds: _span(seconds, "time.in"),
        "term": lambda value, kind: say(g.language, f"{kind}.{value}"),
        "known_term": _known_term,
        "sign_words": lambda sign: sign_words(sign, g.language),
        "told": lambda line: told(g.get("language", Language.ENGLISH), line),
    }
    filters |= {name: _each_time(each) for name, each in of_request.items()}


def _each_time(answer: Callable[..., object]) -> Callable[..., object]:
    """A filter that Jinja calls for every request.

    It calls others once where their value is a constant: in the language of the first who asks.
    """

    @pass_context
    def call(_context: Context, *values: object) -> object:
        return answer(*values)

    return call


def _now() -> datetime:
    return datetime.now(UTC)


def _known_term(value: str, kind: str) -> object:
    """The words of a value, or the value itself where it has none: a later version wrote it."""
    key = f"{kind}.{value}"
    return say(g.language, key) if key in all_words() else strangers_text.shown(value)


def _span(seconds: float, around: str = "") -> Markup:
    """A duration in words; ``around`` is the key of words with a place for it: ``{span} ago``."""
    span = formats.span_of(seconds)
    words = say(g.language, f"time.{span.unit}", n=span.n)
    return say(g.language, around, span=words) if around else words


def _distance(seconds: float) -> Markup:
    """How far a time is from now, in words: ``in 7 days``; the second that begins now has been."""
    return _span(seconds, "time.in") if seconds >= 1 else _span(-seconds, "time.ago")


def _shared_values(console: Console, versions: Mapping[str, str]) -> dict[str, object]:
    """What every template may use."""

    def asset(name: str) -> str:
        return url_for("static", filename=name, v=versions[name])

    def changed(**values: object) -> str:
        """The address of this page with other values of the query; None takes one out."""
        query = {**request.args.to_dict(), **values}
        kept = {name: str(value) for name, value in query.items() if value is not None}
        return quote(request.path) + (f"?{urlencode(kept)}" if kept else "")

    return {
        "_": partial(say, g.get("language", Language.ENGLISH)),
        "asset": asset,
        "changed": changed,
        "detail_of": read_detail,
        "charts": charts,
        "has_password": console.access.needs_password,
        "language": g.get("language", Language.ENGLISH),
        "me": console.access.name_of(g.get("session", "")),
        "may_act": console.actions is not None,
        "navigation": NAVIGATION,
        "now": _now,
        "program": __dist__,
        "token_of": partial(console.access.form_token, g.get("session", "")),
        "zone": g.get("zone", UTC),
    }


def _versions() -> dict[str, str]:
    """A digest of each static file, which is in its address: browsers keep it for ever."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in (ROOM / "static").iterdir()
        if path.is_file()
    }


def _show_http_error(error: HTTPException) -> Page:
    if request.path.startswith(problems.PREFIX):
        return problems.of_http_error(error)
    status = error.code or 500
    known = {400, 401, 403, 404, 405, 413, 421, 429, 500, 503}
    key = f"error.{status if status in known else 500}"
    return render("error.html", status=status, key=key, detail=""), status


def _show_service_error(error: ServiceError) -> Page:
    if isinstance(error, NotFound):
        status = 404
    elif isinstance(error, ConfigError):
        status = 400
    else:
        status = 503 if error.retryable else 500
    return render("error.html", status=status, key=f"error.{status}", detail=str(error)), status
