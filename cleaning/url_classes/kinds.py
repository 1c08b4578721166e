"""The kind of each URL class (``THREAD``, ``INDEX``, ...), from its evidence and its neighbours.

A *topic* is a thread or an article. The first rule that applies decides:

1. *Topics*: anchor texts are titles, the pages have running text of their own and list no other
   topics. THREAD or ARTICLE, as most of the pages are.
2. *More of a topic*: anchor texts are numbers or 下一页, but pages have text and a topic's title.
3. *Words of the URLs* (``rules.COMMON_RULES``), where most URLs of the class have them; of login
   pages, forms and calendars only while no pages are known, or where most of them are none with
   text of their own.
4. *Lists*: pages with several links to topics. *People*: short names, as many as there are links.

A class without a kind then takes the kind of a neighbour:

5. *Next pages*: anchor texts are numbers or the same few words, the fixed words include those of a
   class of topics or lists, and the URLs begin with the slot values of URLs of that class.
6. *Variants*: the same path and no other words in the query; of several classes the one whose
   parameters differ least.
7. *Shape*: nearly all classes of the shape that have a kind have the same kind.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from crawlclean.cleaning.features.lines import count_words, plain_title
from crawlclean.cleaning.posts.posts import is_forum
from crawlclean.cleaning.records import PageKind, UrlKind
from crawlclean.cleaning.url_classes.classes import PageFacts, UrlClass
from crawlclean.cleaning.url_classes.rules import kind_by_words

# Evidence for the kind of a URL class: the anchor texts of its URLs, and its fetched pages.
#
# A *unit* is a Chinese, Japanese or Korean character, or a word of another script.

TITLE_CHARS = 4  # shortest title without punctuation that is compared
MAX_TITLE_CHARS = 200  # of a page title that are searched; each place costs a look-up
NAMED = 0.5  # share of a class's URLs with an anchor text of their own in a class of titles
TITLE_UNITS = 4.5  # longer anchor texts may be titles: people and boards have shorter names
SHARED_URLS = 2.0  # a text of more URLs of a class, and of a larger share of them, names no URL
SHARED_SHARE = 0.1  # of the URLs of a class: large ones have namesakes
TEMPLATE_PAGES = 4.0  # a line on more pages, and on a larger share of them, is the template's
TEMPLATE_LINE_SHARE = 0.05  # of the pages: on large samples pages quote each other
LINK_SHARE = 0.2  # a link on a larger share of the pages that have titles is the template's
OWN_LINK_SHARE = 0.5  # a link on a larger share of a class's own pages lists nothing
MIN_LENT = 3  # fewest fetched linked pages for ``Evidence.lent``
MIN_LISTED = 2.0  # fewest listed titles of other classes for ``Evidence.lent``


@dataclass(slots=True, kw_only=True)
class Evidence:
    """What is known of one class; shares are 0..1, 0 without pages or texts.

    Attributes:
        urls: The class.
        pages: Its pages that were no redirects.
        named: Share of its URLs with an anchor text of their own, of those with any text.
        numbered: Share of its URLs with a number for an anchor text, of those with any text.
        texts: Its anchor texts, most frequent first, at most 12.
        prose: Median units of running text that few pages of the host share.
        listed: Median number of links with texts like titles to other classes of titles; links
            of the template do not count.
        listed_far: The same to classes of another shape.
        lent: Share of the pages linked to by their title that have a line in common with the
            linking page, as lists with excerpts have.
        kinds: Its pages by kind.
        titled: Share of pages whose title is an anchor text of their URL.
        titles: Its anchor texts that are like titles.
        is_titled: Whether its anchor texts are titles.
    """

    urls: UrlClass
    pages: list[PageFacts] = field(default_factory=list)
    named: float = 0.0
    numbered: float = 0.0
    texts: tuple[str, ...] = ()
    prose: float = 0.0
    listed: float = 0.0
    listed_far: float = 0.0
    lent: float = 0.0
    kinds: Counter[PageKind] = field(default_factory=Counter)
    titled: float = 0.0
    titles: set[str] = field(default_factory=set)
    is_titled: bool = False

    def share(self, *kinds: PageKind) -> float:
        """Share of its pages that are of one of some kinds, 0..1."""
        return sum(self.kinds[kind] for kind in kinds) / max(1, len(self.pages))


def weigh_classes(classes: Sequence[UrlClass]) -> list[Evidence]:
    """Collects the evidence of each class, in the order of the classes."""
    every = [_of_links(one) for one in classes]
    host = _Host(
        is_template=template_lines(every),
        titled={
            found.url: i
            for i, evidence in enumerate(every)
            if evidence.is_titled
            for found in evidence.urls.found
        },
        keys=[evidence.urls.key for evidence in every],
        pages={page.url: page for evidence in every for page in evidence.pages if page.title},
    )
    for url in _template_links(every):
        host.titled.pop(url, None)
    for i, evidence in enumerate(every):
        if evidence.pages:
            _add_pages(evidence, i, host)
    return every


class TitleIndex:
    """Titles, to be found inside page titles: a page title often ends with the name of the site."""

    def __init__(self, titles: Iterable[str]) -> None:
        """Builds the index of titles as ``plain_title`` gives them; short ones are left out."""
        self._by_start: dict[str, set[str]] = {}
        for title in titles:
            if len(title) >= TITLE_CHARS:
                self._by_start.setdefault(title[:TITLE_CHARS], set()).add(title)

    def holds(self, title: str) -> bool:
        """Whether a page title contains one of the titles."""
        return any(
            title.startswith(known, i)
            for i in range(min(len(title), MAX_TITLE_CHARS) - TITLE_CHARS + 1)
            for known in self._by_start.get(title[i : i + TITLE_CHARS], ())
        )


def own_lines(page: PageFacts, is_template: frozenset[int]) -> dict[int, float]:
    """The lines of a page that are not the template's: number of the text -> units."""
    return {line: units for line, units in page.lines if line not in is_template}


def _of_links(urls: UrlClass) -> Evidence:
    """The evidence in the anchor texts of a class."""
    shared = Counter(text for found in urls.found for text in found.texts)
    most = max(SHARED_URLS, SHARED_SHARE * len(urls.found))
    units: list[float] = []
    titles: set[str] = set()
    for found in urls.found:
        names = [text for text in found.texts if shared[text] <= most and not text.isdigit()]
        if names:
            units.append(max(map(count_words, names)))
            titles.update(plain_title(name) for name in names if count_words(name) > 2)
    with_text = max(1, sum(bool(found.texts) for found in urls.found))
    named = len(units) / with_text
    numbered = sum(any(text.isdigit() for text in found.texts) for found in urls.found)
    return Evidence(
        urls=urls,
        pages=[page for page in urls.pages if not page.moved_to],
        named=named,
        numbered=numbered / with_text,
        texts=tuple(text for text, _ in sorted(shared.items(), key=lambda t: (-t[1], t[0]))[:12]),
        titles=titles - {""},
        is_titled=named >= NAMED and median(units) > TITLE_UNITS,
    )


def template_lines(every: Sequence[Evidence]) -> frozenset[int]:
    """Finds the lines that stand on pages of many titles; forms of one page have one title."""
    titles: dict[int, set[str]] = defaultdict(set)
    for one in every:
        for page in one.pages:
            for line, _ in page.lines:
                titles[line].add(page.title)
    pages = len({page.title for one in every for page in one.pages})
    most = max(TEMPLATE_PAGES, TEMPLATE_LINE_SHARE * pages)
    return frozenset(line for line, found in titles.items() if len(found) > most)


def _template_links(every: Sequence[Evidence]) -> list[str]:
    """Finds the URLs linked from many pages of classes of titles: the navigation."""
    pages = [page for one in every if one.is_titled for page in one.pages]
    on_pages = Counter(url for page in pages for url, _ in page.links)
    most = max(TEMPLATE_PAGES, LINK_SHARE * len(pages))
    return [url for url, count in on_pages.items() if count > most]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Host:
    """The pages of a host, to compare a page with.

    Attributes:
        is_template: Numbers of the template's lines.
        titled: URL -> position of its class, for classes of titles.
        keys: The shape of each class.
        pages: URL -> page, for pages with a title.
    """

    is_template: frozenset[int]
    titled: dict[str, int]
    keys: list[str]
    pages: dict[str, PageFacts]


def _add_pages(evidence: Evidence, position: int, host: _Host) -> None:
    """Adds the evidence of the pages of the class at a position."""
    pages = evidence.pages
    key = evidence.urls.key
    linked = Counter(url for page in pages for url, _ in page.links)
    own = max(2.0, OWN_LINK_SHARE * len(pages))
    evidence.kinds = Counter(page.kind for page in pages)
    evidence.prose = median(sum(own_lines(page, host.is_template).values()) for page in pages)
    listed = [
        [
            host.titled[url]
            for url, text in page.links
            if host.titled.get(url, position) != position
            and linked[url] <= own
            and count_words(text) > TITLE_UNITS
        ]
        for page in pages
    ]
    evidence.listed = median(map(len, listed))
    evidence.listed_far = median(sum(host.keys[i] != key for i in found) for found in listed)
    texts = {found.url: found.texts for found in evidence.urls.found}
    named = [page for page in pages if page.title]
    same = sum(
        any(_is_title(text, page.title) for text in texts.get(page.url, ())) for page in named
    )
    evidence.titled = same / max(1, len(named))
    lent = [is_lent for page in pages for is_lent in _lent(page, host)]
    if evidence.listed >= MIN_LISTED and len(lent) >= MIN_LENT:
        evidence.lent = sum(lent) / len(lent)


def _lent(page: PageFacts, host: _Host) -> list[bool]:
    """For each page linked to by its title: whether the two pages share a line.

    A line that several of the linked pages have does not count.
    """
    mine = own_lines(page, host.is_template)
    listed = []
    for url, text in page.links:
        there = host.pages.get(url)
        # A short name may be a person's, whose page may hold all posts of a thread.
        if there is None or count_words(text) <= TITLE_UNITS or _is_title(text, page.title):
            continue
        if _is_title(text, there.title):
            listed.append({line for line, _ in there.lines if line in mine})
    holders = Counter(line for lines in listed for line in lines)
    return [any(holders[line] == 1 for line in lines) for lines in listed]


def _is_title(text: str, title: str) -> bool:
    """Whether a text is part of a plain title, and long enough to mean something."""
    plain = plain_title(text)
    return len(plain) >= TITLE_CHARS and plain in title


_FEW = 3  # pages that cannot outvote the words of address and title
_TEXT = (PageKind.THREAD, PageKind.ARTICLE)
MIN_URLS = 3.0  # of a class of topics
PROSE = 40.0  # least units of running text of a topic's page
MUCH_PROSE = 100.0  # least units where anchor texts are short names
LISTED = 5.0  # fewest links to topics of a list
LENT = 0.5  # share of linked pages whose lines a list with excerpts has
PROSE_A_LINK = 20.0  # units of running text a link to topics with which a page is a topic still
MUCH_A_LINK = 60.0  # the same where anchor texts are no titles
TITLED = 0.5  # share of pages with the title of a topic
BY_WORDS = 0.7  # share of URLs whose words mean one kind
PEOPLE = 8  # fewest URLs of a class of people linked from pages of topics ...
PEOPLE_A_PAGE = 1.2  # ... and fewest of these links in the mean of such pages
TEMPLATE_SHARE = 0.2  # a link on a larger share of such pages is the template's
PASSWORDS = 0.8  # share of a class's pages with a password field; other classes at most half
_PAGED = (UrlKind.THREAD, UrlKind.ARTICLE, UrlKind.INDEX)
_WILD = re.compile(r"(?:[^/?&=]*\{[nwxs]\}[^/?&=]*)+")
PAGE_LINKS = 0.8  # share of URLs with a number or a shared word for an anchor text
BEGUN = 0.6  # share of URLs that begin with slot values of the other class
MAX_COMPARED = 100  # URLs of a class
OF_SHAPE = 3  # fewest classes of one shape with a kind from which others inherit
OF_SHAPE_SHARE = 0.75  # share of these classes that must be of one kind


def decide_kinds(classes: Sequence[Evidence]) -> list[UrlKind | None]:
    """Decides the kind of each class, in the order of the classes; None without evidence."""
    kinds: list[UrlKind | None] = [None] * len(classes)
    may_be = [
        i
        for i, one in enumerate(classes)
        if one.pages and one.urls.count >= MIN_URLS and one.lent < LENT
    ]
    topics = [i for i in may_be if _is_topic(classes[i])]
    index = _titles_of(classes, topics)
    topics += [i for i in may_be if i not in topics and _is_article(classes[i], index)]
    for i in topics:
        kinds[i] = _topic_kind(classes[i])
    index = _titles_of(classes, topics)
    for kind, has_topics in (UrlKind.THREAD, _has_threads), (UrlKind.ARTICLE, _has_articles):
        if UrlKind.THREAD not in kinds:
            found = [i for i in may_be if i not in topics and has_topics(classes[i], index)]
            topics += found
            for i in found:
                kinds[i] = kind
    index = _titles_of(classes, topics)
    people = _find_people(classes, topics)
    counts = Counter(kinds[i] for i in topics).most_common(1)
    topic_kind = counts[0][0] if counts else None
    # Short names, several on every page, are authors in threads and keywords in articles.
    people_kind = UrlKind.USER if topic_kind is UrlKind.THREAD else UrlKind.INDEX
    has_password = _password_share([page for one in classes for page in one.pages])
    for i, one in enumerate(classes):
        if kinds[i] is None:
            kinds[i] = _kind(one, index, has_password, topic_kind)
            if i in people and kinds[i] in (None, UrlKind.INDEX):
                kinds[i] = people_kind
    inherit_kinds(classes, kinds)
    return kinds


def _titles_of(classes: Sequence[Evidence], topics: Iterable[int]) -> TitleIndex:
    return TitleIndex({title for i in topics for title in classes[i].titles})


def _is_topic(one: Evidence) -> bool:
    """Whether a class is one of topics: titles for anchor texts, text of its own, no list."""
    return (
        one.is_titled
        and one.prose >= _least_prose(one)
        and (one.listed < LISTED or one.prose >= _prose_a_link(one) * one.listed)
    )


def _prose_a_link(one: Evidence) -> float:
    """Least units of running text a link to topics: posts on most pages are evidence of their own.

    Threads may list as many topics like theirs as they have posts.
    """
    return PROSE_A_LINK / 2 if one.share(PageKind.THREAD) >= 0.5 else PROSE_A_LINK


def _least_prose(one: Evidence) -> float:
    """Least units of running text of a topic's page: posts may be few words."""
    return PROSE / 4 if one.share(PageKind.THREAD) >= 0.5 else PROSE


def _is_article(one: Evidence, topics: TitleIndex) -> bool:
    """Whether short anchor texts lead to long texts whose titles are of no other topic."""
    return (
        one.named >= NAMED
        and one.titled >= TITLED
        and one.prose >= MUCH_PROSE
        and one.share(*_TEXT) >= 0.5
        and one.listed < LISTED
        and _held(one, topics) < TITLED
    )


def _has_articles(one: Evidence, topics: TitleIndex) -> bool:
    """Whether pages are articles whatever their anchor texts: manuals, next pages."""
    return (
        one.prose >= MUCH_PROSE
        and one.share(PageKind.ARTICLE) >= 0.5
        and (one.listed_far < LISTED or one.prose >= MUCH_A_LINK * one.listed_far)
        and _by_words(one, topics) is None
    )


def _has_threads(one: Evidence, topics: TitleIndex) -> bool:
    """Whether pages are threads whatever their anchor texts: lists whose links have no texts."""
    return (
        len(one.pages) >= _FEW
        and one.share(PageKind.THREAD) >= 0.5
        and one.prose >= _least_prose(one)
        and (one.listed_far < LISTED or one.prose >= PROSE_A_LINK * one.listed_far)
        and _by_words(one, topics) in (None, UrlKind.THREAD)
    )


def _topic_kind(one: Evidence) -> UrlKind:
    """THREAD or ARTICLE, as most pages are; a thread of one post looks like an article."""
    threads, articles = one.kinds[PageKind.THREAD], one.kinds[PageKind.ARTICLE]
    if threads < articles or not threads:
        forum_like = sum(is_forum(page.url, page.title) for page in one.pages)
        is_open = not threads + articles or threads * 3 >= articles or len(one.pages) <= _FEW
        if not is_open or forum_like * 2 <= len(one.pages):
            return UrlKind.ARTICLE
    return UrlKind.THREAD


def _kind(
    one: Evidence, index: TitleIndex, has_password: float, topic_kind: UrlKind | None
) -> UrlKind | None:
    """Decides a class that is none of topics by rules 2 to 4; None without evidence.

    Args:
        one: The class.
        index: The titles of all topics.
        has_password: Share of the host's pages with a password field.
        topic_kind: The kind of most classes of topics; None without.
    """
    if (
        one.prose >= PROSE
        and one.listed < LISTED
        and one.lent < LENT
        and one.urls.count >= MIN_URLS
        and topic_kind is not None
        and _held(one, index) >= TITLED
    ):
        return _topic_kind(one) if one.share(*_TEXT) >= 0.5 else topic_kind
    by_words = _by_words(one, index)
    if by_words is not None:
        return by_words
    has_login = _may_be_login(one) and _password_share(one.pages) >= PASSWORDS
    if has_login and has_password <= PASSWORDS / 2:
        return UrlKind.LOGIN
    if one.pages and (one.listed >= LISTED or one.lent >= LENT):
        return UrlKind.INDEX
    return None


def _find_people(classes: Sequence[Evidence], topics: Sequence[int]) -> frozenset[int]:
    """Finds the classes of people or keywords: short names, several on each topic's page."""
    of_url = {
        found.url: i
        for i, one in enumerate(classes)
        if one.named >= NAMED and not one.is_titled
        for found in one.urls.found
    }
    pages = [page for i in topics for page in classes[i].pages]
    linked = Counter(url for page in pages for url, _ in page.links if url in of_url)
    most = max(2.0, TEMPLATE_SHARE * len(pages))
    different: Counter[int] = Counter()
    links: Counter[int] = Counter()
    for url, times in linked.items():
        different[of_url[url]] += 1
        links[of_url[url]] += times if times <= most else 0
    return frozenset(
        i
        for i, count in different.items()
        if count >= PEOPLE and links[i] >= PEOPLE_A_PAGE * len(pages)
    )


def _held(one: Evidence, index: TitleIndex) -> float:
    """Share of the titled pages of a class whose title holds a topic's title, 0..1."""
    titled = [page for page in one.pages if page.title]
    return sum(index.holds(page.title) for page in titled) / max(1, len(titled))


def _by_words(one: Evidence, topics: TitleIndex) -> UrlKind | None:
    """The kind that the words of most URLs mean; None where they mean none, or pages refute it."""
    counts = Counter(kind_by_words(found.url) for found in one.urls.found)
    kind, times = counts.most_common(1)[0]
    if kind is UrlKind.OTHER or times < BY_WORDS * len(one.urls.found):
        return None
    return kind if _may_be(kind, one, topics) else None


def _may_be(kind: UrlKind, one: Evidence, topics: TitleIndex | None = None) -> bool:
    """Whether the pages of a class, if any, leave it a kind whose URLs are not fetched."""
    if kind is UrlKind.LOGIN:
        return _may_be_login(one)
    if kind not in (UrlKind.FORM, UrlKind.CALENDAR):
        return True
    titles = {page.title for page in one.pages if page.title}
    has_texts = one.share(*_TEXT) > 0.5 and one.prose >= PROSE
    # A form that shows the topic that it answers has its text, and one title or the topic's.
    has_titles = len(titles) >= TITLED * len(one.pages)
    return not (has_texts and has_titles and (not topics or _held(one, topics) < TITLED))


def _may_be_login(one: Evidence) -> bool:
    """Whether most pages of a class, if any, are OTHER with a password field or little text."""
    if not one.pages:
        return True
    return one.share(PageKind.OTHER) > 0.5 and (
        _password_share(one.pages) >= 0.5 or one.prose < PROSE
    )


def _password_share(pages: Sequence[PageFacts]) -> float:
    """Share of pages with a password field, 0..1."""
    return sum(page.has_password for page in pages) / max(1, len(pages))


def inherit_kinds(classes: Sequence[Evidence], kinds: list[UrlKind | None]) -> None:
    """Fills in kinds that are None from neighbours: first page, variant, shape (rules 5 to 7)."""
    known = [i for i, kind in enumerate(kinds) if kind is not None]
    missing = [i for i, kind in enumerate(kinds) if kind is None]
    found: dict[int, UrlKind] = {}
    starts = {
        i: {classes[i].urls.wild_values(found.url) for found in classes[i].urls.found}
        for i in known
        if kinds[i] in _PAGED
    }
    by_path: dict[str, list[int]] = {}
    of_shape: dict[str, Counter[UrlKind]] = {}
    loose = [_loose(one.urls.template) for one in classes]
    for i in known:
        by_path.setdefault(loose[i][0], []).append(i)
        of_shape.setdefault(classes[i].urls.key, Counter())[kinds[i] or UrlKind.OTHER] += 1
    for i in missing:
        near = next((j for j in starts if _continues(classes[i], classes[j], starts[j])), -1)
        if near < 0:
            near = _variant(i, by_path.get(loose[i][0], ()), loose, kinds)
        if near >= 0:
            found[i] = kinds[near] or UrlKind.OTHER
            continue
        same = of_shape.get(classes[i].urls.key, Counter())
        if same.total() >= OF_SHAPE:
            kind, times = same.most_common(1)[0]
            if times >= OF_SHAPE_SHARE * same.total():
                found[i] = kind
    for i, kind in found.items():
        if _may_be(kind, classes[i]):
            kinds[i] = kind


def _continues(one: Evidence, first: Evidence, starts: set[tuple[str, ...]]) -> bool:
    """Whether a class holds later pages of the URLs of another class.

    Args:
        one: The class that may hold later pages.
        first: The class that may hold first pages.
        starts: The ``wild_values`` of the URLs of ``first``.
    """
    words = {word for _, word in one.urls.fixed}
    if not {word for _, word in first.urls.fixed} <= words or not one.urls.found:
        return False
    count = len(next(iter(starts), ()))
    compared = one.urls.found[:MAX_COMPARED]
    values = [one.urls.wild_values(found.url) for found in compared]
    if not count or len(values[0]) <= count:
        return False
    shared = Counter(text for found in compared for text in found.texts)
    paged = sum(any(text.isdigit() or shared[text] > 2 for text in f.texts) for f in compared)
    begun = sum(each[:count] in starts for each in values)
    numbered = any(text.isdigit() for text in shared)
    return numbered and paged >= PAGE_LINKS * len(compared) and begun >= BEGUN * len(compared)


def _variant(
    one: int,
    others: Sequence[int],
    loose: Sequence[tuple[str, dict[str, str], frozenset[str]]],
    kinds: Sequence[UrlKind | None],
) -> int:
    """Finds the class of the same path whose parameters differ least; -1 without one.

    Args:
        one: Position of the class.
        others: Positions of the classes of its path.
        loose: The ``_loose`` form of all templates.
        kinds: The kind of each class.
    """
    _, words, names = loose[one]
    best, least = -1, 0
    for i in others:
        _, known, their_names = loose[i]
        if any(words.get(name) != word for name, word in known.items()):
            continue
        # Another word is another page of the same thing only where that is a list.
        if len(words) > len(known) and kinds[i] is not UrlKind.INDEX:
            continue
        differing = len(names ^ their_names)
        if best < 0 or differing < least:
            best, least = i, differing
    return best


def _loose(template: str) -> tuple[str, dict[str, str], frozenset[str]]:
    """Splits a template into path, fixed words of the query, and parameter names.

    ``/t-{n}-{n}?mod=view&page={n}`` gives ``("/t-*", {"mod": "view"}, {"mod", "page"})``.
    """
    path, _, query = template.partition("?")
    words = {}
    names = set()
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        names.add(name)
        if "{" not in part and (value or "=" not in part):
            words[name] = value
    joined = _WILD.sub(lambda match: _joined(match[0]), path)
    return joined, words, frozenset(names)


def _joined(segment: str) -> str:
    """Joins the wildcards of a segment: ``t-{n}-{n}`` to ``t-*``."""
    fixed = re.sub(r"[^A-Za-z{}]*\{[nwxs]\}[^A-Za-z{}]*", "*", segment)
    return re.sub(r"\*+", "*", fixed)
