"""Which addresses a crawl takes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from msgspec.structs import replace

from crawlclean.cleaning.records import LinkKind, Outlink, UrlKind, Via
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules
from crawlclean.storage.crawl_types import CrawlSpec, Scope
from crawlclean.storage.queue.counters import Counter
from crawlclean.workers.jobs.url_classes import HostUrlRules
from crawlclean.workers.jobs.url_filter import (
    DEEPEST_RANK,
    RANKS,
    Refusal,
    UrlFilter,
    count_refusals,
)

SEED = "http://www.a.example/start"


def url_filter(*more: str, **spec: Any) -> UrlFilter:
    return UrlFilter(CrawlSpec(crawl_id="c", seeds=(SEED,), **spec), more)


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.a.example/x", True, True),
        ("https://www.a.example/x", True, True),
        ("http://www.a.example:80/x", True, True),
        ("http://www.a.example:8080/x", False, False),  # another port is another site
        ("http://bbs.a.example/x", False, True),
        ("http://a.example/", False, True),
        ("http://xa.example/", False, False),
        ("http://www.a.example.evil.example/", False, False),
        ("http://b.example/?http://www.a.example/", False, False),
        ("http://www.a.example@b.example/", False, False),
    ],
)
def test_scopes(url: str, host: bool, domain: bool) -> None:
    assert (url_filter(scope=Scope.HOST).refusal(url, 1) is None) is host
    assert (url_filter(scope=Scope.DOMAIN).refusal(url, 1) is None) is domain
    assert url_filter(scope=Scope.ANY).refusal(url, 1) is None


def test_registered_domains_are_those_of_the_public_list() -> None:
    crawl = CrawlSpec(crawl_id="c", seeds=("http://bbs.x.com.cn/",), scope=Scope.DOMAIN)
    assert UrlFilter(crawl).refusal("http://www.x.com.cn/", 1) is None
    assert UrlFilter(crawl).refusal("http://www.y.com.cn/", 1) is Refusal.OUT_OF_SCOPE


def test_the_scope_of_a_domain_ends_at_a_hoster_s_other_tenants() -> None:
    crawl = CrawlSpec(crawl_id="c", seeds=("http://tea.github.io/",), scope=Scope.DOMAIN)
    assert UrlFilter(crawl).refusal("http://www.tea.github.io/a", 1) is None
    for host in ("inn.github.io", "github.io"):
        assert UrlFilter(crawl).refusal(f"http://{host}/", 1) is Refusal.OUT_OF_SCOPE


def test_a_seed_s_redirect_widens_the_scope() -> None:
    assert url_filter("moved.example").refusal("http://moved.example/x", 1) is None
    widened = url_filter("moved.example", scope=Scope.DOMAIN)
    assert widened.refusal("http://www.moved.example/x", 1) is None


class Gate:
    """Hosts of a topic crawl, in memory."""

    def __init__(self, *hosts: str, room: int = 99) -> None:
        self.hosts, self.room = set(hosts), room

    def known_hosts(self, _crawl: str, hosts: Collection[str]) -> Collection[str]:
        return self.hosts & set(hosts)

    def take_hosts(self, _crawl: str, hosts: Collection[str]) -> set[str]:
        self.hosts |= set(sorted(hosts)[: self.room])
        return self.hosts & set(hosts)


def test_a_topic_crawl_takes_the_hosts_of_body_links() -> None:
    crawl = CrawlSpec(crawl_id="c", seeds=(SEED,), scope=Scope.TOPIC, exclude=("/no/",))
    gate: Any = Gate("known.example", room=2)
    topic = UrlFilter(crawl, gate=gate)
    links = [
        Outlink(url=f"http://{host}.example/{kind}", via=via, kind=kind)
        for host, kind, via in (
            ("body", LinkKind.BODY, Via.LINK),
            ("body", LinkKind.AD, Via.LINK),
            ("related", LinkKind.RELATED, Via.LINK),
            ("hot", LinkKind.HOT, Via.LINK),
            ("tag", LinkKind.TAG, Via.CANONICAL),
            ("known", LinkKind.AD, Via.LINK),
            ("no/", LinkKind.BODY, Via.LINK),
            ("www.a", LinkKind.AD, Via.LINK),
        )
    ]
    links[6] = replace(links[6], url="http://refused.example/no/x")
    taken, refused = topic.filter(links, SEED, 1)
    hosts = [each.url.split("/")[2].partition(".example")[0] for each in taken]
    assert hosts == ["body", "body", "related", "known", "www.a"]
    assert gate.hosts == {"known.example", "body.example", "related.example"}
    assert Refusal.OUT_OF_SCOPE in refused
    moved = Outlink(url="http://moved.example/", via=Via.REDIRECT)
    assert len(topic.filter([moved, links[3]], SEED, 1)[0]) == 1
    hot = replace(links[3], kind=LinkKind.BODY)
    assert len(topic.filter([links[3], hot], SEED, 1)[0]) == 2  # another page refers to the host
    assert topic.refusal("http://new.example/", 1) is Refusal.OUT_OF_SCOPE
    assert topic.refusal("http://moved.example/x", 1) is None


def test_depth_and_what_is_no_address() -> None:
    limited = url_filter(max_depth=2)
    assert limited.refusal(SEED, 2) is None
    assert limited.refusal(SEED, 3) is Refusal.TOO_DEEP
    assert url_filter(max_depth=0).refusal(SEED, 1) is Refusal.TOO_DEEP
    assert url_filter().refusal(SEED, 10_000) is None
    for url in ("mailto:x@a.example", "", "/x", "http://"):
        assert url_filter(scope=Scope.ANY).refusal(url, 0) is Refusal.NOT_AN_ADDRESS


def outlink(path: str, via: Via = Via.LINK, kind: LinkKind = LinkKind.BODY) -> Outlink:
    return Outlink(url=f"http://www.a.example{path}", via=via, kind=kind, text=f"到{path}")


def test_links_go_deeper_and_other_ways_to_the_same_page_do_not() -> None:
    page = f"{SEED}/page"
    outlinks = [outlink(f"/{via}", via) for via in Via]
    taken, refused = url_filter(max_depth=3).filter(outlinks, page, 2)
    depths = {discovery.via: discovery.depth for discovery in taken}
    for via in (Via.REDIRECT, Via.META_REFRESH, Via.FRAME):
        assert depths[via] == 2
    for via in (Via.LINK, Via.NEXT, Via.SITEMAP):
        assert depths[via] == 3
    assert Via.CANONICAL not in depths
    assert refused == [Refusal.SAME_PAGE]
    assert {discovery.referrer for discovery in taken} == {page}
    assert all(discovery.text == f"到/{discovery.via}" for discovery in taken)


def test_robots_are_asked_last_and_obeyed() -> None:
    asked: list[tuple[str, str]] = []

    def allows(host: str, url: str) -> bool:
        asked.append((host, url))
        return not url.endswith("/secret")

    crawl = CrawlSpec(crawl_id="c", seeds=(SEED,), max_depth=1)
    rules = UrlFilter(crawl, allows=allows)
    outlinks = [
        outlink("/secret"),
        outlink("/free"),
        Outlink(url="http://b.example/", via=Via.LINK),
    ]
    taken, refused = rules.filter(outlinks, SEED, 0)
    assert [d.url for d in taken] == ["http://www.a.example/free"]
    assert refused == [Refusal.FORBIDDEN, Refusal.OUT_OF_SCOPE]
    assert {host for host, _ in asked} == {"www.a.example"}
    asked.clear()
    assert rules.filter(outlinks, SEED, 1)[0] == []
    assert asked == []


def test_what_leads_to_new_content_comes_first() -> None:
    assert set(RANKS) == set(LinkKind)
    taken, _ = url_filter().filter(
        [outlink(f"/{kind}", kind=kind) for kind in LinkKind] + [outlink("/map", Via.SITEMAP)],
        SEED,
        0,
    )
    rank = {d.url.rpartition("/")[2]: d.rank for d in taken}
    assert rank["body"] < rank["navigation"] < rank["map"] < rank["function"] < rank["ad"]
    deep, _ = url_filter().filter([outlink("/ad", kind=LinkKind.AD)], SEED, 500)
    assert deep[0].rank == RANKS[LinkKind.AD] + DEEPEST_RANK <= 99


def test_refusals_are_counted_by_their_counters() -> None:
    counted = count_refusals(
        [Refusal.TOO_DEEP, Refusal.NOT_AN_ADDRESS, Refusal.TOO_DEEP, Refusal.SAME_PAGE]
    )
    assert counted == {Counter.OUTLINKS_TOO_DEEP: 2, Counter.OUTLINKS_SAME_PAGE: 1}
    for refusal in Refusal:
        assert count_refusals([refusal]) or refusal is Refusal.NOT_AN_ADDRESS


def test_traps_by_their_look_are_refused_and_counted() -> None:
    found = [
        outlink("/more/more/more/more/x"),
        outlink("/" + "d/e/" * 11),
        outlink("/login?next=/login?next=/login?next=/x"),
        outlink("/x?" + "&".join(f"p{n}=1" for n in range(40))),
    ]
    _, refused = url_filter().filter(found, SEED, 0)
    assert refused == [
        Refusal.REPEATED_SEGMENTS,
        Refusal.TOO_MANY_SEGMENTS,
        Refusal.NESTED_ADDRESS,
        Refusal.TOO_MANY_PARAMETERS,
    ]
    taken, refused = url_filter(trap_pages=0).filter(found, SEED, 0)
    assert (len(taken), refused) == (4, [])


def test_stopped_classes_are_refused() -> None:
    crawl = CrawlSpec(crawl_id="c", seeds=(SEED,))
    stopped = HostUrlRules(
        host="www.a.example", stopped=dict.fromkeys(("/cal/**", "/*.html?replytocom"), "barren")
    )
    rules = UrlFilter(crawl, own=stopped)
    found = [outlink("/cal/2026/1"), outlink("/a.html?replytocom=7"), outlink("/a.html")]
    taken, refused = rules.filter(found, SEED, 0)
    assert [d.url for d in taken] == ["http://www.a.example/a.html"]
    assert refused == [Refusal.STOPPED_CLASS, Refusal.STOPPED_CLASS]


def test_a_session_is_left_out_of_links_but_not_of_redirects() -> None:
    rules = url_filter()
    session = "/x.jsp;jsessionid=0A1B2C3D"
    taken, _ = rules.filter([outlink(session), outlink(session, Via.REDIRECT)], SEED, 0)
    assert [d.url for d in taken] == [f"http://www.a.example{path}" for path in ("/x.jsp", session)]
    assert rules.sessions_left_out == 1


def test_classes_of_the_host_refuse_rewrite_and_rank() -> None:
    rules = UrlRules(
        [
            UrlRule(kind=UrlKind.THREAD, template="/t/{n}"),
            UrlRule(kind=UrlKind.FORM, template="/reply/{n}"),
            UrlRule(kind=UrlKind.DUPLICATE, template="/goto/{n}/{n}", twin="/t/{1}"),
        ]
    )
    refused_templates = {"/reply/{n}": "why", "/goto/{n}/{n}": "why"}
    known = HostUrlRules(host="www.a.example", rules=rules, refused=refused_templates)
    spec = CrawlSpec(crawl_id="c", seeds=(SEED,), scope=Scope.ANY)
    crawl = UrlFilter(spec, own=known)
    paths = ("/t/1", "/reply/1", "/goto/2/3", "/x")
    links = [Outlink(url=f"http://www.a.example{p}", via=Via.LINK) for p in paths]
    links.append(Outlink(url="http://b.example/reply/1", via=Via.LINK))
    taken, refused = crawl.filter(links, SEED, 0)
    assert [found.url for found in taken] == [
        "http://www.a.example/t/1",
        "http://www.a.example/t/2",
        "http://www.a.example/x",
        "http://b.example/reply/1",
    ]
    assert refused == [Refusal.STOPPED_CLASS]
    assert taken[0].rank == taken[1].rank < taken[2].rank
    moved = Outlink(url="http://www.a.example/goto/2/3", via=Via.REDIRECT)
    assert crawl.filter([moved], SEED, 0)[1] == [Refusal.STOPPED_CLASS], "only links are rewritten"
