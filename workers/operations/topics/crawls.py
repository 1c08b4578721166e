"""The crawl of a topic: its order, what stands before its run, why it ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.topics.stories import record_signature
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    FetchResult,
    Outcome,
    Scope,
    UrlState,
)
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage, TopicRow, TopicState
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.outcomes import stored_page
from crawlclean.workers.operations.alerting.receivers import (
    ReceiverFlags,
    check_receivers,
    set_receivers,
    troubles,
)
from crawlclean.workers.operations.backends import Backends, existing_store
from crawlclean.workers.operations.crawling.one_crawl import Ended, Watcher, run_crawl
from crawlclean.workers.operations.crawling.specs import crawl_spec, read_list
from crawlclean.workers.operations.topics.topics import (
    TopicFlags,
    begin_topic,
    planned_topic,
)

# Hands pages over before their crawl is purged: topics of other crawls have adopted them.

AT_ONCE = 100
"""Pages copied between two writes: their records and raw pages are in memory."""


def hand_over(store: Store, crawl_id: str) -> int:
    """Copies the pages of a crawl that other topics have judged into the crawls of these topics.

    A copy is saved with the judgement, so an interrupted call can be repeated.

    Returns:
        How many pages were copied.
    """
    crawls = store.topics.crawls()
    others = [name for name, crawl in crawls.items() if crawl != crawl_id]
    done = without = 0
    tried: set[tuple[str, str]] = set()
    while True:
        # Pages without a record, of a deletion that was killed, are found each time.
        found = store.topics.adopted_from(crawl_id, others, AT_ONCE + without)
        pages = [page for page in found if (page.judgement.topic, page.page_id) not in tried]
        if not pages and len(found) < AT_ONCE + without:
            return done
        without = len(found) - len(pages)
        tried |= {(page.judgement.topic, page.page_id) for page in pages}
        copies = [
            copy for page in pages for copy in _copies(store, page, crawls[page.judgement.topic])
        ]
        store.save(copies)
        done += len(copies)


def _copies(store: Store, page: JudgedPage, crawl_id: str) -> Iterator[Outcome]:
    """The outcome by which a crawl gets a page of another one; none of a page without a record."""
    record = store.records.get(page.page_id, page.crawl_id)
    row = next(iter(store.urls.rows(page.page_id, [page.crawl_id])), None)
    if record is None or row is None:
        return
    raw = store.answers.page(page.page_id, page.crawl_id)
    result = FetchResult(
        status=row.status,
        headers=raw.headers if raw else (),
        body=store.answers.body(page.page_id, page.crawl_id) or b"",
    )
    queued = replace(stored_page(row, crawl_id, record.fetched_at, result), log=row.log)
    yield Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=record,
        html_chars=len(raw.html) if raw else 0,
        keep_raw=raw is not None,
        log=row.log,
        story=record_signature(record),
        judgements=(replace(page.judgement, features=(), is_example=False),),
    )


KEPT = {
    "max_pages": "max_pages",
    "max_depth": "max_depth",
    "keep_raw": "keep_raw",
    "delay_s": "delay_ms",
    "slots": "slots",
    "hosts_file": "policy",
    "trap_pages": "trap_pages",
    "images": "images",
    "verify_tls": "verify_tls",
    "include": "include",
    "exclude": "exclude",
}
"""Flag -> field of a crawl's order that a run without the flag keeps from the run before."""


def topic_spec(
    settings: Settings, name: str, seeds: Sequence[str], scope: Scope | None, given: Collection[str]
) -> CrawlSpec:
    """Returns the order of a topic's crawl.

    Args:
        settings: Limits and politeness.
        name: Of the topic.
        seeds: URLs, and files with URLs; none: those of the run before.
        scope: Which links are followed; None: as before, at first the hosts that links lead to.
        given: Names of the flags that the command has.

    Raises:
        ConfigError: The topic is new and has no seeds, or a seed is wrong.
    """
    before = _stored_spec(settings, name)
    urls = _seeds(settings, seeds) or (list(before.seeds) if before else [])
    if not urls:
        raise ConfigError(f"there is no topic {name}: create it with --seeds FILE --query WORDS")
    if before is not None and before.allow_private:
        settings = replace(settings, crawl=replace(settings.crawl, allow_private=True))
    spec = crawl_spec(settings, urls, name)
    if before is not None:
        kept = {field: getattr(before, field) for flag, field in KEPT.items() if flag not in given}
        spec = replace(spec, **kept)
    elif "slots" not in given:
        spec = replace(spec, slots=1)
    return replace(spec, topic=name, scope=scope or (before.scope if before else Scope.TOPIC))


def _stored_spec(settings: Settings, name: str) -> CrawlSpec | None:
    try:
        with existing_store(settings) as store:
            row = store.crawls.get(name)
    except NotFound:
        return None
    if row is not None and not row.spec.topic:
        raise ConfigError(f"{name} is an ordinary crawl: choose another name for the topic")
    return row.spec if row is not None else None


def _seeds(settings: Settings, given: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for each in given:
        urls = [each] if "://" in each else read_list(settings, Path(each))[0]
        found |= dict.fromkeys(urls)
    return list(found)


def add_seeds(settings: Settings, name: str, given: Sequence[str]) -> None:
    """Adds seeds to a topic's crawl; one that runs fetches them at once.

    Args:
        settings: Where store and queue are.
        name: Of the topic.
        given: URLs, and files with URLs.

    Raises:
        ConfigError: A seed is wrong, or the topic has no crawl yet.
    """
    before = _stored_spec(settings, name)
    if before is None:
        raise ConfigError(f"topic {name} has no crawl yet: give --seeds without --edit")
    if before.allow_private:
        settings = replace(settings, crawl=replace(settings.crawl, allow_private=True))
    new = crawl_spec(settings, _seeds(settings, given), name).seeds
    spec = replace(before, seeds=tuple(dict.fromkeys((*before.seeds, *new))))
    with existing_store(settings) as store:
        row = store.crawls.get(name)
        if row is not None:
            store.crawls.put(spec, row.state)
    # A queue that does not know the crawl is given it by the next run.
    with Backends(settings) as backends, suppress(NotFound), backends.queue_side() as side:
        if side.frontier is not None:
            side.frontier.change_order(spec)


def run_topic(
    settings: Settings,
    spec: CrawlSpec,
    flags: TopicFlags,
    receivers: ReceiverFlags,
    watcher: Watcher,
    *,
    fresh: bool,
) -> tuple[Ended, str]:
    """Crawls for a topic, which gets what the command gives.

    Returns:
        What ``run_crawl`` returns, and why the topic found nothing.

    Args:
        settings: Where the data is.
        spec: Order of its crawl.
        flags: Words, examples, pace.
        receivers: Who is told.
        watcher: Receives counts and messages.
        fresh: Forget the URLs that an earlier run left in the queue.

    Raises:
        ConfigError: The words are wrong.
        ServiceError: The data folder or a server cannot be used.
    """
    check_receivers(settings, receivers)
    planned = planned_topic(settings, spec.topic, flags)
    has_begun, why, nothing = False, "its process ended by a defect", ""

    def begin() -> None:
        nonlocal has_begun
        step = "judging stored pages anew"
        begin_topic(settings, planned, flags, lambda _: watcher.show_step(step))
        has_begun = True
        set_receivers(settings, spec.topic, receivers)
        with existing_store(settings) as store:
            for line in troubles(store, datetime.now(UTC), spec.topic):
                watcher.print_line(line)

    try:
        ended = run_crawl(settings, spec, watcher, fresh=fresh, begin=begin)
        result, _ = ended
        why = f"{result.why}; {result.waiting} URLs wait" if result.waiting else result.why
    except ServiceError as error:
        why = str(error)
        raise
    finally:
        if has_begun:
            with suppress(NotFound), existing_store(settings) as store:
                nothing = _end(store, spec, why or "no URL is left")
    return ended, nothing


def _end(store: Store, spec: CrawlSpec, why: str) -> str:
    """Stores that a topic's run has ended, unless an operator paused the topic.

    Returns why it found nothing; ``""`` when it found something, or was deleted.
    """
    row = store.topics.get(spec.topic)
    if row is None:
        return ""
    nothing = _why_nothing(store, spec, row)
    if row.state is TopicState.RUNNING:
        store.topics.set_state(row.name, TopicState.ENDED, nothing or why)
    return nothing


def _why_nothing(store: Store, spec: CrawlSpec, row: TopicRow) -> str:
    """Why a topic has no relevant page, one line; ``""`` when it has one."""
    pages, relevant, *_ = store.topics.counts(spec.topic, row.version)
    if relevant:
        return ""
    name = spec.topic
    if not pages:
        failed = next(store.urls.failures(spec.crawl_id, limit=1), None)
        detail = f": {failed.url}: {failed.detail or failed.reason}" if failed else ""
        return f"topic {name}: no page was read{detail}"
    topic = Topic.from_bytes(row.packed)
    words = " ".join(concept.names[0].text for concept in topic.concepts)
    return (
        f"topic {name}: none of {pages} pages is relevant to {words!r}; give other words "
        f"or examples (`topic {name} --edit`), or seeds nearer to the topic"
    )
