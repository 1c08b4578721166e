"""Evidence for the kind of a URL class: the anchor texts of its URLs, and its fetched pages.

A *unit* is a Chinese, Japanese or Korean character, or a word of another script.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from crawlclean.cleaning.features.lines import count_words, plain_title
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.url_classes.classes import UrlClass
from crawlclean.cleaning.url_classes.sample import FoundUrl, PageFacts

TITLE_CHARS = 4  # shortest title without punctuation that is compared
MAX_TITLE_CHARS = 200
NAMED = 0.5  # share of a class's URLs with an anchor text of their own in a class of titles
TITLE_UNITS = 4.5  # longer anchor texts may be titles: people and boards have shorter names
SHARED_URLS = 2.0  # a text of more URLs of a class, and of a larger share of them, names no URL
SHARED_SHARE = 0.1
TEMPLATE_PAGES = 4.0  # a line on more pages, and on a larger share of them, is the template's
TEMPLATE_SHARE = 0.05
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
        names = _names(found, shared, most)
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


def _names(found: FoundUrl, shared: Counter[str], most: float) -> list[str]:
    """The anchor texts of a URL that are no numbers and that few URLs of the class share."""
    return [text for text in found.texts if shared[text] <= most and not text.isdigit()]


def template_lines(every: Sequence[Evidence]) -> frozenset[int]:
    """Finds the lines that stand on pages of many titles; forms of one page have one title."""
    titles: dict[int, set[str]] = defaultdict(set)
    for one in every:
        for page in one.pages:
            for line, _ in page.lines:
                titles[line].add(page.title)
    pages = len({page.title for one in every for page in one.pages})
    most = max(TEMPLATE_PAGES, TEMPLATE_SHARE * pages)
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
    lent = [is_lent for page in pages for is_lent in _lent(page, host, TITLE_UNITS)]
    if evidence.listed >= MIN_LISTED and len(lent) >= MIN_LENT:
        evidence.lent = sum(lent) / len(lent)


def _lent(page: PageFacts, host: _Host, least: float) -> list[bool]:
    """For each page linked to by its title: whether the two pages share a line.

    A line that several of the linked pages have does not count.
    """
    mine = own_lines(page, host.is_template)
    listed = []
    for url, text in page.links:
        there = host.pages.get(url)
        # A short name may be a person's, whose page may hold all posts of a thread.
        if there is None or count_words(text) <= least or _is_title(text, page.title):
            continue
        if _is_title(text, there.title):
            listed.append({line for line, _ in there.lines if line in mine})
    holders = Counter(line for lines in listed for line in lines)
    return [any(holders[line] == 1 for line in lines) for lines in listed]


def _is_title(text: str, title: str) -> bool:
    """Whether a text is part of a plain title, and long enough to mean something."""
    plain = plain_title(text)
    return len(plain) >= TITLE_CHARS and plain in title
