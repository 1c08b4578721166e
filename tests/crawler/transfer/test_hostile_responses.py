"""A real spider process against servers that mean it ill: a reason each, and bounded memory."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from crawlclean.storage.crawl_types import FailureReason, FetchResult
from tests.kit.queues import spec
from tests.kit.raw_web import Answer, RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess

MAX_BYTES = 4 << 20
TIMEOUT_S = 1.0  # of answers that come late; the others have all the time of a busy machine
MOST_GROWTH_BYTES = 100 << 20  # four answers of the largest size at a time, and their copies
PAGE = "<p>这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。</p>".encode()
BARE = zlib.compressobj(wbits=-15)
DEFLATED = BARE.compress(PAGE) + BARE.flush()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
DATABASE = "http://127.0.0.1:6379/"
BOMB_BYTES = 256 << 20


def coded(coding: str, body: bytes) -> bytes:
    return answer(body, f"Content-Encoding: {coding}")


def gzip_of_zeros(size: int) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    chunk = bytes(1 << 22)
    pieces = [packer.compress(chunk) for _ in range(size >> 22)]
    return b"".join((*pieces, packer.flush()))


@cache
def bomb() -> bytes:
    return gzip_of_zeros(BOMB_BYTES)


def zstd_with_window(bits: int) -> bytes:
    """A frame that asks for a window of ``2 ** bits`` bytes."""
    options = zstandard.ZstdCompressionParameters(window_log=bits, compression_level=1)
    packer = zstandard.ZstdCompressor(compression_params=options).compressobj()
    return packer.compress(PAGE) + packer.flush()


def endless(piece: bytes, head: bytes = HEAD + b"\r\n") -> Callable[[socket.socket], None]:
    def send(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)

    return send


def dripping(connection: socket.socket) -> None:
    """A byte now and then: no wait is long, the whole has no end."""
    connection.sendall(HEAD + b"\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.2)


def dripping_head(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while True:
        connection.sendall(b"A: b\r\n")
        time.sleep(0.2)


TINY = gzip.compress(b"")
READ: dict[str, tuple[Answer, bytes]] = {
    "/gzip-and-more": (coded("gzip", gzip.compress(PAGE) + b"\n<!-- served by -->"), PAGE),
    "/gzip-in-two": (coded("gzip", gzip.compress(PAGE) + gzip.compress(PAGE)), PAGE + PAGE),
    "/gzip-without-its-check": (coded("gzip", gzip.compress(PAGE)[:-8]), PAGE),
    "/gzip-twice-said-once": (coded("gzip", gzip.compress(gzip.compress(PAGE))), PAGE),
    "/gzip-once-said-twice": (coded("gzip, gzip", gzip.compress(PAGE)), PAGE),
    "/gzip-twice": (coded("gzip, gzip", gzip.compress(gzip.compress(PAGE))), PAGE),
    "/no-gzip-at-all": (coded("gzip", PAGE), PAGE),
    "/no-br-at-all": (coded("br", PAGE), PAGE),
    "/no-zstd-at-all": (coded("zstd", PAGE), PAGE),
    "/no-deflate-at-all": (coded("deflate", PAGE), PAGE),
    "/GZIP": (coded("GZip", gzip.compress(PAGE)), PAGE),
    "/bare-deflate": (coded("deflate", DEFLATED), PAGE),
    "/zstd-and-more": (coded("zstd", zstandard.compress(PAGE) + b"\0\0"), PAGE),
    "/zstd-in-two": (coded("zstd", zstandard.compress(PAGE) * 2), PAGE + PAGE),
    "/empty-gzip": (coded("gzip", b""), b""),
    "/identity": (coded("identity", b"\x01\x02" + PAGE), b"\x01\x02" + PAGE),
    "/none": (coded("none", PAGE), PAGE),
    "/utf-8": (coded("utf-8", PAGE), PAGE),
    "/aws-chunked": (coded("aws-chunked", PAGE), PAGE),
    "/aws-chunked-gzip": (coded("gzip,aws-chunked", gzip.compress(PAGE)), PAGE),
    "/cookies": (answer(PAGE, *(f"Set-Cookie: c{i}=1" for i in range(10_000))), PAGE),
    "/large": (answer(b"x" * MAX_BYTES), b"x" * MAX_BYTES),
}  # fmt: skip
BROKEN: dict[str, Answer] = {
    **{
        f"/cut-{name}": coded(name, body[: len(body) * 2 // 3])
        for name, body in {
            "gzip": gzip.compress(PAGE),
            "deflate": zlib.compress(PAGE),
            "br": brotli.compress(PAGE),
            "zstd": zstandard.compress(PAGE),
        }.items()
    },
    "/cut-bare-deflate": coded("deflate", DEFLATED[:-9]),
    "/cut-inner": coded("gzip, gzip", gzip.compress(gzip.compress(PAGE)[:-20])),
    "/damaged": coded("gzip", gzip.compress(PAGE)[:-8] + bytes(8)),
    "/compress": coded("compress", b"\x1f\x9d\x90" + bytes(range(256))),
    "/unknown": coded("rot13", bytes(range(256))),
    "/many-codings": coded("gzip, gzip, gzip, gzip", PAGE),
    "/many-streams": coded("gzip", TINY * 20_000),
    "/wide-window": coded("zstd", zstd_with_window(27)),
    "/long-location": answer(
        b"", f"Location: /{'x' * (1 << 20)}", status="302 Found"
    ),
    "/long-header": answer(PAGE, f"X-Long: {'x' * (1 << 20)}"),
    "/endless-headers": endless(b"X-More: and more and more\r\n" * 500, HEAD),
    "/endless-folding": endless(b" and more and more\r\n" * 500, HEAD + b"X-More: \r\n"),
    "/endless-line": endless(b"x" * 65536, HEAD),
    "/endless-interim": endless(b"HTTP/1.1 100 Continue\r\n\r\n" * 500, b""),
    "/two-lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
    "/no-http": b"\x00\x01\x02 no HTTP at all\r\n\r\n",
    "/chunk-of-terabytes": HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n",
    "/chunk-of-nonsense": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n",
    "/other-transfer": HEAD + b"Transfer-Encoding: gzip\r\n\r\nx",
}  # fmt: skip
TOO_LARGE: dict[str, Callable[[], Answer]] = {
    "/bomb-gzip": lambda: coded("gzip", bomb()),
    "/bomb-deflate": lambda: coded("deflate", b"\x78\x9c" + bomb()[10:-8] + bytes(4)),
    "/bomb-bare-deflate": lambda: coded("deflate", bomb()[10:-8]),
    "/bomb-br": lambda: coded("br", brotli.compress(bytes(BOMB_BYTES), quality=1)),
    "/bomb-zstd": lambda: coded("zstd", zstandard.compress(bytes(BOMB_BYTES))),
    "/bomb-gzip-in-gzip": lambda: coded("gzip, gzip", gzip.compress(bomb())),
    "/bomb-hidden-in-gzip": lambda: coded("gzip", gzip.compress(bomb())),
    "/bomb-in-br": lambda: coded("gzip, br", brotli.compress(bomb())),
    "/over": lambda: answer(b"x" * (MAX_BYTES + 1)),
    "/endless": lambda: endless(b"<p>" * 20_000),
    "/endless-chunks": lambda: endless(
        b"10000\r\n" + b"x" * 65536 + b"\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    ),
    "/promised": lambda: HEAD + b"Content-Length: 1099511627776\r\n\r\nx",
}
LATE: dict[str, Answer] = {"/dripping": dripping, "/dripping-head": dripping_head}
RULES = b"User-agent: *\nDisallow: /forbidden\n"
ROBOTS: dict[str, Callable[[], Answer]] = {
    "long": lambda: answer(RULES + b"# more\n" * (50 << 20 >> 3)),
    "endless": lambda: endless(b"# more\n" * 10_000, HEAD + b"\r\n" + RULES),
    "bomb": lambda: coded("gzip", gzip.compress(RULES + b"\n" * (64 << 20))),
    "names": lambda: answer(
        "".join(f"User-agent: a{i}\n" for i in range(17_000)).encode()
        + b"Disallow: /\n" * 15_000
        + b"User-agent: *\nDisallow: /forbidden\n"
    ),
    "plain": lambda: coded("gzip", RULES),
}


@dataclass(frozen=True)
class Crawled:
    """Everything after one spider met it."""

    spider: SpiderProcess
    web: RawWeb
    hosts: dict[str, RawWeb]
    grown_bytes: int

    def result(self, path: str) -> FetchResult:
        return self.spider.pages["c", self.web.url(path)].result


def peak_rss_bytes(pid: int) -> int:
    line = next(
        line
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
        if line.startswith("VmHWM")
    )
    return int(line.split()[1]) << 10


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    answers = {path: given for path, (given, _) in READ.items()} | BROKEN
    answers |= {path: make() for path, make in TOO_LARGE.items()}
    with ExitStack() as stack:
        web = stack.enter_context(RawWeb(answers))
        hosts = {
            name: stack.enter_context(
                RawWeb({"/robots.txt": make(), "/": answer(), "/forbidden": answer()})
            )
            for name, make in ROBOTS.items()
        }
        spider = stack.enter_context(
            SpiderProcess(
                tmp_path_factory.mktemp("hostile") / "data",
                max_attempts="1",
                timeout_s="120",
                max_page_bytes=str(MAX_BYTES),
            )
        )
        warm = stack.enter_context(RawWeb({"/": coded("gzip", gzip.compress(PAGE))}))
        spider.frontier.open_crawl(spec("warm", warm.url("/"), allow_private=True, max_depth=0))
        spider.collect_all()
        before = peak_rss_bytes(spider.process.pid)
        seeds = [*map(web.url, answers), DATABASE]
        seeds += [host.url(path) for host in hosts.values() for path in ("/", "/forbidden")]
        spider.frontier.open_crawl(spec("c", *seeds, allow_private=True, max_depth=0, slots=4))
        spider.collect_all()
        grown = peak_rss_bytes(spider.process.pid) - before
        yield Crawled(spider, web, hosts, grown)
        assert spider.terminate() == 0, spider.log
        assert "Traceback" not in spider.log, spider.log


@pytest.mark.parametrize("path", list(READ))
def test_what_can_be_read_whole_is_read(crawled: Crawled, path: str) -> None:
    result = crawled.result(path)
    assert result.failure is None
    assert result.body == READ[path][1]
    assert "content-encoding" not in {name.lower() for name, _ in result.headers}


def reason(crawled: Crawled, path: str) -> FailureReason:
    failure = crawled.result(path).failure
    assert failure is not None, crawled.result(path)
    assert failure.detail
    assert len(failure.detail) < 400
    assert crawled.result(path).body == b""
    return failure.reason


@pytest.mark.parametrize("path", list(BROKEN))
def test_what_is_broken_is_a_broken_answer_and_never_a_shorter_page(
    crawled: Crawled, path: str
) -> None:
    assert reason(crawled, path) is FailureReason.BROKEN_ANSWER


@pytest.mark.parametrize("path", list(TOO_LARGE))
def test_bombs_end_at_the_limit(crawled: Crawled, path: str) -> None:
    assert reason(crawled, path) is FailureReason.TOO_LARGE


def test_the_time_limit_is_that_of_the_whole_answer(tmp_path: Path) -> None:
    timeout_s = str(TIMEOUT_S)
    with (
        RawWeb(LATE) as web,
        SpiderProcess(tmp_path / "data", max_attempts="1", timeout_s=timeout_s) as spider,
    ):
        spider.frontier.open_crawl(
            spec("late", *map(web.url, LATE), allow_private=True, max_depth=0, slots=2)
        )
        spider.collect_all()
        for path in LATE:
            failure = some(spider.pages["late", web.url(path)].result.failure)
            assert failure.reason is FailureReason.TIMEOUT


@pytest.mark.parametrize("name", list(ROBOTS))
def test_a_robots_txt_of_any_size_is_obeyed(crawled: Crawled, name: str) -> None:
    host = crawled.hosts[name]
    pages = crawled.spider.pages
    assert pages["c", host.url("/")].result.status == 200
    failure = some(pages["c", host.url("/forbidden")].result.failure)
    assert failure.reason is FailureReason.ROBOTS
    assert "/forbidden" not in host.paths()


def test_a_port_of_another_service_is_not_asked(crawled: Crawled) -> None:
    failure = some(crawled.spider.pages["c", DATABASE].result.failure)
    assert failure.reason is FailureReason.ADDRESS_REFUSED
    assert "port 6379" in failure.detail


def test_the_spider_s_memory_is_bounded(crawled: Crawled) -> None:
    assert crawled.grown_bytes < MOST_GROWTH_BYTES, crawled.grown_bytes >> 20
