"""Queue or store are lost in part in the middle of a crawl: every page is stored in the end."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import find_gap
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import counted, crawlclean, run_crawl, start, stored_urls
from tests.kit.processes import family_of, is_alive
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web, html

COUNT = 30


def site(hold: Path) -> dict[str, Page]:
    """Levels of links, a redirect, a sitemap's own page, and pages that fail.

    Pages of a level are not answered while a file of its number, 0 to 2, is in the folder ``hold``.
    """
    return {
        "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(0, COUNT, 3)}),
        **{
            f"/{i}": {
                "body": html(f"第{i}页", links={f"/{i + 1}": "下", f"/gone{i % 4}": "没有"}),
                "latency_ms": 60,
                "held_by": str(hold / str(i % 3)),
            }
            for i in range(COUNT)
        },
        f"/{COUNT}": {"status": 301, "headers": {"Location": "/last.html"}},
        "/last.html": html("最后"),
        "/only-in-map.html": html("地图"),
        "/robots.txt": {"body": "Sitemap: /map.xml\n", "headers": {"Content-Type": "text/plain"}},
        "/map.xml": {
            "body": "<urlset><url><loc>/only-in-map.html</loc></url></urlset>",
            "headers": {"Content-Type": "application/xml"},
        },
    }


def all_pages(web: Web) -> list[str]:
    paths = ["/", "/last.html", "/only-in-map.html", *(f"/{i}" for i in range(COUNT))]
    return sorted(web.url(path) for path in paths)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with Web(tmp_path / "web", site(tmp_path / "hold")) as served:
        yield served


def killed_half_way(data: Path, web: Web, *more: str) -> set[str]:
    """Runs a crawl, kills it, deletes its queue; the pages it had stored."""
    run_and_kill(data, web, *more)
    shutil.rmtree(data / "queue")
    return set(stored_urls(data))


def run_and_kill(data: Path, web: Web, *more: str, backup: Path | None = None) -> None:
    """Runs a crawl until a third of its pages is stored, and kills it.

    It cannot end before, however late its records are looked at: the site holds its last level.
    ``backup`` gets the records of a moment before.
    """
    hold = data.with_name("hold")
    hold.mkdir()
    (hold / "1").touch()
    (hold / "2").touch()
    crawl = start("run", web.url(), "--allow-private", "--data", str(data), "--crawl", "c", *more)
    try:
        wait_until(lambda: (data / "records.sqlite").exists())
        if backup:
            wait_until(lambda: len(stored_urls(data)) >= 3)
            copy_live(data / "records.sqlite", backup)
            (hold / "1").unlink()
            wait_until(lambda: has_newer_pages(data, backup))
        (hold / "1").unlink(missing_ok=True)
        wait_until(lambda: len(stored_urls(data)) >= COUNT // 3)
        family = family_of(crawl.pid)
    finally:
        crawl.send_signal(signal.SIGKILL)
        crawl.communicate()
    wait_until(lambda: not any(map(is_alive, family)))
    shutil.rmtree(hold)


def copy_live(database: Path, to: Path) -> None:
    """Copies a database that others write."""
    with closing(sqlite3.connect(database)) as live, closing(sqlite3.connect(to)) as copy:
        live.backup(copy)


def put_back(backup: Path, data: Path) -> None:
    """Replaces the records by older ones."""
    for log in data.glob("records.sqlite-*"):
        log.unlink()
    shutil.copy(backup, data / "records.sqlite")


def has_newer_pages(data: Path, copy: Path) -> bool:
    """Whether pages have ended in the running queue that the copy of the store does not have."""
    with closing(Frontier(socket_url(data))) as frontier, closing(SqliteStore(copy)) as store:
        return find_gap(frontier, store.urls, "c") > 0


def check_whole(data: Path, web: Web, before: set[str], asked_before: dict[str, int]) -> None:
    assert sorted(stored_urls(data)) == all_pages(web)
    repeated = {
        path for path, n in web.requests().items() if n > asked_before.get(path, 0) and n > 1
    }
    assert not {web.url(path) for path in repeated} & before, "what was stored is not asked again"
    ends = {state: n for state, n in counted(data).items() if n}
    assert ends == {
        UrlState.RECORD: COUNT + 3,
        UrlState.FAILED: 4,
        UrlState.REDIRECT: 1,
        UrlState.SITEMAP: 1,
    }
    store = SqliteStore(data / "records.sqlite")
    stats = store.statistics.get(web.host)
    store.close()
    assert stats is not None
    assert stats.pages_by_state == {str(state): n for state, n in ends.items()}


def _many() -> dict[str, Page]:
    """A page that leads to 150 others."""
    links = {f"/{n}.html": str(n) for n in range(150)}
    pages: dict[str, Page] = {
        path: html(path, f"第{path}页，{path}的正文有十五个以上的汉字，它属于网页的正文部分。")
        for path in links
    }
    return {"/": html("all", "all", links=links), **pages}


def test_sites_say_that_their_queue_is_older_than_its_store(tmp_path: Path) -> None:
    data, older, sites = tmp_path / "data", tmp_path / "older", tmp_path / "sites.txt"
    with Web(tmp_path / "web", _many()) as web:
        sites.write_text(web.url())
        arguments = ("sites", str(sites), "--allow-private", "--data", str(data), "--workers", "1")
        crawlclean(*arguments, "--max-pages", "5", check=False)
        shutil.copytree(data / "queue", older)
        first = crawlclean(*arguments, "--max-pages", "140", check=False)
        assert "older than its store" not in first.stderr
        shutil.rmtree(data / "queue")
        shutil.copytree(older, data / "queue")
        again = crawlclean(*arguments, "--max-pages", "141", check=False)
    said = again.stderr.index("the queue is older than its store: 1")
    assert said < again.stderr.index("fetched "), "before anything is done again"


def test_a_queue_that_is_older_than_its_store_is_said_and_nothing_counts_as_new(
    tmp_path: Path,
) -> None:
    data, older = tmp_path / "data", tmp_path / "older"
    with Web(tmp_path / "web", _many()) as web:
        arguments = ("run", web.url(), "--allow-private", "--data", str(data), "--workers", "1")
        crawlclean(*arguments, "--max-pages", "5", check=False)
        shutil.copytree(data / "queue", older)
        first = crawlclean(*arguments, "--max-pages", "1000")
        assert "older than its store" not in first.stderr
        shutil.rmtree(data / "queue")
        shutil.copytree(older, data / "queue")
        again = crawlclean(*arguments, "--max-pages", "1000")
    said = again.stderr.index("the queue is older than its store: 14")  # 151 without 5 and some
    assert said < again.stderr.index("fetched "), "before anything is done again"
    assert "151 records of 1 host" in again.stdout
    assert ", 0 of them new, " in again.stdout
    assert len(stored_urls(data)) == 151


def test_recover_and_go_on(tmp_path: Path, web: Web) -> None:
    data = tmp_path / "data"
    before = killed_half_way(data, web)
    folder = DataFolder(data)
    said = folder.output("crawl", "recover")
    assert said.startswith("recovered c: ")
    assert not said.startswith("recovered c: 0 ")
    assert not said.endswith(" 0 waiting\n")
    assert "has crawl c" in folder.error("crawl", "recover", "c")
    asked = dict(web.requests())  # some were under way when it was killed
    summary = run_crawl(data, web.url(), "--crawl", "c")
    assert (summary["records"], summary["state"]) == (COUNT + 3, "finished")
    assert summary["new_records"] == COUNT + 3 - len(before)
    assert summary["failed"] == 4
    check_whole(data, web, before, asked)

    shutil.rmtree(data / "queue")
    asked = dict(web.requests())
    again = run_crawl(data, web.url(), "--crawl", "c")
    assert (again["state"], again["new_records"]) == ("finished", 0)
    assert dict(web.requests()) == asked, "a finished crawl stays finished"
    folder.output("crawl", "purge", "c", "--keep-records", "--yes")
    assert folder.crawls()["c"]["state"] == "purged"
    assert "nothing to recover" in folder.output("crawl", "recover")


def test_a_run_recovers_its_crawl_with_budget_seeds_redirect_and_tail(
    tmp_path: Path, web: Web
) -> None:
    data = tmp_path / "data"
    moved_to: dict[str, Page] = {"/": {"status": 302, "headers": {"Location": web.url()}}}
    with Web(tmp_path / "moved", moved_to) as moved:
        few = {"CRAWLCLEAN_MAX_PENDING_URLS": "20", "CRAWLCLEAN_DATA": str(data)}
        arguments = ("run", moved.url(), "--crawl", "c", "--allow-private", "--json")
        crawlclean(*arguments, "--max-pages", "10", env=few)
        before = set(stored_urls(data))
        assert len(before) == 10
        shutil.rmtree(data / "queue")
        more = crawlclean(*arguments, "--max-pages", "12", env=few)
        assert "the queue has lost this crawl: rebuilding it from the store" in more.stderr
        assert json.loads(more.stdout)["new_records"] == 2, "ten of the budget were spent before"
        crawlclean(*arguments, env=few)
        assert sorted(stored_urls(data)) == all_pages(web)
        assert {n for path, n in web.requests().items() if web.url(path) in before} == {1}


def moved_site() -> dict[str, Page]:
    """Articles that are linked without their last slash, so that each link is a redirect."""
    site: dict[str, Page] = {"/": html("首页", links={f"/a{i}": f"文章{i}" for i in range(COUNT)})}
    for i in range(COUNT):
        site[f"/a{i}"] = {"status": 301, "headers": {"Location": f"/a{i}/"}}
        text = f"第{i}篇文章的正文，内容各不相同。" * 8
        site[f"/a{i}/"] = {"body": html(f"文章{i}", text), "latency_ms": 100}
    return site


def test_targets_of_redirects_come_back_though_their_class_is_refused_by_then(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with Web(tmp_path / "moved", moved_site()) as web:
        killed_half_way(data, web)
        with closing(SqliteStore(data / "records.sqlite")) as store:
            moved = [end.url for end in store.urls.redirects("c")]
        folder = DataFolder(data)
        folder.output("crawl", "recover")
        folder.output("classes", web.host, "--forbid", "/a{n}")
        run_crawl(data, web.url(), "--crawl", "c")
        assert moved
        assert {f"{url}/" for url in moved} <= set(stored_urls(data))
        assert {n for path, n in web.requests().items() if web.url(path) in moved} == {1}


def test_a_backup_of_the_store_is_noticed_and_recover_fetches_what_it_lacks(
    tmp_path: Path, web: Web
) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup.sqlite"
    run_and_kill(data, web, backup=backup)
    put_back(backup, data)
    before = set(stored_urls(data))
    assert before
    archive = {path: path.read_bytes() for path in (data / "raw").iterdir()}

    arguments = ("run", web.url(), "--crawl", "c", "--allow-private", "--data", str(data))
    refused = crawlclean(*arguments, check=False)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert "the store is older than its queue" in line
    assert "`crawl recover c`" in line
    assert "older than its queue" in DataFolder(data).error("crawl", "resume", "c")
    asked = dict(web.requests())
    now = {path: path.read_bytes() for path in (data / "raw").iterdir()}
    assert now == archive, "the newer store, if it is put back, finds its raw pages"

    assert DataFolder(data).output("crawl", "recover").startswith("recovered c: ")
    assert "nothing to recover" in DataFolder(data).output("crawl", "recover")
    run_crawl(data, web.url(), "--crawl", "c")
    check_whole(data, web, before, asked)
    put_back(backup, data)
    said = DataFolder(data).error("crawl", "resume", "c")
    assert "older than its queue" in said, "a finished crawl has receipts as well"


def damage(database: Path, table: str) -> bool:
    """Overwrites the first page of a table; False while another process keeps it in the log."""
    with closing(sqlite3.connect(database)) as db:
        [(is_busy, *_)] = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        [(root,)] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        if not is_busy:
            with database.open("r+b") as file:
                file.seek((root - 1) * 4096)
                file.write(b"\xff" * 4096)
    return not is_busy


def test_a_run_ends_when_its_database_is_damaged_and_blames_no_page(
    tmp_path: Path, web: Web
) -> None:
    """The page that is damaged is read by every save, and by no look at the crawl."""
    data = tmp_path / "data"
    database = data / "records.sqlite"
    arguments = ("run", web.url(), "--crawl", "c", "--allow-private", "--data", str(data))
    crawl = start(*arguments)
    try:
        wait_until(lambda: database.exists() and len(stored_urls(data)) >= 3)
        # A save under way may write the page anew, which mends it.
        wait_until(lambda: damage(database, "record_blobs") and crawl.poll() is not None)
        said = crawl.communicate()[1]
    finally:
        crawl.kill()
    assert crawl.returncode == 1, said
    assert "Traceback" not in said
    assert "records.sqlite is damaged" in said.splitlines()[-1]
    assert "put a backup back or move it away" in said.splitlines()[-1]

    again = crawlclean(*arguments, check=False)
    assert again.returncode == 1
    assert "records.sqlite is damaged" in again.stderr, "found before anything is fetched"
    assert "crawling" not in again.stderr

    database.unlink()
    assert "`crawl recover c`" in crawlclean(*arguments, check=False).stderr
    DataFolder(data).output("crawl", "recover")
    summary = run_crawl(data, web.url(), "--crawl", "c")
    assert (summary["records"], summary["failed"]) == (COUNT + 3, 4)
    assert damage(database, "record_blobs")
    finished = crawlclean(*arguments, check=False)
    assert finished.returncode == 1, "also with no page left to save"
    assert "records.sqlite is damaged" in finished.stderr
