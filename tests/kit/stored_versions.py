"""A page with several versions, without a crawl that fetched them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from crawlclean.cleaning.revisits import VisitClass, VisitKind
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import T0, make_outcome


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
