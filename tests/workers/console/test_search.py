"""Search by words: the screen, the API and the command find the same records."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.search import FILE
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.api import program
from tests.kit.commands import call
from tests.kit.console import open_console, parts_of, settings_of
from tests.kit.outcomes import HOST, later, make_outcome

HOSTILE = "<script>alert(1)</script>\u202e暴雨预警"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with 60 indexed records, one of them hostile."""
    folder = tmp_path_factory.mktemp("searched")
    store = SqliteStore(folder / DATABASE)
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",)), CrawlState.FINISHED)
    for n in range(60):
        outcome = make_outcome(f"/t/{n}", at=later(n))
        text = HOSTILE if n == 7 else f"第{n}篇，讲数据清洗和 web crawling。"
        assert isinstance(outcome.record, CleanRecord)
        store.save([replace(outcome, record=replace(outcome.record, body=text, title=f"标题{n}"))])
    store.statistics.refresh()
    store.close()
    assert call(settings_of(folder, search=True), "search", "数据") == 0
    return folder


def test_words_are_found_marked_and_paged(data: Path) -> None:
    client = open_console(data, search=True)
    seen: list[str] = []
    for page in parts_of(client, "/search?q=据清洗&limit=25"):
        assert page.count("<mark><bdi>据清洗</bdi></mark>") == page.count("<li><a")
        seen += re.findall(r"<bdi>(标题\d+)</bdi>", page)
    assert seen == [f"标题{n}" for n in range(59, -1, -1) if n != 7]


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ({"q": "数据 crawl"}, 50),
        ({"q": '"web crawling"'}, 50),
        ({"q": "没有这个词语"}, 0),
        ({"q": "暴雨", "host": HOST.upper()}, 1),
        ({"q": "暴雨", "host": "other.example"}, 0),
        ({"q": "暴雨", "crawl": "c1", "from": "2026-01-01", "to": "2027-01-01"}, 1),
        ({"q": "暴雨", "from": "2027-01-01"}, 0),
        ({"q": "c1", "kind": "words"}, 0),
    ],
)
def test_filters(data: Path, query: dict[str, str], hits: int) -> None:
    page = open_console(data, search=True).get("/search", query_string=query)
    assert page.status_code == 200
    assert page.text.count("<li><a") == hits
    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text


@pytest.mark.parametrize("query", [{"q": "数"}, {"q": "数据", "from": "yesterday"}, {"q": "，。"}])
def test_what_cannot_be_searched_is_said(data: Path, query: dict[str, str]) -> None:
    page = open_console(data, search=True).get("/search", query_string=query)
    assert page.status_code == 200
    assert 'role="alert"' in page.text


def test_names_come_before_words(data: Path) -> None:
    client = open_console(data, search=True)
    assert client.get("/search", query_string={"q": HOST}).location == f"/hosts/{HOST}"
    assert client.get("/search", query_string={"q": HOST, "kind": "words"}).status_code == 200


def test_search_is_off_by_default(tmp_path: Path, data: Path) -> None:
    page = open_console(data).get("/search").text
    assert "CRAWLCLEAN_SEARCH=true" in page
    assert open_console(data).get("/search?q=数据").location.startswith("/hosts?q=")
    SqliteStore(tmp_path / DATABASE).close()
    with pytest.raises(NotFound, match="search by words is off"):
        call(settings_of(tmp_path), "search", "数据")
    assert not (tmp_path / FILE).exists()


def test_the_command_and_the_api_find_the_same(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(data, search=True)
    assert call(settings, "search", "暴雨预警") == 0
    shown = capsys.readouterr().out
    assert "*暴雨预警*" in shown
    assert "\u202e" not in shown
    assert call(settings, "search", "web crawling", "--limit", "30", "--json") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    asking = program(data)
    first = asking.value('/search?q="web crawling"&limit=20')
    second = asking.value(f'/search?q="web crawling"&limit=10&after={first["next"]}')
    assert told == first["items"] + second["items"]
    assert len(told) == 30
    assert call(settings, "search", "没有这个词语") == 1
    assert asking.get("/search").status_code == 400
    assert asking.value("/search?q=x")["items"] == []
    assert asking.value("/search?q=暴雨&since=2027-01-01T00:00:00Z")["items"] == []
    assert asking.get("/search?q=暴雨&since=2027-01-01T00:00:00").status_code == 400
