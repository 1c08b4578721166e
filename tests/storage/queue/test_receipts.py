"""A store that is older than its queue is noticed, and nothing else is taken for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import StorageError
from crawlclean.storage.crawl_types import Discovery, Outcome, QueuedPage, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import check_store, find_gap
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from tests.kit.mongo_server import MongoServer, own_store
from tests.kit.queues import A, Spider, claim_all, fetch_all, spec


@pytest.fixture(params=["sqlite", "mongo"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        with closing(SqliteStore(tmp_path / "records.sqlite")) as opened:
            yield opened
    else:
        server: MongoServer = request.getfixturevalue("server")
        with own_store(server.url("")) as made:
            yield made


def outcome(page: QueuedPage) -> Outcome:
    return Outcome(queued=page, state=UrlState.REDIRECT)


def work(
    frontier: Frontier, spider: Spider, client: Any, store: Store | None, *paths: str
) -> list[QueuedPage]:
    """Fetches, stores (unless ``store`` is None) and ends pages, one ack each; returns them."""
    frontier.add("c", [Discovery(url=f"{A}{path}") for path in paths])
    done = []
    while fetch_all(spider, 1):
        for job, pages in claim_all(frontier, client).items():
            if store:
                store.save([outcome(page) for page in pages])
            assert frontier.ack(job, [(page, UrlState.REDIRECT) for page in pages]) == 1
            done += pages
    return done


def test_what_is_stored_is_no_gap_and_what_is_missing_is_one(
    frontier: Frontier, spider: Spider, client: Any, store: Store
) -> None:
    frontier.open_crawl(spec("c"))
    frontier.open_crawl(spec("other"))
    work(frontier, spider, client, store, *map(str, range(100)))
    assert find_gap(frontier, store.urls, "c") == 0
    assert len(frontier.receipts("c")) == 64
    work(frontier, spider, client, None, "lost1", "lost2")
    assert find_gap(frontier, store.urls, "c") == 2
    assert frontier.receipts("other") == {}
    with pytest.raises(StorageError, match=r"lacks at least 2 .* crawl c; .* `crawl recover c`"):
        check_store(frontier, store.urls, "c")


def test_a_page_fetched_again_is_missing_with_its_older_response_alone(
    frontier: Frontier, spider: Spider, client: Any, store: Store
) -> None:
    frontier.open_crawl(spec("c"))
    (page,) = work(frontier, spider, client, None, "1")
    older = replace(page, fetched_at=page.fetched_at.replace(year=page.fetched_at.year - 1))
    store.save([outcome(older)])
    assert find_gap(frontier, store.urls, "c") == 1
    store.save([outcome(page)])
    assert find_gap(frontier, store.urls, "c") == 0


def test_a_page_stored_and_not_yet_ended_is_no_gap(
    frontier: Frontier, spider: Spider, client: Any, store: Store
) -> None:
    """What a kill between save and ack leaves."""
    frontier.open_crawl(spec("c"))
    work(frontier, spider, client, store, "1")
    frontier.add("c", [Discovery(url=f"{A}2")])
    fetch_all(spider)
    [(_, pages)] = claim_all(frontier, client).items()
    assert find_gap(frontier, store.urls, "c") == 0
    store.save([outcome(page) for page in pages])
    assert find_gap(frontier, store.urls, "c") == 0


def test_what_was_purged_leaves_no_receipt(
    frontier: Frontier, spider: Spider, client: Any, store: Store
) -> None:
    frontier.open_crawl(spec("c"))
    work(frontier, spider, client, store, "1", "2")
    frontier.purge("c", "a.example")
    frontier.forget_receipts("c")
    store.delete_host("c", "a.example")
    check_store(frontier, store.urls, "c")
    work(frontier, spider, client, store, "3")
    frontier.purge("c")
    assert frontier.receipts("c") == {}
    assert not client.exists("cc:a:c")


def test_a_backup_and_a_cut_log_are_gaps(
    frontier: Frontier, spider: Spider, client: Any, tmp_path: Path
) -> None:
    path = tmp_path / "records.sqlite"
    frontier.open_crawl(spec("c"))
    with closing(SqliteStore(path)) as first:
        work(frontier, spider, client, first, "1", "2")
    shutil.copy(path, tmp_path / "backup.sqlite")
    with closing(SqliteStore(path)) as second:
        work(frontier, spider, client, second, "3")
        check_store(frontier, second.urls, "c")
        shutil.copy(path, tmp_path / "cut.sqlite")  # without its log, which holds the third page
        for name, expected in (("backup.sqlite", 1), ("cut.sqlite", 1), ("new.sqlite", 3)):
            with closing(SqliteStore(tmp_path / name)) as other:
                assert find_gap(frontier, other.urls, "c") == expected, name
