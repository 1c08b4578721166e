"""The title of a page without its site's name, as all steps use it.

``<title>`` mostly holds more than the title proper: channels, keywords, the site before or behind
it. Nothing is cut without evidence, because titles have separators of their own:

1. The page's own headline: what ``og:title``, JSON-LD or the title's line on the page say, when it
   stands in ``<title>`` from one boundary to another.
2. Pieces at the ends of ``<title>`` that are the site's: its declared name, its host name, a word
   such as 频道 or 论坛 at the end, or the whole text of one of the page's links (a channel, a
   board, a keyword). One piece is always left.
3. A ``<title>`` that is the site's name alone, or none, gives way to the page's headline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cleaning.body.page_body import Body
from cleaning.document.document import Declared, Document
from cleaning.document.limits import Limits
from cleaning.document.tree import HEADINGS, Tree
from cleaning.features.lines import plain_title
from cleaning.lexicon import word_list
from cleaning.model.index import SiteIndex
from cleaning.model.places import SitePlaces

MAX_TITLE_CHARS = Limits().max_title_chars
# Marks no sentence has count alone, a dash with a space or beside a wide character.
_SEPARATOR = re.compile(
    r"\s*(?:[|｜丨_»«›‹•·＞＜]+|-{2,}|[–—]+)\s*|\s+[-~:：/<>]+\s+|(?<=[^\x00-\x7f])\s?-\s?|\s?-\s?(?=[^\x00-\x7f])"
    r"|\s+-|-\s+"
)
_MARK = re.compile(r"[|｜丨_»«›‹•·＞＜–—~:：/<>-]")  # every separator has one
_MAX_PIECES = 12
_MAX_HEADINGS = 20
_MAX_RUNS = 20
_LEAST_CHARS = 2  # letters and digits of a headline
_LEAST_OWN_CHARS = 2  # of a title without what the host taught to be its name
_MAX_SITE_CHARS = 20  # of a piece that is the site's by its last word
_LATIN_WORD = re.compile(r"[A-Za-z]+$")
_HOST = re.compile(r"(?:https?://)?(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,6}/?", re.I)
_PAGE_NUMBER = re.compile(r"\s?[(（\[]?(?:第\s?\d{1,5}\s?[页頁]|\bpage\s?\d{1,5})[)）\]]?$", re.I)
_SITE_METAS = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_HEADLINE_METAS = ("og:title", "twitter:title", "title", "dc.title", "articletitle")


def read_title(document: Document, body: Body, places: SitePlaces | None = None) -> str:
    """The title of a page without its site's name, ``""`` when it has none.

    Args:
        document: The parsed page.
        body: Its body, which knows the line that is the title.
        places: What its host taught, None without a model.
    """
    host = document.page.host
    title = find_title(document.tree, document.declared, body.title_line, host)
    return title if places is None else cut_site_name(title, places.model.index)


def cut_site_name(title: str, index: SiteIndex) -> str:
    """A title without the longest end and beginning that other titles of the host have.

    It stays whole where nothing of its own would be left.
    """
    for suffix in index.suffixes:
        if title.endswith(suffix) and len(title) - len(suffix) >= _LEAST_OWN_CHARS:
            title = title[: -len(suffix)].rstrip()
            break
    for prefix in index.prefixes:
        if title.startswith(prefix) and len(title) - len(prefix) >= _LEAST_OWN_CHARS:
            title = title[len(prefix) :].lstrip()
            break
    return title


def find_title(tree: Tree, declared: Declared, title_line: int, host: str = "") -> str:
    """The title of a page, ``""`` when it has none.

    Args:
        tree: The parsed page.
        declared: What its head and its JSON-LD declare.
        title_line: The line that is its title, -1 without.
        host: Its host.
    """
    title = tree.title
    headline = tree.line_text(title_line)[:MAX_TITLE_CHARS] if title_line >= 0 else ""
    sites = site_names(declared, host)
    if not title or plain_title(title) in sites:
        others = [*declared.metas(_HEADLINE_METAS[0]), declared.data.headline, headline]
        others = [x for x in others if x and plain_title(x) not in sites]
        if not others:
            return (title or headline)[:MAX_TITLE_CHARS]
        title = others[0]
    known = _Site(tree, title, sites)
    shown = {x: True for x in _first_headings(tree) if x}
    known.is_shown = known.plain in map(plain_title, shown)
    if headline:
        shown[headline] = tree.block_tags[tree.line_blocks[title_line]] in HEADINGS
    found = _longest_part(title, shown, known)
    if not found:
        # What is declared may hold a part of the site's name itself.
        said = declared.data.headline, *declared.metas(*_HEADLINE_METAS)
        found = _longest_part(title, {x: True for x in said if x}, known)
    title = found or _without_site(title, known)
    return (_PAGE_NUMBER.sub("", title) or title)[:MAX_TITLE_CHARS]


def brand_names(tree: Tree) -> set[str]:
    """Return the site's names in the pieces behind a title (山城 of 山城新闻), as plain titles."""
    brands: set[str] = set()
    words, _ = _site_words()
    for start, end in _bounds(tree.title)[1:]:
        piece = tree.title[start:end]
        if len(piece) <= _MAX_SITE_CHARS and piece.endswith(words):
            brands.update(piece.removesuffix(x) for x in words if piece.endswith(x))
    return {plain_title(brand) for brand in brands} - {""}


def site_names(declared: Declared, host: str) -> set[str]:
    """Return the names of a page's site, from its declarations and its host, as plain titles."""
    names = {*map(plain_title, (*declared.data.sites, *declared.metas(*_SITE_METAS)))}
    names |= _host_names(host)
    names.discard("")
    return names


@lru_cache(maxsize=64)
def _host_names(host: str) -> frozenset[str]:
    host = host.partition(":")[0].removeprefix("www.")
    labels = [label for label in host.split(".")[:-1] if len(label) > 2]
    return frozenset(map(plain_title, (host, *labels)))


def _first_headings(tree: Tree) -> list[str]:
    """Texts of the first headings of the first level."""
    found = (
        "".join(text[:MAX_TITLE_CHARS] for text in tree.texts[start : min(end, start + _MAX_RUNS)])
        for level, start, end in tree.headings[:_MAX_HEADINGS]
        if level == 1
    )
    return [" ".join(text.split()) for text in found]


class _Site:
    """The pieces of a title, and the evidence that one is the site's.

    Attributes:
        is_shown: Whether a heading is the whole title: then links to its pieces are no evidence.
    """

    def __init__(self, tree: Tree, title: str, names: set[str]) -> None:
        self.names = names
        self.plain = plain_title(title)
        self.bounds = _bounds(title)
        self._tree = tree
        self._pieces = [title[start:end] for start, end in self.bounds]
        self._linked: set[str] | None = None
        self.is_shown = False

    def has_name(self, i: int) -> bool:
        """Whether a piece is a name of the site or a host."""
        piece = self._pieces[i]
        return plain_title(piece) in self.names or _HOST.fullmatch(piece) is not None

    def is_site(self, i: int) -> bool:
        """Whether a piece is the site's by any evidence."""
        piece = self._pieces[i]
        if _has_site_word(piece) or self.has_name(i):
            return True
        return not self.is_shown and self._is_linked(piece)

    def is_site_behind(self, end: int) -> bool:
        """Whether pieces follow behind an index of the title, all the site's by their words."""
        behind = [i for i, (start, _) in enumerate(self.bounds) if start >= end]
        return bool(behind) and all(
            _has_site_word(self._pieces[i]) or self.has_name(i) for i in behind
        )

    def _is_linked(self, piece: str) -> bool:
        if self._linked is None:
            self._linked = set(_linked(self._tree, set(self._pieces)))
        return piece in self._linked


def _longest_part(title: str, headlines: dict[str, bool], site: _Site) -> str:
    parts = (_part_of(title, headline, site, sure) for headline, sure in headlines.items())
    return max(parts, key=len, default="")


def _part_of(title: str, headline: str, site: _Site, is_sure: bool) -> str:
    """The headline when it is a part of the title that ends where pieces end, else ``""``.

    At the title's end it may be the site's own name: there it must be a heading or declared, and
    what is before it the site's.
    """
    if len(headline) >= len(title) + 4:
        return ""
    wanted = plain_title(headline)
    if wanted not in site.plain or len(wanted) < _LEAST_CHARS:
        return ""
    if wanted in site.names:
        return ""
    bounds = site.bounds
    ends_like_site = _has_site_word(headline)
    for first, (start, _) in enumerate(bounds):
        for _, end in reversed(bounds):
            if end <= start:
                break
            if end - start >= len(wanted) and plain_title(title[start:end]) == wanted:
                # One that ends as names of sites do must have nothing but the site behind it.
                if ends_like_site and not (is_sure and not first and site.is_site_behind(end)):
                    return ""
                is_whole = end - start == len(title)
                if is_whole or (
                    end == bounds[-1][1]
                    and first
                    and not (is_sure and all(map(site.is_site, range(first))))
                ):
                    return ""
                return title[start:end]
    return ""


@lru_cache(maxsize=16)  # asked for the title, and for the names in it
def _bounds(title: str) -> tuple[tuple[int, int], ...]:
    """Where the pieces of a title begin and end."""
    if _MARK.search(title) is None:
        return ((0, len(title)),) if title else ()
    bounds: list[tuple[int, int]] = []
    begin = 0
    for match in _SEPARATOR.finditer(title):
        if len(bounds) == _MAX_PIECES - 1:
            break
        if match.start() > begin:
            bounds.append((begin, match.start()))
        begin = match.end()
    if begin < len(title):
        bounds.append((begin, len(title)))
    return tuple(bounds)


def _without_site(title: str, site: _Site) -> str:
    """The title without the pieces at its ends that are the site's."""
    bounds = site.bounds
    if len(bounds) < 2:
        return title
    first, last = 0, len(bounds) - 1
    while last > first and site.is_site(last):
        last -= 1
    if last == len(bounds) - 1:
        # In front a name is the site's only by its own evidence: many titles begin with a topic.
        while first < last and plain_title(title[slice(*bounds[first])]) in site.names:
            first += 1
    return title[bounds[first][0] : bounds[last][1]].strip() or title


def _linked(tree: Tree, pieces: set[str]) -> Iterator[str]:
    """The pieces that are the whole text of a link."""
    texts = tree.texts
    for anchor in tree.anchors:
        start = anchor.start
        if anchor.end == start + 1 and (text := texts[start].strip()) in pieces:
            yield text


def _has_site_word(piece: str) -> bool:
    if len(piece) > _MAX_SITE_CHARS:
        return False
    wide, latin = _site_words()
    word = _LATIN_WORD.search(piece)
    return piece.endswith(wide) if word is None else word[0].lower() in latin


@lru_cache(maxsize=1)
def _site_words() -> tuple[tuple[str, ...], frozenset[str]]:
    words = sorted(word_list("site_words"))
    return (
        tuple(word for word in words if not word.isascii()),
        frozenset(word for word in words if word.isascii()),
    )
