"""A visit to the console over two queue servers, by a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import end, visiting
from tests.kit.crawls import start
from tests.kit.split_queue import HOSTS, SplitQueue, split_queue

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SplitQueue]:
    with split_queue(tmp_path_factory.mktemp("split"), has_spiders=False) as made:
        yield made


def test_somebody_looks_at_two_servers_and_pauses_a_host_of_the_second(
    chromium: Browser, split: SplitQueue
) -> None:
    console = start(
        "console", "--port", "0", "--no-password", "--allow-actions", **split.environment()
    )
    try:
        assert console.stdout is not None
        address = console.stdout.readline().split()[-1].rstrip("/")
        with visiting(chromium, viewport={"width": 360, "height": 740}) as visit:
            page = visit.page
            page.goto(f"{address}/queues")
            rows = page.locator("#queue-servers tbody tr")
            expect(rows).to_have_count(2)
            for place, url in enumerate(split.urls):
                expect(rows.nth(place)).to_contain_text(url)
            assert page.evaluate(FITS)
            page.goto(f"{address}/actions/pause_host?target={HOSTS[1]}")
            page.locator("main form button").first.click()
            page.goto(f"{address}/hosts/{HOSTS[1]}")
            expect(page.locator("main")).to_contain_text("paused")
            page.goto(f"{address}/")
            expect(page.locator("main")).to_contain_text(HOSTS[1])
            assert visit.told == []
    finally:
        end(console)
