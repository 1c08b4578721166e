"""What programs ask: whether the console lives, whether queue and store answer, the metrics."""

from __future__ import annotations

from flask import Response, g, request

from crawlclean.cleaning.errors import ServiceError
from crawlclean.workers.console.routes import Console, Page, Routes
from crawlclean.workers.operations.watching.now.moment_metrics import read_metrics

TEXT = "text/plain; charset=utf-8"
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def register(routes: Routes) -> None:
    """Adds the three addresses; counters need the password (HTTP Basic, any user name)."""
    routes.page("/healthz", show_health, is_open=True)
    routes.page("/readyz", show_ready, is_open=True)
    routes.page("/metrics", show_metrics, is_open=True)


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
