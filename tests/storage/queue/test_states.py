"""Any order of events leaves the queue right: nothing is lost, nothing counts twice.

A model walks beside the queue: spiders lease, answer, fail and die; workers claim, ack and die;
RQ forgets; housekeepers sweep. In the end everything is drained, and every URL was done once.
"""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import (
    CrawlCounts,
    CrawlState,
    Discovery,
    Lease,
    PageRole,
    QueuedPage,
    UrlState,
)
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, age_jobs, job_ids, let_time_pass, spec

HOSTS = ("a.example", "b.example", "slow.example")
SLOTS = 3
MAX_PAGES = 4
# Without delay, with one, with a budget. Only ``slow`` goes to slow.example.
SPECS = {
    "free": spec("free", slots=SLOTS),
    "slow": spec("slow", slots=SLOTS, delay_ms=1),
    "few": spec("few", slots=SLOTS, max_pages=MAX_PAGES),
}
ENDS = (UrlState.RECORD, UrlState.REDIRECT, UrlState.FAILED)

Key = tuple[str, str]  # crawl, page id
numbers = st.integers(0, 10_000)


@dataclass
class Held:
    """One lease as a spider remembers it; ``alive`` while the queue must accept its result."""

    session: str
    lease: Lease
    alive: bool = True


@dataclass
class Claim:
    """One claimed job as a worker remembers it, and which of its pages still count."""

    job: str
    pages: list[QueuedPage]
    alive: set[str] = field(default_factory=set)
    broken: bool = False


class QueueMachine(RuleBasedStateMachine):
    """The queue and its model."""

    def __init__(self, frontier: Frontier, spiders: list[Spider], client: Any) -> None:
        super().__init__()
        self.frontier, self.spiders, self.client = frontier, spiders, client

    @initialize()
    def begin(self) -> None:
        self.client.flushall()
        for spider in self.spiders:
            spider.queue.session = f"s{uuid.uuid4().hex}"
        self.offered: dict[str, set[str]] = {crawl: set() for crawl in SPECS}
        self.held: list[Held] = []
        self.claims: list[Claim] = []
        self.doomed: set[str] = set()
        self.waiting: Counter[Key] = Counter()  # queued, not claimed
        self.done: Counter[Key] = Counter()
        for told in SPECS.values():
            self.frontier.open_crawl(told)
        for i, crawl in enumerate(sorted(SPECS) * 2):
            self.add(crawl, [0, 1, 2, 3], i)
        for robots in self.spiders[0].lease(2):  # the rules of the others are fetched on the way
            assert self.spiders[0].put_robots(robots)

    # What happens

    @rule(crawl=st.sampled_from(sorted(SPECS)), ids=st.lists(numbers, max_size=6), host=numbers)
    def add(self, crawl: str, ids: list[int], host: int) -> None:
        name = HOSTS[host % (3 if crawl == "slow" else 2)]
        found = [Discovery(url=f"http://{name}/{i % 12}", rank=i % 3) for i in ids]
        new = {page_id(d.url) for d in found} - self.offered[crawl]
        assert self.frontier.add(crawl, found) == len(new)
        self.offered[crawl] |= new

    @rule(who=numbers, n=st.integers(1, 6))
    def lease(self, who: int, n: int) -> None:
        spider = self.spiders[who % len(self.spiders)]
        leases = spider.lease(n)
        assert len(leases) <= n
        for lease in leases:
            if lease.role is PageRole.PAGE:
                key = (lease.crawl_id, lease.page_id)
                assert lease.page_id in self.offered[lease.crawl_id]
                assert not self.done[key]
                assert not self.waiting[key]
            assert not any(
                h.alive and (h.lease.crawl_id, h.lease.page_id) == (lease.crawl_id, lease.page_id)
                for h in self.held
            )
            self.held.append(Held(spider.queue.session, lease))

    @rule(who=numbers, n=st.integers(1, 6))
    def fetch(self, who: int, n: int) -> None:
        """A spider in which all goes well."""
        start = len(self.held)
        self.lease(who, n)
        for i in range(start, len(self.held)):
            self.put(i, who)

    @rule(which=numbers, chosen=numbers, end=st.sampled_from(ENDS))
    def clean(self, which: int, chosen: int, end: UrlState) -> None:
        """A worker that does some of a job's pages, or all."""
        self.flush()
        start = len(self.claims)
        self.claim(which)
        if len(self.claims) > start:
            self.ack(start, chosen, end)

    @rule(which=numbers, who=numbers)
    def put(self, which: int, who: int) -> None:
        if not self.held:
            return
        held = self.held[which % len(self.held)]
        spider = self.spiders[who % len(self.spiders)]
        if held.lease.role is PageRole.ROBOTS:
            assert spider.put_robots(held.lease) is held.alive
        else:
            assert spider.put(held.lease) is held.alive
            self.waiting[held.lease.crawl_id, held.lease.page_id] += held.alive
        held.alive = False

    @rule(which=numbers)
    def nack(self, which: int) -> None:
        if self.held:
            held = self.held[which % len(self.held)]
            assert self.spiders[0].nack(held.lease) is held.alive
            held.alive = False

    @rule(who=numbers, forgets=numbers)
    def reconcile(self, who: int, forgets: int) -> None:
        session = self.spiders[who % len(self.spiders)].queue.session
        mine = [h for h in self.held if h.session == session and h.alive]
        kept = [h for i, h in enumerate(mine) if not forgets >> i & 1]
        lost = self.spiders[who % len(self.spiders)].reconcile([h.lease for h in kept])
        assert lost == len(mine) - len(kept)
        for h in mine:
            h.alive = h in kept

    @rule(who=numbers)
    def kill_spider(self, who: int) -> None:
        queue = self.spiders[who % len(self.spiders)].queue
        self.client.zadd("cc:spiders", {queue.session: 0}, xx=True)
        self.doomed.add(queue.session)
        queue.session = f"s{uuid.uuid4().hex}"

    @rule()
    def flush(self) -> None:
        self.spiders[0].flush()

    @rule(which=numbers)
    def claim(self, which: int) -> None:
        jobs = job_ids(self.client)
        if not jobs:
            return
        job = jobs[which % len(jobs)]
        pages = self.frontier.claim(job, "w")
        assert 1 <= len(pages) <= 20
        assert len({page.host for page in pages}) == 1
        assert self.frontier.claim(job, "w") == []
        for page in pages:
            self.waiting[page.crawl_id, page.page_id] -= 1
            assert self.waiting[page.crawl_id, page.page_id] == 0
        self.claims.append(Claim(job, pages, {page.page_id for page in pages}))

    @rule(which=numbers, chosen=numbers, end=st.sampled_from(ENDS))
    def ack(self, which: int, chosen: int, end: UrlState) -> None:
        if not self.claims:
            return
        claim = self.claims[which % len(self.claims)]
        pages = [page for i, page in enumerate(claim.pages) if chosen >> i & 1]
        counted = self.frontier.ack(claim.job, [(page, end) for page in pages])
        live = {page.page_id for page in pages} & claim.alive
        assert counted == len(live)
        for page in pages:
            self.done[page.crawl_id, page.page_id] += page.page_id in live
        claim.alive -= live

    @rule(which=numbers, page=st.none() | numbers)
    def kill_worker(self, which: int, page: int | None) -> None:
        if not self.claims:
            return
        claim = self.claims[which % len(self.claims)]
        if page is not None:
            marked = claim.pages[page % len(claim.pages)]
            self.frontier.mark(claim.job, marked.page_id)
        assert self.frontier.keep_claim(claim.job) is bool(claim.alive)
        self.frontier.break_claim(claim.job)
        claim.broken = True

    @precondition(lambda self: self.doomed or any(claim.broken for claim in self.claims))
    @rule()
    def sweep(self) -> None:
        self.frontier.sweep()
        for held in self.held:
            held.alive = held.alive and held.session not in self.doomed
        for claim in self.claims:
            if claim.broken:
                for pid in claim.alive:
                    self.waiting[claim.pages[0].crawl_id, pid] += 1
                claim.alive = set()

    @rule()
    def lose_the_job_queue(self) -> None:
        keys = list(self.client.scan_iter("rq:*"))
        if keys:
            self.client.delete(*keys)

    @rule()
    def let_time_pass(self) -> None:
        let_time_pass(self.client, *HOSTS)

    @rule(crawl=st.sampled_from(sorted(SPECS)), paused=st.booleans())
    def pause(self, crawl: str, paused: bool) -> None:
        self.frontier.set_state(crawl, CrawlState.PAUSED if paused else CrawlState.RUNNING)

    # What always holds

    def counts(self, crawl: str) -> CrawlCounts:
        return self.frontier.counts(crawl)

    @invariant()
    def counts_add_up(self) -> None:
        live = [held.lease for held in self.held if held.alive]
        in_flight = 0
        for crawl, offered in self.offered.items():
            c = self.counts(crawl)
            leased = [lease for lease in live if lease.crawl_id == crawl]
            robots = sum(lease.role is PageRole.ROBOTS for lease in leased)
            queued = sum(n for (name, _), n in self.waiting.items() if name == crawl)
            queued += sum(len(k.alive) for k in self.claims if k.pages[0].crawl_id == crawl)
            done = sum(n for (name, _), n in self.done.items() if name == crawl)
            assert (c.leased, c.queued, c.done) == (len(leased), queued, done)
            assert c.pending == len(offered) - (len(leased) - robots) - queued - done
            if c.state is CrawlState.FINISHED:
                assert c.in_flight == 0
                assert c.pending == 0 or c.budget_left == 0
            if c.budget_left is not None:
                assert c.stored + len(leased) - robots + queued <= MAX_PAGES
                assert c.budget_left == MAX_PAGES - c.stored - (len(leased) - robots) - queued
            in_flight += queued
        assert int(self.client.hget("cc:flight", "pages") or 0) == in_flight

    @invariant()
    def hosts_are_spared(self) -> None:
        for host in HOSTS:
            held = sum(h.alive and h.lease.host == host for h in self.held)
            assert held == int(self.client.hget(f"cc:g:{host}", "held") or 0)
            assert held <= (1 if host == "slow.example" else SLOTS)

    # The end

    def teardown(self) -> None:
        if not hasattr(self, "offered"):
            return
        self.frontier.open_crawl(spec("few", slots=SLOTS))  # without its budget
        for crawl in SPECS:
            self.frontier.set_state(crawl, CrawlState.RUNNING)
        self.frontier.expire_sessions()
        self.doomed |= {held.session for held in self.held}
        for claim in self.claims:
            claim.broken = True
        self.sweep()
        for _ in range(200):
            if not any(self.counts(crawl).open for crawl in SPECS):
                break
            self.drain()
        for crawl, offered in self.offered.items():
            assert {pid for name, pid in self.done if name == crawl} >= offered
            c = self.counts(crawl)
            assert (c.open, c.done, c.state) == (0, len(offered), CrawlState.FINISHED)
        assert set(self.done.values()) <= {1}
        self.counts_add_up()
        self.hosts_are_spared()
        self.frontier.expire_sessions()
        self.frontier.sweep()
        assert int(self.client.hget("cc:flight", "bytes") or 0) == 0
        for kind in ("p", "l", "q", "r", "b", "j"):
            assert list(self.client.scan_iter(f"cc:{kind}:*")) == []

    def drain(self) -> None:
        """One round in which all goes well, and only the housekeeper tells RQ."""
        self.let_time_pass()
        start = len(self.held)
        self.lease(0, 100)
        for i in range(start, len(self.held)):
            self.put(i, 0)
        self.flush()
        keys = list(self.client.scan_iter("rq:*"))
        if keys:
            self.client.delete(*keys)
        age_jobs(self.client)
        self.frontier.sweep()
        enqueued = self.client.lrange("rq:queue:pages", 0, -1)
        assert sorted(enqueued) == sorted(job_ids(self.client))
        while job_ids(self.client):
            self.claim(0)
            self.ack(len(self.claims) - 1, (1 << 20) - 1, UrlState.RECORD)


def test_no_order_of_events_loses_or_doubles_a_url(
    frontier: Frontier, queue_url: str, client: Any
) -> None:
    spiders = [Spider(queue_url) for _ in range(2)]
    try:
        run_state_machine_as_test(
            cast(Any, lambda: QueueMachine(frontier, spiders, client)),
            settings=settings(
                max_examples=30,
                stateful_step_count=40,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        for spider in spiders:
            spider.close()
