"""What every store must do with values that do not fit: subclass beside a fixture ``store``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.records import LinkKind
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, make_failure, make_outcome, with_queued
from tests.kit.recount import counted
from tests.kit.some import some
from tests.storage.store.store_contract import everything

NO_PAGE_ID: tuple[Any, ...] = ("\ud800", object())


class ValuesContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_an_outcome_without_its_record_is_a_defect(self, store: Store) -> None:
        defect = r"/t/1 cannot be stored: ValueError: .* exactly when"
        with pytest.raises(StoreDamaged, match=defect):
            store.save([replace(make_outcome(), record=None)])
        with pytest.raises(StoreDamaged, match=defect):
            store.save([replace(make_outcome(), state=UrlState.FAILED)])

    @pytest.mark.parametrize("keep_raw", [True, False])
    @pytest.mark.parametrize("page_id", NO_PAGE_ID, ids=["surrogate", "object"])
    def test_an_outcome_that_cannot_be_stored_is_named_and_changes_nothing(
        self, store: Store, keep_raw: bool, page_id: Any
    ) -> None:
        store.save([make_outcome("/1", keep_raw=keep_raw)])
        before = everything(store)
        good = make_outcome("/2", keep_raw=keep_raw)
        bad = with_queued(make_outcome("/3", keep_raw=keep_raw), page_id=page_id)
        with pytest.raises(StoreDamaged, match=f"https://{HOST}/3 cannot be stored"):
            store.save([good, bad])
        assert everything(store) == before
        assert store.answers.page(good.queued.page_id) is None
        assert store.save([good]) == 1

    def test_numbers_from_outside_are_cut_to_64_bits(self, store: Store) -> None:
        for path, huge in (("/1", 1 << 80), ("/2", -(1 << 80))):
            made = make_failure(path)
            result = replace(made.queued.result, status=huge)
            queued = replace(made.queued, result=result, depth=huge, attempt=huge)
            assert store.save([replace(made, queued=queued, html_chars=huge)]) == 1
            assert store.save([replace(made, queued=queued, html_chars=huge)]) == 0
        most, least = sorted(store.urls.failures(), key=lambda row: row.url)
        assert (most.status, least.status) == ((1 << 63) - 1, -(1 << 63))
        assert {most.attempts, least.attempts} <= {(1 << 63) - 1, -(1 << 63)}

    def test_text_that_utf_8_cannot_carry_is_stored_without_it(self, store: Store) -> None:
        made = make_outcome("/1", keep_raw=True)
        bad = "a\ud800b"
        result = replace(made.queued.result, headers=((bad, bad), ("ETag", bad)))
        queued = replace(made.queued, url=f"http://{bad}/", host=bad, result=result)
        assert store.save([replace(made, queued=queued)]) == 1
        assert store.urls.rows(queued.page_id)[0].host == "a\ufffdb"
        assert [stats.host for stats in counted(store).all()] == ["a\ufffdb"]

    def test_every_link_kind_is_counted(self, store: Store) -> None:
        store.save([make_outcome(links=4 * len(LinkKind))])
        assert some(counted(store).get(HOST)).links_by_kind == dict.fromkeys(LinkKind, 4)
