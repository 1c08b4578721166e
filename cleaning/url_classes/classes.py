"""The URL classes of a host: one shape, with the words that are fixed in the class.

Slots of digits, mixed characters or escapes are always wildcards. A slot of words splits a shape:

- few different words (``thread``, ``forum``): one class each;
- many (slugs, names): one class for each word with many URLs; the others share a class with a
  wildcard there.

Splitting goes from left to right: the words behind a fixed word are compared within its class.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappush, heapreplace
from statistics import median
from typing import Generic, TypeVar

from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.features.lines import count_words, plain_title, weigh_lines
from crawlclean.cleaning.records import CleanRecord, Link, PageKind
from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.shapes import shape_of, template_of_words, word_slots

# A bounded sample of the URLs and fetched pages of one host.
#
# URLs are kept by *stratum*: the shape of a URL (``urls/shapes.py``) with its words, so that ten
# boards are not lost among a million posts. Of each stratum the k URLs with the smallest hashes
# stay (bottom-k sampling: Broder 1997, "On the resemblance and containment of documents"), whatever
# the order of arrival and however often a URL comes; the k-th smallest hash gives an estimate of
# the number of URLs (Bar-Yossef et al. 2002, "Counting distinct elements in a data stream"). When
# all strata together hold too much, k is halved: the final k depends on the final set alone, for a
# larger k would only keep more.
#
# A shape with more than ``MAX_WORDS`` combinations of words (slugs, names) keeps those with the
# smallest hashes apart; all others share one stratum, which loses nothing that k would have kept.

MAX_LINES = 64  # of a page: the longest tell pages apart, and a thousand pages are held
LEAST_UNITS = 6.0  # shortest line that distinguishes pages
MAX_LINKS = 200  # of a page: a portal has thousands, and all of a host's pages are held
MAX_TEXT_CHARS = 80  # of an anchor text: titles fit, a paragraph inside a link does not
# ``type = "password"``; begins with the mark, which ``re`` finds seven times as quickly.
_PASSWORD = re.compile(
    r"=(?=\s{0,4}[\"']?password)"
    r"(?:(?<=type=)|(?<=type\s=)|(?<=type\s\s=)|(?<=type\s\s\s=)|(?<=type\s\s\s\s=))",
    re.I,
)
_RANGE = 1 << 64  # numbers that a hash of eight bytes may be
_Words = tuple[str, ...]
MAX_URLS = 30_000  # of all strata together
MAX_TEXTS = 6  # anchor texts of one URL
MAX_PAGES = 1_000  # of all strata together
MAX_WORDS = 200  # combinations of words of one shape that are strata of their own
MAX_SHAPES = 2_000  # those with the smallest hashes stay


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class PageFacts:
    """The facts about the class of a URL that one fetched page gives.

    Attributes:
        url: Address in normal form.
        kind: Kind of the page alone.
        title: Letters and digits of the title.
        lines: Longest lines of text outside links, longest first: (CRC-32 of the text, units), such
            as ``(2774829105, 41.0)``.
        links: (URL, anchor text) of links to pages of the host.
        canonical_url: The canonical address, ``""`` when it is ``url``.
        moved_to: Target of the redirect that was the answer, else ``""``.
        has_password: Whether the page has a password field.
    """

    url: str
    kind: PageKind = PageKind.OTHER
    title: str = ""
    lines: tuple[tuple[int, float], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    canonical_url: str = ""
    moved_to: str = ""
    has_password: bool = False


def facts_of(
    document: Document,
    links: Iterable[Link],
    kind: PageKind,
    title: str = "",
) -> PageFacts:
    """Collects the facts of a parsed page.

    Args:
        document: The parsed page.
        links: Its links.
        kind: Its kind.
        title: Its title.
    """
    tree, page = document.tree, document.page
    url = normalize(page.url)
    weighed = weigh_lines(tree)
    counted = enumerate(zip(weighed.own, weighed.linked, strict=True))
    return PageFacts(
        url=url,
        kind=kind,
        title=plain_title(title),
        lines=_longest(
            (tree.line_text(i), own)
            for i, (own, linked) in counted
            if own > linked and own >= LEAST_UNITS
        ),
        links=_texts(url, links),
        canonical_url=_canonical(url, document.declared.canonical_url),
        has_password=asks_password(page.html),
    )


def asks_password(html: str) -> bool:
    """Whether a page has a password field."""
    return _PASSWORD.search(html) is not None


def facts_of_record(record: CleanRecord) -> PageFacts:
    """Collects the facts of a stored record, whose only text is its body."""
    url = normalize(record.url)
    anchors = {link.text for link in record.links}
    lines = [line for line in record.body.splitlines() if line not in anchors]
    return PageFacts(
        url=url,
        kind=record.kind,
        title=plain_title(record.title),
        lines=_longest((line, count_words(line)) for line in lines),
        links=_texts(url, record.links),
        canonical_url=_canonical(url, record.canonical_url),
    )


def _longest(lines: Iterable[tuple[str, float]]) -> tuple[tuple[int, float], ...]:
    """The longest lines as (CRC-32 of the text without white space, units)."""
    longest: dict[int, float] = {}
    for text, units in lines:
        if units >= LEAST_UNITS:
            longest[zlib.crc32("".join(text.split()).encode("utf-8", "replace"))] = round(units, 1)
    return tuple(sorted(longest.items(), key=lambda line: (-line[1], line[0]))[:MAX_LINES])


def _texts(url: str, links: Iterable[Link]) -> tuple[tuple[str, str], ...]:
    """(URL, anchor text) of links to pages of the host; of many a part chosen by hash."""
    base = _base(url)
    found = {
        (link.url, link.text[:MAX_TEXT_CHARS])
        for link in links
        if link.text and link.url.startswith(base)
    }
    return tuple(sorted(found, key=lambda link: (_order(link[0]), link))[:MAX_LINKS])


def _canonical(url: str, canonical_url: str | None) -> str:
    """The canonical address in normal form; ``""`` for ``url`` itself and for other hosts."""
    canonical = normalize(canonical_url) if canonical_url else url
    return canonical if canonical != url and canonical.startswith(_base(url)) else ""


def _base(url: str) -> str:
    """Scheme and host of a URL: ``http://example.com/``."""
    return url[: url.find("/", url.find("//") + 2) + 1]


def _order(text: str) -> tuple[int, str]:
    """Sort key that is random but the same in every process."""
    return zlib.crc32(text.encode("utf-8", "replace")), text


@dataclass(slots=True)
class FoundUrl:
    """A sampled URL: the number of links to it, and some of their anchor texts."""

    url: str
    links: int = 0
    texts: list[str] = field(default_factory=list)


_Kept = TypeVar("_Kept")


@dataclass(slots=True)
class _Smallest(Generic[_Kept]):
    """What has the smallest hashes.

    Attributes:
        by_hash: Hash of the URL -> what is kept of it.
        bound: Hashes from here on are not kept.
    """

    by_hash: dict[int, _Kept] = field(default_factory=dict)
    bound: int = _RANGE

    def cut(self, limit: int) -> None:
        """Keeps the ``limit`` smallest hashes below the bound, which falls to the next one."""
        if len(self.by_hash) > limit:
            self.bound = min(self.bound, sorted(self.by_hash)[limit])
        for digest in [digest for digest in self.by_hash if digest >= self.bound]:
            del self.by_hash[digest]

    def add(self, more: _Smallest[_Kept]) -> None:
        """Adds others; hashes that only one of the two would keep are not kept."""
        self.by_hash.update(more.by_hash)
        self.bound = min(self.bound, more.bound)
        self.cut(len(self.by_hash))


@dataclass(slots=True)
class Stratum:
    """The sampled URLs of one shape and words.

    Attributes:
        key: The shape, ``/{w}-{n}.html``.
        words: The values of its ``{w}`` slots, ``("thread",)``; None for the shared stratum of a
            shape with too many.
        links: Links to its URLs, those not kept included.
        found: Its URLs.
        pages: The facts of its pages.
    """

    key: str
    words: _Words | None
    links: int = 0
    found: _Smallest[FoundUrl] = field(default_factory=_Smallest)
    pages: _Smallest[PageFacts] = field(default_factory=_Smallest)

    @property
    def scale(self) -> float:
        """URLs of the host that one kept URL stands for, >= 1."""
        return _RANGE / self.found.bound


@dataclass(slots=True)
class _OfShape:
    """The strata of one shape, and a heap of (-hash, words) of them: the largest hash first."""

    strata: dict[_Words, Stratum] = field(default_factory=dict)
    rest: Stratum | None = None
    largest: list[tuple[int, _Words]] = field(default_factory=list)

    def every(self) -> list[Stratum]:
        """Its strata, the shared one last."""
        return [*self.strata.values(), *([self.rest] if self.rest is not None else [])]


class UrlSample:
    """A bounded sample of the URLs and pages of a host, the same for every order of arrival."""

    def __init__(self) -> None:
        """Starts with an empty sample."""
        self._shapes: dict[str, _OfShape] = {}
        self._largest_shapes: list[tuple[int, str]] = []
        self._url_limit = MAX_URLS
        self._page_limit = MAX_PAGES
        self._urls = 0
        self._pages = 0

    def add_link(self, url: str, text: str = "", times: int = 1) -> None:
        """Adds a URL of the host in normal form, with ``times`` links of one anchor text."""
        stratum = self._stratum_of(url)
        if stratum is None:
            return
        stratum.links += times
        found = self._keep(stratum, url)
        if found is None:
            return
        found.links += times
        text = " ".join(text[: 4 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
        if text and text not in found.texts:
            found.texts.append(text)
            if len(found.texts) > MAX_TEXTS:
                found.texts.remove(max(found.texts, key=_order))

    def add_page(self, facts: PageFacts) -> None:
        """Adds the facts of a fetched page; its links are added by ``add_link``."""
        stratum = self._stratum_of(facts.url)
        if stratum is None:
            return
        self._keep(stratum, facts.url)
        digest = _hash(facts.url)
        known = stratum.pages.by_hash.get(digest)
        if digest >= stratum.pages.bound or (known is not None and known >= facts):
            return
        self._pages += known is None
        stratum.pages.by_hash[digest] = facts
        if self._pages > 2 * MAX_PAGES:
            self._trim_pages()

    def strata(self) -> Iterator[Stratum]:
        """Yields the strata cut to size, in an order that does not depend on arrival."""
        self._trim_urls()
        self._trim_pages()
        for _, shape in sorted(self._shapes.items()):
            yield from (stratum for _, stratum in sorted(shape.strata.items()))
            if shape.rest is not None:
                yield shape.rest

    def _keep(self, stratum: Stratum, url: str) -> FoundUrl | None:
        """Returns the sampled URL, added if need be; None when its hash is beyond the bound."""
        digest = _hash(url)
        if digest >= stratum.found.bound:
            return None
        found = stratum.found.by_hash.get(digest)
        if found is None:
            found = stratum.found.by_hash[digest] = FoundUrl(url)
            self._urls += 1
            if self._urls > 2 * MAX_URLS:
                self._trim_urls()
        return found

    def _stratum_of(self, url: str) -> Stratum | None:
        """Returns the stratum of a URL, added if need be; None when its shape is not kept."""
        key, values = shape_of(url)
        shape = self._shapes.get(key)
        if shape is None:
            if not self._has_room(key):
                return None
            shape = self._shapes[key] = _OfShape()
        words = tuple([values[i] for i in word_slots(key)])
        return shape.strata.get(words) or self._new_stratum(shape, key, words)

    def _has_room(self, key: str) -> bool:
        """Whether a new shape is kept; a shape with a larger hash makes room for it."""
        entry = (-_hash(key), key)
        if len(self._largest_shapes) < MAX_SHAPES:
            heappush(self._largest_shapes, entry)
            return True
        if entry < self._largest_shapes[0]:
            return False
        _, gone = heapreplace(self._largest_shapes, entry)
        shape = self._shapes.pop(gone)
        for stratum in shape.every():
            self._urls -= len(stratum.found.by_hash)
            self._pages -= len(stratum.pages.by_hash)
        return True

    def _new_stratum(self, shape: _OfShape, key: str, words: _Words) -> Stratum:
        """Adds a stratum, or returns the shared one when the words have too large a hash."""
        entry = (-_hash(" ".join(words)), words)
        if len(shape.strata) < MAX_WORDS:
            heappush(shape.largest, entry)
        else:
            if shape.rest is None:
                shape.rest = Stratum(key, None)
            if entry < shape.largest[0]:
                return shape.rest
            _, words_gone = heapreplace(shape.largest, entry)
            gone = shape.strata.pop(words_gone)
            shape.rest.links += gone.links
            shape.rest.found.add(gone.found)
            shape.rest.pages.add(gone.pages)
        stratum = shape.strata[words] = Stratum(key, words)
        return stratum

    def _every(self) -> list[Stratum]:
        return [stratum for shape in self._shapes.values() for stratum in shape.every()]

    def _trim_urls(self) -> None:
        found = [stratum.found for stratum in self._every()]
        self._url_limit, self._urls = _trim(found, self._url_limit, MAX_URLS)

    def _trim_pages(self) -> None:
        pages = [stratum.pages for stratum in self._every()]
        self._page_limit, self._pages = _trim(pages, self._page_limit, MAX_PAGES)


def _trim(every: list[_Smallest[_Kept]], limit: int, most: int) -> tuple[int, int]:
    """Halves a limit of each until all hold ``most``; returns the new limit and what all hold."""
    sizes = [len(each.by_hash) for each in every]
    while limit > 1 and sum([min(size, limit) for size in sizes]) > most:
        limit //= 2
    for each in every:
        each.cut(limit)
    return limit, sum(len(each.by_hash) for each in every)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


_Fixed = tuple[tuple[int, str], ...]
"""Fixed words by slot: ``((0, "thread"),)``."""

MAX_VALUES = 16  # most different words of a slot that are a class each ...
MIN_FOUND = 3.0  # ... with so many sampled URLs a word, in the mean
MAX_SINGLE = 12  # most words with one URL, first in the path or in the query, that are classes
MIN_URLS = 5.0  # URLs of a word that is a class among many words, and of these two the smaller:
MIN_SHARE = 0.02  # its share of the URLs
MANY_TIMES = 10.0  # its URLs over those of the median word
MAX_CLASSES = 600  # of a host; those with the most URLs stay


@dataclass(slots=True, kw_only=True)
class UrlClass:
    """The URLs of one template.

    Attributes:
        template: The shape with its fixed words, ``/thread-{n}.html``.
        key: The shape, ``/{w}-{n}.html``.
        fixed: The fixed words by slot, ``((0, "thread"),)``.
        count: Number of its URLs, estimated on large hosts.
        links: Links to its URLs.
        found: Its sampled URLs.
        pages: The facts of its fetched pages.
    """

    template: str
    key: str
    fixed: _Fixed
    count: float = 0.0
    links: int = 0
    found: list[FoundUrl] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)

    def wild_values(self, url: str) -> tuple[str, ...]:
        """The values of the wildcard slots of a URL: ``("170", "2")`` of ``/thread-170-2.html``."""
        fixed = {slot for slot, _ in self.fixed}
        return tuple(value for i, value in enumerate(shape_of(url).values) if i not in fixed)


@dataclass(slots=True)
class _Row:
    """URLs of one shape with the same words."""

    words: tuple[str, ...]
    count: float = 0.0
    links: int = 0
    found: list[FoundUrl] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


def find_classes(sample: UrlSample) -> list[UrlClass]:
    """Finds the classes of a sample, largest first; a sampled URL is in one class at most."""
    rows: dict[str, dict[tuple[str, ...], _Row]] = defaultdict(dict)
    for stratum in sample.strata():
        _add_rows(rows[stratum.key], stratum)
    classes = []
    for key, by_words in rows.items():
        if not by_words:
            continue
        in_path = len(word_slots(key.partition("?")[0]))
        for fixed, together in _split(list(by_words.values()), 0, in_path, ()):
            classes.append(_class_of(key, fixed, together))
    classes.sort(key=lambda found: (-found.count, found.template))
    return classes[:MAX_CLASSES]


def _add_rows(rows: dict[tuple[str, ...], _Row], stratum: Stratum) -> None:
    """Adds the URLs and pages of a stratum to the rows of their shape, by words."""
    slots = word_slots(stratum.key)

    def row_of(url: str) -> _Row:
        words = stratum.words
        if words is None:
            values = shape_of(url).values
            words = tuple([values[i] for i in slots])
        row = rows.get(words)
        if row is None:
            row = rows[words] = _Row(words)
        return row

    for _, found in sorted(stratum.found.by_hash.items()):
        row = row_of(found.url)
        row.count += stratum.scale
        row.links += round(found.links * stratum.scale)
        row.found.append(found)
    for _, page in sorted(stratum.pages.by_hash.items()):
        row_of(page.url).pages.append(page)
    if stratum.words is not None and stratum.found.by_hash:
        rows[stratum.words].links = stratum.links


def _split(
    rows: list[_Row], slot: int, in_path: int, fixed: _Fixed
) -> Iterator[tuple[_Fixed, list[_Row]]]:
    """Splits the rows of one shape into classes: (fixed words, rows) of each.

    Args:
        rows: Rows with the same words before ``slot``.
        slot: Number of the word slot to split by.
        in_path: Word slots of the path; the rest are in the query.
        fixed: Fixed words before ``slot``.
    """
    if slot == len(rows[0].words):
        yield fixed, rows
        return
    by_word: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_word[row.words[slot]].append(row)
    counts = {word: sum(row.count for row in same) for word, same in by_word.items()}
    found = sum(len(row.found) for row in rows)
    least = 0.0
    if len(by_word) > MAX_VALUES or (slot < in_path and found < MIN_FOUND * len(by_word)):
        relative = min(
            MIN_SHARE * sum(counts.values()),
            MANY_TIMES * median(counts.values()),
        )
        least = max(MIN_URLS, relative)
    rest = {word: same for word, same in by_word.items() if counts[word] < least}
    are_single = all(counts[word] <= 1 for word in rest)
    is_open = slot == 0 or slot >= in_path  # deeper down, single words belong to a section
    if len(rest) == 1 or (is_open and are_single and len(rest) <= MAX_SINGLE):
        rest = {}
    for word, same in sorted(by_word.items()):
        if word not in rest:
            yield from _split(same, slot + 1, in_path, (*fixed, (slot, word)))
    if rest:
        together = [row for _, same in sorted(rest.items()) for row in same]
        yield from _split(together, slot + 1, in_path, fixed)


def _class_of(key: str, fixed: _Fixed, rows: list[_Row]) -> UrlClass:
    """Builds the class of some rows with the same fixed words."""
    slots = word_slots(key)
    in_shape = tuple((slots[i], word) for i, word in fixed)
    return UrlClass(
        template=template_of_words(key, in_shape),
        key=key,
        fixed=in_shape,
        count=sum(row.count for row in rows),
        links=sum(row.links for row in rows),
        found=[one for row in rows for one in row.found],
        pages=[page for row in rows for page in row.pages],
    )
