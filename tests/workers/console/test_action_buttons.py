"""Screens show the buttons of what can be done there, and none in a read-only console."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from crawlclean.storage.crawl_types import CrawlState, Failure, FailureReason, FetchResult
from tests.kit.console import acting_console, open_console, settings_of
from tests.kit.worker_bench import Bench, answer

HOST = "a.example"
WANTED = {
    f"/hosts/{HOST}": {"pause_host", "lift_traps", "learn_host", "purge_host"},
    "/crawls/c": {"retry_some", "retry_failed", "purge_crawl"},
    f"/failures/group?crawl=c&host={HOST}&cause=timeout&status=0": {"retry_some", "retry_failed"},
    "/failures": {"retry_some", "retry_failed"},
    "/queues": set(),
    "/traps": {"lift_traps"},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A crawl with a record, a failure, and a class that is stopped as a trap."""
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        late = FetchResult(failure=Failure(reason=FailureReason.TIMEOUT, detail="no answer"))
        started.crawl(f"http://{HOST}/", CrawlState.RUNNING, {"a": answer("a"), "b": late})
        started.client.hset(f"cc:ts:c:{HOST}", "/cal/*", "40 pages without news")
        started.client.hset("cc:traps", f"c {HOST} /cal/*", 1)
        yield started


@pytest.mark.parametrize("path", WANTED)
def test_a_screen_has_the_buttons_of_its_actions(bench: Bench, path: str) -> None:
    client = acting_console(settings_of(bench.data), bench.data)
    page = client.get(path)
    assert page.status_code == 200
    found = set(re.findall(r'href="/actions/(\w+)\?target=', page.text))
    assert found >= WANTED[path]
    links = re.findall(r'href="(/actions/[^"]+)"', page.text)
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code in (200, 404), link
    read_only = open_console(bench.data).get(path)
    assert "/actions/" not in read_only.text
