"""How a fetched page ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawlclean.cleaning.document.document import CUT_SHORT_HEADER
from crawlclean.cleaning.errors import NotHtml
from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import LinkKind, Via
from crawlclean.storage.crawl_types import (
    Failure,
    FailureReason,
    FetchResult,
    KeepRaw,
    PageRole,
    QueuedPage,
    UrlState,
)
from crawlclean.workers.jobs.outcomes import DETAIL_CHARS, EXCLUDING, end_page, failed
from tests.kit.outcomes import HOST, make_queued
from tests.kit.web import html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
HTML = (("Content-Type", "text/html"),)


def page(
    body: bytes = b"",
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = HTML,
    failure: Failure | None = None,
    **more: Any,
) -> QueuedPage:
    result = FetchResult(status=status, headers=headers, body=body, failure=failure)
    return replace(make_queued("/dir/page"), result=result, **more)


def moved(location: str, **more: Any) -> QueuedPage:
    return page(status=302, headers=(("location", location),), **more)


def test_a_page_becomes_a_record() -> None:
    queued = page(html("题", LONG, links={"/next": "下一篇"}).encode())
    ending = end_page(queued, KeepRaw.ALL)
    outcome = ending.outcome
    assert outcome.state is UrlState.RECORD
    assert outcome.record is not None
    assert (outcome.record.title, outcome.record.url) == ("题", queued.url)
    assert LONG in outcome.record.body
    assert outcome.keep_raw
    assert outcome.html_chars > len(LONG)
    assert outcome.failure is None
    assert [o.url for o in ending.outlinks] == [f"https://{HOST}/next"]
    assert ending.discoveries == ()
    step = outcome.log[-1]
    assert outcome.log[:-1] == queued.log
    assert (step.step, "1 link, " in step.detail) == ("cleaned", True)


@pytest.mark.parametrize("body", [b"%PDF-1.7", b"\x89PNG\r\n", b"\x1f\x8b\x08", b"\0\1\2" * 99])
def test_bytes_that_are_no_page(body: bytes) -> None:
    with pytest.raises(NotHtml):
        end_page(page(body), KeepRaw.ALL)


def test_an_empty_page_is_a_record_too() -> None:
    assert end_page(page(b""), KeepRaw.ALL).outcome.state is UrlState.RECORD


@pytest.mark.parametrize("reason", list(FailureReason))
def test_a_failure_of_the_spider_is_kept(reason: FailureReason) -> None:
    queued = page(failure=Failure(reason=reason, detail="why"), status=301)
    outcome = end_page(queued, KeepRaw.ALL).outcome
    excluded = reason in EXCLUDING
    assert outcome.state is (UrlState.EXCLUDED if excluded else UrlState.FAILED)
    assert outcome.failure == queued.result.failure
    assert not outcome.keep_raw
    assert outcome.log[-1].detail == f"{reason}: why"


def test_a_poisonous_page_is_not_read_again() -> None:
    outcome = end_page(page(b"<p>x", poison=True, crashes=3), KeepRaw.ALL).outcome
    assert outcome.failure == Failure(
        reason=FailureReason.POISON, detail="cleaning it killed 3 workers"
    )
    assert outcome.keep_raw
    assert not end_page(page(b"<p>x", poison=True, crashes=3), KeepRaw.NONE).outcome.keep_raw


def test_a_revisit_that_kills_leaves_the_response_of_its_record() -> None:
    again = page(b"<p>x", poison=True, crashes=3, was=UrlState.RECORD)
    outcome = end_page(again, KeepRaw.ALL).outcome
    assert (outcome.state, outcome.keep_raw) == (UrlState.RECORD, False)
    assert not outcome.queued.result.body


def test_a_failure_is_one_line() -> None:
    ending = failed(page(), FailureReason.INTERNAL, "a\n b\t" + "x" * 9999)
    assert ending.outcome.failure is not None
    assert ending.outcome.failure.detail.startswith("a b x")
    assert len(ending.outcome.failure.detail) == DETAIL_CHARS


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", f"https://{HOST}/x"),
        ("other?a=1#f", f"https://{HOST}/dir/other?a=1"),
        ("//b.example/x", "https://b.example/x"),
        ("http://B.example:80/x", "http://b.example/x"),
        (" /x ", f"https://{HOST}/x"),
        ("/文".encode().decode("latin-1"), f"https://{HOST}/%E6%96%87"),
    ],
)
def test_a_redirect_leads_to_a_url_of_its_own(location: str, target: str) -> None:
    ending = end_page(moved(location), KeepRaw.ALL)
    assert ending.outcome.state is UrlState.REDIRECT
    [outlink] = ending.outlinks
    assert (outlink.url, outlink.via) == (target, Via.REDIRECT)
    assert ending.outcome.log[-1].detail == target


@pytest.mark.parametrize("location", ["", "mailto:x@y", "http://[x", "javascript:void(0)"])
def test_a_redirect_to_nowhere_fails(location: str) -> None:
    outcome = end_page(moved(location), KeepRaw.ALL).outcome
    assert outcome.state is UrlState.FAILED
    assert outcome.failure is not None
    assert outcome.failure.reason is FailureReason.BAD_REDIRECT


def test_not_modified_without_location_is_no_redirect() -> None:
    outcome = end_page(page(status=304, headers=()), KeepRaw.ALL).outcome
    assert outcome.failure is not None
    assert outcome.failure.reason is FailureReason.BAD_REDIRECT
    assert outcome.failure.detail == "status 304, though the request had no condition"


@pytest.mark.parametrize("status", [300, 302, 307])
def test_a_redirect_without_location_that_has_a_page_is_this_page(status: int) -> None:
    outcome = end_page(page(html("题", LONG).encode(), status), KeepRaw.ALL).outcome
    assert outcome.record is not None
    assert LONG in outcome.record.body


def test_a_page_that_was_cut_short_says_so() -> None:
    headers = (*HTML, (CUT_SHORT_HEADER, "1"))
    outcome = end_page(page(html("题", LONG).encode(), headers=headers), KeepRaw.ALL).outcome
    assert outcome.record is not None
    assert [w.kind for w in outcome.record.warnings] == [WarningKind.CUT_SHORT]


def test_a_moved_sitemap_stays_a_sitemap() -> None:
    ending = end_page(moved("/new.xml", role=PageRole.SITEMAP), KeepRaw.ALL)
    assert ending.outlinks == ()
    [discovery] = ending.discoveries
    assert (discovery.url, discovery.role) == (f"https://{HOST}/new.xml", PageRole.SITEMAP)


def test_a_sitemap_gives_pages_and_sitemaps() -> None:
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    pages = f"<urlset {space}><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>"
    ending = end_page(page(pages.encode(), role=PageRole.SITEMAP), KeepRaw.ALL)
    assert ending.outcome.state is UrlState.SITEMAP
    assert not ending.outcome.keep_raw
    assert [o.url for o in ending.outlinks] == [f"https://{HOST}/a", f"https://{HOST}/b"]
    assert {o.via for o in ending.outlinks} == {Via.SITEMAP}
    index = f"<sitemapindex {space}><sitemap><loc>/m.xml</loc></sitemap></sitemapindex>"
    nested = end_page(page(index.encode(), role=PageRole.SITEMAP), KeepRaw.ALL)
    assert [(d.url, d.role) for d in nested.discoveries] == [
        (f"https://{HOST}/m.xml", PageRole.SITEMAP)
    ]
    assert nested.outcome.log[-1].detail == "0 pages, 1 sitemap"
    broken = end_page(page(b"\0 no sitemap <<<", role=PageRole.SITEMAP), KeepRaw.ALL)
    assert broken.outcome.state is UrlState.SITEMAP
    assert (broken.outlinks, broken.discoveries) == ((), ())


def test_what_the_archive_keeps() -> None:
    kept = {
        keep: [
            end_page(page(b"<p>x", page_id=first + "5" * 31), keep).outcome.keep_raw
            for first in "0123456789abcdef"
        ]
        for keep in KeepRaw
    }
    assert all(kept[KeepRaw.ALL])
    assert not any(kept[KeepRaw.NONE])
    assert kept[KeepRaw.SAMPLE] == [True] + [False] * 15


@pytest.mark.parametrize("role", [PageRole.PAGE, PageRole.SITEMAP])
def test_the_entries_of_a_feed_are_links_to_content(role: PageRole) -> None:
    feed = b"<rss><channel><item><title>One</title><link>/one</link></item></channel></rss>"
    ending = end_page(page(feed, headers=(("Content-Type", "text/xml"),), role=role), KeepRaw.ALL)
    assert ending.outcome.state is UrlState.SITEMAP
    (outlink,) = ending.outlinks
    assert (outlink.url, outlink.text) == (f"https://{HOST}/one", "One")
    assert (outlink.via, outlink.kind) == (Via.LINK, LinkKind.BODY)


@pytest.mark.parametrize("was", [UrlState.RECORD, UrlState.SITEMAP, UrlState.FAILED])
def test_a_revisit_that_is_answered_304_is_unchanged(was: UrlState) -> None:
    ending = end_page(page(status=304, was=was), KeepRaw.ALL)
    outcome = ending.outcome
    assert (outcome.unchanged, outcome.state, outcome.record) == (True, was, None)
    assert (outcome.failure, ending.outlinks, outcome.keep_raw) == (None, (), False)
    assert outcome.log[-1].step == "unchanged"


def test_304_without_a_condition_is_no_answer() -> None:
    outcome = end_page(page(status=304), KeepRaw.ALL).outcome
    assert (outcome.state, outcome.unchanged) == (UrlState.FAILED, False)


@pytest.mark.parametrize(
    ("reason", "status", "is_missed"),
    [
        (FailureReason.HTTP_STATUS, 404, False),
        (FailureReason.HTTP_STATUS, 410, False),
        (FailureReason.NOT_HTML, 200, False),
        (FailureReason.HTTP_STATUS, 403, True),
        (FailureReason.HTTP_STATUS, 500, True),
        (FailureReason.TIMEOUT, 0, True),
        (FailureReason.ROBOTS, 0, True),
        (FailureReason.INTERNAL, 200, True),
    ],
)
def test_a_missed_revisit_leaves_the_url_as_it_was(
    reason: FailureReason, status: int, is_missed: bool
) -> None:
    why = Failure(reason=reason, detail=f"status {status}")
    outcome = end_page(page(status=status, failure=why, was=UrlState.RECORD), KeepRaw.ALL).outcome
    assert outcome.unchanged == is_missed
    assert outcome.state is (UrlState.RECORD if is_missed else UrlState.FAILED)
    assert outcome.failure == why
    assert outcome.log[-1].step == ("missed" if is_missed else "failed")


PAGE_LINKS = (
    "<a href=/a>甲</a><a href=/b rel=nofollow>乙</a><a href=/c rel='ugc NoFollow'>丙</a>"
    "<a href=/d rel=nofollow>丁</a><a href=/d>丁</a><a href=/e rel='nofollow next'>下</a>"
)
FOLLOWED = ["a", "d"]
EVERY = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("head", "headers", "state", "followed"),
    [
        ("", (), UrlState.RECORD, FOLLOWED),
        ("<meta name=robots content=noindex>", (), UrlState.EXCLUDED, FOLLOWED),
        ("<meta name=robots content=nofollow>", (), UrlState.RECORD, []),
        ("<meta name=robots content=none>", (), UrlState.EXCLUDED, []),
        ("", (("x-robots-tag", "noindex"),), UrlState.EXCLUDED, FOLLOWED),
        ("", (("X-Robots-Tag", "somebot: noindex"),), UrlState.RECORD, FOLLOWED),
    ],
)
def test_what_a_page_says_to_robots_counts_unless_the_crawl_says_otherwise(
    head: str, headers: tuple[tuple[str, str], ...], state: UrlState, followed: list[str]
) -> None:
    body = f"{head}<title>题</title><p>{LONG}</p>{PAGE_LINKS}".encode()
    queued = page(body, headers=(*HTML, *headers))
    ending = end_page(queued, KeepRaw.ALL)
    assert ending.outcome.state is state
    assert [link.url.rpartition("/")[2] for link in ending.outlinks] == followed
    if state is UrlState.EXCLUDED:
        assert ending.outcome.failure is not None
        assert ending.outcome.failure.reason is FailureReason.NOINDEX
        assert ending.outcome.record is None
    ending = end_page(queued, KeepRaw.ALL, obeys=False)
    assert ending.outcome.state is UrlState.RECORD
    assert [link.url.rpartition("/")[2] for link in ending.outlinks] == EVERY


def test_a_nofollow_page_may_still_send_its_reader_on() -> None:
    head = "<meta name=robots content=nofollow><meta http-equiv=refresh content='0; url=/x'>"
    ending = end_page(page(f"{head}{PAGE_LINKS}".encode()), KeepRaw.ALL)
    assert [(link.url, link.via) for link in ending.outlinks] == [
        (f"https://{HOST}/x", Via.META_REFRESH)
    ]


def test_a_revisit_that_finds_noindex_ends_the_record() -> None:
    body = f"<meta name=robots content=noindex><p>{LONG}".encode()
    outcome = end_page(page(body, was=UrlState.RECORD), KeepRaw.ALL).outcome
    assert (outcome.state, outcome.unchanged) == (UrlState.EXCLUDED, False)
