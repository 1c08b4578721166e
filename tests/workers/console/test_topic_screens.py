"""The screens of topics over a real store, queue and worker; marks and pauses from them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from lxml.etree import fromstring
from werkzeug.test import TestResponse

from crawlclean.cleaning.topics.topic import Topic, TopicSpec
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.console_tokens import TokenScope
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.journal import OperationState
from crawlclean.storage.topic_types import JudgedPage, TopicState
from crawlclean.workers.jobs.topics import TopicOrder, first_version, judgement_of
from crawlclean.workers.operations.api_tokens import make_token
from crawlclean.workers.operations.topics.verdicts import topic_verdicts
from tests.kit.console import (
    ORIGIN,
    acting_console,
    do,
    guarded_console,
    log_in,
    open_console,
    parts_of,
    settings_of,
)
from tests.kit.stored_topics import TOPIC, judged_page, store_topic
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Bench, answer

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script>\u202eevil"
MARKS = r'href="(/actions/mark_(?:not_)?relevant\?[^"]+)"'


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Topic ``quake`` with hostile titles, whose crawl has a queue and a worker."""
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        started.start_worker()
        with closing(started.store()) as store:
            store_topic(store, title=f"{HOSTILE} 地震")
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


def urls_in(page: str) -> list[str]:
    """The stories of a page, by their links to the web."""
    return re.findall(
        r'<a class="original" href="https://(h\d.example/[^"]+)" target="_blank"', page
    )


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


def test_a_topic_opens_on_its_stories(console: FlaskClient) -> None:
    wait_until(lambda: "timeline-figure" in text_of(console, f"/topics/{TOPIC}"))
    page = text_of(console, f"/topics/{TOPIC}")
    assert urls_in(page) == [f"h0.example/{story}/0" for story in (2, 1, 0)]
    for part in ("<mark><bdi>地震</bdi></mark>", "highly relevant", "Also on", "h1.example"):
        assert part in page
    assert "海啸" not in page  # a concept of the query that is not on the pages
    assert page.count("noopener noreferrer") == 3
    assert re.findall(r"<title>([^<]+)</title></a></svg>", page) == ["2026-03-01: 3 stories"]
    assert "/actions/" not in page
    assert console.get("/topics/none").status_code == 404
    assert console.get("/topics/none.atom").status_code == 404


def test_what_tunes_a_topic_stands_on_its_second_tab(console: FlaskClient) -> None:
    page = read(console, f"/topics/{TOPIC}/tuning")
    for part in ("No link waits", "地震 ", "Nobody is told", "Yield of hosts", "1,000"):
        assert part in page
    assert page.count('<svg class="drawing"') == 1
    assert 'data-live="/topics/quake/live"' in page
    story = re.findall(rf'href="/topics/{TOPIC}/stories/(\w+)"', page)
    assert len(story) == 3
    whole = text_of(console, f"/topics/{TOPIC}/stories/{story[0]}")
    for part in ("5 URLs, 5 hosts.", "earliest", "longest"):
        assert part in whole
    assert "/2/4" not in text_of(console, f"/topics/{TOPIC}/stories/{story[0]}?after=5")
    assert console.get(f"/topics/{TOPIC}/stories/none").status_code == 404
    assert console.get(f"/topics/none/stories/{story[0]}").status_code == 404
    assert console.get("/topics/none/tuning").status_code == 404


def test_figures_are_answered_by_304_while_they_stay(console: FlaskClient) -> None:
    read(console, f"/topics/{TOPIC}/live")
    live = console.get(f"/topics/{TOPIC}/live")
    again = console.get(f"/topics/{TOPIC}/live", headers={"If-None-Match": live.headers["ETag"]})
    assert again.status_code in (200, 304)  # times like "3 s ago" may change


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("host=h0.example", 3),
        ("host=h1.example", 0),
        ("day=2026-03-01", 3),
        ("days=7", 0),
        ("words=地震", 3),
        ("words=海啸&limit=1", 0),
        ("unread=1", 3),
        ("show=other", 4),
        ("show=to_mark", 7),
        ("show=marked", 0),
        ("show=nonsense&days=x", 3),
    ],
)
def test_the_address_has_the_filters_of_page_and_feed(
    console: FlaskClient, asked: str, found: int
) -> None:
    pages = "".join(parts_of(console, f"/topics/{TOPIC}?{asked}"))
    assert len(set(urls_in(pages))) == len(urls_in(pages)) == found
    feed = console.get(f"/topics/{TOPIC}.atom?{asked}")
    assert feed.mimetype == "application/atom+xml"
    assert len(fromstring(feed.data).findall(f"{ATOM}entry")) == found


def test_stories_come_in_parts(console: FlaskClient) -> None:
    first, second = parts_of(console, f"/topics/{TOPIC}?limit=2")
    assert [*urls_in(first), *urls_in(second)] == urls_in(text_of(console, f"/topics/{TOPIC}"))
    assert console.get(f"/topics/{TOPIC}?after=x").status_code == 400
    assert console.get(f"/topics/{TOPIC}?day=yesterday").status_code == 400


def test_the_feed_has_what_atom_asks_for(console: FlaskClient) -> None:
    """RFC 4287, 4.1: id, title, updated; an author in each entry; ids that differ and stay."""
    answer = console.get(f"/topics/{TOPIC}.atom")
    feed = fromstring(answer.data)
    assert feed.tag == f"{ATOM}feed"
    ids = []
    for each in (feed, *feed.findall(f"{ATOM}entry")):
        (found,) = each.findall(f"{ATOM}id")
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", found.text or "")
        ids.append(found.text)
        (title,), (updated,) = each.findall(f"{ATOM}title"), each.findall(f"{ATOM}updated")
        assert title.text
        assert datetime.fromisoformat(updated.text or "").tzinfo is not None
    assert len(set(ids)) == 4
    for entry in feed.findall(f"{ATOM}entry"):
        assert entry.findtext(f"{ATOM}author/{ATOM}name") == "作者"
        content = entry.find(f"{ATOM}content")
        assert content is not None
        assert (content.get("type"), len(content)) == ("text", 0)
        (link,) = entry.findall(f"{ATOM}link")
        assert link.get("rel") == "alternate"
    again = console.get(f"/topics/{TOPIC}.atom", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_texts_of_the_web_break_no_feed(tmp_path: Path) -> None:
    with closing(open_store(StorageConfig(data=tmp_path), create=True)) as store:
        store_topic(store, stories=1, title="地震<b>&\ufffe\x00]]>")
    feed = fromstring(open_console(tmp_path).get(f"/topics/{TOPIC}.atom").data)
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "地震<b>&  ]]>"


def test_the_feed_is_for_sessions_and_for_tokens(bench: Bench) -> None:
    locked, address = guarded_console(bench.data), f"/topics/{TOPIC}.atom"
    asked = locked.get(address)
    assert asked.status_code == 401
    assert asked.headers["WWW-Authenticate"].startswith("Basic")
    token = make_token(bench.data, "reader", TokenScope.READ, days=1).token
    assert locked.get(address, auth=("me", token)).status_code == 200
    assert locked.get(address, auth=("me", "wrong")).status_code == 401
    assert locked.get(address, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    # A browser sends a password with the forms of other sites: the API takes none.
    assert locked.get("/api/v1/topics", auth=("me", token)).status_code == 401
    log_in(locked)
    assert locked.get(address).status_code == 200


def test_a_read_only_console_has_no_buttons(console: FlaskClient) -> None:
    for address in (f"/topics/{TOPIC}", f"/topics/{TOPIC}/tuning"):
        assert "<form method" not in text_of(console, address).partition("<footer>")[0]
    posted = {"token": "0", "pages": "", "to": "/"}
    assert console.post(f"/topics/{TOPIC}/read", data=posted, headers=ORIGIN).status_code == 403


def test_a_topic_is_paused_and_the_result_leads_back(acting: FlaskClient, bench: Bench) -> None:
    tuning = f"/topics/{TOPIC}/tuning"
    assert "/actions/pause_topic" in text_of(acting, tuning)
    page = do(acting, "pause_topic", TOPIC)
    assert f'href="/topics/{TOPIC}"' in page.text
    assert state_of(bench) is TopicState.PAUSED
    assert "An operator paused this topic" in text_of(acting, tuning)
    undo = re.search(r'href="/actions/(resume_topic)\?target=(\w+)"', page.text)
    assert undo
    do(acting, undo[1], undo[2])
    assert state_of(bench) is TopicState.RUNNING
    assert bench.frontier.counts(TOPIC).state is not CrawlState.PAUSED
    missing = acting.get("/actions/pause_topic?target=none")
    assert missing.status_code == 404


def test_a_page_is_marked_in_place_and_the_mark_is_taken_off(
    acting: FlaskClient, bench: Bench
) -> None:
    page = text_of(acting, f"/topics/{TOPIC}?show=other&host=h0.example&limit=1")
    target = f"https://{urls_in(page)[0]}"
    for name, mark, pressed in (
        ("mark_relevant", {target: True}, "Relevant"),
        ("mark_not_relevant", {target: False}, "Not relevant"),
        ("unmark", {}, ""),
    ):
        done = press(acting, page, name)
        assert (done.request.path, urls_in(done.text)) == (f"/topics/{TOPIC}", [target[8:]])
        assert marked(bench) == mark  # at once, whatever a worker has to do
        assert re.findall(r'aria-pressed="true">([^<]+)', done.text) == [pressed] * bool(pressed)
        page = done.text
        wait_until(lambda: has_ended(bench))
    forged = acting.post("/actions/mark_relevant", data={"target": target}, headers=ORIGIN)
    assert forged.status_code == 403


def press(acting: FlaskClient, page: str, name: str) -> TestResponse:
    """Sends the form of a story."""
    form = page.partition(f'action="/actions/{name}"')[2].partition("</form>")[0]
    fields = re.findall(r'name="(\w+)" value="([^"]*)"', form)
    data = {key: html.unescape(value) for key, value in fields}
    return acting.post(f"/actions/{name}", data=data, headers=ORIGIN, follow_redirects=True)


def test_stories_are_marked_as_read(acting: FlaskClient) -> None:
    page = text_of(acting, f"/topics/{TOPIC}?limit=2")
    form = page.partition('id="read"')[2].partition("</form>")[0]
    data = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    read_all = acting.post(f"/topics/{TOPIC}/read", data=data, headers=ORIGIN)
    assert read_all.headers["Location"] == f"/topics/{TOPIC}?limit=2"
    assert not set(urls_in(page)) & set(urls_in(text_of(acting, f"/topics/{TOPIC}?unread=1")))
    assert text_of(acting, f"/topics/{TOPIC}").count('class="story read"') == 2
    assert acting.post(f"/topics/{TOPIC}/read", data=data).status_code == 403, "no origin"


def test_a_mark_waits_for_the_next_crawl_where_none_runs(tmp_path: Path) -> None:
    with closing(open_store(StorageConfig(data=tmp_path), create=True)) as store:
        store_topic(store, stories=1)
    acting = acting_console(settings_of(tmp_path), tmp_path)
    assert press(acting, text_of(acting, f"/topics/{TOPIC}"), "mark_relevant").status_code == 200
    with closing(open_store(StorageConfig(data=tmp_path))) as store:
        assert [page.mark for page in store.topics.marked(TOPIC)] == [True]
        (waits,) = store.operations.unfinished()
        assert waits.kind == "mark"


def test_the_screen_of_a_page_has_its_topics(acting: FlaskClient, bench: Bench) -> None:
    with closing(bench.store()) as store:
        page = store.topics.newest(TOPIC, 1, relevant=True)[0]
    screen = text_of(acting, f"/pages/{page.page_id}")
    assert f'href="/topics/{TOPIC}"' in screen
    assert re.findall(MARKS, screen)


def test_words_that_stand_apart_on_a_page_are_named_apart(tmp_path: Path) -> None:
    with closing(open_store(StorageConfig(data=tmp_path), create=True)) as store:
        spec = TopicSpec(name=TOPIC, query="党史学习教育")
        row = first_version(TopicOrder(spec=spec), [])
        assert store.topics.create(row)
        made = judged_page("/1", "党史材料先学，学习在前，教育在后。", 0.9, "通知", "h0.example", 0)
        assert made.record is not None
        judgement = judgement_of(Topic.from_bytes(row.packed), made.record)
        store.save([replace(made, judgements=(replace(judgement, is_relevant=True),))])
        (verdict,) = topic_verdicts(store, [made.queued.page_id])
    assert [hit.name for hit in verdict.concepts] == ["党史 学习 教育"]
    page = text_of(open_console(tmp_path), f"/topics/{TOPIC}")
    assert re.findall(r"<b><bdi>([^<]+)</bdi></b>", page) == ["党史", "学习", "教育"]
    assert "党史学习教育" not in page


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
