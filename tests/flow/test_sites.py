"""A list of sites with the real command: each a crawl of its own, killed, resumed, reported on."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.answers.crawls import EndedBy, SiteReport
from crawlclean.workers.commands.run import reports_text
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.crawling.specs import read_list
from tests.kit.crawls import crawlclean, start, stored_urls
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web, html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
PAGES = 8


def site() -> dict[str, Page]:
    links = {f"/{n}.html": f"第{n}篇" for n in range(PAGES - 1)}
    pages: dict[str, Page] = {"/": html("首页", links=links)}
    for n in range(PAGES - 1):
        body = html(f"第{n}篇", f"{n}。{LONG}")
        pages[f"/{n}.html"] = {"body": body, "latency_ms": 150}
    return pages


def reports(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_killed_and_resumed_every_site_is_whole_and_reported_on(tmp_path: Path) -> None:
    data, listed = tmp_path / "data", tmp_path / "sites.txt"
    pages, held = site(), tmp_path / "held"
    held.touch()
    pages[f"/{PAGES - 2}.html"] = {"body": html("末篇", LONG), "held_by": str(held)}
    with ExitStack() as stack:
        webs = [stack.enter_context(Web(tmp_path / str(n), pages)) for n in range(2)]
        urls = [*(web.url() for web in webs), webs[0].url("/missing")]
        listed.write_text("# sites\n\n" + "\n".join(urls) + f"  # gone\n{urls[0]}\n", "utf-8")
        arguments = ["sites", str(listed), "--data", str(data), "--json", "--allow-private"]
        arguments += ["--slots", "1", "--workers", "1", "--at-once", "2"]
        process = start(*arguments)
        wait_until(lambda: (data / "records.sqlite").exists() and len(stored_urls(data)) > 3)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        held.unlink()
        assert len(stored_urls(data)) < 2 * PAGES
        first, second, gone = reports(crawlclean(*arguments).stdout)
        assert [each["url"] for each in (first, second, gone)] == urls
        for each in (first, second):
            assert (each["state"], each["why"], each["records"]) == ("finished", "", PAGES)
            assert each["body_chars"] > (PAGES - 1) * len(LONG)
        assert (gone["records"], gone["failed"]) == (0, 1)
        assert gone["why"] == "status 404"
        store = SqliteStore(data / "records.sqlite")
        assert {row.spec.crawl_id for row in store.crawls.all()} == {
            each["crawl"] for each in (first, second, gone)
        }
        store.close()
        asked = [web.requests() for web in webs]
        again = crawlclean(*(a for a in arguments if a != "--json"))
        assert "0 sites into" in again.stderr
        assert "1 repeated line ignored" in again.stderr
        assert "3 of 3 sites finished, 16 records, 1 without records\n" in again.stdout
        assert [web.requests() for web in webs] == asked, "finished sites are left alone"


def test_limits_are_those_of_each_site(tmp_path: Path) -> None:
    listed = tmp_path / "sites.txt"
    with ExitStack() as stack:
        webs = [stack.enter_context(Web(tmp_path / str(n), site())) for n in range(2)]
        listed.write_text("\n".join(web.url() for web in webs), "utf-8")
        arguments = ("sites", str(listed), "--data", str(tmp_path / "data"), "--allow-private")
        done = crawlclean(*arguments, "--max-pages", "3", "--workers", "1", "--json")
        assert done.returncode == 3
        for each in reports(done.stdout):
            assert (each["records"], each["state"]) == (3, "stopped")
            assert (each["ended_by"], each["why"]) == ("limit", "--max-pages reached")


def test_a_report_fits_a_screen_and_says_why() -> None:
    def report(**more: Any) -> SiteReport:
        known: dict[str, Any] = {
            "url": "http://www.a.example/", "crawl": "a", "state": "finished",
            "ended_by": EndedBy.LIMIT, "why": "",
            "records": 1234567, "failed": 12345, "stored": {}, "failed_by_cause": {},
            "concerns": (), "body_chars": 1234567890, "noise_share": 0.987,
            "model_version": 3, "seconds": 7200.0,
        }  # fmt: skip
        return SiteReport(**known | more)

    ended = report(records=0, state="stopped", why="--max-time reached; " + "无" * 99, seconds=0)
    head, first, second, why, total = reports_text([report(), ended]).splitlines()
    assert first.split() == ["1,234,567", "12,345", "1,234,567,890", "99%", "3", "2h00m",
                             "http://www.a.example/"]  # fmt: skip
    assert head.index("SITE") == first.index("http") == second.index("http")
    assert why.startswith("    stopped: --max-time reached; 无")
    assert (
        total
        == "1 of 2 sites finished, 1,234,567 records, 1 without records; 1 ended with URLs left"
    )
    assert max(len(line) for line in (head, first, second, why)) <= 80


def test_every_bad_line_of_a_list_is_told(tmp_path: Path) -> None:
    (tmp_path / "sites.txt").write_text("ftp://a\nhttp://b.example/\nc\n" + "d\n" * 40, "utf-8")
    with pytest.raises(ConfigError, match=r"(?s)txt:1: .*txt:3: .*txt:21: .*and 22 more"):
        read_list(Settings(), tmp_path / "sites.txt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no URL"),
        ("# nothing\n", "has no URL"),
        ("http://a.example/\nexample.com\n", r"sites.txt:2: 'example.com' is not .* did you mean"),
        ("http://127.0.0.1/\n", r"sites.txt:1: 127.0.0.1 is a private or loopback address"),
    ],
)
def test_a_list_that_cannot_be_crawled_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "sites.txt").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=said):
        read_list(Settings(), tmp_path / "sites.txt")


def test_a_list_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "sites.txt"
    path.write_bytes(
        b"\xef\xbb\xbfhttp://B.example\r\n\r\n  http://a.example/x#part  # why\r\nhttp://b.example/\r\n"
    )
    assert read_list(Settings(), path) == (["http://b.example/", "http://a.example/x"], 1)
    path.write_bytes("http://例子.example/\n".encode("gb18030"))
    with pytest.raises(ConfigError, match="1: not UTF-8 text"):
        read_list(Settings(), path)
    with pytest.raises(ConfigError, match="No such file"):
        read_list(Settings(), path.with_name("missing.txt"))
