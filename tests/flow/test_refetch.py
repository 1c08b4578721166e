"""Stored pages are fetched again, their older versions kept; archived responses are dropped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl
from tests.kit.web import Page, Web, html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
WALL = html("请登录")


def bodies(data: Path) -> dict[str, str]:
    store = SqliteStore(data / "records.sqlite")
    try:
        return {record.url: record.body for record in store.records.scan()}
    finally:
        store.close()


def test_pages_behind_a_wall_are_fetched_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    paths = ("/a", "/b", "/gone", "/whole")
    walled: dict[str, Page] = {
        "/": html("首页", LONG, links=dict.fromkeys(paths, "页")),
        **dict.fromkeys(paths[:3], WALL),
        "/whole": html("整", LONG),
    }
    arguments = ("--crawl", "c")
    with Web(tmp_path / "walled", walled) as web:
        first = run_crawl(data, web.url(), *arguments)
        assert (first["records"], first["state"]) == (5, "finished")
    assert {url for url, body in bodies(data).items() if not body} == {
        web.url(path) for path in paths[:3]
    }
    folder = DataFolder(data)
    assert folder.output("crawl", "refetch", "c", "--since", "0m") == "no stored page matches\n"
    status, _, error = folder.call("crawl", "refetch", "c", "--since", "soon")
    assert (status, "is not a time" in error) == (2, True)
    assert "no crawl and no host" in folder.error("crawl", "refetch", "x")
    mended: dict[str, Page] = {path: html(path, LONG) for path in ("/", "/a", "/b", "/whole")}
    with Web(tmp_path / "mended", mended, port=web.port) as web:
        said = folder.output("crawl", "refetch", web.host, "--since", "1h", "--no-body")
        assert said == "3 pages of c are back in the queue\n"
        assert folder.output("crawl", "refetch", "c", "--no-body") == "no stored page matches\n", (
            "they wait"
        )
        second = run_crawl(data, web.url(), *arguments)
        assert (second["state"], second["failed"]) == ("finished", 1)
        assert (second["records"], second["kept_records"], second["new_records"]) == (4, 1, 0)
    begin = datetime.now(UTC).isoformat()
    (host,) = folder.rows("hosts", "--json")
    assert (host["pages_by_state"], host["kept_records"]) == ({"record": 4, "failed": 1}, 1)
    assert "1 more record is of a page that gave none" in folder.output("hosts")
    assert len(folder.output("export").splitlines()) == 4 + 1
    changed: dict[str, Page] = {**walled, "/a": mended["/a"], "/b": html("/b", LONG, LONG[1:])}
    with Web(tmp_path / "changed", changed, port=web.port):
        folder.output("crawl", "refetch", "c")
        run_crawl(data, web.url(), *arguments)
    new = [json.loads(line) for line in folder.output("export", "--since", begin).splitlines()]
    assert [record["url"] for record in new] == [web.url("/b")], "others read the same"
    found = bodies(data)
    assert sorted(path for path in paths if found[web.url(path)]) == ["/a", "/b", "/whole"]
    assert web.url("/gone") in found, "what is gone keeps its record"
    assert f"+{LONG}" in folder.output("show", web.url("/a"), "--diff"), "the version before"
    plan = folder.output("crawl", "drop-raw", "c", "--dry-run")
    assert plan.startswith("would drop 5 archived responses of c, ")
    status, _, error = folder.call("crawl", "drop-raw", "c")
    assert (status, "without a terminal it needs --yes" in error) == (2, True)
    assert folder.output("crawl", "drop-raw", "c", "--yes").startswith(
        "dropped 5 archived responses"
    )
    assert list((data / "raw").iterdir()) == []
    assert bodies(data) == found
    assert "not in the archive" in folder.output("model", "reclean", web.host, "--again")
