"""Which classes of URLs are stopped: by what their pages bring, in the order they end."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial
from typing import Any

import pytest

from crawlclean.cleaning.url_classes.stopping import (
    Account,
    Known,
    PageYield,
    Verdict,
    asked_of,
    fingerprint_of,
    judge,
)
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.storage.crawl_types import Discovery
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.jobs.url_classes import DULL_RANK
from tests.kit.queues import Spider, ack_all, begin, fetch_all, let_time_pass, spec, urls

HOST = "a.example"
LIMIT = 5
ROOT = "/"


class Site:
    """Pages that end, one after the other; each is weighed alone."""

    def __init__(self, frontier: Frontier, crawl: str = "c") -> None:
        self.frontier = frontier
        self.crawl = crawl

    def ends(
        self,
        path: str,
        says: str,
        *,
        finds: tuple[str, ...] = (),
        on: str = ROOT,
        thin: bool = False,
        moved: bool = False,
    ) -> dict[str, str]:
        own = patterns_of(f"http://{HOST}{path}")
        found = {patterns_of(f"http://{HOST}{one}") for one in finds}
        page = PageYield(
            patterns=own,
            text=None if moved else fingerprint_of((says,)),
            bare=fingerprint_of(("bare", says)) if thin else None,
            address=fingerprint_of(("address", path)),
            finder=fingerprint_of(("address", on)),
            variant=fingerprint_of((path.partition("?")[0], says)),
            has_query="?" in path,
            found=tuple(one for one in found if one[:1] != own[:1]),
            found_own=any(one[:1] == own[:1] for one in found),
        )
        decide = partial(judge, pages=[page], limit=LIMIT)
        return self.frontier.classes.judge(self.crawl, HOST, asked_of([page]), decide).stopped

    def repeats(self) -> None:
        """Pages of one class end that say the same and lead to each other, until it is stopped."""
        for n in range(1, LIMIT + 2):
            self.ends(f"/s/{n}", "same", finds=(f"/s/{n + 1}",), on=f"/s/{n - 1}")

    @property
    def stopped(self) -> set[str]:
        return set(self.frontier.classes.stopped(self.crawl, HOST))


@pytest.fixture
def site(frontier: Frontier) -> Site:
    """An empty crawl's site."""
    frontier.open_crawl(spec())
    return Site(frontier)


def test_a_chain_of_the_same_page_is_stopped_and_says_why(site: Site) -> None:
    news: dict[str, str] = {}
    for n in range(1, LIMIT + 2):
        assert news == {}
        news = site.ends(f"/s/{n}", "same", finds=(f"/s/{n + 1}",), on=f"/s/{n - 1}")
    assert news == {"/s/*": f"brought nothing new for long: 1 of {LIMIT + 1} pages did"}
    assert site.stopped == {"/s/*"}


def test_thin_pages_count_a_quarter(site: Site) -> None:
    for n in range(4 * LIMIT):
        site.ends(f"/cal/{n}", "month", finds=(f"/cal/{n + 1}",), thin=True)
    assert site.stopped == set()
    site.ends("/cal/99", "month", finds=("/cal/100",), thin=True)
    assert site.stopped == {"/cal/*"}


def test_a_page_with_news_ends_the_row(site: Site) -> None:
    for n in range(10 * LIMIT):
        text = str(n) if n % LIMIT == 0 else "same"
        site.ends(f"/s/{n}", text, finds=(f"/s/{n + 1}",))
    assert site.stopped == set()


def test_pages_that_lead_to_a_class_with_news_are_index_pages(site: Site) -> None:
    for n in range(10 * LIMIT):
        site.ends(f"/list/{n}", "same", finds=(f"/list/{n + 1}", f"/articles/{n}.html"))
        site.ends(f"/articles/{n}.html", f"article {n}", on=f"/list/{n}")
    assert site.stopped == set()


def test_classes_that_only_lead_to_each_other_are_stopped_both(site: Site) -> None:
    for n in range(20 * LIMIT):
        site.ends(f"/one/{n}", "this", finds=(f"/two/{n}",), on=f"/two/{n - 1}")
        site.ends(f"/two/{n}", "that", finds=(f"/one/{n + 1}",), on=f"/one/{n}")
        if site.stopped == {"/one/*", "/two/*"}:
            return
    raise AssertionError(site.stopped)


@pytest.mark.parametrize("thin", [True, False])
def test_a_list_of_pages_that_look_alike_is_finite(site: Site, *, thin: bool) -> None:
    """Galleries without text, users without a word, a test's pages: found on a page with news."""
    site.ends(ROOT, "home", finds=("/u/1",))
    for n in range(20 * LIMIT):
        site.ends(f"/u/{n}", "no text", thin=thin)
    assert site.stopped == set()


def test_print_versions_and_second_names_do_not_stop_the_pages_they_repeat(site: Site) -> None:
    for n in range(10 * LIMIT):
        site.ends(f"/print/{n}", f"article {n}", on=f"/list/{n}")
        site.ends(f"/articles/{n}.html", f"article {n}", on=f"/list/{n}")
    assert site.stopped == set()


def test_paginated_lists_and_tags_with_entries_of_their_own_go_on(site: Site) -> None:
    for n in range(10 * LIMIT):
        site.ends(f"/forum.php?page={n}", f"threads {n}", finds=(f"/forum.php?page={n + 1}",))
        site.ends(f"/tag/{n}", f"tagged {n}")
    assert site.stopped == set()


def test_another_query_to_a_page_that_says_the_same_is_a_duplicate(site: Site) -> None:
    for n in range(LIMIT):
        site.ends(f"/{n}.html", f"article {n}")
        site.ends(f"/{n}.html?replytocom={n}", f"article {n}", on=f"/{n}.html")
    assert site.stopped == {"/*.html?replytocom"}


def test_a_path_that_is_nothing_without_its_query_is_no_duplicate(site: Site) -> None:
    for n in range(10 * LIMIT):
        site.ends(f"/view?id={n}", "the same frame")
    assert site.stopped == set()


def test_redirects_say_nothing_but_lead_somewhere(site: Site) -> None:
    for n in range(10 * LIMIT):
        site.ends(f"/go/{n}", "", finds=(f"/articles/{n}",), moved=True)
        site.ends(f"/articles/{n}", f"article {n}")
    assert site.stopped == set()
    for n in range(10 * LIMIT):
        site.ends(f"/r/{n}", "", finds=(f"/r/{n + 1}",), moved=True)
    assert site.stopped == {"/r/*"}


def test_a_trap_that_makes_a_class_for_every_page_shows_in_its_group(site: Site) -> None:
    for n in itertools.count():
        word = "".join(chr(97 + int(digit)) for digit in str(n))
        path = f"/deep/{word}/x"
        site.ends(path, "same", finds=(f"/deep/{word}b/x",), on=f"/deep/{n}")
        if site.stopped:
            break
        assert n < 100 * LIMIT
    assert site.stopped == {"/deep/**"}


def test_news_lifts_what_was_stopped_and_spiders_see_it(site: Site, client: Any) -> None:
    site.repeats()
    before = int(client.hget(f"cc:g:{HOST}", "stopped_version"))
    site.ends("/s/77", "something else")
    assert site.stopped == set()
    assert int(client.hget(f"cc:g:{HOST}", "stopped_version")) == before + 1


def test_accounts_are_bounded_and_go_with_the_crawl(site: Site, client: Any) -> None:
    for start in range(0, 2500, 250):
        words = ["".join(chr(97 + int(d)) for d in f"{n:04}") for n in range(start, start + 250)]
        for word in words:
            site.ends(f"/{word}/x", word)
    assert client.hlen(f"cc:k:c:{HOST}") <= 1500
    for key in client.scan_iter("cc:tx:c:*"):
        assert client.object("encoding", key) == "intset"
    site.frontier.purge("c")
    assert [k for kind in ("k", "ts", "tx") for k in client.scan_iter(f"cc:{kind}:c:*")] == []


def test_a_crawl_that_is_gone_has_no_accounts(site: Site, client: Any) -> None:
    site.frontier.purge("c")
    assert site.ends("/s/1", "same") == {}
    assert list(client.scan_iter("cc:k:*")) == []


def test_classes_that_feed_each_other_end_together(site: Site) -> None:
    stopped: dict[str, str] = {}
    for month in range(30):
        days = [f"/cal/{month}?d={day}" for day in range(3)]
        on = f"/cal/{month - 1}" if month else ROOT
        finds = (f"/cal/{month + 1}", *days)
        stopped |= site.ends(f"/cal/{month}", "no event", finds=finds, on=on)
        if len(stopped) == 2:
            break
        stopped |= site.ends(days[0], "no event this day", on=f"/cal/{month}")
    assert set(stopped) == {"/cal/*", "/cal/*?d"}
    assert month < 2 * LIMIT


def test_a_class_that_is_never_fetched_is_no_news(site: Site) -> None:
    stopped = [
        site.ends(f"/cal/{n}", "no event", finds=(f"/cal/{n + 1}", f"/cal/{n}?d=1"), on=ROOT)
        for n in range(LIMIT + 1)
    ]
    assert [set(each) for each in stopped] == [set()] * LIMIT + [{"/cal/*"}]


def test_lists_without_text_that_lead_to_pages_with_text_go_on(site: Site) -> None:
    for n in range(4 * LIMIT):
        assert not site.ends(f"/list/{n}", "more", finds=(f"/list/{n + 1}", f"/page/{n}.html"))
        assert not site.ends(f"/page/{n}.html", f"text {n}", on=f"/list/{n}")


def test_a_crawl_that_follows_every_trap_keeps_its_accounts(site: Site) -> None:
    page = PageYield(patterns=("/s/*",), text=1, address=2, finder=2, variant=4, found_own=True)
    pages = [page] * 90
    decide = partial(judge, pages=pages, limit=0)
    assert site.frontier.classes.judge("c", HOST, asked_of(pages), decide).stopped == {}
    [account] = site.frontier.classes.all_accounts("c", HOST).values()
    assert (account.pages, account.with_news, account.barren) == (90, 1, 4 * 89)


def test_a_lease_tells_the_version_of_the_stopped_classes(
    site: Site, spider: Spider, client: Any
) -> None:
    site.frontier.add("c", urls(3))
    assert spider.pages(1)[0].traps_version == 0
    site.repeats()
    let_time_pass(client, HOST)
    assert spider.pages(1)[0].traps_version == 1
    assert set(spider.run(spider.queue.stopped_classes("c", HOST))) == {"/s/*"}
    assert site.frontier.classes.lift("c", HOST) == 1
    site.frontier.open_crawl(spec(trap_pages=0))
    let_time_pass(client, HOST)
    assert spider.pages(1)[0].traps_version == 2, "what an operator forbids counts in any crawl"


def test_a_young_host_is_fetched_no_further_than_it_is_judged(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    """An endless class shows by what its pages bring: two thousand fetched meanwhile are lost."""
    begin(frontier, urls(90), slots=100)
    assert fetch_all(spider, 100) == 20
    assert not spider.pages(1), "none of them is judged"
    assert ack_all(frontier, client) == 20
    frontier.classes.add_pages("c", HOST, 20)
    assert fetch_all(spider, 100) == 40, "as many ahead as were judged, and a job"
    frontier.open_crawl(spec(slots=100, trap_pages=0))
    assert fetch_all(spider, 100) == 30, "a crawl that follows every trap"


def test_dull_urls_wait_for_what_better_pages_find(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec(slots=100))
    dull = [dataclasses.replace(each, rank=DULL_RANK) for each in urls(9)[3:]]
    frontier.add("c", [*urls(3), *dull])
    assert [fetch_all(spider, 2), fetch_all(spider, 9)] == [2, 1]
    assert ack_all(frontier, client) == 3
    assert fetch_all(spider, 4) == 4, "dull ones do not wait for each other"
    frontier.add("c", [Discovery(url=f"http://{HOST}/better")])
    assert [fetch_all(spider, 1), fetch_all(spider, 9)] == [1, 0]
    assert ack_all(frontier, client) == 5
    assert fetch_all(spider, 9) == 2
    assert ack_all(frontier, client) == 2


def test_pages_that_are_put_back_or_purged_hold_nothing_back(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    begin(frontier, urls(22), slots=100)
    for lease in spider.pages(100):
        assert spider.nack(lease)
    assert client.hget(f"cc:u:c:{HOST}", "unjudged") == "0"
    let_time_pass(client, HOST)
    assert fetch_all(spider, 100) == 20
    assert frontier.purge("c", HOST) == 22
    assert client.hget(f"cc:u:c:{HOST}", "unjudged") == "0"


def test_who_judges_by_what_was_changed_meanwhile_judges_again(site: Site) -> None:
    page = PageYield(patterns=("/s/*",), text=1, address=2, finder=3, variant=4)
    ledger, judged = site.frontier.classes, []

    def decide(known: Known) -> Verdict:
        judged.append(known)
        if len(judged) == 1:  # another worker is quicker
            ledger.judge("c", HOST, asked_of([page]), partial(judge, pages=[page], limit=LIMIT))
        return judge(known, [page], LIMIT)

    verdict = ledger.judge("c", HOST, asked_of([page]), decide)
    assert [len(known.fingerprints) for known in judged] == [0, 2]
    assert verdict.accounts["/s/*"] == Account(pages=2, with_news=1, dull=1)
    assert next(iter(ledger.all_accounts("c", HOST).values())).pages == 2


def test_a_text_that_another_host_had_meanwhile_is_not_new(site: Site) -> None:
    page = PageYield(patterns=("/s/*",), text=1, address=2, finder=3, variant=4)
    ledger, judged = site.frontier.classes, []

    def decide(known: Known) -> Verdict:
        judged.append(known)
        if len(judged) == 1:
            ledger.judge("c", "b.example", asked_of([page]), lambda known: judge(known, [page], 1))
        return judge(known, [page], LIMIT)

    assert ledger.judge("c", HOST, asked_of([page]), decide).accounts["/s/*"].with_news == 0


def test_lifting_leaves_what_is_refused_by_rules(site: Site) -> None:
    _, version = site.frontier.classes.versioned("c", HOST)
    refused = {"/reply-{n}.html": "leads to forms"}
    site.frontier.classes.keep("c", HOST, version, "[]", refused)
    site.repeats()
    assert site.stopped == {"/s/*", "=/reply-{n}.html"}
    assert site.frontier.classes.lift("c", HOST) == 1
    assert site.stopped == {"=/reply-{n}.html"}


def test_stopped_classes_are_found_without_reading_every_host(site: Site) -> None:
    ledger = site.frontier.classes
    assert ledger.all_stopped() == []
    site.repeats()
    (found,) = ledger.all_stopped()
    assert (found.crawl_id, found.host, found.pattern) == (site.crawl, HOST, "/s/*")
    assert site.frontier.now().stopped_classes == 1
    assert ledger.lift(site.crawl, HOST) == 1
    assert ledger.all_stopped() == []


def test_a_purged_crawl_leaves_no_stopped_class(site: Site) -> None:
    site.repeats()
    site.frontier.purge(site.crawl)
    assert site.frontier.classes.all_stopped() == []
