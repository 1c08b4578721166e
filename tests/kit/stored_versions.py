"""A page with several versions, and reported cases, without a crawl that fetched them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cleaning.revisits import VisitClass, VisitKind
from storage.crawl_types import FetchResult, KeepRaw
from storage.store.cases import Case
from storage.store.protocol import Store
from tests.kit.outcomes import T0, make_outcome
from workers.jobs.poison_pages import keep_poison


def store_versions(store: Store, crawl_id: str, title: str) -> str:
    """Stores a page whose body was edited twice; returns its page id."""
    for number, word in enumerate(("第一", "第二", f"第三{title}")):
        made = make_outcome("/versions/1", crawl_id=crawl_id, at=T0 + timedelta(days=number))
        assert made.record is not None
        body = f"共有的。\n{word}次的话，其余都不变。\n末行。"
        record = replace(made.record, title=f"{title}{number}", body=body, posts=())
        visit = VisitClass(VisitKind.THREAD, "/versions/*")
        store.save([replace(made, record=record, visit=visit)])
    return make_outcome("/versions/1").queued.page_id


def store_crash(store: Store, crawl_id: str) -> Case:
    """Stores a page on which workers died, as a case."""
    page = make_outcome("/kills", crawl_id=crawl_id).queued
    result = FetchResult(status=200, headers=(), body=b"<p>x</p>", elapsed_ms=3)
    assert keep_poison(store, replace(page, crashes=3, result=result), KeepRaw.ALL, 0)
    return store.cases.read(limit=1)[0]
