"""What workers do for operations: each function does one slice, and tells its ``Turn``.

A function returns whether the work is finished; otherwise the next slice begins at the cursor.
"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import Any

from storage.crawl_types import FailureReason
from storage.queue.servers.spread import open_reopener
from storage.store.codec import from_microseconds
from storage.store.models import LearnReason
from workers.hooks.calling import HookCalls
from workers.jobs.learning import learn_host
from workers.jobs.recleaning import RecleaningCounts, reclean_records
from workers.operations.acting.detail import FIELD, Detail, told_detail
from workers.operations.acting.turn import Turn
from workers.operations.controlling.dropping_raw import STEP, raw_place
from workers.operations.controlling.fetching_again import PageFilter, portions
from workers.operations.controlling.purging import purge
from workers.operations.failures.failed_urls import FailureFilter, failed_batches, record_state
from workers.operations.hosts.host_models import find_version
from workers.operations.topics.topics import mark_page
from workers.site_models import read_model

PORTION = 20
"""Records re-cleaned and saved together."""
EXAMPLES = 3
"""Addresses of changed pages that are told."""


def retry(turn: Turn) -> bool:
    """Offers failed URLs of a crawl again, by page id."""
    asked, context = turn.asked, turn.context
    reason = asked["reason"]
    wanted = FailureFilter(
        host=asked["host"],
        reasons=frozenset({FailureReason(reason)}) if reason else frozenset(),
        status=asked["status"],
        until=from_microseconds(asked["until"]),
    )
    crawl = asked["crawl"]
    batches = failed_batches(context.store, crawl, wanted, after=turn.cursor.get("after", ""))
    queue = context.whole_queue()
    with closing(open_reopener(queue.url)) as retrying:
        for batch in batches:
            done = turn.done + retrying.reopen(crawl, batch)
            record_state(queue, context.store, crawl)
            if not turn.tell(done, turn.total, "", {"after": batch[-1].page_id}):
                return False
    return True


def fetch_again(turn: Turn) -> bool:
    """Offers stored pages again, crawl by crawl, by page id."""
    asked, context = turn.asked, turn.context
    wanted = PageFilter(
        host=asked["host"],
        since=None if asked["since"] is None else from_microseconds(asked["since"]),
        until=from_microseconds(asked["until"]),
        no_body=asked["no_body"],
    )
    queue = context.whole_queue()
    crawls, first = asked["crawls"], turn.cursor.get("crawl", 0)
    for number in range(first, len(crawls)):
        crawl = crawls[number]
        after = turn.cursor.get("after", "") if number == first else ""
        with closing(open_reopener(queue.url)) as reopener:
            for pages, last in portions(context.store, crawl, wanted, after):
                done = turn.done + (reopener.reopen(crawl, pages) if pages else 0)
                record_state(queue, context.store, crawl)
                if not turn.tell(done, turn.total, "", {"crawl": number, "after": last}):
                    return False
    return True


def drop_raw(turn: Turn) -> bool:
    """Drops archived responses of a crawl or a host."""
    context = turn.context
    crawl, host = raw_place(context.settings, context.store, turn.asked["target"])
    frees = context.store.raw_space(crawl, host).freed_bytes
    before: int = turn.cursor.setdefault("frees", frees)
    while dropped := context.store.drop_raw(crawl, host, STEP):
        if not turn.tell(turn.done + dropped, turn.total, turn.detail, turn.cursor):
            left = context.store.raw_space(crawl, host).freed_bytes
            turn.tell(turn.done, turn.total, _freed(before - left), turn.cursor)
            return False
    turn.tell(turn.done, turn.total, _freed(before), turn.cursor)
    return True


def _freed(size: int) -> str:
    """The line that says how many bytes came free."""
    return told_detail({Detail.FREED_BYTES: max(0, size)})


def learn(turn: Turn) -> bool:
    """Learns a host from its archive, in one step."""
    learned = learn_host(turn.context.store, turn.asked["host"], LearnReason.ASKED)
    key = Detail.NEW_VERSION if learned.is_new else Detail.SAME_VERSION
    turn.tell(1, 1, told_detail({key: learned.about.version}), turn.cursor)
    return True


def reclean(turn: Turn) -> bool:
    """Re-cleans the records of a host that older versions of its model made."""
    return _reclean(turn, save=True)


def try_reclean(turn: Turn) -> bool:
    """Compares the records of a host with what its model makes of their pages; saves nothing."""
    return _reclean(turn, save=False)


def _reclean(turn: Turn, *, save: bool) -> bool:
    host, version = turn.asked["host"], turn.asked["version"]
    store = turn.context.store
    model = read_model(find_version(store, host, version))
    hooks = HookCalls(turn.context.hooks)
    cursor: dict[str, Any] = {
        "after": ["", ""],
        "changed": 0,
        "kept": 0,
        "gone": 0,
        "failed": 0,
        "fields": {},
        "urls": [],
    }
    cursor |= turn.cursor
    first, second = cursor["after"]
    records = store.hosts.versions(host, (first, second))
    while portion := list(islice(records, PORTION)):
        older = [each for each in portion if each.model_version < version]
        part = reclean_records(store, older, model, save=save, examples=EXAMPLES, hooks=hooks)
        _count(cursor, part)
        cursor["after"] = [portion[-1].page_id, portion[-1].crawl_id]
        if not turn.tell(turn.done + len(older), turn.total, _result(cursor, save=save), cursor):
            return False
    return True


def _count(cursor: dict[str, Any], part: RecleaningCounts) -> None:
    cursor["changed"] += part.changed
    cursor["kept"] += part.outdated
    cursor["failed"] += len(part.failed)
    cursor["gone"] += part.unarchived
    for name, n in part.by_field.items():
        cursor["fields"][name] = cursor["fields"].get(name, 0) + n
    room = EXAMPLES - len(cursor["urls"])
    cursor["urls"] += [each.before.url for each in part.examples[:room]]


def _result(cursor: dict[str, Any], *, save: bool) -> str:
    """``changed 12; field.body 10; field.title 2; gone 3; http://...``."""
    names = sorted(cursor["fields"].items(), key=lambda each: (-each[1], each[0]))
    numbers = {str(Detail.CHANGED if save else Detail.WOULD_CHANGE): cursor["changed"]}
    numbers |= {f"{FIELD}{name}": n for name, n in names}
    stay = {Detail.GONE: "gone", Detail.OTHER_LAYOUT: "kept", Detail.NOT_CLEANED: "failed"}
    numbers |= {str(key): cursor[name] for key, name in stay.items() if cursor[name]}
    return told_detail(numbers, cursor["urls"])


def purge_all(turn: Turn) -> bool:
    """Deletes a crawl, or a host in every crawl, in one step: it cannot be stopped."""
    done = purge(turn.context.settings, turn.asked["target"], keep_records=False)
    numbers = {str(Detail.DELETED_URLS): done.urls, str(Detail.DELETED_RECORDS): done.records}
    turn.tell(1, 1, told_detail(numbers), turn.cursor)
    return True


def mark(turn: Turn) -> bool:
    """Stores a person's word on a page of a topic, and judges the topic's pages anew."""
    asked = turn.asked

    def tell(judged: int) -> None:
        turn.tell(turn.done + judged, 0, "", turn.cursor)

    row = mark_page(
        turn.context.settings,
        asked["topic"],
        asked["url"],
        tell,
        is_relevant=asked["word"] == "relevant",
    )
    turn.tell(turn.done, turn.done, told_detail({Detail.TOPIC_VERSION: row.version}), turn.cursor)
    return True
