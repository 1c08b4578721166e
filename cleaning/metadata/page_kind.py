"""The kind of a page: one text (ARTICLE), posts on one topic (THREAD), links (INDEX), or OTHER.

Evidence of the page alone, in this order:

1. JSON-LD types: a collection, a profile, a question, a forum post.
2. The words of the URL (``data/kind_words.txt``): of forms; of login pages where the page asks for
   a password or has hardly any text; of search and profile pages without long text; on forums
   those of threads and boards.
3. A body of posts. Boards and profiles repeat one part for every row, too, but their rows are
   links.
4. Points for one text: a title above the body, a declared article, long text outside links, text in
   one stretch and not in pieces between headlines of other pages, a URL of an article or a list.
   Enough points make an ARTICLE; else enough links make an INDEX.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property, lru_cache
from itertools import compress, pairwise
from operator import attrgetter
from urllib.parse import unquote, urlsplit

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Declared, Document, is_article
from crawlclean.cleaning.document.tree import Anchor, Tree
from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.metadata.byline import Byline
from crawlclean.cleaning.posts.threads import is_forum
from crawlclean.cleaning.records import BodySource, Link, LinkKind, PageKind
from crawlclean.cleaning.url_classes.sample import asks_password

_INDEX_TYPES = frozenset(("collectionpage", "itemlist"))
_OTHER_TYPES = frozenset(("profilepage", "searchresultspage", "contactpage", "checkoutpage"))
_THREAD_TYPES = frozenset(("discussionforumposting", "qapage"))
_HEADLINE_CHARS = 8
_MIN_LINKS = 3
_TEXT_POINTS = 10
_MOST_OF_LINKS = 14 + 7  # most points for few links outside the body
_LEAST_OF_LINKS = 7  # most points against many links outside the body
_MANY_PIECES = 4
_LIST_SHARE = 0.7
_TEXT_TYPES = frozenset(("article", "news", "newsarticle", "blog"))
_WORD = re.compile(r"[a-z]+")
_NUMBER_AT_END = re.compile(r"\d{3}[^/]{0,12}$|(?:19|20)\d\d[-/]?\d\d")
_PAGE_OF_LIST = re.compile(
    r"(?:^|/)(?:page[/_-]?\d{1,9}|p\d{1,3}|(?:list|index)[_-]\d{1,9})(?:/|\.\w+)?(?:index\.\w+)?$"
)
_WHITE = " \n\t"
_SURE_CHARS = 400  # a text of 400 characters is no form or profile
_LITTLE_CHARS = 120  # a shorter text does not speak against a login page
_LONG_CHARS = 300
_SHORT_CHARS = 30
_MAX_LINKS_READ = 5000
_FEW_HEADLINES = 8
_POST_CHARS = 60
_MAX_PARAMETERS = 20
_ACTIONS = frozenset(
    ("mod", "action", "act", "mode", "do", "view", "a", "m", "c", "r", "op", "page")
)
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
    facts = _Facts(tree, body, lines, links)
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
    if body.text and body.source is not BodySource.LIST and _is_text(declared, facts, words, url):
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

    def __init__(self, tree: Tree, body: Body, lines: Byline, links: tuple[Link, ...]) -> None:
        self._tree, self._body, self._lines, self._links = tree, body, lines, links
        self.chars = len(body.text) - sum(map(body.text.count, _WHITE))
        title = lines.title
        start, end = tree.line_runs(title) if title >= 0 else (0, 0)
        self.title_is_linked = title >= 0 and all(x >= 0 for x in tree.anchor_of[start:end])
        is_above = title < lines.first or lines.has_title_inside
        self.has_title = title >= 0 and not self.title_is_linked and is_above
        self.is_sure = body.source in (BodySource.CONTAINER, BodySource.SITE)

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
        if self._body.source is not BodySource.SITE:
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
    by_url = _points_of_url(url, words)
    points += by_url
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


def _points_of_url(url: str, words: str) -> int:
    """Points of a URL: 7 like an article's (``/20261122/1234.html``), -15 like a list's, else 0."""
    path = urlsplit(url).path
    if _PAGE_OF_LIST.search(path) or words == "index" or _is_home(url):
        return -15
    if _NUMBER_AT_END.search(path):
        return 7
    return -15 if _DIRECTORY.search(path) else 0


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
    return _HOME.fullmatch(urlsplit(url).path) is not None


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
    kinds = [table.get(word, "") for word in _WORD.findall(unquote(parts.path).lower())]
    for pair in re.split("[&;?]", parts.query.lower())[:_MAX_PARAMETERS]:
        name, _, value = pair.partition("=")
        kinds += [table.get(name, ""), *(table.get(word, "") for word in _WORD.findall(name))]
        if name in _ACTIONS:
            kinds += [table.get("=" + value, ""), *(table.get(x, "") for x in _WORD.findall(value))]
    for strong in ("form", "login", "other"):
        if strong in kinds and strong != skip:
            return strong
    return next((kind for kind in reversed(kinds) if kind not in ("", skip)), "")
