"""Lists from memory are those of the store, however long they are held."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.tables import HOST_COLUMNS
from crawlclean.workers.operations.watching import held_figures
from crawlclean.workers.operations.watching.held_figures import HeldFigures
from tests.kit.crawl_rows import save_hosts
from tests.kit.timing import wait_until

HOSTS = 12


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as opened:
        for name in ("c1", "c2"):
            opened.crawls.put(CrawlSpec(crawl_id=name, seeds=()), CrawlState.FINISHED)
        save_hosts(opened, HOSTS)
        yield opened


def test_every_part_of_every_list_is_the_stores(store: Store) -> None:
    held = HeldFigures(store.overview)
    for column in HOST_COLUMNS:
        whole = store.overview.hosts(column, limit=100)
        assert len(whole) == HOSTS
        assert held.hosts(column, limit=100) == whole
    by_records = store.overview.hosts(limit=100)
    for limit in (1, 5, HOSTS):
        for row in by_records:
            place = (row.records, row.host)
            there = store.overview.hosts("records", place, limit)
            assert held.hosts("records", place, limit) == there
    groups = store.overview.failure_groups()
    assert len(groups) > HOSTS
    places = [None, *(each.place for each in groups[::5])]
    for crawl in (None, "c1", "c2", "none"):
        for reason in (None, FailureReason.TIMEOUT, FailureReason.HTTP_STATUS):
            for after in places:
                of_store = store.overview.failure_groups(crawl, limit=7, reason=reason, after=after)
                here = held.failure_groups(crawl, limit=7, reason=reason, after=after)
                assert here == of_store
    host = groups[0].host
    assert held.failure_groups(host=host) == store.overview.failure_groups(host=host)
    assert held.host(host) == store.overview.host(host)
    assert held.causes("c1") == store.overview.causes("c1")
    assert held.as_of() is None


def test_longer_lists_are_not_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_figures, "MOST_HOSTS", HOSTS - 1)
    monkeypatch.setattr(held_figures, "MOST_GROUPS", 1)
    held = HeldFigures(store.overview)
    assert held.hosts("failed", limit=5) == store.overview.hosts("failed", limit=5)
    assert held.failure_groups("c1") == store.overview.failure_groups("c1")


def test_what_is_old_is_read_anew_while_the_old_is_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldFigures(store.overview)
    assert len(held.hosts(limit=100)) == HOSTS
    save_hosts(store, HOSTS + 3)
    assert len(held.hosts(limit=100)) == HOSTS
    monkeypatch.setattr(held_figures, "AGE_S", 0.0)
    monkeypatch.setattr(held_figures, "SHARE", 1e9)
    wait_until(lambda: len(held.hosts(limit=100)) == HOSTS + 3)
    monkeypatch.setattr(held_figures, "SHOWN_AGE_S", 0.0)
    as_of = held.as_of()
    assert as_of is not None
