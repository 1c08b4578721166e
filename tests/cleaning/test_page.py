from __future__ import annotations

import re
import time
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from crawlclean import (
    CleanRecord,
    ConfigError,
    Image,
    ImageKind,
    ImageReason,
    InvalidUrl,
    Link,
    LinkKind,
    LinkReason,
    RawPage,
    Via,
    WarningKind,
    clean,
    learn_site,
)

URL = "http://www.example.com/a/b.html"
LONG = "这一段文字超过了十五个汉字所以它算是正文"


def record(html: str, url: str = URL) -> CleanRecord:
    return clean(RawPage.from_bytes(url, html.encode("utf-8", "replace")))


def only_link(html: str) -> Link:
    (link,) = record(html).links
    return link


def only_image(html: str) -> Image:
    (image,) = record(html).images
    return image


def test_an_empty_page_gives_an_empty_record() -> None:
    empty = record("")
    expected = CleanRecord(
        page_id=empty.page_id,
        url=URL,
        canonical_url=URL,
        host="www.example.com",
        fetched_at=datetime.fromtimestamp(0, UTC),
        confidence=0.0,
    )
    for field in fields(CleanRecord):
        assert getattr(empty, field.name) == getattr(expected, field.name), field.name


def test_a_bad_url_is_an_error() -> None:
    with pytest.raises(InvalidUrl):
        RawPage.from_bytes("about:blank", b"")


@pytest.mark.parametrize(
    ("html", "kind", "reason"),
    [
        ("<a href='javascript:x()'>一</a>", LinkKind.FUNCTION, LinkReason.NOT_A_PAGE),
        ("<a href='mailto:a@example.com'>一</a>", LinkKind.LEGAL, LinkReason.NOT_A_PAGE),
        ("<a href='#top'>一</a>", LinkKind.FUNCTION, LinkReason.NOT_A_PAGE),
        ("<a href=''>一</a>", LinkKind.FUNCTION, LinkReason.NOT_A_PAGE),
        ("<a href='http://[x'>一</a>", LinkKind.OTHER, LinkReason.NO_EVIDENCE),
        ("<a rel='tag nofollow' href=x>一</a>", LinkKind.TAG, LinkReason.REL),
        ("<a href=x>【登录】</a>", LinkKind.FUNCTION, LinkReason.WORDS),
        ("<a href=x>Sign In</a>", LinkKind.FUNCTION, LinkReason.WORDS),
        ("<a href=x>更多&gt;&gt;</a>", LinkKind.NAVIGATION, LinkReason.WORDS),
        ("<a href=x>京ICP备00000000号</a>", LinkKind.LEGAL, LinkReason.WORDS),
        ("<a href=x>Privacy Policy</a>", LinkKind.LEGAL, LinkReason.WORDS),
        ("<h3>相关阅读</h3><a href=x>一件事情</a>", LinkKind.RELATED, LinkReason.MARKER),
        ("<nav><a href=x>一件事情</a></nav>", LinkKind.NAVIGATION, LinkReason.SEMANTIC_TAG),
        (f"<p>{LONG}<a href=x>一</a>{LONG}", LinkKind.BODY, LinkReason.IN_BODY),
        ("<p><a href=x><img src=i></a>", LinkKind.FUNCTION, LinkReason.NO_EVIDENCE),
    ],
)
def test_kinds_of_links(html: str, kind: LinkKind, reason: LinkReason) -> None:
    link = only_link(html)
    assert (link.kind, link.reason) == (kind, reason)
    assert 0 <= link.score <= 1


def test_links_of_a_list_are_navigation() -> None:
    links = record("<a href=1>甲</a> | <a href=2>乙</a> | <a href=3>丙</a>").links
    assert {(link.kind, link.reason) for link in links} == {
        (LinkKind.NAVIGATION, LinkReason.LINK_LIST)
    }


def test_the_fields_of_a_link() -> None:
    link = only_link("<a href=' x.html#y ' title=' a\n b ' REL='NoFollow  me'> 一 <p>二</p></a>")
    assert link.href == " x.html#y "
    assert link.url == "http://www.example.com/a/x.html"
    assert (link.text, link.title, link.rel) == ("一 二", "a b", "nofollow me")


@pytest.mark.parametrize(
    ("html", "kind", "reason"),
    [
        ("<img>", ImageKind.OTHER, ImageReason.NO_SOURCE),
        ("<img src='data:image/gif;base64,R0'>", ImageKind.OTHER, ImageReason.NO_SOURCE),
        ("<img src=x width=1 height=1>", ImageKind.CHROME, ImageReason.TINY),
        ("<a href='//ads.example.net/'><img src=x width=468 height=60></a>", ImageKind.AD,
         ImageReason.BANNER),
        ("<header><img src=x></header>", ImageKind.CHROME, ImageReason.SEMANTIC_TAG),
        ("<a href=y.html><img src=x></a>", ImageKind.THUMB, ImageReason.LINKED_PAGE),
        (f"<p>{LONG}</p><img src=x><p>{LONG}</p>", ImageKind.CONTENT, ImageReason.IN_BODY),
        ("<img src=x>", ImageKind.OTHER, ImageReason.NO_EVIDENCE),
    ],
)  # fmt: skip
def test_kinds_of_images(html: str, kind: ImageKind, reason: ImageReason) -> None:
    image = only_image(html)
    assert (image.kind, image.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("attributes", "src"),
    [
        ("src=a.jpg", "a.jpg"),
        ("src=blank.gif data-src=b.jpg", "b.jpg"),
        ("src=blank.gif data-original=/c", "/c"),
        ("src='data:image/gif;base64,R0' srcset='s.jpg 320w, l.jpg 640w'", "l.jpg"),
        ("srcset='//e.com/a,b.jpg 1x, //e.com/c.jpg 2x'", "//e.com/c.jpg"),
        ("src=a.jpg data-src='{{ url }}'", "a.jpg"),
        ("src=a.jpg data-src='data:image/gif;base64,R0/'", "a.jpg"),
        ("", ""),
    ],
)
def test_the_source_of_an_image(attributes: str, src: str) -> None:
    assert only_image(f"<img {attributes}>").src == src


def test_the_sizes_of_an_image() -> None:
    image = only_image("<a href=y.jpg><img src=x alt=' a  b ' width='300px' height='50%'></a>")
    assert (image.alt, image.width, image.height) == ("a b", 300, None)
    assert image.link == "http://www.example.com/a/y.jpg"


def test_the_canonical_address() -> None:
    assert record("<link rel=canonical href=/c>").canonical_url == "http://www.example.com/c"
    assert record("<link rel=canonical href='x:y'>").canonical_url == URL


def test_outlinks() -> None:
    html = (
        "<head><link rel=canonical href=c.html><link rel=next href=n.html>"
        "<meta http-equiv=Refresh content='5; url=&quot;r.html&quot;'></head>"
        "<a href=1.html>一</a><iframe src=f.html></iframe><a href=1.html#x>又一</a>"
        "<a href=b.html>自己</a><a href='?q=1' rel=next>下</a><a href=p.jpg>图</a>"
        "<a href=z.ZIP?x=1>包</a><iframe src=''></iframe><a href='ftp://example.com/'>f</a>"
    )
    found = [
        (o.url.removeprefix("http://www.example.com/a/"), o.via) for o in record(html).outlinks
    ]
    assert found == [
        ("c.html", Via.CANONICAL),
        ("n.html", Via.NEXT),
        ("r.html", Via.META_REFRESH),
        ("1.html", Via.LINK),
        ("f.html", Via.FRAME),
        ("b.html?q=1", Via.NEXT),
    ]


def test_outlinks_are_capped_and_their_texts_too() -> None:
    many = record("".join(f"<a href={i}>{'字' * 100}</a>" for i in range(20_100)))
    assert len(many.outlinks) == 20_000
    assert len(many.outlinks[0].text) == 80
    assert [(w.kind, w.count) for w in many.warnings] == [(WarningKind.CAPPED_LINKS, 100)]


def test_the_signature_does_not_see_white_space() -> None:
    first, second = record("<p>一二<p>三"), record("<div>一 二</div>\n\n三")
    assert re.fullmatch("[0-9a-f]{16}", first.signature)
    assert first.signature == second.signature
    assert record("").signature == ""


def test_link_blocks_are_there_when_they_are_asked_for() -> None:
    html = "<p>" + "<a href=1>一</a> | <a href=2>二</a> | <a href=3>三</a>" + "</p>" + "文" * 100
    page = RawPage.from_bytes(URL, html.encode())
    found = clean(page, blocks=True)
    (block,) = found.link_blocks
    assert page.html[block.start_char : block.end_char].startswith("<a href=1>")
    assert page.html[block.start_char : block.end_char].endswith("三</a>")
    assert (block.first, block.end, found.lcr) == (0, 3, 1.0)
    assert 0 < found.ccr < 1
    assert clean(page) == replace(found, link_blocks=(), lcr=0.0, ccr=0.0)


def test_a_model_of_another_host_is_an_error() -> None:
    page = RawPage.from_bytes("http://a.example/", b"")
    with pytest.raises(ConfigError, match=r"b\.example"):
        clean(page, learn_site([RawPage.from_bytes("http://b.example/", b"")]))


TAGS = st.sampled_from(
    ["<a href=", "<a href='x'>", "</a>", "<p>", "</p>", "<div>", "</div>", "<img src=x>", "<nav>",
     "</nav>", "<h1>", "</h1>", "相关阅读", "<script>", "</script>", "<base href=", "//", "http:",
     "<title>", "</title>", "</html>", "<frameset>", "<meta http-equiv=refresh content=", "'", '"',
     "<svg>", "<table>", "<td>", "<select>", "<area href=y>", "\0", "\ud800", "&#0;", "字" * 20]
)  # fmt: skip


@settings(deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(TAGS, st.text(max_size=8)), max_size=60).map("".join))
def test_clean_reads_any_text(html: str) -> None:
    page = RawPage(
        url=URL,
        host="www.example.com",
        fetched_at=datetime.fromtimestamp(0, UTC),
        html=html,
        encoding="gb18030",
    )
    result = clean(page)
    assert result == clean(page)
    assert result == clean(page, None)
    assert {link.kind for link in result.links} <= set(LinkKind)
    str(result).encode("utf-8")
    clean(page, learn_site([page]))


@settings(deadline=2000)
@given(st.binary(max_size=500))
def test_clean_reads_any_bytes(body: bytes) -> None:
    clean(RawPage.from_bytes(URL, body))


def test_time_grows_with_the_page() -> None:
    part = "<div><a href=/x.html>一条新闻</a> 几个字 <p>" + LONG + "</p><img src=i.jpg></div>"
    started = time.process_time()
    record(part * 10_000)
    assert time.process_time() - started < 5


def test_a_defect_in_one_field_costs_that_field(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OverflowError("date value out of range")

    monkeypatch.setattr("crawlclean.cleaning.metadata.metadata.find_published", broken)
    text = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 5
    page = RawPage.from_bytes("http://a.example/1.html", f"<h1>题</h1><p>{text}".encode())
    record = clean(page)
    assert record.body == text
    assert record.published_at is None
    [warning] = [each for each in record.warnings if each.kind is WarningKind.LOST_FIELD]
    assert warning.detail == "published_at: OverflowError: date value out of range"
