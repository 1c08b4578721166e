"""What every store must do with receivers, alerts and messages; see ``store_contract.py``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from crawlclean.storage.receiver_types import (
    Alert,
    OutboxRow,
    Receiver,
    ReceiverKind,
    ReceiverOrder,
    SentMessage,
)
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import T0, later
from tests.kit.some import some
from tests.storage.store.topics_contract import TOPIC, judged

HOOK = "webhook:quake"


def put_receiver(
    store: Store, kind: ReceiverKind = ReceiverKind.WEBHOOK, topic: str = "quake",
    target: str = "http://a.example/", at: datetime = T0, **order: Any,
) -> Receiver:  # fmt: skip
    """Stores a receiver of a topic, as `topic --webhook` does, or with other wishes."""
    values = {"stories": (topic,), "most_an_hour": 0, "private": True, **order}
    name = f"{kind}:{topic}"
    store.receivers.put(name, ReceiverOrder(kind=kind, target=target, **values), at=at)
    return some(store.receivers.get(name))


def notice(receiver: str, name: str, level: str = "bad", at: float = 0.0) -> OutboxRow:
    return OutboxRow(receiver=receiver, id=name, at=later(at), level=level, notice="{}")


class ReceiversContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_what_is_to_be_sent_waits_once_for_each_receiver(self, store: Store) -> None:
        kinds = (ReceiverKind.COMMAND, ReceiverKind.WEBHOOK)
        names = tuple(put_receiver(store, kind).name for kind in kinds)
        put_receiver(store, topic="other")
        assert tuple(each.name for each in store.receivers.of("quake")) == names
        good, bad = judged("/1", 0.9, notify=names), judged("/2", 0.1, notify=names)
        for _ in range(2):
            store.save([good, bad])
        for each in store.receivers.of("quake"):
            (row,) = store.receivers.waiting(each, 9)
            assert (row.page_id, row.receiver) == (good.queued.page_id, each.name)
            assert store.receivers.count_waiting(each, "quake") == 1
            assert store.receivers.count_waiting(each, "other") == 0

    def test_a_receiver_is_taken_by_one_sender(self, store: Store) -> None:
        read = put_receiver(store)
        taken = some(store.receivers.take(read, "a.1", later(60)))
        assert store.receivers.take(read, "b.1", later(60)) is None
        held = some(store.receivers.take(taken, "a.1", later(90)))
        store.receivers.give_back(replace(held, owner="b.1"), T0)
        assert store.receivers.of("quake") == [held]
        store.receivers.give_back(held, later(5))
        assert store.receivers.of("quake") == [replace(read, owned_until=later(5))]

    def test_a_row_ends_once_and_its_story_is_told(self, store: Store) -> None:
        held = put_receiver(store)
        first, second = (judged(f"/{n}", 0.9, notify=(HOOK,)) for n in (1, 2))
        store.save([first, second])
        rows = {row.page_id: row for row in store.receivers.waiting(held, 9)}
        sent, copy = rows[first.queued.page_id], rows[second.queued.page_id]
        numbers = store.stories.numbers(sent.page_id)
        assert store.receivers.told(sent, numbers) == set()
        for _ in range(2):  # a killed sender's row is ended again
            after = store.receivers.end_sent(held, sent, [*numbers, 7])
        assert store.receivers.told(copy, [7, 8]) == {sent.page_id}
        assert store.receivers.told(copy, [8]) == set()
        after = store.receivers.end(after, copy, copies=1)
        failed = store.receivers.failed(after, "status 500", later(1), later(9))
        assert store.receivers.of("quake") == [failed]
        assert (failed.sent, failed.copies, failed.tries) == (1, 1, 1)
        worked = store.receivers.worked(failed, later(9))
        assert store.receivers.of("quake") == [worked]
        assert (worked.failing_since, worked.last_sent) == (None, later(9))
        assert store.receivers.waiting(held, 9) == []

    def test_a_new_target_keeps_what_waits_and_what_was_told(self, store: Store) -> None:
        first = put_receiver(store)
        store.save([judged("/1", 0.9, notify=(HOOK,))])
        store.receivers.failed(first, "status 500", later(1), later(9))
        now = put_receiver(store, target="http://b.example/", at=later(2))
        assert (now.target, now.tries, now.failing_since) == ("http://b.example/", 0, None)
        assert now.since == first.since
        assert store.receivers.count_waiting(now) == 1
        assert store.receivers.remove("command:quake") == 0
        assert store.receivers.remove(HOOK) == 1
        assert store.receivers.count_waiting(now) == 0
        store.receivers.end(now, notice(HOOK, "x"), sent=1)
        assert store.receivers.all() == []

    def test_a_change_is_taken_back_and_done_again(self, store: Store) -> None:
        first = put_receiver(store, signs="bad", zone="Asia/Shanghai")
        changed = put_receiver(store, target="http://b.example/")
        assert store.receivers.revert(changed)
        (back,) = store.receivers.all()
        assert (back.target, back.signs, back.zone) == (first.target, "bad", "Asia/Shanghai")
        assert store.receivers.revert(back)
        (again,) = store.receivers.all()
        assert (again.target, again.signs) == ("http://b.example/", "")
        store.receivers.tell([notice(HOOK, "a")])
        store.receivers.put(HOOK, ReceiverOrder(kind=again.kind, target="http://b.example/"),
                            is_off=True)  # fmt: skip
        gone = some(store.receivers.get(HOOK))
        assert (store.receivers.all(), store.receivers.count_waiting(gone)) == ([], 0)
        assert store.receivers.revert(gone)
        assert [each.name for each in store.receivers.all()] == [HOOK]

    def test_the_first_change_is_taken_back_by_a_removal(self, store: Store) -> None:
        assert not store.receivers.revert(put_receiver(store))
        assert store.receivers.all() == []

    def test_notices_wait_once_and_by_level(self, store: Store) -> None:
        held = put_receiver(store)
        rows = [notice(HOOK, "b", "warn", 1), notice(HOOK, "a", "bad", 2)]
        for _ in range(2):
            store.receivers.tell(rows, replace(held, told_event=7, digest_day="2026-03-01"))
        assert store.receivers.waiting(held, 9) == rows
        assert store.receivers.waiting(held, 9, ["bad", "test"]) == rows[1:]
        (after,) = store.receivers.all()
        assert (after.told_event, after.digest_day) == (7, "2026-03-01")

    def test_an_alert_is_kept_with_what_is_told_of_it(self, store: Store) -> None:
        held = put_receiver(store)
        alert = Alert(
            sign="refuses|a.example|c1||", id="4f11", kind="refuses", host="a.example",
            crawl_id="c1", target="", since=T0, told=(HOOK,),
        )  # fmt: skip
        for _ in range(2):
            store.alerts.put(alert, [notice(HOOK, "sign:4f11")])
        gone = replace(alert, gone_since=later(9))
        store.alerts.put(gone)
        assert store.alerts.all() == {alert.sign: gone}
        store.alerts.put(alert)
        assert store.alerts.all() == {alert.sign: alert}
        store.alerts.end(gone, [notice(HOOK, "mended:4f11", "ok", 9)])
        assert store.alerts.all() == {}
        told = [row.id for row in store.receivers.waiting(held, 9)]
        assert told == ["sign:4f11", "mended:4f11"]

    def test_messages_are_counted_for_the_bound_of_an_hour(self, store: Store) -> None:
        held, now = put_receiver(store, most_an_hour=2), later(0)
        assert store.messages.free_at(held, now) == now
        for error in ("", "status 500", "", "status 500"):
            store.messages.add(
                SentMessage(receiver=HOOK, message_id="x", text="地震", n=1, error=error)
            )
        errors = [each.error for each in store.messages.read(receiver=HOOK)]
        assert errors == ["status 500", "", "status 500", ""]
        oldest = some(store.messages.read()[-1].at)
        assert (store.messages.free_at(held, now) - oldest).total_seconds() == 3600
        assert store.messages.free_at(replace(held, most_an_hour=0), now) == now

    def test_a_deleted_topic_takes_its_own_receivers_along(self, store: Store) -> None:
        store.topics.create(TOPIC)
        put_receiver(store)
        order = ReceiverOrder(kind=ReceiverKind.SLACK, target="http://a.example/",
                              stories=("quake",))  # fmt: skip
        store.receivers.put("team", order)
        store.save([judged("/1", 0.9, notify=(HOOK, "team"))])
        store.receivers.tell([notice("team", "a")])
        store.topics.delete("quake")
        (left,) = store.receivers.all()
        assert (left.name, store.receivers.count_waiting(left)) == ("team", 1)
