"""Feeds: RSS and Atom of every version, broken ones and hostile ones."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.document.feeds import (
    MAX_ENTRIES,
    FeedEntry,
    is_feed,
    named_feeds,
    read_feed,
)

URL = "http://www.example.com/news/feed"
RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:atom="http://www.w3.org/2005/Atom"><channel>
  <title>News</title><link>http://www.example.com/</link>
  <atom:link href="http://www.example.com/news/feed" rel="self"/>
  <item><title>A &amp;amp; <b>B</b>
     C</title><link>/a?b=1&amp;c=2#top</link><pubDate>Fri, 06 Sep 2024 00:01:00 GMT</pubDate></item>
  <item><title><![CDATA[<i>Two</i>]]></title><guid>http://www.example.com/two</guid>
     <dc:date>2024-09-05</dc:date></item>
  <item><guid isPermaLink="false">17</guid><title>no address</title></item>
  <item><link>javascript:x()</link></item>
  <item><link>/a?b=1&amp;c=2</link><title>again</title></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><link href="/"/>
  <entry><title type="html">&lt;em&gt;路&lt;/em&gt;</title>
    <link rel="replies" href="/c/1"/><link href="/e/1"/>
    <published>2024-01-01T00:00:00Z</published><updated>2024-02-01T00:00:00Z</updated></entry>
  <entry><link rel="alternate" href="e/2"/><id>urn:x</id></entry></feed>"""
RDF = """<!-- old --><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/"><channel rdf:about="/"><items><rdf:Seq>
  <rdf:li resource="/1"/></rdf:Seq></items></channel>
  <item rdf:about="/1"><title>One</title><link>/1</link></item></rdf:RDF>"""


def test_rss() -> None:
    assert read_feed(RSS.encode(), URL).entries == (
        FeedEntry(
            url="http://www.example.com/a?b=1&c=2",
            title="A &amp;",  # what a reader of XML gets from markup that was not escaped
            lastmod="Fri, 06 Sep 2024 00:01:00 GMT",
        ),
        FeedEntry(url="http://www.example.com/two", title="Two", lastmod="2024-09-05"),
    )


def test_atom_and_rss_1() -> None:
    assert read_feed(ATOM.encode(), URL).entries == (
        FeedEntry(url="http://www.example.com/e/1", title="路", lastmod="2024-02-01T00:00:00Z"),
        FeedEntry(url="http://www.example.com/news/e/2"),
    )
    assert read_feed(gzip.compress(RDF.encode()), URL).entries == (
        FeedEntry(url="http://www.example.com/1", title="One"),
    )


def test_what_is_a_feed() -> None:
    assert all(is_feed(text.encode()) for text in (RSS, ATOM, RDF))
    assert is_feed("\ufeff<rss><channel>".encode())
    for page in (
        b"<html><rss>",
        b"<urlset><url>",
        b"<sitemapindex>",
        b"",
        b"<feeds>",
        b"<p><feed>",
    ):
        assert not is_feed(page)


def test_the_feeds_that_a_page_names() -> None:
    page = """<head><LINK href='/feed?a=1&amp;b=2' type="application/rss+xml" rel=alternate>
    <link rel="alternate" type="application/atom+xml" title="a > b" href="/never">
    <link rel="alternate stylesheet" type="application/atom+xml" href="atom.xml"/>
    <link rel="alternate" hreflang="en" href="/en/"><link rel="stylesheet" href="/x.css">
    <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
    <link rel="alternate" type="application/rss+xml" href="javascript:x()">"""
    assert named_feeds(page, URL) == (
        "http://www.example.com/feed?a=1&b=2",
        "http://www.example.com/news/atom.xml",
    )
    many = "".join(f'<link rel=alternate type=application/rss+xml href="/{n}">' for n in range(9))
    assert len(named_feeds(many, URL)) == 5


@pytest.mark.parametrize("part", ["<link ", "<link rel='", " rel=", "<link\t'"])
def test_no_page_takes_long(part: str) -> None:
    page = "<link " + part * 100_000
    begun = time.process_time()
    assert named_feeds(page, URL) == ()
    assert time.process_time() - begun < 1


def test_a_feed_that_is_cut_off_is_read_to_its_end() -> None:
    feed = read_feed(RSS[: RSS.index("dc:date") + 3].encode(), URL)
    assert [entry.url for entry in feed.entries] == [
        "http://www.example.com/a?b=1&c=2",
        "http://www.example.com/two",
    ]
    assert feed.slips == 1


@pytest.mark.parametrize(
    ("slip", "title"),
    [
        ("Salt & pepper", "Salt & pepper"),
        ("AT&T;", "AT&T;"),
        ("1 < 2", "1 2"),
        ("Caf&eacute;&nbsp;open", "Café open"),
        ("a\x0bb", "ab"),
        ("<![CDATA[Salt & <item> pepper]]>", "Salt & pepper"),
    ],
)
def test_a_slip_in_a_feed_costs_no_entry(slip: str, title: str) -> None:
    body = f"""<br />\n<b>Warning</b>: no such file in feed.php\n<?xml version="1.0"?>
    <?xml-stylesheet href="/x.xsl"?><rss><channel><item><link>/a</link></item>
    <item><title>{slip}</title><link>/b</link></item>
    <item><link>/c</link></item></channel></rss>""".encode()
    assert is_feed(body)
    feed = read_feed(body, URL)
    assert [entry.url[-2:] for entry in feed.entries] == ["/a", "/b", "/c"]
    assert feed.entries[1].title == title
    assert (feed.slips > 0) == ("&" in slip.partition("<![")[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"<rss>" + b"<item>" * 200_000,
        lambda: b"<rss><channel>" + b"<x/>" * 3_000_000,
        lambda: b"<rss><item>" + b"<x/>" * 3_000_000,
        lambda: b"<rss><item><title>" + b"x" * 12_000_000,
        lambda: (
            b"<feed><entry><title>" + b"&lt;b" * 2_000_000 + b"</title><link href='/a'/></entry>"
        ),
        lambda: b"<feed>" + b"<entry><link href='/a'/></entry>" * 100_000,
        lambda: b"".join(b"<item><link>/%d</link></item>" % i for i in range(60_000)),
        lambda: b"<!DOCTYPE rss [" + b"]   " * 200_000,
        lambda: gzip.compress(gzip.compress(b"<rss>" + b" " * (100 << 20))),
    ],
    ids=range(9),
)
def test_no_feed_takes_long(make: Callable[[], bytes]) -> None:
    body = make()
    begun = time.process_time()
    assert len(read_feed(body, URL).entries) <= MAX_ENTRIES
    assert time.process_time() - begun < 5


def test_nothing_outside_the_feed_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("leaked", "utf-8")
    for doctype in (
        f'<!DOCTYPE rss [<!ENTITY a SYSTEM "{secret.as_uri()}">]>',
        f'<!doctype rss [<!ENTITY l "ha"><!ENTITY a "{"&l;" * 1000}">]>',
    ):
        body = f"{doctype}<rss><item><link>/x</link><title>&a;</title></item></rss>"
        assert [entry.title for entry in read_feed(body.encode(), URL).entries] == ["&a;"]


@given(st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda b: b"<rss>" + b)))
def test_any_bytes_are_read(body: bytes) -> None:
    is_feed(body)
    read_feed(body, URL)
