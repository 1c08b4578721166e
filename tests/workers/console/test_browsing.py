"""Stored pages as a list: by host, crawl, kind, time, length, confidence, near-duplicates."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.topics.stories import story_signature
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.console.api.tokens import TokenScope
from crawlclean.workers.operations.api_tokens import make_token
from crawlclean.workers.operations.pages import browsing
from tests.kit.api import Program, all_items
from tests.kit.console import open_console, parts_of
from tests.kit.outcomes import HOST, later, make_outcome, with_record
from tests.storage.store.stories_contract import text

PAGES = 90  # several parts of each list, and whole runs of each kind
KINDS = (PageKind.ARTICLE, PageKind.THREAD, PageKind.INDEX)


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Pages of a host in two crawls: each third of a kind, one in ten a copy or without a body."""
    data = tmp_path_factory.mktemp("browsing")
    with closing(SqliteStore(data / DATABASE)) as store:
        for crawl in ("c1", "c2"):
            store.crawls.put(CrawlSpec(crawl_id=crawl, seeds=()), CrawlState.FINISHED)
        for n in range(PAGES):
            page = make_outcome(f"/t/{n}", crawl_id=f"c{n % 2 + 1}", at=later(n))
            body = "" if n % 10 == 7 else text(n - n % 10 if n % 10 == 1 else n)
            page = with_record(
                page, kind=KINDS[n % 3], body=body, confidence=n / 100, title=f"页{n}"
            )
            store.save([replace(page, story=story_signature(body) if body else b"")])
        store.statistics.refresh()
    token = make_token(data, "tests", TokenScope.READ, None).token
    return Program(open_console(data), token)


def numbers(items: list[dict[str, str]]) -> list[int]:
    return [int(each["url"].rpartition("/")[2]) for each in items]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", range(PAGES)),
        (f"host={HOST}", range(PAGES)),
        ("crawl=c2", range(1, PAGES, 2)),
        (f"crawl=c1&host={HOST}&kind=index", range(2, PAGES, 6)),
        ("most_chars=0", range(7, PAGES, 10)),
        ("copies=true", [n for n in range(PAGES) if n % 10 in (0, 1)]),
        ("copies=false&kind=article", [n for n in range(0, PAGES, 3) if n % 10 > 1]),
        ("most_confidence=0.05", range(6)),
        ("most_chars=0&least_chars=1", ()),
        ("host=none.example", ()),
        ("kind=other", ()),
        ("since=2100-01-01T00:00:00Z", ()),
        ("until=2020-01-01T00:00:00Z", ()),
    ],
)
def test_pages_are_found_by_what_they_are(
    asking: Program, query: str, wanted: range | list[int]
) -> None:
    expected = sorted(wanted, reverse=True)
    assert numbers(asking.value(f"/pages?limit=200&{query}")["items"]) == expected
    assert numbers(all_items(asking, f"/pages?{query}", 7)) == expected


def test_a_row_says_what_the_page_is(asking: Program) -> None:
    newest, second = asking.value("/pages?limit=2")["items"]
    assert (newest["title"], newest["kind"], newest["crawl"]) == ("页89", "index", "c2")
    assert (newest["confidence"], newest["has_copies"]) == (0.89, False)
    assert second["body_chars"] == len(text(88))


def test_a_filter_that_few_pages_pass_ends_a_part_early(asking: Program) -> None:
    with patch.object(browsing, "MOST_LOOKED", 11):
        part, parts = asking.value("/pages?most_confidence=0&limit=10"), 1
        while not part["items"]:
            parts += 1
            part = asking.value(f"/pages?most_confidence=0&limit=10&after={part['next']}")
        assert numbers(part["items"]) == [0]
        assert parts > 5
        shown = asking.client.get("/pages?unsure=1&limit=10").text
        assert "Not all pages were looked at" in shown


def test_the_screen_filters_and_leads_on(asking: Program) -> None:
    client: FlaskClient = asking.client
    seen = [
        int(n)
        for page in parts_of(client, f"/pages?host={HOST}&kind=thread&limit=7")
        for n in re.findall(r">页(\d+)<", page)
    ]
    assert seen == list(range(PAGES - 2, 0, -3))
    shown = client.get("/pages?copies=only&length=long&from=2026-01-01&to=2100-01-01").text
    assert "near-duplicate" not in shown.partition("<section")[2], "none has 2,000 characters"
    assert client.get("/pages?copies=only").text.count('<span class="badge">near-duplicate') == 18
    assert "is not a time" in client.get("/pages?from=soon").text
    link = (
        f'<a class="original" href="https://{HOST}/t/89" target="_blank" rel="noopener noreferrer'
    )
    assert link in client.get("/pages").text
    assert f'href="/pages?host={HOST}"' in client.get(f"/hosts/{HOST}").text
    assert 'href="/pages?crawl=c1"' in client.get("/crawls/c1").text


def test_a_folder_without_a_crawl_says_so(tmp_path: Path) -> None:
    assert open_console(tmp_path).get("/pages").status_code == 200
