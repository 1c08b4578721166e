"""Which images are fetched, how one ends, and what is told of them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.records import Image, ImageKind, ImageReason, Via
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import (
    MAX_HOPS,
    CrawlSpec,
    CrawlState,
    FailureReason,
    FetchResult,
    KeepRaw,
    PageRole,
    QueuedPage,
    UrlState,
)
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.pictures import IMAGE_RANK, image_id
from crawlclean.workers.jobs.images import filter_images
from crawlclean.workers.jobs.outcomes import end_page, failed, with_stored_step
from crawlclean.workers.operations.files.stored_images import (
    find_image,
    report_host,
    report_images,
    suffix_of,
)
from crawlclean.workers.output.image_report import report_rows
from crawlclean.workers.output.printing import rows_text
from tests.kit.outcomes import HOST, make_queued
from tests.storage.store.images_contract import PNG, URL, pictured


def image(url: str, kind: ImageKind = ImageKind.CONTENT, **more: Any) -> Image:
    return Image(src=url, url=url, kind=kind, **more)


def test_only_content_is_taken_each_address_once_from_any_host() -> None:
    taken, counted = filter_images(
        [
            image("http://cdn.example/1.png#a", alt="甲"),
            image("http://cdn.example/1.png", caption="乙"),
            image("http://a.example/2.png", caption="图" * 200),
            image("http://forbidden.example/3.png"),
            image("http://a.example/" + "x" * 5000),
            image(""),
            image("data:image/png;base64,AAAA"),
            image("ftp://a.example/4.png"),
            image("http://ads.example/5.gif", ImageKind.AD),
            image("http://a.example/logo.png", ImageKind.CHROME),
            image("http://a.example/logo.png", ImageKind.CHROME),
            image("http://a.example/t.jpg", ImageKind.THUMB),
            image("http://a.example/o.jpg", ImageKind.OTHER),
        ],
        "http://a.example/page",
        3,
        lambda host, _url: host != "forbidden.example",
    )
    assert [d.url for d in taken] == ["http://cdn.example/1.png", "http://a.example/2.png"]
    first, second = taken
    assert (first.role, first.via, first.rank) == (PageRole.IMAGE, Via.IMAGE, IMAGE_RANK)
    assert (first.depth, first.referrer, first.text) == (4, "http://a.example/page", "甲")
    assert second.text == "图" * 80
    assert counted == {
        Counter.IMAGES_OFFERED: 2,
        Counter.IMAGES_FORBIDDEN: 1,
        Counter.IMAGES_TOO_LONG: 1,
        Counter.IMAGES_HELD_BACK_AD: 1,
        Counter.IMAGES_HELD_BACK_CHROME: 2,
        Counter.IMAGES_HELD_BACK_THUMB: 1,
        Counter.IMAGES_HELD_BACK_OTHER: 1,
    }


def fetched(body: bytes = PNG, path: str = "/1.png", **result: Any) -> QueuedPage:
    found = make_queued(path)
    return replace(
        found,
        page_id=image_id(found.url),
        role=PageRole.IMAGE,
        result=FetchResult(**{"status": 200, "body": body, **result}),
        provenance=replace(found.provenance, via=Via.IMAGE, referrer=f"https://{HOST}/a"),
    )


def moved(location: str, path: str = "/1.png", **more: Any) -> QueuedPage:
    return replace(fetched(b"", path, status=302, headers=(("Location", location),)), **more)


def test_an_image_is_kept_as_it_came_whatever_pages_are_kept() -> None:
    ending = end_page(fetched(), KeepRaw.NONE)
    outcome = ending.outcome
    assert (outcome.state, outcome.media_type) == (UrlState.IMAGE, "image/png")
    assert outcome.keep_raw
    assert outcome.record is None
    assert not (ending.outlinks)
    assert not (ending.discoveries)
    assert outcome.log[-1].detail == f"image/png, {len(PNG)} bytes"


@pytest.mark.parametrize("body", [b"", b"<html><body>login", b"%PDF-1.7", b"\0" * 100])
def test_what_is_no_image_is_a_failure(body: bytes) -> None:
    outcome = end_page(fetched(body), KeepRaw.ALL).outcome
    assert outcome.state is UrlState.FAILED
    assert outcome.failure is not None
    assert outcome.failure.reason is FailureReason.NOT_IMAGE
    assert not outcome.keep_raw


def test_where_an_image_moved_it_is_an_image_of_the_same_page() -> None:
    ending = end_page(moved("//cdn.example/x.png"), KeepRaw.ALL)
    assert ending.outcome.state is UrlState.REDIRECT
    assert ending.outlinks == (), "no redirect of an image widens a crawl"
    (found,) = ending.discoveries
    assert (found.url, found.role, found.hops) == ("https://cdn.example/x.png", PageRole.IMAGE, 1)
    assert (found.referrer, found.depth) == (f"https://{HOST}/a", 2)
    last = end_page(moved("/x.png", hops=MAX_HOPS), KeepRaw.ALL).outcome
    assert last.failure is not None
    assert last.failure.reason is FailureReason.BAD_REDIRECT


def test_a_report_counts_each_address_once(tmp_path: Path) -> None:
    here = f"https://{HOST}"
    content = [image(f"{here}/{name}") for name in ("old.png", "1.png", "gone.png", "loop.png")]
    noise = [
        image(f"{here}/logo.png", ImageKind.CHROME, reason=ImageReason.HOST_REPEATS),
        image("https://ads.example/b.gif", ImageKind.AD, reason=ImageReason.BANNER),
    ]
    both = image(f"{here}/1.png", ImageKind.THUMB)
    early = image(f"{here}/early.png", ImageKind.CHROME, reason=ImageReason.HOST_REPEATS)
    known = [  # by another crawl; as a page; not at all: nobody could ask for it
        image(f"{here}/known.png", ImageKind.THUMB, reason=ImageReason.LINKED_PAGE),
        image(f"{here}/page.png", ImageKind.THUMB, reason=ImageReason.LINKED_PAGE),
        image("ftp://a.example/x.png", ImageKind.CHROME, reason=ImageReason.NO_EVIDENCE),
    ]
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(here,), images=True), CrawlState.RUNNING)
        ends = [moved("/new.png", "/old.png"), fetched(path="/new.png"), fetched()]
        ends += [moved("/loop.png", "/loop.png"), fetched(b"", "/gone.png", status=404)]
        ends += [fetched(path="/early.png"), fetched(b"", "/unread.png", status=404)]
        ends.append(replace(fetched(path="/known.png"), crawl_id="c2"))
        store.save([with_stored_step(end_page(end, KeepRaw.ALL).outcome) for end in ends])
        page = make_queued("/page.png", body=b"x" * 7)
        as_page = replace(page, page_id=page_id(page.url), crawl_id="c3")
        store.save([failed(as_page, FailureReason.NOT_HTML).outcome])
        store.save([pictured(*content, *noise), pictured(*noise, both, early, *known, path="/b")])
        report = report_images(store, HOST, ["c1"])
        assert report_host(store, "other.example") is None
        found = find_image(store, f"{here}/old.png")
        assert found is not None
        assert found.url == f"{here}/new.png"
        assert find_image(store, f"{here}/loop.png") is None
        assert find_image(store, URL, "c2") is None
    assert (report.content, report.stored, report.stored_bytes) == (4, 2, 2 * len(PNG))
    assert report.held_back == {ImageKind.CHROME: 1, ImageKind.AD: 1, ImageKind.THUMB: 2}
    assert (report.requests_saved, report.too_early) == (4, 1)
    assert (report.sizes_known, report.known_bytes) == (2, len(PNG) + 7)
    said = rows_text(report_rows(report))
    assert "2 of 4 content images" in said
    assert "1 fetched that are not content any more" in said
    assert f"4 requests saved (size known of 2: {len(PNG) + 7} bytes)" in said
    assert report.reasons == {"linked_page": 2, "host_repeats": 1, "banner": 1}


def test_files_are_called_by_their_type() -> None:
    assert suffix_of("image/jpeg") == ".jpg"
    assert suffix_of("image/png") == ".png"
    assert suffix_of("image/svg+xml") == ".svg"
