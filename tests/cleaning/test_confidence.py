"""The confidence of a record: high for a plain article, low where little speaks for the body."""

from __future__ import annotations

from crawlclean import clean_html

URL = "http://www.example.com/news/2026-03-01.html"
SENTENCE = "河上的旧桥今天重新开放，附近的居民从早晨起就在桥上散步，孩子们在岸边放风筝。"
ARTICLE = (
    "<title>旧桥重新开放</title><nav><a href=/>首页</a> <a href=/news/>新闻</a></nav>"
    "<article><h1>旧桥重新开放</h1><time datetime=2026-03-01>2026-03-01</time>"
    + f"<p>{SENTENCE * 3}</p>" * 6
    + "</article><footer><a href=/about>关于</a></footer>"
)


def confidence(html: str) -> float:
    found = clean_html(html, URL).confidence
    assert found is not None
    return found


def test_a_plain_article_is_sure() -> None:
    assert 0.95 < confidence(ARTICLE) <= 1


def test_a_page_of_many_sections_and_links_is_not() -> None:
    section = (
        "<section><div><h2>我们的服务</h2><div>快速、可靠、便宜，适合每一位客户的需要。</div>"
        + "".join(f"<a href=/s/{n}>了解更多第{n}项服务的内容</a> " for n in range(8))
        + "</div></section>"
    )
    assert confidence(f"<title>首页</title>{section * 12}") < 0.8


def test_a_page_without_a_body_has_none() -> None:
    assert confidence("<title>空</title>") == 0
