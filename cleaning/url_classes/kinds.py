"""What the URLs of a class lead to, from the evidence of the class and of its neighbours.

1. *Topics*: a class whose links say titles and whose pages have running text of their own, and that
   lists no others. Most of its pages look like threads or like articles: so is the class.
2. *More of a topic*: the links say a number or 下一页, but the pages have text and a topic's title.
3. What the words of the addresses mean on most hosts (``url_rules.COMMON_RULES``), where most URLs
   of the class have them.
4. *Lists*: pages with several links to topics. *People*: short names, as many as there are links.
5. A class that none of this settles is of the kind of its neighbours (``class_neighbours.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cleaning.posts.threads import is_forum
from cleaning.records import PageKind, UrlKind
from cleaning.url_classes.evidence import Evidence, TitleIndex
from cleaning.url_classes.neighbours import inherit_kinds
from cleaning.url_classes.rules import kind_by_words

_FEW = 3  # pages that cannot outvote what address and title say
_TEXT = (PageKind.THREAD, PageKind.ARTICLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The thresholds of the decision.

    Attributes:
        named: Share of a class's URLs that have a text of their own.
        prose: Units of running text of a topic's page.
        much_prose: The same where the links say short names.
        lists: So many links to topics make a list.
        lent: Share of linked pages whose lines a list with excerpts has.
        prose_a_link: Units of running text for each such link that make it a topic all the same.
        much_a_link: The same where the links say no titles.
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
    lent: float = 0.5
    prose_a_link: float = 20.0
    much_a_link: float = 60.0
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
    if UrlKind.THREAD not in kinds:
        for i, one in enumerate(classes):
            if i not in topics and _has_articles(one, chosen):
                topics.append(i)
                kinds[i] = UrlKind.ARTICLE
    index = TitleIndex({title for i in topics for title in classes[i].titles})
    people = _find_people(classes, topics, chosen)
    # What several of are named on every page: authors in threads, keywords in articles.
    has_threads = _most_common(kinds[i] for i in topics) is UrlKind.THREAD
    people_kind = UrlKind.USER if has_threads else UrlKind.INDEX
    has_password = _password_share(classes)
    for i, one in enumerate(classes):
        if kinds[i] is None:
            kinds[i] = _kind(one, index, has_password, kinds, topics, chosen)
            if i in people and kinds[i] in (None, UrlKind.INDEX):
                kinds[i] = people_kind
    inherit_kinds(classes, kinds)
    return kinds


def _is_topic(one: Evidence, params: Params) -> bool:
    return (
        bool(one.pages)
        and one.urls.count >= params.min_urls
        and one.is_titled
        and one.prose >= params.prose
        and one.lent < params.lent
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
        and one.lent < params.lent
        and _held(one, topics) < params.titled
    )


def _has_articles(one: Evidence, params: Params) -> bool:
    """Whether pages are articles by themselves, where links say nothing: manuals, next pages."""
    return (
        bool(one.pages)
        and one.urls.count >= params.min_urls
        and one.prose >= params.much_prose
        and one.share(PageKind.ARTICLE) >= 0.5
        and one.lent < params.lent
        and (one.listed_far < params.lists or one.prose >= params.much_a_link * one.listed_far)
        and _by_words(one, params) is None
    )


def _topic_kind(one: Evidence) -> UrlKind:
    """THREAD or ARTICLE, as the pages say; a thread of one post looks like an article."""
    threads, articles = one.kinds[PageKind.THREAD], one.kinds[PageKind.ARTICLE]
    if threads < articles or not threads:
        speaking = sum(is_forum(page.url, page.title) for page in one.pages)
        is_open = not threads + articles or threads * 3 >= articles or len(one.pages) <= _FEW
        if not is_open or speaking * 2 <= len(one.pages):
            return UrlKind.ARTICLE
    return UrlKind.THREAD


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
        and one.lent < params.lent
        and one.urls.count >= params.min_urls
        and topics
        and _held(one, index) >= params.titled
    ):
        most = _most_common(kinds[i] for i in topics)
        return _topic_kind(one) if one.share(*_TEXT) >= 0.5 else most
    by_words = _by_words(one, params)
    if by_words is not None:
        return by_words
    passwords = sum(page.has_password for page in one.pages) / max(1, len(one.pages))
    if one.pages and passwords >= params.passwords and has_password <= params.passwords / 2:
        return UrlKind.LOGIN
    if one.pages and (one.listed >= params.lists or one.lent >= params.lent):
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


def _most_common(kinds: Iterable[UrlKind | None]) -> UrlKind | None:
    counted = Counter(kinds).most_common(1)
    return counted[0][0] if counted else None


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
