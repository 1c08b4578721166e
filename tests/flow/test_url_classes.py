"""A forum crawled by the real command: its classes are learned, and what it fetches is ordered."""

from __future__ import annotations

from pathlib import Path

from benchmarks.forum.generated_forum import ForumSpec
from benchmarks.kit.generated import GeneratedWeb
from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl, stored_urls

SPEC = ForumSpec(threads=60, boards=3, users=20)
NEEDED = sum(map(SPEC.thread_pages, range(60))) + sum(map(SPEC.board_pages, range(3)))


def test_threads_come_before_the_rest_and_forms_never(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with GeneratedWeb(tmp_path / "web", SPEC) as web:
        host = web.home(0).split("/")[2]
        limits = ("--max-pages", str(int(1.3 * NEEDED)), "--delay", "0.02")
        run_crawl(data, web.home(0), *limits)
        asked = [visit.path for visit in web.visits()]
    stored = {url.partition(host)[2] for url in stored_urls(data)}
    missing = {f"/thread-{n}-1.html" for n in range(60)} - stored
    assert len(missing) <= 1
    assert not [path for path in asked if "repquote" in path]

    folder = DataFolder(data)

    def classes() -> dict[str, dict[str, str]]:
        return {row["template"]: row for row in folder.rows("classes", host, "--json")}

    known = classes()
    assert known["/thread-{n}-{n}.html"]["kind"] == "thread"
    assert known["/board-{n}-{n}.html"]["kind"] == "index"
    assert known["/space-uid-{n}.html"]["kind"] == "user"
    reply = "/post.php?action=reply&repquote={n}&tid={n}"
    assert known[reply]["refused"].startswith("leads to form pages")
    before, rows = known["/space-uid-{n}.html"], len(known)
    folder.output("classes", host, "--forbid", "/space-uid-{n}.html", "--pin", f"{reply}=other")
    known = classes()
    assert len(known) == rows, "a class that an operator decides on stands once"
    for name in ("pattern_pages", "pages_seen", "urls", "example"):
        assert known["/space-uid-{n}.html"][name] == before[name]
    assert known["/space-uid-{n}.html"]["refused"] == "forbidden by an operator"
    assert known[reply]["refused"] == ""
    folder.output("classes", host, "--reset", "/space-uid-{n}.html")
    assert classes()["/space-uid-{n}.html"]["kind"] == "user"
    status, _, _ = folder.call("classes", host, "--pin", "/x=nothing")
    assert status == 2
    assert "/thread-{n}-{n}.html" in folder.output("hosts", host)
    listed = folder.output("classes", host).splitlines()
    assert listed[0].startswith("URL classes in ")
    assert listed[1].split() == ["KIND", "FETCHED", "WITH", "NEWS", "LEARNED", "FROM", "CLASS"]
    assert any(line.startswith("    not fetched: leads to ") for line in listed)
    assert all(len(line) <= 80 for line in listed if "{n}&" not in line)
