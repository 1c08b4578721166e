"""Actions in a real browser: confirm, result, undo, a name that is typed, progress, both themes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import DONE, RUNNING, World, crawled, visiting
from tests.browser.test_pages import PHONE, WIDE, assert_calm, violations
from tests.kit.console import settings_of
from workers.operations.crawl_states import list_pauses


@pytest.fixture(scope="module")
def acting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A console that allows actions; its crawls are its own, because a paused host ends a `run`."""
    with crawled(tmp_path_factory.mktemp("acting"), "--no-password", "--allow-actions") as found:
        yield found


def paused(world: World) -> list[str]:
    return [each.why for each in list_pauses(settings_of(world.data))]


def test_failures_are_retried_in_the_background(chromium: Browser, acting: World) -> None:
    """The first test: a `run` ends when all URLs that wait are those of paused hosts."""
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(
            f"{acting.url}/failures/group?crawl={DONE}&host={acting.host}"
            "&cause=http_status&status=404"
        )
        page.get_by_role("link", name="Retry all").click()
        expect(page.get_by_text("Most of these failures come again")).to_be_visible()
        expect(page.get_by_role("link", name="Retry 20 first")).to_be_visible()
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        # A busy machine may not have heard the worker for half a minute.
        said = re.compile("A worker does it in the background|No worker is heard")
        expect(page.locator("main")).to_contain_text(said)
        page.locator('a[href^="/operations/"]').first.click()
        expect(page.locator("#progress .badge")).to_have_text("done")
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


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", PHONE)])
def test_pages_of_actions_are_sound(
    chromium: Browser, acting: World, scheme: str, size: dict[str, int]
) -> None:
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
    with visiting(chromium, color_scheme=scheme, viewport=size) as visit:
        for path in paths:
            visit.page.goto(acting.url + path)
            assert violations(visit.page) == [], path
            width = visit.page.evaluate("() => document.documentElement.scrollWidth")
            assert width <= size["width"], path
        assert_calm(visit, acting)


def test_a_wrong_verdict_is_reported_by_the_keyboard(chromium: Browser, acting: World) -> None:
    with visiting(chromium, viewport=PHONE, color_scheme="dark") as visit:
        page = visit.page
        page.goto(f"{acting.url}/pages?url=http://{acting.host}/a/1.html")
        assert violations(page) == []
        page.locator('a[href*="part=text"]').first.press("Enter")
        expect(page.get_by_role("heading", name="This is wrong")).to_be_visible()
        assert violations(page) == []
        page.get_by_label("Reason, for colleagues").fill("<script>window.pwned=1</script>\u202e")
        page.get_by_label("Reason, for colleagues").press("Enter")
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        page.goto(f"{acting.url}/cases")
        assert violations(page) == []
        page.locator('a[href^="/cases/"]').first.press("Enter")
        expect(page.locator("main")).to_contain_text("still as reported")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        assert violations(page) == []
        with page.expect_download() as download:
            page.get_by_role("link", name="As golden folder (zip)").click()
        assert download.value.suggested_filename.endswith(".zip")
        page.get_by_role("link", name="Withdraw the report").press("Enter")
        page.get_by_role("button", name="Confirm").press("Enter")
        page.wait_for_url(re.compile(r"/audit/\d+$"))
        page.goto(f"{acting.url}/cases")
        expect(page.locator("main")).to_contain_text("Nobody has reported a verdict")
        page.goto(f"{acting.url}/pages?url=http://{acting.host}/a/1.html")
        page.get_by_role("link", name="Versions", exact=True).press("Enter")
        expect(page.locator("main")).to_contain_text("There is one version")
        assert violations(page) == []
        assert_calm(visit, acting)
