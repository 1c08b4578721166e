"""Receivers of a topic's new stories, as an operator sets, removes and watches them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import Receiver, ReceiverKind
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.topics import ReceiverLine
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.sending.turns import COMMAND_IS_GONE, Turns
from crawlclean.workers.sending.webhook import check_url, hidden, is_plainly_private, signature_of

FAILING_S = 3600.0
"""A receiver that fails this long is named by `doctor`; shorter ones restart."""


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
        check_url(flags.webhook)
        if settings.workers.webhook_secret:
            signature_of(settings.workers.webhook_secret, "", 0, b"")


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
        if flags.no_webhook:
            store.receivers.remove(name, ReceiverKind.WEBHOOK)
        if flags.no_command:
            store.receivers.remove(name, ReceiverKind.COMMAND)
        webhook = flags.webhook
        if webhook is None and flags.webhook_private:
            kept = {each.kind: each.target for each in store.receivers.of(name)}
            webhook = kept.get(ReceiverKind.WEBHOOK)
            if webhook is None:
                raise ConfigError(f"topic {name} has no webhook: give --webhook URL, too")
        if webhook is not None:
            is_private = flags.webhook_private or is_plainly_private(webhook)
            now = datetime.now(UTC)
            receiver = Receiver(
                topic=name, kind=ReceiverKind.WEBHOOK, target=webhook, is_private=is_private,
                since=now, next_try=now, owned_until=now,
            )  # fmt: skip
            store.receivers.put(receiver)


def receiver_lines(store: Store, name: str) -> tuple[ReceiverLine, ...]:
    """Returns the receivers of a topic, without secrets."""
    return tuple(_line(store, each) for each in store.receivers.of(name))


def _line(store: Store, receiver: Receiver) -> ReceiverLine:
    is_url = receiver.kind is ReceiverKind.WEBHOOK
    return answer_of(
        ReceiverLine,
        receiver,
        target=hidden(receiver.target) if is_url else receiver.target,
        may_be_private=receiver.is_private,
        waiting=store.receivers.count_waiting(receiver),
        next_try=receiver.next_try if receiver.tries else None,
    )


def send_now(settings: Settings, name: str) -> None:
    """Sends what waits for the receivers of a topic, at once, also to those that failed lately.

    Raises:
        ConfigError: The topic has no receiver.
        NotFound: There is no such topic.
    """
    with existing_store(settings) as store:
        find_topic(store, name)
        if not store.receivers.of(name):
            raise ConfigError(f"topic {name} has no receiver: set one with --webhook")
        turns = Turns(store, settings)
        turns.begin(at_once=True, topic=name)
        turns.finish()


def troubles(store: Store, now: datetime, topic: str = "") -> list[str]:
    """Returns a line for each receiver, of a topic or all, that is a command or fails for long."""
    found = []
    for each in store.receivers.of(topic) if topic else store.receivers.all():
        since = each.failing_since
        if each.kind is ReceiverKind.COMMAND:
            found.append(f"the command of topic {each.topic} is {COMMAND_IS_GONE}")
        elif since is not None and (now - since).total_seconds() >= FAILING_S:
            waiting = store.receivers.count_waiting(each)
            found.append(
                f"the webhook of topic {each.topic} fails since {since:%Y-%m-%d %H:%M} UTC "
                f"({each.last_error}), {waiting} wait"
            )
    return found
