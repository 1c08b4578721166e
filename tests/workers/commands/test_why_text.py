"""`why`: the first line about a URL that a crawl left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from crawlclean.storage.crawl_types import Step
from crawlclean.workers.answers.crawls import Cause, LinkedFrom, UnknownUrl, UrlTrace
from crawlclean.workers.answers.moments import UrlHistory
from crawlclean.workers.commands.show import _reasons, _traces

URL = "http://a.example/secret"


def test_a_forbidden_url_has_one_text_whenever_robots_txt_was_read() -> None:
    detail = "robots: robots.txt forbids it"
    later = UrlTrace(
        url=URL,
        crawl="c",
        state="excluded",
        referrer=None,
        link_text="",
        steps=(Step(at=datetime(2026, 1, 1, tzinfo=UTC), step="excluded", detail=detail),),
        visits_again=0,
        last_visit=None,
        next_visit=None,
        waits_for="",
    )
    before = UnknownUrl(
        url=URL,
        crawl="c",
        cause=Cause.ROBOTS,
        reason="robots.txt forbids it",
        unknown="",
        linked_from=LinkedFrom(pages=0, nearest=(), records_searched=0, is_whole=True, capped=()),
        did_you_mean=(),
    )
    known = UrlHistory(url=URL, traces=(later,), not_taken=(), topics=(), story=None)
    unknown = replace(known, traces=(), not_taken=(before,))
    assert next(_traces(known)) == next(_reasons(unknown))
    assert next(_traces(known)) == f"{URL} in c: excluded: robots.txt forbids it"
