"""A real Chromium, and a console over a crawl that is done and a crawl that runs.

Playwright drives Debian's Chromium. Without one of the two the tests are skipped on a laptop, and
fail with CI=true.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from tests.kit.crawls import run_crawl, start
from tests.kit.servers import require
from tests.kit.stored_topics import store_topic
from tests.kit.stored_versions import store_versions
from tests.kit.timing import LIMIT_S
from tests.kit.web import Web, html

if TYPE_CHECKING:  # every process that collects tests would import it, half a second each
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Locator,
        Page,
        Playwright,
        Request,
    )
    from playwright.sync_api._generated import LocatorAssertions

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Root in a container has neither of the first two. Debian's flags ask for a graphics card; where
# there is none the processor stands in for it: a fifth more processor time.
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
DONE, RUNNING = "news", "slow"
"""Names of the two crawls."""

SLOW_PAGES, SLOW_MS = 900, 1000
"""At one request at a time: the crawl outlives every test of a slow machine, and does little."""

PATIENCE_MS = LIMIT_S * 500

OVERRIDE = "\u202e"
HOSTILE = f"<script>window.pwned=1</script>{OVERRIDE}<img src=x onerror=window.pwned=1>"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4


@dataclass(frozen=True, slots=True)
class World:
    """What the console shows, and where it is.

    Attributes:
        url: Address of the console, without the final slash.
        data: The data folder.
        host: The host of both crawls.
        story: A story of the topic that is stored beside them.
        versions: Page id of a page with several versions; ``""``: none is stored.
    """

    url: str
    data: Path
    host: str
    story: str
    versions: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """A page in a window of its own.

    Attributes:
        page: The page.
        told: What was written to its console, and errors of its scripts.
        asked: Every address that was requested.
    """

    page: Page
    told: list[str]
    asked: list[str]


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Starts browsers; while it lives, no other test of this process can run an event loop."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)  # 5 s of a browser are short on a busy machine
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def program() -> str:
    """The path of Chromium."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        require("no chromium is installed: apt-get install chromium")
    return found


@pytest.fixture(scope="package")
def chromium(playwright: Playwright, program: str) -> Iterator[Browser]:
    """A browser for all tests that look at pages."""
    browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
    yield browser
    browser.close()


def expect(locator: Locator) -> LocatorAssertions:
    """What is to become true of a part of a page."""
    from playwright.sync_api import expect as expect_of

    return expect_of(locator)


def site() -> dict[str, object]:
    """Pages with hostile titles, addresses and anchor texts, some missing, some slow."""
    escaped = HOSTILE.replace("<", "&lt;")
    links = {f"/a/{n}.html": f"{escaped} {n}" for n in range(12)}
    links |= {f"/missing/{n}.html": escaped for n in range(3)}
    links |= {"/%E2%80%AE%3Cscript%3E.html": escaped}
    pages: dict[str, object] = {"/": html(escaped, TEXT, links=links)}
    pages |= {f"/a/{n}.html": html(f"{escaped} {n}", f"{n}{TEXT}") for n in range(12)}
    pages["/%E2%80%AE%3Cscript%3E.html"] = html(escaped, TEXT)
    pages["/robots.txt"] = f"User-agent: *\nDisallow: /private/\n# {HOSTILE}\n"
    slow = {f"/slow/{n}.html": f"{n}" for n in range(SLOW_PAGES)}
    pages["/slow/"] = html("slow", TEXT, links=slow)
    pages |= {path: {"body": html(f"s{path}", TEXT), "latency_ms": SLOW_MS} for path in slow}
    return pages


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A console without a password."""
    with crawled(tmp_path_factory.mktemp("browser"), "--no-password") as found:
        with closing(open_store(StorageConfig(data=found.data))) as store:
            versions = store_versions(store, DONE, HOSTILE)
            store_minutes(store, found.host)
        yield replace(found, versions=versions)


def store_minutes(store: Store, host: str) -> None:
    """Stores figures of 40 minutes that have passed, of everything, of a crawl and of the host."""
    for minute in range(50, 10, -1):
        figures = {
            "answers_2xx": 60.0 * minute, "answers_none": 6.0, "answered_in_0.1": 50.0,
            "answered_in_2.5": 10.0, "new_records": 60.0, "pending_urls": 100.0 + minute,
        }  # fmt: skip
        values = {
            f"{name}{of}": n for name, n in figures.items() for of in ("", f":{DONE}", f"@{host}")
        }
        store.samples.add(datetime.now(UTC) - timedelta(minutes=minute), values)


@contextmanager
def crawled(base: Path, *arguments: str) -> Iterator[World]:
    """A console over a crawl that is done and one that runs."""
    data = base / "data"
    with Web(base / "web", site()) as web:  # type: ignore[arg-type]
        run_crawl(data, web.url("/"), "--crawl", DONE)
        story = _store_topic(data)
        crawl = start(
            "run", web.url("/slow/"), "--crawl", RUNNING, "--allow-private", "--data", str(data),
            CRAWLCLEAN_SLOTS="1", CRAWLCLEAN_SEARCH="true",
        )  # fmt: skip
        try:
            with serving(data, *arguments) as url:
                yield World(url=url, data=data, host=web.host, story=story)
        finally:
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=LIMIT_S)


def _store_topic(data: Path) -> str:
    """Stores a topic with hostile titles; returns one of its stories."""
    with closing(open_store(StorageConfig(data=data))) as store:
        relevant = store_topic(store, title=HOSTILE)
        found = store.stories.of_page(relevant[0].queued.page_id)
    assert found is not None
    return found.story_id


@contextmanager
def serving(data: Path, *arguments: str, port: str = "0") -> Iterator[str]:
    """The command `console` over a data folder; yields its address without the final slash."""
    process = start(
        "console", "--port", port, "--data", str(data), *arguments,
        CRAWLCLEAN_SEARCH="true", CRAWLCLEAN_ALLOW_PRIVATE="true",
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1].rstrip("/")
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Ends a console."""
    process.terminate()
    _, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, errors) == (0, "")


@contextmanager
def visiting(browser: Browser, **options: object) -> Iterator[Visit]:
    """A window; ``options`` are those of Playwright's contexts (viewport, color_scheme, ...)."""
    context: BrowserContext = browser.new_context(locale="en-GB", **options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    visit = Visit(page, [], [])

    def note(message: ConsoleMessage) -> None:
        visit.told.append(f"{message.type}: {message.text}")

    def ask(request: Request) -> None:
        visit.asked.append(request.url)

    page.on("console", note)
    page.on("pageerror", lambda error: visit.told.append(str(error)))
    page.on("request", ask)
    try:
        yield visit
    finally:
        context.close()
