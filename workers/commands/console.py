"""`console`, `console tokens`: the operators' console, and tokens for its API."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.console_tokens import TokenScope
from crawlclean.workers.commands.arguments import Rows, argument, asking, command, either_of
from crawlclean.workers.config import Settings
from crawlclean.workers.spoken import say, told

if TYPE_CHECKING:
    from crawlclean.storage.console_tokens import TokenLine
    from crawlclean.workers.operations.backends import Backends


# `console`: serves the operators' console.

CONSOLE_DESCRIPTION = (
    "Serves pages for operators at http://127.0.0.1:8484/: what crawls, what holds it back, which "
    "hosts are in trouble. Without --allow-actions the pages change nothing. A new password is "
    "printed at every start."
)


@command(
    CONSOLE_DESCRIPTION,
    argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen at (default 127.0.0.1)",
    ),
    argument(
        "--port", type=int, default=8484, help="port to listen at; 0: any free one (default 8484)"
    ),
    argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="file with the password, instead of a new one at every start",
    ),
    argument("--no-password", action="store_true", help="let everybody in who reaches the port"),
    argument(
        "--allow-actions",
        action="store_true",
        help="show forms that pause, retry, re-clean, delete; every action is kept in the audit",
    ),
    argument(
        "--host-name",
        action="append",
        default=[],
        metavar="NAME",
        help="name under which browsers reach the console; may be repeated (default: the names "
        "of loopback)",
    ),
    argument(
        "--behind",
        default="",
        metavar="ADDRESS",
        help="address of the proxy that ends TLS, whose X-Forwarded headers are believed",
    ),
)
def console(settings: Settings, arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    from crawlclean.workers.console.serving import Serving, serve

    if arguments.no_password and arguments.password_file:
        raise ConfigError("--no-password and --password-file exclude each other")
    if not 0 <= arguments.port < 1 << 16:
        raise ConfigError(f"--port {arguments.port} is not a port")
    serving = Serving(
        host=arguments.host,
        port=arguments.port,
        password=_password(arguments.password_file) if arguments.password_file else "",
        is_open=arguments.no_password,
        host_names=frozenset(name.lower().rstrip(".") for name in arguments.host_name),
        behind=arguments.behind,
        allows_actions=arguments.allow_actions,
    )
    serve(settings, serving, _tell)
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(f"{told(line)}\n")
    sys.stdout.flush()


def _password(path: Path) -> str:
    """The password in a file.

    Raises:
        ConfigError: The file cannot be read, or has none.
    """
    try:
        password = path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(f"--password-file: cannot read {path} ({error})") from None
    if not password:
        raise ConfigError(f"--password-file: {path} is empty")
    return password


# `console tokens`: makes, lists and revokes tokens of the console's API.

HEAD = ("ID", "NAME", "SCOPE", "MADE", "EXPIRES", "LAST USED")
TOKENS_DESCRIPTION = (
    "Lists the tokens with which programs use the console's API. With --new makes one and prints "
    "it; it is not shown again. With --revoke the token counts no more, also for a console that "
    "runs."
)


@asking(
    TOKENS_DESCRIPTION,
    either_of(
        argument("--new", metavar="NAME", help="make a token for this purpose"),
        argument("--revoke", metavar="ID", help="revoke a token"),
    ),
    argument(
        "--scope",
        dest="permits",  # the setting of this name is that of a crawl
        type=TokenScope,
        choices=list(TokenScope),
        help="what a new token permits: read; act: also what can be taken back; admin: also what "
        "deletes (default read)",
    ),
    argument(
        "--days", type=int, metavar="N", help="a new token ends after N days (default: never)"
    ),
)
def tokens(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The tokens, a new one, or the one that was revoked."""
    from crawlclean.workers.operations.api_tokens import list_tokens, make_token, revoke_token

    data = backends.settings.storage.data
    if asked.new is None and (asked.permits or asked.days is not None):
        raise ConfigError("--scope and --days are for a new token: --new NAME")
    if asked.new is not None:
        made = make_token(data, asked.new, asked.permits or TokenScope.READ, asked.days)
        return Rows(found=[made], lines=lambda each: [each.token])
    if asked.revoke is not None:
        gone = revoke_token(data, asked.revoke)
        line = say("token {gone.id} ({gone.name}) is revoked", gone=gone)
        return Rows(found=[gone], lines=lambda _: [line])
    empty = "there is no token"
    return Rows(found=list_tokens(data), head=HEAD, row=_row, empty=empty, fit=False)


def _row(token: TokenLine) -> tuple[str, ...]:
    ends = minute(token.expires_at) if token.expires_at else say("never")
    used = minute(token.used_at) if token.used_at else say("never")
    return token.id, token.name, token.scope, minute(token.created_at), ends, used
