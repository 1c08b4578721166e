"""The screens of topics over a real store, queue and worker; marks and pauses from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.journal import OperationState
from crawlclean.storage.topic_types import JudgedPage, TopicState
from tests.kit.console import acting_console, do, open_console, parts_of, settings_of
from tests.kit.stored_topics import TOPIC, store_topic
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Bench, answer

HOSTILE = "<script>alert(1)</script>\u202eevil"
MARKS = r'href="(/actions/mark_(?:not_)?relevant\?[^"]+)"'


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Topic ``quake`` with hostile titles, whose crawl has a queue and a worker."""
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        started.start_worker()
        with closing(started.store()) as store:
            store_topic(store, title=HOSTILE)
        started.fetch("http://a.example/x", crawl_id=TOPIC, x=answer("x"))
        started.sweep_until(lambda: started.is_done(TOPIC))
        yield started


@pytest.fixture(scope="module")
def console(bench: Bench) -> FlaskClient:
    return open_console(bench.data)


@pytest.fixture(scope="module")
def acting(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def text_of(console: FlaskClient, address: str) -> str:
    found = console.get(address)
    assert found.status_code == 200, found.text
    assert "<script>alert" not in found.text
    assert "\u202e" not in found.text
    return found.text


def read(console: FlaskClient, address: str) -> str:
    """A screen whose figures are there."""

    def is_read() -> bool:
        page = text_of(console, address)
        return "for the first time" not in page and "…" not in page

    wait_until(is_read)
    return text_of(console, address)


def stories_in(page: str) -> list[str]:
    return re.findall(rf'href="/topics/{TOPIC}/stories/(\w+)"', page)


def test_the_list_has_the_figures_of_each_topic(console: FlaskClient) -> None:
    page = read(console, "/topics")
    for part in (f'href="/topics/{TOPIC}"', "judges pages", "16", "/ 1,000", "U+202E"):
        assert part in page
    assert f'href="/topics/{TOPIC}"' in read(console, "/live/topics")
    assert f'href="/topics/{TOPIC}"' not in text_of(console, f"/topics?after={TOPIC}")


def test_the_list_before_any_crawl(tmp_path: Path) -> None:
    assert "There is no topic" in text_of(open_console(tmp_path / "absent"), "/topics")


def test_a_list_comes_in_parts(tmp_path: Path) -> None:
    with closing(open_store(StorageConfig(data=tmp_path), create=True)) as store:
        store_topic(store, stories=1)
        row = store.topics.get(TOPIC)
        assert row is not None
        for name in ("ant", "bee"):
            assert store.topics.create(replace(row, name=name, version=1, crawl_id=name))
    pages = "".join(parts_of(open_console(tmp_path), "/topics?limit=1"))
    seen = re.findall(r'<th scope="row"><a href="/topics/(\w+)"', pages)
    assert seen == ["ant", "bee", TOPIC]


def test_one_topic_says_how_it_does_and_why_pages_are_relevant(console: FlaskClient) -> None:
    page = read(console, f"/topics/{TOPIC}")
    assert "No link waits" in page
    for part in ("地震", "in the title", "余震", "http://a.example/example", "Nobody is told"):
        assert part in page
    assert "海啸" not in page  # a concept of the query that is not on the pages
    assert page.count('<svg class="drawing"') == 2
    assert 'data-live="/topics/quake/live"' in page
    assert console.get("/topics/none").status_code == 404
    assert console.get("/topics/none/pages").status_code == 404
    assert console.get("/topics/none/stories").status_code == 404


def test_figures_are_answered_by_304_while_they_stay(console: FlaskClient) -> None:
    read(console, f"/topics/{TOPIC}/live")
    live = console.get(f"/topics/{TOPIC}/live")
    again = console.get(f"/topics/{TOPIC}/live", headers={"If-None-Match": live.headers["ETag"]})
    assert again.status_code in (200, 304)  # times like "3 s ago" may change


def test_pages_come_in_parts_and_by_what_is_held_of_them(console: FlaskClient) -> None:
    pages = "".join(parts_of(console, f"/topics/{TOPIC}/pages?limit=5"))
    seen = re.findall(r'<th scope="row"><a href="/pages/(\w{32})"', pages)
    assert len(seen) == len(set(seen)) == 12
    assert text_of(console, f"/topics/{TOPIC}/pages?show=other").count("<tr><th scope") >= 4
    to_mark = text_of(console, f"/topics/{TOPIC}/pages?show=to_mark")
    assert "teaches the topic most" in to_mark
    assert "余震" in to_mark
    assert "海啸" not in to_mark
    assert console.get(f"/topics/{TOPIC}/pages?after=x").status_code == 400


def test_stories_come_in_parts_and_name_the_earliest_and_longest(console: FlaskClient) -> None:
    whole = stories_in(read(console, f"/topics/{TOPIC}/stories"))
    assert len(whole) == 3
    first, second = parts_of(console, f"/topics/{TOPIC}/stories?limit=2")
    assert (stories_in(first), stories_in(second)) == (whole[:2], whole[2:])
    newest = stories_in(text_of(console, f"/topics/{TOPIC}/stories?sort=newest"))
    assert sorted(newest) == sorted(whole)
    story = text_of(console, f"/topics/{TOPIC}/stories/{whole[0]}")
    for part in ("5 URLs, 5 hosts.", "earliest", "longest"):
        assert part in story
    assert re.search(r"/2/0</bdi>", story)
    assert "No such" not in story
    assert "/2/4" not in text_of(console, f"/topics/{TOPIC}/stories/{whole[0]}?after=5")
    assert console.get(f"/topics/{TOPIC}/stories/none").status_code == 404
    assert console.get(f"/topics/none/stories/{whole[0]}").status_code == 404


def test_a_read_only_console_has_no_buttons(console: FlaskClient) -> None:
    for address in (f"/topics/{TOPIC}", f"/topics/{TOPIC}/pages"):
        assert "/actions/" not in text_of(console, address)


def test_a_topic_is_paused_and_the_result_leads_back(acting: FlaskClient, bench: Bench) -> None:
    assert "/actions/pause_topic" in text_of(acting, f"/topics/{TOPIC}")
    page = do(acting, "pause_topic", TOPIC)
    assert f'href="/topics/{TOPIC}"' in page.text
    assert state_of(bench) is TopicState.PAUSED
    assert "An operator paused this topic" in text_of(acting, f"/topics/{TOPIC}")
    undo = re.search(r'href="/actions/(resume_topic)\?target=(\w+)"', page.text)
    assert undo
    do(acting, undo[1], undo[2])
    assert state_of(bench) is TopicState.RUNNING
    assert bench.frontier.counts(TOPIC).state is not CrawlState.PAUSED
    missing = acting.get("/actions/pause_topic?target=none")
    assert missing.status_code == 404


def test_a_page_is_marked_and_the_mark_is_replaced(acting: FlaskClient, bench: Bench) -> None:
    page = text_of(acting, f"/topics/{TOPIC}/pages?show=other&limit=1")
    link = re.findall(MARKS, page)[0].replace("&amp;", "&")
    assert acting.get(link).status_code == 200
    url = re.search(r"/h0.example(/other/\d)", page)
    assert url
    target = f"https://h0.example{url[1]}"
    do(acting, "mark_relevant", target, topic=TOPIC)
    wait_until(lambda: has_ended(bench))
    assert marked(bench) == {target: True}
    assert "marked relevant" in text_of(acting, f"/topics/{TOPIC}/pages?show=marked")
    opposite = do(acting, "mark_not_relevant", target, topic=TOPIC)
    wait_until(lambda: has_ended(bench))
    assert marked(bench) == {target: False}
    assert "/actions/mark_relevant?target=" in opposite.text, "the way back"


def test_the_screen_of_a_page_has_its_topics(acting: FlaskClient, bench: Bench) -> None:
    with closing(bench.store()) as store:
        page = store.topics.newest(TOPIC, 1, relevant=True)[0]
    screen = text_of(acting, f"/pages/{page.page_id}")
    assert f'href="/topics/{TOPIC}"' in screen
    assert re.findall(MARKS, screen)


def state_of(bench: Bench) -> TopicState:
    with closing(bench.store()) as store:
        row = store.topics.get(TOPIC)
    assert row is not None
    return row.state


def marked(bench: Bench) -> dict[str, bool | None]:
    with closing(bench.store()) as store:
        found: list[JudgedPage] = store.topics.marked(TOPIC)
    return {each.url: each.mark for each in found}


def has_ended(bench: Bench) -> bool:
    with closing(bench.store()) as store:
        (operation,) = store.operations.read(limit=1)
    assert operation.state is not OperationState.FAILED, operation.detail
    return operation.state.has_ended
