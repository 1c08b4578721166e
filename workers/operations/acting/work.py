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
from workers.operations.acting.turn import Turn
from workers.operations.dropping_raw import STEP, raw_place
from workers.operations.failed_urls import FailureFilter, failed_batches, record_state
from workers.operations.fetching_again import PageFilter, portions
from workers.operations.host_models import find_version
from workers.operations.purging import purge
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
    with closing(open_reopener(context.frontier.url)) as retrying:
        for batch in batches:
            done = turn.done + retrying.reopen(crawl, batch)
            record_state(context.frontier, context.store, crawl)
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
    crawls, first = asked["crawls"], turn.cursor.get("crawl", 0)
    for number in range(first, len(crawls)):
        crawl = crawls[number]
        after = turn.cursor.get("after", "") if number == first else ""
        with closing(open_reopener(context.frontier.url)) as reopener:
            for pages, last in portions(context.store, crawl, wanted, after):
                done = turn.done + (reopener.reopen(crawl, pages) if pages else 0)
                record_state(context.frontier, context.store, crawl)
                if not turn.tell(done, turn.total, "", {"crawl": number, "after": last}):
                    return False
    return True


def drop_raw(turn: Turn) -> bool:
    """Drops archived responses of a crawl or a host."""
    context = turn.context
    crawl, host = raw_place(context.settings, context.store, turn.asked["target"])
    while dropped := context.store.drop_raw(crawl, host, STEP):
        if not turn.tell(turn.done + dropped, turn.total, "", turn.cursor):
            return False
    return True


def learn(turn: Turn) -> bool:
    """Learns a host from its archive, in one step."""
    learned = learn_host(turn.context.store, turn.asked["host"], LearnReason.ASKED)
    what = "stored version" if learned.is_new else "no new version: equal to version"
    turn.tell(1, 1, f"{what} {learned.about.version}", turn.cursor)
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
    cursor["kept"] += part.outdated + len(part.failed)
    cursor["gone"] += part.unarchived
    for name, n in part.by_field.items():
        cursor["fields"][name] = cursor["fields"].get(name, 0) + n
    room = EXAMPLES - len(cursor["urls"])
    cursor["urls"] += [each.before.url for each in part.examples[:room]]


def _result(cursor: dict[str, Any], *, save: bool) -> str:
    """``12 changed: body 10, title 2; 3 not cleaned: their raw pages are gone; http://...``."""
    fields = sorted(cursor["fields"].items(), key=lambda each: (-each[1], each[0]))
    names = ": " + ", ".join(f"{name} {n}" for name, n in fields) if fields else ""
    parts = [f"{cursor['changed']} {'changed' if save else 'would change'}{names}"]
    if cursor["gone"]:
        parts.append(f"{cursor['gone']} not cleaned: their raw pages are gone")
    if cursor["kept"]:
        parts.append(f"{cursor['kept']} not cleaned: of an older layout, or failed")
    return "; ".join([*parts, *cursor["urls"]])


def purge_all(turn: Turn) -> bool:
    """Deletes a crawl, or a host in every crawl, in one step: it cannot be stopped."""
    done = purge(turn.context.settings, turn.asked["target"], keep_records=False)
    turn.tell(1, 1, f"deleted {done.urls} queued URLs and {done.records} records", turn.cursor)
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
    turn.tell(turn.done, turn.done, f"version {row.version} of {row.name}", turn.cursor)
    return True
