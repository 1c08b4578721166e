"""Actions in a real browser: confirm, result, undo, a name that is typed, progress, both themes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawls import list_pauses
from tests.browser.conftest import DONE, RUNNING, World, crawled, expect, visiting
from tests.browser.test_pages import (
    BY_THEME_OR_WIDTH,
    PHONE,
    SHIFTS,
    assert_calm,
    assert_sound,
    violations,
)
from tests.kit.console import settings_of
from tests.kit.stored_topics import TOPIC
from tests.kit.timing import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def acting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A console that allows actions; its crawls are its own, because a paused host ends a `run`."""
    with crawled(tmp_path_factory.mktemp("acting"), "--no-password", "--allow-actions") as found:
        yield found


def paused(world: World) -> list[str]:
    return [each.why for each in list_pauses(Backends(settings_of(world.data)))]


def test_failures_are_retried_in_the_background(chromium: Browser, acting: World) -> None:
    """The first test: a `run` ends when all URLs that wait are those of paused hosts."""
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(
            f"{acting.url}/failures/group?crawl={DONE}&host={acting.host}"
            "&cause=http_status&status=404"
        )
        page.get_by_text("These fail again, most of them").click()
        page.get_by_role("link", name="Retry all").click()
        expect(page.get_by_text("Most of these failures come again")).to_be_visible()
        expect(page.get_by_role("link", name="Retry 20 first")).to_be_visible()
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        expect(page.locator("#outcome")).to_contain_text("A worker has done it: 3.")
        page.locator('a[href^="/operations/"]').first.click()
        expect(page.locator("#progress .badge")).to_have_text("done")
        assert_calm(visit, acting)


def test_a_crawl_is_started_and_its_order_changed(chromium: Browser, acting: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{acting.url}/crawls")
        page.get_by_role("link", name="Start a crawl").click()
        assert_sound(page, page.url)
        page.fill("[name=seeds]", "no address")
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_role("alert")).to_contain_text("is not an http(s) URL")
        page.fill("[name=crawl]", "started")
        page.fill("[name=seeds]", f"http://{acting.host}/a/1.html\nhttp://{acting.host}/a/2.html")
        page.fill("[name=exclude]", "/login\n/reply")
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_text("The processes of the run that has this")).to_be_visible()
        assert violations(page) == []
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        page.goto(f"{acting.url}/crawls/started")
        expect(page.get_by_text("/reply")).to_be_visible()
        page.get_by_role("link", name="Edit").click()
        page.fill("[name=exclude]", "/login")
        page.fill("[name=max_pages]", "50")
        page.get_by_role("button", name="Check").click()
        expect(page.locator("#changes")).to_contain_text("– → 50")
        assert violations(page) == []
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        page.get_by_role("link", name="Edit").click()  # its undo
        expect(page.locator("#changes")).to_contain_text("50 → –")
        assert_calm(visit, acting)


def test_one_page_is_tried_while_the_result_stays_current(chromium: Browser, acting: World) -> None:
    with visiting(chromium, viewport=PHONE, color_scheme="dark") as visit:
        page = visit.page
        page.goto(f"{acting.url}/hosts/{acting.host}")
        page.get_by_role("link", name="Try one page", exact=True).press("Enter")
        expect(page.get_by_text("One request, by the delay and the robots.txt")).to_be_visible()
        assert violations(page) == []
        page.get_by_role("button", name="Confirm").press("Enter")
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        expect(page.locator("#outcome .badge")).to_have_text("answered")
        expect(page.locator("#outcome")).to_contain_text("Characters of its body")
        assert violations(page) == []
        page.emulate_media(color_scheme="light")
        assert violations(page, runOnly=BY_THEME_OR_WIDTH) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        assert_calm(visit, acting)


def test_stories_are_read_and_marked_by_keys(chromium: Browser, acting: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{acting.url}/topics/{TOPIC}")
        page.evaluate(SHIFTS)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        story = page.locator(".story.at")
        expect(story).to_have_count(1)
        expect(story).to_have_class("story read at")
        expect(page.locator(".story.read")).to_have_count(2)
        for key, pressed in (("r", ["Relevant"]), ("n", ["Not relevant"]), ("u", [])):
            page.keyboard.press(key)
            expect(story.locator("[aria-pressed=true]")).to_have_text(pressed)
            assert violations(page) == []
        assert page.url == f"{acting.url}/topics/{TOPIC}"
        assert page.evaluate("() => window.shifts") == []
        assert_calm(visit, acting)
        with page.expect_popup() as opened:  # the original: a host that does not exist
            page.keyboard.press("o")
        assert opened.value.evaluate("() => window.opener") is None
        page.goto(f"{acting.url}/topics/{TOPIC}?unread=1")
        expect(page.locator(".story.read")).to_have_count(0)
        page.locator("#read button").click()
        expect(page.locator(".story")).to_have_count(0)


def test_stories_are_marked_without_scripts(chromium: Browser, acting: World) -> None:
    with visiting(chromium, java_script_enabled=False, viewport=PHONE) as visit:
        page = visit.page
        page.goto(f"{acting.url}/topics/{TOPIC}")
        page.locator(".story").last.get_by_role("button", name="Relevant", exact=True).click()
        expect(page.locator(".story")).to_have_count(1)
        expect(page.locator("[aria-pressed=true]")).to_have_text("Relevant")
        page.get_by_role("button", name="Take the mark off").click()
        expect(page.locator(".story")).to_have_count(1)
        expect(page.locator("[aria-pressed=true]")).to_have_count(0)


def test_the_sign_of_a_change_leads_to_its_host(chromium: Browser, acting: World) -> None:
    """Its label leads to the host's page, which repeats it."""
    at = datetime.now(UTC)
    alarm = Alarm(sign=DriftSign.BODIES, since=at, at=at, pages=12, misfits=12)
    with closing(open_store(StorageConfig(data=acting.data))) as store:
        model = store.models.newest(acting.host)
        event = DriftEvent(
            host=acting.host,
            model_version=model,
            alarm=alarm,
            outcome=DriftOutcome.LEARNED,
            new_version=max(1, model),
        )
        store.drifts.save(event)
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(acting.url)
        sign = page.locator("ul.signs li").filter(has_text="site has changed")
        expect(sign).to_have_count(1)
        assert violations(page) == []
        sign.locator("a.label").press("Enter")
        expect(page.get_by_role("heading", name=acting.host)).to_be_visible()
        expect(page.locator("#host-signs")).to_contain_text("site has changed")
        assert_calm(visit, acting)


def test_a_host_is_paused_by_the_keyboard_and_the_result_leads_back(
    chromium: Browser, acting: World
) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{acting.url}/hosts/{acting.host}")
        page.get_by_role("link", name="Pause", exact=True).press("Enter")
        expect(page.get_by_role("heading", name="Pause")).to_be_visible()
        page.get_by_label("Reason, for colleagues").fill("too slow")
        page.get_by_label("Reason, for colleagues").press("Enter")
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        assert paused(acting) == ["too slow"]
        page.get_by_role("link", name="Undo: Resume").press("Enter")
        page.get_by_role("button", name="Confirm").press("Enter")
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        expect(page.locator("#outcome .badge")).to_have_text("finished")
        assert paused(acting) == []
        assert_calm(visit, acting)


def test_a_form_that_is_sent_twice_acts_once(chromium: Browser, acting: World) -> None:
    with visiting(chromium, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{acting.url}/actions/pause_host?target={acting.host}")
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        first = page.url
        page.go_back()
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        shown = page.url
        page.goto(f"{acting.url}/actions/resume_host?target={acting.host}")
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        again = int(page.url.rpartition("/")[2]) - int(first.rpartition("/")[2])
        # Coming back, a browser may ask for the page anew: then the form is another one.
        assert (shown == first and again == 1) or again == 2


def test_what_is_deleted_is_typed(chromium: Browser, acting: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{acting.url}/crawls/{DONE}")
        page.get_by_role("link", name="Delete the crawl").click()
        page.get_by_label("Type the name to confirm").fill("another")
        page.get_by_role("button", name="Confirm").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the name.")
        page.goto(f"{acting.url}/crawls/{DONE}")
        expect(page.get_by_role("heading", name=DONE, exact=True)).to_be_visible()


def test_pages_of_actions_are_sound(chromium: Browser, acting: World) -> None:
    """In both themes and at both widths on one visit, as ``test_a_page``."""
    paths = (
        f"/actions/pause_host?target={acting.host}",
        f"/actions/pin_class?target={acting.host}&template=/a/{{n}}.html",
        f"/actions/purge_crawl?target={RUNNING}",
        "/audit",
        "/audit/1",
        "/operations",
        "/operations/1",
        f"/hosts/{acting.host}",
        "/queues",
    )
    with visiting(chromium) as visit:
        for path in paths:
            assert_sound(visit.page, acting.url + path)
        assert_calm(visit, acting)


def test_pages_are_fetched_again(chromium: Browser, acting: World) -> None:
    with visiting(chromium, viewport=PHONE, color_scheme="dark") as visit:
        page = visit.page
        page.goto(f"{acting.url}/crawls/{DONE}")
        page.get_by_role("link", name="Fetch pages again").click()
        page.get_by_label("Which pages").select_option("all")
        page.get_by_role("button", name="Count anew").click()
        page.wait_for_url("**/*which=all*")
        expect(page.locator("main")).to_contain_text("Records stay")
        assert violations(page) == []
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        expect(page.locator("main")).to_contain_text("queued, to be fetched")
        assert_calm(visit, acting)


def test_raw_pages_are_dropped_when_the_name_is_typed(chromium: Browser, acting: World) -> None:
    """The last test: the pages of this crawl cannot be read again."""
    with visiting(chromium, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{acting.url}/actions/stop_crawl?target={DONE}")
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        page.goto(f"{acting.url}/space")
        page.locator(f'a[href="/actions/drop_raw_crawl?target={DONE}"]').click()
        expect(page.locator("main")).to_contain_text("bytes that come free")
        page.get_by_label("Type the name to confirm").fill("another")
        page.get_by_role("button", name="Confirm").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the name.")
        page.get_by_label("Type the name to confirm").fill(DONE)
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        expect(page.locator("main")).not_to_contain_text("bytes that come free")
        link = page.locator('a[href^="/operations/"]')
        if link.count():  # a worker does it
            link.first.click()

            def is_done() -> bool:
                page.reload()
                return page.locator("#progress .badge").inner_text() == "done"

            wait_until(is_done)
        page.goto(f"{acting.url}/space")
        assert page.locator(f'a[href="/actions/drop_raw_crawl?target={DONE}"]').count() == 0
        assert [line for line in visit.told if "status of 422" not in line] == []
