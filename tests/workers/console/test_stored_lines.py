"""What other processes have stored is worded in Chinese; the words of others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from scrapy.exceptions import DownloadCancelledError

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.messages import Message, read_line, stored
from crawlclean.crawler.transfer.responses import address_refused, failure_of, judge_answer
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    Failure,
    FailureReason,
    KeepRaw,
    Outcome,
    PageRole,
    QueuedPage,
)
from crawlclean.storage.store.hosts import Pause
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.storage.store.models import DriftEvent, DriftOutcome, LearnReason
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.console.words import told
from crawlclean.workers.jobs.outcomes import end_page, failed, note_poison, with_stored_step
from crawlclean.workers.words import Language
from tests.kit.console import open_console
from tests.kit.outcomes import HOST, later, make_failure, make_queued
from tests.kit.worker_bench import Bench

CHINESE = {"Accept-Language": "zh-CN"}


def in_chinese(line: str) -> str:
    return re.sub(r"<[^>]+>", "", told(Language.CHINESE, line))


def test_english_pages_show_the_english_words() -> None:
    for line in (Message("killed", 3), "cleaning it killed 3 workers"):
        assert told(Language.ENGLISH, line) == "<bdi>cleaning it killed 3 workers</bdi>"


def test_a_line_of_an_older_version_or_of_somebody_else_stays_and_is_no_markup() -> None:
    assert in_chinese("cleaning it killed 3 workers") == "cleaning it killed 3 workers"
    assert in_chinese("too slow, after lunch") == "too slow, after lunch"
    hostile = "<script>alert(1)</script>\u202e"
    for line in (hostile, Message("excluded", hostile), Message("of", hostile, hostile)):
        shown = told(Language.CHINESE, line)
        assert "<script>" not in shown
        assert "U+202E" in shown


def test_messages_stand_in_messages_and_values_have_words() -> None:
    why = Message("learned_why", "drift", Message("since", "bodies", "2026-01-31 12:00"))
    assert in_chinese(Message("model", 3, 1064, why)) == (
        "模型版本 3，来自 1,064 个页面（新页面不符合：正文位置变化或缺失，始于 2026-01-31 12:00）"
    )
    assert in_chinese(Message("reason", "timeout", "took 9 s")) == "响应超时：took 9 s"
    cleaned = Message("with_warnings", Message("seed"), "capped_links, bad_links")
    assert not re.search("[a-z]{3,}", in_chinese(cleaned))


def in_store(line: str) -> str:
    """A line as another process reads it."""
    return read_line(stored(line))


def page() -> QueuedPage:
    return make_queued("/t/1", crawl_id="c")


def killing() -> Outcome:
    """The outcome of a page on which workers died."""
    return end_page(replace(page(), poison=True, crashes=3), KeepRaw.ALL).outcome


def failures() -> Iterator[Failure]:
    """Failures as spider and worker make them."""
    dropped = failed(page(), FailureReason.DROPPED, Message("dropped", "x"))
    for outcome in (killing(), dropped.outcome):
        assert outcome.failure
        yield outcome.failure
    yield address_refused("10.0.0.1")
    yield failure_of(DownloadCancelledError(), HOST, refused=False)
    for status, media_type in ((404, "text/html"), (200, "audio/mp3")):
        headers = [("Content-Type", media_type)]
        judged = judge_answer(status, headers, PageRole.PAGE, 1, 1)
        assert isinstance(judged, Failure)
        yield judged


def test_what_spider_and_worker_say_of_a_failure_is_worded() -> None:
    for failure in failures():
        line = in_chinese(in_store(failure.line))
        assert not re.search(r"[a-z]{2,} [a-z]{2,}", line), failure.line


def fill_events(store: Store) -> None:
    """Events of every kind that the store, housekeeper and workers write."""
    spec = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",))
    store.crawls.put(spec, CrawlState.RUNNING)
    store.crawls.put(spec, CrawlState.PAUSED, who="li@night-shift", why="太慢")
    store.pauses.put(Pause(host=HOST, since=later(0), crawls=("c",), who="li@x", why="太慢"))
    store.pauses.delete(HOST, "li@x")
    alarm = Alarm(sign=DriftSign.BODIES, since=later(1), at=later(2), pages=12, misfits=12)
    for outcome, version in ((DriftOutcome.LEARNED, 4), (DriftOutcome.WAITS, 0)):
        changed = DriftEvent(
            host=HOST, model_version=3, alarm=alarm, outcome=outcome, new_version=version
        )
        store.drifts.save(replace(changed, alarm=replace(alarm, at=later(version))))
    for key in ("leases_lost", "claims_lost"):
        store.events.add(Event(kind=EventKind.DIED, text=Message(key, 2)))
    note_poison(store, killing())


def test_the_page_of_events_is_chinese(bench: Bench) -> None:
    with closing(bench.store()) as store:
        fill_events(store)
        kinds = {each.kind for each in store.events.read(limit=50)}
    assert kinds >= {EventKind.CRAWL, EventKind.DRIFT, EventKind.POISON, EventKind.DIED}
    answer = open_console(bench.data).get("/events", headers=CHINESE)
    cells = re.findall(r'data-l="内容">(.*?)</td>', answer.text)
    assert len(cells) >= 8
    for cell in (re.sub(r"<[^>]+>|https?://\S+|li@\S+", "", each) for each in cells):
        assert not re.search(r"[a-z]{3,}", cell), cell


def test_the_group_of_a_page_that_kills_is_chinese(bench: Bench) -> None:
    killed = make_failure("/poison", crawl_id="c", reason=FailureReason.POISON)
    assert killed.failure
    detail = killing().failure
    with closing(bench.store()) as store:
        store.crawls.put(CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",)), CrawlState.RUNNING)
        store.save([replace(killed, failure=detail)])
        store.statistics.refresh()
    address = f"/failures/group?crawl=c&host={HOST}&cause=poison&status=0"
    console = open_console(bench.data)
    assert "清洗它使 3 个工作进程崩溃" in console.get(address, headers=CHINESE).text
    assert "cleaning it killed 3 workers" in console.get(address).text


def test_words_know_the_reasons_of_models() -> None:
    for reason in LearnReason:
        assert not in_chinese(Message("learned", reason.value)).isascii()


def test_the_page_of_a_failed_url_says_why(bench: Bench) -> None:
    outcome = with_stored_step(failed(page(), FailureReason.TIMEOUT, "took 9 s").outcome)
    with closing(bench.store()) as store:
        store.crawls.put(CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",)), CrawlState.RUNNING)
        store.save([outcome])
    address = f"/pages/{outcome.queued.page_id}"
    answer = open_console(bench.data).get(address, headers=CHINESE)
    line = r"<b>失败</b>\s*响应超时：<bdi>took 9 s</bdi>"
    assert len(re.findall(line, answer.text)) == 2, "its step, and what happened to the page"
