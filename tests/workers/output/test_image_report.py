"""Stored images, as `show` prints them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawlclean.cleaning.records import Via
from crawlclean.storage.crawl_types import UrlRow, UrlState
from crawlclean.workers.output.image_report import MOST_SHOWN, stored_rows

ROW = UrlRow(
    crawl_id="c",
    page_id="0" * 32,
    url="http://a.example/0.png",
    host="a.example",
    state=UrlState.IMAGE,
    depth=1,
    via=Via.LINK,
    referrer=None,
    link_text="",
    discovered_at=None,
    finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    status=200,
    etag="",
    last_modified="",
    log=(),
    fetched_bytes=1234,
    media_type="image/png",
    sha256="ab",
)


@pytest.mark.parametrize(("more", "last"), [(0, "sha256 ab"), (3, "and 3 more")])
def test_stored_images_that_are_not_listed_are_counted(more: int, last: str) -> None:
    images = [(f"http://a.example/{n}.png", ROW) for n in range(MOST_SHOWN + more)]
    rows = stored_rows(images)
    assert len(rows) == MOST_SHOWN + bool(more)
    assert rows[0] == ("stored", "http://a.example/0.png image/png, 1,234 bytes, sha256 ab")
    assert rows[-1][1].endswith(last)
