"""Copies of a host's pages in which one thing is changed that a reader would not miss.

A copy is made page by page: ``copy_page("names", host, html)``. What stands for a word depends
on the host and the word alone, so that all pages of a host agree, in any order. No copy adds,
removes or moves a link or a picture: labels in document order stay valid.

- ``names``: every class and id is random letters;
- ``ids``: parts that repeat side by side have an id each;
- ``profile``: parts that repeat side by side have the class ``has-profile`` too;
- ``widget``: every wrapper has the class ``x-widget`` too;
- ``digits``: containers are named by one letter and a number: ``W21``;
- ``addresses``: no words in host, path and query, nor in those of links;
- ``dates in words``, ``dates ago``, ``dates hidden``, ``no dates``: dates of short lines;
- ``empty links``: titles that lists link to are missing from the links;
- ``tabs``: a heading of a list of links is one of a row of tabs;
- ``synonyms``: headings of lists of links in other words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from lxml import etree, html
from lxml.html import HtmlElement

from benchmarks.robust.addresses import blank_addresses, blank_url
from benchmarks.robust.dates import as_time_ago, in_words, rewrite_dates
from benchmarks.robust.letters import letters_for, number_for

_CONTAINERS = frozenset(
    ("div", "section", "article", "main", "aside", "td", "ul", "ol", "li", "table", "tr", "dl")
)
_WRAPPERS = frozenset(("div", "section", "article", "li", "td"))
_LEAST_LIKE = 3  # parts side by side from which they repeat
_TITLE_CHARS = 6  # shortest text of a link that is a title
_HEADING_CHARS = 14
_LEAST_LINKS = 3
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6", "dt", "strong", "b", "span", "p", "div"))
# Headings of lists of links, by meaning; none is chosen for what the product knows.
SYNONYMS = (
    ("相关阅读", "相关文章", "延伸阅读", "相关新闻", "相关内容", "相關文章", "扩展阅读"),
    ("热门文章", "热门推荐", "热点排行", "大家都在看", "今日热点", "热文榜", "人气榜"),
    ("推荐阅读", "编辑推荐", "为您推荐", "猜你喜欢", "精彩推荐", "值得一读"),
    ("最新文章", "最新发布", "近期文章", "最新更新", "新近发表"),
    ("related articles", "related posts", "related stories", "see also", "similar articles"),
    ("recommended", "recommended for you", "you may also like", "more for you", "picks for you"),
    ("most read", "most popular", "trending", "popular now", "top stories"),
    ("latest", "latest news", "recent posts", "latest stories", "just in"),
)  # fmt: skip
_GROUP_OF = {word: group for group in SYNONYMS for word in group}
Change = Callable[[str, HtmlElement], None]


def copy_page(copy: str, host: str, source: str, *, is_list: bool = False) -> str:
    """Returns the source of a page in one of ``COPIES``.

    Args:
        copy: Name of the copy.
        host: The host as it was; equal words become equal letters on its pages.
        source: Its decoded source.
        is_list: Whether the page is a list of other pages.
    """
    change = COPIES[copy]
    if change is _empty_links and not is_list:
        return source
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        root = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # nothing but comments
        return source
    change(host, root)
    return str(etree.tostring(root, encoding="unicode", method="html", doctype="<!DOCTYPE html>"))


def copy_url(copy: str, host: str, url: str) -> str:
    """Returns the address of a page, or of any URL of its host, in one of ``COPIES``."""
    return blank_url(host, url) if copy == "addresses" else url


def _elements(root: HtmlElement) -> Iterator[HtmlElement]:
    return (element for element in root.iter("*") if isinstance(element.tag, str))


def _names(host: str, root: HtmlElement) -> None:
    for element in _elements(root):
        for attribute in ("class", "id"):
            if element.get(attribute):
                names = element.get(attribute).split()
                element.set(attribute, " ".join(letters_for(host, name) for name in names))


def _digits(host: str, root: HtmlElement) -> None:
    for element in _elements(root):
        if element.tag in _CONTAINERS and element.get("class"):
            names = element.get("class").split()
            element.set("class", " ".join(f"W{number_for(host, name, 10_000)}" for name in names))
            if element.get("id"):
                element.set("id", f"w{number_for(host, element.get('id'), 10_000)}")


def _repeated(root: HtmlElement) -> Iterator[HtmlElement]:
    """The parts that stand three times side by side with their tag and first class."""
    for around in _elements(root):
        parts = [part for part in around if part.tag in _CONTAINERS]
        names = [(part.tag, (part.get("class") or "").partition(" ")[0]) for part in parts]
        counts = Counter(names)
        for part, name in zip(parts, names, strict=True):
            if counts[name] >= _LEAST_LIKE:
                yield part


def _ids(host: str, root: HtmlElement) -> None:
    for number, part in enumerate(list(_repeated(root))):
        if not part.get("id"):
            text = part.text_content()[:200]
            part.set("id", f"p{number_for(host, f'{number} {text}', 900_000) + 100_000}")


def _add_class(parts: Iterable[HtmlElement], name: str) -> None:
    for part in parts:
        part.set("class", " ".join([*(part.get("class") or "").split(), name]))


def _profile(_host: str, root: HtmlElement) -> None:
    _add_class(list(_repeated(root)), "has-profile")


def _widget(_host: str, root: HtmlElement) -> None:
    wrappers = (part for part in _elements(root) if part.tag in _WRAPPERS)
    _add_class([part for part in wrappers if len(part)], "x-widget")


def _empty_links(_host: str, root: HtmlElement) -> None:
    for link in root.iter("a"):
        if len("".join(link.text_content().split())) >= _TITLE_CHARS:
            for element in [link, *link.iterdescendants("*")]:
                element.text = None
                if element is not link:
                    element.tail = None


def list_headings(root: HtmlElement) -> Iterator[HtmlElement]:
    """Yields short elements without links before several links and hardly any other text."""
    for element in _elements(root):
        if element.tag not in _HEADINGS or len(element) > 1 or element.find(".//a") is not None:
            continue
        text = "".join(element.text_content().split())
        if not 0 < len(text) <= _HEADING_CHARS:
            continue
        behind = element.getnext()
        if behind is None and element.getparent() is not None:
            behind = element.getparent().getnext()
        if behind is None or not isinstance(behind.tag, str):
            continue
        links = list(behind.iter("a"))
        linked = sum(len(link.text_content()) for link in links)
        if len(links) >= _LEAST_LINKS and 2 * linked > len("".join(behind.text_content().split())):
            yield element


def _tabs(_host: str, root: HtmlElement) -> None:
    headings = list(list_headings(root))
    for heading in headings:
        if any(inner in headings for inner in heading.iterdescendants()):
            continue  # a row in a row is none
        row = html.Element("ul")
        is_chinese = re.search("[一-鿿]", heading.text_content()) is not None
        beside = ("最新", "评论") if is_chinese else ("New", "Talk")
        first, *others = (html.Element("li") for _ in range(3))
        first.text, heading.text = heading.text, None
        for child in list(heading):
            first.append(child)
        for tab, words in zip(others, beside, strict=True):
            tab.text = words
        row.extend([first, *others])
        heading.tag = "div"
        heading.append(row)


def _synonyms(host: str, root: HtmlElement) -> None:
    for element in _elements(root):
        for place in ("text", "tail"):
            text = getattr(element, place) or ""
            plain = " ".join(text.split()).strip("：:")
            group = _GROUP_OF.get(plain.lower())
            if group is not None:
                others = [word for word in group if word != plain.lower()]
                other = others[number_for(host, plain, len(others))]
                other = other if plain.islower() else other.capitalize()
                setattr(element, place, text.replace(plain, other))


def _dates(
    _host: str, root: HtmlElement, write: Callable[..., str] | None, *, keep_hidden: bool = False
) -> None:
    rewrite_dates(root, write, keep_hidden=keep_hidden)


COPIES: dict[str, Change] = {
    "names": _names,
    "ids": _ids,
    "profile": _profile,
    "widget": _widget,
    "digits": _digits,
    "addresses": blank_addresses,
    "dates in words": partial(_dates, write=in_words),
    "dates ago": partial(_dates, write=as_time_ago),
    "dates hidden": partial(_dates, write=None, keep_hidden=True),
    "no dates": partial(_dates, write=None),
    "empty links": _empty_links,
    "tabs": _tabs,
    "synonyms": _synonyms,
}
