"""The API over MongoDB answers as over SQLite: the same rows are stored in both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.workers.config import Settings
from crawlclean.workers.console.api.tokens import TokenScope
from crawlclean.workers.operations.api_tokens import make_token
from tests.kit.api import Program, all_items, check
from tests.kit.console import console_of, settings_of
from tests.kit.crawl_rows import save_hosts
from tests.kit.mongo_server import given_url, own_store, running, url_of
from tests.kit.outcomes import page_id_of

HOSTS = 7
HOST = "h5.example"
URL = f"https://{HOST}/r/0"
OF_NOW = frozenset({"as_of", "updated_at", "at", "seq", "holds", "waits"})
"""Fields with the time of this test, or of the queue, which only one of them has."""

PATHS = {
    "/crawls": "/crawls",
    "/crawls/c1": "/crawls/{crawl}",
    "/hosts": "/hosts",
    "/hosts?sort=failed": "/hosts",
    f"/hosts/{HOST}": "/hosts/{host}",
    "/failures": "/failures",
    "/failures?crawl=c2": "/failures",
    "/failures?reason=timeout": "/failures",
    "/failures/causes": "/failures/causes",
    "/failures/causes?crawl=c1": "/failures/causes",
    f"/failures/urls?crawl=c1&host={HOST}&reason=timeout": "/failures/urls",
    f"/urls?url={URL}": "/urls",
    f"/urls?url=https://{HOST}/none": "/urls",
    f"/urls?url={page_id_of(URL)[:12]}": "/urls",
    f"/records?url={URL}": "/records",
    "/pages": "/pages",
    f"/pages?host={HOST}&kind=thread": "/pages",
    "/pages?crawl=c2&least_chars=1&most_chars=400": "/pages",
    "/events": "/events",
}


def fill(settings: Settings) -> None:
    """Stores the rows."""
    with closing(open_store(settings.storage, create=True)) as store:
        for name in ("c1", "c2"):
            seeds = (f"https://{HOST}/",)
            store.crawls.put(CrawlSpec(crawl_id=name, seeds=seeds), CrawlState.FINISHED)
        save_hosts(store, HOSTS)
        for n in range(3):
            store.events.add(Event(kind=EventKind.DIED, text=f"process {n}", link="machine.1"))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, Program]]:
    """A program that asks over SQLite at rest, and one over MongoDB with an idle queue."""
    base = tmp_path_factory.mktemp("both")
    with ExitStack() as open_:
        url = given_url() or open_.enter_context(running(base / "mongo")).url("crawl")
        database = url_of(open_.enter_context(own_store(url)))
        queue = EmbeddedServer(base / "queue")
        open_.callback(queue.stop)
        queue.start()
        servers = StorageConfig(data=base / "b", redis_url=queue.url, mongodb_url=database)
        found = []
        for settings in (settings_of(base / "a"), Settings(storage=servers)):
            fill(settings)
            client = open_.enter_context(console_of(settings))
            token = make_token(settings.storage.data, "tests", TokenScope.READ, None).token
            found.append(Program(client, token))
        yield found[0], found[1]


def without_times(value: Any) -> Any:
    """A value without the fields ``OF_NOW``."""
    if isinstance(value, dict):
        return {k: without_times(each) for k, each in value.items() if k not in OF_NOW}
    return [without_times(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", PATHS)
def test_both_stores_are_told_alike(both: tuple[Program, Program], path: str) -> None:
    sqlite, mongo = both
    value = mongo.value(path)
    check(mongo.description(), PATHS[path], value)
    if PATHS[path] in ("/crawls", "/crawls/{crawl}", "/urls"):  # they tell of the queue, too
        assert set(value) == set(sqlite.value(path))
    else:
        assert without_times(value) == without_times(sqlite.value(path))
    assert value.get("items", True)


@pytest.mark.parametrize("path", ["/hosts", "/hosts?sort=failed", "/failures", "/events", "/pages"])
def test_lists_are_read_in_parts(both: tuple[Program, Program], path: str) -> None:
    sqlite, mongo = both
    whole = mongo.value(f"{path}{'&' if '?' in path else '?'}limit=200")["items"]
    assert without_times(all_items(mongo, path, 2)) == without_times(whole)
    assert without_times(all_items(sqlite, path, 2)) == without_times(whole)


def test_errors_are_alike(both: tuple[Program, Program]) -> None:
    for path in ("/crawls/none", "/hosts/none.example", "/failures?after=x", "/records?url=none"):
        first, second = (each.get(path) for each in both)
        assert first.status_code == second.status_code
        assert first.status_code in (400, 404)


@pytest.mark.parametrize(
    "path",
    ["/", "/now/live", "/crawls", "/crawls/c1", "/hosts", "/hosts?sort=failed", f"/hosts/{HOST}",
     "/hosts?state=trouble", "/hosts?q=h5", "/failures", "/failures?crawl=c1", "/queues", "/events",
     "/traps", "/space", "/audit", "/pages", f"/pages?url={URL}", f"/pages/{page_id_of(URL)}"],
)  # fmt: skip
def test_every_screen_is_shown_over_mongodb(both: tuple[Program, Program], path: str) -> None:
    answer = both[1].client.get(path, follow_redirects=True)
    assert answer.status_code == 200
    assert 'role="alert"' not in answer.text
