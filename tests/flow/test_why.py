"""`why` on finished crawls: the reason of a missing page is that of the crawl, not a guess."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl
from tests.kit.web import Page, Web, html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
COUNT = 12


def site() -> dict[str, Page]:
    links = {f"/news/{i}.html": f"第{i}条" for i in range(COUNT)}
    links |= {
        "/secret/x.html": "秘密",
        "/file.pdf": "文件",
        "/go": "去",
        "/page.jsp;jsessionid=0A1B": "会话",
        "http://other.invalid/": "外站",
    }
    return {
        "/": html("首页", LONG, links=links),
        **{
            f"/news/{i}.html": html(f"第{i}条", f"第{i}条。{LONG}", links={"/secret/x.html": "禁"})
            for i in range(COUNT - 1)
        },
        f"/news/{COUNT - 1}.html": html(
            "最后一条", f"最后一条。{LONG}", links={"/secret/x.html": "禁", "/deep.html": "更深"}
        ),
        "/go": {"status": 302, "headers": {"Location": "/secret/moved.html"}},
        "/page.jsp": html("会话页", LONG),
        "/robots.txt": {
            "body": "User-agent: *\nDisallow: /secret/\n",
            "headers": {"Content-Type": "text/plain"},
        },
    }


@dataclass(frozen=True)
class Finished(DataFolder):
    """A data folder with the finished crawl ``c`` of a site."""

    web: Web

    def why(self, path: str) -> dict[str, Any]:
        """The one JSON line about a URL."""
        target = path if "://" in path else self.web.url(path)
        status, out, err = self.call("why", target, "--json")
        assert not err
        line: dict[str, Any] = json.loads(out)
        assert status == (1 if line["state"] == "unknown" else 0)
        return line

    def said(self, path: str) -> str:
        """What the command prints about a URL."""
        return self.call("why", self.web.url(path))[1]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    folder = tmp_path_factory.mktemp("why")
    with Web(folder / "web", site()) as web:
        run_crawl(folder / "data", web.url(), "--crawl", "c", "--depth", "1")
        yield Finished(folder / "data", web)


def without_queue(made: Finished, folder: Path) -> Finished:
    """A copy of a data folder that has lost its queue."""
    shutil.copytree(made.data, folder / "data")
    shutil.rmtree(folder / "data" / "queue")
    return Finished(folder / "data", made.web)


def test_a_page_that_robots_txt_forbids(made: Finished, tmp_path: Path) -> None:
    for folder in (made, without_queue(made, tmp_path)):
        line = folder.why("/secret/x.html")
        assert (line["crawl"], line["cause"]) == ("c", "robots")
        assert line["reason"] == "robots.txt forbids it"
        assert line["unknown"] == "", "the queue could not change it"
        found = line["linked_from"]
        assert found["pages"] == COUNT + 1
        assert found["nearest"][0] == {
            "url": made.web.url(), "via": "link", "text": "秘密", "depth": 0,
        }  # fmt: skip
        assert (found["records_searched"], found["is_whole"]) == (COUNT + 2, True)
        first, second, *_, last = folder.said("/secret/x.html").splitlines()
        assert first == f"{made.web.url('/secret/x.html')} in c: excluded: robots.txt forbids it"
        assert second == f'  linked from {made.web.url()} by "秘密"'
        assert last == f"  and from {COUNT - 2} other pages"


def test_other_pages_that_were_not_taken(made: Finished) -> None:
    redirected = made.why("/secret/moved.html")
    assert redirected["cause"] == "robots"
    assert redirected["linked_from"]["nearest"][0]["via"] == "redirect"
    assert made.why("/file.pdf")["cause"] == "file"
    assert made.why("/file.pdf")["linked_from"]["pages"] == 1
    assert made.why("/page.jsp;jsessionid=0A1B")["cause"] == "other_form"
    assert made.why("/page.jsp;jsessionid=0A1B")["did_you_mean"] == [made.web.url("/page.jsp")]
    other = made.why("http://other.invalid/")
    assert (other["cause"], other["linked_from"]["pages"]) == ("out_of_scope", 1)
    assert made.why("/never.html")["cause"] == "not_linked"
    status, out, _ = made.call("why", made.web.url("/never.html"), "--all-records")
    assert (status, "no cleaned page links to it" in out) == (1, True)
    assert made.why("/news/1.html")["state"] == "record"


def test_without_its_queue_only_what_the_queue_could_know_is_unknown(
    made: Finished, tmp_path: Path
) -> None:
    lost = without_queue(made, tmp_path)
    line = lost.why("/never.html")
    assert (line["cause"], line["unknown"]) == (
        "not_linked",
        "whether it waits in the queue: the queue is lost",
    )
    assert lost.why("/news/1.html")["state"] == "record"
    assert not (lost.data / "queue").exists(), "an empty queue would hide the loss"


def test_deeper_than_the_depth(made: Finished) -> None:
    line = made.why("/deep.html")
    assert (line["cause"], line["reason"]) == ("too_deep", "deeper than --depth 1")
    assert line["linked_from"]["nearest"][0]["url"] == made.web.url(f"/news/{COUNT - 1}.html")


def test_a_crawl_at_rest_and_a_seed_that_moved_to_another_host(tmp_path: Path) -> None:
    with ExitStack() as stack:
        www = stack.enter_context(Web(tmp_path / "www", site(), "127.0.1.2"))
        moved = {"/": {"status": 301, "headers": {"Location": www.url()}}}
        bare = stack.enter_context(Web(tmp_path / "bare", moved, "127.0.1.1"))
        folder = Finished(tmp_path / "data", www)
        run_crawl(folder.data, bare.url(), "--crawl", "c", "--max-pages", "1")
        line = folder.why("/news/1.html")
        assert line["state"] == "pending"
        assert line["waits_for"].startswith("--max-pages 1 is reached; nothing runs the crawl")
        folder.output("crawl", "pause", www.host)
        line = folder.why("/news/1.html")
        assert f"the host is paused (`crawl resume {www.host}` ends the pause)" in line["waits_for"]
        folder.output("crawl", "resume", www.host)
        run_crawl(folder.data, bare.url(), "--crawl", "c", "--max-pages", "100")
        assert folder.why("/news/1.html")["state"] == "record"
        for each in (folder, without_queue(folder, tmp_path / "copy")):
            assert each.why("/secret/x.html")["cause"] == "robots"
            assert each.why("/file.pdf")["cause"] == "file"


def test_a_class_that_an_operator_forbids(made: Finished, tmp_path: Path) -> None:
    shutil.copytree(made.data, tmp_path / "data")
    folder = Finished(tmp_path / "data", made.web)
    template = "/news/{n}.html"
    host = made.web.host
    for wrong in ("/new/{n}.html", "/news/*.html"):
        refused = folder.error("classes", host, "--forbid", wrong)
        assert refused.startswith(f"crawlclean: no URL of {host} is of class {wrong}; did you mean")
        assert template in refused
    for command in ("classes", "pause"):
        assert folder.error(command, made.web.address).endswith(f"; did you mean {host}?")
    folder.output("classes", made.web.host, "--forbid", template)
    for each in (folder, without_queue(folder, tmp_path / "copy")):
        line = each.why("/news/999.html")
        assert line["cause"] == "url_class"
        assert line["reason"].endswith(f"{template}: forbidden by an operator")
