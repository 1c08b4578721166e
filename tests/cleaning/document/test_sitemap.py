from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from crawlclean import InvalidUrl
from crawlclean.cleaning.document.feeds import MAX_URLS, Sitemap, read_sitemap

URL = "http://www.example.com/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def test_a_list_of_pages() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset {NS}><url><loc> http://www.example.com/路?a=1&amp;b=2 </loc>
    <lastmod>2026-01-02</lastmod></url><url><loc>/b</loc></url><url><loc>/b</loc></url>
    <url><lastmod>2026</lastmod></url><url><loc>ftp://x/</loc></url></urlset>"""
    assert read_sitemap(body.encode(), URL) == Sitemap(
        pages=(
            ("http://www.example.com/%E8%B7%AF?a=1&b=2", "2026-01-02"),
            ("http://www.example.com/b", None),
        )
    )


def test_a_list_of_sitemaps() -> None:
    body = f"<sitemapindex {NS}><sitemap><loc>/a.xml.gz</loc></sitemap></sitemapindex>".encode()
    assert read_sitemap(body, URL).sitemaps == ("http://www.example.com/a.xml.gz",)


def test_a_plain_list() -> None:
    body = b"\xef\xbb\xbfhttp://www.example.com/a\r\n\r\nhttp://www.example.com/b\nnonsense\n"
    assert [url for url, _ in read_sitemap(body, URL).pages] == [
        "http://www.example.com/a",
        "http://www.example.com/b",
    ]


def test_gzipped_and_cut_off() -> None:
    body = b"<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>"
    assert len(read_sitemap(gzip.compress(body), URL).pages) == 2
    assert read_sitemap(gzip.compress(body)[:-9], URL).pages[0][0] == "http://www.example.com/a"
    assert read_sitemap(b"\x1f\x8bnonsense", URL) == Sitemap(slips=1)


def test_a_gzip_bomb_is_read_up_to_the_limit() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * (200 * 2**20))
    started = time.process_time()
    assert read_sitemap(bomb, URL) == Sitemap()
    assert time.process_time() - started < 5


def names(body: bytes) -> list[str]:
    return [url.removeprefix("http://www.example.com/") for url, _ in read_sitemap(body, URL).pages]


@pytest.mark.parametrize(
    ("slip", "found"),
    [
        ("<url><loc>/x?a=1&b=2&lt=3</loc></url>", ["x?a=1&b=2&lt=3"]),
        ("<url><loc>/x?a=1&amp;b=2</loc><t>1 < 2 & 3</t></url>", ["x?a=1&b=2"]),
        ("<url><loc>/x</url>", ["x"]),
        ("<url><loc>/x</loc>", ["x"]),
        ("</url></loc>", []),
        ("</urlset><urlset>", []),
        ("<url><loc>/x\x0b</loc></url>", ["x"]),
        ("<url><no:t>&nbsp;</no:t><loc>/x</loc></url>", ["x"]),
        ("<sm:url><sm:loc>/x</sm:loc></sm:url>", ["x"]),
        ("<!-- <url><loc>/x</loc></url> -->", []),
        ("<url><loc><![CDATA[/x?a=1&b=2]]></loc></url>", ["x?a=1&b=2"]),
        ("<url><loc>/x</loc><t><![CDATA[<url>]]></t></url>", ["x"]),
    ],
)
@pytest.mark.parametrize("before", ["", "PHP Notice: x\n", "<br />\n<b>Warning</b>: y\n"])
def test_a_slip_costs_no_other_page(slip: str, found: list[str], before: str) -> None:
    body = f"""{before}<?xml version="1.0"?><urlset {NS}><url><loc>/a</loc></url>{slip}
    <url><loc>/b</loc></url><url><loc>/c</loc></url>"""
    assert names(body.encode()) == ["a", *found, "b", "c"]


def test_slips_are_counted() -> None:
    body = "<urlset><url><loc>/a&b</loc></url><url><loc>/c</loc></url></urlset>"
    assert read_sitemap(body.encode(), URL).slips == 1
    assert read_sitemap(body.replace("&", "-").encode(), URL).slips == 0
    assert read_sitemap(body.replace("&", "-").encode()[:-16], URL).slips == 1


def test_members_of_gzip_that_are_damaged() -> None:
    first, second = (
        "".join(f"<url><loc>/{name}{i}</loc></url>" for i in range(900)) for name in "ab"
    )
    members = [
        gzip.compress(f"<urlset>{first}".encode()),
        gzip.compress(f"{second}</urlset>".encode()),
    ]
    whole = read_sitemap(b"".join(members), URL)
    assert (len(whole.pages), whole.slips) == (1800, 0)
    wrong_checksum = members[0][:-8] + bytes(8) + members[1]
    read = read_sitemap(wrong_checksum, URL)
    assert (len(read.pages), read.slips) == (1800, 1)
    cut = read_sitemap(b"".join(members)[:-300], URL)
    assert 900 < len(cut.pages) < 1800
    assert cut.slips >= 1
    zeroed = members[0][:200] + bytes(100) + members[0][300:] + members[1]
    assert names(zeroed)[-1] == "b899"
    assert len(read_sitemap(members[1] + b"garbage", URL).pages) == 900


def test_dates_of_news_and_other_languages() -> None:
    body = f"""<urlset {NS} xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
    <url><loc>/en</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/>
    <xhtml:link rel="alternate" hreflang="en" href="/en"/></url>
    <url><loc>/a</loc><news:news><news:publication_date>2026-03-04</news:publication_date>
    <news:title>A & B</news:title></news:news></url>
    <url><loc>/de</loc><lastmod>2026-01-02</lastmod><news:news>
    <news:publication_date>2025-01-01</news:publication_date></news:news>
    <xhtml:link rel="alternate" hreflang="fr" href="/fr"/></url></urlset>"""
    assert [(url[-2:], date) for url, date in read_sitemap(body.encode(), URL).pages] == [
        ("en", None),
        ("/a", "2026-03-04"),
        ("de", "2026-01-02"),
        ("fr", None),
    ]


def test_entities_are_not_resolved() -> None:
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    body = f"""<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "ha"> {levels}
    <!ENTITY file SYSTEM "file:///etc/hostname">]>
    <urlset><url><loc>/&l11;</loc></url><url><loc>/x&file;</loc></url>
    <url><loc>/a</loc></url></urlset>"""
    started = time.process_time()
    found = [url for url, _ in read_sitemap(body.encode(), URL).pages]
    assert time.process_time() - started < 1
    assert "http://www.example.com/a" in found
    assert all(len(url) < 40 for url in found)


def test_at_most_fifty_thousand() -> None:
    body = "<urlset>" + "".join(f"<url><loc>/{i}</loc></url>" for i in range(60_000))
    assert len(read_sitemap(body.encode(), URL).pages) == MAX_URLS
    plain = "\n".join(f"http://www.example.com/{i}" for i in range(60_000))
    assert len(read_sitemap(plain.encode(), URL).pages) == MAX_URLS


def test_a_bad_url_is_an_error() -> None:
    with pytest.raises(InvalidUrl):
        read_sitemap(b"", "about:blank")


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"<x>" + b"<!DOCTYPE [" * 100_000,
        lambda: b"<!DOCTYPE x [" + b"]   " * 200_000,
        lambda: b"<!DOCTYPE " + b"x" * 1_000_000,
        lambda: b"<urlset>" + b"<url>" * 200_000,
        lambda: b"<urlset>" + b"<a>" * 200_000,
        lambda: (
            b"<urlset><url " + b" ".join(b"a%d='1'" % i for i in range(50_000)) + b"><loc>/a</loc>"
        ),
        lambda: b"<urlset><url " + b"a='1' " * 100_000 + b"><loc>/a</loc>",
        lambda: b"<urlset><url><loc>" + b"x" * 12_000_000,
        lambda: b"<urlset>" + b"<!-- -->" * 200_000,
        lambda: b"<urlset>" + b"<?x y?>" * 200_000,
        lambda: b"<urlset>" + b"<![CDATA[x" * 200_000,
        lambda: b"<urlset>" + b"&lt;" * 500_000,
        lambda: b"\n" * 2_000_000 + b"http://www.example.com/",
        lambda: b"http://www.example.com/" + b"x" * 5_000_000,
        lambda: gzip.compress(gzip.compress(b"<urlset>" + b" " * (100 << 20))),
    ],
    ids=range(15),
)
def test_no_sitemap_takes_long(make: Callable[[], bytes]) -> None:
    body = make()
    begun = time.process_time()
    read_sitemap(body, URL)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "gb18030", "utf-8-sig"])
def test_charsets_of_a_sitemap(charset: str) -> None:
    said = {"utf-8-sig": "utf-8"}.get(charset, charset)
    body = f'<?xml version="1.0" encoding="{said}"?><urlset><url><loc>/路线</loc></url></urlset>'
    [(url, _)] = read_sitemap(body.encode(charset), URL).pages
    assert url == "http://www.example.com/%E8%B7%AF%E7%BA%BF"


def test_nothing_outside_the_sitemap_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY leaked 'leaked'>", "utf-8")
    for doctype in (
        f'<!DOCTYPE urlset SYSTEM "{secret.as_uri()}">',
        f'<!DOCTYPE urlset [<!ENTITY % ext SYSTEM "{secret.as_uri()}"> %ext;]>',
        f'<!doctype urlset PUBLIC "x" "{secret.as_uri()}" [<!ENTITY a SYSTEM "{secret}">]>',
    ):
        body = (
            f"{doctype}<urlset><url><loc>/&leaked;&a;</loc></url><url><loc>/b</loc></url></urlset>"
        )
        found = [url for url, _ in read_sitemap(body.encode(), URL).pages]
        assert "http://www.example.com/b" in found
        assert not any("leaked" in url for url in found if "&" not in url and "%26" not in url)


@given(st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda b: b"<urlset>" + b)))
def test_any_bytes_are_read(body: bytes) -> None:
    read_sitemap(body, URL)
