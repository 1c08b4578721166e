"""Serves the console by waitress, until it is interrupted."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from msgspec import Struct
from waitress.server import TcpWSGIServer, create_server

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.console_tokens import ConsoleFile
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access, generated_password
from crawlclean.workers.console.actions import Actions
from crawlclean.workers.console.app import create_app
from crawlclean.workers.console.connections import CONNECTIONS, Connection, Door
from crawlclean.workers.console.guards import LOOPBACK_NAMES
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.watching.indexing import Indexing
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

THREADS = 4  # an answer takes milliseconds; one that waits for queue or store holds up no other
SPARE_CONNECTIONS = 50
"""Above ``CONNECTIONS``: sockets of the server itself, and answers under way."""

IDLE_CONNECTION_S = 30  # browsers ask again within seconds or not for long; each holds a file
MOST_BODY_BYTES = 1 << 20  # the application refuses less than this with a page
MOST_HEAD_BYTES = 64 << 10  # cookies of other programs on the host are in it; browsers send no more


class Serving(Struct, frozen=True, kw_only=True):
    """Where a console listens, and who may use it.

    Attributes:
        host: Address to listen at.
        port: Port; 0: any free one.
        password: The chosen password; ``""``: one is generated.
        is_open: Whether there is no password.
        host_names: Names under which it is reached, besides those of loopback.
        behind: Address of the proxy whose forwarded headers are believed; ``""``: none.
        allows_actions: Whether it changes anything; otherwise it is read-only.
    """

    host: str = "127.0.0.1"
    port: int = 8484
    password: str = ""
    is_open: bool = False
    host_names: frozenset[str] = frozenset()
    behind: str = ""
    allows_actions: bool = False


def serve(settings: Settings, serving: Serving, tell: Callable[[str], object]) -> None:
    """Serves the console until SIGINT or SIGTERM.

    Args:
        settings: Where queue and store are.
        serving: Where it listens.
        tell: Called with lines for the person who started it: the address, a generated password.

    Raises:
        ConfigError: It cannot listen there, or would listen to a network without a name.
        StoreUnavailable: The data folder cannot be written.
    """
    names = {serving.host, f"[{serving.host}]"}
    if names.isdisjoint(LOOPBACK_NAMES) and not serving.host_names:
        raise ConfigError(
            f"--host {serving.host} is reached from other machines: give the name they use "
            "with --host-name, and put a proxy with TLS in front (--behind)"
        )
    needs_file = serving.allows_actions or not serving.is_open
    file = ConsoleFile(settings.storage.data) if needs_file else None
    password = "" if serving.is_open else serving.password or generated_password()
    access = Access(file, password, is_generated=not serving.password)
    actions = Actions(settings, access, file) if serving.allows_actions and file else None
    backends = KeptBackends(settings)
    logging.getLogger("waitress").setLevel(logging.ERROR)
    app = create_app(Console(settings, backends, access, actions), serving.host_names)
    forwarded = (
        {
            "trusted_proxy": serving.behind,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
        }
        if serving.behind
        else {}
    )
    door = Door(access.is_regular, THREADS)
    server, port = open_server(app, door, host=serving.host, port=serving.port, **forwarded)
    signal.signal(signal.SIGTERM, _end)
    indexing = Indexing(backends)
    tell(f"console at http://{serving.host}:{port}/")
    if not serving.is_open and not serving.password:
        tell(f"password: {password}")
    try:
        server.run()
    finally:
        server.close()
        indexing.close()
        backends.close()
        if file:
            file.close()


def open_server(app: Any, door: Door, *, host: str, port: int, **options: Any) -> tuple[Any, int]:
    """Listens; returns waitress's server, whose ``run`` answers, and the port.

    Args:
        app: The WSGI application.
        door: Hands requests to it.
        host: Address to listen at.
        port: Port; 0: any free one.
        options: More of waitress's: of a proxy in front.

    Raises:
        ConfigError: It cannot listen there.
    """
    sockets: dict[int, Any] = {}
    try:
        server = create_server(
            app,
            map=sockets,
            _dispatcher=door,
            host=host,
            port=port,
            connection_limit=CONNECTIONS + SPARE_CONNECTIONS,
            channel_timeout=IDLE_CONNECTION_S,
            max_request_body_size=MOST_BODY_BYTES,
            max_request_header_size=MOST_HEAD_BYTES,
            clear_untrusted_proxy_headers=True,
            ident=__dist__,
            **options,
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot listen at {host}:{port} ({error})") from error
    listening = [each for each in sockets.values() if isinstance(each, TcpWSGIServer)]
    for each in listening:
        each.channel_class = Connection
    return server, listening[0].effective_port


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
