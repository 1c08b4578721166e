"""The title of a page without its site's name.

``<title>`` mostly holds more than the title proper: channels, keywords, and the site in front or at
the end, such as ``题目_新闻中心_新浪网``. Titles contain separators themselves, so a piece between
separators is cut only by evidence:

1. A heading of the page that ``og:title`` or JSON-LD declares is the title, whatever ``<title>``
   says for search engines. Else a headline (declared, or the title line of the page) that equals
   one or more whole pieces of ``<title>``.
2. A piece at an end of ``<title>`` is the site's if it is a declared name, the host's name, ends
   with a word such as 频道 or 论坛, or is the whole text of a link of the page (a channel, a board,
   a keyword). One piece is always left.
3. A headline (``og:title``, JSON-LD, h1, a line at the begin of the text that the text tells of)
   replaces a ``<title>`` that is empty, the site's name alone, or of which neither the text nor a
   heading has a word: ``Untitled``, ``新闻详情``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Declared, Document
from crawlclean.cleaning.document.tree import HEADINGS, Limits, Tree
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.model.site_model import SiteIndex, SitePlaces
from crawlclean.cleaning.records import BodySource

MAX_TITLE_CHARS = Limits().max_title_chars
# Marks that no sentence has separate alone, a dash only with a space or a wide character.
_SEPARATOR = re.compile(
    r"\s*(?:[|｜丨_»«›‹•·＞＜]+|-{2,}|[–—]+)\s*|\s+[-~:：/<>]+\s+|(?<=[^\x00-\x7f])\s?-\s?|\s?-\s?(?=[^\x00-\x7f])"
    r"|\s+-|-\s+"
)
_MARK = re.compile(r"[|｜丨_»«›‹•·＞＜–—~:：/<>-]")  # every separator has one
# Signs that belong to words: the underscores of ``__main__`` and ``_thread``, and pairs of quotes.
_UNDERSCORED = re.compile(
    r"(?<!\w)__[a-z0-9]\w*?__(?!\w)"
    r"|(?:^|(?<=[|:>\u00b7\u2013\u2014\u00bb-]\s))_{1,2}[a-z]+(?:_[a-z0-9]+)*(?:_+(?=\s|$))?",
    re.A | re.I,
)
_QUOTED = re.compile(
    r"«(?=\S)[^«»]*(?<=\S)»|»(?=\S)[^«»]*(?<=\S)«|^«[^«»]+»|«[^«»]+»$"
    r"|‹(?=\S)[^‹›]*(?<=\S)›|›(?=\S)[^‹›]*(?<=\S)‹|＜(?=\S)[^＜＞]*(?<=\S)＞"
)
_MAX_PIECES = 12  # of a title; more are keywords, and pairs of pieces cost their square
_MAX_HEADINGS = 20  # of a page; its own stands at the beginning
_MAX_RUNS = 20  # of a heading, which may hold half a page
_LEAST_CHARS = 2  # letters and digits of a headline
_LEAST_OWN_CHARS = 2  # characters of a title that must be left without the learned site name
_MAX_SITE_CHARS = 20  # longest piece that is the site's by its last word
_LATIN_WORD = re.compile(r"[A-Za-z]+$")
_HOST = re.compile(r"(?:https?://)?(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,6}/?", re.I)
_PAGE_NUMBER = re.compile(r"\s?[(（\[]?(?:第\s?\d{1,5}\s?[页頁]|\bpage\s?\d{1,5})[)）\]]?$", re.I)
_TOLD = re.compile(r"[a-z]{4,}|[^\W\d_a-z]{2,}")  # shorter Latin words stand in any text
_LINES_ABOVE = 4  # of a text, of which one may be its title: kicker, title, byline, date
_MAX_HEADLINE_CHARS = 80  # longer lines are leads or paragraphs
_NO_HEADLINE = re.compile(r"(?:19|20)\d\d|[。.；;：:]$")  # a date, a sentence, a label
_SITE_METAS = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_HEADLINE_METAS = ("og:title", "twitter:title", "title", "dc.title", "articletitle")


def read_title(document: Document, body: Body, places: SitePlaces | None = None) -> str:
    """Returns the title of a page without its site's name, ``""`` without a title.

    Args:
        document: The parsed page.
        body: The body, with the number of the title line.
        places: The site model's places on the page, None without a model.
    """
    if places is not None and (said := places.said.value("title")):
        return said
    title = find_title(document.tree, document.declared, body.title_line, document.page.host, body)
    return title if places is None else cut_site_name(title, places.model.index)


def cut_site_name(title: str, index: SiteIndex) -> str:
    """Returns a title without the longest learned suffix and prefix of the host's titles.

    ``题目 - 山城网`` with the suffix `` - 山城网`` gives ``题目``; at least two characters stay.
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


def find_title(
    tree: Tree, declared: Declared, title_line: int, host: str = "", body: Body | None = None
) -> str:
    """Returns the title by the evidence of the page alone, ``""`` for a page without a title.

    Args:
        tree: The tree of the page.
        declared: The declarations of its head and its JSON-LD.
        title_line: Number of the line that is the title, -1 without one.
        host: The host of the page.
        body: The body, None where it is not known.
    """
    if body is not None and body.source in (BodySource.LIST, BodySource.POSTS, BodySource.NONE):
        body = None  # no one text, which tells of its title
    title = tree.title
    headline = tree.line_text(title_line)[:MAX_TITLE_CHARS] if title_line >= 0 else ""
    sites = site_names(declared, host)
    said = [*declared.metas(_HEADLINE_METAS[0]), declared.data.headline]
    said = [x for x in said if x and plain_title(x) not in sites]
    stated = [*said, headline] if headline and plain_title(headline) not in sites else said
    # 山城网 alone, of which neither heading nor text tells, is a site.
    is_name = len(_bounds(title)) == 1 and _has_site_word(title)
    is_name = is_name and title not in f"{headline} {body.text if body is not None else title}"
    if not title or is_name or plain_title(title) in sites:
        stated = [x for x in (*stated, *_lines_above(tree, body)) if title not in x or not title]
        if not stated:
            return (title or headline)[:MAX_TITLE_CHARS]
        title = stated[0]
    elif body is not None and not _tells(title, f"{body.text} {headline}"):
        # What neither text nor heading has a word of is a title of all pages: Untitled, 新闻详情.
        others = (x for x in (*stated, *_lines_above(tree, body)) if x not in title)
        told = (x for x in others if _tells(x, body.text))
        title = next(told, title)
    known = _Site(tree, title, sites)
    shown: dict[str, bool] = {}
    for level, start, end in tree.headings[:_MAX_HEADINGS]:
        runs = tree.texts[start : min(end, start + _MAX_RUNS)] if level == 1 else ()
        if heading := " ".join("".join(text[:MAX_TITLE_CHARS] for text in runs).split()):
            shown[heading] = True
    known.is_shown = known.plain in map(plain_title, shown)
    if headline:
        shown[headline] = tree.block_tags[tree.line_blocks[title_line]] in HEADINGS
    # What the page shows as a heading and declares as its headline is the title.
    headlines = {*map(plain_title, said)} - {""}
    both = next((x for x in shown if plain_title(x) in headlines), "")
    if both:
        return both[:MAX_TITLE_CHARS]
    found = _longest_part(title, shown, known)
    if not found:
        # A declared headline may itself hold a part of the site's name.
        stated = [declared.data.headline, *declared.metas(*_HEADLINE_METAS)]
        found = _longest_part(title, {x: True for x in stated if x}, known)
    title = found or _without_site(title, known)
    return (_PAGE_NUMBER.sub("", title) or title)[:MAX_TITLE_CHARS]


def _tells(title: str, text: str) -> bool:
    """Whether a text has a word of a title, or two Han characters of it side by side."""
    lower = text.lower()
    return any(word in lower for word in _words(title))


def _words(title: str) -> Iterator[str]:
    for word in _TOLD.findall(title.lower()):
        yield from (word,) if word.isascii() else map("".join, pairwise(word))


def _lines_above(tree: Tree, body: Body | None) -> Iterator[str]:
    """Yields the lines above a body that its text tells of, without links; the nearest first.

    The first line of the body is one of them: a heading without a tag begins many bodies.
    """
    if body is None or not body.lines:
        return
    rest = body.text.partition("\n")[2].lower()
    for line in range(body.first, max(-1, body.first - _LINES_ABOVE), -1):
        start, end = tree.line_runs(line)
        text = tree.line_text(line)
        words = [*_words(text)] if len(text) <= _MAX_HEADLINE_CHARS else []
        is_told = 2 * sum(word in rest for word in words) >= len(words) > 1
        if is_told and not _NO_HEADLINE.search(text) and -1 in set(tree.anchor_of[start:end]):
            yield text


def brand_names(tree: Tree) -> set[str]:
    """Returns the site's names in the pieces behind a title: {山城} for ``题目_山城新闻``."""
    brands: set[str] = set()
    words, _ = _site_words()
    for start, end in _bounds(tree.title)[1:]:
        piece = tree.title[start:end]
        if len(piece) <= _MAX_SITE_CHARS and piece.endswith(words):
            brands.update(piece.removesuffix(x) for x in words if piece.endswith(x))
    return {plain_title(brand) for brand in brands} - {""}


def site_names(declared: Declared, host: str) -> set[str]:
    """Returns the declared names of a site and its host's, in the form of ``plain_title``."""
    names = {*map(plain_title, (*declared.data.sites, *declared.metas(*_SITE_METAS)))}
    names |= _host_names(host)
    names.discard("")
    return names


@lru_cache(maxsize=64)
def _host_names(host: str) -> frozenset[str]:
    """A host and its labels as plain titles: ``news.example.com`` gives also news, example."""
    host = host.partition(":")[0].removeprefix("www.")
    labels = [label for label in host.split(".")[:-1] if len(label) > 2]
    return frozenset(map(plain_title, (host, *labels)))


class _Site:
    """The pieces of a title, by number, and the evidence that a piece is the site's.

    Attributes:
        names: The site's names as plain titles.
        plain: The whole title as a plain title.
        bounds: Begin and end of each piece in the title.
        is_shown: Whether a heading is the whole title: then a link with a piece is no evidence.
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
        """Whether a piece is a name of the site, or any host name."""
        piece = self._pieces[i]
        return plain_title(piece) in self.names or _HOST.fullmatch(piece) is not None

    def is_site(self, i: int) -> bool:
        """Whether a piece is the site's by any evidence."""
        piece = self._pieces[i]
        if _has_site_word(piece) or self.has_name(i):
            return True
        return not self.is_shown and self._is_linked(piece)

    def is_site_behind(self, end: int) -> bool:
        """Whether there are pieces from an index of the title on, all the site's by words."""
        behind = [i for i, (start, _) in enumerate(self.bounds) if start >= end]
        return bool(behind) and all(
            _has_site_word(self._pieces[i]) or self.has_name(i) for i in behind
        )

    def _is_linked(self, piece: str) -> bool:
        if self._linked is None:
            self._linked = set(_linked(self._tree, set(self._pieces)))
        return piece in self._linked


def _longest_part(title: str, headlines: dict[str, bool], site: _Site) -> str:
    """The longest headline that is whole pieces of the title, ``""`` for none.

    The values of ``headlines`` are true for headings and declared headlines.
    """
    parts = (_part_of(title, headline, site, sure) for headline, sure in headlines.items())
    return max(parts, key=len, default="")


def _part_of(title: str, headline: str, site: _Site, is_sure: bool) -> str:
    """The part of the title that equals the headline and consists of whole pieces, else ``""``.

    The last pieces may be the site's name: a headline there counts only if it is a heading or
    declared (``is_sure``) and all pieces before are the site's.
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
                # A headline that ends like a site's name must be followed by the site alone.
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


@lru_cache(maxsize=16)  # called for the title, and again for the names in it
def _bounds(title: str) -> tuple[tuple[int, int], ...]:
    """Begin and end of each piece of a title: ``题目_新浪`` gives ((0, 2), (3, 5))."""
    if _MARK.search(title) is None:
        return ((0, len(title)),) if title else ()
    bounds: list[tuple[int, int]] = []
    begin = 0
    # A mark that belongs to a word is none: ``xxmainxx`` stands for ``__main__``.
    plain = _UNDERSCORED.sub(lambda match: match[0].replace("_", "x"), title)
    plain = _QUOTED.sub(lambda match: f"x{match[0][1:-1]}x", plain)
    for match in _SEPARATOR.finditer(plain):
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
        # A piece in front is the site's only by its names: many titles begin with a topic.
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
    """Whether a short piece ends with a word of sites: 频道, 论坛, ``Forum``."""
    if len(piece) > _MAX_SITE_CHARS:
        return False
    wide, latin = _site_words()
    word = _LATIN_WORD.search(piece)
    return piece.endswith(wide) if word is None else word[0].lower() in latin


@lru_cache(maxsize=1)
def _site_words() -> tuple[tuple[str, ...], frozenset[str]]:
    """The last words of site names: Chinese ones, and Latin ones in lower case."""
    words = sorted(word_list("site_words"))
    return (
        tuple(word for word in words if not word.isascii()),
        frozenset(word for word in words if word.isascii()),
    )
