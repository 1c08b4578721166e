"""Every page in both themes and at both widths, by a real browser; keys, live parts, no scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import pytest

from tests.browser.conftest import DONE, RUNNING, Visit, World, expect, serving, visiting
from tests.kit.stored_topics import TOPIC
from tests.kit.timing import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

PHONE: ViewportSize = {"width": 360, "height": 740}
WIDE: ViewportSize = {"width": 1920, "height": 1080}
WIDTHS = (360, 831, 833, 1280, 1920)
"""Checked for overflow; rows are cards below 832 pixels."""

BY_THEME_OR_WIDTH = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""The rules of axe that need not say the same of a page in the other theme and on a phone."""

PAGES = (
    "/",
    "/?range=day",
    "/crawls",
    f"/crawls/{DONE}",
    f"/crawls/{RUNNING}",
    "/hosts",
    "/hosts?sort=failed",
    "/hosts?state=trouble",
    "/hosts/HOST",
    "/pages",
    "/pages?host=HOST&kind=article",
    "/pages?url=http://HOST/missing/none.html",
    "/pages?url=http://HOST/a/1.html",
    "/pages/VERSIONS/versions",
    "/failures",
    f"/failures/group?crawl={DONE}&host=HOST&cause=http_status&status=404",
    "/queues",
    "/traps",
    "/topics",
    f"/topics/{TOPIC}",
    f"/topics/{TOPIC}?show=to_mark&days=30",
    f"/topics/{TOPIC}/tuning",
    f"/topics/{TOPIC}/stories/STORY",
    "/pages?url=https://h0.example/0/0",
    "/events",
    "/receivers",
    "/tokens",
    f"/events?kind=crawl&crawl={DONE}",
    "/audit",
    "/search",
    "/search?q=正文部分",
    "/search?q=没有这个词语&host=HOST",
    "/space",
    "/preferences",
    "/help",
    "/no-such-page",
)
"""Every address that is checked: with HOST, the host of the crawls, STORY, a story, and VERSIONS,
a page with versions."""

SHIFTS = """() => {
  window.shifts = [];
  const name = ({ node, previousRect: was, currentRect: is }) =>
    `${node?.parentElement?.id}/${node?.nodeName}#${node?.id} ${node?.textContent?.slice(0, 60)}`
    + ` (${was.x} ${was.y} ${was.width} ${was.height} -> ${is.x} ${is.y} ${is.width} ${is.height})`;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts.push(...entry.sources.map(name));
  }).observe({ type: "layout-shift", buffered: true });
}"""
"""What moves, as ``parent/NODE#id text (place before -> place)``."""


def filled(path: str, world: World) -> str:
    """An address of ``PAGES`` with what its words stand for."""
    path = path.replace("HOST", world.host).replace("STORY", world.story)
    return path.replace("VERSIONS", world.versions)


@cache
def axe() -> str:
    """The source of axe-core."""
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


def violations(page: Page, **only: object) -> list[str]:
    """What axe finds, ``color-contrast: a.dim``; ``only`` are more of its options."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe())
    options = {"resultTypes": ["violations"], **only}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{each['id']}: {', '.join(str(node['target']) for node in each['nodes'][:3])}"
        for each in found["violations"]
    ]


def assert_calm(visit: Visit, world: World) -> None:
    """Nothing ran, nothing was asked elsewhere, nothing was complained about."""
    expected = [line for line in visit.told if "status of 404" not in line]
    assert expected == []
    assert [url for url in visit.asked if not url.startswith(f"{world.url}/")] == []
    assert visit.page.evaluate("() => window.pwned") is None


def assert_sound(page: Page, url: str) -> None:
    """Both themes and all widths on one visit: only the style sheet tells them apart."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    page.goto(url)
    assert violations(page) == [], url
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, (url, width)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    assert violations(page, runOnly=BY_THEME_OR_WIDTH) == [], url


@pytest.fixture(scope="module")
def visit(chromium: Browser) -> Iterator[Visit]:
    """A window for all pages."""
    with visiting(chromium) as opened:
        yield opened


@pytest.mark.parametrize("path", PAGES)
def test_a_page(visit: Visit, world: World, path: str) -> None:
    visit.told.clear()
    visit.asked.clear()
    assert_sound(visit.page, world.url + filled(path, world))
    assert_calm(visit, world)


def test_words_are_found_while_a_crawl_runs(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page

        def is_found() -> bool:
            page.goto(f"{world.url}/search?q=正文部分&crawl={RUNNING}&kind=words")
            return page.locator("mark").count() > 0

        wait_until(is_found)  # the housekeeper indexes new records
        assert page.locator("mark").first.inner_text() == "正文部分"
        page.locator(".hits a").first.click()
        page.wait_for_url("**/pages/**")
        assert_calm(visit, world)


def test_hostile_texts_are_shown_and_do_nothing(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        for path in (f"/crawls/{DONE}", f"/hosts/{world.host}"):
            visit.page.goto(world.url + path)
            assert_calm(visit, world)
        visit.page.goto(f"{world.url}/hosts?q=%3Cscript%3Ewindow.pwned=1%3C/script%3E%E2%80%AE")
        assert_calm(visit, world)
        assert visit.page.locator(".filters input[name=q]").input_value().endswith("[U+202E]")
        missing = visit.page.goto(f"{world.url}/hosts/%E2%80%AE%3Cscript%3E")
        assert missing is not None
        assert missing.status == 404
        assert "U+202E" in visit.page.inner_text("main")
        assert_calm(visit, world)


def test_a_live_part_changes_without_moving_anything(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{world.url}/")
        page.evaluate(SHIFTS)
        so_far = "() => document.querySelector('#tile-stored small').textContent"
        first = page.evaluate(so_far)
        page.wait_for_function(f"first => ({so_far})() !== first", arg=first)
        second = page.evaluate(so_far)
        page.wait_for_function(f"second => ({so_far})() !== second", arg=second)
        assert page.inner_text("#live-state") == "live"
        assert page.evaluate("() => window.shifts") == []
        assert_calm(visit, world)


def test_what_has_the_focus_is_not_replaced(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{world.url}/")
        page.focus("#now-panels a")
        page.evaluate("() => { document.querySelector('#now-panels').dataset.mine = 1; }")
        so_far = "() => document.querySelector('#tile-stored small').textContent"
        first = page.evaluate(so_far)
        page.wait_for_function(f"first => ({so_far})() !== first", arg=first)
        assert page.evaluate("() => document.activeElement.closest('#now-panels').dataset.mine")


def test_keys_go_everywhere(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{world.url}/")
        page.keyboard.press("g")
        page.keyboard.press("h")
        page.wait_for_url("**/hosts")
        page.keyboard.press("/")
        assert page.evaluate("() => document.activeElement.name") == "q"
        page.keyboard.type("gc")  # while somebody types, keys are letters
        assert page.locator(".search input").input_value() == "gc"
        page.goto(f"{world.url}/crawls")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"/crawls/({DONE}|{RUNNING})$"))
        page.keyboard.press("?")
        page.wait_for_url("**/help")
        page.keyboard.press("g")
        page.keyboard.press("h")
        assert page.url.endswith("/help")  # explained here, and off
        page.goto(f"{world.url}/")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "main"
        assert_calm(visit, world)


def test_everything_works_without_scripts(chromium: Browser, world: World) -> None:
    with visiting(chromium, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{world.url}/")
        page.click("noscript a")
        page.click("nav >> text=Hosts")
        page.fill(".filters input[name=q]", world.host)
        page.click("text=Find")
        page.click(f"main >> text={world.host}")
        expect(page.locator("h1")).to_have_text(world.host)
        page.click("text=Language and time")
        page.select_option("select[name=language]", "zh")
        page.select_option("select[name=zone]", "Asia/Shanghai")
        page.click("main button")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        expect(page.locator("h1")).to_have_text(world.host)
        expect(page.locator("footer")).to_contain_text("Asia/Shanghai")


PLOTTED = "() => document.querySelectorAll('figure[data-figures] .plotted').length"


@pytest.mark.parametrize("path", ["/", f"/crawls/{DONE}", "/hosts/HOST"])
def test_charts_are_pointed_at_and_zoomed_together(
    chromium: Browser, world: World, path: str
) -> None:
    with visiting(chromium, viewport=WIDE) as visit:
        page = visit.page
        page.goto(world.url + filled(path, world))
        page.evaluate(SHIFTS)
        charts = page.locator("figure[data-figures]")
        page.wait_for_function(f"n => ({PLOTTED})() === n", arg=charts.count())
        assert charts.count() >= 4
        first, second = (charts.nth(n).locator(".u-over") for n in (0, 1))
        told = charts.locator(".told")
        second.scroll_into_view_if_needed()
        box = first.bounding_box()
        assert box

        def point(share: float) -> list[str]:
            page.mouse.move(box["x"] + box["width"] * share, box["y"] + 30)
            return told.all_inner_texts()

        left, right = point(0.4), point(0.7)
        assert all(a != b for a, b in zip(left, right, strict=True)), "one cursor in all of them"
        times = {text.split(" · ")[0] for text in right}
        assert len(times) == 1
        assert re.search(r"half within [\d.]+ · 95 % within [\d.]+", right[2])
        page.mouse.down()
        point(0.8)
        page.mouse.up()
        begin = point(0.0)
        assert begin[0].split(" · ")[0] == right[0].split(" · ")[0], "the zoom begins there"
        assert len({text.split(" · ")[0] for text in begin}) == 1
        page.mouse.dblclick(box["x"] + 20, box["y"] + 30)
        assert point(0.0)[0].split(" · ")[0] < times.pop()
        assert page.evaluate("() => window.shifts") == []
        assert_calm(visit, world)


def test_charts_without_scripts_are_pictures(chromium: Browser, world: World) -> None:
    with visiting(chromium, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{world.url}/crawls/{DONE}")
        drawing = page.locator("figure[data-figures] .drawing").first
        expect(drawing).to_be_visible()
        box = drawing.bounding_box()
        assert box
        assert box["height"] > 70
        assert page.locator("figure[data-figures] .y span").first.is_visible()
        assert_calm(visit, world)


def test_topics_without_scripts_and_by_keys(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        visit.page.goto(f"{world.url}/")
        visit.page.keyboard.press("g")
        visit.page.keyboard.press("t")
        visit.page.wait_for_url("**/topics")
        visit.page.keyboard.press("j")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url(f"**/topics/{TOPIC}")
        assert_calm(visit, world)
    with visiting(chromium, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{world.url}/topics/{TOPIC}")
        page.select_option("select[name=show]", "other")
        page.click("text=Find")
        expect(page.locator(".story")).to_have_count(4)
        page.goto(f"{world.url}/topics/{TOPIC}")
        expect(page.locator(".story")).to_have_count(3)
        page.locator(".story >> text=all its URLs").first.click()
        expect(page.locator("tbody")).to_contain_text("earliest")
        expect(page.locator("h1")).to_contain_text("U+202E")


def test_an_address_is_copied_and_the_original_opened(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{world.url}/pages?host={world.host}")
        page.locator("tbody th a").first.click()
        address = page.locator(".lead .copied").inner_text()
        page.click("text=Copy the address")
        expect(page.locator(".copy")).to_have_text("Copied")
        page.focus(".search input")
        page.keyboard.press("Control+v")
        assert page.locator(".search input").input_value() == address
        original = page.locator("a.original").first
        assert original.get_attribute("href") == address
        assert original.get_attribute("rel") == "noopener noreferrer nofollow"
        assert_calm(visit, world)
    with visiting(chromium, java_script_enabled=False) as visit:
        visit.page.goto(f"{world.url}/pages?url={address}")
        assert not visit.page.locator(".copy").is_visible()
        assert visit.page.locator(".lead .copied").inner_text() == address


def test_versions_without_scripts(chromium: Browser, world: World) -> None:
    with visiting(chromium, java_script_enabled=False, viewport=PHONE) as visit:
        page = visit.page
        page.goto(f"{world.url}/pages/{world.versions}/versions")
        assert any(text.startswith("三") for text in page.locator("ins").all_inner_texts())
        page.locator("input[name=older]").last.check()
        page.click("text=Compare these two")
        page.wait_for_url("**/versions?*older=*")
        assert "一" in page.locator("del").all_inner_texts()
        assert "U+202E" in page.inner_text("main")


def test_login_and_logout(chromium: Browser, world: World, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse\n")
    with serving(world.data, "--password-file", str(secret)) as url, visiting(chromium) as visit:
        page = visit.page
        page.goto(f"{url}/hosts?sort=failed")
        assert violations(page) == []
        page.fill("#password", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        page.fill("#password", "correct horse")
        page.keyboard.press("Enter")
        page.wait_for_url("**/hosts?sort=failed")
        page.click("text=Log out")
        page.wait_for_url("**/login")
        page.goto(f"{url}/crawls")
        assert "/login?to=/crawls" in page.url
        assert [line for line in visit.told if "status of 403" not in line] == []


def test_a_console_that_goes_away_and_comes_back(chromium: Browser, world: World) -> None:
    with visiting(chromium) as visit:
        page = visit.page
        with serving(world.data, "--no-password") as url:
            page.goto(f"{url}/")
            page.wait_for_function("() => document.querySelector('#live-state').textContent")
            tiles = page.locator(".tile").count()
        wait_until(lambda: "does not answer" in page.inner_text("#live-state"))
        assert page.locator(".tile").count() == tiles
        with serving(world.data, "--no-password", port=url.rpartition(":")[2]):
            page.wait_for_function(
                "() => document.querySelector('#live-state').textContent === 'live'"
            )
