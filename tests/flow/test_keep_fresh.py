"""Sites that are kept up to date, with the real command and a server that changes its pages."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.changing_web import ChangingWeb, Shown
from tests.kit.crawls import crawlclean, start
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import html

CRAWL = "新闻.café"
PAST = "Mon, 01 Jan 2024 00:00:00 GMT"
NAMED = '<link rel="alternate" type="application/rss+xml" href="/feed">'
FEED = "<rss><channel>{}</channel></rss>"
ITEM = "<item><link>/{0}.html</link><title>{0}</title><pubDate>{1}</pubDate></item>"


def page(title: str) -> str:
    """A page of its own: what all pages of a site have counts as its template."""
    return html(title, f"{title}的第一段，灯塔的守卫在这里记下了{title}的来历和去处。")


def site() -> dict[str, Shown]:
    links = {f"/{name}.html": name for name in ("tagged", "dated", "liar", "dies", "plain", "now")}
    return {
        "/": Shown(html("首页", links=links).replace("</head>", NAMED + "</head>")),
        "/tagged.html": Shown(page("甲文"), etag='W/"a b"', last_modified=PAST),
        "/dated.html": Shown(page("乙文"), last_modified=PAST),
        "/liar.html": Shown(page("丙文"), etag='"1"', always_304=True),
        "/dies.html": Shown(page("丁文")),
        "/plain.html": Shown(page("戊文")),
        "/now.html": Shown(page("己文"), changed_now=True),
        "/feed": Shown(FEED.format(ITEM.format("plain", PAST)), media_type="application/rss+xml"),
    }


class Kept:
    """A crawl that is kept fresh, looked at from outside."""

    def __init__(self, web: ChangingWeb, data: Path) -> None:
        self.web, self.data = web, data
        self.arguments = ["run", web.url(), "--crawl", CRAWL, "--keep-fresh", "--allow-private"]
        self.arguments += ["--workers", "1", "--data", str(data)]

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        with closing(SqliteStore(self.data / "records.sqlite")) as store:
            yield store

    def state_of(self, path: str) -> UrlState | None:
        with self.store() as store:
            rows = store.urls.rows(page_id(self.web.url(path)))
            return rows[0].state if rows else None

    def text_of(self, path: str) -> str:
        with self.store() as store:
            record = store.records.get(page_id(self.web.url(path)), CRAWL)
            return f"{record.title} {record.body}" if record else ""

    def visits_of(self, path: str) -> tuple[int, int]:
        """(visits of a page after its first, those that found a change)."""
        with self.store() as store:
            known = store.revisits.schedule(page_id(self.web.url(path)), CRAWL)
            assert known is not None
            return known[1].visits, known[1].changed

    def make_due(self, *paths: str) -> None:
        """As if the next visits of these pages were due now."""
        now = time.time_ns() // 1000
        ids = [(now, page_id(self.web.url(path))) for path in paths]
        with closing(sqlite3.connect(self.data / "records.sqlite", timeout=LIMIT_S)) as db, db:
            done = db.executemany(
                "UPDATE urls SET next_visit = ? WHERE page_id = ? AND next_visit > 0", ids
            )
            assert done.rowcount == len(paths)

    def visits(self, *paths: str) -> list[int]:
        """Makes pages due; returns the status of each one's visit, once all are saved."""
        before = {path: len(self.web.asked_for(path)) for path in paths}
        self.make_due(*paths)
        wait_until(lambda: all(len(self.web.asked_for(p)) > n for p, n in before.items()))
        wait_until(lambda: not self.due())
        assert [len(self.web.asked_for(p)) - n for p, n in before.items()] == [1] * len(paths)
        return [self.web.asked_for(path)[-1].status for path in paths]

    def asks(self, *arguments: str) -> list[dict[str, Any]]:
        """The lines of a command's JSON."""
        done = crawlclean(*arguments, "--data", str(self.data), "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def due(self) -> list[str]:
        with self.store() as store:
            return [each.url for each in store.revisits.due(CRAWL, datetime.now(UTC))]


@contextmanager
def running(kept: Kept) -> Iterator[subprocess.Popen[str]]:
    """The command, ended with Ctrl-C unless it has ended."""
    process = start(*kept.arguments)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=LIMIT_S)
        assert process.returncode in (130, -signal.SIGKILL), f"{out}\n{errors}"


def first_visits(kept: Kept) -> None:
    def is_done() -> bool:
        if not (kept.data / "records.sqlite").exists():
            return False
        return all(kept.state_of(path) is not None for path in site())

    wait_until(is_done)


def test_pages_are_visited_again(tmp_path: Path) -> None:
    with ChangingWeb(site()) as web:
        kept = Kept(web, tmp_path / "data")
        with running(kept):
            first_visits(kept)

            # Conditions: an ETag as it was received, else the date; never both, never made up.
            statuses = kept.visits("/tagged.html", "/dated.html", "/plain.html", "/now.html")
            assert statuses == [304, 304, 200, 200]
            tagged, dated, plain = (
                web.asked_for(path)[-1] for path in ("/tagged.html", "/dated.html", "/plain.html")
            )
            assert (tagged.if_none_match, tagged.if_modified_since) == ('W/"a b"', "")
            assert (dated.if_none_match, dated.if_modified_since) == ("", PAST)
            assert (plain.if_none_match, plain.if_modified_since) == ("", "")
            assert web.asked_for("/now.html")[-1].if_modified_since == ""  # no date of the page
            assert kept.visits_of("/now.html") == (1, 0)

            # What is asked while it runs.
            (known,) = kept.asks("why", web.url("/tagged.html"))
            assert (known["state"], known["visits_again"]) == ("record", 1)
            assert known["steps"][-1]["step"] == "stored"
            assert known["last_visit"] < known["next_visit"]
            # Its counts are kept by the housekeeper, and as of its last pass.
            wait_until(lambda: kept.asks("crawls")[0]["records"] == 7)
            (line,) = kept.asks("crawls")
            assert (line["state"], line["keep_fresh"]) == ("running", True)
            assert (line["visited_again"], line["to_visit_again"]) == (4, 0)
            assert line["next_visit"] <= known["next_visit"]
            assert (line["records"], line["waiting"], line["in_flight"]) == (7, 0, 0)

            # A change is stored, and a list that names a new page brings it.
            web.pages["/plain.html"] = Shown(page("戊改"))
            links = {"/plain.html": "戊文", "/new.html": "新文"}
            web.pages["/"] = Shown(html("首页", links=links))
            web.pages["/new.html"] = Shown(page("新文"))
            items = ITEM.format("plain", PAST) + ITEM.format("fed", PAST)
            web.pages["/feed"] = Shown(FEED.format(items), media_type="application/rss+xml")
            web.pages["/fed.html"] = Shown(page("来文"))
            kept.visits("/plain.html", "/", "/feed")
            assert "戊改" in kept.text_of("/plain.html")
            (changed,) = kept.asks("why", web.url("/plain.html"))
            steps = [step["step"] for step in changed["steps"]]
            assert steps[:3] == ["discovered", "due again", "leased"]
            assert changed["steps"][0]["at"][:4] == known["steps"][0]["at"][:4]
            (figures,) = kept.asks("hosts", web.host)
            assert figures["wait_ms"] < 1000 * LIMIT_S * len(site())
            wait_until(lambda: kept.state_of("/new.html") is UrlState.RECORD)
            wait_until(lambda: kept.state_of("/fed.html") is UrlState.RECORD)

            # A page that is gone keeps its record; a host that is ill costs nothing.
            web.pages["/dies.html"] = Shown("gone", status=410)
            web.pages["/dated.html"] = Shown("no", status=403)
            assert kept.visits("/dies.html", "/dated.html") == [410, 403]
            assert kept.state_of("/dies.html") is UrlState.FAILED
            assert "丁文" in kept.text_of("/dies.html")
            assert kept.state_of("/dated.html") is UrlState.RECORD

            # A page that reads as not found has gone, whatever its status is.
            web.pages["/plain.html"] = Shown(html("出错了", "抱歉，您访问的页面不存在。"))
            assert kept.visits("/plain.html") == [200]
            assert kept.state_of("/plain.html") is UrlState.FAILED
            assert "戊改" in kept.text_of("/plain.html")
            reasons = {line["url"]: line["reason"] for line in kept.asks("failures", CRAWL)}
            assert reasons[web.url("/plain.html")] == "gone"
            assert kept.visits("/plain.html") == [200]
            assert "戊改" in kept.text_of("/plain.html")

            # A server that answers 304 to everything is asked without a condition at last.
            web.pages["/liar.html"].body = page("丙改了")
            for _ in range(8):
                if kept.visits("/liar.html") == [200]:
                    break
            assert "丙改" in kept.text_of("/liar.html")
        check_at_rest(kept)


def check_at_rest(kept: Kept) -> None:
    """Stopped, not finished; without --keep-fresh there is nothing to do."""
    (figures,) = kept.asks("hosts", kept.web.host)
    assert list(figures["next_visits"]) == [CRAWL]
    with kept.store() as store:
        (row,) = store.crawls.all()
        assert row.state is CrawlState.STOPPED
    asked = len(kept.web.asked)
    plain = [each for each in kept.arguments if each != "--keep-fresh"]
    done = crawlclean(*plain)
    assert "this crawl is finished" in done.stdout
    assert len(kept.web.asked) == asked
    (line,) = kept.asks("crawls")
    assert (line["state"], line["keep_fresh"], line["next_visit"]) == ("finished", False, None)


def test_a_killed_run_makes_up_for_a_missed_visit_once(tmp_path: Path) -> None:
    with ChangingWeb(site()) as web:
        kept = Kept(web, tmp_path / "data")
        with running(kept) as process:
            first_visits(kept)
            kept.make_due("/tagged.html", "/plain.html")
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        wait_until(lambda: "records.sqlite" in {each.name for each in kept.data.iterdir()})
        web.asked.clear()
        with running(kept):
            wait_until(lambda: not kept.due() and web.asked_for("/plain.html") != [])
            wait_until(lambda: not kept.due())
            assert len(web.asked_for("/plain.html")) == 1
            assert len(web.asked_for("/tagged.html")) <= 1
            assert web.asked_for("/dated.html") == []  # it is not due
            assert kept.visits("/dated.html") == [304]


def test_sites_that_only_wait_for_visits_leave_room_for_others(tmp_path: Path) -> None:
    pages = {"/": Shown(page("首页"))}
    with ChangingWeb(pages) as one, ChangingWeb(pages) as other:
        file = tmp_path / "sites.toml"
        file.write_text(
            f'seeds = ["{one.url()}", "{other.url()}"]\nkeep_fresh = true\nat_once = 1\n'
            f'allow_private = true\nworkers = 1\ndata = "{tmp_path / "data"}"\n',
            "utf-8",
        )
        process = start("sites", str(file), "--json")
        try:
            wait_until(lambda: bool(one.asked_for("/") and other.asked_for("/")))
            with closing(SqliteStore(tmp_path / "data" / "records.sqlite")) as store:
                wait_until(lambda: sum(1 for _ in store.records.scan()) == 2)
        finally:
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130, errors
        reports = [json.loads(line) for line in out.splitlines()]
        assert [(each["state"], each["records"]) for each in reports] == [("stopped", 1)] * 2
