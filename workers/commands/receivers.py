"""`receivers`: who is told of signs, stories and ends of crawls, and what was sent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import minute
from crawlclean.workers.commands.arguments import Exit, Rows, argument, asking, either_of, limit
from crawlclean.workers.spoken import say, term, told

if TYPE_CHECKING:
    from crawlclean.workers.operations.backends import Backends


@asking(
    "Lists the receivers; with KEY=VALUE makes one, or changes these keys: those of the table "
    "[receivers.NAME] of a crawl file, lists with commas. Example: receivers oncall kind=feishu "
    "target=https://open.feishu.cn/open-apis/bot/v2/hook/... signs=bad quiet=22:00-07:00 "
    "zone=Asia/Shanghai lang=zh. Secrets are settings (receiver_secrets, smtp_password).",
    argument("name", metavar="NAME", help="name of a receiver"),
    argument("values", nargs="*", default=(), metavar="KEY=VALUE", help="what is asked of it"),
    either_of(
        argument("--test", action="store_true", help="send a test message at once"),
        argument("--remove", action="store_true", help="remove the receiver"),
        argument("--undo", action="store_true", help="take its last change, or its removal, back"),
        argument("--log", action="store_true", help="list the messages that were sent, or failed"),
    ),
    limit(20),
)
def receivers(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The receivers, or the log of what was sent."""
    from crawlclean.workers.operations.alerting import receivers as operations

    name, acts = asked.name, asked.test or asked.remove or asked.undo
    if acts and not name:
        raise ConfigError("name the receiver: receivers NAME --test")
    if asked.values and (acts or asked.log):
        raise ConfigError("KEY=VALUE stands alone: leave --test, --remove, --undo and --log out")
    if asked.log:
        messages = operations.list_messages(backends, name, limit=asked.limit)
        return Rows(found=messages.items, lines=_message, empty="no message was sent")
    if asked.test:
        sent = operations.try_receiver(backends.settings, name)
        status = Exit.FAILED if sent.error else Exit.DONE
        return Rows(found=[sent], lines=_message, status=status)
    with backends.store() as store:
        if asked.remove:
            operations.remove_receiver(store, name)
        elif asked.undo:
            operations.revert_receiver(store, name)
        elif asked.values:
            values = operations.read_values(asked.values)
            operations.set_receiver(backends.settings, store, name, values)
        elif name:
            operations.find_receiver(store, name)
        found = [each for each in operations.receiver_lines(store) if name in ("", each.name)]
    return Rows(found=found, lines=_lines, empty="there is no receiver")


def _lines(each: Any) -> list[str]:
    from crawlclean.workers.output.topic_report import receiver_state

    wants = [f"{key}={_shown(getattr(each, key))}" for key in WANTS if getattr(each, key)]
    return [f"{each.name}  {term('receiver', each.kind)}  {each.target}",
            f"  {' '.join(wants)}", f"  {receiver_state(each)}"]  # fmt: skip


WANTS = ("signs", "ended", "stories", "digest", "digest_at", "zone", "quiet", "red_passes",
         "most_an_hour", "lang")  # fmt: skip


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _message(each: Any) -> tuple[str]:
    how = say("not taken: {error}", error=told(each.error)) if each.error else say("sent")
    return (f"{minute(each.at)}  {each.receiver}  {each.text}  ({how})",)
