"""What an image's server is told, and which of its answers count."""

from __future__ import annotations

import pytest

from crawlclean.crawler.transfer.requests import image_headers
from crawlclean.crawler.transfer.responses import judge_answer
from crawlclean.storage.crawl_types import Failure, FailureReason, PageRole, Retry
from tests.kit.queues import make_lease


@pytest.mark.parametrize(
    ("page", "url", "told"),
    [
        ("http://a.example/p?x=1#top", "http://cdn.example/1.png", "http://a.example/p?x=1"),
        ("https://a.example/p", "https://cdn.example/1.png", "https://a.example/p"),
        ("https://a.example/p", "http://cdn.example/1.png", None),
        ("https://user:secret@a.example:8443/p", "https://b.example/", "https://a.example:8443/p"),
        ("", "http://cdn.example/1.png", None),
    ],
)
def test_a_server_is_told_the_page_as_a_browser_does(page: str, url: str, told: str | None) -> None:
    headers = image_headers(make_lease(url, role=PageRole.IMAGE, referrer=page), url)
    assert headers.get("Referer") == told
    assert headers["Accept"].startswith("image/")
    assert image_headers(make_lease(url, referrer=page), url) == {}


@pytest.mark.parametrize(
    ("status", "media_type", "reason"),
    [
        (200, "image/webp", None),
        (200, "application/octet-stream", None),
        (200, "binary/octet-stream", None),
        (200, "", None),
        (200, "text/xml", None),
        (302, "text/html", None),
        (200, "text/html; charset=gbk", FailureReason.NOT_IMAGE),
        (200, "application/json", FailureReason.NOT_IMAGE),
        (403, "image/png", FailureReason.HTTP_STATUS),
        (404, "text/html", FailureReason.HTTP_STATUS),
    ],
)
def test_answers(status: int, media_type: str, reason: FailureReason | None) -> None:
    verdict = judge_answer(status, (("Content-Type", media_type),), PageRole.IMAGE, 3, 3)
    assert not isinstance(verdict, Retry)
    assert (verdict.reason if isinstance(verdict, Failure) else None) is reason
