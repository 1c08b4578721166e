"""Every generated forum is learned: topic pages and posts; also without words and dates."""

from __future__ import annotations

import pytest

from benchmarks.robust.copies import copy_page, copy_url
from benchmarks.robust.engines import ENGINES, Row, generated_forum
from crawlclean import RawPage, clean, learn_site
from crawlclean.cleaning.records import PageKind, UrlKind
from crawlclean.cleaning.urls.normal_form import normalize

PAGES = 36  # a board and its threads, and half of the next
CLEANED = 12  # the pages after them

UNREAD = {
    "jforum": "signatures stand in the cell of the text behind a line",
    "wiki": "lists of talks have addresses as talks have",
    "guests": "a post is three parts side by side",
}
UNREAD_COPY = {
    ("phpbb2", "no dates"): "authors are no links: without dates neither sign of a post is left",
    ("subsilver2", "no dates"): "authors are no links: without dates neither sign is left",
    ("answers", "addresses"): "most questions have two answers or none: no class without a word",
    ("phone", "addresses"): "names before a colon are no authors",
    ("phone", "no dates"): "authors are no links: without dates neither sign of a post is left",
}


def raw(copy: str, name: str, row: Row) -> RawPage:
    url, html = row["url"], row["html"]
    if copy:
        url, html = copy_url(copy, name, url), copy_page(copy, name, html)
    return RawPage.from_bytes(url, html.encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize("copy", ["", "addresses", "no dates"])
@pytest.mark.parametrize("name", ENGINES)
def test_threads_and_posts_of_an_engine(
    name: str, copy: str, request: pytest.FixtureRequest
) -> None:
    unread = UNREAD.get(name) or UNREAD_COPY.get((name, copy))
    if unread:
        request.applymarker(pytest.mark.xfail(reason=unread, strict=True))
    rows = generated_forum(name)[: PAGES + CLEANED]
    pages = [raw(copy, name, row) for row in rows]
    model = learn_site(pages[:PAGES])
    for row, page in list(zip(rows, pages, strict=True))[PAGES:]:
        is_thread = row["type"] == "thread"
        assert (model.url_kind(normalize(page.url)) is UrlKind.THREAD) == is_thread
        record = clean(page, model)
        if is_thread:
            assert record.kind is PageKind.THREAD
            texts = [row["gold"]["first"], *row["gold"]["replies"]]
            assert [post.body for post in record.posts] == texts


def test_a_forum_is_the_same_each_time() -> None:
    assert generated_forum("smf2") == generated_forum("smf2")
