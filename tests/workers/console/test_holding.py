"""The sentence of Now, by a table: the first rule that holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawlclean.storage.crawl_types import CrawlCounts, CrawlRow, CrawlSpec, CrawlState
from crawlclean.storage.live_state import (
    Claim,
    Hold,
    Process,
    ProcessRole,
    QueueNow,
    SpiderSession,
    WaitReason,
)
from crawlclean.workers.answers.moments import LookedAt
from crawlclean.workers.console.holding import Level, sentence
from crawlclean.workers.operations.controlling.crawls import CrawlStatus
from crawlclean.workers.operations.watching.now.now import Moment
from crawlclean.workers.operations.watching.queues import QueueState
from crawlclean.workers.operations.watching.signs.judging import BEHIND_S, Sign, SignKind
from crawlclean.workers.words import all_words

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLAIM = Claim(
    job_id="j1", worker="w", crawl_id="c", host="a.example", pages=1, page_id="", age_s=1,
    is_alive=True,
)  # fmt: skip


def process(role: ProcessRole, since: datetime = NOW - timedelta(hours=1)) -> Process:
    return Process(name="m.1", role=role, machine="m", pid=1, since=since, silent_s=1)


QUEUE = QueueNow(
    at=NOW, pages_in_flight=12, bytes_in_flight=1000, holds=(), damage="", jobs=1,
    oldest_job_s=0.1, sessions=(SpiderSession(name="s", is_alive=True, leases=1, oldest_s=0.1),),
    leases=1, oldest_lease_s=0.1, claims=(), oldest_claim_s=None,
    processes=(process(ProcessRole.WORKER), process(ProcessRole.HOUSEKEEPER)), ready_hosts=1,
    hosts=2, learning=0, paused_hosts=0, stopped_classes=0, memory_bytes=1, memory_limit_bytes=None,
    up_s=3600,
)  # fmt: skip


def line(state: CrawlState) -> CrawlStatus:
    counts = CrawlCounts(
        state=state, pending=5, leased=1, queued=0, done=3, stored=3, failed=0, fetched=3, hosts=2,
        budget_left=None,
    )  # fmt: skip
    spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",))
    return CrawlStatus(row=CrawlRow(spec=spec, created_at=NOW, state=state), counts=counts)


WELL = Moment(
    at=NOW,
    queue_state=QueueState.ANSWERS,
    queue=QUEUE,
    crawls=(line(CrawlState.RUNNING),),
    running=1,
    pending=5,
    waits={WaitReason.IN_FLIGHT: 2},
)


def queue(**changes: Any) -> Moment:
    return replace(WELL, queue=replace(QUEUE, **changes))


def ended(*states: CrawlState) -> Moment:
    return replace(WELL, running=0, pending=0, crawls=tuple(map(line, states)))


WORKER, HOUSEKEEPER = QUEUE.processes
CASES = {
    "queue_away": replace(WELL, queue=None, queue_state=QueueState.AWAY, why_no_store="locked"),
    "store_away": replace(WELL, why_no_store="locked"),
    "damaged": queue(damage="malformed", processes=()),
    "at_rest": replace(WELL, queue=None, queue_state=QueueState.AT_REST),
    "no_crawl": replace(WELL, queue=None, queue_state=QueueState.AT_REST, crawls=()),
    "starting": queue(processes=(process(ProcessRole.WORKER, NOW - timedelta(seconds=3)),)),
    "no_housekeeper": queue(processes=(WORKER,), holds=(Hold.DISK,)),
    "full_disk": queue(holds=(Hold.MEMORY, Hold.DISK)),
    "full_memory": queue(holds=(Hold.PAGES, Hold.MEMORY)),
    "no_spider": queue(sessions=(), processes=(HOUSEKEEPER,)),
    "no_worker": queue(processes=(HOUSEKEEPER,), holds=(Hold.PAGES,)),
    "backlog": queue(holds=(Hold.PAGES,), oldest_job_s=40.0),
    "behind": queue(oldest_job_s=BEHIND_S),
    "all_paused": ended(CrawlState.FINISHED, CrawlState.PAUSED),
    "all_stopped": ended(CrawlState.STOPPED, CrawlState.FINISHED),
    "all_finished": ended(CrawlState.FINISHED),
    "spent": replace(WELL, spent=1, waits={WaitReason.LIMIT: 9}),
    "waiting": replace(WELL, waits={WaitReason.AWAY: 6, WaitReason.DELAY: 4}),
    "signs": replace(
        WELL,
        signs=(Sign(kind=SignKind.REFUSES, host="a.example"),),
        looked=LookedAt(crawls=1, hosts=2, in_trouble=1),
    ),
    "not_looked": replace(WELL, looked=LookedAt(crawls=1, hosts=2, oldest_s=600.0)),
    "polite": replace(WELL, waits={WaitReason.DELAY: 9, WaitReason.AWAY: 1}),
    "full_speed": WELL,
}


@pytest.mark.parametrize("key", CASES)
def test_the_first_rule_that_holds(key: str) -> None:
    assert sentence(CASES[key]).key == key


@pytest.mark.parametrize(
    ("moment", "key"),
    [
        (replace(WELL, waits={}), "full_speed"),
        (replace(WELL, waits={WaitReason.AWAY: 1, WaitReason.DELAY: 1}), "full_speed"),
        (queue(processes=(HOUSEKEEPER,), claims=(CLAIM,)), "full_speed"),  # a worker works
        (queue(processes=(HOUSEKEEPER,), jobs=0, oldest_job_s=None), "full_speed"),
        (queue(sessions=(replace(QUEUE.sessions[0], is_alive=False),)), "no_spider"),
        (queue(processes=(), sessions=(), up_s=2), "starting"),
        (queue(processes=(), sessions=()), "no_housekeeper"),
        (queue(processes=(), lost=(WORKER,), up_s=3600), "no_housekeeper"),
        (replace(ended(), queue=replace(QUEUE, jobs=0, processes=())), "no_crawl"),
    ],
)
def test_edges(moment: Moment, key: str) -> None:
    assert sentence(moment).key == key


def test_every_sentence_has_words_with_its_values() -> None:
    words = {key.removeprefix("holding.") for key in all_words() if key.startswith("holding.")}
    assert words == set(CASES)
    for key, moment in CASES.items():
        said = sentence(moment)
        for text in all_words()[f"holding.{key}"]:
            assert text.format(**said.values)


def test_levels() -> None:
    levels = {key: sentence(moment).level for key, moment in CASES.items()}
    assert levels["no_spider"] is Level.BAD
    assert levels["backlog"] is Level.WARN
    assert levels["polite"] is Level.OK
    assert levels["at_rest"] is Level.REST
