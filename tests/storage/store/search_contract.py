"""What the search index finds of a store, whatever is saved, saved again or deleted."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.search import Asked, SearchFile
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs import search as filling
from crawlclean.workers.jobs.search import SearchFiller
from crawlclean.workers.operations.searching import search_in
from tests.kit.outcomes import later, make_outcome, with_record


def with_text(path: str, body: str, crawl_id: str = "c1", minute: int = 0) -> Outcome:
    outcome = make_outcome(path, crawl_id=crawl_id, at=later(minute))
    return with_record(outcome, title=f"题{path}", body=body)


def urls(store: Store, index: SearchFile, text: str, crawl: str = "") -> list[str]:
    page = search_in(store, index, Asked(text=text, crawl_id=crawl), None, 50)
    assert all(any(part.is_hit for part in hit.snippet) for hit in page.hits)
    return [hit.url.rpartition("/")[2] for hit in page.hits]


class SearchContract:
    """Needs a fixture ``store`` that gives an empty store."""

    @pytest.mark.parametrize("may_be_late", [False, True])
    def test_every_phrase_of_a_record_is_found(
        self, store: Store, tmp_path: Path, may_be_late: bool
    ) -> None:
        draw = random.Random(14)
        bodies = ["".join(draw.choices("数据清洗主题网页，。 python3", k=40)) for _ in range(7)]
        store.save([with_text(f"/{n}", body) for n, body in enumerate(bodies)])
        with closing(SearchFile(tmp_path)) as index:
            filler = SearchFiller(store, index, may_be_late=may_be_late)
            assert filler.fill(10) == len(bodies)
            assert filler.fill(10) == 0
            for n, body in enumerate(bodies):
                for at in range(0, 36, 5):
                    part = body[at : at + 4]
                    if len(part.strip("，。 ")) > 1 and not part[0].isascii():
                        assert str(n) in urls(store, index, f'"{part}"'), part
            assert urls(store, index, "数据库管理系统") == []

    def test_it_follows_what_is_saved_and_deleted(self, store: Store, tmp_path: Path) -> None:
        with closing(SearchFile(tmp_path)) as index:
            filler = SearchFiller(store, index, may_be_late=True)
            store.save([with_text("/1", "旧的正文"), with_text("/2", "别的正文")])
            store.save([with_text("/3", "别的正文", "c2")])
            filler.fill(10)
            assert urls(store, index, "正文") == ["3", "2", "1"]
            assert urls(store, index, "正文", crawl="c2") == ["3"]
            assert urls(store, index, "数据库") == []
            store.save([with_text("/1", "新的内容", minute=1)])
            assert urls(store, index, "旧的") == [], "compared with the record as it is"
            filler.fill(10)
            assert urls(store, index, "内容") == ["1"]
            store.delete_crawl("c2")
            assert urls(store, index, "正文") == ["2"]
            store.delete_crawl("c1")
            assert filler.check() == 2
            assert index.some(0, 10) == []

    def test_parts_follow_each_other(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(filling, "STEP_RECORDS", 3)
        store.save([with_text(f"/{n}", "一样的正文") for n in range(11)])
        with closing(SearchFile(tmp_path)) as index:
            filler = SearchFiller(store, index, may_be_late=False)
            assert filler.fill(-1) == 3, "one step, however late it is"
            page = search_in(store, index, Asked(text="正文"), None, 50)
            assert (len(page.hits), page.saved - page.indexed) == (3, 8)
            filler.fill(10)
            seen: list[str] = []
            before: int | None = None
            while before != 0:
                page = search_in(store, index, Asked(text="正文"), before, 4)
                seen += (hit.url for hit in page.hits)
                before = page.after
            assert len(seen) == len(set(seen)) == 11
            assert seen == sorted(seen, key=lambda url: -_place(url))


def _place(url: str) -> int:
    return int(url.rpartition("/")[2])
