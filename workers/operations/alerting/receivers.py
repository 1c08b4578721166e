"""Receivers of messages, as an operator sets, removes, tries and watches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from msgspec.structs import asdict

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.receiver_types import Receiver, ReceiverKind, ReceiverOrder, SentMessage
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.receivers import order_of
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.notices import Notice, ReceiverLine
from crawlclean.workers.config import SWITCHES, Settings
from crawlclean.workers.operations.backends import Backends, existing_store
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.receiver_orders import (
    check_target,
    hidden,
    is_plainly_private,
    read_order,
)
from crawlclean.workers.sending.delivering import COMMAND_IS_GONE, check_secret
from crawlclean.workers.sending.turns import Turns, notice_row
from crawlclean.workers.words import Language, say

FAILING_S = 3600.0
"""A receiver that fails this long is named by `doctor`; shorter ones restart."""

OF_TOPIC = (ReceiverKind.WEBHOOK, ReceiverKind.COMMAND)
"""Kinds of receivers that a topic has by its own options."""


# What somebody asks, from a crawl file, a command or the console.


def set_receiver(
    settings: Settings, store: Store, name: str, values: Mapping[str, Any]
) -> Receiver:
    """Stores a receiver, or changes what it had; returns it.

    Raises:
        ConfigError: The name, a value or its secret cannot be.
    """
    before = store.receivers.get(name)
    kept = asdict(order_of(before)) if before and not before.is_off else {}
    order = checked_order(settings, name, {**kept, **values})
    store.receivers.put(name, order, source=before.source if before else "")
    return find_receiver(store, name)


def checked_order(settings: Settings, name: str, values: Mapping[str, Any]) -> ReceiverOrder:
    """Returns what is asked of a receiver, as ``read_order``; its secret is checked, too.

    Raises:
        ConfigError: The name, a value or its secret cannot be.
    """
    order = read_order(name, values)
    check_secret(settings, name)
    return order


def read_values(texts: Sequence[str]) -> dict[str, Any]:
    """Values as typed, ``signs=bad``, by their names; those of lists have commas.

    Raises:
        ConfigError: One has no ``=``.
    """
    found: dict[str, Any] = {}
    for each in texts:
        key, equals, text = each.partition("=")
        if not equals:
            raise ConfigError(f"{each}: expected KEY=VALUE, such as signs=bad")
        found[key] = typed_value(key, text)
    return found


def typed_value(key: str, text: str) -> Any:
    """A value of an order as a person types it."""
    if key in ("stories", "digest"):
        return [each.strip() for each in text.split(",") if each.strip()]
    if key in ("private", "ended", "red_passes"):
        return SWITCHES.get(text.lower(), text)
    return int(text) if key == "most_an_hour" and text.isdecimal() else text


def remove_receiver(store: Store, name: str) -> None:
    """Removes a receiver and what waits for it; ``revert_receiver`` brings it back.

    Raises:
        NotFound: There is none.
    """
    receiver = find_receiver(store, name)
    store.receivers.put(name, order_of(receiver), source=receiver.source, is_off=True)


def revert_receiver(store: Store, name: str) -> None:
    """Takes the last change of a receiver back.

    Raises:
        NotFound: There never was one.
    """
    receiver = store.receivers.get(name)
    if receiver is None or not receiver.former:
        raise NotFound(f"there is no change of a receiver {name}")
    store.receivers.revert(receiver)


def find_receiver(store: Store, name: str) -> Receiver:
    """Returns a receiver.

    Raises:
        NotFound: There is none.
    """
    receiver = store.receivers.get(name)
    if receiver is None or receiver.is_off:
        raise NotFound(f"there is no receiver {name}; `{__dist__} receivers` lists them")
    return receiver


# Questions.


def list_receivers(backends: Backends) -> Part[ReceiverLine]:
    """Every receiver, in one part, by name."""
    with backends.store() as store:
        return Part(items=receiver_lines(store))


def list_messages(
    backends: Backends, receiver: str = "", after: Place | None = None, limit: int = 50
) -> Part[SentMessage]:
    """Messages that were sent, or not taken, newest first.

    Args:
        backends: Have the store.
        receiver: Only of this one.
        after: Number of the message before; None: the newest first.
        limit: At most this many.
    """
    of = {"receiver": receiver} if receiver else {}
    with backends.store() as store:
        rows = store.messages.read(after[0] if after else None, limit + 1, **of)
    return part_of(rows, limit, lambda row: (row.seq, ""))


def receiver_lines(store: Store, topic: str = "") -> tuple[ReceiverLine, ...]:
    """Returns receivers, without secrets: those of a topic's new stories, or all."""
    found = store.receivers.of(topic) if topic else store.receivers.all()
    return tuple(_line(store, each, topic) for each in found)


def _line(store: Store, receiver: Receiver, topic: str) -> ReceiverLine:
    is_url = receiver.kind not in (ReceiverKind.COMMAND, ReceiverKind.MAIL)
    return answer_of(
        ReceiverLine,
        receiver,
        target=hidden(receiver.target) if is_url else receiver.target,
        may_be_private=receiver.private,
        waiting=store.receivers.count_waiting(receiver, topic),
        next_try=receiver.next_try if receiver.tries else None,
    )


def troubles(store: Store, now: datetime, topic: str = "") -> list[str]:
    """Returns a line for each receiver, of a topic or all, that is a command or fails for long."""
    found = []
    for each in store.receivers.of(topic) if topic else store.receivers.all():
        since, of = each.failing_since, ", ".join(each.stories)
        if each.kind is ReceiverKind.COMMAND:
            found.append(f"the command of topic {of} is {COMMAND_IS_GONE}")
        elif since is not None and (now - since).total_seconds() >= FAILING_S:
            waiting = store.receivers.count_waiting(each)
            is_own = each.name == f"{ReceiverKind.WEBHOOK}:{of}"
            named = f"the webhook of topic {of}" if is_own else f"receiver {each.name}"
            found.append(
                f"{named} fails since {since:%Y-%m-%d %H:%M} UTC "
                f"({each.last_error}), {waiting} wait"
            )
    return found


# Trying, and sending at once.


def queue_test(store: Store, name: str) -> str:
    """Puts a test message into the outbox; returns its id.

    Raises:
        NotFound: There is no such receiver.
    """
    receiver = find_receiver(store, name)
    language = Language(receiver.lang)
    notice = Notice(
        id=f"test:{uuid4().hex[:12]}", type="test", at=datetime.now(UTC), level="info",
        title=say(language, "notice.test", name=name), text=say(language, "notice.test_text"),
    )  # fmt: skip
    store.receivers.tell([notice_row(name, notice)])
    return notice.id


def send_now(settings: Settings, store: Store, names: Sequence[str]) -> None:
    """Sends what waits for some receivers, at once, also to those that failed lately."""
    turns = Turns(store, settings)
    turns.begin(names, at_once=True, gathers=False)
    turns.finish()


def try_receiver(settings: Settings, name: str) -> SentMessage:
    """Sends a test message; returns how it ended.

    Raises:
        NotFound: There is no such receiver.
        ConfigError: Another process has just begun to send to it: its log has the test.
    """
    with existing_store(settings) as store:
        message_id = queue_test(store, name)
        send_now(settings, store, [name])
        for each in store.messages.read(limit=5, receiver=name):
            if each.message_id == message_id:
                return each
        raise ConfigError(f"another process sends to {name} now: `receivers {name} --log` shows it")


# The options of `topic` about its webhook.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverFlags:
    """What a command gives of a topic's receivers.

    Attributes:
        webhook: URL, or None: as it is.
        no_webhook: Whether the webhook is removed.
        no_command: Whether the command that an older version ran is removed.
        webhook_private: Whether the webhook's name may lead to a private address.
    """

    webhook: str | None = None
    no_webhook: bool = False
    no_command: bool = False
    webhook_private: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is given."""
        return self == ReceiverFlags()


def check_receivers(settings: Settings, flags: ReceiverFlags) -> None:
    """Checks what is given, before anything is stored.

    Raises:
        ConfigError: A URL or the secret is wrong, or two flags contradict each other.
    """
    if flags.webhook and flags.no_webhook:
        raise ConfigError("set a receiver or remove it, not both")
    if flags.webhook_private and flags.no_webhook:
        raise ConfigError("--webhook-private goes with a webhook: leave --no-webhook out")
    if flags.webhook is not None:
        check_target(ReceiverKind.WEBHOOK, flags.webhook)
        check_secret(settings, "")


def set_receivers(settings: Settings, name: str, flags: ReceiverFlags) -> None:
    """Stores and removes receivers of a topic; pages that are saved from now on are sent.

    Raises:
        ConfigError: As ``check_receivers``.
        NotFound: There is no such topic.
    """
    check_receivers(settings, flags)
    if flags.is_empty:
        return
    with existing_store(settings) as store:
        find_topic(store, name)
        webhook, command = (f"{kind}:{name}" for kind in OF_TOPIC)
        if flags.no_webhook:
            store.receivers.remove(webhook)
        if flags.no_command:
            store.receivers.remove(command)
        url = flags.webhook
        if url is None and flags.webhook_private:
            kept = store.receivers.get(webhook)
            if kept is None or kept.is_off:
                raise ConfigError(f"topic {name} has no webhook: give --webhook URL, too")
            url = kept.target
        if url is not None:
            is_private = flags.webhook_private or is_plainly_private(url)
            order = ReceiverOrder(
                kind=ReceiverKind.WEBHOOK, target=url, private=is_private, stories=(name,),
                most_an_hour=0,
            )  # fmt: skip
            store.receivers.put(webhook, order)


def send_stories(settings: Settings, name: str) -> None:
    """Sends what waits for the receivers of a topic, at once.

    Raises:
        ConfigError: The topic has no receiver.
        NotFound: There is no such topic.
    """
    with existing_store(settings) as store:
        find_topic(store, name)
        names = [each.name for each in store.receivers.of(name)]
        if not names:
            raise ConfigError(f"topic {name} has no receiver: set one with --webhook")
        send_now(settings, store, names)
