"""`console`: serves the operators' console."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.commands.arguments import Commands
from crawlclean.workers.config import Settings

DESCRIPTION = (
    "Serves pages for operators at http://127.0.0.1:8484/: what crawls, what holds it back, which "
    "hosts are in trouble. Without --allow-actions the pages change nothing. A new password is "
    "printed at every start."
)


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("console", run, "serve the operators' console", DESCRIPTION)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen at (default 127.0.0.1)",
    )
    parser.add_argument(
        "--port", type=int, default=8484, help="port to listen at; 0: any free one (default 8484)"
    )
    parser.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="file with the password, instead of a new one at every start",
    )
    parser.add_argument(
        "--no-password", action="store_true", help="let everybody in who reaches the port"
    )
    parser.add_argument(
        "--allow-actions",
        action="store_true",
        help="show forms that pause, retry, re-clean, delete; every action is kept in the audit",
    )
    parser.add_argument(
        "--host-name",
        action="append",
        default=[],
        metavar="NAME",
        help="name under which browsers reach the console; may be repeated (default: the names "
        "of loopback)",
    )
    parser.add_argument(
        "--behind",
        default="",
        metavar="ADDRESS",
        help="address of the proxy that ends TLS, whose X-Forwarded headers are believed",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
    sys.stdout.write(f"{line}\n")
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
