"""Outcomes for the tests of stores: deterministic, shaped like a forum's pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkKind,
    LinkReason,
    Outlink,
    PageKind,
    Post,
    Provenance,
    Via,
)
from crawlclean.storage.crawl_types import (
    CertificateFault,
    Failure,
    FailureReason,
    FetchResult,
    Outcome,
    QueuedPage,
    Step,
    UrlState,
)
from tests.kit.some import some

T0 = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HOST = "forum.example"
KINDS = tuple(LinkKind)


def page_id_of(url: str) -> str:
    return blake2b(url.encode(), digest_size=16).hexdigest()


def make_record(
    url: str, *, at: datetime = T0, model_version: int = 0, links: int = 6, text: str = "正文。"
) -> CleanRecord:
    base = f"https://{HOST}"
    found = tuple(
        Link(
            href=f"/thread-{n * 7919 % 100_003}-1-{n % 5}.html",
            url=f"{base}/thread-{n * 7919 % 100_003}-1-{n % 5}.html",
            text=f"第{n * 31 % 97}个主题:关于数据清洗与论坛采集的讨论{n * n % 1009}",
            kind=KINDS[n // 4 % len(KINDS)],
            score=round(n * 0.137 % 1, 3),
            reason=LinkReason.LINK_LIST if n % 3 else LinkReason.HOST_REPEATS,
        )
        for n in range(links)
    )
    return CleanRecord(
        page_id=page_id_of(url),
        url=url,
        canonical_url=url,
        host=HOST,
        fetched_at=at,
        kind=PageKind.THREAD,
        title=f"帖子 {url[-6:]}",
        author="作者",
        published_at=at - timedelta(days=3),
        language="zh",
        body=text * 20,
        markdown=text * 20,
        posts=(Post(author="甲", published_at=None, floor=1, body=text),),
        links=found,
        images=tuple(
            Image(
                src=f"/static/{n}.png",
                url=f"{base}/static/{n}.png",
                width=n,
                kind=ImageKind.CHROME if n % 2 else ImageKind.CONTENT,
                reason=ImageReason.IN_BODY,
            )
            for n in range(links // 6)
        ),
        outlinks=tuple(
            Outlink(url=link.url, via=Via.LINK, kind=link.kind, score=0.5, text=link.text[:80])
            for link in found[::2]
        ),
        signature=blake2b((url + text).encode(), digest_size=8).hexdigest(),
        model_version=model_version,
        body_source=BodySource.HYPERLINKS,
        warnings=(PageWarning(kind=WarningKind.BAD_LINKS, count=2),),
    )


def make_queued(
    path: str,
    *,
    crawl_id: str = "c1",
    at: datetime = T0,
    body: bytes = b"<p>x</p>",
    status: int = 200,
) -> QueuedPage:
    url = f"https://{HOST}{path}"
    return QueuedPage(
        crawl_id=crawl_id,
        page_id=page_id_of(url),
        token=7,
        url=url,
        host=HOST,
        depth=2,
        provenance=Provenance(
            crawl_id=crawl_id,
            referrer=f"https://{HOST}/",
            via=Via.LINK,
            link_text="下一页",
            discovered_at=T0 - timedelta(seconds=2),
        ),
        attempt=3,
        fetched_at=at,
        result=FetchResult(
            status=status,
            headers=(
                ("Content-Type", "text/html; charset=utf-8"),
                ("ETag", '"a1"'),
                ("Last-Modified", "Sun, 01 Mar 2026 11:00:00 GMT"),
            ),
            body=body,
            elapsed_ms=40,
        ),
        log=(Step(at=at, step="fetched", detail="200"),),
    )


def make_outcome(
    path: str = "/t/1",
    *,
    crawl_id: str = "c1",
    at: datetime = T0,
    model_version: int = 0,
    links: int = 6,
    body: bytes = b"<p>x</p>",
    keep_raw: bool = False,
    text: str = "正文。",
) -> Outcome:
    queued = make_queued(path, crawl_id=crawl_id, at=at, body=body)
    return Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=make_record(queued.url, at=at, model_version=model_version, links=links, text=text),
        html_chars=len(body),
        keep_raw=keep_raw,
        log=(*queued.log, Step(at=at, step="cleaned", detail="thread")),
    )


def with_record(outcome: Outcome, **changes: Any) -> Outcome:
    """The outcome with other fields of its record: ``body=""``."""
    return replace(outcome, record=replace(some(outcome.record), **changes))


def with_queued(outcome: Outcome, **changes: Any) -> Outcome:
    """The outcome with other fields of what was fetched: ``host="other.example"``."""
    return replace(outcome, queued=replace(outcome.queued, **changes))


def changed_outcome(path: str, **changes: Any) -> Outcome:
    """An outcome whose record has other fields: ``body=""``."""
    return with_record(make_outcome(path), **changes)


def make_failure(
    path: str = "/t/1",
    *,
    crawl_id: str = "c1",
    at: datetime = T0,
    reason: FailureReason = FailureReason.TIMEOUT,
    state: UrlState = UrlState.FAILED,
    status: int = 0,
) -> Outcome:
    queued = make_queued(path, crawl_id=crawl_id, at=at, body=b"", status=status)
    return Outcome(
        queued=queued, state=state, failure=Failure(reason=reason, detail="no answer in 30 s")
    )


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def with_certificate(outcome: Outcome, fault: CertificateFault) -> Outcome:
    """The outcome as of a host whose certificate is wrong."""
    return with_queued(outcome, result=replace(outcome.queued.result, certificate=fault))
