"""Actions on receivers: setting, trying and removing them, and taking that back."""

from __future__ import annotations

from msgspec.structs import asdict

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.store.receivers import order_of
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Input,
    Note,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from crawlclean.workers.operations.alerting import receivers
from crawlclean.workers.operations.backends import Backends

REVERSIBLE = Safety.REVERSIBLE
ASKED = (Input.SIGNS, Input.ENDED, Input.STORIES, Input.DIGEST, Input.DIGEST_AT, Input.ZONE,
         Input.QUIET, Input.RED_PASSES, Input.MOST_AN_HOUR, Input.LANG)  # fmt: skip


@action(
    REVERSIBLE, Subject.RECEIVER, values=("kind",), inputs=(Input.ADDRESS, *ASKED),
    secrets=(Input.ADDRESS,),
)  # fmt: skip
def set_receiver(backends: Backends, asked: Asked) -> Steps:
    """Makes a receiver, or changes it; without an address it keeps its own."""
    name = asked.target
    with backends.store() as store:
        before = store.receivers.get(name)
        is_new = before is None or before.is_off
        kind = asked.get("kind") or (before.kind.value if before else "")
        if kind not in set(ReceiverKind) - {ReceiverKind.COMMAND}:
            raise ConfigError(f"{kind} is not a kind of receiver")
        known = asdict(order_of(before)) if before and not is_new else {"most_an_hour": 20}
        chosen = {each.value: _typed(known.get(each.value, "")) for each in ASKED}
        waiting = store.receivers.count_waiting(before) if before else 0
        yield Effect({Fact.WAITING_MESSAGES: waiting}, chosen={"kind": kind, **chosen})
        given = {each.value: asked.get(each) for each in ASKED if asked.get(each)}
        values = {key: receivers.typed_value(key, text) for key, text in given.items()}
        target = asked.get(Input.ADDRESS) or (before.target if before else "")
        may_be_private = before is not None and before.private and target == before.target
        values |= {"kind": kind, "target": target, "private": may_be_private}
        order = receivers.checked_order(backends.settings, name, values)
        if order.private and not may_be_private:
            raise ConfigError("a private address is allowed by the command `receivers`, not here")
        store.receivers.put(name, order, source=before.source if before else "")
    return Effect(undo=written("revert_receiver", name))


def _typed(value: object) -> str:
    """A value of an order as a form has it."""
    if isinstance(value, bool):
        return "true" if value else ""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


@action(REVERSIBLE, Subject.RECEIVER)
def remove_receiver(backends: Backends, asked: Asked) -> Steps:
    """Removes a receiver, with what waits for it."""
    with backends.store() as store:
        waiting = store.receivers.count_waiting(receivers.find_receiver(store, asked.target))
        yield Effect({Fact.WAITING_MESSAGES: waiting})
        receivers.remove_receiver(store, asked.target)
    return Effect({Fact.WAITING_MESSAGES: waiting}, undo=written("revert_receiver", asked.target))


@action(REVERSIBLE, Subject.RECEIVER)
def revert_receiver(backends: Backends, asked: Asked) -> Steps:
    """Takes the last change of a receiver, or its removal, back."""
    with backends.store() as store:
        yield Effect()
        receivers.revert_receiver(store, asked.target)
    return Effect(undo=written("revert_receiver", asked.target))


@action(REVERSIBLE, Subject.RECEIVER)
def test_receiver(backends: Backends, asked: Asked) -> Steps:
    """Sends a test message: the housekeeper does, where no crawl runs this process."""
    with backends.store() as store:
        receivers.find_receiver(store, asked.target)
        yield Effect()
        try:
            with backends.queue():
                receivers.queue_test(store, asked.target)
            return Effect(notes=(Note.IN_LOG,))
        except NotFound:  # at rest
            sent = receivers.try_receiver(backends.settings, asked.target)
    if sent.error:
        raise ConfigError(sent.error)
    return Effect(notes=(Note.IN_LOG,))
