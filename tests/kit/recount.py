"""A host's statistics counted anew from everything a store shows, by another hand than its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from crawlclean.cleaning.records import CleanRecord, HostStats, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlRow, UrlState
from crawlclean.storage.store.hosts import Statistics
from crawlclean.storage.store.protocol import Store

MOST_URLS = 1_000_000


def counted(store: Store) -> Statistics:
    """The statistics of a store, brought up to date."""
    store.statistics.refresh()
    return store.statistics


def check_overview(store: Store) -> None:
    """Fails unless the figures kept for lists are those of the stored rows."""
    store.statistics.refresh()
    rows = _url_rows(store)
    states = {crawl: Counter[UrlState]() for crawl, _ in rows}
    for (crawl, _), urls in rows.items():
        states[crawl].update(row.state for row in urls)
    known = {row.spec.crawl_id: dict(row.pages) for row in store.crawls.all()}
    assert known == {crawl: dict(states.get(crawl, {})) for crawl in known}
    hosts = {host for _, host in rows}
    kept = store.overview.hosts(limit=MOST_URLS)
    assert {row.host for row in kept} == hosts
    for row in kept:
        parts = [urls for (_, host), urls in rows.items() if host == row.host]
        of_host = Counter(each.state for urls in parts for each in urls)
        assert (row.records, row.failed) == (of_host[UrlState.RECORD], of_host[UrlState.FAILED])
        assert row.records + row.failed + row.excluded + row.other == of_host.total()
        assert row.crawls == len(parts)
    failed = Counter(
        (each.crawl_id, each.host, each.reason, each.status)
        for each in store.urls.failures()
        if any(
            each.url == row.url and row.state is UrlState.FAILED
            for row in rows[each.crawl_id, each.host]
        )
    )
    groups = store.overview.failure_groups(limit=MOST_URLS)
    assert {(g.crawl_id, g.host, g.reason, g.status): g.count for g in groups} == failed
    causes = Counter[tuple[str, FailureReason | None, int]]()
    for (crawl, _, reason, status), n in failed.items():
        causes[crawl, reason, status] += n
    assert {(c.crawl, c.reason, c.status): c.urls for c in store.overview.causes()} == causes
    assert store.overview.as_of() is None


def recount(store: Store, crawl_id: str, host: str) -> HostStats | None:
    """Statistics that ``store.statistics.get(host, crawl_id)`` must equal; pages are archived."""
    rows = _url_rows(store).get((crawl_id, host))
    return _of_rows(store, crawl_id, host, rows) if rows else None


def recount_all(store: Store) -> dict[tuple[str, str], HostStats]:
    """Statistics of every host of every crawl, by (crawl, host)."""
    return {key: _of_rows(store, *key, rows) for key, rows in _url_rows(store).items()}


def _url_rows(store: Store) -> dict[tuple[str, str], list[UrlRow]]:
    """By crawl and host."""
    rows: dict[tuple[str, str], list[UrlRow]] = defaultdict(list)
    for page_id in store.urls.find_ids("", limit=MOST_URLS):
        for row in store.urls.rows(page_id):
            rows[row.crawl_id, row.host].append(row)
    return rows


def _of_rows(store: Store, crawl_id: str, host: str, rows: Sequence[UrlRow]) -> HostStats:
    records = [_record(store, row) for row in rows if row.state is UrlState.RECORD]
    failed = {row.url for row in rows if row.state is UrlState.FAILED}
    failures = list(store.urls.failures(crawl_id, host))
    stories = {record.page_id: store.stories.of_page(record.page_id) for record in records}
    copies = [page for page, story in stories.items() if story and story.earliest.page_id != page]
    bodies = Counter(r.signature for r in records if r.signature and stories[r.page_id] is None)
    return HostStats(
        host=host,
        pages_by_state=dict(Counter(str(row.state) for row in rows)),
        pages_by_kind=dict(Counter(record.kind for record in records)),
        links_by_kind=dict(Counter(link.kind for record in records for link in record.links)),
        images_by_kind=dict(Counter(image.kind for record in records for image in record.images)),
        errors_by_reason=dict(Counter(str(f.reason) for f in failures if f.url in failed)),
        errors_by_status=dict(
            Counter(
                str(f.status)
                for f in failures
                if f.url in failed and f.reason is FailureReason.HTTP_STATUS
            )
        ),
        pages_by_warning=dict(
            Counter(kind for record in records for kind in {w.kind for w in record.warnings})
        ),
        empty_bodies=sum(not r.body and r.kind is not PageKind.INDEX for r in records),
        fetched_bytes=sum(row.fetched_bytes for row in rows),
        html_chars=sum(_source_chars(store, record, crawl_id) for record in records),
        body_chars=sum(len(record.body) for record in records),
        near_duplicates=len(copies) + sum(n - 1 for n in bodies.values()),
        kept_records=sum(
            row.state is not UrlState.RECORD
            and store.records.get(row.page_id, row.crawl_id) is not None
            for row in rows
        ),
        wait_ms=sum(map(_wait_ms, rows)),
        first_seen=min(row.finished_at for row in rows),
        last_seen=max(row.finished_at for row in rows),
        model_version=max((record.model_version for record in records), default=0),
    )


def _record(store: Store, row: UrlRow) -> CleanRecord:
    record = store.records.get(row.page_id, row.crawl_id)
    assert record is not None, f"{row.url} has no record"
    assert record.fetched_at == row.finished_at
    return record


def _source_chars(store: Store, record: CleanRecord, crawl_id: str) -> int:
    page = store.answers.page(record.page_id, crawl_id)
    assert page is not None, f"{record.url} is not archived"
    return len(page.html)


def _wait_ms(row: UrlRow) -> int:
    again = [step.at for step in row.log if step.step in ("due again", "offered again")]
    since = max(again, default=row.discovered_at or row.finished_at)
    return max(0, round((row.finished_at - since).total_seconds() * 1_000_000) // 1000)
