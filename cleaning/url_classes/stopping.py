"""Spider traps: a URL class is stopped when its pages bring nothing new.

A class is a pattern here (``/cal/*``, ``urls/patterns.py``) or one of the wider groups around it
(``/cal/**``), for a trap has to show before the classes of its host are learned. Pages are judged
in the order in which they end.

A page has *news* for a class that its URL is in when

- its text is new to the crawl, or
- it found a new URL of a live class outside this class. A class is *live* while it is not
  stopped, some of its pages were fetched, and fewer than ``MOST_DULL`` in a row had no new text.

A page is *barren* when it has no news and its class grows, which is any of these:

- it found new URLs;
- it was found on a page without new text;
- it is another query of a path that has the same text without the query.

A page that has no news and is not barren is one of a finite list (a gallery without text, found on
a page with news): it neither counts nor ends a row.

A class is *stopped* when the last ``limit`` pages of its row were barren. A group holds what its
classes bring together, so it is stopped later: after ``GROUP_ROWS`` times as many, and only when no
more than ``GROUP_SHARE`` of its pages had news. A page with news ends the row, and lifts a stop. A
page with next to no body counts a quarter, for it may be like others by design, unless it found
many new URLs. Up to half of the row may be pages of dull classes that the last page of the class
fed: they are stopped with it.

The *text* of a page is title, body, anchor texts and content images. Anchor texts belong to it, for
two lists with other entries are two pages; those of ``rel=nofollow`` links do not. Numbers in the
body do not count: a page with a counter of its readers is no new page. Nor do dates anywhere: a
calendar says the same in every month. They count where the body has many figures: two days of a
table of prices are two pages. Of a page with next to no body, numbers anywhere and parts of its own
address do not count either: an error page that names the address.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import unquote_plus

from crawlclean.cleaning.lexicon import month_names
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import CleanRecord, ImageKind

MAX_NEW_CLASSES = 20  # classes of the URLs that one page found; more do not change the judgement
GROUP_ROWS = 4  # a group stopped too early loses the good classes in it with the trap
GROUP_SHARE = 0.05  # of its pages: where more had news, part of the group is worth its cost
# Accounts of a host: 9 bytes a page and 60 KB a host at most. Groups may still be added when there
# is no room for classes, for a trap that makes a class of every page shows in its group.
MOST_CLASSES = 1_000
MOST_ACCOUNTS = 1_500  # those of groups included: classes leave room for them
QUARTERS = 4  # rows are counted in quarters of a page
MOST_DULL = 4  # pages in a row: one or two may be empty by chance, and each costs a request
YOUNG = 4 * MOST_DULL  # pages of a class that may be put back: to do so reads all that waits
FEW_NEW = 10  # new URLs of one page; a gallery or a list of users leads on to fewer
FINGERPRINT_BYTES = 4  # held for every page of a crawl; few of a host's are equal by chance
THIN_BYTES = 100  # a shorter body, in UTF-8, is next to none: a dozen words
READ_CHARS = 2_000  # of a body are read without numbers; the rest counts as written
LEAST_ECHO_CHARS = 3  # shorter parts of an address are in many words of any text
MAX_ECHOES = 16  # each is searched for in the text; a long query could make that slow
FEW_FIGURES = 8  # of a body, numbers beside dates: counters of readers and replies are fewer

# Possessive and only at the start of a word: a page cannot make it slow.
_WORD_WITH_DIGIT = re.compile(r"\b[A-Za-z_]*+[0-9][A-Za-z0-9_]*+", re.ASCII)
# Its first character is a class of its own: a search passes over all others at once.
_DATE = re.compile(
    r"[\d一二三四五六七八九十星](?:"
    r"(?<=\d)(?<!\d\d)(?:\d?[\s.,/-]{0,3}(?:(?<!\d)\d{1,2}[\s.,/-]{0,3})?(?<!\d)(?:19|20)|"
    r"(?<=1)9|(?<=2)0)\d\d(?!\d)(?:[\s.,/年-]{0,3}\d{1,2}(?!\d)[月日]?){0,2}|"
    r"(?<=[一二三四五六七八九十])[一二三四五六七八九十]{0,2}[月日]|(?<=星)期[一-龥])"
)
_DAY = re.compile(r"^\d{1,2}$", re.M)
_FIGURE = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """Signed 32-bit numbers; two pages of a host are equal when they share ``text`` or ``bare``.

    Attributes:
        text: Of title, body without numbers, anchor texts and content images: ``-1183920455``.
        bare: Of these texts without numbers and parts of the URL; None for a page with a body.
    """

    text: int
    bare: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageYield:
    """What one ended page brought.

    Attributes:
        patterns: The class of its URL, then the groups around the class: ``("/cal/*", "/cal/**")``;
            ``()`` for a page that is not judged (a seed).
        text: Fingerprint of its text; None for a page without text (a redirect).
        bare: ``Fingerprints.bare``.
        address: Fingerprint of its URL.
        finder: Fingerprint of the URL it was found on.
        variant: Fingerprint of its path together with its text.
        has_query: Whether its URL has a query.
        found: The patterns of URLs that were new to the crawl and of another class, once for each
            class: ``(("/news/*", "/news/**"),)``.
        found_own: Whether URLs of its own class were new.
        found_many: Whether more than ``FEW_NEW`` URLs were new.
    """

    patterns: tuple[str, ...]
    text: int | None
    bare: int | None = None
    address: int
    finder: int
    variant: int
    has_query: bool = False
    found: tuple[tuple[str, ...], ...] = ()
    found_own: bool = False
    found_many: bool = False


class Account(NamedTuple):
    """The sums over the pages of a class.

    Attributes:
        pages: Pages that ended.
        with_news: Pages with news.
        barren: Barren pages in a row, in quarters of a page.
        dull: Pages without new text in a row.
        leading: Pages that found new URLs.
    """

    pages: int = 0
    with_news: int = 0
    barren: int = 0
    dull: int = 0
    leading: int = 0

    @property
    def is_dull_end(self) -> bool:
        """Whether its pages bring neither text nor URLs: those that wait come last."""
        return self.dull >= MOST_DULL and not self.leading


class Asked(NamedTuple):
    """What has to be looked up to judge pages: patterns with accounts, and fingerprints."""

    patterns: tuple[str, ...]
    fingerprints: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the crawl knew of a host before some pages.

    Attributes:
        accounts: Pattern -> account, of the ``Asked`` patterns that have one.
        stopped: The ``Asked`` patterns that are stopped.
        fingerprints: The ``Asked`` fingerprints that earlier pages had.
        size: Number of all accounts of the host.
    """

    accounts: Mapping[str, Account]
    stopped: Collection[str]
    fingerprints: Collection[int]
    size: int


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What pages change.

    Attributes:
        accounts: The changed accounts, by pattern.
        fingerprints: The new fingerprints.
        stopped: Stopped pattern -> reason, ``"brought nothing new for long: 2 of 90 pages did"``.
        lifted: Patterns that are not stopped any more.
        faded: Young classes that are not live any more: other URLs come first.
    """

    accounts: dict[str, Account] = field(default_factory=dict)
    fingerprints: set[int] = field(default_factory=set)
    stopped: dict[str, str] = field(default_factory=dict)
    lifted: set[str] = field(default_factory=set)
    faded: set[str] = field(default_factory=set)


def asked_of(pages: Iterable[PageYield]) -> Asked:
    """Collects what ``judge`` has to know of pages, each pattern and fingerprint once."""
    patterns: dict[str, None] = {}
    fingerprints: dict[int, None] = {}
    for page in pages:
        patterns.update(dict.fromkeys(page.patterns))
        for found in page.found[:MAX_NEW_CLASSES]:
            patterns.update(dict.fromkeys(found))
        numbers = (page.text, page.bare, page.address, page.finder, page.variant)
        fingerprints.update(dict.fromkeys(each for each in numbers if each is not None))
    return Asked(tuple(patterns), tuple(fingerprints))


def judge(
    known: Known, pages: Sequence[PageYield], limit: int, *, is_sampled: bool = True
) -> Verdict:
    """Judges pages: returns the changed accounts of their host, stopped classes and lifted stops.

    Args:
        known: What ``asked_of(pages)`` named.
        pages: In the order in which they ended.
        limit: Barren pages in a row that stop a class, >= 1; 0 stops none.
        is_sampled: Whether the crawl fetches URLs of a new class soon: one that was not fetched is
            no news.
    """
    judgement = _Judgement(known, limit * QUARTERS, is_sampled=is_sampled)
    for page in pages:
        judgement.add(page)
    return judgement.verdict


class _Judgement:
    """Judges pages one after the other."""

    def __init__(self, known: Known, limit: int, *, is_sampled: bool) -> None:
        self._known = known
        self._limit = limit
        self._is_sampled = is_sampled
        self.verdict = Verdict()

    def add(self, page: PageYield) -> None:
        """Judges the next page."""
        has_new_text, weight = self._read_text(page)
        if not page.has_query:
            self._remember(page.variant)
        leads_to: list[tuple[str, ...]] = []
        makes_more = False
        found = page.found[:MAX_NEW_CLASSES]
        if not has_new_text:
            self._remember(page.address)
            makes_more = (
                bool(found)
                or page.found_own
                or self._has(page.finder)
                or (page.has_query and self._has(page.variant))
            )
            leads_to = [patterns for patterns in found if self._is_live(patterns)]
        for pattern, before in self._accounts(page.patterns):
            has_news = has_new_text or any(pattern not in there for there in leads_to)
            is_barren = not has_news and makes_more
            account = Account(
                pages=before.pages + 1,
                with_news=before.with_news + has_news,
                barren=0 if has_news else before.barren + weight * is_barren,
                dull=0 if has_new_text else before.dull + 1,
                leading=before.leading + (bool(found) or page.found_own),
            )
            self.verdict.accounts[pattern] = account
            is_class = pattern == page.patterns[0]
            if account.dull == MOST_DULL and account.is_dull_end and account.pages <= YOUNG:
                self.verdict.faded.update([pattern] if is_class else ())
            fed = self._dull_ones(found) if is_class else {}
            more = QUARTERS * sum(each.dull for each in fed.values())
            row = account.barren + min(more, account.barren)
            if has_news:
                self._lift(pattern)
            elif is_barren and self._is_over(account, row, is_group=not is_class):
                for each, ended in {**fed, pattern: account}.items():
                    self._stop(each, ended)

    def _dull_ones(self, found: Sequence[tuple[str, ...]]) -> dict[str, Account]:
        """The accounts of the classes that a page fed, of those whose last pages were dull."""
        accounts = {each: self._account(each) for each, *_ in found}
        return {each: own for each, own in accounts.items() if own and own.dull >= MOST_DULL}

    def _read_text(self, page: PageYield) -> tuple[bool, int]:
        """Returns (whether a page has new text, its weight in a row: quarters of a page)."""
        if page.text is None:
            return False, 1
        is_new = self._remember(page.text)
        if page.bare is None:
            return is_new, QUARTERS
        return self._remember(page.bare) and is_new, QUARTERS if page.found_many else 1

    def _accounts(self, patterns: Iterable[str]) -> Iterator[tuple[str, Account]]:
        """Yields the account of each pattern; a new one only while the host has room."""
        for place, pattern in enumerate(patterns):
            account = self._account(pattern)
            if account is not None:
                yield pattern, account
            elif self._size() < (MOST_ACCOUNTS if place else MOST_CLASSES):
                yield pattern, Account()

    def _size(self) -> int:
        return self._known.size + len(self.verdict.accounts.keys() - self._known.accounts.keys())

    def _account(self, pattern: str) -> Account | None:
        return self.verdict.accounts.get(pattern) or self._known.accounts.get(pattern)

    def _is_live(self, patterns: tuple[str, ...]) -> bool:
        """Whether a new URL of these patterns is news."""
        account = self._account(patterns[0])
        if account is None:
            is_fetched = not self._is_sampled or self._size() >= MOST_CLASSES
        else:
            is_fetched = account.dull < MOST_DULL
        if not is_fetched:
            return False
        return not any(map(self._is_stopped, patterns))

    def _is_stopped(self, pattern: str) -> bool:
        if pattern in self.verdict.stopped:
            return True
        return pattern in self._known.stopped and pattern not in self.verdict.lifted

    def _is_over(self, account: Account, row: int, *, is_group: bool) -> bool:
        """Whether a row of barren pages stops the class or group of an account."""
        if not self._limit:
            return False
        if not is_group:
            return row >= self._limit
        has_news = account.with_news > account.pages * GROUP_SHARE
        return row >= self._limit * GROUP_ROWS and not has_news

    def _stop(self, pattern: str, account: Account) -> None:
        if not self._is_stopped(pattern):
            why = Message("no_news", account.with_news, account.pages)
            self.verdict.stopped[pattern] = why
            self.verdict.lifted.discard(pattern)

    def _lift(self, pattern: str) -> None:
        self.verdict.stopped.pop(pattern, None)
        if pattern in self._known.stopped:
            self.verdict.lifted.add(pattern)

    def _has(self, fingerprint: int) -> bool:
        return fingerprint in self.verdict.fingerprints or fingerprint in self._known.fingerprints

    def _remember(self, fingerprint: int) -> bool:
        """Notes a fingerprint; returns whether it was new."""
        is_new = not self._has(fingerprint)
        if is_new:
            self.verdict.fingerprints.add(fingerprint)
        return is_new


def content_fingerprints(record: CleanRecord) -> Fingerprints:
    """Computes the fingerprints of a page's text."""
    images = sorted(
        {image.url for image in record.images if image.kind is ImageKind.CONTENT and image.url}
    )
    links = "\n".join([link.text for link in record.links if "nofollow" not in link.rel])
    read, rest = record.body[:READ_CHARS], record.body[READ_CHARS:]
    title, undated = record.title, _without_dates(read)
    if len(_FIGURE.findall(undated)) <= FEW_FIGURES:
        title, read, links = _without_dates(title), undated, _DAY.sub("", _without_dates(links))
    text = fingerprint_of((title, _without_numbers(read), rest, links, *images))
    if len(record.body.encode("utf-8", "replace")) >= THIN_BYTES:
        return Fingerprints(text=text)
    own = "\n".join((title, read, links[:READ_CHARS]))
    for echo in _address_parts(record.url):
        own = own.replace(echo, " ")
    bare = (_without_numbers(own), links[READ_CHARS:], *images)
    return Fingerprints(text=text, bare=fingerprint_of(bare))


def fingerprint_of(parts: Iterable[str]) -> int:
    """Hashes texts in their order to a signed 32-bit number."""
    joined = "\n".join(parts).encode("utf-8", "replace")
    digest = blake2b(joined, digest_size=FINGERPRINT_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def _without_dates(text: str) -> str:
    """Removes dates, and words that begin as the name of a month: ``Friday, 3 May 2024``."""
    return _DATE.sub("", _month_names().sub("", text))


# Of the dates that figures of pages are told from; names of other languages begin other words.
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt")


@lru_cache(maxsize=1)
def _month_names() -> re.Pattern[str]:
    languages = [month_names()[code] for code in _LANGUAGES]
    names = sorted({name[:3] for names in languages for name in names})
    names += ("mon", "tues?", "wednes", "thurs?", "fri", "satur", "sun")
    first = "".join({name[0] + name[0].upper() for name in names})
    rest = "|".join(f"(?<={name[0]}){name[1:]}" for name in names)
    return re.compile(rf"[{first}](?<=\b.)(?i:{rest})[^\W\d_]{{0,6}}+")


def _without_numbers(text: str) -> str:
    """Removes digits, words with digits in them, and white space."""
    return "".join(_WORD_WITH_DIGIT.sub("", text).split())


def _address_parts(url: str) -> list[str]:
    """The path, its segments and the query values, with and without escapes, longest first."""
    path, _, query = url[max(url.find("/", 8), 0) :].partition("?")
    parts = {path, *path.split("/"), query}
    parts.update(pair.partition("=")[2] for pair in query.split("&"))
    read = {shown for part in parts for shown in (part, unquote_plus(part))}
    long = [part for part in read if len(part) >= LEAST_ECHO_CHARS]
    return sorted(long, key=len, reverse=True)[:MAX_ECHOES]
