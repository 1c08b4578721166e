"""Near matches of URLs, hosts and URL classes, from what a store knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.operations.urls.near_matches import (
    did_you_mean,
    near_hosts,
    near_urls,
    with_scheme,
)
from tests.kit.commands import DataFolder
from tests.kit.outcomes import HOST, make_failure, make_outcome, page_id_of

BASE = f"https://{HOST}"
PORT = "127.0.2.1:9911"
PATHS = ("/", "/tags/", "/news/7.html", "/list?page=2")


def at_port(path: str) -> Outcome:
    """The end of a page of the host with a port, which has http."""
    outcome = make_failure(path)
    url = f"http://{PORT}{path}"
    queued = replace(outcome.queued, url=url, host=PORT, page_id=page_id_of(url))
    return replace(outcome, queued=queued)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("near")


@pytest.fixture(scope="module")
def store(data: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(data / "records.sqlite")) as opened:
        spec = CrawlSpec(crawl_id="c1", seeds=(f"{BASE}/",))
        opened.crawls.put(spec, CrawlState.FINISHED)
        opened.save([make_outcome(path) for path in PATHS])
        opened.save([at_port(path) for path in PATHS])
        yield opened


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("http://{HOST}/news/7.html", "/news/7.html"),
        ("https://www.{HOST}/news/7.html", "/news/7.html"),
        ("https://{HOST}:8443/news/7.html", "/news/7.html"),
        ("https://{HOST}/tags", "/tags/"),
        ("https://{HOST}/news/7.html?utm_source=x", "/news/7.html"),
        ("https://{HOST}/list?page=2&utm_source=x", "/list?page=2"),
        ("https://{HOST}/tag/", "/tags/"),
        ("https://{HOST}/news/7.htm", "/news/7.html"),
        ("https://{HOST}/nwes/7.html", "/news/7.html"),
        ("https://{HOST}/index.html", "/"),
    ],
)
def test_urls(store: SqliteStore, text: str, meant: str) -> None:
    assert near_urls(store, text.format(HOST=HOST))[0] == BASE + meant


def test_a_url_without_a_like_one(store: SqliteStore) -> None:
    assert near_urls(store, f"{BASE}/quite/another/page") == []
    assert near_urls(store, "http://unknown.invalid/") == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("127.0.2.1", PORT),
        ("127.0.2.1:9912", PORT),
        ("http://127.0.2.1:9911/tags/", PORT),
        ("www.forum.example", HOST),
        ("forum.example:8080", HOST),
        ("forun.example", HOST),
        ("forum.exampel.", HOST),
        ("Forum-Example", HOST),
    ],
)
def test_hosts(store: SqliteStore, text: str, meant: str) -> None:
    assert near_hosts(store, text) == [meant]


def test_a_url_without_scheme_gets_that_of_the_store(store: SqliteStore) -> None:
    assert with_scheme(store, f"{HOST}/tags/") == f"{BASE}/tags/"
    assert with_scheme(store, f"{PORT}/tags/") == f"http://{PORT}/tags/"
    assert with_scheme(store, f"{PORT}/new") == f"http://{PORT}/new"
    assert with_scheme(store, "unknown.example") == "https://unknown.example/"
    for text in ("mailto:x@a.example", "word", "ftp://a.example/"):
        with pytest.raises(InvalidUrl, match="no http"):
            with_scheme(store, text)


def test_names_in_a_message() -> None:
    assert did_you_mean([]) == ""
    assert did_you_mean(["a"]) == "; did you mean a?"
    assert did_you_mean(["a", "b", "c"]) == "; did you mean a, b or c?"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (["hosts", "127.0.2.1"], PORT),
        (["model", "127.0.2.1"], PORT),
        (["failures", "127.0.2.1"], PORT),
        (["export", "--host", "127.0.2.1"], PORT),
        (["show", f"{BASE}/news/7.htm"], f"{BASE}/news/7.html"),
    ],
)
def test_commands_ask_what_was_meant(data: Path, command: list[str], meant: str) -> None:
    assert DataFolder(data).error(*command).endswith(f"; did you mean {meant}?")


@pytest.mark.usefixtures("store")
def test_why_takes_a_url_without_scheme(data: Path) -> None:
    folder = DataFolder(data)
    assert folder.output("why", f"{HOST}/tags/").startswith(f"{BASE}/tags/ in c1: record")
    said = folder.output("why", f"{HOST}/tag/", status=1)
    assert said.splitlines()[-1] == f"did you mean {BASE}/tags/"
