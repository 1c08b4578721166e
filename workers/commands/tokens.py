"""`tokens`: makes, lists and revokes tokens of the console's API."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.console_tokens import TokenScope
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.answers.tokens import TokenLine

HEAD = ("ID", "NAME", "SCOPE", "MADE", "EXPIRES", "LAST USED")
DESCRIPTION = (
    "Lists the tokens with which programs use the console's API. With --new makes one and prints "
    "it; it is not shown again. With --revoke the token counts no more, also for a console that "
    "runs."
)


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("tokens", run, "tokens for the console's API", DESCRIPTION)
    add_json(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--new", metavar="NAME", help="make a token for this purpose")
    which.add_argument("--revoke", metavar="ID", help="revoke a token")
    parser.add_argument(
        "--scope",
        dest="permits",  # the setting of this name is that of a crawl
        type=TokenScope,
        choices=list(TokenScope),
        help="what a new token permits: read; act: also what can be taken back; admin: also what "
        "deletes (default read)",
    )
    parser.add_argument(
        "--days", type=int, metavar="N", help="a new token ends after N days (default: never)"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the tokens, a new one, or the one that was revoked."""
    from crawlclean.workers.operations.api_tokens import list_tokens, make_token, revoke_token
    from crawlclean.workers.output.printing import print_answer, table

    data = settings.storage.data
    if arguments.new is None and (arguments.permits or arguments.days is not None):
        raise ConfigError("--scope and --days are for a new token: --new NAME")
    if arguments.new is not None:
        made = make_token(data, arguments.new, arguments.permits or TokenScope.READ, arguments.days)
        if arguments.json:
            print_answer(made)
        else:
            sys.stdout.write(f"{made.token}\n")
        return 0
    if arguments.revoke is not None:
        gone = revoke_token(data, arguments.revoke)
        if arguments.json:
            print_answer(gone)
        else:
            sys.stdout.write(f"token {gone.id} ({gone.name}) is revoked\n")
        return 0
    found = list_tokens(data)
    if arguments.json:
        for each in found:
            print_answer(each)
        return 0
    sys.stdout.write(table([HEAD, *map(_row, found)]) if found else "there is no token\n")
    return 0


def _row(token: TokenLine) -> tuple[str, ...]:
    ends = minute(token.expires_at) if token.expires_at else "never"
    used = minute(token.used_at) if token.used_at else "never"
    return token.id, token.name, token.scope, minute(token.created_at), ends, used
