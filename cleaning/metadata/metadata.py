"""Kind, author, date of publication and language of a page.

The title is read earlier, because the links need it (``title``). The language is found here:
templates of Chinese sites often declare English, so letters decide first, in parts of the body from
its begin to its end. Kana are Japanese, hangul Korean, Han Chinese; another script leaves a few
languages. Among Latin languages the most frequent words decide (``data/language_words.txt``),
against the declared language only by a clear majority.
Simplified and traditional Chinese are both ``zh``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import compress, pairwise
from operator import attrgetter, itemgetter
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Declared, Document, is_article
from crawlclean.cleaning.document.tree import Anchor, Tree
from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.metadata.byline import Byline, find_author
from crawlclean.cleaning.metadata.dates import read_timestamp, zone_of
from crawlclean.cleaning.metadata.published import find_published, is_dated
from crawlclean.cleaning.model.overrides import Said
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.posts.posts import is_forum
from crawlclean.cleaning.records import BodySource, Link, LinkKind, PageKind
from crawlclean.cleaning.url_classes.classes import asks_password
from crawlclean.cleaning.urls.normal_form import normalize, resolve

# A defect of this program in one field of a record costs that field, not the record.

# What wrong code raises on odd input. Not Exception: a job's time limit is one, and must pass.
DEFECTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

T = TypeVar("T")


class LostFields:
    """Reads the fields of one record that stand for themselves.

    Attributes:
        warnings: One for each field that was lost, such as ``published_at: OverflowError: ...``.
    """

    def __init__(self) -> None:
        """Starts with no field lost."""
        self.warnings: tuple[PageWarning, ...] = ()

    def read(self, field: str, read: Callable[[], T], instead: T) -> T:
        """Returns what ``read`` returns, or ``instead`` and a warning when it has a defect.

        Raises:
            ServiceError: One of this program's errors, which is no defect.
        """
        try:
            return read()
        except ServiceError:
            raise
        except DEFECTS as error:
            detail = f"{field}: {type(error).__name__}: {error}"[:200]
            self.warnings += (PageWarning(kind=WarningKind.LOST_FIELD, detail=detail),)
            return instead


# The kind of a page: one text (ARTICLE), posts on one topic (THREAD), links (INDEX), or OTHER.
#
# Evidence of the page alone, in this order:
#
# 1. JSON-LD types: a collection, a profile, a question, a forum post.
# 2. The words of the URL (``data/kind_words.txt``): of forms; of login pages where the page asks
#    for a password or has hardly any text; of search and profile pages without long text; on forums
#    those of threads and boards.
# 3. A body of posts. Boards and profiles repeat one part for every row, too, but their rows are
#    links.
# 4. Points for one text: a title above the body, a declared article, long text outside links, text
#    in one stretch and not in pieces between headlines of other pages, a URL of an article or a
#    list. Enough points make an ARTICLE; else enough links make an INDEX.

_INDEX_TYPES = frozenset(("collectionpage", "itemlist"))
_OTHER_TYPES = frozenset(("profilepage", "searchresultspage", "contactpage", "checkoutpage"))
_THREAD_TYPES = frozenset(("discussionforumposting", "qapage"))
_HEADLINE_CHARS = 8  # shortest link text that is a headline, not a channel
_MIN_LINKS = 3  # fewer are no list
_TEXT_POINTS = 10  # one strong sign, or two weak ones: each has 5 to 25
_MOST_OF_LINKS = 14 + 7  # most points for few links outside the body
_LEAST_OF_LINKS = 7  # most points against many links outside the body
_DATED = 20  # points for a date between title and body: a notice or pictures need no more
_MANY_PIECES = 4  # headlines of other pages that part a text
_LIST_SHARE = 0.7  # of the lines of a body; a text with many references stays below
_TEXT_TYPES = frozenset(("article", "news", "newsarticle", "blog"))
_LATIN_WORD = re.compile(r"[a-z]+")
_NUMBER_AT_END = re.compile(r"\d{3}[^/]{0,12}$|(?:19|20)\d\d[-/]?\d\d")
_PAGE_OF_LIST = re.compile(
    r"(?:^|/)(?:page[/_-]?\d{1,9}|p\d{1,3}|(?:list|index)[_-]\d{1,9})(?:/|\.\w+)?(?:index\.\w+)?$"
)
_WHITE = " \n\t"
_SAID = (BodySource.SITE, BodySource.OVERRIDE)  # by the host's model, or by a person
_SURE_CHARS = 400  # a text of 400 characters is no form or profile
_LITTLE_CHARS = 120  # a shorter text does not speak against a login page
_LONG_CHARS = 300  # a teaser is shorter
_SHORT_CHARS = 30  # a label, a message
_MAX_LINKS_READ = 5000  # so that a page of many links costs no more; their share is known by then
_FEW_HEADLINES = 8  # a page of news ends with some, a list has more
_POST_CHARS = 60  # in one stretch: rows of a board on a home page have less
_MAX_PARAMETERS = 20  # of an address; those with words come first
_ACTIONS = frozenset(
    ("mod", "action", "act", "mode", "do", "view", "a", "m", "c", "r", "op", "page")
)
_NUMBER = re.compile(r"=\d{2,}")
_HOME = re.compile(r"/?(?:(?:index|default|home|portal|forum)\.\w{2,5})?")
_DIRECTORY = re.compile(r"/(?:index|default)\.\w{2,5}$")
_WORD_FILE = re.compile(r"(?<=/)_*[a-z]+_*\.\w{2,5}$", re.I)
_EMAIL_FIELD = re.compile(r"=\s{0,4}[\"']?email\b", re.I)


def decide_kind(document: Document, body: Body, lines: Byline, links: tuple[Link, ...]) -> PageKind:
    """Returns the kind of a page.

    Args:
        document: The parsed page.
        body: The body of the page.
        lines: The byline of the page.
        links: The links of the page with their kinds.
    """
    if body.thread is not None and body.thread.is_known:
        return PageKind.THREAD
    tree, declared, url = document.tree, document.declared, document.page.url
    types = declared.data.types
    words = kind_of_words(url)
    if types & _OTHER_TYPES:
        return PageKind.OTHER
    if types & _INDEX_TYPES and not any(map(is_article, types)):
        return PageKind.INDEX
    if types & _THREAD_TYPES:
        return PageKind.THREAD
    facts = _Facts(document, body, lines, links)
    if words == "form" or (words == "login" and _is_login(document, facts)):
        return PageKind.OTHER
    words = kind_of_words(url, skip="login") if words == "login" else words
    named = url
    if words == "thread" and body.thread is None and _WORD_FILE.search(urlsplit(url).path):
        # A page with the name thread.html is about threads; those of a forum have a number.
        named = url.rpartition("/")[0] + "/" if "?" not in url else url
        words = kind_of_words(named)
    on_forum = is_forum(named, tree.title)
    if words == "other" and (on_forum or facts.chars < _SURE_CHARS):
        return PageKind.OTHER
    if body.text and (words == "post" or (words == "thread" and on_forum)):
        return PageKind.THREAD
    if on_forum and words == "index":
        return PageKind.INDEX
    if body.source is BodySource.POSTS and (
        facts.stretch >= _POST_CHARS
        if _is_home(url)
        else facts.has_title or facts.chars > _HEADLINE_CHARS * facts.headlines
    ):
        return PageKind.THREAD
    # Many teasers beside a text make the body a list; who declares an article has one.
    is_one = body.source is not BodySource.LIST or any(map(is_article, types))
    if body.text and is_one and _is_text(declared, facts, words, url):
        return PageKind.THREAD if on_forum and is_forum(named, "") else PageKind.ARTICLE
    is_list = len(facts.others) >= _MIN_LINKS or facts.is_list
    return PageKind.INDEX if is_list else PageKind.OTHER


class _Facts:
    """The features of a page that get points; costly ones are computed on demand.

    Attributes:
        chars: Characters of the body without white space.
        has_title: Whether the title line is no link and stands before the body or begins it.
        title_is_linked: Whether the title line is a link.
        is_sure: Whether the body was found by running text or by the site's rule.
    """

    def __init__(
        self, document: Document, body: Body, lines: Byline, links: tuple[Link, ...]
    ) -> None:
        tree = document.tree
        self._document, self._tree = document, tree
        self._body, self._lines, self._links = body, lines, links
        self.chars = len(body.text) - sum(map(body.text.count, _WHITE))
        title = lines.title
        start, end = tree.line_runs(title) if title >= 0 else (0, 0)
        anchors = set(tree.anchor_of[start:end])
        hrefs = {tree.anchors[anchor].href for anchor in anchors if anchor >= 0}
        # Blogs link a title to its own page, home pages the site's name.
        self.title_is_linked = bool(anchors) and -1 not in anchors and not _is_own(document, hrefs)
        is_above = title < lines.first or lines.has_title_inside
        self.has_title = title >= 0 and not self.title_is_linked and is_above
        self.is_sure = body.source in (BodySource.CONTAINER, *_SAID)

    @property
    def is_dated(self) -> bool:
        """Whether a date stands between the title and the body."""
        return is_dated(self._document, self._lines)

    @cached_property
    def others(self) -> list[int]:
        """Characters of each link with text outside the body."""
        links = self._links[:_MAX_LINKS_READ]
        return [len(x.text) for x in links if x.kind is not LinkKind.BODY and x.text]

    @cached_property
    def headlines(self) -> int:
        """Number of links outside the body with the text of a headline (8 characters)."""
        return sum(
            len(link.text) >= _HEADLINE_CHARS
            and link.kind is not LinkKind.BODY
            and link.kind not in _NO_HEADLINES
            for link in self._links[:_MAX_LINKS_READ]
        )

    @property
    def _runs(self) -> tuple[int, int]:
        """First run of the body, and the run behind its last."""
        tree, lines = self._tree, self._lines
        return tree.line_starts[lines.first], tree.line_runs(lines.last)[1]

    @cached_property
    def _inside(self) -> range:
        """Numbers of the links between the first and the last run of the body."""
        start, end = self._runs
        anchors = self._tree.anchors
        first = bisect_left(anchors, start, key=_start_of)
        return range(first, min(bisect_left(anchors, end, first, key=_start_of), len(self._links)))

    @cached_property
    def stretches(self) -> list[int]:
        """Characters of the body in each stretch between headlines of other pages."""
        tree, links = self._tree, self._links
        if self._lines.first < 0:
            return [0]
        anchors, line_of = tree.anchors, tree.line_of
        start, end = self._runs
        # A headline over an excerpt has the kind BODY but fills its line.
        breaks = {
            line_of[anchors[i].start]
            for i in self._inside
            if len(links[i].text) >= _HEADLINE_CHARS
            and not links[i].href.startswith("#")
            and (links[i].kind is not LinkKind.BODY or _fills_line(tree, anchors[i]))
        }
        texts, kept = tree.texts, self._body.is_kept
        edges = [start, *(tree.line_starts[line] for line in sorted(breaks)), end]
        return [sum(map(len, compress(texts[a:b], kept[a:b]))) for a, b in pairwise(edges)]

    @cached_property
    def is_list(self) -> bool:
        """Whether most lines of a body found by the site's rule are links to other pages.

        A body found by the page alone has no lines of links.
        """
        if self._body.source not in _SAID:
            return False
        tree, kept = self._tree, self._body.is_kept
        found = {
            tree.line_of[anchor.start]
            for anchor in map(tree.anchors.__getitem__, self._inside)
            if anchor.start < anchor.end
            and kept[anchor.start]
            and not anchor.href.startswith("#")
            and _fills_line(tree, anchor)
        }
        return len(found) >= max(_MIN_LINKS, _LIST_SHARE * len(self._body.lines))

    @property
    def stretch(self) -> int:
        """Characters of the longest stretch."""
        return max(self.stretches)


def _fills_line(tree: Tree, anchor: Anchor) -> bool:
    """Whether a link is the whole text of its line."""
    if anchor.start == anchor.end:
        return False
    start, end = tree.line_runs(tree.line_of[anchor.start])
    return anchor.start <= start and end <= anchor.end


def _is_own(document: Document, hrefs: set[str]) -> bool:
    """Whether all addresses are the page's own, which is no home page."""
    page = document.page
    if _is_home(page.url):
        return False
    own = {normalize(page.url), document.declared.canonical_url}
    return all(resolve(document.base, href, page.encoding) in own for href in hrefs)


_start_of = attrgetter("start")
_NO_HEADLINES = (LinkKind.NAVIGATION, LinkKind.FUNCTION, LinkKind.LEGAL)


def _is_text(declared: Declared, facts: _Facts, words: str, url: str) -> bool:
    """Whether a page has enough points for one text; in whole tenths, which add up exactly."""
    points = 0
    if any(map(is_article, declared.data.types)) and not declared.data.types & _INDEX_TYPES:
        points += 25
    if declared.meta.get("og:type", "").strip().lower() in _TEXT_TYPES:
        points += 10
    if not points and facts.is_list:
        return False
    if facts.has_title:
        points += 15
    else:
        points -= 15 if facts.title_is_linked else 5
    points += 8 if facts.is_sure else -5
    if facts.chars >= _LONG_CHARS:
        points += 10
    elif facts.chars < _SHORT_CHARS:
        points -= 10
    # Like an article's, ``/20261122/1234.html``, or like a list's.
    path, by_url = urlsplit(url).path, 0
    if _PAGE_OF_LIST.search(path) or words == "index" or _is_home(url):
        by_url = -15
    elif _NUMBER_AT_END.search(path):
        by_url = 7
    elif _DIRECTORY.search(path):
        by_url = -15
    points += by_url
    if _TEXT_POINTS - _DATED <= points - _LEAST_OF_LINKS < _TEXT_POINTS and facts.is_dated:
        points += _DATED
    # Most pages are decided without counting their links.
    if points + _MOST_OF_LINKS < _TEXT_POINTS:
        return False
    if len(facts.stretches) > _MANY_PIECES and facts.stretch < 0.4 * facts.chars:
        points -= 25
    if points - _LEAST_OF_LINKS >= _TEXT_POINTS:
        return True
    chars = sum(facts.others)
    if facts.chars > chars:
        points += 7 if facts.chars < 5 * chars else 14
    elif 8 * facts.chars < chars:
        points -= _LEAST_OF_LINKS
    if not by_url and facts.headlines < _FEW_HEADLINES:
        points += 7
    return points >= _TEXT_POINTS


def _is_login(document: Document, facts: _Facts) -> bool:
    """Whether a page with a word of login pages in its URL is one.

    Terms of use make a registration page long; elsewhere a password field above a long text is the
    site's, on every page.
    """
    if facts.chars < _LITTLE_CHARS:
        return True
    page = document.page
    if facts.chars < _SURE_CHARS and _EMAIL_FIELD.search(page.html):
        return True
    if not asks_password(page.html):
        return False
    name = urlsplit(page.url).path.lower().rstrip("/").rpartition("/")[2].partition(".")[0]
    return word_table("kind_words").get(name) == "login" or facts.chars < _SURE_CHARS


def _is_home(url: str) -> bool:
    """Whether an address is that of a home page, and no number (``/?p=3289``) names another."""
    parts = urlsplit(url)
    return _HOME.fullmatch(parts.path) is not None and not _NUMBER.search(parts.query)


@lru_cache(maxsize=4096)
def kind_of_words(url: str, skip: str = "") -> str:
    """Returns the kind by the words of a URL (``data/kind_words.txt``), ``""`` without any.

    ``/forum.php?mod=viewthread&tid=7`` gives ``thread``.

    Args:
        url: Any URL.
        skip: A kind whose words do not count, ``"login"``.
    """
    parts = urlsplit(url)
    table = word_table("kind_words")
    kinds = [table.get(word, "") for word in _LATIN_WORD.findall(unquote(parts.path).lower())]
    for pair in re.split("[&;?]", parts.query.lower())[:_MAX_PARAMETERS]:
        name, _, value = pair.partition("=")
        kinds += [table.get(name, ""), *(table.get(word, "") for word in _LATIN_WORD.findall(name))]
        if name in _ACTIONS:
            kinds += [
                table.get("=" + value, ""),
                *(table.get(x, "") for x in _LATIN_WORD.findall(value)),
            ]
    for strong in ("form", "login", "other"):
        if strong in kinds and strong != skip:
            return strong
    return next((kind for kind in reversed(kinds) if kind not in ("", skip)), "")


_PRIMARY = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_].*|\s*[,;].*|\s*)", re.S)
_METAS = ("content-language", "og:locale", "language", "inlanguage")
_READ_CHARS = 300  # from the middle of a page: a few sentences
_SLICES = 8  # parts of a long body that are read
_SLICE_CHARS = 100  # some 15 words: eight such parts are enough for a language
_WORD_LETTERS = 3  # of which a word among Han characters counts; one of these counts two
_LEAST_PROSE = 0.25  # of the words; the others may be code
_WORDS_PER_FREQUENT = 4  # prose words for each of the most frequent ones
_LEAST_LETTERS = 20  # fewer are a name or a label, in any language
_LEAST_WIDE = 8  # Han characters and kana; fewer are a name in a foreign text
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
_KANA = re.compile(r"[\u3040-\u30ff]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_WORD = re.compile(r"[^\W\d_]+")
# Each script with its languages; the first is taken where the page declares none of them.
_SCRIPTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"[\uac00-\ud7af]+"), ("ko",)),
    (re.compile(r"[\u0400-\u04ff]+"), ("ru", "uk", "bg", "sr", "be", "mk", "kk", "mn", "ky", "tg")),
    (re.compile(r"[\u0600-\u06ff]+"), ("ar", "fa", "ur", "ps", "ug", "ku", "sd")),
    (re.compile(r"[\u0900-\u097f]+"), ("hi", "mr", "ne", "sa")),
    (re.compile(r"[\u0370-\u03ff]+"), ("el",)),
    (re.compile(r"[\u0590-\u05ff]+"), ("he", "yi")),
    (re.compile(r"[\u0e00-\u0e7f]+"), ("th",)),
    (re.compile(r"[\u0980-\u09ff]+"), ("bn", "as")),
    (re.compile(r"[\u0b80-\u0bff]+"), ("ta",)),
    (re.compile(r"[\u0f00-\u0fff]+"), ("bo", "dz")),
)
_OTHER_SCRIPTS = frozenset(x for _, codes in _SCRIPTS for x in codes) | {"zh", "ja"}
# Letters of a script's other languages that its first language does not have.
_DISTINCTIVE = (("uk", "іїєґ"), ("ur", "ٹڈڑںے"), ("fa", "پچژگ"))
_LEAST_WORDS = 5  # frequent ones; fewer stand in texts of other languages, too
_CLEAR = 2.0  # times the words of the rival: close languages share frequent words


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The kind, author, date and language of a page.

    Attributes:
        kind: One text, posts on one topic, a list of other pages, or anything else.
        author: Names, such as ``张三、李四``, or None.
        published_at: Aware date of publication, or None.
        language: BCP 47 primary tag, such as ``zh``, or None.
    """

    kind: PageKind
    author: str | None
    published_at: datetime | None
    language: str | None


def read_metadata(
    document: Document,
    body: Body,
    links: tuple[Link, ...],
    lost: LostFields,
    said: Said | None = None,
) -> Metadata:
    """Reads kind, author, date of publication and language of a page.

    INDEX and OTHER pages get no author, and only a date of their own: declared, beside the title or
    in the URL. The others on them belong to other pages.

    Args:
        document: The parsed page.
        body: The body of the page.
        links: The links of the page with their kinds.
        lost: Gets the fields that a defect costs.
        said: What overrides of the host say of the page; None without a model.
    """
    said = said or Said()
    lines = Byline(document.tree, body)
    kind = said.kind or lost.read(
        "kind", lambda: decide_kind(document, body, lines, links), PageKind.OTHER
    )
    language = lost.read("language", lambda: find_language(document, body.text), None)
    is_list = kind not in (PageKind.ARTICLE, PageKind.THREAD)
    return Metadata(
        kind=kind,
        author=None
        if is_list
        else lost.read(
            "author",
            lambda: find_author(document, lines, language, said.values.get("author", ())),
            None,
        ),
        published_at=lost.read(
            "published_at",
            lambda: (
                _said_time(said, language)
                or find_published(document, lines, language, is_list=is_list)
            ),
            None,
        ),
        language=language,
    )


def _said_time(said: Said, language: str | None) -> datetime | None:
    """The date in a text where it stands by an override; None without."""
    found = read_timestamp(said.value("date"), zone_of(language), language)
    return found.when if found else None


def find_language(document: Document, text: str) -> str | None:
    """Returns the language of a page as a BCP 47 primary tag such as ``zh``, or None.

    Args:
        document: The parsed page.
        text: The body; the visible text of the page is read where the body is too short.
    """
    tree = document.tree
    if len(text) > _SLICES * _SLICE_CHARS:  # parts spread over all of it
        step = (len(text) - _SLICE_CHARS) / (_SLICES - 1)
        starts = (round(i * step) for i in range(_SLICES))
        text = " ".join(text[start : start + _SLICE_CHARS] for start in starts)
    wide = _wide(text)
    if wide is not None:
        return wide
    stated = _declared(tree, document.declared)
    # The title, and the middle of the page, away from header and footer.
    middle = len(tree.texts) // 4
    sample = "".join(tree.texts[middle : middle + 60])[:_READ_CHARS]
    return _by_text(text, stated) or _by_text(f"{tree.title} {sample}", stated) or stated


def _declared(tree: Tree, declared: Declared) -> str | None:
    """The primary tag of ``<html lang>`` or a ``<meta>``: ``en`` of ``en-US``; None without one."""
    get = tree.attributes.get
    for text in (get("lang"), get("xml:lang"), *declared.metas(*_METAS)):
        match = _PRIMARY.fullmatch(text[:40]) if text else None
        if match:
            code = match[1].lower()
            return "zh" if code == "cn" else code
    return None


def _wide(text: str) -> str | None:
    """``zh`` or ``ja`` for a text of mostly Han characters and kana, else None."""
    wide, kana = _wide_letters(text)
    if wide + kana < _LEAST_WIDE or 2 * (wide + kana) <= len(text):
        return None
    return "ja" if kana >= 0.1 * (wide + kana) else "zh"


def _by_text(text: str, stated: str | None) -> str | None:
    """The language of a text; None for a text too short to decide."""
    if text.isascii():
        return _latin(text, stated) if len(text) >= 2 * _LEAST_LETTERS else None
    if (mostly := _wide(text)) is not None:
        return mostly
    wide, kana = _wide_letters(text)
    latin = _count(_LATIN, text)
    if wide + kana:
        latin = min(latin, _WORD_LETTERS * _prose_words(text))
    elif 2 * latin > len(text):
        return _latin(text, stated)
    others = [(_count(letters, text), codes) for letters, codes in _SCRIPTS]
    count, codes = max(others, key=lambda item: item[0])
    # One Han character or kana counts as two letters: it carries at least as much.
    weights = {"wide": 2 * (wide + kana), "other": count, "latin": latin}
    if wide + kana + count + latin < _LEAST_LETTERS:
        return None
    script = max(weights, key=weights.__getitem__)
    if script == "wide":
        return "ja" if kana >= 0.1 * (wide + kana) else "zh"
    if script == "latin":
        return _latin(text, stated)
    if stated in codes:
        return stated
    for code, letters in _DISTINCTIVE:
        if code in codes and sum(map(text.count, letters)) >= 0.01 * count:
            return code
    return codes[0]


@lru_cache(maxsize=2)  # asked for twice by one text
def _wide_letters(text: str) -> tuple[int, int]:
    """Number of Han characters and of kana."""
    return (0, 0) if text.isascii() else (_count(_HAN, text), _count(_KANA, text))


def _prose_words(text: str) -> int:
    """About how many Latin words are prose: of code few are among a language's most frequent."""
    words = _LATIN.findall(text)
    codes = _frequent_words()
    hits = Counter(code for word in words for code in codes.get(word.lower(), ()))
    frequent = max(hits.values(), default=0)
    return max(int(_LEAST_PROSE * len(words)), min(len(words), _WORDS_PER_FREQUENT * frequent))


def _count(letters: re.Pattern[str], text: str) -> int:
    """Number of characters in the matches of a pattern."""
    return sum(map(len, letters.findall(text)))


def _latin(text: str, stated: str | None) -> str | None:
    """The Latin language of the most frequent words; the declared one if there is no clear one."""
    if stated in _OTHER_SCRIPTS:
        stated = None
    codes = _frequent_words()
    found: dict[str, int] = {}
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    words = Counter(_WORD.findall(text.lower()))
    for word, times in words.items():
        for code in codes.get(word, ()):
            found[code] = found.get(code, 0) + times
    total = words.total()
    if not found or total < 2 * _LEAST_WORDS:
        return stated
    (best, count), *rest = sorted(found.items(), key=itemgetter(1), reverse=True)
    if count < max(_LEAST_WORDS, 0.05 * total) or best == stated:
        return stated
    rival = found.get(stated, 0) if stated else (rest[0][1] if rest else 0)
    return best if count >= _CLEAR * rival or (not stated and count > rival) else stated


@lru_cache(maxsize=1)
def _frequent_words() -> dict[str, tuple[str, ...]]:
    """Word -> the languages it is frequent in: ``die`` -> ``("de",)``."""
    found: dict[str, tuple[str, ...]] = {}
    for code, line in word_table("language_words").items():
        for word in line.split():
            found[word] = (*found.get(word, ()), code)
    return found
