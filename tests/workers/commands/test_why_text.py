"""`why`: the first line about a URL that a crawl left out."""

from __future__ import annotations

from datetime import UTC, datetime

from crawlclean.storage.crawl_types import Step
from crawlclean.workers.answers.crawls import Cause
from crawlclean.workers.commands.show import _reasons, _traces
from crawlclean.workers.operations.urls.explaining import Explanation, Trace
from crawlclean.workers.operations.urls.queued_urls import Inlinks, NotTaken

URL = "http://a.example/secret"


def test_a_forbidden_url_has_one_text_whenever_robots_txt_was_read() -> None:
    detail = "robots: robots.txt forbids it"
    step = Step(at=datetime(2026, 1, 1, tzinfo=UTC), step="excluded", detail=detail)
    later = Trace(crawl="c", state="excluded", referrer=None, link_text="", steps=(step,))
    before = NotTaken(
        crawl="c", cause=Cause.ROBOTS, reason="robots.txt forbids it", inlinks=Inlinks()
    )
    known = next(_traces(Explanation(url=URL, traces=(later,))))
    unknown = next(_reasons(Explanation(url=URL, traces=(), not_taken=(before,))))
    assert known == unknown == f"{URL} in c: excluded: robots.txt forbids it"
