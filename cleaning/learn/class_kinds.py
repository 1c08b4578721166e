"""What the URLs of a class lead to, from the evidence of the class and of its neighbours.

1. *Topics*: a class whose links say titles and whose pages have running text of their own, and that
   lists no others. Most of its pages look like threads or like articles: so is the class.
2. *More of a topic*: the links say a number or 下一页, but the pages have text and a topic's title.
3. What the words of the addresses mean on most hosts (``url_rules.COMMON_RULES``), where most URLs
   of the class have them.
4. *Lists*: pages with several links to topics. *People*: short names, as many as there are links.
5. A class without pages is of the kind of the class most like it: the same path and words,
   other numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cleaning.learn.class_evidence import Evidence, TitleIndex
from cleaning.learn.url_rules import kind_by_words
from cleaning.records import PageKind, UrlKind

_TEXT = (PageKind.THREAD, PageKind.ARTICLE)
_WILD = re.compile(r"(?:[^/?&=]*\{[nwxs]\}[^/?&=]*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The thresholds of the decision.

    Attributes:
        named: Share of a class's URLs that have a text of their own.
        prose: Units of running text of a topic's page.
        much_prose: The same where the links say short names.
        lists: So many links to topics make a list.
        prose_a_link: Units of running text for each such link that make it a topic all the same.
        min_urls: A class of topics has so many URLs at least.
        titled: Share of pages with the title of a topic.
        words: Share of URLs whose words say one kind.
        people: So many URLs of a class of people are linked from pages of topics.
        people_a_page: So many of them in the mean of such pages.
        template_share: A link on a larger share of such pages is the template's.
        passwords: Share of a class's pages that ask for a password; others do at half that share.
    """

    named: float = 0.5
    prose: float = 40.0
    much_prose: float = 100.0
    lists: float = 5.0
    prose_a_link: float = 20.0
    min_urls: float = 3.0
    titled: float = 0.5
    words: float = 0.7
    people: int = 8
    people_a_page: float = 1.2
    template_share: float = 0.2
    passwords: float = 0.8


def decide_kinds(classes: Sequence[Evidence], params: Params | None = None) -> list[UrlKind | None]:
    """The kind of each class in order; None where nothing speaks for one."""
    chosen = params or Params()
    kinds: list[UrlKind | None] = [None] * len(classes)
    topics = [i for i, one in enumerate(classes) if _is_topic(one, chosen)]
    index = TitleIndex({title for i in topics for title in classes[i].titles})
    for i, one in enumerate(classes):
        if i not in topics and _is_article(one, index, chosen):
            topics.append(i)
    for i in topics:
        kinds[i] = _topic_kind(classes[i])
    index = TitleIndex({title for i in topics for title in classes[i].titles})
    people = _find_people(classes, topics, chosen)
    has_password = _password_share(classes)
    for i, one in enumerate(classes):
        if kinds[i] is None:
            kinds[i] = _kind(one, index, has_password, kinds, topics, chosen)
            if i in people and kinds[i] in (None, UrlKind.INDEX, UrlKind.OTHER):
                kinds[i] = UrlKind.USER
    for i, kind in _inherited(classes, kinds).items():
        kinds[i] = kind
    return kinds


def _is_topic(one: Evidence, params: Params) -> bool:
    return (
        bool(one.pages)
        and one.urls.count >= params.min_urls
        and one.is_titled
        and one.prose >= params.prose
        and (one.listed < params.lists or one.prose >= params.prose_a_link * one.listed)
    )


def _is_article(one: Evidence, topics: TitleIndex, params: Params) -> bool:
    """Whether short texts lead to long ones that are no other topic's."""
    return (
        bool(one.pages)
        and one.urls.count >= params.min_urls
        and one.named >= params.named
        and one.titled >= params.titled
        and one.prose >= params.much_prose
        and one.share(*_TEXT) >= 0.5
        and one.listed < params.lists
        and _held(one, topics) < params.titled
    )


def _topic_kind(one: Evidence) -> UrlKind:
    threads = one.kinds[PageKind.THREAD]
    return UrlKind.THREAD if threads > one.kinds[PageKind.ARTICLE] else UrlKind.ARTICLE


def _kind(
    one: Evidence,
    index: TitleIndex,
    has_password: float,
    kinds: Sequence[UrlKind | None],
    topics: Sequence[int],
    params: Params,
) -> UrlKind | None:
    if (
        one.prose >= params.prose
        and one.listed < params.lists
        and one.urls.count >= params.min_urls
        and topics
        and _held(one, index) >= params.titled
    ):
        most = Counter(kinds[i] for i in topics).most_common(1)[0][0]
        return _topic_kind(one) if one.share(*_TEXT) >= 0.5 else most
    by_words = _by_words(one, params)
    if by_words is not None:
        return by_words
    passwords = sum(page.has_password for page in one.pages) / max(1, len(one.pages))
    if one.pages and passwords >= params.passwords and has_password <= params.passwords / 2:
        return UrlKind.LOGIN
    if one.pages and one.listed >= params.lists:
        return UrlKind.INDEX
    return None


def _find_people(
    classes: Sequence[Evidence], topics: Sequence[int], params: Params
) -> frozenset[int]:
    """Classes with short names of which a topic's page links to several, each page to others."""
    of_url = {
        found.url: i
        for i, one in enumerate(classes)
        if one.named >= params.named and not one.is_titled
        for found in one.urls.found
    }
    pages = [page for i in topics for page in classes[i].pages]
    linked = Counter(url for page in pages for url, _ in page.links if url in of_url)
    most = max(2.0, params.template_share * len(pages))
    different: Counter[int] = Counter()
    links: Counter[int] = Counter()
    for url, times in linked.items():
        different[of_url[url]] += 1
        links[of_url[url]] += times if times <= most else 0
    return frozenset(
        i
        for i, count in different.items()
        if count >= params.people and links[i] >= params.people_a_page * len(pages)
    )


def _held(one: Evidence, index: TitleIndex) -> float:
    titled = [page for page in one.pages if page.title]
    return sum(index.holds(page.title) for page in titled) / max(1, len(titled))


def _by_words(one: Evidence, params: Params) -> UrlKind | None:
    said = Counter(kind_by_words(found.url) for found in one.urls.found)
    kind, times = said.most_common(1)[0]
    if kind is UrlKind.OTHER or times < params.words * len(one.urls.found):
        return None
    return kind


def _password_share(classes: Sequence[Evidence]) -> float:
    pages = [page for one in classes for page in one.pages]
    return sum(page.has_password for page in pages) / max(1, len(pages))


def _inherited(classes: Sequence[Evidence], kinds: Sequence[UrlKind | None]) -> dict[int, UrlKind]:
    """The kinds of classes that have none, from those with the same path and no other words."""
    known: dict[str, list[tuple[dict[str, str], float, UrlKind]]] = {}
    for one, kind in zip(classes, kinds, strict=True):
        if kind is not None:
            path, words = _loose(one.urls.template)
            known.setdefault(path, []).append((words, one.urls.count, kind))
    found = {}
    for i, one in enumerate(classes):
        if kinds[i] is not None:
            continue
        path, words = _loose(one.urls.template)
        best: tuple[int, float] | None = None
        for others, count, kind in known.get(path, ()):
            if any(words.get(name, word) != word for name, word in others.items()):
                continue
            missing = sum(name not in words for name in others)
            added = sum(name not in others for name in words)
            # Another word is another page of the same thing only where that is a list.
            if missing or (added and kind is not UrlKind.INDEX):
                continue
            if best is None or (-added, count) > best:
                best, found[i] = (-added, count), kind
    return found


def _loose(template: str) -> tuple[str, dict[str, str]]:
    """(the path with wildcards joined, the fixed words of the query by name) of a template."""
    path, _, query = template.partition("?")
    words = {}
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        if "{" not in part and value:
            words[name] = value
        elif "=" not in part and "{" not in part:
            words[part] = ""
    return _WILD.sub(lambda match: _joined(match[0]), path), words


def _joined(segment: str) -> str:
    fixed = re.sub(r"[^A-Za-z{}]*\{[nwxs]\}[^A-Za-z{}]*", "*", segment)
    return re.sub(r"\*+", "*", fixed)
