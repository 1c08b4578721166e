"""`stories`, `show`, `why` and `export --unique` on reprints of two texts."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pytest

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from tests.kit.commands import call, valid
from tests.kit.outcomes import HOST
from tests.storage.store.stories_contract import at, page, text

FIRST, LONGEST, THIRD = (f"https://h{n}.example/news/{n}" for n in range(3))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A story of three hosts and two crawls, one of two pages, and a page alone."""
    data = tmp_path_factory.mktemp("stories")
    store = SqliteStore(data / "records.sqlite")
    for crawl in ("c1", "c2"):
        store.crawls.put(CrawlSpec(crawl_id=crawl, seeds=()), CrawlState.FINISHED)
    body, other = text(1), text(2)
    store.save([page("/alone", text(3))])
    store.save([page("/news/2", body, host="h2.example", at=at(3))])
    store.save([page("/news/0", body[:500], host="h0.example", at=at(1))])
    store.save([page("/news/1", body + "后记" * 20, host="h1.example", crawl_id="c2", at=at(2))])
    store.save([page("/5", other, at=at(5)), page("/6", other, at=at(6))])
    store.close()
    return replace(Settings(), storage=StorageConfig(data=data))


def test_stories_are_listed_with_their_earliest_page(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(settings, "stories", "--json") == 0
    newest = [valid("stories", json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    assert [each["earliest"]["url"] for each in newest] == [f"https://{HOST}/5", FIRST]
    assert call(settings, "stories", "--largest", "--limit", "1", "--json") == 0
    [largest] = [
        valid("stories", json.loads(line)) for line in capsys.readouterr().out.splitlines()
    ]
    assert (largest["url_count"], largest["host_count"]) == (3, 3)
    assert largest["longest"]["url"] == LONGEST
    assert "pages" not in largest
    assert call(settings, "stories") == 0
    assert capsys.readouterr().out.splitlines()[2].split()[-1] == FIRST


def test_one_story_is_found_by_its_id_and_by_each_of_its_urls(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(settings, "stories", LONGEST, "--json") == 0
    line = capsys.readouterr().out
    story = valid("stories", json.loads(line))
    assert [each["url"] for each in story["pages"]] == [FIRST, LONGEST, THIRD]
    assert call(settings, "stories", story["story"], "--json") == 0
    assert capsys.readouterr().out == line
    assert call(settings, "stories", FIRST.removeprefix("https://")) == 0
    printed = capsys.readouterr().out
    assert f"{FIRST}  500 characters, earliest\n" in printed
    assert f"{LONGEST}  640 characters, longest\n" in printed
    with pytest.raises(NotFound, match="no other page tells"):
        call(settings, "stories", f"https://{HOST}/alone")


def test_show_and_why_name_the_other_urls(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(settings, "show", THIRD) == 0
    shown = capsys.readouterr().out
    assert f"{FIRST}, earliest\n" in shown
    assert f"{LONGEST}, longest\n" in shown
    assert call(settings, "why", LONGEST) == 0
    why = capsys.readouterr().out
    assert "3 URLs of 3 hosts, this page is the longest\n" in why
    assert f"    {THIRD}\n" in why
    assert call(settings, "why", LONGEST, "--json") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert valid("why", json.loads(last))["url_count"] == 3
    assert call(settings, "why", f"https://{HOST}/alone") == 0
    assert "story" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "urls"),
    [
        ([], {f"https://{HOST}/alone", LONGEST, f"https://{HOST}/5"}),
        (["earliest"], {f"https://{HOST}/alone", FIRST, f"https://{HOST}/5"}),
        (["--crawl", "c1"], {f"https://{HOST}/alone", THIRD, f"https://{HOST}/5"}),
        (["--host", "h0.example"], {FIRST}),
        (["--since", "2020-01-01"], {f"https://{HOST}/alone", THIRD, f"https://{HOST}/5"}),
    ],
)
def test_an_export_has_one_page_of_each_story(
    arguments: list[str],
    urls: set[str],
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(settings, "export", "--unique", *arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {json.loads(line)["url"] for line in lines} == urls
    assert len(lines) == len(urls)


def test_a_rebuild_says_what_it_read_and_what_is_left(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(settings, "stories", "--largest", "--json") == 0
    before = capsys.readouterr().out
    with closing(SqliteStore(settings.storage.data / "records.sqlite")) as store:
        next(store.story_rebuild.steps())  # and is killed
    assert call(settings, "stories", "--json") == 0
    assert "`stories --rebuild` does the rest" in capsys.readouterr().err
    assert call(settings, "stories", "--rebuild", "--json") == 0
    done = valid("stories", json.loads(capsys.readouterr().out))
    assert done == {"records": 6, "texts": 6, "interrupted": False}
    assert call(settings, "stories", "--largest", "--json") == 0
    after = capsys.readouterr()
    assert (after.out, after.err) == (before, "")
    assert call(settings, "stories", "--rebuild") == 0
    assert capsys.readouterr().out == "read 6 records; 6 with a text to compare\n"
    with pytest.raises(ConfigError, match="takes no story"):
        call(settings, "stories", FIRST, "--rebuild")
