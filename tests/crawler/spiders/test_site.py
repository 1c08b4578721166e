"""A real spider process against real servers: what each kind of answer becomes.

More than 400 lines: one crawl that its tests share, because the start of a spider takes long.
"""

from __future__ import annotations

import gzip
import os
import signal
import socket
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from crawlclean.storage.crawl_types import CrawlSpec, Discovery, FailureReason, KeepRaw, QueuedPage
from crawlclean.workers.jobs.outcomes import end_page
from tests.kit.raw_web import KeepingWeb, RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

PAGE = html(
    "压缩", "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
).encode()
TIMEOUT_S = 3
MAX_BYTES = 1 << 20
CODINGS = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE),
    "deflate": zlib.compress(PAGE),
    "br": brotli.compress(PAGE),
    "zstd": zstandard.ZstdCompressor().compress(PAGE),
    "gzip, br": brotli.compress(gzip.compress(PAGE)),
}


def coded(coding: str, body: bytes) -> Page:
    return {
        "body_base64": b64encode(body).decode(),
        "headers": {"Content-Encoding": coding, "Content-Type": "text/html; charset=utf-8"},
    }


PAGES: dict[str, Page] = {
    "/": html("首页"),
    "/moved": {"status": 302, "headers": {"Location": "/target?a=1"}, "body": "moved"},
    "/missing": {"status": 404, "body": "none"},
    "/large": {"body": "x" * (MAX_BYTES + 1)},
    "/bomb": coded("gzip", gzip.compress(b"x" * (20 * MAX_BYTES))),
    "/cut-gzip": coded("gzip", gzip.compress(PAGE)[:-20]),
    "/cut": {"body": "x" * 1000, "fault": "cut"},
    "/reset": {"fault": "reset"},
    "/hang": {"fault": "hang"},
    "/forbidden": html("不可"),
    "/empty": {"body": ""},
    **{"/" + coding.replace(", ", "-"): coded(coding, body) for coding, body in CODINGS.items()},
}


def endless_video(connection: socket.socket) -> None:
    """A body without end; what is sent until the other side hangs up is counted."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
    while True:
        SENT.append(connection.send(b"x" * 65536))


def endless_page(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        connection.send(b"<p>" * 20000)


SENT: list[int] = []
KEPT_PAGES = 6
PAUSE_S = 0.4
ODD_STATUSES = ("/0", "/42", "/1000", "/99999", "/-200")


class Busy:
    """Too busy at the first request, later not."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, connection: socket.socket) -> None:
        self.asked += 1
        if self.asked == 1:
            busy = answer(b"", "Retry-After: 2", status="429 Too Many Requests")
            connection.sendall(busy)
        else:
            connection.sendall(answer())


@dataclass(frozen=True)
class Crawled:
    """Everything after one spider fetched it."""

    spider: SpiderProcess
    web: Web
    raw: RawWeb
    busy: RawWeb
    other: RawWeb
    tls: RawWeb
    closed: str
    keeping: tuple[KeepingWeb, KeepingWeb]

    def page(self, path: str, crawl: str = "open") -> QueuedPage:
        return self.spider.pages[crawl, self.web.url(path)]

    def of(self, crawl: str, url: str) -> QueuedPage:
        return self.spider.pages[crawl, url]


def spec(crawl_id: str, *seeds: str, private: bool = True, slots: int = 16) -> CrawlSpec:
    return CrawlSpec(
        crawl_id=crawl_id,
        seeds=seeds,
        max_depth=0,
        keep_raw=KeepRaw.NONE,
        allow_private=private,
        delay_ms=0,
        slots=slots,
    )


def kept_urls(*webs: KeepingWeb) -> list[str]:
    return [web.url(f"/{n}") for web in webs for n in range(KEPT_PAGES)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("spider")
    with ExitStack() as stack:
        other = stack.enter_context(
            RawWeb({"/rules.txt": answer(b"User-agent: *\nDisallow: /forbidden\n")}, "127.0.0.3")
        )
        hop = {"Location": "/hop"}
        pages = {
            **PAGES,
            "/robots.txt": {"status": 301, "headers": hop},
            "/hop": {"status": 302, "headers": {"Location": other.url("/rules.txt")}},
        }
        web = stack.enter_context(Web(folder / "web", pages))
        raw = stack.enter_context(
            RawWeb(
                {
                    "/": answer(),
                    "/video": endless_video,
                    "/endless": endless_page,
                    **{path: answer(status=path[1:] + " Odd") for path in ODD_STATUSES},
                }
            )
        )
        first = Busy()
        busy = stack.enter_context(RawWeb({"/a": first, "/b": first, "/c": first}))
        tls = stack.enter_context(RawWeb({}))
        keeping = (
            stack.enter_context(KeepingWeb(most=2)),
            stack.enter_context(KeepingWeb(most=99, idle_s=PAUSE_S / 4)),
        )
        nobody = socket.create_server(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        nobody.close()
        spider = stack.enter_context(
            SpiderProcess(
                folder / "data",
                max_attempts="2",
                timeout_s=str(TIMEOUT_S),
                max_page_bytes=str(MAX_BYTES),
                contact="ops@example.com",
            )
        )
        spider.frontier.open_crawl(
            spec(
                "open",
                *(web.url(path) for path in PAGES),
                raw.url("/"),
                raw.url("/video"),
                raw.url("/endless"),
                *map(raw.url, ODD_STATUSES),
                tls.url("/", "https"),
                closed,
            )
        )
        spider.frontier.open_crawl(
            spec("busy", busy.url("/a"), busy.url("/b"), busy.url("/c"), slots=1)
        )
        spider.frontier.open_crawl(
            replace(spec("kept", *kept_urls(*keeping), slots=1), delay_ms=int(1000 * PAUSE_S))
        )
        result = Crawled(spider, web, raw, busy, other, tls, closed, keeping)
        spider.collect_all()
        yield result
        assert spider.terminate() == 0, spider.log
        assert "Traceback" not in spider.log, spider.log


@pytest.mark.parametrize("coding", list(CODINGS))
def test_every_coding_we_ask_for_is_undone(crawled: Crawled, coding: str) -> None:
    page = crawled.page("/" + coding.replace(", ", "-"))
    assert page.result.body == PAGE
    assert "content-encoding" not in {name.lower() for name, _ in page.result.headers}
    assert ("Content-Type", "text/html; charset=utf-8") in page.result.headers


@pytest.mark.parametrize(
    ("path", "reason", "attempts"),
    [
        ("/missing", FailureReason.HTTP_STATUS, 1),
        ("/large", FailureReason.TOO_LARGE, 1),
        ("/bomb", FailureReason.TOO_LARGE, 1),
        ("/forbidden", FailureReason.ROBOTS, 1),
        ("/cut-gzip", FailureReason.BROKEN_ANSWER, 2),
        ("/reset", FailureReason.CONNECT, 2),
        ("/hang", FailureReason.TIMEOUT, 2),
    ],
)
def test_what_gives_no_page_has_its_reason(
    crawled: Crawled, path: str, reason: FailureReason, attempts: int
) -> None:
    page = crawled.page(path)
    assert page.result.failure is not None
    assert page.result.failure.reason is reason
    assert page.result.failure.detail
    assert "<twisted" not in page.result.failure.detail
    assert page.attempt == attempts
    assert page.result.body == b""
    waited = [step.step for step in page.log].count("failed")
    assert waited == attempts - 1


def test_other_hosts_fail_by_their_own_cause(crawled: Crawled) -> None:
    for url, reason in (
        (crawled.closed, FailureReason.CONNECT),
        (crawled.tls.url("/", "https"), FailureReason.TLS),
        (crawled.raw.url("/endless"), FailureReason.TOO_LARGE),
    ):
        assert some(crawled.of("open", url).result.failure).reason is reason


@pytest.mark.parametrize("path", ODD_STATUSES)
def test_a_status_of_no_http_is_a_broken_answer(crawled: Crawled, path: str) -> None:
    page = crawled.of("open", crawled.raw.url(path))
    assert page.result.failure is not None
    assert page.result.failure.reason is FailureReason.BROKEN_ANSWER
    assert (page.result.status, page.result.body, page.attempt) == (0, b"", 2)


def test_a_redirect_is_handed_over_and_not_followed(crawled: Crawled) -> None:
    result = crawled.page("/moved").result
    assert result.failure is None
    assert result.status == 302
    assert ("Location", "/target?a=1") in result.headers
    assert crawled.web.requests()["/moved"] == 1
    assert crawled.web.requests()["/target?a=1"] == 0


def test_what_is_no_page_is_stopped_before_its_body(crawled: Crawled) -> None:
    page = crawled.of("open", crawled.raw.url("/video"))
    assert page.result.failure is not None
    assert page.result.failure.reason is FailureReason.NOT_HTML
    assert page.result.status == 200
    assert crawled.raw.paths().count("/video") == 1
    sent = sum(SENT)
    assert sent < 32 << 20, "the sockets' buffers at most"
    assert page.result.elapsed_ms < 1000 * TIMEOUT_S


def test_robots_txt_is_followed_to_another_host(crawled: Crawled) -> None:
    asked = crawled.web.requests()
    assert (asked["/robots.txt"], asked["/hop"]) == (1, 1)
    assert crawled.other.paths() == ["/rules.txt"]
    assert asked["/forbidden"] == 0
    assert "internal meta keys" not in crawled.spider.log


def test_who_we_are_and_what_we_take(crawled: Crawled) -> None:
    for path in ("/robots.txt", "/"):
        head = crawled.raw.head_of(path)
        assert head["user-agent"].startswith("crawlclean/")
        assert head["user-agent"].endswith(" (+ops@example.com)")
        assert head["accept"].startswith("text/html,")
        assert head["accept-language"].startswith("zh-CN")
        assert set(head["accept-encoding"].split(", ")) == {"gzip", "deflate", "br", "zstd"}
        assert not {"cookie", "referer", "authorization"} & set(head)


def test_a_busy_host_is_left_alone_as_long_as_it_asks(crawled: Crawled) -> None:
    assert [path for _, path in crawled.busy.times].count("/a") == 2
    (refused, first), (again, _) = crawled.busy.times[1:3]
    assert first == "/a"
    assert again - refused >= 1.99, "no page of the host is asked for before"
    for path in "abc":
        assert crawled.of("busy", crawled.busy.url(f"/{path}")).result.status == 200


def lines_of(crawled: Crawled, url: str) -> list[list[str]]:
    path = crawled.spider.data / "logs" / "fetch.log"
    lines = (line.split(" ", 8) for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line[5] == url]


def test_a_request_that_a_kept_connection_loses_is_repeated_by_the_queue_alone(
    crawled: Crawled,
) -> None:
    losing, idle = crawled.keeping
    for url in kept_urls(losing, idle):
        page = crawled.of("kept", url)
        assert (page.result.status, page.attempt) == (200, 1), "it is nobody's fault"
    assert losing.lost, "each connection loses its third request"
    asked = losing.paths()
    urls = {path: losing.url(path) for path in asked if path != "/robots.txt"}
    # What the server saw is in the log, request by request; the log is written once a second.
    wait_until(lambda: all(asked.count(p) == len(lines_of(crawled, urls[p])) for p in urls))
    assert len(asked) == 1 + KEPT_PAGES + len(losing.lost)
    for lost in losing.lost:  # the pause of the host counts for the next request, too
        assert min(at for at, _ in losing.times if at > lost) - lost >= PAUSE_S * 0.9
    assert [idle.paths().count(f"/{n}") for n in range(KEPT_PAGES)] == [1] * KEPT_PAGES


def test_every_request_is_in_the_fetch_log(crawled: Crawled) -> None:
    wait_until(lambda: bool(lines_of(crawled, crawled.busy.url("/a"))))
    for (_, url), page in crawled.spider.pages.items():
        assert lines_of(crawled, url), f"{url} is missing"
        assert lines_of(crawled, url)[-1][1] == str(page.result.status or "-")
    [first, last] = lines_of(crawled, crawled.busy.url("/a"))
    assert (first[1], first[8]) == ("429", "retry status 429")
    assert (last[1], last[8]) == ("200", "page")
    [empty] = lines_of(crawled, crawled.web.url("/empty"))
    assert empty[2:5] == ["0", empty[3], crawled.web.host]
    assert empty[6:] == ["-", "seed", "page"]


def test_an_empty_and_a_plain_answer(crawled: Crawled) -> None:
    assert crawled.page("/empty").result.body == b""
    assert crawled.page("/empty").result.failure is None
    assert crawled.page("/").result.body == str(PAGES["/"]).encode()
    assert crawled.page("/").result.elapsed_ms >= 0


def refusal(crawled: Crawled, url: str) -> str:
    failure = some(crawled.of("guarded", url).result.failure)
    assert failure.reason is FailureReason.ADDRESS_REFUSED, url
    return failure.detail


def test_private_addresses_are_refused_to_a_crawl_that_may_not(crawled: Crawled) -> None:
    spider, port = crawled.spider, crawled.web.host.rpartition(":")[2]
    with RawWeb({"/": answer()}, "127.0.0.2") as untouched:
        own = untouched.host.rpartition(":")[2]
        seeds = [
            untouched.url("/"),  # never allowed to anybody
            f"http://localhost:{own}/",
            f"http://[::1]:{own}/",
            f"http://127.0.0.1:{port}/",  # allowed to another crawl of this process
        ]
        spider.frontier.open_crawl(spec("guarded", *seeds, private=False))
        spider.collect_all()
        for url in seeds:
            assert "--allow-private" in refusal(crawled, url)
        before = crawled.web.requests()
        # The target of a redirect is an outlink like any other, and refused like any other.
        [outlink] = end_page(crawled.page("/moved"), KeepRaw.NONE).outlinks
        assert outlink.url == crawled.web.url("/target?a=1")
        spider.frontier.set_state("guarded", spider.frontier.counts("open").state.RUNNING)
        spider.frontier.add("guarded", [Discovery(url=outlink.url, via=outlink.via)])
        spider.collect_all()
        assert "--allow-private" in refusal(crawled, outlink.url)
        assert crawled.web.requests() == before
        assert untouched.times == []


def test_one_crawl_s_permission_is_not_another_s(crawled: Crawled) -> None:
    spider = crawled.spider
    mine = {f"/{i}": answer() for i in range(9)}
    with RawWeb(mine) as allowed, RawWeb(mine) as private:
        here, there = (web.host.replace("127.0.0.1", "localhost") for web in (allowed, private))
        refused = [f"http://{there}/{i}" for i in range(9)]
        # Both ask for the same name in the same moment, at different ports.
        spider.frontier.open_crawl(spec("no", *refused, private=False))
        spider.frontier.open_crawl(spec("yes", *(f"http://{here}/{i}" for i in range(9))))
        spider.collect_all()
        for url in refused:
            failure = some(spider.pages["no", url].result.failure)
            assert failure.reason is FailureReason.ADDRESS_REFUSED
            assert spider.pages["no", url].result.body == b""
        for i in range(9):
            assert spider.pages["yes", f"http://{here}/{i}"].result.status == 200
        assert private.times == [], "not even asked"


def test_a_kept_connection_of_one_crawl_is_not_another_s(crawled: Crawled) -> None:
    spider = crawled.spider
    host = crawled.web.host.replace("127.0.0.1", "localhost")
    spider.frontier.open_crawl(spec("first", f"http://{host}/"))
    spider.collect_all()
    assert spider.pages["first", f"http://{host}/"].result.status == 200
    before = crawled.web.requests()
    spider.frontier.open_crawl(spec("second", f"http://{host}/empty", private=False))
    spider.collect_all()
    failure = some(spider.pages["second", f"http://{host}/empty"].result.failure)
    assert failure.reason is FailureReason.ADDRESS_REFUSED
    assert crawled.web.requests() == before


def test_it_outlives_its_queue_and_ends_soon_when_told(tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"/{i}": {"body": html("页"), "latency_ms": 300} for i in range(8)}
    hanging: dict[str, Page] = {f"/h{i}": {"fault": "hang"} for i in range(6)}
    with (
        Web(tmp_path / "web", pages | hanging) as web,
        SpiderProcess(tmp_path / "data", timeout_s=str(9 * LIMIT_S)) as spider,
    ):
        urls = [web.url(f"/{i}") for i in range(8)]
        spider.frontier.open_crawl(spec("c", *urls, slots=2))
        wait_until(lambda: spider.frontier.counts("c").queued >= 2)
        spider.client.bgrewriteaof()  # what is known so far is on the disk
        wait_until(lambda: spider.client.info("persistence")["aof_rewrite_in_progress"] == 0)
        assert spider.server.pid is not None
        os.kill(spider.server.pid, signal.SIGKILL)
        wait_until(lambda: not spider.server.is_running())
        wait_until(lambda: "queue away" in spider.log)
        spider.server.start()
        spider.collect_all()
        assert {url for _, url in spider.pages} == set(urls)
        assert spider.log.count("queue away") == 1

        spider.frontier.open_crawl(spec("hang", *(web.url(path) for path in hanging), slots=4))
        wait_until(lambda: spider.frontier.counts("hang").leased == 4)
        assert spider.terminate() == 0, "it does not wait for its requests"
        spider.frontier.sweep()
        counts = spider.frontier.counts("hang")
        assert (counts.leased, counts.pending) == (0, 6)
        assert "Traceback" not in spider.log
