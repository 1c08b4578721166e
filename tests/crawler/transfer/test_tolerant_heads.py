"""A real spider process against servers that bend HTTP: what browsers read is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawlclean.cleaning.document.document import CUT_SHORT_HEADER
from crawlclean.storage.crawl_types import FailureReason, FetchResult
from tests.kit.queues import spec
from tests.kit.raw_web import RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess

PAGE = "<h1>桥</h1><p>石桥修好以后，两岸的人每天都从桥上走过，再也不用等渡船了。</p>".encode()
SIZE = b"%x" % len(PAGE)
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"\r\n0\r\n\r\n"


def headed(*lines: bytes, status: bytes = b"HTTP/1.1 200 OK") -> bytes:
    head = (status, b"Content-Type: text/html", *lines)
    return b"\r\n".join(head) + b"\r\n\r\n" + PAGE


READ = {
    # header lines
    "/blank-before-colon": headed(b"Server : x"),
    "/tab-before-colon": headed(b"Server\t: x"),
    "/blank-in-length": headed(b"Content-Length : %d" % len(PAGE)),
    "/no-name": headed(b": x"),
    "/name-of-two-words": headed(b"A B: c"),
    "/name-of-other-bytes": headed("名: c".encode()),
    "/no-colon": headed(b"nonsense"),
    "/first-line-folded": b"HTTP/1.1 200 OK\r\n x\r\nContent-Type: text/html\r\n\r\n" + PAGE,
    "/length-no-number": headed(b"Content-Length: many"),
    "/length-negative": headed(b"Content-Length: -1"),
    "/length-empty": headed(b"Content-Length:"),
    "/length-twice": headed(b"Content-Length: %d, %d" % (len(PAGE), len(PAGE))),
    "/identity": headed(b"Transfer-Encoding: identity"),
    "/line-feeds": headed().replace(b"\r\n", b"\n"),
    # status lines
    "/two-blanks": headed(status=b"HTTP/1.1  200 OK"),
    "/no-blank": headed(status=b"HTTP/1.1 200OK"),
    "/no-phrase": headed(status=b"HTTP/1.1 200"),
    "/no-version": headed(status=b"HTTP 200 OK"),
    "/half-a-version": headed(status=b"HTTP/1 200 OK"),
    "/small-letters": headed(status=b"http/1.1 200 ok"),
    "/blank-line-first": b"\r\n" + headed(),
    # chunks
    "/blank-behind-size": CHUNKED + SIZE + b"   \r\n" + PAGE + END,
    "/blank-before-size": CHUNKED + b" " + SIZE + b"\r\n" + PAGE + END,
    "/size-with-extension": CHUNKED + SIZE + b" ; a=\"\x01\"\r\n" + PAGE + END,
    "/zeros-before-size": CHUNKED + b"0000" + SIZE + b"\r\n" + PAGE + END,
    "/chunks-with-line-feeds": CHUNKED + SIZE + b"\n" + PAGE + b"\n0 \n\n",
    "/chunks-with-trailer": CHUNKED + SIZE + b"\r\n" + PAGE + b"\r\n0\r\nA: b\r\n\r\n",
    # types that are none
    "/type-no-semicolon": headed().replace(b"text/html", b"text/html charset=utf-8"),
    "/type-comma": headed().replace(b"text/html", b"text/html, text/html"),
    "/type-a-word": headed().replace(b"text/html", b"text"),
    "/type-empty": headed().replace(b"text/html", b""),
    "/type-download": headed().replace(b"text/html", b"application/octet-stream"),
    "/type-unknown": headed().replace(b"text/html", b"application/x-unknown"),
    "/type-unregistered": headed().replace(b"text/html", b"chemical/x-page; charset=utf-8"),
    "/type-stars": headed().replace(b"text/html", b"*/*"),
    "/type-wap": headed().replace(b"text/html", b"application/vnd.wap.xhtml+xml"),
    # 3xx that leads nowhere
    "/302-with-a-page": headed(status=b"HTTP/1.1 302 Found"),
    "/300-with-a-page": headed(status=b"HTTP/1.1 300 Multiple Choices"),
    "/302-to-nothing": headed(b"Location:", status=b"HTTP/1.1 302 Found"),
}  # fmt: skip
CUT = {
    "/length-too-large": headed(b"Content-Length: %d" % (len(PAGE) + 50)),
    "/no-last-chunk": CHUNKED + SIZE + b"\r\n" + PAGE + b"\r\n",
    "/half-a-chunk": CHUNKED + b"%x\r\n" % (2 * len(PAGE)) + PAGE,
    "/nonsense-behind-a-chunk": CHUNKED + SIZE + b"\r\n" + PAGE + b"\r\nzz\r\n",
}
REFUSED = {
    "/no-http": (b"<h1>no head</h1>\r\n\r\n", FailureReason.BROKEN_ANSWER, "'<h1>no head</h1>'"),
    "/no-code": (headed(status=b"HTTP/1.1 "), FailureReason.BROKEN_ANSWER, "'HTTP/1.1 '"),
    "/other-transfer": (headed(b"Transfer-Encoding: gzip"), FailureReason.BROKEN_ANSWER, "'gzip'"),
    "/cut-to-nothing": (answer(PAGE)[: -len(PAGE)], FailureReason.BROKEN_ANSWER, "cut short"),
    "/nonsense-for-a-size": (CHUNKED + b"zz\r\nx\r\n", FailureReason.BROKEN_ANSWER, "cut short"),
    "/204": (answer(b"", status="204 No Content"), FailureReason.HTTP_STATUS, "status 204"),
    "/205": (answer(b"", status="205 Reset Content"), FailureReason.HTTP_STATUS, "status 205"),
    "/type-css": (headed().replace(b"text/html", b"text/css"), FailureReason.NOT_HTML, "text/css"),
    "/type-api": (
        headed().replace(b"text/html", b"application/problem+json; a=b"),
        FailureReason.NOT_HTML,
        "application/problem+json",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SpiderProcess, RawWeb]]:
    answers = READ | CUT | {path: given for path, (given, _, _) in REFUSED.items()}
    data = tmp_path_factory.mktemp("tolerant") / "data"
    with RawWeb(answers) as web, SpiderProcess(data, max_attempts="2") as spider:
        seeds = map(web.url, answers)
        spider.frontier.open_crawl(spec("c", *seeds, allow_private=True, max_depth=0, slots=4))
        spider.collect_all()
        yield spider, web
        assert spider.terminate() == 0, spider.log
        assert "Traceback" not in spider.log, spider.log


def result(crawled: tuple[SpiderProcess, RawWeb], path: str) -> FetchResult:
    spider, web = crawled
    return spider.pages["c", web.url(path)].result


@pytest.mark.parametrize("path", list(READ))
def test_what_browsers_read_is_read(crawled: tuple[SpiderProcess, RawWeb], path: str) -> None:
    found = result(crawled, path)
    assert found.failure is None
    assert found.body == PAGE
    assert CUT_SHORT_HEADER not in dict(found.headers)
    assert crawled[1].paths().count(path) == 1


@pytest.mark.parametrize("path", list(CUT))
def test_what_is_cut_every_time_is_kept_at_the_last_attempt(
    crawled: tuple[SpiderProcess, RawWeb], path: str
) -> None:
    found = result(crawled, path)
    assert found.failure is None
    assert found.body == PAGE
    assert (CUT_SHORT_HEADER, "1") in found.headers
    assert crawled[1].paths().count(path) == 2


@pytest.mark.parametrize("path", list(REFUSED))
def test_what_cannot_be_read_says_what_was_wrong(
    crawled: tuple[SpiderProcess, RawWeb], path: str
) -> None:
    _, reason, words = REFUSED[path]
    failure = some(result(crawled, path).failure)
    assert failure.reason is reason
    assert words in failure.detail
