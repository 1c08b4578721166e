"""`stories`, `show`, `why` and `export --unique` on reprints of two texts."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.outcomes import HOST
from tests.storage.store.stories_contract import at, page, text

FIRST, LONGEST, THIRD = (f"https://h{n}.example/news/{n}" for n in range(3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
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
    return DataFolder(data)


def test_stories_are_listed_with_their_earliest_page(folder: DataFolder) -> None:
    newest = folder.rows("stories", "--json")
    assert [each["earliest"]["url"] for each in newest] == [f"https://{HOST}/5", FIRST]
    [largest] = folder.rows("stories", "--largest", "--limit", "1", "--json")
    assert (largest["url_count"], largest["host_count"]) == (3, 3)
    assert largest["longest"]["url"] == LONGEST
    assert "pages" not in largest
    assert folder.output("stories").splitlines()[2].split()[-1] == FIRST


def test_one_story_is_found_by_its_id_and_by_each_of_its_urls(folder: DataFolder) -> None:
    [story] = folder.rows("stories", LONGEST, "--json")
    assert [each["url"] for each in story["pages"]] == [FIRST, LONGEST, THIRD]
    assert folder.rows("stories", story["story"], "--json") == [story]
    printed = folder.output("stories", FIRST.removeprefix("https://"))
    assert f"{FIRST}  500 characters, earliest\n" in printed
    assert f"{LONGEST}  640 characters, longest\n" in printed
    assert "no other page tells" in folder.error("stories", f"https://{HOST}/alone")


def test_show_and_why_name_the_other_urls(folder: DataFolder) -> None:
    shown = folder.output("show", THIRD)
    assert f"{FIRST}, earliest\n" in shown
    assert f"{LONGEST}, longest\n" in shown
    why = folder.output("why", LONGEST)
    assert "3 URLs of 3 hosts, this page is the longest\n" in why
    assert f"    {THIRD}\n" in why
    assert folder.rows("why", LONGEST, "--json")[-1]["url_count"] == 3
    assert "story" not in folder.output("why", f"https://{HOST}/alone")


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
    arguments: list[str], urls: set[str], folder: DataFolder
) -> None:
    lines = folder.output("export", "--unique", *arguments).splitlines()
    assert {json.loads(line)["url"] for line in lines} == urls
    assert len(lines) == len(urls)


def test_a_rebuild_says_what_it_read_and_what_is_left(folder: DataFolder) -> None:
    before = folder.output("stories", "--largest", "--json")
    with closing(SqliteStore(folder.data / "records.sqlite")) as store:
        next(store.story_rebuild.steps())  # and is killed
    assert "`stories --rebuild` does the rest" in folder.call("stories", "--json")[2]
    [done] = folder.rows("stories", "--rebuild", "--json")
    assert done == {"records": 6, "texts": 6, "interrupted": False}
    assert folder.call("stories", "--largest", "--json") == (0, before, "")
    assert folder.output("stories", "--rebuild") == "read 6 records; 6 with a text to compare\n"
    assert "takes no story" in folder.error("stories", FIRST, "--rebuild", status=2)
